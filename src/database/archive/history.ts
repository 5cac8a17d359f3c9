// The history: what a record adds to it, what is too old, and how a player is forgotten. All inside of a transaction in which
// the row of the ledger is locked, so that two instances do not add to the same rows.
import { FORGOTTEN_ID, FORGOTTEN_NAME } from "../../core/events/forget-player.ts";
import { RESOLUTION_KEPT_MS, RESOLUTIONS, type Resolution } from "../../core/history/counts.ts";
import type { HistoryChange } from "../../core/history/history.ts";
import { addCounts } from "../../core/history/join-counts.ts";
import type { Sql } from "../sql.ts";
import * as stored from "./history-rows.ts";
import { COUNTS, PLAYER_DAYS } from "./migrations.ts";
import { pruneModCalls } from "./mod-calls.ts";

/** The most sessions, and the most acts, of one step of forgetting. */
const FORGET_ROWS = 500;

export async function addHistory(sql: Sql, ledger: number, change: HistoryChange): Promise<void> {
  if (change.minutes.length > 0) await addMinutes(sql, ledger, change);
  if (change.sessions.length > 0) await addSessions(sql, ledger, change);
  if (change.acts.length > 0) await addActs(sql, ledger, change);
  await sql.runEach(
    `INSERT INTO player_names (ledger, player, name) VALUES (?1, ?2, ?3)
     ON CONFLICT (ledger, player) DO UPDATE SET name = excluded.name
       WHERE CAST(?4 AS bigint) = 1 AND player_names.name <> excluded.name`,
    stored.listNames(change).map(({ player, name, isNewest }) => [ledger, player, name, isNewest ? 1 : 0]),
  );
}

/** A condition on the ledgers `l`: they have rows that are too old. Its values are `?first` and those after it. */
export function hasOldHistory(now: number, first: number): { readonly text: string; readonly values: number[] } {
  const kept = listKept(now);
  const counts = kept.map(({ resolution }, index) => {
    return `EXISTS (SELECT 1 FROM counts c WHERE c.ledger = l.ledger AND c.resolution = '${resolution}' AND c.at < ?${first + 1 + index})`;
  });
  const conditions = [
    ...counts,
    `EXISTS (SELECT 1 FROM sessions s WHERE s.ledger = l.ledger AND s.joined_at < ?${first} AND s.left_at < ?${first})`,
    `EXISTS (SELECT 1 FROM staff_acts a WHERE a.ledger = l.ledger AND a.at < ?${first})`,
    `EXISTS (SELECT 1 FROM mod_calls m WHERE m.ledger = l.ledger AND m.opened_at < ?${first})`,
  ];
  const values = [stored.historyCutoff(now).at, ...kept.map(({ cutoff }) => cutoff)];
  return { text: `(${conditions.join(" OR ")})`, values };
}

/** Deletes at most `limit` rows that are too old, and the names that nothing needs any more. Returns how many rows. */
export async function pruneHistory(sql: Sql, ledger: number, now: number, limit: number): Promise<number> {
  const { at, day } = stored.historyCutoff(now);
  let left = limit;
  for (const { resolution, cutoff } of listKept(now)) {
    left -= await sql.run(
      `DELETE FROM counts WHERE ledger = ?1 AND resolution = ?2 AND at IN
         (SELECT at FROM counts WHERE ledger = ?1 AND resolution = ?2 AND at < ?3 ORDER BY at LIMIT ?4)`,
      ...[ledger, resolution, cutoff, left],
    );
  }
  const sessions = await sql.all<{ player: string; joined_at: number; number: number }>(
    `SELECT player, joined_at, number FROM sessions ${sql.dialect.indexedBy("sessions_by_time")}
     WHERE ledger = ?1 AND joined_at < ?2 AND left_at < ?2 ORDER BY joined_at LIMIT ?3`,
    ...[ledger, at, left],
  );
  left -= await sql.runEach(
    "DELETE FROM sessions WHERE ledger = ?1 AND player = ?2 AND joined_at = ?3 AND number = ?4",
    sessions.map(({ player, joined_at, number }) => [ledger, player, joined_at, number]),
  );
  const gone = new Set(sessions.map(({ player }) => player));
  await sql.runEach(
    "DELETE FROM player_days WHERE ledger = ?1 AND player = ?2 AND day < ?3",
    Array.from(gone, (player) => [ledger, player, day]),
  );
  const acts = await sql.all<{ player: string; at: number; number: number }>(
    "SELECT at, number, player FROM staff_acts WHERE ledger = ?1 AND at < ?2 ORDER BY at LIMIT ?3",
    ...[ledger, at, left],
  );
  left -= await sql.runEach(
    "DELETE FROM staff_acts WHERE ledger = ?1 AND at = ?2 AND number = ?3",
    acts.map(({ at: time, number }) => [ledger, time, number]),
  );
  for (const { player } of acts) gone.add(player);
  left -= await pruneModCalls(sql, ledger, at, left);
  await sql.runEach(
    `DELETE FROM player_names WHERE ledger = ?1 AND player = ?2
       AND NOT EXISTS (SELECT 1 FROM sessions WHERE ledger = ?1 AND player = ?2)
       AND NOT EXISTS (SELECT 1 FROM staff_acts WHERE ledger = ?1 AND player = ?2)`,
    Array.from(gone, (player) => [ledger, player]),
  );
  return limit - left;
}

export async function findHistoryName(sql: Sql, ledger: number, player: string): Promise<string | undefined> {
  const row = await sql.get<{ name: string }>(
    "SELECT name FROM player_names WHERE ledger = ?1 AND player = ?2",
    ...[ledger, player],
  );
  return row?.name;
}

