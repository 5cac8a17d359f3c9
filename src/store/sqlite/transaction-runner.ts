// Runs the reads and writes of the embedded store and translates SQLite's errors.
import type { Database } from "bun:sqlite";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { AuditLog } from "./audit-log.ts";
import { translateSqliteErrors } from "./sqlite-errors.ts";

export class TransactionRunner {
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

  /** Runs `change` in one transaction, which is on disk when this returns. Update memory only after that. */
  write<T>(change: () => T): T {
    return translateSqliteErrors(() => {
      this.#checkFile();
      return this.#db.transaction(change).immediate();
    });
  }

  /** Like `write`, and adds the audit note in the same transaction. */
  writeAudited<T>(target: string, note: AuditNote | undefined, change: () => T): T {
    return this.write(() => {
      if (note) this.#audit.add(target, note);
      return change();
    });
  }
}
