// Counts the waiting reads and open streams of each key on this instance.
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";

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
  readonly #open = new Map<string, number>();

  /** False when the key has as many as it may have. `keyId` is undefined for operators. */
  take(keyId: string | undefined): boolean {
    const open = this.#open.get(keyId ?? "") ?? 0;
    if (open >= (keyId === undefined ? OPERATOR_STREAMS_MAX : STREAMS_PER_KEY_MAX)) return false;
    this.#open.set(keyId ?? "", open + 1);
    return true;
  }

  release(keyId: string | undefined): void {
    const open = (this.#open.get(keyId ?? "") ?? 0) - 1;
    if (open > 0) this.#open.set(keyId ?? "", open);
    else this.#open.delete(keyId ?? "");
  }
}
