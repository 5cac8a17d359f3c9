// The ledgers of events and what is remembered of each server. The row of a ledger is locked while events are added, so numbers
// become readable in their order.
import type { AlertStates } from "../../core/alerts/alert-states.ts";
import type { AlertRules } from "../../core/alerts/rules.ts";
import { DAY_MS } from "../../core/durations.ts";
import { ArchiveUnavailable } from "../../core/errors.ts";
import type { LedgerPosition } from "../../core/events/cursor.ts";
import { type EventFilter, type EventKind, toEventKind } from "../../core/events/event-types.ts";
import { NOTHING_KNOWN, type ServerState } from "../../core/events/memory.ts";
import { type MemoryPart, parseMemory, writeChangedParts } from "../../core/events/memory-text.ts";
import type { NewEvent } from "../../core/events/new-event.ts";
import {
  type KnownServer,
  type LedgerPage,
  type LedgerRecord,
  PAGE_LOOK_MAX,
  type PageRequest,
  type PageStart,
  type RecordOutcome,
  type StateChange,
} from "../../core/ports/archive.ts";
import type { Sql } from "../sql.ts";
import { addHistory } from "./history.ts";
import { withoutRepeated } from "./history-rows.ts";
import { addKnown } from "./known-players.ts";
import {
  addEvents,
  EVENT_FIELDS,
  findLedger,
  type LedgerRow,
  lastOf,
  lockLedger,
  readParts,
  type StoredEvent,
  toLedgerEvent,
} from "./ledger-rows.ts";
import { IDENTITIES, MEMORY } from "./migrations.ts";
import { noteModCalls } from "./mod-calls.ts";

/** The data of one page have at most about this many characters, because an event can be very large. */
const PAGE_CHARACTERS_MAX = 8 * 1024 * 1024;
/** The name of a ledger whose server was removed. Server ids have another form, so none is ever found under it. */
export const REMOVED_PREFIX = "removed:";
const ALERT_RULES_PART = "alertRules";
const ALERTS_PART = "alerts";

const STATES: readonly ServerState[] = ["online", "offline", "unreachable"];
const STATE_OF_KIND: ReadonlyMap<EventKind, ServerState> = new Map(
  STATES.map((state) => [toEventKind(`server.${state}`), state]),
);

/** `floor` is the place before the oldest kept event, `last` that of the newest. */
type LedgerBounds = { readonly ledger: number; readonly floor: LedgerPosition; readonly last: LedgerPosition };

export async function load(sql: Sql, serverId: string): Promise<KnownServer> {
  // Both in one statement, so that the memory belongs to the version.
  const rows = await sql.all<{ version: number; part: string | null; text: string }>(
    "SELECT version, part, text FROM ledgers LEFT JOIN memory USING (ledger) WHERE server_id = ?1",
    serverId,
  );
  const parts = rows.filter((row): row is MemoryPart & { version: number } => row.part !== null);
  return { version: rows[0]?.version ?? 0, memory: parseMemory(parts) };
}

export async function findRecorded(
  sql: Sql,
  serverId: string,
  identities: readonly string[],
): Promise<ReadonlySet<string>> {
  if (identities.length === 0) return new Set();
  const row = await findLedger(sql, serverId);
  return row ? findIdentities(sql, row.ledger, identities) : new Set();
}

/** Each server's record is complete or not at all. Always in the same order, so that two instances cannot wait for each other. */
export async function record(sql: Sql, records: readonly LedgerRecord[]): Promise<readonly RecordOutcome[]> {
  const outcomes = new Map<LedgerRecord, RecordOutcome>();
  const sorted = records.toSorted((a, b) => (a.serverId < b.serverId ? -1 : 1));
  for (const one of sorted) outcomes.set(one, await recordOne(sql, one));
  return records.map((one) => outcomes.get(one) ?? { conflict: true as const });
}

