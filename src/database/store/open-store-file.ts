// Opens the store's file with full durability. Refuses, without changing the file, when it is not ours, newer, damaged or in
// use by another process.
import { Database, SQLiteError } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { StartRefused } from "../../core/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import { type GroupCommit, openDatabaseFile, SqliteDriver } from "../sqlite.ts";
import { createFileCheck, type DatabaseFormat, refuseUnusableFile } from "../sqlite-file/database-file.ts";
import { isDamage, isMissingTable, refuseToOpen } from "../sqlite-file/explain-open-error.ts";
import { lockPathOf } from "../sqlite-file/read-only-database.ts";
import { STORE_MIGRATIONS } from "./migrations.ts";

/** "GTHS": marks the file as ours in SQLite's own header. */
const APPLICATION_ID = 0x47544853;
const LOCK_WAIT_MS = 2_000;
const RETRY_MS = 1_000;
/** SQLite's result codes for a disk that fails and one that is full; extended codes have them in their lowest byte. */
const DISK_CODES: ReadonlySet<number> = new Set([10, 13]);

export const STORE_FORMAT: DatabaseFormat = {
  name: "a Gatehouse database",
  applicationId: APPLICATION_ID,
  schemaVersion: STORE_MIGRATIONS.steps.length,
  foreignRemedy: "move it away, or set GATEHOUSE_DATA_DIR",
};

export type OpenStoreFile = {
  readonly driver: SqliteDriver;
  readonly db: Database;
  /** Waits for the transactions that were asked for. */
  close(): Promise<void>;
};

/** Locks the data folder and opens its store. Throws StartRefused. */
export function openStoreDriver(path: string, log: Pick<Log, "warn">): OpenStoreFile {
  const lock = lockDataFolder(lockPathOf(path));
  let db: Database | undefined;
  try {
    db = openStoreFile(path);
    const commits = new RefusedCommits(db, createFileCheck(path), log);
    const driver = new SqliteDriver(db, commits);
    const close = async () => {
      await driver.drain();
      commits.close();
      driver.close();
      lock.close();
    };
    return { driver, db, close };
  } catch (error) {
    db?.close();
    lock.close();
    throw refuseToOpen(path, error);
  }
}

/** The caller must hold the lock of the data folder. */
export function openStoreFile(path: string): Database {
  if (existsSync(path) && statSync(path).size > 0) refuseUnusableFile(path, STORE_FORMAT);
  return openDatabaseFile(path, STORE_FORMAT, STORE_MIGRATIONS);
}

/**
 * Only one process may use an embedded database, because limits are counted in memory. The lock is on a separate file, so
 * that a backup can read the database. The operating system releases it when the process dies.
 */
export function lockDataFolder(path: string): Database {
  let lock: Database | undefined;
  try {
    lock = new Database(path, { create: true });
    lock.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE`);
    return lock;
  } catch (error) {
    lock?.close();
    const isTaken = error instanceof Error && "code" in error && error.code === "SQLITE_BUSY";
    if (isDamage(error))
      throw new StartRefused(`${path} is not a lock file of Gatehouse — delete it; it holds no data`);
    if (!isTaken) throw refuseToOpen(path, error);
    throw new StartRefused(
      `another Gatehouse is using ${path.replace(/[^/]*$/, "")} — stop it first, or set GATEHOUSE_DATA_DIR to another folder`,
    );
  }
}

/** Whether the file holds data that was sealed with a secret. Refuses a file that is not ours, without opening it. */
export function isSealedDatabase(path: string): boolean {
  if (!existsSync(path) || statSync(path).size === 0) return false;
  refuseUnusableFile(path, STORE_FORMAT);
  if (existsSync(`${path}-journal`)) return false;
  const db = new Database(path, { readonly: true });
  try {
    return db.query("SELECT 1 FROM settings LIMIT 1").get() !== null;
  } catch (error) {
    // A first start was killed before it created its tables.
    if (isMissingTable(error)) return false;
    throw refuseToOpen(path, error);
  } finally {
    db.close();
  }
}

/**
 * A commit whose fsync fails is refused, but its pages are complete in the write-ahead log, and SQLite would apply them if the
 * process were killed now. So they are overwritten at once, and what was refused does not come back.
 */
class RefusedCommits implements GroupCommit {
  readonly check: () => void;
  readonly #db: Database;
  readonly #log: Pick<Log, "warn">;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(db: Database, check: () => void, log: Pick<Log, "warn">) {
    this.check = check;
    this.#db = db;
    this.#log = log;
  }

  readonly onFailedCommit = (error: unknown): void => {
    const isOfDisk = error instanceof SQLiteError && DISK_CODES.has(error.errno & 0xff);
    if (isOfDisk) this.#overwrite();
  };

  close(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  /**
   * The next transaction begins at the same position of the log, so writing it destroys the failed one: the checksum of each
   * page in the log includes the page before. That is true even if the fsync of this transaction fails too. It is tried
   * again until it succeeds, because only then it is certain after a loss of power.
   */
  #overwrite(): void {
    try {
      // Within a transaction this would wait for its commit, which may fail too.
      if (this.#db.inTransaction) throw new Error("a transaction is under way");
      this.check();
      // A new value each time, because SQLite writes nothing when the value is the same.
      this.#db
        .query("INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2")
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
