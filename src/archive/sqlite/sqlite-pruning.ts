// Deletes what is too old or too much from the embedded archive, in steps.
import type { Database } from "bun:sqlite";
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
import type { LedgerRow } from "./schema.ts";
import type { SqliteHistory } from "./sqlite-history.ts";

export class SqlitePruning {
  readonly #db: Database;
  readonly #history: SqliteHistory;

  constructor(db: Database, history: SqliteHistory) {
    this.#db = db;
    this.#history = history;
  }

  /** Deletes at most PRUNE_STEP rows of each kind. True when there is more to delete. */
  prune(retention: Retention): boolean {
    const ledgers = new Set([...this.#listPrunable(retention), ...this.#history.listPrunable(retention.now)]);
    let left = PRUNE_STEP;
    for (const ledger of ledgers) {
      left -= this.#db.transaction(() => this.#pruneOne(ledger, retention, left)).immediate();
      if (left <= 0) return true;
    }
    return ledgers.size >= PRUNE_LEDGERS_MAX;
  }

  /** One query for all servers, because nearly always there is nothing to delete. */
  #listPrunable({ now, days, eventsMax }: Retention): number[] {
    return this.#db
      .query<{ ledger: number }, (string | number)[]>(
        `SELECT ledgers.ledger FROM ledgers
           LEFT JOIN events ON events.ledger = ledgers.ledger AND events.number = floor_number + 1
         WHERE substr(server_id, 1, ?1) = ?2 OR last_number - floor_number > ?3 OR seen_at < ?4
           OR identity_count > ?5 OR EXISTS
             (SELECT 1 FROM identities WHERE identities.ledger = ledgers.ledger AND shown_day < last_day - ?6)
         LIMIT ?7`,
      )
      .all(
        REMOVED_PREFIX.length,
        REMOVED_PREFIX,
        eventsMax,
        now - days * DAY_MS,
        IDENTITIES_MAX,
        IDENTITY_DAYS,
        PRUNE_LEDGERS_MAX,
      )
      .map(({ ledger }) => ledger);
  }

  /** Returns how many rows were deleted, at most `limit`. */
  #pruneRemoved(ledger: number, limit: number): number {
    let left = limit;
    for (const [table, key] of LEDGER_TABLES) {
      left -= this.#db
        .query(
          `DELETE FROM ${table} WHERE ledger = ?1 AND (${key}) IN
             (SELECT ${key} FROM ${table} WHERE ledger = ?1 LIMIT ?2)`,
        )
        .run(ledger, left).changes;
      if (left <= 0) return limit;
    }
    this.#db.query("DELETE FROM ledgers WHERE ledger = ?").run(ledger);
    return limit - left;
  }

  #pruneOne(ledger: number, { now, days, eventsMax }: Retention, limit: number): number {
    // Read again inside of the transaction: another connection may have pruned since.
    const row = this.#db.query<LedgerRow, [number]>("SELECT * FROM ledgers WHERE ledger = ?").get(ledger);
    if (!row) return 0;
    const { server_id, floor_number, last_number } = row;
    if (server_id.startsWith(REMOVED_PREFIX)) return this.#pruneRemoved(ledger, limit);
    const excess = Math.max(0, last_number - floor_number - eventsMax);
    const oldest = this.#db
      .query<{ number: number; mark: number; seen_at: number }, [number, number, number]>(
        "SELECT number, mark, seen_at FROM events WHERE ledger = ? AND number > ? ORDER BY number LIMIT ?",
      )
      .all(ledger, floor_number, limit);
    const cutoff = now - days * DAY_MS;
    const keepFrom = oldest.findIndex(({ seen_at }, place) => place >= excess && seen_at >= cutoff);
    const deletable = keepFrom === -1 ? oldest : oldest.slice(0, keepFrom);
    const floor = deletable.at(-1);
    if (floor) {
      this.#db.query("DELETE FROM events WHERE ledger = ? AND number <= ?").run(ledger, floor.number);
      this.#db.query("DELETE FROM event_players WHERE ledger = ? AND number <= ?").run(ledger, floor.number);
      this.#db
        .query("UPDATE ledgers SET floor_number = ?, floor_mark = ? WHERE ledger = ?")
        .run(floor.number, floor.mark, ledger);
    }
    const others = this.#pruneIdentities(row, limit) + this.#history.prune(ledger, now, limit);
    return deletable.length + others;
  }

  /** An entry that no reading has shown for days is forgotten, counted in days on which the server was read. */
  #pruneIdentities({ ledger, last_day, identity_count }: LedgerRow, limit: number): number {
    const remove = this.#db.query(
      `DELETE FROM identities WHERE ledger = ?1 AND identity IN
         (SELECT identity FROM identities WHERE ledger = ?1 AND shown_day < ?2 ORDER BY shown_day LIMIT ?3)`,
    );
    const byAge = remove.run(ledger, last_day - IDENTITY_DAYS, limit).changes;
    const excess = Math.max(0, identity_count - byAge - IDENTITIES_MAX);
    const byCount = remove.run(ledger, last_day + 1, Math.min(excess, limit)).changes;
    if (byAge + byCount > 0) {
      this.#db
        .query("UPDATE ledgers SET identity_count = identity_count - ? WHERE ledger = ?")
        .run(byAge + byCount, ledger);
    }
    return byAge + byCount;
  }
}