export async function readPage(sql: Sql, request: PageRequest): Promise<LedgerPage> {
  const { serverId, start, filter, player, limit } = request;
  const bounds = await readBounds(sql, serverId);
  const { ledger, last, floor } = bounds;
  const place = await startOfPage(sql, start, bounds);
  if (!(await holds(sql, place, bounds))) return { expired: true, oldest: floor };
  const isForward = "after" in start;
  const { first, final } = rangeOfPage(place, isForward, bounds);
  const { dialect } = sql;
  const linked = "SELECT number FROM event_players WHERE ledger = ?1 AND player = ?6 AND number BETWEEN ?2 AND ?3";
  const ofPlayer = player === undefined ? "" : `AND ${dialect.isIn("number", linked)}`;
  const rows = await sql.all<StoredEvent>(
    `SELECT ${EVENT_FIELDS} FROM events
     WHERE ledger = ?1 AND number BETWEEN ?2 AND ?3 AND ${dialect.isAmong("kind", "?4", "integer")} ${ofPlayer}
     ORDER BY number ${isForward ? "ASC" : "DESC"} LIMIT ?5`,
    ...[ledger, first, final, JSON.stringify([...filter]), limit + 1],
    ...(player === undefined ? [] : [player]),
  );
  const { chosen, isCut } = cutPage(rows, limit);
  const events = (isForward ? chosen : chosen.toReversed()).map(toLedgerEvent);
  if (isForward) {
    const { number, mark } = isCut ? (events.at(-1) ?? place) : await placeAt(sql, bounds, final);
    return { events, next: { number, mark }, previous: place, hasMore: number < last.number };
  }
  const previous = await placeAt(sql, bounds, (isCut ? (events[0]?.number ?? first) : first) - 1);
  return { events, next: place, previous, hasMore: previous.number > floor.number };
}

export async function findLast(sql: Sql, serverIds: readonly string[]): Promise<ReadonlyMap<string, LedgerPosition>> {
  const rows = await sql.all<Pick<LedgerRow, "server_id" | "last_number" | "last_mark">>(
    `SELECT server_id, last_number, last_mark FROM ledgers WHERE ${sql.dialect.isAmong("server_id", "?1", "text")}`,
    JSON.stringify(serverIds),
  );
  return new Map(rows.map((row) => [row.server_id, lastOf(row)]));
}

/** How many events that pass the filter and are not backfill come after the place, counted to `most`. */
export async function countEventsAfter(
  sql: Sql,
  serverId: string,
  after: LedgerPosition,
  filter: EventFilter,
  most: number,
): Promise<number> {
  const bounds = await readBounds(sql, serverId);
  const place = await startOfPage(sql, { after }, bounds);
  // A webhook whose place does not hold goes on with the oldest event.
  const from = (await holds(sql, place, bounds)) ? place : bounds.floor;
  const { indexedBy, valuesOf } = sql.dialect;
  // Each kind on its own, so that its part of the index is read, whatever the database knows of the table.
  const row = await sql.get<{ events: number | null }>(
    `SELECT CAST(sum(found) AS bigint) AS events FROM (SELECT (SELECT count(*) FROM (
       SELECT 1 FROM events ${indexedBy("events_by_kind")}
       WHERE ledger = ?1 AND kind = kinds.value AND number > ?3 AND is_backfill = 0 LIMIT ?4) AS bounded) AS found
     FROM (${valuesOf("?2", "integer")}) AS kinds) AS counted`,
    ...[bounds.ledger, JSON.stringify([...filter]), from.number, most],
  );
  return Math.min(row?.events ?? 0, most);
}

/** Takes the ledger out of reach at once; its rows are deleted by pruning, in steps. */
export async function removeServer(sql: Sql, serverId: string): Promise<void> {
  const row = await lockLedger(sql, serverId);
  if (!row) return;
  // In the order of forgetting, so that the two cannot wait for each other.
  await sql.all(`SELECT 1 FROM webhooks WHERE ledger = ?1 ORDER BY webhook_id ${sql.dialect.forUpdate}`, row.ledger);
  await sql.run("DELETE FROM webhooks WHERE ledger = ?1", row.ledger);
  await sql.run("UPDATE ledgers SET server_id = ?2 WHERE ledger = ?1", row.ledger, REMOVED_PREFIX + row.ledger);
}

export async function listStateChanges(sql: Sql, serverId: string, limit: number): Promise<StateChange[]> {
  const row = await findLedger(sql, serverId);
  // One part for each kind, so that each is read from the end of its index.
  const parts = Array.from(STATE_OF_KIND.keys(), (kind) => {
    return `SELECT * FROM (SELECT kind, at, number FROM events
      WHERE ledger = ?1 AND kind = ${kind} AND is_backfill = 0 ORDER BY number DESC LIMIT ?2) AS of_${kind}`;
  });
  const changes = await sql.all<{ kind: number; at: number }>(
    `${parts.join(" UNION ALL ")} ORDER BY number DESC LIMIT ?2`,
    ...[row?.ledger ?? 0, limit],
  );
  return changes.map(({ kind, at }) => ({ state: STATE_OF_KIND.get(kind) ?? "online", at }));
}

export async function listAlertStates(sql: Sql): Promise<{ serverId: string; states: AlertStates }[]> {
  const rows = await sql.all<MemoryPart & { server_id: string }>(
    "SELECT server_id, part, text FROM ledgers JOIN memory USING (ledger) WHERE part = ?1",
    ALERTS_PART,
  );
  return rows.map((row) => ({ serverId: row.server_id, states: parseMemory([row])[ALERTS_PART].states }));
}

