// The history in PostgreSQL, inside of a transaction: what a record adds to it, what is too old, and how a player is forgotten. The row of the ledger is
// locked meanwhile, so that two instances do not add to the same rows. Questions about it are in postgres-history-questions.ts.
import type { TransactionSQL } from "bun";
import { FORGOTTEN_ID, FORGOTTEN_NAME } from "../../core/events/forget-player.ts";
import { RESOLUTION_KEPT_MS, RESOLUTIONS, type Resolution } from "../../core/history/counts.ts";
import type { HistoryChange } from "../../core/history/history.ts";
import { addCounts } from "../../core/history/join-counts.ts";
import { FORGET_HISTORY_ROWS } from "../forgetting.ts";
import {
  type CountsRow,
  historyCutoff,
  listNames,
  resolveMinutes,
  splitIntoDays,
  toActRow,
  toCounts,
  toCountsRow,
  toSessionRow,
} from "../history-rows.ts";

export async function addHistory(tx: TransactionSQL, ledger: string, change: HistoryChange): Promise<void> {
  if (change.minutes.length > 0) await addMinutes(tx, ledger, change);
  if (change.sessions.length > 0) await addSessions(tx, ledger, change);
  if (change.acts.length > 0) await addActs(tx, ledger, change);
  const names = listNames(change);
  if (names.length === 0) return;
  await tx`INSERT INTO gatehouse_player_names AS known (ledger, player, name)
    SELECT ${ledger}, player, name FROM json_to_recordset(${JSON.stringify(names.filter(({ isNewest }) => isNewest))}::text::json)
      AS (player text, name text)
    ON CONFLICT (ledger, player) DO UPDATE SET name = excluded.name WHERE known.name <> excluded.name`;
  await tx`INSERT INTO gatehouse_player_names (ledger, player, name)
    SELECT ${ledger}, player, name FROM json_to_recordset(${JSON.stringify(names)}::text::json)
      AS (player text, name text) ON CONFLICT DO NOTHING`;
}

/** A condition of the ledgers `l` with rows that are too old. */
export function hasOldHistory(tx: TransactionSQL, now: number) {
  const { at } = historyCutoff(now);
  const cutoffs = JSON.stringify(listKept(now));
  return tx`(EXISTS (SELECT 1 FROM json_to_recordset(${cutoffs}::text::json) AS kept (resolution text, cutoff bigint)
      JOIN gatehouse_counts c ON c.ledger = l.ledger AND c.resolution = kept.resolution AND c.at < kept.cutoff)
    OR EXISTS (SELECT 1 FROM gatehouse_sessions s
      WHERE s.ledger = l.ledger AND s.joined_at < ${at} AND s.left_at < ${at})
    OR EXISTS (SELECT 1 FROM gatehouse_staff_acts a WHERE a.ledger = l.ledger AND a.at < ${at}))`;
}

/** Deletes at most `limit` rows that are too old, and the names that nothing needs any more. Returns how many rows. */
export async function pruneHistory(
  tx: TransactionSQL,
  ledger: string,
  now: number,
  limit: number,
): Promise<number> {
  const { at, day } = historyCutoff(now);
  let left = limit;
  for (const { resolution, cutoff } of listKept(now)) {
    const { count } =
      await tx`DELETE FROM gatehouse_counts WHERE ledger = ${ledger} AND resolution = ${resolution}
      AND at = ANY (ARRAY(SELECT at FROM gatehouse_counts
        WHERE ledger = ${ledger} AND resolution = ${resolution} AND at < ${cutoff} ORDER BY at LIMIT ${left}))`;
    left -= count;
  }
  const sessions = await tx<{ player: string }[]>`DELETE FROM gatehouse_sessions WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM gatehouse_sessions WHERE ledger = ${ledger} AND joined_at < ${at} AND left_at < ${at}
    ORDER BY joined_at LIMIT ${left})) RETURNING player`;
  left -= sessions.length;
  const gone = new Set(sessions.map(({ player }) => player));
  await tx`DELETE FROM gatehouse_player_days WHERE ledger = ${ledger} AND day < ${day}
    AND player = ANY (ARRAY(SELECT json_array_elements_text(${JSON.stringify([...gone])}::text::json)))`;
  const acts = await tx<{ player: string }[]>`DELETE FROM gatehouse_staff_acts WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM gatehouse_staff_acts WHERE ledger = ${ledger} AND at < ${at} ORDER BY at LIMIT ${left}))
    RETURNING player`;
  left -= acts.length;
  for (const { player } of acts) gone.add(player);
  await deleteUnusedNames(tx, ledger, gone);
  return limit - left;
}

