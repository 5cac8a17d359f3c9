// The archive in PostgreSQL, shared by several instances. The row of a ledger is locked while events are added, so numbers
// become readable in their order.
import { randomInt } from "node:crypto";
import type { TransactionSQL } from "bun";
import type { AlertRules } from "../../core/alerts/rules.ts";
import { ArchiveUnavailable } from "../../core/errors.ts";
import { type LedgerPlace, MARK_MAX } from "../../core/events/cursor.ts";
import { type EventFilter, toEventKind } from "../../core/events/event-types.ts";
import { type MemoryPart, parseMemory } from "../../core/events/memory-text.ts";
import type { EventSource, NewEvent } from "../../core/events/new-event.ts";
import type { Counts, Resolution } from "../../core/history/counts.ts";
import type { MapImage, MapImageFacts } from "../../core/map-image.ts";
import type {
  Archive,
  KnownServer,
  LedgerEvent,
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
import { ALERT_RULES_PART, parseAlertRules, writeAlertRules } from "../alert-rules-part.ts";
import { withoutRepeated } from "../history-rows.ts";
import {
  cutPage,
  DAY_MS,
  dayOfRecord,
  IDENTITIES_MAX,
  IDENTITY_DAYS,
  initialMark,
  LEDGER_TABLES,
  type LedgerBounds,
  lastDayAfter,
  PRUNE_LEDGERS_MAX,
  PRUNE_STEP,
  REMOVED_PREFIX,
  rangeOfPage,
  startOfPage,
} from "../ledger-rules.ts";
import { STATE_KINDS, toStateChange } from "../state-kinds.ts";
import { PostgresConnection } from "./postgres-connection.ts";
import { continueForgetting, startForgetting } from "./postgres-forgetting.ts";
import { addHistory, hasOldHistory, pruneHistory } from "./postgres-history.ts";
import {
  listSessions,
  readCounts,
  readOpenHistory,
  readStaff,
  sumPresence,
} from "./postgres-history-questions.ts";
import { addPlaces, findImage, listPlaces, readImage, removeImage, saveImage } from "./postgres-maps.ts";
import {
  countWaiting,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listDeliveries,
  listWebhooks,
  noteAttempt,
  updateWebhook,
} from "./postgres-webhooks.ts";

/** Held while one instance prunes. The number is ours alone. */
const PRUNE_LOCK = 0x47544850;

/** int8 arrives as text. */
type LedgerRow = {
  readonly ledger: string;
  readonly server_id: string;
  readonly version: string;
  readonly last_number: string;
  readonly last_mark: string;
  readonly floor_number: string;
  readonly floor_mark: string;
  readonly last_day: string;
  readonly identity_count: string;
};

type EventRow = {
  readonly number: string;
  readonly mark: string;
  readonly kind: number;
  readonly at: string;
  readonly seen_at: string;
  readonly source: EventSource;
  readonly is_backfill: boolean;
  readonly data: string;
  readonly meta: string | null;
};

export class PostgresArchive implements Archive {
  readonly #connection: PostgresConnection;

  constructor(url: string) {
    this.#connection = new PostgresConnection(url);
  }

  /** Throws ArchiveUnavailable with the reason when the database cannot be used, PostgresTooOld as its cause if that is it. */
  async check(): Promise<void> {
    await this.#connection.run(async () => {});
  }

  load(serverId: string): Promise<KnownServer> {
    return this.#connection.run(async (tx) => {
      // Both in one statement, so that the memory belongs to the version.
      const rows = await tx<{ version: string; part: string | null; text: string | null }[]>`
        SELECT version, part, text FROM gatehouse_ledgers
        LEFT JOIN gatehouse_memory USING (ledger) WHERE server_id = ${serverId}`;
      const parts = rows.filter((row): row is MemoryPart & { version: string } => row.part !== null);
      return { version: Number(rows[0]?.version ?? 0), memory: parseMemory(parts) };
    });
  }

  findRecorded(serverId: string, identities: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#connection.run(async (tx) => {
      const found = await tx<{ identity: string }[]>`
        SELECT identity FROM gatehouse_identities JOIN gatehouse_ledgers USING (ledger)
        WHERE server_id = ${serverId}
          AND identity IN (SELECT json_array_elements_text(${JSON.stringify(identities)}::text::json))`;
      return new Set(found.map(({ identity }) => identity));
    });
  }

  record(records: readonly LedgerRecord[]): Promise<readonly RecordOutcome[]> {
    return this.#connection.run(async (tx, archiveId) => {
      const outcomes = new Map<LedgerRecord, RecordOutcome>();
      // Always in the same order, so that two instances cannot wait for each other.
      const sorted = records.toSorted((a, b) => (a.serverId < b.serverId ? -1 : 1));
      for (const record of sorted) outcomes.set(record, await recordOne(tx, archiveId, record));
      return records.map((record) => outcomes.get(record) ?? { conflict: true as const });
    });
  }

  readPage(request: PageRequest): Promise<LedgerPage> {
    return this.#connection.run(async (tx, archiveId) => {
      // One snapshot for all queries of the page.
      await tx`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`;
      return readPage(tx, archiveId, request);
    });
  }

  findLast(serverIds: readonly string[]): Promise<ReadonlyMap<string, LedgerPlace>> {
    return this.#connection.run(async (tx) => {
      const rows = await tx<{ server_id: string; last_number: string; last_mark: string }[]>`
        SELECT server_id, last_number, last_mark FROM gatehouse_ledgers
        WHERE server_id IN (SELECT json_array_elements_text(${JSON.stringify(serverIds)}::text::json))`;
      return new Map(
        rows.map(({ server_id, last_number, last_mark }) => {
          return [server_id, { number: Number(last_number), mark: Number(last_mark) }];
        }),
      );
    });
  }

  prune(retention: Retention): Promise<boolean> {
    return this.#connection.run(async (tx) => {
      // One instance at a time: the others would only wait for its locks.
      const [lock] = await tx<
        { is_ours: boolean }[]
      >`SELECT pg_try_advisory_xact_lock(${PRUNE_LOCK}) AS is_ours`;
      if (!lock?.is_ours) return false;
      const ledgers = await listPrunable(tx, retention);
      let left = PRUNE_STEP;
      for (const ledger of ledgers) {
        left -= await pruneOne(tx, ledger, retention, left);
        if (left <= 0) return true;
      }
      return ledgers.length === PRUNE_LEDGERS_MAX;
    });
  }

  /** Takes the ledger out of reach at once; its rows are deleted by `prune`, in steps. */
  removeServer(serverId: string): Promise<void> {
    return this.#connection.run(async (tx) => {
      const [row] = await tx<{ ledger: string }[]>`UPDATE gatehouse_ledgers
        SET server_id = ${REMOVED_PREFIX} || ledger WHERE server_id = ${serverId} RETURNING ledger`;
      if (row) await tx`DELETE FROM gatehouse_webhooks WHERE ledger = ${row.ledger}`;
    });
  }

  startForgetting(playerId: string): Promise<void> {
    return this.#connection.run((tx) => startForgetting(tx, playerId));
  }

  continueForgetting(): Promise<boolean> {
    return this.#connection.run((tx) => continueForgetting(tx));
  }

  addPlaces(serverId: string, places: readonly SeenPlace[]): Promise<void> {
    return this.#connection.run((tx) => addPlaces(tx, serverId, places));
  }

  listPlaces(serverId: string): Promise<readonly SeenPlace[]> {
    return this.#connection.run((tx) => listPlaces(tx, serverId));
  }

  saveMapImage(serverId: string, image: MapImage): Promise<void> {
    return this.#connection.run(async (tx, archiveId) => {
      const row = await lockLedger(tx, archiveId, serverId, 0);
      if (row) await saveImage(tx, row.ledger, image);
    });
  }

  findMapImage(serverId: string): Promise<MapImageFacts | undefined> {
    return this.#connection.run((tx) => findImage(tx, serverId));
  }

  readMapImage(serverId: string): Promise<MapImage | undefined> {
    return this.#connection.run((tx) => readImage(tx, serverId));
  }

  removeMapImage(serverId: string): Promise<void> {
    return this.#connection.run((tx) => removeImage(tx, serverId));
  }

  listWebhooks(serverId?: string): Promise<readonly Webhook[]> {
    return this.#connection.run((tx) => listWebhooks(tx, serverId));
  }

  findWebhook(webhookId: string): Promise<Webhook | undefined> {
    return this.#connection.run((tx) => findWebhook(tx, webhookId));
  }

  createWebhook(webhook: Omit<Webhook, "place">): Promise<WebhookCreation> {
    return this.#connection.run(async (tx, archiveId) => {
      const row = await lockLedger(tx, archiveId, webhook.serverId, 0);
      if (!row) throw new ArchiveUnavailable("the server was deleted meanwhile");
      const place = { number: Number(row.last_number), mark: Number(row.last_mark) };
      return createWebhook(tx, row.ledger, place, webhook);
    });
  }

  updateWebhook(webhookId: string, change: WebhookChange): Promise<boolean> {
    return this.#connection.run((tx) => updateWebhook(tx, webhookId, change));
  }

  deleteWebhook(webhookId: string): Promise<boolean> {
    return this.#connection.run((tx) => deleteWebhook(tx, webhookId));
  }

  noteAttempt(
    webhookId: string,
    expected: ExpectedWebhook,
    progress: AttemptProgress,
    delivery: Delivery | undefined,
  ): Promise<boolean> {
    return this.#connection.run((tx) => noteAttempt(tx, webhookId, expected, progress, delivery));
  }

  listDeliveries(webhookId: string): Promise<readonly Delivery[]> {
    return this.#connection.run((tx) => listDeliveries(tx, webhookId));
  }

  countWaiting(serverId: string, after: LedgerPlace, filter: EventFilter): Promise<number> {
    return this.#connection.run(async (tx, archiveId) => {
      await tx`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`;
      const [row] = await tx<LedgerRow[]>`SELECT * FROM gatehouse_ledgers WHERE server_id = ${serverId}`;
      if (!row) return 0;
      const bounds = boundsOf(row, initialMark(archiveId, serverId));
      const place = startOfPage({ after }, bounds);
      // A webhook whose place does not hold goes on with the oldest event.
      const from = (await holds(tx, row.ledger, place, bounds)) ? place : bounds.floor;
      return countWaiting(tx, row.ledger, from.number, filter);
    });
  }

  listStateChanges(serverId: string, limit: number): Promise<readonly StateChange[]> {
    return this.#connection.run(async (tx) => {
      // For each kind on its own, so that each is read from the end of its index.
      const rows = await tx<{ kind: number; at: string }[]>`
        SELECT kind, at FROM gatehouse_ledgers
        CROSS JOIN json_array_elements_text(${JSON.stringify(STATE_KINDS)}::text::json) AS wanted
        CROSS JOIN LATERAL (
          SELECT kind, at, number FROM gatehouse_events
          WHERE ledger = gatehouse_ledgers.ledger AND kind = wanted::integer AND NOT is_backfill
          ORDER BY number DESC LIMIT ${limit}) AS newest
        WHERE server_id = ${serverId} ORDER BY number DESC LIMIT ${limit}`;
      return rows.map(toStateChange);
    });
  }

  readAlertRules(serverId: string): Promise<AlertRules> {
    return this.#connection.run(async (tx) => {
      const [row] = await tx<{ text: string }[]>`SELECT text FROM gatehouse_memory
        JOIN gatehouse_ledgers USING (ledger) WHERE server_id = ${serverId} AND part = ${ALERT_RULES_PART}`;
      return parseAlertRules(row?.text);
    });
  }

  setAlertRules(serverId: string, rules: AlertRules): Promise<void> {
    return this.#connection.run(async (tx, archiveId) => {
      const row = await lockLedger(tx, archiveId, serverId, 0);
      if (!row) throw new ArchiveUnavailable("the server was deleted meanwhile");
      await writeMemory(tx, row.ledger, writeAlertRules(rules));
      await tx`UPDATE gatehouse_ledgers SET version = version + 1 WHERE ledger = ${row.ledger}`;
    });
  }

  readCounts(
    serverId: string,
    resolution: Resolution,
    period: Period,
    detail?: CountDetail,
  ): Promise<readonly Counts[]> {
    return this.#connection.run((tx) => readCounts(tx, serverId, resolution, period, detail));
  }

  readOpenHistory(serverId: string): Promise<OpenHistory> {
    return this.#connection.run((tx) => readOpenHistory(tx, serverId));
  }

  listSessions(request: SessionsRequest): Promise<readonly KeptSession[]> {
    return this.#ask((tx) => listSessions(tx, request));
  }

  sumPresence(
    serverId: string,
    period: Period,
    open: readonly Presence[],
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly Presence[]> {
    return this.#ask((tx) => sumPresence(tx, serverId, period, open, page));
  }

  readStaff(serverId: string, period: Period, also: readonly string[]): Promise<StaffFacts> {
    return this.#ask((tx) => readStaff(tx, serverId, period, also));
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** One snapshot for all queries of a question. */
  #ask<T>(question: (tx: TransactionSQL) => Promise<T>): Promise<T> {
    return this.#connection.run(async (tx) => {
      await tx`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`;
      return question(tx);
    });
  }
}

