// The embedded archive: calls its thread, and waits for no answer longer than the deadline.
import type { AlertRules } from "../../core/alerts/rules.ts";
import { ArchiveUnavailable } from "../../core/errors.ts";
import type { LedgerPlace } from "../../core/events/cursor.ts";
import type { EventFilter } from "../../core/events/event-types.ts";
import type { MapImage, MapImageFacts } from "../../core/map-image.ts";
import type {
  Archive,
  KnownServer,
  LedgerPage,
  LedgerRecord,
  PageRequest,
  RecordOutcome,
  Retention,
} from "../../core/ports/archive.ts";
import type { AttemptProgress, WebhookChange, WebhookCreation } from "../../core/ports/webhooks.ts";
import type { SeenPlace } from "../../core/seen-places.ts";
import type { Delivery, Webhook } from "../../core/webhooks/webhook.ts";
import { ARCHIVE_DEADLINE_MS } from "../ledger-rules.ts";
import { monotonicMs } from "./monotonic-ms.ts";
import type { WorkerAnswer, WorkerCall, WorkerMethod } from "./worker.ts";

/** More calls than this are not given to a thread that is stuck. */
const UNANSWERED_MAX = 1_000;

type Waiting = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
};

export class SqliteArchive implements Archive {
  readonly #path: string;
  readonly #startThread: () => Worker;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  /** Calls that the thread has not answered, also those that nobody waits for any more. */
  #unanswered = 0;
  #lastId = 0;
  #isClosed = false;

  constructor(path: string, startThread: () => Worker) {
    this.#path = path;
    this.#startThread = startThread;
  }

  /** Why the file cannot be used: not ours, newer or damaged. Undefined when it can, or when that cannot be told now. */
  findRefusal(): Promise<string | undefined> {
    return this.#call<string | undefined>("findRefusal").catch((error) => {
      if (error instanceof ArchiveUnavailable) return undefined;
      throw error;
    });
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

  startForgetting(playerId: string): Promise<void> {
    return this.#call("startForgetting", playerId);
  }

  continueForgetting(): Promise<boolean> {
    return this.#call("continueForgetting");
  }

  addPlaces(serverId: string, places: readonly SeenPlace[]): Promise<void> {
    return this.#call("addPlaces", serverId, places);
  }

  listPlaces(serverId: string): Promise<readonly SeenPlace[]> {
    return this.#call("listPlaces", serverId);
  }

  saveMapImage(serverId: string, image: MapImage): Promise<void> {
    return this.#call("saveMapImage", serverId, image);
  }

  findMapImage(serverId: string): Promise<MapImageFacts | undefined> {
    return this.#call("findMapImage", serverId);
  }

  readMapImage(serverId: string): Promise<MapImage | undefined> {
    return this.#call("readMapImage", serverId);
  }

  removeMapImage(serverId: string): Promise<void> {
    return this.#call("removeMapImage", serverId);
  }

  listWebhooks(serverId?: string): Promise<readonly Webhook[]> {
    return this.#call("listWebhooks", serverId);
  }

  findWebhook(webhookId: string): Promise<Webhook | undefined> {
    return this.#call("findWebhook", webhookId);
  }

  createWebhook(webhook: Omit<Webhook, "place">): Promise<WebhookCreation> {
    return this.#call("createWebhook", webhook);
  }

  updateWebhook(webhookId: string, change: WebhookChange): Promise<boolean> {
    return this.#call("updateWebhook", webhookId, change);
  }

  deleteWebhook(webhookId: string): Promise<boolean> {
    return this.#call("deleteWebhook", webhookId);
  }

  noteAttempt(
    webhookId: string,
    expected: LedgerPlace,
    progress: AttemptProgress,
    delivery: Delivery | undefined,
  ): Promise<boolean> {
    return this.#call("noteAttempt", webhookId, expected, progress, delivery);
  }

  listDeliveries(webhookId: string): Promise<readonly Delivery[]> {
    return this.#call("listDeliveries", webhookId);
  }

  countWaiting(serverId: string, after: LedgerPlace, filter: EventFilter): Promise<number> {
    return this.#call("countWaiting", serverId, after, filter);
  }

  readAlertRules(serverId: string): Promise<AlertRules> {
    return this.#call("readAlertRules", serverId);
  }

  setAlertRules(serverId: string, rules: AlertRules): Promise<void> {
    return this.#call("setAlertRules", serverId, rules);
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    const closing = worker && this.#call("close");
    this.#isClosed = true;
    try {
      await closing;
    } finally {
      this.#worker = undefined;
      worker?.terminate();
    }
  }

  async #call<T>(method: WorkerMethod, ...args: readonly unknown[]): Promise<T> {
    if (this.#isClosed) throw new ArchiveUnavailable("the archive is closed");
    if (this.#unanswered >= UNANSWERED_MAX) throw new ArchiveUnavailable("the archive is too slow");
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = ++this.#lastId;
    this.#post(this.#worker ?? this.#start(), { id, method, args });
    const timer = setTimeout(() => {
      this.#waiting.delete(id);
      reject(new ArchiveUnavailable(`the archive did not answer within ${ARCHIVE_DEADLINE_MS / 1000} s`));
    }, ARCHIVE_DEADLINE_MS);
    this.#waiting.set(id, { resolve, reject, timer });
    return promise as Promise<T>;
  }

  #post(worker: Worker, call: Omit<WorkerCall, "deadline">): void {
    this.#unanswered++;
    worker.postMessage({ ...call, deadline: monotonicMs() + ARCHIVE_DEADLINE_MS } satisfies WorkerCall);
  }

  #start(): Worker {
    const worker = this.#createWorker();
    worker.onmessage = ({ data }: MessageEvent<WorkerAnswer>) => this.#settle(worker, data);
    worker.onerror = ({ message }) => this.#fail(worker, message);
    worker.addEventListener("close", () => this.#fail(worker, "it was closed"));
    this.#worker = worker;
    this.#unanswered = 0;
    this.#post(worker, { id: 0, method: "open", args: [this.#path] });
    // The thread must not keep a finished process alive.
    worker.unref();
    return worker;
  }

  #createWorker(): Worker {
    try {
      return this.#startThread();
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
    else
      waiting.reject(answer.isUnavailable ? new ArchiveUnavailable(answer.error) : new Error(answer.error));
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