export async function findHistoryName(
  tx: TransactionSQL,
  ledger: number,
  player: string,
): Promise<string | undefined> {
  const [row] = await tx<{ name: string }[]>`
    SELECT name FROM gatehouse_player_names WHERE ledger = ${ledger} AND player = ${player}`;
  return row?.name;
}

/** Takes a player out, in steps of bounded size. True when there is more to do. */
export async function forgetInHistory(tx: TransactionSQL, ledger: number, player: string): Promise<boolean> {
  // As in a record, so that the two cannot wait for each other.
  await tx`SELECT 1 FROM gatehouse_ledgers WHERE ledger = ${ledger} FOR UPDATE`;
  await forgetDays(tx, ledger, player);
  const sessions = await tx`UPDATE gatehouse_sessions SET player = ${FORGOTTEN_ID} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM gatehouse_sessions WHERE ledger = ${ledger} AND player = ${player} LIMIT ${FORGET_HISTORY_ROWS}))`;
  const acts = await tx`UPDATE gatehouse_staff_acts SET player = ${FORGOTTEN_ID} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM gatehouse_staff_acts WHERE ledger = ${ledger} AND player = ${player} LIMIT ${FORGET_HISTORY_ROWS}))`;
  const names = await tx`DELETE FROM gatehouse_player_names WHERE ledger = ${ledger} AND player = ${player}`;
  if (names.count > 0) {
    await tx`INSERT INTO gatehouse_player_names (ledger, player, name)
      VALUES (${ledger}, ${FORGOTTEN_ID}, ${FORGOTTEN_NAME})
      ON CONFLICT (ledger, player) DO UPDATE SET name = excluded.name`;
  }
  return sessions.count === FORGET_HISTORY_ROWS || acts.count === FORGET_HISTORY_ROWS;
}

async function forgetDays(tx: TransactionSQL, ledger: number, player: string): Promise<void> {
  await tx`WITH forgotten AS (DELETE FROM gatehouse_player_days WHERE ledger = ${ledger} AND player = ${player}
      RETURNING day, ms, begun)
    INSERT INTO gatehouse_player_days AS known (ledger, day, player, ms, begun)
    SELECT ${ledger}, day, ${FORGOTTEN_ID}, ms, begun FROM forgotten
    ON CONFLICT (ledger, player, day) DO UPDATE SET ms = known.ms + excluded.ms, begun = known.begun + excluded.begun`;
}

async function addMinutes(tx: TransactionSQL, ledger: string, { minutes }: HistoryChange): Promise<void> {
  const added = resolveMinutes(minutes);
  const keys = added.map(({ resolution, at }) => ({ resolution, at }));
  const found = await tx<(CountsRow & { resolution: Resolution })[]>`
    SELECT c.* FROM json_to_recordset(${JSON.stringify(keys)}::text::json) AS keys (resolution text, at bigint)
      JOIN gatehouse_counts c ON c.ledger = ${ledger} AND c.resolution = keys.resolution AND c.at = keys.at`;
  const known = new Map(found.map((row) => [`${row.resolution} ${row.at}`, toCounts(row)]));
  const rows = added.map((counts) => {
    const { resolution, at } = counts;
    const before = known.get(`${resolution} ${at}`);
    return { resolution, ...toCountsRow(before ? addCounts(before, counts) : counts) };
  });
  await tx`INSERT INTO gatehouse_counts
      (ledger, resolution, at, known_ms, player_ms, min, max, queue_max, staff_max, teams)
    SELECT ${ledger}, * FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS
      (resolution text, at bigint, known_ms bigint, player_ms bigint, min bigint, max bigint, queue_max bigint,
       staff_max bigint, teams text)
    ON CONFLICT (ledger, resolution, at) DO UPDATE SET known_ms = excluded.known_ms, player_ms = excluded.player_ms,
      min = excluded.min, max = excluded.max, queue_max = excluded.queue_max, staff_max = excluded.staff_max,
      teams = excluded.teams`;
}

