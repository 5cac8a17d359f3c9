// What Gatehouse keeps for itself: a value for a name. And whether the database was made with the secret at hand.
import type { Database } from "bun:sqlite";
import { StartRefused } from "../../core/errors.ts";
import type { Sealer } from "../sealer.ts";
import { isRightSecret, SECRET_CHECK, sealSecretCheck } from "../secret-check.ts";
import type { Transactions } from "./transactions.ts";

export class SettingsTable {
  readonly #db: Database;
  readonly #transactions: Transactions;

  constructor(db: Database, transactions: Transactions) {
    this.#db = db;
    this.#transactions = transactions;
  }

  find(name: string): string | undefined {
    return this.#transactions.read(() =>
      this.#db.query<{ value: string }, [string]>("SELECT value FROM settings WHERE name = ?").get(name),
    )?.value;
  }

  save(name: string, value: string): void {
    this.#transactions.write(() => {
      this.#db
        .query("INSERT INTO settings VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2")
        .run(name, value);
    });
  }

  /** Fails early, not at the first read of a server, when the database was made with another secret. */
  checkSecret(sealer: Sealer): void {
    const kept = this.find(SECRET_CHECK);
    if (kept === undefined) {
      this.save(SECRET_CHECK, sealSecretCheck(sealer));
      return;
    }
    if (isRightSecret(kept, sealer)) return;
    throw new StartRefused(
      "GATEHOUSE_SECRET (or secret.key in the data folder) is not the one this database was made with; " +
        "the stored server keys cannot be read — put the old secret back",
    );
  }
}
