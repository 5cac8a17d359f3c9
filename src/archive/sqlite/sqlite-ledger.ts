// The ledgers in SQLite. Synchronous: it runs in the archive's own thread, never in the one that answers requests.
import type { Database } from "bun:sqlite";
import { randomBytes, randomInt } from "node:crypto";
import type { AlertRules } from "../../core/alerts/rules.ts";
import { type LedgerPlace, MARK_MAX } from "../../core/events/cursor.ts";
import { type EventFilter, toEventKind } from "../../core/events/event-types.ts";
import type { ForgottenPlayer } from "../../core/events/forget-player.ts";
import { type MemoryPart, parseMemory } from "../../core/events/memory-text.ts";
import type { EventSource, NewEvent } from "../../core/events/new-event.ts";
import type { MapImage, MapImageFacts } from "../../core/map-image.ts";
import type {
  KnownServer,
  LedgerEvent,
  LedgerPage,
  LedgerRecord,
  PageRequest,
  RecordOutcome,
  Retention,
} from "../../core/ports/archive.ts";
import type { StateChange } from "../../core/ports/state-changes.ts";
import type {
  AttemptProgress,
  ExpectedWebhook,
  WebhookChange,
  WebhookCreation,
} from "../../core/ports/webhooks.ts";
import type { SeenPlace } from "../../core/seen-places.ts";
import type { Delivery, Webhook } from "../../core/webhooks/webhook.ts";
import { ALERT_RULES_PART, parseAlertRules, writeAlertRules } from "../alert-rules-part.ts";
import { withoutRepeated } from "../history-rows.ts";
import {
  cutPage,
  dayOfRecord,
  initialMark,
  type LedgerBounds,
  lastDayAfter,
  REMOVED_PREFIX,
  rangeOfPage,
  startOfPage,
} from "../ledger-rules.ts";
import { STATE_KINDS, toStateChange } from "../state-kinds.ts";
import type { LedgerRow } from "./schema.ts";
import { SqliteForgetting } from "./sqlite-forgetting.ts";
import { SqliteHistory } from "./sqlite-history.ts";
import { SqliteHistoryQuestions } from "./sqlite-history-questions.ts";
import { SqliteMaps } from "./sqlite-maps.ts";
import { SqlitePruning } from "./sqlite-pruning.ts";
import { SqliteWebhooks } from "./sqlite-webhooks.ts";

type EventRow = {
  number: number;
  mark: number;
  kind: number;
  at: number;
  seen_at: number;
  source: EventSource;
  is_backfill: number;
  data: string;
  meta: string | null;
};

const EVENT_COLUMNS = "number, mark, kind, at, seen_at, source, is_backfill, data, meta";

export class SqliteLedger {
  readonly #db: Database;
  readonly #archiveId: string;
  readonly #forgetting: SqliteForgetting;
  readonly #webhooks: SqliteWebhooks;
  readonly #maps: SqliteMaps;
  readonly #history: SqliteHistory;
  readonly #pruning: SqlitePruning;
  /** For those that have one thread; see HistoryFile for the others. */
  readonly questions: SqliteHistoryQuestions;

  constructor(db: Database) {
    this.#db = db;
    this.#webhooks = new SqliteWebhooks(db);
    this.#maps = new SqliteMaps(db);
    this.#history = new SqliteHistory(db);
    this.#pruning = new SqlitePruning(db, this.#history);
    this.#forgetting = new SqliteForgetting(db, this.#history);
    this.questions = new SqliteHistoryQuestions(db);
    this.#archiveId = this.#loadArchiveId();
  }

  load(serverId: string): KnownServer {
    const row = this.#find(serverId);
    if (!row) return { version: 0, memory: parseMemory([]) };
    const parts = this.#db
      .query<{ part: string; text: string }, [number]>("SELECT part, text FROM memory WHERE ledger = ?")
      .all(row.ledger);
    return { version: row.version, memory: parseMemory(parts) };
  }

  findRecorded(serverId: string, identities: readonly string[]): ReadonlySet<string> {
    const row = this.#find(serverId);
    if (!row || identities.length === 0) return new Set();
    const found = this.#db
      .query<{ identity: string }, [number, string]>(
        "SELECT identity FROM identities WHERE ledger = ?1 AND identity IN (SELECT value FROM json_each(?2))",
      )
      .all(row.ledger, JSON.stringify(identities));
    return new Set(found.map(({ identity }) => identity));
  }

