// Questions about the history. Each sees one state of all tables.
import { MINUTE_MS } from "../../core/durations.ts";
import { toEventKind } from "../../core/events/event-types.ts";
import { type MemoryPart, parseMemory } from "../../core/events/memory-text.ts";
import { COMMAND_KINDS } from "../../core/history/command-kinds.ts";
import { type Counts, RESOLUTION_MS, type Resolution } from "../../core/history/counts.ts";
import type {
  CountDetail,
  HourPeak,
  KeptSession,
  OpenHistory,
  Period,
  Presence,
  SessionsRequest,
  StaffFacts,
} from "../../core/ports/history.ts";
import type { Gap } from "../../core/wire/event-data.ts";
import type { Sql, Value } from "../sql.ts";
import * as stored from "./history-rows.ts";
import { findLedger, readParts } from "./ledger-rows.ts";

/** As they are written: empty for what is of no kind. */
const KINDS = ["", ...COMMAND_KINDS];
const GAP = toEventKind("gap", "*");
/** Sessions of the ledger ?1 that touch the period from ?2 to ?3 and began at ?4 or later. */
const TOUCHES = "ledger = ?1 AND joined_at < ?3 AND joined_at >= ?4 AND (left_at > ?2 OR joined_at >= ?2)";

export async function readCounts(
  sql: Sql,
  serverId: string,
  resolution: Resolution,
  { from, to }: Period,
  detail: CountDetail = "all",
): Promise<Counts[]> {
  const rows = await sql.all<stored.CountsRow>(
    `SELECT ${stored.columnsOf(detail)} FROM counts WHERE ledger = (SELECT ledger FROM ledgers WHERE server_id = ?1)
       AND resolution = ?2 AND at > ?3 AND at < ?4 ORDER BY at`,
    ...[serverId, resolution, from - RESOLUTION_MS[resolution], to],
  );
  return rows.map(stored.toCounts);
}

export async function readHours(
  sql: Sql,
  serverIds: readonly string[],
  { from, to }: Period,
): Promise<Map<string, HourPeak[]>> {
  const rows = await sql.all<HourPeak & { server_id: string }>(
    `SELECT l.server_id, c.at, c.max FROM ledgers l JOIN counts c ON c.ledger = l.ledger
     WHERE ${sql.dialect.isAmong("l.server_id", "?1", "text")} AND c.resolution = '1h' AND c.at >= ?2 AND c.at < ?3
     ORDER BY c.at`,
    ...[JSON.stringify(serverIds), from, to],
  );
  const hours = new Map<string, HourPeak[]>();
  for (const { server_id: id, at, max } of rows) hours.set(id, [...(hours.get(id) ?? []), { at, max }]);
  return hours;
}

export async function readOpenHistory(sql: Sql, serverId: string): Promise<OpenHistory> {
  const parts = await readParts(sql, serverId, ["state", "counts", "sessions"]);
  const { counts, sessions, playersShownAt } = parseMemory(parts);
  return { counts, sessions, seenAt: playersShownAt };
}

/** Gaps are recorded one after the other, each when it ends. The reading before one is valid for a minute of it. */
export async function isInGap(sql: Sql, serverId: string, at: number): Promise<boolean> {
  const next = await sql.get<{ data: string }>(
    `SELECT data FROM events WHERE ledger = ?1 AND kind = ?2 AND is_backfill = 0 AND at > ?3 ORDER BY number LIMIT 1`,
    ...[await ledgerOf(sql, serverId), GAP, at],
  );
  return next !== undefined && ((JSON.parse(next.data) as Gap).from ?? 0) + MINUTE_MS < at;
}

export async function listSessions(sql: Sql, request: SessionsRequest): Promise<KeptSession[]> {
  const { serverId, player, from, to, after, limit } = request;
  const earliest = player === undefined ? from - stored.SESSION_REACH_MS : 0;
  const values: Value[] = [await ledgerOf(sql, serverId), from, to, earliest, limit];
  const pageOn = after ? "AND joined_at <= ?6 AND (joined_at < ?6 OR sessions.number < ?7)" : "";
  if (after) values.push(after.joinedAt, after.number);
  const ofPlayer = player === undefined ? "" : `AND sessions.player = ?${values.push(player)}`;
  const rows = await sql.all<stored.StoredSession & { name: string | null }>(
    `SELECT ${stored.SESSION_FIELDS}, (SELECT name FROM player_names n WHERE n.ledger = sessions.ledger AND n.player = sessions.player) AS name
     FROM sessions WHERE ${TOUCHES} ${pageOn} ${ofPlayer} ORDER BY joined_at DESC, sessions.number DESC LIMIT ?5`,
    ...values,
  );
  return rows.map(stored.toKeptSession);
}

export async function sumPresence(
  sql: Sql,
  serverId: string,
  period: Period,
  open: readonly Presence[],
  page: { readonly offset: number; readonly limit: number },
): Promise<Presence[]> {
  const ledger = await ledgerOf(sql, serverId);
  const sum = new stored.PresenceSum(period);
  const { first, end } = stored.daysOf(period);
  if (first < end) sum.addDays(await sumDays(sql, ledger, first, end));
  for (const edge of stored.edgesOf(period)) sum.addSpans(edge, await listSpans(sql, ledger, edge));
  const found = sum.listPage(open, page);
  const names = await findNames(
    sql,
    ledger,
    found.map(({ player }) => player),
  );
  return found.map((one) => ({ ...one, name: one.name ?? names.get(one.player) ?? "" }));
}

