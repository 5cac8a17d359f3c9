// The audit log. Entries are added in the transaction of the change they describe, and never changed.
import type { Database } from "bun:sqlite";
import {
  type Actor,
  type AuditDetails,
  type AuditEntry,
  type AuditNote,
  type AuditStore,
  parseAuditId,
} from "../../core/ports/audit.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import { toPage, toSeq } from "./pages.ts";
import { translateSqliteErrors } from "./sqlite-errors.ts";

type AuditRow = {
  seq: number;
  at: number;
  action: string;
  actor: string;
  target: string;
  details: string;
};

export class AuditLog implements AuditStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Must run inside a transaction. */
  add(target: string, { at, action, actor, details }: AuditNote): void {
    this.#db
      .query("INSERT INTO audit (at, action, actor, target, details) VALUES (?, ?, ?, ?, ?)")
      .run(at, action, JSON.stringify(actor), target, JSON.stringify(details));
  }

  async list({ limit, cursor }: PageRequest): Promise<Page<AuditEntry>> {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : toSeq(cursor);
    const rows = translateSqliteErrors(() =>
      this.#db
        .query<AuditRow, [number, number]>("SELECT * FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT ?")
        .all(before, limit + 1),
    );
    return toPage(rows, limit, toEntry);
  }

  async find(id: string): Promise<AuditEntry | undefined> {
    const seq = parseAuditId(id);
    if (seq === undefined) return undefined;
    const row = translateSqliteErrors(() =>
      this.#db.query<AuditRow, [number]>("SELECT * FROM audit WHERE seq = ?").get(seq),
    );
    return row ? toEntry(row) : undefined;
  }

  /** Deletes at most `max` entries and returns how many. */
  deleteBefore(time: number, max: number): number {
    return this.#db
      .query("DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE at < ? LIMIT ?)")
      .run(time, max).changes;
  }
}

function toEntry(row: AuditRow): AuditEntry {
  return {
    id: `aud_${row.seq.toString(36)}`,
    at: row.at,
    action: row.action,
    actor: JSON.parse(row.actor) as Actor,
    target: row.target,
    details: JSON.parse(row.details) as AuditDetails,
  };
}
