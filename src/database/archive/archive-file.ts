// The open file of the embedded archive: opened at the first use, and again after a failure, so that a disk that is back, or
// a file that was deleted or replaced, is used without a restart. A damaged file is not opened until it was replaced.
import { Database } from "bun:sqlite";
import { rmSync, statSync } from "node:fs";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Archive } from "../../core/ports/archive.ts";
import { createFileCheck, truncateLog } from "../../sqlite/database-file.ts";
import { SqliteDriver } from "../sqlite.ts";
import { createArchive } from "./archive.ts";
import { findRefusal, openArchiveFile } from "./open-archive-file.ts";

/** A reader must be opened only while the writer is open, which checks the file, makes the tables, and applies what a crash has left. */
export type FileRole = "writer" | "reader";

type OpenFile = {
  readonly driver: SqliteDriver;
  readonly archive: Archive;
  /** Throws StoreUnavailable when the path no longer leads to the open file. */
  readonly check: () => void;
  readonly logFile: number | undefined;
};

/** What was found when the file was looked through. `file` tells whether it is still the same. */
type Verdict = { readonly file: string; readonly refusal: string | undefined };

export class ArchiveFile {
  readonly #path: string;
  readonly #role: FileRole;
  #verdict: Verdict | undefined;
  #open: OpenFile | undefined;

  constructor(path: string, role: FileRole) {
    this.#path = path;
    this.#role = role;
  }

  /** Looks the file through. Returns why it must not be used; undefined when it may, is absent, or cannot be read now. */
  findRefusal(): string | undefined {
    const file = describeFile(this.#path);
    const refusal = findRefusal(this.#path);
    this.#verdict = { file, refusal };
    return refusal;
  }

  async use<T>(access: (archive: Archive) => Promise<T>): Promise<T> {
    const open = this.#obtain();
    try {
      open.check();
      const value = await access(open.archive);
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
    open.driver.close();
    this.#removeLeftLog(open);
  }

  #obtain(): OpenFile {
    if (this.#open) return this.#open;
    const db = this.#role === "writer" ? this.#openForWriting() : openForReading(this.#path);
    try {
      const driver = new SqliteDriver(db);
      const archive = createArchive(driver, { truncateLog: () => truncateLog(db) });
      const check = createFileCheck(this.#path);
      this.#open = { driver, archive, check, logFile: findInode(`${this.#path}-wal`) };
      return this.#open;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** A file that was found unusable is looked through again only when it has changed: that may take seconds. */
  #openForWriting(): Database {
    const verdict = this.#verdict;
    const isKnown = verdict && (!verdict.refusal || verdict.file === describeFile(this.#path));
    const refusal = isKnown ? verdict.refusal : this.findRefusal();
    if (refusal !== undefined) throw new StoreUnavailable(refusal);
    return openArchiveFile(this.#path);
  }

  /** SQLite would apply the write-ahead log of a file that was replaced to the file that took its place. */
  #removeLeftLog({ check, logFile }: OpenFile): void {
    if (this.#role === "reader") return;
    try {
      check();
    } catch {
      if (logFile === undefined || findInode(`${this.#path}-wal`) !== logFile) return;
      for (const suffix of ["-wal", "-shm"]) rmSync(this.#path + suffix, { force: true });
    }
  }
}

/** Never reads the file without SQLite: closing such a handle would give up the locks of the connection that writes. */
function openForReading(path: string): Database {
  const db = new Database(path, { readonly: true, strict: true });
  db.exec("PRAGMA busy_timeout = 2000");
  return db;
}

function findInode(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Changes when the file is replaced or written. */
function describeFile(path: string): string {
  const file = statSync(path, { throwIfNoEntry: false });
  return file ? `${file.ino} ${file.size} ${file.mtimeMs}` : "absent";
}