  record(records: readonly LedgerRecord[]): RecordOutcome[] {
    return this.#db.transaction(() => records.map((record) => this.#recordOne(record))).immediate();
  }

  readPage(request: PageRequest): LedgerPage {
    return this.#db.transaction(() => this.#readPage(request)).deferred();
  }

  findLast(serverIds: readonly string[]): ReadonlyMap<string, LedgerPlace> {
    const rows = this.#db
      .query<{ server_id: string } & LedgerPlace, [string]>(
        `SELECT server_id, last_number AS number, last_mark AS mark FROM ledgers
         WHERE server_id IN (SELECT value FROM json_each(?))`,
      )
      .all(JSON.stringify(serverIds));
    return new Map(rows.map((row) => [row.server_id, toPlace(row)]));
  }

  prune(retention: Retention): boolean {
    return this.#pruning.prune(retention);
  }

  /** Takes the ledger out of reach at once; its rows are deleted by `prune`, in steps. */
  removeServer(serverId: string): void {
    this.#db
      .transaction(() => {
        this.#webhooks.deleteAll(serverId);
        this.#db
          .query("UPDATE ledgers SET server_id = ?1 || ledger WHERE server_id = ?2")
          .run(REMOVED_PREFIX, serverId);
      })
      .immediate();
  }

  startForgetting(playerId: string): void {
    this.#forgetting.start(playerId);
  }

  continueForgetting(): boolean {
    return this.#forgetting.continue();
  }

  listForgotten(): ForgottenPlayer[] {
    return this.#forgetting.listForgotten();
  }

  finishForgetting(playerId: string): void {
    this.#forgetting.finish(playerId);
  }

  addPlaces(serverId: string, places: readonly SeenPlace[]): void {
    this.#db
      .transaction(() => {
        const row = this.#find(serverId);
        if (row) this.#maps.addPlaces(row.ledger, places);
      })
      .immediate();
  }

  listWebhooks(serverId?: string): Webhook[] {
    return this.#webhooks.list(serverId);
  }

  findWebhook(webhookId: string): Webhook | undefined {
    return this.#webhooks.find(webhookId);
  }

  createWebhook(webhook: Omit<Webhook, "place">): WebhookCreation {
    return this.#db
      .transaction(() => {
        const { serverId } = webhook;
        const { ledger, last_number, last_mark } = this.#find(serverId) ?? this.#create(serverId);
        return this.#webhooks.create(ledger, { number: last_number, mark: last_mark }, webhook);
      })
      .immediate();
  }

  updateWebhook(webhookId: string, change: WebhookChange): boolean {
    return this.#db.transaction(() => this.#webhooks.update(webhookId, change)).immediate();
  }

  deleteWebhook(webhookId: string): boolean {
    return this.#db.transaction(() => this.#webhooks.delete(webhookId)).immediate();
  }

