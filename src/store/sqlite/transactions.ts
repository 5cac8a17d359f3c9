// Reads and writes of the embedded store. A write is on disk as a whole, or not at all.
import type { Database } from "bun:sqlite";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { AuditLog } from "./audit-log.ts";
import { translateSqliteErrors } from "./sqlite-errors.ts";

export class Transactions {
  readonly #db: Database;
  readonly #checkFile: () => void;
  readonly #audit: AuditLog;

  constructor(db: Database, checkFile: () => void, audit: AuditLog) {
    this.#db = db;
    this.#checkFile = checkFile;
    this.#audit = audit;
  }

  read<T>(access: () => T): T {
    return translateSqliteErrors(access);
  }

  /** One transaction: when this returns, all of it is on disk. Change memory only afterwards. */
  write<T>(change: () => T): T {
    return translateSqliteErrors(() => {
      this.#checkFile();
      return this.#db.transaction(change).immediate();
    });
  }

  /** Writes the audit note in the same transaction. */
  writeNoted<T>(target: string, note: AuditNote | undefined, change: () => T): T {
    return this.write(() => {
      if (note) this.#audit.add(target, note);
      return change();
    });
  }
}
