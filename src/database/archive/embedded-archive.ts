// The embedded archive: calls its two threads, one for recording and one for questions about the history.
import { type ArchiveMethod, makeArchive } from "../../core/archive-calls.ts";
import { ArchiveUnavailable } from "../../core/errors.ts";
import type { Archive } from "../../core/ports/archive.ts";
import { monotonicMs } from "./monotonic-ms.ts";
import { ARCHIVE_DEADLINE_MS, ThreadCalls } from "./thread-calls.ts";

/** These only read, and have a thread of their own, so that a long question does not delay what is recorded. */
const QUESTIONS: ReadonlySet<ArchiveMethod> = new Set([
  "readCounts",
  "readOpenHistory",
  "listSessions",
  "sumPresence",
  "readStaff",
]);

export type EmbeddedArchive = Archive & {
  /** Why the file cannot be used: not ours, newer or damaged. Undefined when it can, or when that cannot be told now. */
  findRefusal(): Promise<string | undefined>;
};

export function openEmbeddedArchive(path: string, startThread: () => Worker): EmbeddedArchive {
  const threads = new ArchiveThreads(path, startThread);
  const archive = makeArchive((method, args) => {
    if (method === "close") return threads.close();
    return QUESTIONS.has(method) ? threads.ask(method, args) : threads.write(method, args);
  });
  return { ...archive, findRefusal: () => threads.findRefusal() };
}

class ArchiveThreads {
  readonly #writer: ThreadCalls;
  readonly #reader: ThreadCalls;
  #isOpenForQuestions = false;

  constructor(path: string, startThread: () => Worker) {
    this.#writer = new ThreadCalls({ startThread, opening: { method: "open", args: [path, "writer"] } });
    this.#reader = new ThreadCalls({ startThread, opening: { method: "open", args: [path, "reader"] } });
  }

  write(method: ArchiveMethod, args: readonly unknown[]): Promise<unknown> {
    return this.#writer.call(method, args);
  }

  async ask(method: ArchiveMethod, args: readonly unknown[]): Promise<unknown> {
    const deadline = monotonicMs() + ARCHIVE_DEADLINE_MS;
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
