// Calls for a moderator: remembered with the events that tell of them, and claimed by those who go there.
import { playerIdOf } from "../../core/events/elements.ts";
import { FORGOTTEN_ID, PlayerEraser } from "../../core/events/forget-player.ts";
import { makeEvent, type NewEvent } from "../../core/events/new-event.ts";
import {
  type ClaimRequest,
  findWhereabouts,
  judgeClaim,
  MOD_CALLS_MAX,
  type ModCall,
  type PlacedCall,
} from "../../core/modcalls/mod-calls.ts";
import type { Who } from "../../core/people/who.ts";
import type { ClaimOutcome } from "../../core/ports/players.ts";
import type { EventMeta } from "../../core/wire/event-data.ts";
import { asFields, countRows, type Sql, toStorable } from "../sql.ts";
import { FORGET_EVENTS_STEP, type Forgetting } from "./forgetting-rules.ts";
import { readOpenHistory } from "./history-questions.ts";
import { addEvents, findLedger, lockLedger } from "./ledger-rows.ts";

/** `lastSeenAt`: when the caller was last seen; null for never. */
type CallRow = Omit<ModCall, "claimedBy"> & { readonly claimedBy: string | null; readonly lastSeenAt: number | null };

const FIELDS = `${asFields("call_id, player, opened_at, data, answered_by, answered_at, claimed_by, claimed_at")},
  (SELECT k.last_seen_at FROM known_players k WHERE k.ledger = mod_calls.ledger AND k.player = mod_calls.player) AS "lastSeenAt"`;

/** Remembers the calls that new events tell of. */
export async function noteModCalls(sql: Sql, ledger: number, events: readonly NewEvent[]): Promise<void> {
  for (const { type, call, at, data } of events) {
    if (call === undefined) continue;
    const { Caller, Moderator } = JSON.parse(data) as { Caller?: unknown; Moderator?: unknown };
    if (type === "modcall.opened") {
      await sql.run(
        `INSERT INTO mod_calls (ledger, call_id, player, opened_at, data) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ledger, call_id) DO NOTHING`,
        ...[ledger, call, playerIdOf(Caller) ?? "", Math.round(at), toStorable(data)],
      );
    } else {
      await sql.run(
        `UPDATE mod_calls SET answered_by = ?3, answered_at = ?4
         WHERE ledger = ?1 AND call_id = ?2 AND answered_at IS NULL`,
        ...[ledger, call, toStorable(String(Moderator ?? "")), Math.round(at)],
      );
    }
  }
}

export async function listModCalls(
  sql: Sql,
  serverId: string,
  openedAfter: number,
  now: number,
): Promise<PlacedCall[]> {
  const { ledger = 0 } = (await findLedger(sql, serverId)) ?? {};
  const rows = await sql.all<CallRow>(
    `SELECT ${FIELDS} FROM mod_calls WHERE ledger = ?1 AND opened_at > ?2 ORDER BY opened_at DESC LIMIT ?3`,
    ...[ledger, openedAfter, MOD_CALLS_MAX],
  );
  if (rows.length === 0) return [];
  const open = await readOpenHistory(sql, serverId);
  return rows.map((row) => ({ ...toCall(row), ...findWhereabouts(toCall(row), open, row.lastSeenAt, now) }));
}

/** How many calls the player made, and the newest. */
export async function readModCallsOf(
  sql: Sql,
  ledger: number,
  player: string,
): Promise<{ readonly count: number; readonly last: ModCall | null }> {
  const ofPlayer = "ledger = ?1 AND player = ?2";
  const query = `SELECT ${FIELDS} FROM mod_calls WHERE ${ofPlayer} ORDER BY opened_at DESC, call_id DESC LIMIT 1`;
  const last = await sql.get<CallRow>(query, ledger, player);
  return { count: await countRows(sql, "mod_calls", ofPlayer, ledger, player), last: last ? toCall(last) : null };
}