/** Takes a player out, in steps of bounded size. True when there is more to do. */
export async function forgetInHistory(sql: Sql, ledger: number, player: string): Promise<boolean> {
  await forgetDays(sql, ledger, player);
  const sessions = await sql.all<{ joined_at: number; number: number }>(
    "SELECT joined_at, number FROM sessions WHERE ledger = ?1 AND player = ?2 LIMIT ?3",
    ...[ledger, player, FORGET_ROWS],
  );
  await sql.runEach(
    "UPDATE sessions SET player = ?5 WHERE ledger = ?1 AND player = ?2 AND joined_at = ?3 AND number = ?4",
    sessions.map(({ joined_at, number }) => [ledger, player, joined_at, number, FORGOTTEN_ID]),
  );
  const acts = await sql.all<{ at: number; number: number }>(
    "SELECT at, number FROM staff_acts WHERE ledger = ?1 AND player = ?2 LIMIT ?3",
    ...[ledger, player, FORGET_ROWS],
  );
  await sql.runEach(
    "UPDATE staff_acts SET player = ?4 WHERE ledger = ?1 AND at = ?2 AND number = ?3",
    acts.map(({ at, number }) => [ledger, at, number, FORGOTTEN_ID]),
  );
  const names = await sql.run("DELETE FROM player_names WHERE ledger = ?1 AND player = ?2", ledger, player);
  if (names > 0) {
    await sql.run(
      `INSERT INTO player_names (ledger, player, name) VALUES (?1, ?2, ?3)
       ON CONFLICT (ledger, player) DO UPDATE SET name = excluded.name`,
      ...[ledger, FORGOTTEN_ID, FORGOTTEN_NAME],
    );
  }
  return sessions.length === FORGET_ROWS || acts.length === FORGET_ROWS;
}

async function forgetDays(sql: Sql, ledger: number, player: string): Promise<void> {
  const days = await sql.all<stored.PlayerDay>(
    "SELECT day, ms, begun FROM player_days WHERE ledger = ?1 AND player = ?2",
    ...[ledger, player],
  );
  await sql.run("DELETE FROM player_days WHERE ledger = ?1 AND player = ?2", ledger, player);
  await addDays(
    sql,
    ledger,
    days.map((day) => ({ ...day, player: FORGOTTEN_ID })),
  );
}

async function addDays(sql: Sql, ledger: number, days: readonly stored.PlayerDay[]): Promise<void> {
  await sql.insertAll(
    PLAYER_DAYS,
    days.map((day) => ({ ledger, ...day })),
    `ON CONFLICT (ledger, player, day) DO UPDATE
       SET ms = player_days.ms + excluded.ms, begun = player_days.begun + excluded.begun`,
  );
}

async function addMinutes(sql: Sql, ledger: number, { minutes }: HistoryChange): Promise<void> {
  const added = stored.resolveMinutes(minutes);
  const found = await sql.all<stored.CountsRow & { resolution: Resolution }>(
    `SELECT resolution, ${stored.COUNTS_COLUMNS} FROM counts
     WHERE ledger = ?1 AND ${sql.dialect.isAmong("resolution", "?2", "text")} AND ${sql.dialect.isAmong("at", "?3", "integer")}`,
    ...[ledger, JSON.stringify(RESOLUTIONS), JSON.stringify(added.map(({ at }) => at))],
  );
  const known = new Map(found.map((row) => [`${row.resolution} ${row.at}`, stored.toCounts(row)]));
  const rows = added.map((counts) => {
    const { resolution, at } = counts;
    const before = known.get(`${resolution} ${at}`);
    return { ledger, resolution, ...stored.toCountsRow(before ? addCounts(before, counts) : counts) };
  });
  await sql.insertAll(
    COUNTS,
    rows,
    `ON CONFLICT (ledger, resolution, at) DO UPDATE SET known_ms = excluded.known_ms, player_ms = excluded.player_ms,
       min = excluded.min, max = excluded.max, queue_max = excluded.queue_max, staff_max = excluded.staff_max,
       teams = excluded.teams`,
  );
}

/** Each after what is there of its moment, in the order of the change. */
async function addSessions(sql: Sql, ledger: number, { sessions }: HistoryChange): Promise<void> {
  await sql.runEach(
    `INSERT INTO sessions (ledger, joined_at, number, player, left_at, ended, was_staff, stays)
     VALUES (?1, ?2, (SELECT coalesce(max(s.number) + 1, 0) FROM sessions s ${sql.dialect.indexedBy("sessions_by_time")}
       WHERE s.ledger = ?1 AND s.joined_at = ?2), ?3, ?4, ?5, ?6, ?7)`,
    sessions.map((session) => {
      const row = stored.toSessionRow(session);
      return [ledger, row.joined_at, row.player, row.left_at, row.ended, row.was_staff, row.stays];
    }),
  );
  await addDays(sql, ledger, stored.splitIntoDays(sessions));
}

async function addActs(sql: Sql, ledger: number, { acts }: HistoryChange): Promise<void> {
  await sql.runEach(
    `INSERT INTO staff_acts (ledger, at, number, player, low, high, kind)
     VALUES (?1, ?2, (SELECT coalesce(max(a.number) + 1, 0) FROM staff_acts a WHERE a.ledger = ?1 AND a.at = ?2), ?3, ?4, ?5, ?6)`,
    acts.map((act) => {
      const { at, player, low, high, kind } = stored.toActRow(act);
      return [ledger, at, player, low, high, kind];
    }),
  );
}

/** The resolutions that are not kept for ever, each with the time before which its rows go. */
function listKept(now: number): { readonly resolution: Resolution; readonly cutoff: number }[] {
  return RESOLUTIONS.flatMap((resolution) => {
    const kept = RESOLUTION_KEPT_MS[resolution];
    return kept === null ? [] : [{ resolution, cutoff: now - kept }];
  });
}
