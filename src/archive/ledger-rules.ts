// Rules that both archives keep: where a page starts, what is pruned, and the first mark of a ledger.
import { DAY_MS } from "../core/durations.ts";
import type { LedgerPlace } from "../core/events/cursor.ts";
import { type LedgerRecord, PAGE_LOOK_MAX, type PageStart } from "../core/ports/archive.ts";

/** `floor` is the place before the oldest kept event, `last` that of the newest. */
export type LedgerBounds = { readonly floor: LedgerPlace; readonly last: LedgerPlace };

/** At most this many rows are deleted in one transaction. */
export const PRUNE_STEP = 500;
/** At most this many ledgers are looked at in one step of pruning. */
export const PRUNE_LEDGERS_MAX = 100;
/** An identity is kept while readings showed it in this many of the latest days that had entries. */
export const IDENTITY_DAYS = 7;
export const IDENTITIES_MAX = 1_000_000;
/** No query of an archive is waited for longer. */
export const ARCHIVE_DEADLINE_MS = 5_000;

/** The data of one page have at most about this many characters, because an event can be very large. */
const PAGE_CHARACTERS_MAX = 8 * 1024 * 1024;

/** The name of a ledger whose server was removed. Server ids have another form, so none is ever found under it. */
export const REMOVED_PREFIX = "removed:";
/** The tables of a ledger, each with the rest of its key. */
export const LEDGER_TABLES = [
  ["events", "number"],
  ["event_players", "player, number"],
  ["identities", "identity"],
  ["memory", "part"],
  ["places", "kind, name, cell_x, cell_z"],
  ["map_images", "ledger"],
  ["deliveries", "webhook_id, number"],
  ["counts", "resolution, at"],
  ["sessions", "player, joined_at, number"],
  ["player_days", "player, day"],
  ["staff_acts", "at, number"],
  ["player_names", "player"],
] as const;

/** Marks an empty ledger, and tells the ledgers of two archives apart. */
export function initialMark(archiveId: string, serverId: string): number {
  return Bun.hash.crc32(`${archiveId}\n${serverId}`);
}

/** The day of a record: never before the ledger's last, because a clock that was set back must not make entries look old. */
export function dayOfRecord({ now }: LedgerRecord, lastDay: number): number {
  return Math.max(lastDay, Math.floor(now / DAY_MS));
}

/** Days without entries do not age the entries that are known: nothing could have shown them. */
export function lastDayAfter(record: LedgerRecord, lastDay: number): number {
  const { events, stillShown } = record;
  const showsEntries = stillShown.length > 0 || events.some(({ identity }) => identity !== null);
  return showsEntries ? dayOfRecord(record, lastDay) : lastDay;
}

/**
 * The place that a page starts from. It is `floor` or `last` itself when the request names one of them; any other place must
 * be checked against the event with its number.
 */
export function startOfPage(start: PageStart, { floor, last }: LedgerBounds): LedgerPlace {
  const place = "after" in start ? start.after : start.before;
  if (place === "earliest") return floor;
  if (place === "now") return last;
  for (const known of [last, floor]) {
    if (known.number === place.number && known.mark === place.mark) return known;
  }
  return place;
}

/** The numbers of the first and the last event that a page looks at. */
export function rangeOfPage(
  { number }: LedgerPlace,
  isForward: boolean,
  { floor, last }: LedgerBounds,
): { readonly first: number; readonly final: number } {
  if (isForward) return { first: number + 1, final: Math.min(last.number, number + PAGE_LOOK_MAX) };
  return { first: Math.max(floor.number + 1, number - PAGE_LOOK_MAX + 1), final: number };
}

/** The rows of one page, in the order of reading; at least one. `isCut`: there are more rows than these. */
export function cutPage<Row extends { readonly data: string }>(
  rows: readonly Row[],
  limit: number,
): { readonly chosen: Row[]; readonly isCut: boolean } {
  let characters = 0;
  const end = rows.findIndex(({ data }, place) => {
    characters += data.length;
    return place === limit || (place > 0 && characters > PAGE_CHARACTERS_MAX);
  });
  return end < 0 ? { chosen: [...rows], isCut: false } : { chosen: rows.slice(0, end), isCut: true };
}