async function recordOne(
  tx: TransactionSQL,
  archiveId: string,
  record: LedgerRecord,
): Promise<RecordOutcome> {
  const { serverId, version, events, memory, stillShown } = record;
  const row = await lockLedger(tx, archiveId, serverId, version);
  if (!row || Number(row.version) !== version) return { conflict: true };
  const { ledger } = row;
  const lastDay = Number(row.last_day);
  const day = dayOfRecord(record, lastDay);
  const isNew = await addIdentities(tx, ledger, events, day);
  let last: LedgerPlace = { number: Number(row.last_number), mark: Number(row.last_mark) };
  const added = events.filter(isNew);
  const placed = added.map((event) => {
    last = { number: last.number + 1, mark: randomInt(MARK_MAX + 1) };
    return { event, place: last };
  });
  await addEvents(tx, ledger, placed);
  if (stillShown.length > 0) {
    await tx`UPDATE gatehouse_identities SET shown_day = ${day}
      WHERE ledger = ${ledger} AND shown_day < ${day}
        AND identity IN (SELECT json_array_elements_text(${JSON.stringify(stillShown)}::text::json))`;
  }
  await writeMemory(tx, ledger, memory);
  const kept = new Set(added);
  const repeated = events.filter((event) => !kept.has(event)).map(({ identity }) => identity ?? "");
  await addHistory(tx, ledger, withoutRepeated(record.history, new Set(repeated)));
  const identities = placed.filter(({ event }) => event.identity !== null).length;
  await tx`UPDATE gatehouse_ledgers SET version = ${version + 1}, last_number = ${last.number},
      last_mark = ${last.mark}, last_day = ${lastDayAfter(record, lastDay)},
      identity_count = identity_count + ${identities} WHERE ledger = ${ledger}`;
  return { version: version + 1, last };
}

