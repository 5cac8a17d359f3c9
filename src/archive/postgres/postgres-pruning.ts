// Deletes what is too old or too much from PostgreSQL, in steps. Runs inside the caller's transaction.
import type { TransactionSQL } from "bun";
import { DAY_MS } from "../../core/durations.ts";
import type { Retention } from "../../core/ports/archive.ts";
import {
  IDENTITIES_MAX,
  IDENTITY_DAYS,
  LEDGER_TABLES,
  PRUNE_LEDGERS_MAX,
  PRUNE_STEP,
  REMOVED_PREFIX,
} from "../ledger-rules.ts";
import { hasOldHistory, pruneHistory } from "./postgres-history.ts";
import type { LedgerRow } from "./postgres-ledger.ts";

/** Held while one instance prunes. The number is ours alone. */
const PRUNE_LOCK = 0x47544850;

/** Deletes at most PRUNE_STEP rows of each kind. True when there is more to delete, and no other instance is at it. */
export async function prune(tx: TransactionSQL, retention: Retention): Promise<boolean> {
  // One instance at a time: the others would only wait for its locks.
  const [lock] = await tx<{ is_ours: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(${PRUNE_LOCK}) AS is_ours`;
  if (!lock?.is_ours) return false;
  const ledgers = await listPrunable(tx, retention);
  let left = PRUNE_STEP;
  for (const ledger of ledgers) {
    left -= await pruneOne(tx, ledger, retention, left);
    if (left <= 0) return true;
  }
  return ledgers.length === PRUNE_LEDGERS_MAX;
}

/** One query for all servers, because nearly always there is nothing to delete. */
async function listPrunable(
  tx: TransactionSQL,
  { now, days, eventsMax }: Retention,
): Promise<readonly string[]> {
  // In the order in which records lock them: pruneOne locks one after the other.
  const rows = await tx<{ ledger: string }[]>`
    SELECT l.ledger FROM gatehouse_ledgers l
      LEFT JOIN gatehouse_events e ON e.ledger = l.ledger AND e.number = l.floor_number + 1
    WHERE starts_with(l.server_id, ${REMOVED_PREFIX}) OR l.last_number - l.floor_number > ${eventsMax}
      OR e.seen_at < ${now - days * DAY_MS} OR l.identity_count > ${IDENTITIES_MAX} OR EXISTS
        (SELECT 1 FROM gatehouse_identities i WHERE i.ledger = l.ledger AND i.shown_day < l.last_day - ${IDENTITY_DAYS}::bigint)
      OR ${hasOldHistory(tx, now)}
    ORDER BY l.server_id COLLATE "C" LIMIT ${PRUNE_LEDGERS_MAX}`;
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