async function addSessions(tx: TransactionSQL, ledger: string, { sessions }: HistoryChange): Promise<void> {
  // Each after what is there of its moment, in the order of the change.
  await tx`INSERT INTO gatehouse_sessions (ledger, joined_at, number, player, left_at, ended, was_staff, stays)
    SELECT ${ledger}, joined_at,
      coalesce((SELECT max(s.number) + 1 FROM gatehouse_sessions s
        WHERE s.ledger = ${ledger} AND s.joined_at = added.joined_at), 0)
        + row_number() OVER (PARTITION BY joined_at ORDER BY place) - 1,
      player, left_at, ended, was_staff, stays
    FROM json_to_recordset(${JSON.stringify(withPlaces(sessions.map(toSessionRow)))}::text::json) AS added
      (place integer, player text, joined_at bigint, left_at bigint, ended text, was_staff boolean, stays text)`;
  await tx`INSERT INTO gatehouse_player_days AS known (ledger, day, player, ms, begun)
    SELECT ${ledger}, * FROM json_to_recordset(${JSON.stringify(splitIntoDays(sessions))}::text::json) AS
      (day bigint, player text, ms bigint, begun bigint)
    ON CONFLICT (ledger, player, day) DO UPDATE SET ms = known.ms + excluded.ms, begun = known.begun + excluded.begun`;
}

async function addActs(tx: TransactionSQL, ledger: string, { acts }: HistoryChange): Promise<void> {
  await tx`INSERT INTO gatehouse_staff_acts (ledger, at, number, player, low, high)
    SELECT ${ledger}, at,
      coalesce((SELECT max(a.number) + 1 FROM gatehouse_staff_acts a WHERE a.ledger = ${ledger} AND a.at = added.at), 0)
        + row_number() OVER (PARTITION BY at ORDER BY place) - 1,
      player, low, high
    FROM json_to_recordset(${JSON.stringify(withPlaces(acts.map(toActRow)))}::text::json) AS added
      (place integer, player text, at bigint, low bigint, high bigint)`;
}

async function deleteUnusedNames(
  tx: TransactionSQL,
  ledger: string,
  players: ReadonlySet<string>,
): Promise<void> {
  if (players.size === 0) return;
  await tx`DELETE FROM gatehouse_player_names n WHERE ledger = ${ledger}
    AND player = ANY (ARRAY(SELECT json_array_elements_text(${JSON.stringify([...players])}::text::json)))
    AND NOT EXISTS (SELECT 1 FROM gatehouse_sessions s WHERE s.ledger = n.ledger AND s.player = n.player)
    AND NOT EXISTS (SELECT 1 FROM gatehouse_staff_acts a WHERE a.ledger = n.ledger AND a.player = n.player)`;
}

/** The resolutions that are not kept for ever, each with the time before which its rows go. */
function listKept(now: number): { readonly resolution: Resolution; readonly cutoff: number }[] {
  return RESOLUTIONS.flatMap((resolution) => {
    const kept = RESOLUTION_KEPT_MS[resolution];
    return kept === null ? [] : [{ resolution, cutoff: now - kept }];
  });
}

function withPlaces<Row extends object>(rows: readonly Row[]): (Row & { place: number })[] {
  return rows.map((row, place) => ({ ...row, place }));
}