export async function readStaff(
  sql: Sql,
  serverId: string,
  period: Period,
  also: readonly string[],
): Promise<StaffFacts> {
  const ledger = await ledgerOf(sql, serverId);
  const { from, to } = period;
  const { indexedBy, isAmong } = sql.dialect;
  const listed = toListedStaff(await readParts(sql, serverId, ["staff"]));
  const acts = await countActs(sql, ledger, period);
  const answers = await sql.all<stored.AnswerRow>(
    `SELECT player, low, high FROM staff_acts ${indexedBy("staff_answers")}
     WHERE ledger = ?1 AND at >= ?2 AND at < ?3 AND low IS NOT NULL ORDER BY at`,
    ...[ledger, from, to],
  );
  const wasStaff = await sql.all<{ player: string }>(
    `SELECT DISTINCT player FROM sessions ${indexedBy("sessions_of_staff")} WHERE was_staff = 1 AND ${TOUCHES}`,
    ...[ledger, from, to, from - stored.SESSION_REACH_MS],
  );
  const players = stored.listStaff(acts, wasStaff, [...listed.keys()], also);
  const names = await findNames(sql, ledger, players);
  const sessions = await sql.all<stored.StaySessionRow>(
    `SELECT player, joined_at, left_at, stays FROM sessions WHERE ${TOUCHES} AND ${isAmong("player", "?5", "text")}`,
    ...[ledger, from, to, 0, JSON.stringify(players)],
  );
  const nameOf = (player: string) => names.get(player) ?? listed.get(player)?.name;
  return { members: stored.sumStaff(period, players, nameOf, listed, sessions, acts, answers), listed };
}

function toListedStaff(parts: readonly MemoryPart[]): StaffFacts["listed"] {
  const { staff } = parseMemory(parts);
  // Who is on several lists has the role of the first.
  const entries = Object.entries(staff ?? {}).flatMap(([role, members]) => {
    return Array.from(members, ([id, name]) => [id, { name, role }] as const);
  });
  return new Map(entries.toReversed());
}

/** Goes from kind to kind of each player in the index, because sorting the acts of a year takes longer than counting them. */
async function countActs(sql: Sql, ledger: number, { from, to }: Period): Promise<stored.ActsRow[]> {
  const byPlayer = sql.dialect.indexedBy("staff_acts_by_player");
  return sql.all<stored.ActsRow>(
    `WITH RECURSIVE acting (player) AS (
       SELECT min(player) FROM staff_acts ${byPlayer} WHERE ledger = ?1
       UNION ALL
       SELECT (SELECT min(player) FROM staff_acts ${byPlayer} WHERE ledger = ?1 AND player > acting.player)
       FROM acting WHERE acting.player IS NOT NULL),
     kinds (kind) AS (${KINDS.map((kind) => `SELECT '${kind}'`).join(" UNION ALL ")})
     SELECT * FROM (SELECT player, kind, (SELECT count(*) FROM staff_acts a ${byPlayer} WHERE a.ledger = ?1
         AND a.player = acting.player AND a.kind = kinds.kind AND a.at >= ?2 AND a.at < ?3) AS acts
       FROM acting CROSS JOIN kinds WHERE player IS NOT NULL) AS counted WHERE acts > 0`,
    ...[ledger, from, to],
  );
}

/** 0, which no ledger has, for a server without one. */
async function ledgerOf(sql: Sql, serverId: string): Promise<number> {
  return (await findLedger(sql, serverId))?.ledger ?? 0;
}

function sumDays(sql: Sql, ledger: number, first: number, end: number): Promise<stored.DaysRow[]> {
  return sql.all<stored.DaysRow>(
    `SELECT player, CAST(sum(ms) AS bigint) AS ms, CAST(sum(begun) AS bigint) AS begun FROM player_days
     WHERE ledger = ?1 AND day >= ?2 AND day < ?3 GROUP BY player`,
    ...[ledger, first, end],
  );
}

function listSpans(sql: Sql, ledger: number, { from, to }: Period): Promise<stored.SpanRow[]> {
  return sql.all<stored.SpanRow>(
    `SELECT player, joined_at, left_at FROM sessions ${sql.dialect.indexedBy("sessions_by_time")} WHERE ${TOUCHES}`,
    ...[ledger, from, to, from - stored.SESSION_REACH_MS],
  );
}

async function findNames(sql: Sql, ledger: number, players: readonly string[]): Promise<Map<string, string>> {
  const rows = await sql.all<{ player: string; name: string }>(
    `SELECT player, name FROM player_names WHERE ledger = ?1 AND ${sql.dialect.isAmong("player", "?2", "text")}`,
    ...[ledger, JSON.stringify(players)],
  );
  return new Map(rows.map(({ player, name }) => [player, name]));
}
