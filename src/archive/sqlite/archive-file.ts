// The open file of the embedded archive: opened at the first use, and again after a failure, so that a disk that is back, or
// a file that was deleted or replaced, is used without a restart. A damaged file is not opened until it was replaced.
import type { Database } from "bun:sqlite";
import { rmSync, statSync } from "node:fs";
import { StoreUnavailable } from "../../core/errors.ts";
import { createFileCheck } from "../../sqlite/database-file.ts";
import { findRefusal, openArchiveFile } from "./open-archive-file.ts";
import { SqliteLedger } from "./sqlite-ledger.ts";

type OpenFile = {
  readonly db: Database;
  readonly ledger: SqliteLedger;
  /** Throws StoreUnavailable when the path no longer leads to the open file. */
  readonly check: () => void;
  readonly logFile: number | undefined;
};

/** What was found when the file was looked through. `file` tells whether it is still the same. */
type Verdict = { readonly file: string; readonly refusal: string | undefined };

export class ArchiveFile {
  readonly #path: string;
  #verdict: Verdict | undefined;
  #open: OpenFile | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Looks the file through. Returns why it must not be used; undefined when it may, is absent, or cannot be read now. */
  findRefusal(): string | undefined {
    const file = describeFile(this.#path);
    const refusal = findRefusal(this.#path);
    this.#verdict = { file, refusal };
    return refusal;
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
    this.#refuseDamaged();
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

  /** A file that was found unusable is looked through again only when it has changed: that may take seconds. */
  #refuseDamaged(): void {
    const verdict = this.#verdict;
    const isKnown = verdict && (!verdict.refusal || verdict.file === describeFile(this.#path));
    const refusal = isKnown ? verdict.refusal : this.findRefusal();
    if (refusal !== undefined) throw new StoreUnavailable(refusal);
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

/** Changes when the file is replaced or written. */
function describeFile(path: string): string {
  const file = statSync(path, { throwIfNoEntry: false });
  return file ? `${file.ino} ${file.size} ${file.mtimeMs}` : "absent";
}
