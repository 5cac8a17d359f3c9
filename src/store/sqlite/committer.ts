// Commits the transactions of the embedded store. A commit whose fsync fails is refused, but its pages are complete in the
// write-ahead log, and SQLite would apply them if the process were killed now. So they are overwritten at once.
import { type Database, SQLiteError } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import type { Log } from "../../core/ports/log.ts";
import { translateSqliteErrors } from "./sqlite-errors.ts";

const RETRY_MS = 1_000;
/** SQLite's result codes for a disk that fails and one that is full; extended codes have them in their lowest byte. */
const DISK_CODES: ReadonlySet<number> = new Set([10, 13]);

export class Committer {
  readonly #db: Database;
  readonly #checkFile: () => void;
  readonly #log: Pick<Log, "warn">;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(db: Database, checkFile: () => void, log: Pick<Log, "warn">) {
    this.#db = db;
    this.#checkFile = checkFile;
    this.#log = log;
  }

  /**
   * Runs `change` in one transaction, which is on disk when this returns. When it throws StoreUnavailable, nothing was
   * changed, and nothing of it comes back after kill -9.
   */
  commit<T>(change: () => T): T {
    return translateSqliteErrors(() => {
      this.#checkFile();
      try {
        return this.#db.transaction(change).immediate();
      } catch (error) {
        // Before the caller learns of the failure: what was refused must be gone by then.
        if (isDiskError(error)) this.#overwrite();
        throw error;
      }
    });
  }

  close(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  /**
   * The next transaction begins at the same place of the log, so writing it destroys the failed one: the checksum of each
   * page in the log includes the page before. That is true even if the fsync of this transaction fails too. It is tried
   * again until it succeeds, because only then it is certain after a loss of power.
   */
  #overwrite(): void {
    try {
      this.#checkFile();
      // A new value each time, because SQLite writes nothing when the value is the same.
      this.#db
        .query("INSERT INTO settings VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2")
        .run("last-failed-commit", randomUUID());
      this.close();
    } catch (error) {
      if (this.#retry === undefined)
        this.#log.warn({ err: error }, "the disk fails; changes were refused and are being taken back");
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => this.#overwrite(), RETRY_MS);
      this.#retry.unref();
    }
  }
}

function isDiskError(error: unknown): boolean {
  return error instanceof SQLiteError && DISK_CODES.has(error.errno & 0xff);
}
