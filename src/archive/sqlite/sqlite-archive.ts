// The embedded archive: calls its two threads, one for recording and one for questions about the history.
import type { AlertRules } from "../../core/alerts/rules.ts";
import { ArchiveUnavailable } from "../../core/errors.ts";
import type { LedgerPlace } from "../../core/events/cursor.ts";
import type { EventFilter } from "../../core/events/event-types.ts";
import type { ForgottenPlayer } from "../../core/events/forget-player.ts";
import type { Counts, Resolution } from "../../core/history/counts.ts";
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
import type {
  CountDetail,
  KeptSession,
  OpenHistory,
  Period,
  Presence,
  SessionsRequest,
  StaffFacts,
} from "../../core/ports/history.ts";
import type { StateChange } from "../../core/ports/state-changes.ts";
import type {
  AttemptProgress,
  ExpectedWebhook,
  WebhookChange,
  WebhookCreation,
} from "../../core/ports/webhooks.ts";
import type { SeenPlace } from "../../core/seen-places.ts";
import type { Delivery, Webhook } from "../../core/webhooks/webhook.ts";
import { ARCHIVE_DEADLINE_MS } from "../ledger-rules.ts";
import { monotonicMs } from "./monotonic-ms.ts";
import type { SqliteHistoryQuestions } from "./sqlite-history-questions.ts";
import { ThreadCalls } from "./thread-calls.ts";
import type { WorkerMethod } from "./worker.ts";

export class SqliteArchive implements Archive {
  readonly #writer: ThreadCalls;
  /** Answers questions about the history. It only reads, so that a long question does not delay what is recorded. */
  readonly #reader: ThreadCalls;
  #isOpenForQuestions = false;

  constructor(path: string, startThread: () => Worker) {
    this.#writer = new ThreadCalls({ startThread, opening: { method: "open", args: [path] } });
    this.#reader = new ThreadCalls({ startThread, opening: { method: "openForQuestions", args: [path] } });
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

  listForgotten(): Promise<readonly ForgottenPlayer[]> {
    return this.#call("listForgotten");
  }

  finishForgetting(playerId: string): Promise<void> {
    return this.#call("finishForgetting", playerId);
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
    expected: ExpectedWebhook,
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

  listStateChanges(serverId: string, limit: number): Promise<readonly StateChange[]> {
    return this.#call("listStateChanges", serverId, limit);
  }

  readAlertRules(serverId: string): Promise<AlertRules> {
    return this.#call("readAlertRules", serverId);
  }

  setAlertRules(serverId: string, rules: AlertRules): Promise<void> {
    return this.#call("setAlertRules", serverId, rules);
  }

  readCounts(
    serverId: string,
    resolution: Resolution,
    period: Period,
    detail?: CountDetail,
  ): Promise<readonly Counts[]> {
    return this.#ask("readCounts", serverId, resolution, period, detail);
  }

  readOpenHistory(serverId: string): Promise<OpenHistory> {
    return this.#ask("readOpenHistory", serverId);
  }

  listSessions(request: SessionsRequest): Promise<readonly KeptSession[]> {
    return this.#ask("listSessions", request);
  }

  sumPresence(
    serverId: string,
    period: Period,
    open: readonly Presence[],
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly Presence[]> {
    return this.#ask("sumPresence", serverId, period, open, page);
  }

  readStaff(serverId: string, period: Period, also: readonly string[]): Promise<StaffFacts> {
    return this.#ask("readStaff", serverId, period, also);
  }

  async close(): Promise<void> {
    // The reader first: the last connection that can write puts the log into the file and removes it.
    try {
      await this.#reader.close();
    } finally {
      await this.#writer.close();
    }
  }

  #call<T>(method: WorkerMethod, ...args: readonly unknown[]): Promise<T> {
    return this.#writer.call(method, args);
  }

  async #ask<T>(method: keyof SqliteHistoryQuestions & string, ...args: readonly unknown[]): Promise<T> {
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
}
