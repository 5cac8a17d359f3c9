// How much keys were used: one row for each key, hour and error code; and when each was used last.
import type { Database } from "bun:sqlite";
import type { UsageCell, UsageCount } from "../../core/ports.ts";

export class UsageLog {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(cells: readonly UsageCell[]): void {
    const count = this.#db.query(
      `INSERT INTO usage VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (key_id, hour, code) DO UPDATE SET count = count + ?4`,
    );
    const touch = this.#db.query(
      `INSERT INTO last_uses SELECT key_id, ?1 FROM keys WHERE key_id = ?2
       ON CONFLICT (key_id) DO UPDATE SET last_used_at = max(last_used_at, ?1)`,
    );
    for (const { keyId, hour, lastUsedAt, counts } of cells) {
      const isThere = touch.run(lastUsedAt, keyId).changes > 0;
      if (!isThere) continue;
      for (const [code, times] of counts) count.run(keyId, hour, code, times);
    }
  }

  read(keyId: string, since: number): UsageCount[] {
    return this.#db
      .query<UsageCount, [string, number]>(
        "SELECT hour, code, count FROM usage WHERE key_id = ? AND hour >= ? ORDER BY hour, code",
      )
      .all(keyId, since);
  }

  /** At most so many; how many it were. */
  forgetBefore(hour: number, max: number): number {
    return this.#db
      .query(
        `DELETE FROM usage WHERE (key_id, hour, code) IN
         (SELECT key_id, hour, code FROM usage WHERE hour < ? LIMIT ?)`,
      )
      .run(hour, max).changes;
  }
}
