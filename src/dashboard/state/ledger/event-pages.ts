// Folds pages of a ledger into one list, newest first, in which no event is twice. The list is a window of the ledger: it has
// a ceiling at both ends, and what is dropped can be loaded again.
import type { EventPage, EventResource } from "../../../core/wire/event.ts";

/** How many events a list shows, and how many may wait above it. */
export const EVENTS_MAX = 500;
/** The same where the user searches through what was loaded. */
export const SEARCHED_EVENTS_MAX = 10_000;

export type EventList = {
  /** Newest first, in the order of the ledger. At most `max`. */
  readonly events: readonly EventResource[];
  /**
   * Newer than `events`, newest first: what arrived while the user read further down, and what older pages pushed out. At
   * most `max`, without the oldest of them.
   */
  readonly waiting: readonly EventResource[];
  readonly max: number;
  /** The cursor to read new events after. */
  readonly newest: string;
  /** The cursor to read older events before. */
  readonly oldest: string | undefined;
  readonly hasOlder: boolean;
  /** How far back the last look for older events came without one that fits, in epoch milliseconds; undefined otherwise. */
  readonly lookedBackTo: number | undefined;
};

/** `page` is the newest one, read backwards. */
export function startList(page: EventPage, max = EVENTS_MAX): EventList {
  const { items, next, previous, has_more: hasOlder } = page;
  const start = { events: [], waiting: [], max, newest: next, oldest: previous, hasOlder };
  return cutOldest({ ...start, lookedBackTo: undefined, events: dropKnown(items, start).toReversed() });
}

/** Adds a page that was read with `after: list.newest`. With `isHeld` its events wait, so that the list does not move. */
export function addNewer(
  list: EventList,
  { items, next }: Pick<EventPage, "items" | "next">,
  isHeld = false,
): EventList {
  const fresh = dropKnown(items, list).toReversed();
  if (fresh.length === 0) return { ...list, newest: next };
  // What is newer than the waiting events has to wait too.
  if (isHeld || list.waiting.length > 0)
    return { ...list, newest: next, waiting: [...fresh, ...list.waiting].slice(0, list.max) };
  return cutOldest({ ...list, newest: next, events: [...fresh, ...list.events] });
}

/** Adds a page that was read with `before: list.oldest`. */
export function addOlder(list: EventList, { items, previous, has_more: hasOlder }: EventPage): EventList {
  const events = [...list.events, ...dropKnown(items, list).toReversed()];
  const pushedOut = Math.max(0, events.length - list.max);
  return {
    ...list,
    events: events.slice(pushedOut),
    waiting: [...list.waiting, ...events.slice(0, pushedOut)].slice(0, list.max),
    oldest: previous,
    hasOlder,
    lookedBackTo: undefined,
  };
}

/** Shows what waits. When some of that was dropped, it fills the whole list, so that the list has no hole. */
export function showWaiting(list: EventList): EventList {
  if (list.waiting.length === 0) return list;
  return cutOldest({ ...list, events: [...list.waiting, ...list.events], waiting: [] });
}

function cutOldest(list: EventList): EventList {
  const { events, max } = list;
  if (events.length <= max) return list;
  const kept = events.slice(0, max);
  return { ...list, events: kept, oldest: kept.at(-1)?.id, hasOlder: true, lookedBackTo: undefined };
}

/** The items that are not in the list. */
function dropKnown(
  items: readonly EventResource[],
  { events, waiting }: Pick<EventList, "events" | "waiting">,
): readonly EventResource[] {
  const left = new Map(items.map((item) => [item.id, item]));
  for (const known of [events, waiting]) for (const { id } of known) left.delete(id);
  return Array.from(left.values());
}
