// How the embedded store reads and writes: a write is on disk as a whole, or not at all; whatever SQLite throws is said in our words.
import type { Database } from "bun:sqlite";
import { StoreUnavailable } from "../../core/errors.ts";
import type { AuditNote } from "../../core/ports.ts";
import type { AuditLog } from "./audit-log.ts";

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
    return guard(access);
  }

  /** One transaction: all of it is on disk when this returns, or none. Memory is changed only afterwards. */
  write<T>(change: () => T): T {
    return guard(() => {
      this.#checkFile();
      return this.#db.transaction(change).immediate();
    });
  }

  /** Together with the note of who did it. */
  writeNoted<T>(target: string, note: AuditNote | undefined, change: () => T): T {
    return this.write(() => {
      if (note) this.#audit.add(target, note);
      return change();
    });
  }
}

function guard<T>(access: () => T): T {
  try {
    return access();
  } catch (error) {
    throw new StoreUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
