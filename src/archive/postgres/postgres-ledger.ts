// The tables of the ledgers in PostgreSQL: what is recorded, and pages of it. Runs inside the caller's transaction.
import { randomInt } from "node:crypto";
import type { TransactionSQL } from "bun";
import { type LedgerPlace, MARK_MAX } from "../../core/events/cursor.ts";
import { toEventKind } from "../../core/events/event-types.ts";
import type { MemoryPart } from "../../core/events/memory-text.ts";
import type { EventSource, NewEvent } from "../../core/events/new-event.ts";
import type {
  LedgerEvent,
  LedgerPage,
  LedgerRecord,
  PageRequest,
  RecordOutcome,
} from "../../core/ports/archive.ts";
import { withoutRepeated } from "../history-rows.ts";
import {
  cutPage,
  dayOfRecord,
  initialMark,
  type LedgerBounds,
  lastDayAfter,
  rangeOfPage,
  startOfPage,
} from "../ledger-rules.ts";
import { addHistory } from "./postgres-history.ts";

/** int8 arrives as text. */
export type LedgerRow = {
  readonly ledger: string;
  readonly server_id: string;
  readonly version: string;
  readonly last_number: string;
  readonly last_mark: string;
  readonly floor_number: string;
  readonly floor_mark: string;
  readonly last_day: string;
  readonly identity_count: string;
};

type EventRow = {
  readonly number: string;
  readonly mark: string;
  readonly kind: number;
  readonly at: string;
  readonly seen_at: string;
  readonly source: EventSource;
  readonly is_backfill: boolean;
  readonly data: string;
  readonly meta: string | null;
};

export async function recordOne(
  tx: TransactionSQL,
  archiveId: string,
  record: LedgerRecord,
): Promise<RecordOutcome> {
  const { serverId, version, events, memory, stillShown } = record;
  const row = await lockLedger(tx, archiveId, serverId, version);
  if (!row || Number(row.version) !== version) return { conflict: true };
  const { ledger } = row;
  const lastDay = Number(row.last_day);
  const day = dayOfRecord(record, lastDay);
  const isNew = await addIdentities(tx, ledger, events, day);
  let last: LedgerPlace = { number: Number(row.last_number), mark: Number(row.last_mark) };
  const added = events.filter(isNew);
  const placed = added.map((event) => {
    last = { number: last.number + 1, mark: randomInt(MARK_MAX + 1) };
    return { event, place: last };
  });
  await addEvents(tx, ledger, placed);
  if (stillShown.length > 0) {
    await tx`UPDATE gatehouse_identities SET shown_day = ${day}
      WHERE ledger = ${ledger} AND shown_day < ${day}
        AND identity IN (SELECT json_array_elements_text(${JSON.stringify(stillShown)}::text::json))`;
  }
  await writeMemory(tx, ledger, memory);
  const kept = new Set(added);
  const repeated = events.filter((event) => !kept.has(event)).map(({ identity }) => identity ?? "");
  await addHistory(tx, ledger, withoutRepeated(record.history, new Set(repeated)));
  const identities = placed.filter(({ event }) => event.identity !== null).length;
  await tx`UPDATE gatehouse_ledgers SET version = ${version + 1}, last_number = ${last.number},
      last_mark = ${last.mark}, last_day = ${lastDayAfter(record, lastDay)},
      identity_count = identity_count + ${identities} WHERE ledger = ${ledger}`;
  return { version: version + 1, last };
}

export async function writeMemory(
  tx: TransactionSQL,
  ledger: string,
  parts: readonly MemoryPart[],
): Promise<void> {
  for (const { part, text } of parts) {
    await tx`INSERT INTO gatehouse_memory (ledger, part, text) VALUES (${ledger}, ${part}, ${text})
      ON CONFLICT (ledger, part) DO UPDATE SET text = excluded.text`;
  }
}

/** Undefined when the server has no ledger although the version says so. */
export async function lockLedger(
  tx: TransactionSQL,
  archiveId: string,
  serverId: string,
  version: number,
): Promise<LedgerRow | undefined> {
  if (version === 0) {
    const mark = initialMark(archiveId, serverId);
    await tx`INSERT INTO gatehouse_ledgers (server_id, version, last_number, last_mark, floor_number, floor_mark,
        last_day, identity_count) VALUES (${serverId}, 0, 0, ${mark}, 0, ${mark}, 0, 0)
      ON CONFLICT (server_id) DO NOTHING`;
  }
  const [row] = await tx<LedgerRow[]>`
    SELECT * FROM gatehouse_ledgers WHERE server_id = ${serverId} FOR UPDATE`;
  return row;
}

/** Adds the identities that are new, and returns which events are told for the first time. */
async function addIdentities(
  tx: TransactionSQL,
  ledger: string,
  events: readonly NewEvent[],
  day: number,
): Promise<(event: NewEvent) => boolean> {
  const given = new Set(events.map(({ identity }) => identity).filter((identity) => identity !== null));
  if (given.size === 0) return () => true;
  const added = await tx<{ identity: string }[]>`
    INSERT INTO gatehouse_identities (ledger, identity, shown_day)
    SELECT ${ledger}, identity, ${day}
      FROM json_array_elements_text(${JSON.stringify([...given])}::text::json) AS identity
    ON CONFLICT DO NOTHING RETURNING identity`;
  const left = new Set(added.map(({ identity }) => identity));
  // Deleted when it is used, because two events of one batch may have the same identity.
  return ({ identity }) => identity === null || left.delete(identity);
}

