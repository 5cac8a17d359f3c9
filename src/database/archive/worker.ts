// A thread of the embedded archive, so that no disk can hold up a request. One holds the only connection that writes; another
// answers questions about the history, with a connection that only reads.

import { Database } from "bun:sqlite";
import { rmSync, statSync } from "node:fs";
import { StartRefused, StoreUnavailable } from "../../core/errors.ts";
import type { Archive } from "../../core/ports/archive.ts";
import { type ArchiveMethod, callArchive } from "../../core/ports/archive-calls.ts";
import { monotonicMs } from "../database-clock.ts";
import { MigrationRefused } from "../migrations.ts";
import { SqliteDriver } from "../sqlite.ts";
import { createFileCheck, truncateLog, UnusableFile } from "../sqlite-file/database-file.ts";
import { isDamage, isDiskFault } from "../sqlite-file/explain-open-error.ts";
import { createArchive } from "./archive.ts";
import { findRefusal, openArchiveFile } from "./open-archive-file.ts";

declare const self: Worker;

/** `open` sets the path and the role, `findRefusal` looks at the file, `openFile` opens it, `close` ends the use of it. */
export type WorkerMethod = "open" | "findRefusal" | "openFile" | "close" | ArchiveMethod;

export type WorkerCall = {
  readonly id: number;
  readonly method: WorkerMethod;
  readonly args: readonly unknown[];
  /** Monotonic milliseconds. Nobody waits for the answer any more after it. */
  readonly deadline: number;
};

export type WorkerAnswer = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: string; readonly isUnavailable: boolean }
);

let path = "the archive";
let file: ArchiveFile | undefined;
/** Calls wait for each other, because there is one connection. */
let lastCall: Promise<void> = Promise.resolve();

self.onmessage = ({ data }: MessageEvent<WorkerCall>) => {
  lastCall = lastCall.then(async () => post(data.id, await answer(data)));
};

function post(id: number, found: WorkerAnswer): void {
  try {
    self.postMessage(found);
  } catch (error) {
    // A value that cannot be sent must not hold up the calls after it.
    self.postMessage({ id, error: String(error), isUnavailable: false } satisfies WorkerAnswer);
  }
}

async function answer(call: WorkerCall): Promise<WorkerAnswer> {
  const { id } = call;
  try {
    return { id, value: await run(call) };
  } catch (error) {
    if (!(error instanceof Error)) return { id, error: String(error), isUnavailable: false };
    const isUnavailable = isUnavailability(error);
    return { id, error: isUnavailable ? explain(error) : (error.stack ?? error.message), isUnavailable };
  }
}

async function run({ method, args, deadline }: WorkerCall): Promise<unknown> {
  if (method === "open") {
    path = args[0] as string;
    file = new ArchiveFile(path, args[1] as FileRole);
    return undefined;
  }
  if (method === "close") {
    file?.close();
    file = undefined;
    return undefined;
  }
  // After a long stall, what nobody waits for would only delay the rest.
  if (monotonicMs() > deadline) throw new StoreUnavailable("the archive was too slow");
  if (!file) throw new StoreUnavailable("the archive is closed");
  if (method === "findRefusal") return file.findRefusal();
  return file.use(async (archive) => {
    if (method === "openFile") return undefined;
    return callArchive(archive, method, args);
  });
}

function isUnavailability(error: Error): boolean {
  // An error with a system call comes from the file system.
  return error instanceof StoreUnavailable || error instanceof StartRefused || isDiskFault(error) || "syscall" in error;
}

/** In the words of the operator: which file it is, and why it cannot be used now. */
function explain(error: Error): string {
  const { message } = error;
  if (error instanceof UnusableFile || error instanceof MigrationRefused) return message;
  // What it advises after the dash is about a start, and the archive needs none.
  if (error instanceof StartRefused) return message.split(" — ")[0] ?? message;
  if (isDamage(error)) return `${path} is damaged: ${message}`;
  return isDiskFault(error) ? `${path} cannot be used: ${message}` : message;
}

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
  #verdict: Verdict | undefined;
  #open: OpenFile | undefined;

  constructor(
    private readonly path: string,
    private readonly role: FileRole,
  ) {}

  /** Looks the file through. Returns why it must not be used; undefined when it may, is absent, or cannot be read now. */
  findRefusal(): string | undefined {
    // It was looked through before it was opened. Closing another handle would give up the locks of the one that writes.
    if (this.#open) return undefined;
    const file = describeFile(this.path);
    const refusal = findRefusal(this.path);
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
    const db = this.role === "writer" ? this.#openForWriting() : openForReading(this.path);
    try {
      const driver = new SqliteDriver(db);
      const archive = createArchive(driver, { truncateLog: () => truncateLog(db) });
      const check = createFileCheck(this.path);
      this.#open = { driver, archive, check, logFile: findInode(`${this.path}-wal`) };
      return this.#open;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** A file that was found unusable is looked through again only when it has changed: that may take seconds. */
  #openForWriting(): Database {
    const verdict = this.#verdict;
    const isKnown = verdict && (!verdict.refusal || verdict.file === describeFile(this.path));
    const refusal = isKnown ? verdict.refusal : this.findRefusal();
    if (refusal !== undefined) throw new StoreUnavailable(refusal);
    return openArchiveFile(this.path);
  }

  /** SQLite would apply the write-ahead log of a file that was replaced to the file that took its place. */
  #removeLeftLog({ check, logFile }: OpenFile): void {
    if (this.role === "reader") return;
    try {
      check();
    } catch {
      if (logFile === undefined || findInode(`${this.path}-wal`) !== logFile) return;
      for (const suffix of ["-wal", "-shm"]) rmSync(this.path + suffix, { force: true });
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