/** The ledger is locked first, as in a record. Its version stays: a writer knows nothing of claims. */
export async function changeClaim(
  sql: Sql,
  serverId: string,
  callId: string,
  request: ClaimRequest,
): Promise<ClaimOutcome | undefined> {
  const row = await lockLedger(sql, serverId);
  const found = await sql.get<CallRow>(
    `SELECT ${FIELDS} FROM mod_calls WHERE ledger = ?1 AND call_id = ?2`,
    ...[row?.ledger ?? 0, callId],
  );
  if (!row || !found) return undefined;
  const open = await readOpenHistory(sql, serverId);
  const { who, now } = request;
  const known = toCall(found);
  const call = { ...known, ...findWhereabouts(known, open, found.lastSeenAt, now) };
  const judged = judgeClaim(call, request);
  if ("refused" in judged) return { call, refused: judged.refused };
  const { claimedBy, events } = judged;
  if (events.length === 0) return { call };
  const claimedAt = claimedBy && now;
  await sql.run(
    "UPDATE mod_calls SET claimed_by = ?3, claimed_at = ?4 WHERE ledger = ?1 AND call_id = ?2",
    ...[row.ledger, callId, claimedBy && toStorable(JSON.stringify(claimedBy)), claimedAt],
  );
  const last = await addEvents(
    sql,
    row,
    events.map((type) => toClaimEvent(type, call, who, now)),
  );
  await sql.run(
    "UPDATE ledgers SET last_number = ?2, last_mark = ?3 WHERE ledger = ?1",
    ...[row.ledger, last.number, last.mark],
  );
  return { call: { ...call, claimedBy, claimedAt } };
}

/** The calls stay, as those of nobody, so that they end. A page at a time: returns the time of the last; undefined at the end. */
export async function forgetInModCalls(
  sql: Sql,
  ledger: number,
  { player, names }: Forgetting,
  after: number,
): Promise<number | undefined> {
  const end = await sql.get<{ opened_at: number }>(
    "SELECT opened_at FROM mod_calls WHERE ledger = ?1 AND opened_at > ?2 ORDER BY opened_at LIMIT 1 OFFSET ?3",
    ...[ledger, after, FORGET_EVENTS_STEP - 1],
  );
  const eraser = new PlayerEraser({ id: player, names });
  // An answer is told by name and id, so it is found by its id.
  const rows = await sql.all<{ call_id: string; player: string; data: string; answered_by: string | null }>(
    `SELECT call_id, player, data, answered_by FROM mod_calls
     WHERE ledger = ?1 AND (player = ?2 OR answered_by IS NOT NULL) AND opened_at > ?3 AND opened_at <= ?4`,
    ...[ledger, player, after, end?.opened_at ?? Number.MAX_SAFE_INTEGER],
  );
  const changed = rows.flatMap(({ call_id, player: caller, data, answered_by }) => {
    const { Moderator } = JSON.parse(eraser.erase(JSON.stringify({ Moderator: answered_by })));
    if (caller !== player && Moderator === answered_by) return [];
    return [[ledger, call_id, caller === player ? FORGOTTEN_ID : caller, eraser.erase(data), Moderator]];
  });
  await sql.runEach(
    "UPDATE mod_calls SET player = ?3, data = ?4, answered_by = ?5 WHERE ledger = ?1 AND call_id = ?2",
    changed,
  );
  return end?.opened_at;
}

/** Returns how many were deleted. */
export function pruneModCalls(sql: Sql, ledger: number, before: number, limit: number): Promise<number> {
  return sql.run(
    `DELETE FROM mod_calls WHERE ledger = ?1 AND call_id IN
       (SELECT call_id FROM mod_calls WHERE ledger = ?1 AND opened_at < ?2 ORDER BY opened_at LIMIT ?3)`,
    ...[ledger, before, limit],
  );
}

function toCall({ lastSeenAt: _, claimedBy, ...call }: CallRow): ModCall {
  return { ...call, claimedBy: claimedBy === null ? null : JSON.parse(claimedBy) };
}

function toClaimEvent(
  type: "modcall.claimed" | "modcall.released",
  { data, player }: ModCall,
  { kind, id, name }: Who,
  now: number,
): NewEvent {
  return makeEvent({
    type,
    at: now,
    seenAt: now,
    source: "gateway",
    data,
    meta: toStorable(JSON.stringify({ by: { kind, id, name } } satisfies EventMeta)),
    players: player === "" || player === FORGOTTEN_ID ? [] : [player],
  });
}
