// Deletes what is too old or too much from the archive, in steps, and builds what older archives lack.
import { DAY_MS } from "../../core/durations.ts";
import { KNOWN_PLAYERS_MAX } from "../../core/players/known-players.ts";
import type { Retention } from "../../core/ports/archive.ts";
import { tablesOf } from "../migrations.ts";
import type { Sql, Table } from "../sql.ts";
import { hasOldHistory, pruneHistory } from "./history.ts";
import { buildKnown, pruneKnown } from "./known-players.ts";
import { REMOVED_PREFIX } from "./ledger.ts";
import type { LedgerRow } from "./ledger-rows.ts";
import { ARCHIVE_MIGRATIONS } from "./migrations.ts";

/** At most this many rows of each kind are deleted in one step. */
export const PRUNE_STEP = 500;
/** At most this many ledgers are looked at in one step. */
export const PRUNE_LEDGERS_MAX = 100;
/** An identity is kept while readings showed it in this many of the latest days that had entries. */
export const IDENTITY_DAYS = 7;
export const IDENTITIES_MAX = 1_000_000;
/** One instance at a time prunes: the others would only wait for its locks. The number is ours alone. */
const PRUNE_LOCK = 0x47544850;

/** What belongs to a ledger and goes with it. Webhooks are gone already. */
const LEDGER_TABLES: readonly Table[] = tablesOf(ARCHIVE_MIGRATIONS).filter(
  ({ name, key }) => key.includes("ledger") && name !== "ledgers",
);

/** True when there is more to delete, and no other instance is at it. */
export async function prune(sql: Sql, retention: Retention): Promise<boolean> {
  if (!(await sql.tryLock(PRUNE_LOCK))) return false;
  const ledgers = await listPrunable(sql, retention);
  let left = PRUNE_STEP;
  for (const { ledger } of ledgers) {
    left -= await pruneOne(sql, ledger, retention, left);
    if (left <= 0) return true;
  }
  return ledgers.length === PRUNE_LEDGERS_MAX;
}

/** One query for all servers, because nearly always there is nothing to delete. */
function listPrunable(sql: Sql, { now, days, eventsMax }: Retention): Promise<{ ledger: number }[]> {
  const old = hasOldHistory(now, 8);
  // In the order in which records lock them: pruneOne locks one after the other.
  return sql.all<{ ledger: number }>(
    `SELECT l.ledger FROM ledgers l LEFT JOIN events e ON e.ledger = l.ledger AND e.number = l.floor_number + 1
     WHERE substr(l.server_id, 1, ?1) = ?2 OR l.last_number - l.floor_number > ?3 OR e.seen_at < ?4
       OR l.identity_count > ?5 OR EXISTS
         (SELECT 1 FROM identities i WHERE i.ledger = l.ledger AND i.shown_day < l.last_day - ?6)
       OR l.known_count > ${KNOWN_PLAYERS_MAX} OR l.known_from IS NOT NULL OR ${old.text}
     ORDER BY l.server_id LIMIT ?7`,
    ...[REMOVED_PREFIX.length, REMOVED_PREFIX, eventsMax, now - days * DAY_MS, IDENTITIES_MAX, IDENTITY_DAYS],
    ...[PRUNE_LEDGERS_MAX, ...old.values],
  );
}

/** Returns how many rows were deleted. The lock comes first, as in a record, so that the two cannot wait for each other. */
async function pruneOne(sql: Sql, ledger: number, retention: Retention, limit: number): Promise<number> {
  const row = await sql.get<LedgerRow>(`SELECT * FROM ledgers WHERE ledger = ?1 ${sql.dialect.forUpdate}`, ledger);
  if (!row) return 0;
  if (row.server_id.startsWith(REMOVED_PREFIX)) return pruneRemoved(sql, ledger, limit);
  const events = await pruneEvents(sql, row, retention, limit);
  const identities = await pruneIdentities(sql, row, limit);
  const players = (await buildKnown(sql, row, limit)) + (await pruneKnown(sql, row, limit));
  return events + identities + players + (await pruneHistory(sql, ledger, retention.now, limit));
}

async function pruneRemoved(sql: Sql, ledger: number, limit: number): Promise<number> {
  let left = limit;
  for (const { name, key } of LEDGER_TABLES) {
    left -= await sql.run(
      `DELETE FROM ${name} WHERE ledger = ?1 AND (${key}) IN (SELECT ${key} FROM ${name} WHERE ledger = ?1 LIMIT ?2)`,
      ...[ledger, left],
    );
    if (left <= 0) return limit;
  }
  await sql.run("DELETE FROM ledgers WHERE ledger = ?1", ledger);
  return limit - left;
}

async function pruneEvents(
  sql: Sql,
  { ledger, floor_number, last_number }: LedgerRow,
  { now, days, eventsMax }: Retention,
  limit: number,
): Promise<number> {
  const excess = Math.max(0, last_number - floor_number - eventsMax);
  const oldest = await sql.all<{ number: number; mark: number; seen_at: number }>(
    "SELECT number, mark, seen_at FROM events WHERE ledger = ?1 AND number > ?2 ORDER BY number LIMIT ?3",
    ...[ledger, floor_number, limit],
  );
  const cutoff = now - days * DAY_MS;
  const keepFrom = oldest.findIndex(({ seen_at }, index) => index >= excess && seen_at >= cutoff);
  const deletable = keepFrom === -1 ? oldest : oldest.slice(0, keepFrom);
  const floor = deletable.at(-1);
  if (!floor) return 0;
  await sql.run("DELETE FROM events WHERE ledger = ?1 AND number <= ?2", ledger, floor.number);
  for (const links of ["event_players", "command_targets"])
    await sql.run(`DELETE FROM ${links} WHERE ledger = ?1 AND number <= ?2`, ledger, floor.number);
  await sql.run(
    "UPDATE ledgers SET floor_number = ?2, floor_mark = ?3 WHERE ledger = ?1",
    ...[ledger, floor.number, floor.mark],
  );
  return deletable.length;
}

/** An entry that no reading has shown for days is forgotten, counted in days on which the server was read. */
async function pruneIdentities(
  sql: Sql,
  { ledger, last_day, identity_count }: LedgerRow,
  limit: number,
): Promise<number> {
  const remove = (beforeDay: number, most: number) =>
    sql.run(
      `DELETE FROM identities WHERE ledger = ?1 AND identity IN
         (SELECT identity FROM identities WHERE ledger = ?1 AND shown_day < ?2 ORDER BY shown_day LIMIT ?3)`,
      ...[ledger, beforeDay, most],
    );
  const byAge = await remove(last_day - IDENTITY_DAYS, limit);
  const excess = Math.max(0, identity_count - byAge - IDENTITIES_MAX);
  const removed = byAge + (excess > 0 ? await remove(last_day + 1, Math.min(excess, limit)) : 0);
  if (removed > 0) {
    await sql.run("UPDATE ledgers SET identity_count = identity_count - ?2 WHERE ledger = ?1", ledger, removed);
  }
  return removed;
}
