// For tests of readers: the embedded archive without its thread, and pauses that end when the test says so.

import { openArchiveFile } from "../src/archive/sqlite/open-archive-file.ts";
import { SqliteLedger } from "../src/archive/sqlite/sqlite-ledger.ts";
import type { NewEvent } from "../src/core/events/new-event.ts";
import { NO_HISTORY } from "../src/core/history/history.ts";
import type { MapImage } from "../src/core/map-image.ts";
import type { Archive, LedgerRecord, PageRequest, Retention } from "../src/core/ports/archive.ts";
import type { SeenPlace } from "../src/core/seen-places.ts";

export const EVENT_AT = 1_800_000_000_000;

export class MemoryArchive implements Archive {
  readonly #ledger = new SqliteLedger(openArchiveFile(":memory:"));
  /** Thrown by every query, when it is set. */
  fault: Error | undefined;
  /** The servers of each call of findLast. */
  readonly asked: (readonly string[])[] = [];
  /** Called after a page was read and before it is given to the reader. */
  onPageRead: (() => Promise<void>) | undefined;

  async load(serverId: string) {
    return this.#run(() => this.#ledger.load(serverId));
  }
  async findRecorded(serverId: string, identities: readonly string[]) {
    return this.#run(() => this.#ledger.findRecorded(serverId, identities));
  }
  async record(records: readonly LedgerRecord[]) {
    return this.#run(() => this.#ledger.record(records));
  }
  async readPage(request: PageRequest) {
    const page = this.#run(() => this.#ledger.readPage(request));
    await this.onPageRead?.();
    return page;
  }
  async findLast(serverIds: readonly string[]) {
    this.asked.push(serverIds);
    return this.#run(() => this.#ledger.findLast(serverIds));
  }
  async prune(retention: Retention) {
    return this.#run(() => this.#ledger.prune(retention));
  }
  async removeServer(serverId: string) {
    this.#run(() => this.#ledger.removeServer(serverId));
  }
  async startForgetting(playerId: string) {
    this.#run(() => this.#ledger.startForgetting(playerId));
  }
  async continueForgetting() {
    return this.#run(() => this.#ledger.continueForgetting());
  }
  async listForgotten() {
    return this.#run(() => this.#ledger.listForgotten());
  }
  async finishForgetting(playerId: string) {
    this.#run(() => this.#ledger.finishForgetting(playerId));
  }
  async addPlaces(serverId: string, places: readonly SeenPlace[]) {
    this.#run(() => this.#ledger.addPlaces(serverId, places));
  }
  async listPlaces(serverId: string) {
    return this.#run(() => this.#ledger.listPlaces(serverId));
  }
  async saveMapImage(serverId: string, image: MapImage) {
    this.#run(() => this.#ledger.saveMapImage(serverId, image));
  }
  async findMapImage(serverId: string) {
    return this.#run(() => this.#ledger.findMapImage(serverId));
  }
  async readMapImage(serverId: string) {
    return this.#run(() => this.#ledger.readMapImage(serverId));
  }
  async removeMapImage(serverId: string) {
    this.#run(() => this.#ledger.removeMapImage(serverId));
  }
  async listWebhooks(serverId?: string) {
    return this.#run(() => this.#ledger.listWebhooks(serverId));
  }
  async findWebhook(webhookId: string) {
    return this.#run(() => this.#ledger.findWebhook(webhookId));
  }
  async createWebhook(webhook: Parameters<Archive["createWebhook"]>[0]) {
    return this.#run(() => this.#ledger.createWebhook(webhook));
  }
  async updateWebhook(...args: Parameters<Archive["updateWebhook"]>) {
    return this.#run(() => this.#ledger.updateWebhook(...args));
  }
  async deleteWebhook(webhookId: string) {
    return this.#run(() => this.#ledger.deleteWebhook(webhookId));
  }
  async noteAttempt(...args: Parameters<Archive["noteAttempt"]>) {
    return this.#run(() => this.#ledger.noteAttempt(...args));
  }
  async listDeliveries(webhookId: string) {
    return this.#run(() => this.#ledger.listDeliveries(webhookId));
  }
  async countWaiting(...args: Parameters<Archive["countWaiting"]>) {
    return this.#run(() => this.#ledger.countWaiting(...args));
  }
  async listStateChanges(serverId: string, limit: number) {
    return this.#run(() => this.#ledger.listStateChanges(serverId, limit));
  }
  async readAlertRules(serverId: string) {
    return this.#run(() => this.#ledger.readAlertRules(serverId));
  }
  async setAlertRules(...args: Parameters<Archive["setAlertRules"]>) {
    this.#run(() => this.#ledger.setAlertRules(...args));
  }
  async readCounts(...args: Parameters<Archive["readCounts"]>) {
    return this.#run(() => this.#ledger.questions.readCounts(...args));
  }
  async readOpenHistory(...args: Parameters<Archive["readOpenHistory"]>) {
    return this.#run(() => this.#ledger.questions.readOpenHistory(...args));
  }
  async listSessions(...args: Parameters<Archive["listSessions"]>) {
    return this.#run(() => this.#ledger.questions.listSessions(...args));
  }
  async sumPresence(...args: Parameters<Archive["sumPresence"]>) {
    return this.#run(() => this.#ledger.questions.sumPresence(...args));
  }
  async readStaff(...args: Parameters<Archive["readStaff"]>) {
    return this.#run(() => this.#ledger.questions.readStaff(...args));
  }
  async close() {}

  /** Records events as a reading would. */
  async add(serverId: string, ...events: NewEvent[]): Promise<void> {
    const { version } = await this.load(serverId);
    await this.record([
      { serverId, version, events, memory: [], history: NO_HISTORY, stillShown: [], now: EVENT_AT },
    ]);
  }

  #run<T>(work: () => T): T {
    if (this.fault) throw this.fault;
    return work();
  }
}

export function makeEvent(n: number, changes: Partial<NewEvent> = {}): NewEvent {
  return {
    type: "player.killed",
    at: EVENT_AT + n,
    seenAt: EVENT_AT + n,
    source: "log",
    isBackfill: false,
    data: `{"Killed":"B:${n}","Timestamp":1800000000,"Killer":"A:12345678901234567890"}`,
    meta: null,
    section: null,
    identity: null,
    players: [String(n)],
    ...changes,
  };
}

type HeldPause = { readonly ms: number; readonly resolve: () => void };

/** Pauses that last until the test ends them. */
export class HeldPauses {
  #held: HeldPause[] = [];
  #changed = Promise.withResolvers<void>();

  readonly pause = (ms: number, wake: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = { ms, resolve };
    if (wake.aborted) return Promise.resolve();
    this.#change([...this.#held, held]);
    wake.addEventListener("abort", () => this.#end([held]));
    return promise;
  };

  /** The lengths of the pauses that last. */
  get lengths(): number[] {
    return this.#held.map(({ ms }) => ms);
  }

  /** Resolves when so many pauses of this length last. */
  async reach(ms: number, count = 1): Promise<void> {
    while (this.lengths.filter((one) => one === ms).length < count) await this.#changed.promise;
  }

  end(ms: number): void {
    this.#end(this.#held.filter((held) => held.ms === ms));
  }

  #end(ended: readonly HeldPause[]): void {
    this.#change(this.#held.filter((held) => !ended.includes(held)));
    for (const { resolve } of ended) resolve();
  }

  #change(held: HeldPause[]): void {
    this.#held = held;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
