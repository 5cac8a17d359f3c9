// Folds pages of a ledger into one list, newest first, in which no event is twice.
import type { EventPage, EventResource } from "../../core/wire/event.ts";

/** How many events may arrive while the page is open before the oldest ones are dropped. They can be loaded again. */
export const NEW_EVENTS_MAX = 2_000;

export type EventList = {
  /** Newest first, in the order of the ledger. */
  readonly events: readonly EventResource[];
  /** The cursor to read new events after. */
  readonly newest: string;
  /** The cursor to read older events before. */
  readonly oldest: string | undefined;
  readonly hasOlder: boolean;
  /** How far back the last look for older events came without one that fits, in epoch milliseconds; undefined otherwise. */
  readonly lookedBackTo: number | undefined;
  /** How many events the user has loaded, without those that arrived later. */
  readonly loaded: number;
};

/** `page` is the newest one, read backwards. */
export function startList({ items, next, previous, has_more: hasOlder }: EventPage): EventList {
  const events = dropDoubles(items.toReversed());
  return { events, newest: next, oldest: previous, hasOlder, lookedBackTo: undefined, loaded: events.length };
}

/** Adds a page that was read with `after: list.newest`. */
export function addNewer(list: EventList, { items, next }: Pick<EventPage, "items" | "next">): EventList {
  if (items.length === 0) return { ...list, newest: next };
  const events = dropDoubles([...items.toReversed(), ...list.events]);
  const max = list.loaded + NEW_EVENTS_MAX;
  if (events.length <= max) return { ...list, events, newest: next };
  const kept = events.slice(0, max);
  return {
    ...list,
    events: kept,
    newest: next,
    oldest: kept.at(-1)?.id,
    hasOlder: true,
    lookedBackTo: undefined,
  };
}

/** Adds a page that was read with `before: list.oldest`. */
export function addOlder(list: EventList, { items, previous, has_more: hasOlder }: EventPage): EventList {
  const events = dropDoubles([...list.events, ...items.toReversed()]);
  const added = events.length - list.events.length;
  return {
    ...list,
    events,
    oldest: previous,
    hasOlder,
    lookedBackTo: undefined,
    loaded: list.loaded + added,
  };
}

function dropDoubles(events: readonly EventResource[]): readonly EventResource[] {
  const seen = new Set<string>();
  return events.filter(({ id }) => !seen.has(id) && seen.add(id));
}
