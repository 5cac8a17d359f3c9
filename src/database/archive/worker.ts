// A thread of the embedded archive, so that no disk can hold up a request. One holds the only connection that writes; another
// answers questions about the history, with a connection that only reads.
import { type ArchiveMethod, callArchive } from "../../core/archive-calls.ts";
import { StartRefused, StoreUnavailable } from "../../core/errors.ts";
import { UnusableFile } from "../../sqlite/database-file.ts";
import { isDamage, isDiskFault } from "../../sqlite/explain-open-error.ts";
import { ArchiveFile, type FileRole } from "./archive-file.ts";
import { monotonicMs } from "./monotonic-ms.ts";

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
  if (isDamage(error)) return `${path} is damaged: ${message}`;
  return isDiskFault(error) ? `${path} cannot be used: ${message}` : message;
}
