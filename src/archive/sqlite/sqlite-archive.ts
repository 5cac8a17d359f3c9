// The embedded archive: calls its thread, and waits for no answer longer than the deadline.
import { StoreUnavailable } from "../../core/errors.ts";
import type { LedgerPlace } from "../../core/events/cursor.ts";
import type {
  Archive,
  KnownServer,
  LedgerPage,
  LedgerRecord,
  PageRequest,
  RecordOutcome,
  Retention,
} from "../../core/ports/archive.ts";
import { ARCHIVE_DEADLINE_MS } from "../ledger-rules.ts";
import type { WorkerAnswer, WorkerCall, WorkerMethod } from "./worker.ts";

/** More calls than this do not wait for a thread that is stuck. */
const WAITING_MAX = 1_000;

type Waiting = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
};

export class SqliteArchive implements Archive {
  readonly #path: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(path: string) {
    this.#path = path;
  }

  load(serverId: string): Promise<KnownServer> {
    return this.#call("load", serverId);
  }

  findRecorded(serverId: string, identities: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#call("findRecorded", serverId, identities);
  }

  record(records: readonly LedgerRecord[]): Promise<readonly RecordOutcome[]> {
    return this.#call("record", records);
  }

  readPage(request: PageRequest): Promise<LedgerPage> {
    return this.#call("readPage", request);
  }

  findLast(serverIds: readonly string[]): Promise<ReadonlyMap<string, LedgerPlace>> {
    return this.#call("findLast", serverIds);
  }

  prune(retention: Retention): Promise<boolean> {
    return this.#call("prune", retention);
  }

  removeServer(serverId: string): Promise<void> {
    return this.#call("removeServer", serverId);
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (!worker) return;
    try {
      await this.#call("close");
    } finally {
      this.#worker = undefined;
      worker.terminate();
    }
  }

  #call<T>(method: WorkerMethod, ...args: readonly unknown[]): Promise<T> {
    if (this.#waiting.size >= WAITING_MAX)
      return Promise.reject(new StoreUnavailable("the archive is too slow"));
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = ++this.#lastId;
    const timer = setTimeout(() => {
      this.#waiting.delete(id);
      reject(new StoreUnavailable(`the archive did not answer within ${ARCHIVE_DEADLINE_MS / 1000} s`));
    }, ARCHIVE_DEADLINE_MS);
    this.#waiting.set(id, { resolve, reject, timer });
    const worker = this.#worker ?? this.#start();
    worker.postMessage({ id, method, args } satisfies WorkerCall);
    return promise as Promise<T>;
  }

  #start(): Worker {
    // The compiled program finds the thread's file by this URL too, see scripts/build.ts.
    const worker = new Worker(new URL("./worker.ts", import.meta.url).href, { smol: true });
    worker.onmessage = ({ data }: MessageEvent<WorkerAnswer>) => this.#settle(data);
    worker.onerror = ({ message }) => this.#fail(worker, message);
    worker.postMessage({ id: 0, method: "open", args: [this.#path] } satisfies WorkerCall);
    // The thread must not keep a finished process alive.
    worker.unref();
    this.#worker = worker;
    return worker;
  }

  #settle(answer: WorkerAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    if (!waiting) return;
    this.#waiting.delete(answer.id);
    clearTimeout(waiting.timer);
    if ("value" in answer) waiting.resolve(answer.value);
    else waiting.reject(answer.isUnavailable ? new StoreUnavailable(answer.error) : new Error(answer.error));
  }

  /** The thread has died. The next call starts another. */
  #fail(worker: Worker, reason: string): void {
    if (this.#worker === worker) this.#worker = undefined;
    worker.terminate();
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new StoreUnavailable(`the archive's thread has ended: ${reason}`));
    }
    this.#waiting.clear();
  }
}
