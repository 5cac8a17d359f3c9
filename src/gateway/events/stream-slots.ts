// Counts the waiting reads and open streams of each key on this instance.
import { ERRORS, refuseFor } from "../../core/errors.ts";
import { Slots } from "../../core/slots.ts";

export const STREAMS_PER_KEY_MAX = 20;
/** All operators together: they have no key. */
export const OPERATOR_STREAMS_MAX = 100;

export const TOO_MANY_STREAMS = refuseFor(ERRORS.tooManyStreams, 5);

export class StreamSlots {
  readonly #slots = new Slots();

  /** False when the key has as many as it may have. `keyId` is undefined for operators. */
  take(keyId: string | undefined): boolean {
    const max = keyId === undefined ? OPERATOR_STREAMS_MAX : STREAMS_PER_KEY_MAX;
    return this.#slots.take(keyId ?? "", max);
  }

  release(keyId: string | undefined): void {
    this.#slots.release(keyId ?? "");
  }
}
