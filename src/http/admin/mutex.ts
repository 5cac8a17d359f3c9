// Runs asynchronous changes one at a time, so that each is checked against the result of the one before.
import { StoreUnavailable } from "../../core/errors.ts";

/** With the longest that a change takes, this is less than the time after which an idle connection is cut. */
export const TURN_WAIT_MAX_MS = 3_000;

export class Mutex {
  readonly #clock: () => number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock = () => performance.now()) {
    this.#clock = clock;
  }

  /** Rejects, and changes nothing, when the changes before it took too long: its caller would not learn how it ended. */
  run<T>(change: () => Promise<T>): Promise<T> {
    const askedAt = this.#clock();
    const result = this.#last.then(() => {
      if (this.#clock() - askedAt > TURN_WAIT_MAX_MS)
        throw new StoreUnavailable("the change before this one took too long");
      return change();
    });
    this.#last = result.catch(() => {});
    return result;
  }
}
