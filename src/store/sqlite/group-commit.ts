// Group commit: changes from one turn of the event loop share one transaction and one fsync. Their promises resolve when
// the commit is on disk.
import { StoreUnavailable } from "../../core/errors.ts";
import type { Committer } from "./committer.ts";

/** The size limit of a group, so that a commit does not block the event loop for long. */
const CHANGES_MAX = 256;

type Waiting = {
  readonly apply: () => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

export class GroupCommit {
  readonly #committer: Committer;
  #waiting: Waiting[] = [];
  #isScheduled = false;

  constructor(committer: Committer) {
    this.#committer = committer;
  }

  /**
   * Rejects with StoreUnavailable when the group could not be committed; then none of its changes was. A change that
   * throws any other error is rejected with it, and the group is committed without that change.
   */
  run<T>(change: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let result: T;
    this.#waiting.push({
      apply: () => {
        result = change();
      },
      resolve: () => resolve(result),
      reject,
    });
    this.#schedule();
    return promise;
  }

  /** Commits all waiting changes now. */
  flush(): void {
    while (this.#waiting.length > 0) this.#commit(this.#waiting.splice(0, CHANGES_MAX));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#commit(this.#waiting.splice(0, CHANGES_MAX));
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #commit(group: readonly Waiting[]): void {
    let current: Waiting | undefined;
    try {
      this.#committer.commit(() => {
        for (current of group) current.apply();
        current = undefined;
      });
    } catch (error) {
      this.#rejectFailed(group, current, error);
      return;
    }
    for (const { resolve } of group) resolve();
  }

  #rejectFailed(group: readonly Waiting[], culprit: Waiting | undefined, error: unknown): void {
    const isBug = culprit !== undefined && !(error instanceof StoreUnavailable);
    if (!isBug) {
      for (const { reject } of group) reject(error);
      return;
    }
    culprit.reject(error);
    const rest = group.filter((waiting) => waiting !== culprit);
    if (rest.length > 0) this.#commit(rest);
  }
}
