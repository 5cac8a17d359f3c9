// The use of keys: one row for each key, hour and error code, and the time of the last use.
import type { Database } from "bun:sqlite";
import type { HourlyUsage, UsageCount, UsageStore } from "../../core/ports/usage.ts";
import type { TransactionRunner } from "./transaction-runner.ts";

export class UsageLog implements UsageStore {
  readonly #db: Database;
  readonly #transactions: TransactionRunner;

  constructor(db: Database, transactions: TransactionRunner) {
    this.#db = db;
    this.#transactions = transactions;
  }

  async add(entries: readonly HourlyUsage[]): Promise<readonly HourlyUsage[]> {
    this.#transactions.write(() => this.#addAll(entries));
    return [];
  }

  async read(keyId: string, since: number): Promise<UsageCount[]> {
    return this.#transactions.read(() =>
      this.#db
        .query<UsageCount, [string, number]>(
          "SELECT hour, code, count FROM usage WHERE key_id = ? AND hour >= ? ORDER BY hour, code",
        )
        .all(keyId, since),
    );
  }

  /** Deletes at most `max` rows and returns how many. */
  deleteBefore(hour: number, max: number): number {
    return this.#db
      .query(
        `DELETE FROM usage WHERE (key_id, hour, code) IN
         (SELECT key_id, hour, code FROM usage WHERE hour < ? LIMIT ?)`,
      )
      .run(hour, max).changes;
  }

  #addAll(entries: readonly HourlyUsage[]): void {
    const addCount = this.#db.query(
      `INSERT INTO usage VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (key_id, hour, code) DO UPDATE SET count = count + ?4`,
    );
    const setLastUse = this.#db.query(
      `INSERT INTO last_uses SELECT key_id, ?1 FROM keys WHERE key_id = ?2
       ON CONFLICT (key_id) DO UPDATE SET last_used_at = max(last_used_at, ?1)`,
    );
    for (const { keyId, hour, lastUsedAt, counts } of entries) {
      const isKnown = setLastUse.run(lastUsedAt, keyId).changes > 0;
      if (!isKnown) continue;
      for (const [code, times] of counts) addCount.run(keyId, hour, code, times);
    }
  }
}