async function writeMemory(tx: TransactionSQL, ledger: string, parts: readonly MemoryPart[]): Promise<void> {
  for (const { part, text } of parts) {
    await tx`INSERT INTO gatehouse_memory (ledger, part, text) VALUES (${ledger}, ${part}, ${text})
      ON CONFLICT (ledger, part) DO UPDATE SET text = excluded.text`;
  }
}

/** Undefined when the server has no ledger although the version says so. */
async function lockLedger(
  tx: TransactionSQL,
  archiveId: string,
  serverId: string,
  version: number,
): Promise<LedgerRow | undefined> {
  if (version === 0) {
    const mark = initialMark(archiveId, serverId);
    await tx`INSERT INTO gatehouse_ledgers (server_id, version, last_number, last_mark, floor_number, floor_mark,
        last_day, identity_count) VALUES (${serverId}, 0, 0, ${mark}, 0, ${mark}, 0, 0)
      ON CONFLICT (server_id) DO NOTHING`;
  }
  const [row] = await tx<LedgerRow[]>`
    SELECT * FROM gatehouse_ledgers WHERE server_id = ${serverId} FOR UPDATE`;
  return row;
}

/** Adds the identities that are new, and returns which events are told for the first time. */
async function addIdentities(
  tx: TransactionSQL,
  ledger: string,
  events: readonly NewEvent[],
  day: number,
): Promise<(event: NewEvent) => boolean> {
  const given = new Set(events.map(({ identity }) => identity).filter((identity) => identity !== null));
  if (given.size === 0) return () => true;
  const added = await tx<{ identity: string }[]>`
    INSERT INTO gatehouse_identities (ledger, identity, shown_day)
    SELECT ${ledger}, identity, ${day}
      FROM json_array_elements_text(${JSON.stringify([...given])}::text::json) AS identity
    ON CONFLICT DO NOTHING RETURNING identity`;
  const left = new Set(added.map(({ identity }) => identity));
  // Deleted when it is used, because two events of one batch may have the same identity.
  return ({ identity }) => identity === null || left.delete(identity);
}

