// A thread of the embedded archive, so that no disk can hold up a request. One holds the only connection that writes; another
// answers questions about the history, with a connection that only reads.
import { StartRefused, StoreUnavailable } from "../../core/errors.ts";
import { UnusableFile } from "../../sqlite/database-file.ts";
import { isDamage, isDiskFault } from "../../sqlite/explain-open-error.ts";
import { ArchiveFile } from "./archive-file.ts";
import { HistoryFile } from "./history-file.ts";
import { monotonicMs } from "./monotonic-ms.ts";
import type { SqliteHistoryQuestions } from "./sqlite-history-questions.ts";
import type { SqliteLedger } from "./sqlite-ledger.ts";

declare const self: Worker;

/**
 * The methods of the ledger, or of the questions. `open` and `openForQuestions` set the path, `findRefusal` looks at the file,
 * `openFile` opens it, `close` ends the use of it.
 */
export type WorkerMethod =
  | "open"
  | "openForQuestions"
  | "findRefusal"
  | "openFile"
  | "close"
  | Exclude<keyof SqliteLedger & string, "constructor" | "questions">
  | (keyof SqliteHistoryQuestions & string);

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

type Method = (...args: readonly unknown[]) => unknown;

class ArchiveThread {
  path = "the archive";
  #file: ArchiveFile | undefined;
  #questions: HistoryFile | undefined;

  run({ method, args, deadline }: WorkerCall): unknown {
    if (method === "open") {
      this.path = args[0] as string;
      this.#file = new ArchiveFile(this.path);
      return undefined;
    }
    if (method === "openForQuestions") {
      this.path = args[0] as string;
      this.#questions = new HistoryFile(this.path);
      return undefined;
    }
    if (method === "close") return this.#close();
    // After a long stall, what nobody waits for would only delay the rest.
    if (monotonicMs() > deadline) throw new StoreUnavailable("the archive was too slow");
    if (this.#questions) return this.#questions.use((questions) => invoke(questions, method, args));
    if (!this.#file) throw new StoreUnavailable("the archive is closed");
    if (method === "findRefusal") return this.#file.findRefusal();
    return this.#file.use((ledger) => (method === "openFile" ? undefined : invoke(ledger, method, args)));
  }

  #close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#questions?.close();
    this.#questions = undefined;
  }
}

function invoke(target: object, method: string, args: readonly unknown[]): unknown {
  return (target as Record<string, Method>)[method]?.(...args);
}

const thread = new ArchiveThread();

self.onmessage = ({ data }: MessageEvent<WorkerCall>) => {
  self.postMessage(answer(data));
};

function answer(call: WorkerCall): WorkerAnswer {
  const { id } = call;
  try {
    return { id, value: thread.run(call) };
  } catch (error) {
    if (!(error instanceof Error)) return { id, error: String(error), isUnavailable: false };
    const isUnavailable = isUnavailability(error);
    return { id, error: isUnavailable ? explain(error) : (error.stack ?? error.message), isUnavailable };
  }
}

function isUnavailability(error: Error): boolean {
  // An error with a system call comes from the file system.
  return (
    error instanceof StoreUnavailable ||
    error instanceof StartRefused ||
    isDiskFault(error) ||
    "syscall" in error
  );
}

/** In the words of the operator: which file it is, and why it cannot be used now. */
function explain(error: Error): string {
  const { message } = error;
  // What it advises after the dash is about a start, and the archive needs none.
  if (error instanceof StartRefused && !(error instanceof UnusableFile))
    return message.split(" — ")[0] ?? message;
  if (isDamage(error)) return `${thread.path} is damaged: ${message}`;
  return isDiskFault(error) ? `${thread.path} cannot be used: ${message}` : message;
}
