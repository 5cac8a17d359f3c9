import { describe, expect, test } from "bun:test";
import type { EventPage, EventResource } from "../../core/wire/event.ts";
import { addNewer, addOlder, NEW_EVENTS_MAX, startList } from "./event-pages.ts";

function event(number: number): EventResource {
  const at = number * 1000;
  return {
    id: `c${number}`,
    type: "player.joined",
    at,
    seen_at: at,
    source: "log",
    backfill: false,
    data: {},
  };
}

/** The events `from` to `to`, oldest first, with an older page before them. */
function page(from: number, to: number, more: Partial<EventPage> = {}): EventPage {
  const items = Array.from({ length: to - from + 1 }, (_, index) => event(from + index));
  return { items, next: `c${to}`, previous: `c${from - 1}`, has_more: from > 1, ...more };
}

const idsOf = ({ events }: { readonly events: readonly EventResource[] }) => events.map(({ id }) => id);

describe("pages of a ledger", () => {
  test("become one list, newest first", () => {
    const list = addOlder(addNewer(startList(page(4, 5)), page(6, 7)), page(1, 3));
    expect(idsOf(list)).toEqual(["c7", "c6", "c5", "c4", "c3", "c2", "c1"]);
    expect(list).toMatchObject({ newest: "c7", hasOlder: false, loaded: 5 });
  });

  test("that overlap make no event twice", () => {
    const list = addOlder(addNewer(startList(page(4, 6)), page(5, 7)), page(2, 4));
    expect(idsOf(list)).toEqual(["c7", "c6", "c5", "c4", "c3", "c2"]);
  });

  test("without a fitting event still move the cursors", () => {
    const empty = { items: [], next: "c90", previous: "c2", has_more: true };
    const list = addOlder(addNewer(startList(page(50, 51)), empty), empty);
    expect(list).toMatchObject({ newest: "c90", oldest: "c2", hasOlder: true });
    expect(idsOf(list)).toEqual(["c51", "c50"]);
  });

  test("of new events push out the oldest ones, which can be loaded again", () => {
    const start = startList(page(1, 3));
    expect(start.hasOlder).toBe(false);
    const list = addNewer(start, page(4, NEW_EVENTS_MAX + 5));
    expect(list.events.length).toBe(NEW_EVENTS_MAX + 3);
    expect(list).toMatchObject({ oldest: "c3", hasOlder: true });
    const again = addOlder(list, page(1, 3));
    expect(idsOf(again).slice(-3)).toEqual(["c3", "c2", "c1"]);
    expect(again.events.length).toBe(NEW_EVENTS_MAX + 5);
  });
});
