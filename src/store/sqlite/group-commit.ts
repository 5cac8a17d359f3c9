// Many changes, one transaction, one wait for the disk: whatever is asked within one turn of the event loop is committed
// together, and nobody is answered before it is on disk.
import type { Database } from "bun:sqlite";
import { StoreUnavailable } from "../../core/errors.ts";

/** A longer line would hold up everything else for too long. */
const CHANGES_MAX = 256;

type Waiting = { readonly apply: () => void; readonly settle: (error?: StoreUnavailable) => void };

export class GroupCommit {
  readonly #db: Database;
  readonly #checkFile: () => void;
  #waiting: Waiting[] = [];
  #isScheduled = false;

  constructor(db: Database, checkFile: () => void) {
    this.#db = db;
    this.#checkFile = checkFile;
  }

  /** Rejects with StoreUnavailable when the group could not be committed; then nothing of it was. */
  run<T>(change: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let result: T;
    this.#waiting.push({
      apply: () => {
        result = change();
      },
      settle: (error) => (error ? reject(error) : resolve(result)),
    });
    this.#schedule();
    return promise;
  }

  /** Commits what waits, now. */
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
    let failure: StoreUnavailable | undefined;
    try {
      this.#checkFile();
      this.#db
        .transaction(() => {
          for (const { apply } of group) apply();
        })
        .immediate();
    } catch (error) {
      failure = new StoreUnavailable(error instanceof Error ? error.message : String(error), {
        cause: error,
      });
    }
    for (const { settle } of group) settle(failure);
  }
}