export async function readAlertRules(sql: Sql, serverId: string): Promise<AlertRules> {
  return parseMemory(await readParts(sql, serverId, [ALERT_RULES_PART]))[ALERT_RULES_PART];
}

/** The version changes with the rules, so that a writer that knows the former ones has to load the memory again. */
export async function setAlertRules(sql: Sql, serverId: string, rules: AlertRules): Promise<void> {
  const { ledger } = await obtainLedger(sql, serverId);
  // A copy, because a part that is the same object as before would not be written.
  await writeMemory(
    sql,
    ledger,
    writeChangedParts(NOTHING_KNOWN, { ...NOTHING_KNOWN, [ALERT_RULES_PART]: { ...rules } }),
  );
  await sql.run("UPDATE ledgers SET version = version + 1 WHERE ledger = ?1", ledger);
}

export async function writeMemory(sql: Sql, ledger: number, parts: readonly MemoryPart[]): Promise<void> {
  const rows = parts.map(({ part, text }) => ({ ledger, part, text }));
  await sql.insertAll(MEMORY, rows, "ON CONFLICT (ledger, part) DO UPDATE SET text = excluded.text");
}

/** Locks the ledger, and creates it when there is none. Undefined when the server was removed at the same moment. */
export async function findOrCreateLedger(sql: Sql, serverId: string): Promise<LedgerRow | undefined> {
  const mark = initialMark(await readArchiveId(sql), serverId);
  await sql.run(
    `INSERT INTO ledgers (server_id, version, last_number, last_mark, floor_number, floor_mark, last_day, identity_count)
     VALUES (?1, 0, 0, ?2, 0, ?2, 0, 0) ON CONFLICT (server_id) DO NOTHING`,
    ...[serverId, mark],
  );
  return lockLedger(sql, serverId);
}

export async function obtainLedger(sql: Sql, serverId: string): Promise<LedgerRow> {
  const row = await findOrCreateLedger(sql, serverId);
  if (!row) throw new ArchiveUnavailable("the server was deleted meanwhile");
  return row;
}

async function readArchiveId(sql: Sql): Promise<string> {
  const row = await sql.get<{ archive_id: string }>("SELECT archive_id FROM archive");
  if (!row) throw new Error("the archive has no id");
  return row.archive_id;
}

async function recordOne(sql: Sql, change: LedgerRecord): Promise<RecordOutcome> {
  const { serverId, version, events, memory, stillShown } = change;
  const row = version === 0 ? await findOrCreateLedger(sql, serverId) : await lockLedger(sql, serverId);
  if (row?.version !== version) return { conflict: true };
  const { ledger } = row;
  const day = dayOfRecord(change, row.last_day);
  const { chosen, repeated, identityCount } = await chooseNew(sql, ledger, events, day);
  const last = await addEvents(sql, row, chosen);
  if (stillShown.length > 0) {
    await sql.run(
      `UPDATE identities SET shown_day = ?3
       WHERE ledger = ?1 AND ${sql.dialect.isAmong("identity", "?2", "text")} AND shown_day < ?3`,
      ...[ledger, JSON.stringify(stillShown), day],
    );
  }
  await writeMemory(sql, ledger, memory);
  await addHistory(sql, ledger, withoutRepeated(change.history, repeated));
  await noteModCalls(sql, ledger, chosen);
  const knownCount = await addKnown(sql, ledger, chosen, change.history);
  await sql.run(
    `UPDATE ledgers SET version = ?2, last_number = ?3, last_mark = ?4, last_day = ?5,
       identity_count = identity_count + ?6, known_count = known_count + ?7 WHERE ledger = ?1`,
    ...[ledger, version + 1, last.number, last.mark, lastDayAfter(change, row.last_day), identityCount, knownCount],
  );
  return { version: version + 1, last };
}

/** Leaves out the events whose identity was recorded before, or comes twice. */
async function chooseNew(sql: Sql, ledger: number, events: readonly NewEvent[], day: number) {
  const rows = events.flatMap(({ identity }) => (identity === null ? [] : [{ ledger, identity, shown_day: day }]));
  const added = await sql.insertNew(IDENTITIES, rows, "identity");
  const left = new Set(added);
  const repeated = new Set<string>();
  const chosen = events.filter(({ identity }) => {
    // Deleted when it is used, because two events of one record may have the same identity.
    if (identity === null || left.delete(identity)) return true;
    repeated.add(identity);
    return false;
  });
  return { chosen, repeated, identityCount: added.length };
}

