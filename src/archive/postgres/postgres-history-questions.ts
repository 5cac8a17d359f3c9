// Questions about the history in PostgreSQL, inside of a transaction in which all queries see one state.
import type { TransactionSQL } from "bun";
import type { MemoryPart } from "../../core/events/memory-text.ts";
import { type Counts, RESOLUTION_MS, type Resolution } from "../../core/history/counts.ts";
import type {
  CountDetail,
  KeptSession,
  OpenHistory,
  Period,
  Presence,
  SessionsRequest,
  StaffFacts,
} from "../../core/ports/history.ts";
import { OPEN_PARTS, STAFF_PARTS, toListedStaff, toOpenHistory } from "../history-parts.ts";
import {
  type ActsRow,
  type AnswerRow,
  type CountsRow,
  columnsOf,
  type DaysRow,
  daysOf,
  edgesOf,
  listStaff,
  PresenceSum,
  SESSION_REACH_MS,
  type SessionRow,
  type SpanRow,
  type StaySessionRow,
  sumStaff,
  toCounts,
  toKeptSession,
} from "../history-rows.ts";

export async function readCounts(
  tx: TransactionSQL,
  serverId: string,
  resolution: Resolution,
  { from, to }: Period,
  detail: CountDetail = "all",
): Promise<Counts[]> {
  const rows = await tx<CountsRow[]>`
    SELECT ${tx.unsafe(columnsOf(detail))} FROM gatehouse_counts
    WHERE ledger = (SELECT ledger FROM gatehouse_ledgers WHERE server_id = ${serverId})
      AND resolution = ${resolution} AND at > ${from - RESOLUTION_MS[resolution]} AND at < ${to} ORDER BY at`;
  return rows.map(toCounts);
}

export async function readOpenHistory(tx: TransactionSQL, serverId: string): Promise<OpenHistory> {
  return toOpenHistory(await readParts(tx, serverId, OPEN_PARTS));
}

export async function listSessions(
  tx: TransactionSQL,
  { serverId, player, from, to, after, limit }: SessionsRequest,
): Promise<KeptSession[]> {
  const ledger = await findLedger(tx, serverId);
  const ofPlayer =
    player === undefined ? tx`AND joined_at >= ${from - SESSION_REACH_MS}` : tx`AND s.player = ${player}`;
  const pageOn = after
    ? tx`AND joined_at <= ${after.joinedAt} AND (joined_at < ${after.joinedAt} OR number < ${after.number})`
    : tx``;
  const rows = await tx<SessionRow[]>`
    SELECT s.*, n.name FROM gatehouse_sessions s LEFT JOIN gatehouse_player_names n USING (ledger, player)
    WHERE s.ledger = ${ledger} AND joined_at < ${to} AND (left_at > ${from} OR joined_at >= ${from})
      ${ofPlayer} ${pageOn} ORDER BY joined_at DESC, number DESC LIMIT ${limit}`;
  return rows.map(toKeptSession);
}

export async function sumPresence(
  tx: TransactionSQL,
  serverId: string,
  period: Period,
  open: readonly Presence[],
  page: { readonly offset: number; readonly limit: number },
): Promise<Presence[]> {
  const ledger = await findLedger(tx, serverId);
  const sum = new PresenceSum(period);
  const { first, end } = daysOf(period);
  if (first < end) {
    sum.addDays(
      await tx<DaysRow[]>`SELECT player, sum(ms) AS ms, sum(begun) AS begun FROM gatehouse_player_days
        WHERE ledger = ${ledger} AND day >= ${first} AND day < ${end} GROUP BY player`,
    );
  }
  for (const edge of edgesOf(period)) sum.addSpans(edge, await listSpans(tx, ledger, edge));
  const found = sum.listPage(open, page);
  const names = await findNames(
    tx,
    ledger,
    found.map(({ player }) => player),
  );
  return found.map((one) => ({ ...one, name: one.name ?? names.get(one.player) ?? "" }));
}

export async function readStaff(
  tx: TransactionSQL,
  serverId: string,
  period: Period,
  also: readonly string[],
): Promise<StaffFacts> {
  const ledger = await findLedger(tx, serverId);
  const { from, to } = period;
  const listed = toListedStaff(await readParts(tx, serverId, STAFF_PARTS));
  const acts = await tx<ActsRow[]>`SELECT player, count(*) AS acts FROM gatehouse_staff_acts
    WHERE ledger = ${ledger} AND at >= ${from} AND at < ${to} GROUP BY player`;
  const answers = await tx<AnswerRow[]>`SELECT player, low, high FROM gatehouse_staff_acts
    WHERE ledger = ${ledger} AND at >= ${from} AND at < ${to} AND low IS NOT NULL ORDER BY at`;
  const wasStaff = await tx<{ player: string }[]>`SELECT DISTINCT player FROM gatehouse_sessions
    WHERE was_staff AND ledger = ${ledger} AND joined_at < ${to} AND joined_at >= ${from - SESSION_REACH_MS}
      AND (left_at > ${from} OR joined_at >= ${from})`;
  const players = listStaff(acts, wasStaff, [...listed.keys()], also);
  const names = await findNames(tx, ledger, players);
  const sessions = await tx<StaySessionRow[]>`SELECT player, joined_at, left_at, stays FROM gatehouse_sessions
    WHERE ledger = ${ledger} AND joined_at < ${to} AND (left_at > ${from} OR joined_at >= ${from})
      AND player = ANY (ARRAY(SELECT json_array_elements_text(${JSON.stringify(players)}::text::json)))`;
  const nameOf = (player: string) => names.get(player) ?? listed.get(player);
  return { members: sumStaff(period, players, nameOf, sessions, acts, answers), listed };
}

/** "0", which no ledger has, for a server without one. */
async function findLedger(tx: TransactionSQL, serverId: string): Promise<string> {
  const [row] = await tx<{ ledger: string }[]>`
    SELECT ledger FROM gatehouse_ledgers WHERE server_id = ${serverId}`;
  return row?.ledger ?? "0";
}

async function readParts(
  tx: TransactionSQL,
  serverId: string,
  parts: readonly string[],
): Promise<MemoryPart[]> {
  return tx<MemoryPart[]>`SELECT part, text FROM gatehouse_memory JOIN gatehouse_ledgers USING (ledger)
    WHERE server_id = ${serverId}
      AND part IN (SELECT json_array_elements_text(${JSON.stringify(parts)}::text::json))`;
}

async function listSpans(tx: TransactionSQL, ledger: string, { from, to }: Period): Promise<SpanRow[]> {
  return tx<SpanRow[]>`SELECT player, joined_at, left_at FROM gatehouse_sessions
    WHERE ledger = ${ledger} AND joined_at < ${to} AND joined_at >= ${from - SESSION_REACH_MS}
      AND (left_at > ${from} OR joined_at >= ${from})`;
}

async function findNames(
  tx: TransactionSQL,
  ledger: string,
  players: readonly string[],
): Promise<Map<string, string>> {
  const rows = await tx<{ player: string; name: string }[]>`
    SELECT player, name FROM gatehouse_player_names WHERE ledger = ${ledger}
      AND player = ANY (ARRAY(SELECT json_array_elements_text(${JSON.stringify(players)}::text::json)))`;
  return new Map(rows.map(({ player, name }) => [player, name]));
}
