// Runs asynchronous changes one at a time, so that each is checked against the result of the one before.
import type { StoreUnavailable } from "../../core/errors.ts";
import type { Call } from "../call.ts";

/** A hanging database must not hold up all changes, one after the other. */
export const TURN_WAIT_MAX_MS = 3_000;
/** Longer than a change takes whose every question is answered just in time. */
const ANSWER_MAX_MS = 40_000;

export class Mutex {
  readonly #Unavailable: typeof StoreUnavailable;
  readonly #clock: () => number;
  #last: Promise<unknown> = Promise.resolve();

  /** `Unavailable`: the error of a change that had to wait too long. */
  constructor(Unavailable: typeof StoreUnavailable, clock = () => performance.now()) {
    this.#Unavailable = Unavailable;
    this.#clock = clock;
  }

  /** Rejects, and changes nothing, when the change before took too long. The caller's connection is kept meanwhile. */
  async run<T>(
    call: Pick<Call, "extendIdleTimeout" | "resetIdleTimeout">,
    change: () => Promise<T>,
  ): Promise<T> {
    call.extendIdleTimeout(ANSWER_MAX_MS);
    try {
      return await this.#takeTurn(change);
    } finally {
      call.resetIdleTimeout();
    }
  }

  #takeTurn<T>(change: () => Promise<T>): Promise<T> {
    const askedAt = this.#clock();
    const result = this.#last.then(() => {
      if (this.#clock() - askedAt > TURN_WAIT_MAX_MS)
        throw new this.#Unavailable("the change before this one took too long");
      return change();
    });
    this.#last = result.catch(() => {});
    return result;
  }
}