async function addEvents(
  tx: TransactionSQL,
  ledger: string,
  placed: readonly { readonly event: NewEvent; readonly place: LedgerPlace }[],
): Promise<void> {
  if (placed.length === 0) return;
  const rows = placed.map(({ event, place }) => ({
    ...place,
    kind: toEventKind(event.type, event.section),
    at: event.at,
    seen_at: event.seenAt,
    source: event.source,
    is_backfill: event.isBackfill,
    data: event.data,
    meta: event.meta,
  }));
  await tx`INSERT INTO gatehouse_events
      (ledger, number, mark, kind, at, seen_at, source, is_backfill, data, meta)
    SELECT ${ledger}, * FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS
      (number bigint, mark bigint, kind integer, at bigint, seen_at bigint, source text, is_backfill boolean,
       data text, meta text)`;
  const links = placed.flatMap(({ event, place }) =>
    event.players.map((player) => ({ player, number: place.number })),
  );
  if (links.length === 0) return;
  await tx`INSERT INTO gatehouse_event_players (ledger, player, number)
    SELECT ${ledger}, * FROM json_to_recordset(${JSON.stringify(links)}::text::json) AS (player text, number bigint)`;
}

async function readPage(
  tx: TransactionSQL,
  archiveId: string,
  { serverId, start, filter, player, limit }: PageRequest,
): Promise<LedgerPage> {
  const [row] = await tx<LedgerRow[]>`SELECT * FROM gatehouse_ledgers WHERE server_id = ${serverId}`;
  const bounds = boundsOf(row, initialMark(archiveId, serverId));
  const { last, floor } = bounds;
  const ledger = row?.ledger ?? "0";
  const place = startOfPage(start, bounds);
  if (!(await holds(tx, ledger, place, bounds))) return { expired: true, oldest: floor };
  const isForward = "after" in start;
  const { first, final } = rangeOfPage(place, isForward, bounds);
  // Arrays are made once. As sub-selects, a database without statistics would look them through for every event.
  const ofPlayer =
    player === undefined
      ? tx``
      : tx`AND number = ANY (ARRAY(SELECT number FROM gatehouse_event_players
          WHERE ledger = ${ledger} AND player = ${player} AND number BETWEEN ${first} AND ${final}))`;
  const rows = await tx<EventRow[]>`
    SELECT number, mark, kind, at, seen_at, source, is_backfill, data, meta FROM gatehouse_events
    WHERE ledger = ${ledger} AND number BETWEEN ${first} AND ${final}
      AND kind = ANY (${`{${[...filter].join(",")}}`}::text::integer[]) ${ofPlayer}
    ORDER BY ${isForward ? tx`number ASC` : tx`number DESC`} LIMIT ${limit + 1}`;
  const { chosen, isCut } = cutPage(rows, limit);
  const events = (isForward ? chosen : chosen.toReversed()).map(toLedgerEvent);
  const placeAt = async (number: number): Promise<LedgerPlace> => {
    if (number >= last.number) return last;
    if (number <= floor.number) return floor;
    return { number, mark: (await findMark(tx, ledger, number)) ?? 0 };
  };
  if (isForward) {
    const { number, mark } = isCut ? (events.at(-1) ?? place) : await placeAt(final);
    return { events, next: { number, mark }, previous: place, hasMore: number < last.number };
  }
  const previous = await placeAt((isCut ? (events[0]?.number ?? first) : first) - 1);
  return { events, next: place, previous, hasMore: previous.number > floor.number };
}

