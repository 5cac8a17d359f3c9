// The rows of a ledger and its events, which everything that is kept of a server belongs to.
import { randomInt } from "node:crypto";
import { type LedgerPosition, MARK_MAX } from "../../core/events/cursor.ts";
import { toEventKind } from "../../core/events/event-types.ts";
import type { MemoryPart } from "../../core/events/memory-text.ts";
import type { NewEvent } from "../../core/events/new-event.ts";
import type { LedgerEvent } from "../../core/ports/archive.ts";
import { asFields, type Row, type Sql } from "../sql.ts";
import { COMMAND_TARGETS, EVENT_PLAYERS, EVENTS } from "./migrations.ts";

export const EVENT_FIELDS = asFields("number, mark, kind, at, seen_at, source, is_backfill, data, meta");

export type LedgerRow = {
  readonly ledger: number;
  readonly server_id: string;
  readonly version: number;
  readonly last_number: number;
  readonly last_mark: number;
  readonly floor_number: number;
  readonly floor_mark: number;
  readonly last_day: number;
  readonly identity_count: number;
  readonly known_count: number;
  /** See buildKnown. */
  readonly known_from: string | null;
};

export type StoredEvent = Omit<LedgerEvent, "isBackfill"> & { readonly isBackfill: number };

export async function readParts(sql: Sql, serverId: string, parts: readonly string[]): Promise<MemoryPart[]> {
  return sql.all<MemoryPart>(
    `SELECT part, text FROM memory JOIN ledgers USING (ledger)
     WHERE server_id = ?1 AND ${sql.dialect.isAmong("part", "?2", "text")}`,
    ...[serverId, JSON.stringify(parts)],
  );
}

export function findLedger(sql: Sql, serverId: string): Promise<LedgerRow | undefined> {
  return sql.get<LedgerRow>("SELECT * FROM ledgers WHERE server_id = ?1", serverId);
}

export function lockLedger(sql: Sql, serverId: string): Promise<LedgerRow | undefined> {
  return sql.get<LedgerRow>(`SELECT * FROM ledgers WHERE server_id = ?1 ${sql.dialect.forUpdate}`, serverId);
}

export function lastOf({ last_number, last_mark }: Pick<LedgerRow, "last_number" | "last_mark">): LedgerPosition {
  return { number: last_number, mark: last_mark };
}

/** Returns the place of the last one. */
export async function addEvents(sql: Sql, row: LedgerRow, events: readonly NewEvent[]): Promise<LedgerPosition> {
  const { ledger } = row;
  let last = lastOf(row);
  const rows: Row[] = [];
  const links: Row[] = [];
  const targets: Row[] = [];
  for (const event of events) {
    last = { number: last.number + 1, mark: randomInt(MARK_MAX + 1) };
    const { number } = last;
    rows.push({
      ledger,
      number,
      mark: last.mark,
      kind: toEventKind(event.type, event.section),
      at: event.at,
      seen_at: event.seenAt,
      source: event.source,
      is_backfill: event.isBackfill ? 1 : 0,
      data: event.data,
      meta: event.meta,
    });
    for (const player of event.players) links.push({ ledger, player, number });
    for (const player of event.targets ?? []) targets.push({ ledger, player, number });
  }
  await sql.insertAll(EVENTS, rows);
  await sql.insertAll(EVENT_PLAYERS, links);
  await sql.insertAll(COMMAND_TARGETS, targets);
  return last;
}

export function toLedgerEvent(stored: StoredEvent): LedgerEvent {
  return { ...stored, isBackfill: stored.isBackfill === 1 };
}
