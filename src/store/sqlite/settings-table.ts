// Named values, and the check that the database was created with the current secret.
import type { Database } from "bun:sqlite";
import { StartRefused } from "../../core/errors.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { SettingStore } from "../../core/ports/settings.ts";
import type { Sealer } from "../sealer.ts";
import { isRightSecret, SECRET_CHECK, sealSecretCheck } from "../secret-check.ts";
import type { TransactionRunner } from "./transaction-runner.ts";

export class SettingsTable implements SettingStore {
  readonly #db: Database;
  readonly #transactions: TransactionRunner;

  constructor(db: Database, transactions: TransactionRunner) {
    this.#db = db;
    this.#transactions = transactions;
  }

  async find(name: string): Promise<string | undefined> {
    return this.#read(name);
  }

  async save(name: string, value: string): Promise<void> {
    this.#write(name, value);
  }

  async saveAudited(name: string, value: string, target: string, note: AuditNote): Promise<void> {
    this.#transactions.writeAudited(target, note, () => this.#put(name, value));
  }

  async saveIfAbsent(name: string, value: string): Promise<string> {
    const stored = this.#read(name);
    if (stored === undefined) this.#write(name, value);
    return stored ?? value;
  }

  /** Throws StartRefused when the database was created with another secret. */
  checkSecret(sealer: Sealer): void {
    const stored = this.#read(SECRET_CHECK);
    if (stored === undefined) {
      this.#write(SECRET_CHECK, sealSecretCheck(sealer));
      return;
    }
    if (isRightSecret(stored, sealer)) return;
    throw new StartRefused(
      "GATEHOUSE_SECRET (or secret.key in the data folder) is not the one this database was made with; " +
        "the stored server keys cannot be read — put the old secret back",
    );
  }

  #read(name: string): string | undefined {
    return this.#transactions.read(() =>
      this.#db.query<{ value: string }, [string]>("SELECT value FROM settings WHERE name = ?").get(name),
    )?.value;
  }

  #write(name: string, value: string): void {
    this.#transactions.write(() => this.#put(name, value));
  }

  /** Must run inside a transaction. */
  #put(name: string, value: string): void {
    this.#db
      .query("INSERT INTO settings VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2")
      .run(name, value);
  }
}
