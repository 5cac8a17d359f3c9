// Looks a database through for damage.
import type { Database } from "bun:sqlite";

const PROBLEMS_MAX = 3;

/** Checks every page, index and row. Undefined when nothing is damaged. */
export function findDamage(db: Database): string | undefined {
  const rows = db
    .query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${PROBLEMS_MAX})`)
    .all()
    .map((row) => row.integrity_check);
  return rows.length === 1 && rows[0] === "ok" ? undefined : rows.join("; ").replaceAll("\n", " ");
}
