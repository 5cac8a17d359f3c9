// The thread of the embedded archive: it holds the only connection to the file, so that no disk can hold up a request.
import type { Database } from "bun:sqlite";
import { StoreUnavailable } from "../../core/errors.ts";
import { openArchiveFile } from "./open-archive-file.ts";
import { SqliteLedger } from "./sqlite-ledger.ts";

declare const self: Worker;

export type WorkerCall = {
  readonly id: number;
  readonly method: WorkerMethod;
  readonly args: readonly unknown[];
};
export type WorkerAnswer = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: string; readonly isUnavailable: boolean }
);
/** `open` sets the path, and `close` ends the use of the file. */
export type WorkerMethod =
  | "open"
  | "close"
  | "load"
  | "findRecorded"
  | "record"
  | "readPage"
  | "findLast"
  | "prune"
  | "removeServer";

class ArchiveThread {
  #path: string | undefined;
  #db: Database | undefined;
  #ledger: SqliteLedger | undefined;

  run(method: WorkerMethod, args: readonly unknown[]): unknown {
    if (method === "open") {
      this.#path = args[0] as string;
      return undefined;
    }
    if (method === "close") return this.#close();
    const ledger = this.#openLedger() as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
    return ledger[method]?.(...args);
  }

  /** Opened at the first use and again after a failure, so that a disk that is back is used without a restart. */
  #openLedger(): SqliteLedger {
    if (this.#ledger) return this.#ledger;
    if (this.#path === undefined) throw new StoreUnavailable("the archive is closed");
    const db = openArchiveFile(this.#path);
    try {
      this.#ledger = new SqliteLedger(db);
    } catch (error) {
      db.close();
      throw error;
    }
    this.#db = db;
    return this.#ledger;
  }

  #close(): void {
    this.#db?.close();
    this.#db = undefined;
    this.#ledger = undefined;
    this.#path = undefined;
  }
}

const thread = new ArchiveThread();

self.onmessage = ({ data }: MessageEvent<WorkerCall>) => {
  self.postMessage(answer(data));
};

function answer({ id, method, args }: WorkerCall): WorkerAnswer {
  try {
    return { id, value: thread.run(method, args) };
  } catch (error) {
    const isUnavailable = error instanceof StoreUnavailable || isSqliteError(error);
    const text =
      error instanceof Error
        ? isUnavailable
          ? error.message
          : (error.stack ?? error.message)
        : String(error);
    return { id, error: text, isUnavailable };
  }
}

function isSqliteError(error: unknown): boolean {
  return error instanceof Error && error.name === "SQLiteError";
}
