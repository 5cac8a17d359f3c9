// Pagination by `seq`. A cursor is the `seq` of the last item on the page.
import type { Page } from "../../core/ports/pages.ts";

export function toSeq(cursor: string | undefined): number {
  return cursor === undefined ? 0 : Number.parseInt(cursor, 36) || 0;
}

export function toCursor(seq: number): string {
  return seq.toString(36);
}

/** `rows` has one row more than `limit` when there is a next page. */
export function toPage<Row extends { seq: number }, T>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next = rows.length > limit && last ? toCursor(last.seq) : null;
  return { items: shown.map(toItem), next };
}