async function findIdentities(sql: Sql, ledger: number, identities: readonly string[]): Promise<ReadonlySet<string>> {
  if (identities.length === 0) return new Set();
  const found = await sql.all<{ identity: string }>(
    `SELECT identity FROM identities WHERE ledger = ?1 AND ${sql.dialect.isAmong("identity", "?2", "text")}`,
    ...[ledger, JSON.stringify(identities)],
  );
  return new Set(found.map(({ identity }) => identity));
}

async function readBounds(sql: Sql, serverId: string): Promise<LedgerBounds> {
  const row = await findLedger(sql, serverId);
  if (row) return { ledger: row.ledger, last: lastOf(row), floor: { number: row.floor_number, mark: row.floor_mark } };
  const nothing = { number: 0, mark: initialMark(await readArchiveId(sql), serverId) };
  return { ledger: 0, last: nothing, floor: nothing };
}

/** Whether the place of a page's start is one of this ledger. */
async function holds(sql: Sql, place: LedgerPosition, { ledger, floor, last }: LedgerBounds): Promise<boolean> {
  return place === floor || place === last || (await findMark(sql, ledger, place.number)) === place.mark;
}

async function placeAt(sql: Sql, { ledger, floor, last }: LedgerBounds, number: number): Promise<LedgerPosition> {
  if (number >= last.number) return last;
  if (number <= floor.number) return floor;
  return { number, mark: (await findMark(sql, ledger, number)) ?? 0 };
}

async function findMark(sql: Sql, ledger: number, number: number): Promise<number | undefined> {
  const row = await sql.get<{ mark: number }>(
    "SELECT mark FROM events WHERE ledger = ?1 AND number = ?2",
    ...[ledger, number],
  );
  return row?.mark;
}

/** Marks an empty ledger, and tells the ledgers of two archives apart. */
function initialMark(archiveId: string, serverId: string): number {
  return Bun.hash.crc32(`${archiveId}\n${serverId}`);
}

/** The day of a record: never before the ledger's last, because a clock that was set back must not make entries look old. */
function dayOfRecord({ now }: LedgerRecord, lastDay: number): number {
  return Math.max(lastDay, Math.floor(now / DAY_MS));
}

/** Days without entries do not age the entries that are known: nothing could have shown them. */
function lastDayAfter(change: LedgerRecord, lastDay: number): number {
  const { events, stillShown } = change;
  const showsEntries = stillShown.length > 0 || events.some(({ identity }) => identity !== null);
  return showsEntries ? dayOfRecord(change, lastDay) : lastDay;
}

/**
 * The place that a page starts from. It is `floor` or `last` itself when the request names one of them; any other place must
 * be checked against the event with its number.
 */
async function startOfPage(sql: Sql, start: PageStart, bounds: LedgerBounds): Promise<LedgerPosition> {
  if ("seenUntil" in start) return findSeenUntil(sql, bounds, start.seenUntil);
  const { floor, last } = bounds;
  const place = "after" in start ? start.after : start.before;
  if (place === "earliest") return floor;
  if (place === "now") return last;
  for (const known of [last, floor]) {
    if (known.number === place.number && known.mark === place.mark) return known;
  }
  return place;
}

/** The place of the newest event that was seen at this time or before. Searches by halves: events are numbered as they are seen. */
async function findSeenUntil(sql: Sql, bounds: LedgerBounds, seenAt: number): Promise<LedgerPosition> {
  let low = bounds.floor.number;
  let high = bounds.last.number;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const event = await sql.get<{ number: number; seen_at: number }>(
      "SELECT number, seen_at FROM events WHERE ledger = ?1 AND number BETWEEN ?2 AND ?3 ORDER BY number LIMIT 1",
      ...[bounds.ledger, middle, high],
    );
    if (event && event.seen_at <= seenAt) low = event.number;
    else high = middle - 1;
  }
  return placeAt(sql, bounds, low);
}

/** The numbers of the first and the last event that a page looks at. */
function rangeOfPage(
  { number }: LedgerPosition,
  isForward: boolean,
  { floor, last }: LedgerBounds,
): { readonly first: number; readonly final: number } {
  if (isForward) return { first: number + 1, final: Math.min(last.number, number + PAGE_LOOK_MAX) };
  return { first: Math.max(floor.number + 1, number - PAGE_LOOK_MAX + 1), final: number };
}

/** The rows of one page, in the order of reading; at least one. `isCut`: there are more rows than these. */
function cutPage(
  rows: readonly StoredEvent[],
  limit: number,
): { readonly chosen: StoredEvent[]; readonly isCut: boolean } {
  let characters = 0;
  const end = rows.findIndex(({ data }, place) => {
    characters += data.length;
    return place === limit || (place > 0 && characters > PAGE_CHARACTERS_MAX);
  });
  return end < 0 ? { chosen: [...rows], isCut: false } : { chosen: rows.slice(0, end), isCut: true };
}
