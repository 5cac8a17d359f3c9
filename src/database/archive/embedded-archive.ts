// The embedded archive: calls its two threads, one for recording and one for questions about the history.
import { ArchiveUnavailable } from "../../core/errors.ts";
import type { Archive } from "../../core/ports/archive.ts";
import { type ArchiveMethod, isQuestion, makeArchive } from "../../core/ports/archive-calls.ts";
import { monotonicMs } from "../database-clock.ts";
import type { WorkerAnswer, WorkerCall, WorkerMethod } from "./worker.ts";

export type EmbeddedArchive = Archive & {
  /** Why the file cannot be used: not ours, newer or damaged. Undefined when it can, or when that cannot be told now. */
  findRefusal(): Promise<string | undefined>;
};

export function openEmbeddedArchive(
  path: string,
  startThread: () => Worker,
  deadlineMs = ARCHIVE_DEADLINE_MS,
): EmbeddedArchive {
  const threads = new ArchiveThreads(path, startThread, deadlineMs);
  const archive = makeArchive((method, args) => {
    if (method === "close") return threads.close();
    return isQuestion(method) ? threads.ask(method, args) : threads.write(method, args);
  });
  return { ...archive, findRefusal: () => threads.findRefusal() };
}

class ArchiveThreads {
  readonly #writer: ThreadCalls;
  readonly #reader: ThreadCalls;
  #isOpenForQuestions = false;

  constructor(
    path: string,
    startThread: () => Worker,
    private readonly deadlineMs: number,
  ) {
    const options = { startThread, deadlineMs };
    this.#writer = new ThreadCalls({ ...options, opening: { method: "open", args: [path, "writer"] } });
    this.#reader = new ThreadCalls({ ...options, opening: { method: "open", args: [path, "reader"] } });
  }

  write(method: ArchiveMethod, args: readonly unknown[]): Promise<unknown> {
    return this.#writer.call(method, args);
  }

  /** The reader has a thread of its own, so that a long question does not delay what is recorded. */
  async ask(method: ArchiveMethod, args: readonly unknown[]): Promise<unknown> {
    const deadline = monotonicMs() + this.deadlineMs;
    try {
      // The file must be open for writing before it is opened for reading only.
      if (!this.#isOpenForQuestions) await this.#writer.call("openFile", [], deadline);
      this.#isOpenForQuestions = true;
      return await this.#reader.call(method, args, deadline);
    } catch (error) {
      this.#isOpenForQuestions = false;
      throw error;
    }
  }

  async findRefusal(): Promise<string | undefined> {
    try {
      return await this.#writer.call<string | undefined>("findRefusal", []);
    } catch (error) {
      if (error instanceof ArchiveUnavailable) return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    // The reader first: the last connection that can write puts the log into the file and removes it.
    try {
      await this.#reader.close();
    } finally {
      await this.#writer.close();
    }
  }
}

/** No answer is waited for longer. */
const ARCHIVE_DEADLINE_MS = 5_000;
/** More calls than this are not given to a thread that is stuck. */
const UNANSWERED_MAX = 1_000;

type Waiting = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
};

export type ThreadOptions = {
  readonly startThread: () => Worker;
  /** The first message to every thread: how it opens the file. */
  readonly opening: Pick<WorkerCall, "method" | "args">;
  readonly deadlineMs: number;
};

export class ThreadCalls {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  /** Calls that the thread has not answered, also those that nobody waits for any more. */
  #unanswered = 0;
  #lastId = 0;
  #isClosed = false;

  constructor(private readonly options: ThreadOptions) {}

  /** `deadline` in monotonic milliseconds. */
  async call<T>(
    method: WorkerMethod,
    args: readonly unknown[],
    deadline = monotonicMs() + this.options.deadlineMs,
  ): Promise<T> {
    if (this.#isClosed) throw new ArchiveUnavailable("the archive is closed");
    if (this.#unanswered >= UNANSWERED_MAX) throw new ArchiveUnavailable("the archive is too slow");
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = ++this.#lastId;
    this.#post(this.#worker ?? this.#start(), { id, method, args, deadline });
    const timer = setTimeout(
      () => {
        this.#waiting.delete(id);
        reject(new ArchiveUnavailable(`the archive did not answer within ${this.options.deadlineMs / 1000} s`));
      },
      Math.max(0, deadline - monotonicMs()),
    );
    this.#waiting.set(id, { resolve, reject, timer });
    return promise as Promise<T>;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    const closing = worker && this.call("close", []);
    this.#isClosed = true;
    try {
      await closing;
    } finally {
      this.#worker = undefined;
      worker?.terminate();
    }
  }

  #post(worker: Worker, call: WorkerCall): void {
    this.#unanswered++;
    worker.postMessage(call);
  }

  #start(): Worker {
    const worker = this.#createWorker();
    worker.onmessage = ({ data }: MessageEvent<WorkerAnswer>) => this.#settle(worker, data);
    worker.onerror = ({ message }) => this.#fail(worker, message);
    worker.addEventListener("close", () => this.#fail(worker, "it was closed"));
    this.#worker = worker;
    this.#unanswered = 0;
    this.#post(worker, { id: 0, ...this.options.opening, deadline: monotonicMs() + this.options.deadlineMs });
    // The thread must not keep a finished process alive.
    worker.unref();
    return worker;
  }

  #createWorker(): Worker {
    try {
      return this.options.startThread();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ArchiveUnavailable(`the archive's thread could not be started: ${reason}`, { cause: error });
    }
  }

  #settle(worker: Worker, answer: WorkerAnswer): void {
    if (worker === this.#worker) this.#unanswered--;
    const waiting = this.#waiting.get(answer.id);
    if (!waiting) return;
    this.#waiting.delete(answer.id);
    clearTimeout(waiting.timer);
    if ("value" in answer) waiting.resolve(answer.value);
    else waiting.reject(answer.isUnavailable ? new ArchiveUnavailable(answer.error) : new Error(answer.error));
  }

  /** The thread has died. The next call starts another. */
  #fail(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    worker.terminate();
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new ArchiveUnavailable(`the archive's thread has ended: ${reason}`));
    }
    this.#waiting.clear();
  }
}