function boundsOf(row: LedgerRow | undefined, mark: number): LedgerBounds {
  if (!row) return { last: { number: 0, mark }, floor: { number: 0, mark } };
  return {
    last: { number: Number(row.last_number), mark: Number(row.last_mark) },
    floor: { number: Number(row.floor_number), mark: Number(row.floor_mark) },
  };
}

/** Whether the place of a page's start is one of this ledger. */
async function holds(
  tx: TransactionSQL,
  ledger: string,
  place: LedgerPlace,
  { floor, last }: LedgerBounds,
): Promise<boolean> {
  return place === floor || place === last || (await findMark(tx, ledger, place.number)) === place.mark;
}

async function findMark(tx: TransactionSQL, ledger: string, number: number): Promise<number | undefined> {
  const [row] = await tx<{ mark: string }[]>`
    SELECT mark FROM gatehouse_events WHERE ledger = ${ledger} AND number = ${number}`;
  return row && Number(row.mark);
}

function toLedgerEvent(row: EventRow): LedgerEvent {
  const { number, mark, kind, at, seen_at, source, is_backfill, data, meta } = row;
  return {
    number: Number(number),
    mark: Number(mark),
    kind,
    at: Number(at),
    seenAt: Number(seen_at),
    source,
    isBackfill: is_backfill,
    data,
    meta,
  };
}

