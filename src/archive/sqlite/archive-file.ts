// The open file of the embedded archive: opened at the first use, and again after a failure, so that a disk that is back, or
// a file that was deleted or replaced, is used without a restart.
import type { Database } from "bun:sqlite";
import { rmSync, statSync } from "node:fs";
import { createFileCheck } from "../../sqlite/database-file.ts";
import { openArchiveFile } from "./open-archive-file.ts";
import { SqliteLedger } from "./sqlite-ledger.ts";

type OpenFile = {
  readonly db: Database;
  readonly ledger: SqliteLedger;
  /** Throws StoreUnavailable when the path no longer leads to the open file. */
  readonly check: () => void;
  readonly logFile: number | undefined;
};

export class ArchiveFile {
  readonly #path: string;
  #open: OpenFile | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  use<T>(access: (ledger: SqliteLedger) => T): T {
    const open = this.#obtain();
    try {
      open.check();
      const value = access(open.ledger);
      // A write into a file that was deleted meanwhile is lost, so it must not be reported as done.
      open.check();
      return value;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    open.db.close();
    this.#removeLeftLog(open);
  }

  #obtain(): OpenFile {
    if (this.#open) return this.#open;
    const db = openArchiveFile(this.#path);
    try {
      const ledger = new SqliteLedger(db);
      const check = createFileCheck(this.#path);
      this.#open = { db, ledger, check, logFile: findInode(`${this.#path}-wal`) };
      return this.#open;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** SQLite would apply the write-ahead log of a file that was replaced to the file that took its place. */
  #removeLeftLog({ check, logFile }: OpenFile): void {
    try {
      check();
    } catch {
      if (logFile === undefined || findInode(`${this.#path}-wal`) !== logFile) return;
      for (const suffix of ["-wal", "-shm"]) rmSync(this.#path + suffix, { force: true });
    }
  }
}

function findInode(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