async function addEvents(
  tx: TransactionSQL,
  ledger: string,
  placed: readonly { readonly event: NewEvent; readonly place: LedgerPlace }[],
): Promise<void> {
  if (placed.length === 0) return;
  const rows = placed.map(({ event, place }) => ({
    ...place,
    kind: toEventKind(event.type, event.section),
    at: event.at,
    seen_at: event.seenAt,
    source: event.source,
    is_backfill: event.isBackfill,
    data: event.data,
    meta: event.meta,
  }));
  await tx`INSERT INTO gatehouse_events
      (ledger, number, mark, kind, at, seen_at, source, is_backfill, data, meta)
    SELECT ${ledger}, * FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS
      (number bigint, mark bigint, kind integer, at bigint, seen_at bigint, source text, is_backfill boolean,
       data text, meta text)`;
  const links = placed.flatMap(({ event, place }) =>
    event.players.map((player) => ({ player, number: place.number })),
  );
  if (links.length === 0) return;
  await tx`INSERT INTO gatehouse_event_players (ledger, player, number)
    SELECT ${ledger}, * FROM json_to_recordset(${JSON.stringify(links)}::text::json) AS (player text, number bigint)`;
}

export async function readPage(
  tx: TransactionSQL,
  archiveId: string,
  { serverId, start, filter, player, limit }: PageRequest,
): Promise<LedgerPage> {
  const [row] = await tx<LedgerRow[]>`SELECT * FROM gatehouse_ledgers WHERE server_id = ${serverId}`;
  const bounds = boundsOf(row, initialMark(archiveId, serverId));
  const { last, floor } = bounds;
  const ledger = row?.ledger ?? "0";
  const place = startOfPage(start, bounds);
  if (!(await holds(tx, ledger, place, bounds))) return { expired: true, oldest: floor };
  const isForward = "after" in start;
  const { first, final } = rangeOfPage(place, isForward, bounds);
  // Arrays are made once. As sub-selects, a database without statistics would look them through for every event.
  const ofPlayer =
    player === undefined
      ? tx``
      : tx`AND number = ANY (ARRAY(SELECT number FROM gatehouse_event_players
          WHERE ledger = ${ledger} AND player = ${player} AND number BETWEEN ${first} AND ${final}))`;
  const rows = await tx<EventRow[]>`
    SELECT number, mark, kind, at, seen_at, source, is_backfill, data, meta FROM gatehouse_events
    WHERE ledger = ${ledger} AND number BETWEEN ${first} AND ${final}
      AND kind = ANY (${`{${[...filter].join(",")}}`}::text::integer[]) ${ofPlayer}
    ORDER BY ${isForward ? tx`number ASC` : tx`number DESC`} LIMIT ${limit + 1}`;
  const { chosen, isCut } = cutPage(rows, limit);
  const events = (isForward ? chosen : chosen.toReversed()).map(toLedgerEvent);
  const placeAt = async (number: number): Promise<LedgerPlace> => {
    if (number >= last.number) return last;
    if (number <= floor.number) return floor;
    return { number, mark: (await findMark(tx, ledger, number)) ?? 0 };
  };
  if (isForward) {
    const { number, mark } = isCut ? (events.at(-1) ?? place) : await placeAt(final);
    return { events, next: { number, mark }, previous: place, hasMore: number < last.number };
  }
  const previous = await placeAt((isCut ? (events[0]?.number ?? first) : first) - 1);
  return { events, next: place, previous, hasMore: previous.number > floor.number };
}

export function boundsOf(row: LedgerRow | undefined, mark: number): LedgerBounds {
  if (!row) return { last: { number: 0, mark }, floor: { number: 0, mark } };
  return {
    last: { number: Number(row.last_number), mark: Number(row.last_mark) },
    floor: { number: Number(row.floor_number), mark: Number(row.floor_mark) },
  };
}

/** Whether the place of a page's start is one of this ledger. */
export async function holds(
  tx: TransactionSQL,
  ledger: string,
  place: LedgerPlace,
  { floor, last }: LedgerBounds,
): Promise<boolean> {
  return place === floor || place === last || (await findMark(tx, ledger, place.number)) === place.mark;
}

async function findMark(tx: TransactionSQL, ledger: string, number: number): Promise<number | undefined> {
  const [row] = await tx<{ mark: string }[]>`
    SELECT mark FROM gatehouse_events WHERE ledger = ${ledger} AND number = ${number}`;
  return row && Number(row.mark);
}

function toLedgerEvent(row: EventRow): LedgerEvent {
  const { number, mark, kind, at, seen_at, source, is_backfill, data, meta } = row;
  return {
    number: Number(number),
    mark: Number(mark),
    kind,
    at: Number(at),
    seenAt: Number(seen_at),
    source,
    isBackfill: is_backfill,
    data,
    meta,
  };
}