/** One query for all servers, because nearly always there is nothing to delete. */
async function listPrunable(
  tx: TransactionSQL,
  { now, days, eventsMax }: Retention,
): Promise<readonly string[]> {
  const rows = await tx<{ ledger: string }[]>`
    SELECT l.ledger FROM gatehouse_ledgers l
      LEFT JOIN gatehouse_events e ON e.ledger = l.ledger AND e.number = l.floor_number + 1
    WHERE starts_with(l.server_id, ${REMOVED_PREFIX}) OR l.last_number - l.floor_number > ${eventsMax}
      OR e.seen_at < ${now - days * DAY_MS} OR l.identity_count > ${IDENTITIES_MAX} OR EXISTS
        (SELECT 1 FROM gatehouse_identities i WHERE i.ledger = l.ledger AND i.shown_day < l.last_day - ${IDENTITY_DAYS}::bigint)
      OR ${hasOldHistory(tx, now)}
    ORDER BY l.server_id LIMIT ${PRUNE_LEDGERS_MAX}`;
  return rows.map(({ ledger }) => ledger);
}

/** Returns how many rows were deleted. The lock comes first, as in a record, so that the two cannot wait for each other. */
async function pruneOne(
  tx: TransactionSQL,
  ledger: string,
  retention: Retention,
  limit: number,
): Promise<number> {
  const [row] = await tx<LedgerRow[]>`SELECT * FROM gatehouse_ledgers WHERE ledger = ${ledger} FOR UPDATE`;
  if (!row) return 0;
  if (row.server_id.startsWith(REMOVED_PREFIX)) return pruneRemoved(tx, ledger, limit);
  const events = await pruneEvents(tx, row, retention, limit);
  const identities = await pruneIdentities(tx, row, limit);
  return events + identities + (await pruneHistory(tx, ledger, retention.now, limit));
}