  noteAttempt(
    webhookId: string,
    expected: ExpectedWebhook,
    progress: AttemptProgress,
    delivery: Delivery | undefined,
  ): boolean {
    return this.#db
      .transaction(() => this.#webhooks.noteAttempt(webhookId, expected, progress, delivery))
      .immediate();
  }

  listDeliveries(webhookId: string): Delivery[] {
    return this.#webhooks.listDeliveries(webhookId);
  }

  countWaiting(serverId: string, after: LedgerPlace, filter: EventFilter): number {
    return this.#db
      .transaction(() => {
        const bounds = this.#boundsOf(serverId);
        const place = startOfPage({ after }, bounds);
        // A webhook whose place does not hold goes on with the oldest event.
        const from = this.#holds(place, bounds) ? place : bounds.floor;
        return this.#webhooks.countWaiting(bounds.ledger, from.number, filter);
      })
      .deferred();
  }

  listPlaces(serverId: string): SeenPlace[] {
    const row = this.#find(serverId);
    return row ? this.#maps.listPlaces(row.ledger) : [];
  }

  saveMapImage(serverId: string, image: MapImage): void {
    this.#db
      .transaction(() => {
        const { ledger } = this.#find(serverId) ?? this.#create(serverId);
        this.#maps.saveImage(ledger, image);
      })
      .immediate();
  }

  findMapImage(serverId: string): MapImageFacts | undefined {
    const row = this.#find(serverId);
    return row ? this.#maps.findImage(row.ledger) : undefined;
  }

  readMapImage(serverId: string): MapImage | undefined {
    const row = this.#find(serverId);
    return row ? this.#maps.readImage(row.ledger) : undefined;
  }

  removeMapImage(serverId: string): void {
    const row = this.#find(serverId);
    if (row) this.#maps.removeImage(row.ledger);
  }

  listStateChanges(serverId: string, limit: number): readonly StateChange[] {
    // One part for each kind, so that each is read from the end of its index.
    const parts = STATE_KINDS.map(
      (kind) => `SELECT * FROM (SELECT kind, at, number FROM events JOIN ledgers USING (ledger)
        WHERE server_id = ?1 AND kind = ${kind} AND is_backfill = 0 ORDER BY number DESC LIMIT ?2)`,
    );
    return this.#db
      .query<{ kind: number; at: number }, [string, number]>(
        `${parts.join(" UNION ALL ")} ORDER BY number DESC LIMIT ?2`,
      )
      .all(serverId, limit)
      .map(toStateChange);
  }

  readAlertRules(serverId: string): AlertRules {
    const row = this.#db
      .query<{ text: string }, [string, string]>(
        "SELECT text FROM memory JOIN ledgers USING (ledger) WHERE server_id = ? AND part = ?",
      )
      .get(serverId, ALERT_RULES_PART);
    return parseAlertRules(row?.text);
  }

  setAlertRules(serverId: string, rules: AlertRules): void {
    this.#db
      .transaction(() => {
        const { ledger } = this.#find(serverId) ?? this.#create(serverId);
        this.#writeMemory(ledger, writeAlertRules(rules));
        this.#db.query("UPDATE ledgers SET version = version + 1 WHERE ledger = ?").run(ledger);
      })
      .immediate();
  }

  #loadArchiveId(): string {
    const insert = this.#db.query("INSERT OR IGNORE INTO archive (id, archive_id) VALUES (1, ?)");
    insert.run(randomBytes(16).toString("hex"));
    const row = this.#db.query<{ archive_id: string }, []>("SELECT archive_id FROM archive").get();
    if (!row) throw new Error("the archive has no id");
    return row.archive_id;
  }

