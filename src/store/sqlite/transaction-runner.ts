// Runs the reads and writes of the embedded store and translates SQLite's errors.
import type { AuditNote } from "../../core/ports/audit.ts";
import type { AuditLog } from "./audit-log.ts";
import type { Committer } from "./committer.ts";
import { translateSqliteErrors } from "./sqlite-errors.ts";

export class TransactionRunner {
  readonly #committer: Committer;
  readonly #audit: AuditLog;

  constructor(committer: Committer, audit: AuditLog) {
    this.#committer = committer;
    this.#audit = audit;
  }

  read<T>(access: () => T): T {
    return translateSqliteErrors(access);
  }

  /** Runs `change` in one transaction, which is on disk when this returns. Update memory only after that. */
  write<T>(change: () => T): T {
    return this.#committer.commit(change);
  }

  /** Like `write`, and adds the audit note in the same transaction. */
  writeAudited<T>(target: string, note: AuditNote | undefined, change: () => T): T {
    return this.write(() => {
      if (note) this.#audit.add(target, note);
      return change();
    });
  }
}