async function pruneRemoved(tx: TransactionSQL, ledger: string, limit: number): Promise<number> {
  let left = limit;
  for (const [table, key] of LEDGER_TABLES) {
    const { count } = await tx.unsafe(
      `DELETE FROM gatehouse_${table} WHERE ledger = $1 AND (${key}) IN
         (SELECT ${key} FROM gatehouse_${table} WHERE ledger = $1 LIMIT $2)`,
      [ledger, left],
    );
    left -= count;
    if (left <= 0) return limit;
  }
  await tx`DELETE FROM gatehouse_ledgers WHERE ledger = ${ledger}`;
  return limit - left;
}

async function pruneEvents(
  tx: TransactionSQL,
  { ledger, floor_number, last_number }: LedgerRow,
  { now, days, eventsMax }: Retention,
  limit: number,
): Promise<number> {
  const excess = Math.max(0, Number(last_number) - Number(floor_number) - eventsMax);
  const oldest = await tx<{ number: string; mark: string; seen_at: string }[]>`
    SELECT number, mark, seen_at FROM gatehouse_events WHERE ledger = ${ledger} AND number > ${floor_number}
    ORDER BY number LIMIT ${limit}`;
  const cutoff = now - days * DAY_MS;
  const keepFrom = oldest.findIndex(({ seen_at }, place) => place >= excess && Number(seen_at) >= cutoff);
  const deletable = keepFrom === -1 ? [...oldest] : oldest.slice(0, keepFrom);
  const floor = deletable.at(-1);
  if (!floor) return 0;
  await tx`DELETE FROM gatehouse_events WHERE ledger = ${ledger} AND number <= ${floor.number}`;
  await tx`DELETE FROM gatehouse_event_players WHERE ledger = ${ledger} AND number <= ${floor.number}`;
  await tx`UPDATE gatehouse_ledgers SET floor_number = ${floor.number}, floor_mark = ${floor.mark}
    WHERE ledger = ${ledger}`;
  return deletable.length;
}

/** An entry that no reading has shown for days is forgotten, counted in days on which the server was read. */
async function pruneIdentities(
  tx: TransactionSQL,
  { ledger, last_day, identity_count }: LedgerRow,
  limit: number,
): Promise<number> {
  const remove = async (beforeDay: number, most: number): Promise<number> => {
    const { count } = await tx`DELETE FROM gatehouse_identities WHERE ledger = ${ledger} AND identity IN
      (SELECT identity FROM gatehouse_identities WHERE ledger = ${ledger} AND shown_day < ${beforeDay}
       ORDER BY shown_day LIMIT ${most})`;
    return count;
  };
  const byAge = await remove(Number(last_day) - IDENTITY_DAYS, limit);
  const excess = Math.max(0, Number(identity_count) - byAge - IDENTITIES_MAX);
  const removed = byAge + (excess > 0 ? await remove(Number(last_day) + 1, Math.min(excess, limit)) : 0);
  if (removed > 0) {
    await tx`UPDATE gatehouse_ledgers SET identity_count = identity_count - ${removed} WHERE ledger = ${ledger}`;
  }
  return removed;
}