  #find(serverId: string): LedgerRow | null {
    return this.#db.query<LedgerRow, [string]>("SELECT * FROM ledgers WHERE server_id = ?").get(serverId);
  }

  #create(serverId: string): LedgerRow {
    const mark = initialMark(this.#archiveId, serverId);
    const row = this.#db
      .query<LedgerRow, [string, number]>(
        `INSERT INTO ledgers (server_id, version, last_number, last_mark, floor_number, floor_mark, last_day, identity_count)
         VALUES (?1, 0, 0, ?2, 0, ?2, 0, 0) RETURNING *`,
      )
      .get(serverId, mark);
    if (!row) throw new Error("a ledger was not created");
    return row;
  }

  #recordOne(record: LedgerRecord): RecordOutcome {
    const { serverId, version, events, memory, stillShown } = record;
    const found = this.#find(serverId);
    if ((found?.version ?? 0) !== version) return { conflict: true };
    const row = found ?? this.#create(serverId);
    const { ledger } = row;
    const day = dayOfRecord(record, row.last_day);
    let last: LedgerPlace = { number: row.last_number, mark: row.last_mark };
    let identityCount = row.identity_count;
    const repeated = new Set<string>();
    for (const event of events) {
      if (event.identity !== null && !this.#addIdentity(ledger, event.identity, day)) {
        repeated.add(event.identity);
        continue;
      }
      if (event.identity !== null) identityCount++;
      last = { number: last.number + 1, mark: randomInt(MARK_MAX + 1) };
      this.#addEvent(ledger, last, event);
    }
    const refresh = this.#db.query(
      "UPDATE identities SET shown_day = ?3 WHERE ledger = ?1 AND identity = ?2 AND shown_day < ?3",
    );
    for (const identity of stillShown) refresh.run(ledger, identity, day);
    this.#writeMemory(ledger, memory);
    this.#history.add(ledger, withoutRepeated(record.history, repeated));
    this.#db
      .query(
        `UPDATE ledgers SET version = ?2, last_number = ?3, last_mark = ?4, last_day = ?5,
           identity_count = ?6 WHERE ledger = ?1`,
      )
      .run(ledger, version + 1, last.number, last.mark, lastDayAfter(record, row.last_day), identityCount);
    return { version: version + 1, last };
  }

  #writeMemory(ledger: number, parts: readonly MemoryPart[]): void {
    const write = this.#db.query("INSERT OR REPLACE INTO memory (ledger, part, text) VALUES (?, ?, ?)");
    for (const { part, text } of parts) write.run(ledger, part, text);
  }

  #addIdentity(ledger: number, identity: string, day: number): boolean {
    const insert = this.#db.query(
      "INSERT OR IGNORE INTO identities (ledger, identity, shown_day) VALUES (?, ?, ?)",
    );
    return insert.run(ledger, identity, day).changes > 0;
  }

  #addEvent(ledger: number, { number, mark }: LedgerPlace, event: NewEvent): void {
    this.#db
      .query(`INSERT INTO events (ledger, ${EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
      .run(
        ledger,
        number,
        mark,
        toEventKind(event.type, event.section),
        event.at,
        event.seenAt,
        event.source,
        event.isBackfill ? 1 : 0,
        event.data,
        event.meta,
      );
    const link = this.#db.query("INSERT INTO event_players (ledger, player, number) VALUES (?, ?, ?)");
    for (const player of event.players) link.run(ledger, player, number);
  }

  #boundsOf(serverId: string): LedgerBounds & { ledger: number } {
    const row = this.#find(serverId);
    const mark = initialMark(this.#archiveId, serverId);
    if (!row) return { ledger: 0, last: { number: 0, mark }, floor: { number: 0, mark } };
    return {
      ledger: row.ledger,
      last: { number: row.last_number, mark: row.last_mark },
      floor: { number: row.floor_number, mark: row.floor_mark },
    };
  }

  #readPage({ serverId, start, filter, player, limit }: PageRequest): LedgerPage {
    const bounds = this.#boundsOf(serverId);
    const { ledger, last, floor } = bounds;
    const place = startOfPage(start, bounds);
    if (!this.#holds(place, bounds)) return { expired: true, oldest: floor };
    const isForward = "after" in start;
    const { first, final } = rangeOfPage(place, isForward, bounds);
    const rows = this.#select({ ledger, first, final, player, limit: limit + 1, isForward }, [...filter]);
    const { chosen, isCut } = cutPage(rows, limit);
    const events = (isForward ? chosen : chosen.toReversed()).map(toLedgerEvent);
    if (isForward) {
      const next = isCut ? (events.at(-1) ?? place) : this.#placeAt(bounds, final);
      return { events, next: toPlace(next), previous: place, hasMore: next.number < last.number };
    }
    const from = (isCut ? (events[0]?.number ?? first) : first) - 1;
    const previous = this.#placeAt(bounds, from);
    return { events, next: place, previous, hasMore: previous.number > floor.number };
  }

  #select(
    range: {
      ledger: number;
      first: number;
      final: number;
      player: string | undefined;
      limit: number;
      isForward: boolean;
    },
    kinds: readonly number[],
  ): EventRow[] {
    const { ledger, first, final, player, limit, isForward } = range;
    const ofPlayer =
      player === undefined
        ? ""
        : `AND number IN (SELECT number FROM event_players
             WHERE ledger = ?1 AND player = ?6 AND number BETWEEN ?2 AND ?3)`;
    return this.#db
      .query<EventRow, (number | string)[]>(
        `SELECT ${EVENT_COLUMNS} FROM events
         WHERE ledger = ?1 AND number BETWEEN ?2 AND ?3
           AND kind IN (SELECT value FROM json_each(?4)) ${ofPlayer}
         ORDER BY number ${isForward ? "ASC" : "DESC"} LIMIT ?5`,
      )
      .all(ledger, first, final, JSON.stringify(kinds), limit, ...(player === undefined ? [] : [player]));
  }

  /** Whether the place of a page's start is one of this ledger. */
  #holds(place: LedgerPlace, { ledger, last, floor }: LedgerBounds & { ledger: number }): boolean {
    return place === floor || place === last || this.#markOf(ledger, place.number) === place.mark;
  }

  #markOf(ledger: number, number: number): number | undefined {
    return this.#db
      .query<{ mark: number }, [number, number]>("SELECT mark FROM events WHERE ledger = ? AND number = ?")
      .get(ledger, number)?.mark;
  }

  #placeAt({ ledger, last, floor }: LedgerBounds & { ledger: number }, number: number): LedgerPlace {
    if (number >= last.number) return last;
    if (number <= floor.number) return floor;
    return { number, mark: this.#markOf(ledger, number) ?? 0 };
  }
}

function toPlace({ number, mark }: LedgerPlace): LedgerPlace {
  return { number, mark };
}

function toLedgerEvent({ seen_at, is_backfill, ...rest }: EventRow): LedgerEvent {
  return { ...rest, seenAt: seen_at, isBackfill: is_backfill === 1 };
}
