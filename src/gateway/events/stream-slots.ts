// Counts the waiting reads and open streams of each key on this instance.
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import { Slots } from "../../core/slots.ts";

export const STREAMS_PER_KEY_MAX = 20;
/** All operators together: they have no key. */
export const OPERATOR_STREAMS_MAX = 100;

const RETRY_SECONDS = 5;
export const TOO_MANY_STREAMS: Refusal = refuse(
  ERRORS.tooManyStreams,
  { retry_after: RETRY_SECONDS },
  { "Retry-After": String(RETRY_SECONDS) },
);

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
