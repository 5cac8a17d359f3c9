// An archive whose calls are counted: everything that uses the archive does so through this, so that one place knows
// whether it answers.
import type { AlertRules } from "../../core/alerts/rules.ts";
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
import type { ArchiveMeter } from "./archive-meter.ts";

export type ArchiveObserver = Pick<ArchiveMeter, "noteAnswer" | "noteFailure" | "countEvents">;

export class MeteredArchive implements Archive {
  readonly #archive: Archive;
  readonly #meter: ArchiveObserver;

  constructor(archive: Archive, meter: ArchiveObserver) {
    this.#archive = archive;
    this.#meter = meter;
  }

  load(serverId: string): Promise<KnownServer> {
    return this.#follow(this.#archive.load(serverId));
  }

  findRecorded(serverId: string, identities: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#follow(this.#archive.findRecorded(serverId, identities));
  }

  async record(records: readonly LedgerRecord[]): Promise<readonly RecordOutcome[]> {
    const outcomes = await this.#follow(this.#archive.record(records));
    for (const [place, { events }] of records.entries()) {
      const outcome = outcomes[place];
      if (outcome && "version" in outcome) this.#meter.countEvents(events);
    }
    return outcomes;
  }

  readPage(request: PageRequest): Promise<LedgerPage> {
    return this.#follow(this.#archive.readPage(request));
  }

  findLast(serverIds: readonly string[]): Promise<ReadonlyMap<string, LedgerPlace>> {
    return this.#follow(this.#archive.findLast(serverIds));
  }

  prune(retention: Retention): Promise<boolean> {
    return this.#follow(this.#archive.prune(retention));
  }

  removeServer(serverId: string): Promise<void> {
    return this.#follow(this.#archive.removeServer(serverId));
  }

  startForgetting(playerId: string): Promise<void> {
    return this.#follow(this.#archive.startForgetting(playerId));
  }

  continueForgetting(): Promise<boolean> {
    return this.#follow(this.#archive.continueForgetting());
  }

  listForgotten(): Promise<readonly ForgottenPlayer[]> {
    return this.#follow(this.#archive.listForgotten());
  }

  finishForgetting(playerId: string): Promise<void> {
    return this.#follow(this.#archive.finishForgetting(playerId));
  }

  addPlaces(serverId: string, places: readonly SeenPlace[]): Promise<void> {
    return this.#follow(this.#archive.addPlaces(serverId, places));
  }

  listPlaces(serverId: string): Promise<readonly SeenPlace[]> {
    return this.#follow(this.#archive.listPlaces(serverId));
  }

  saveMapImage(serverId: string, image: MapImage): Promise<void> {
    return this.#follow(this.#archive.saveMapImage(serverId, image));
  }

  findMapImage(serverId: string): Promise<MapImageFacts | undefined> {
    return this.#follow(this.#archive.findMapImage(serverId));
  }

  readMapImage(serverId: string): Promise<MapImage | undefined> {
    return this.#follow(this.#archive.readMapImage(serverId));
  }

  removeMapImage(serverId: string): Promise<void> {
    return this.#follow(this.#archive.removeMapImage(serverId));
  }

  listWebhooks(serverId?: string): Promise<readonly Webhook[]> {
    return this.#follow(this.#archive.listWebhooks(serverId));
  }

  findWebhook(webhookId: string): Promise<Webhook | undefined> {
    return this.#follow(this.#archive.findWebhook(webhookId));
  }

  createWebhook(webhook: Omit<Webhook, "place">): Promise<WebhookCreation> {
    return this.#follow(this.#archive.createWebhook(webhook));
  }

  updateWebhook(webhookId: string, change: WebhookChange): Promise<boolean> {
    return this.#follow(this.#archive.updateWebhook(webhookId, change));
  }

  deleteWebhook(webhookId: string): Promise<boolean> {
    return this.#follow(this.#archive.deleteWebhook(webhookId));
  }

  noteAttempt(
    webhookId: string,
    expected: ExpectedWebhook,
    progress: AttemptProgress,
    delivery: Delivery | undefined,
  ): Promise<boolean> {
    return this.#follow(this.#archive.noteAttempt(webhookId, expected, progress, delivery));
  }

  listDeliveries(webhookId: string): Promise<readonly Delivery[]> {
    return this.#follow(this.#archive.listDeliveries(webhookId));
  }

  countWaiting(serverId: string, after: LedgerPlace, filter: EventFilter): Promise<number> {
    return this.#follow(this.#archive.countWaiting(serverId, after, filter));
  }

  listStateChanges(serverId: string, limit: number): Promise<readonly StateChange[]> {
    return this.#follow(this.#archive.listStateChanges(serverId, limit));
  }

  readAlertRules(serverId: string): Promise<AlertRules> {
    return this.#follow(this.#archive.readAlertRules(serverId));
  }

  setAlertRules(serverId: string, rules: AlertRules): Promise<void> {
    return this.#follow(this.#archive.setAlertRules(serverId, rules));
  }

  readCounts(
    serverId: string,
    resolution: Resolution,
    period: Period,
    detail?: CountDetail,
  ): Promise<readonly Counts[]> {
    return this.#follow(this.#archive.readCounts(serverId, resolution, period, detail));
  }

  readOpenHistory(serverId: string): Promise<OpenHistory> {
    return this.#follow(this.#archive.readOpenHistory(serverId));
  }

  listSessions(request: SessionsRequest): Promise<readonly KeptSession[]> {
    return this.#follow(this.#archive.listSessions(request));
  }

  sumPresence(
    serverId: string,
    period: Period,
    open: readonly Presence[],
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly Presence[]> {
    return this.#follow(this.#archive.sumPresence(serverId, period, open, page));
  }

  readStaff(serverId: string, period: Period, also: readonly string[]): Promise<StaffFacts> {
    return this.#follow(this.#archive.readStaff(serverId, period, also));
  }

  close(): Promise<void> {
    return this.#archive.close();
  }

  async #follow<T>(call: Promise<T>): Promise<T> {
    try {
      const answer = await call;
      this.#meter.noteAnswer();
      return answer;
    } catch (error) {
      this.#meter.noteFailure(error);
      throw error;
    }
  }
}
