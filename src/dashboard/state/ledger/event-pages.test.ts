import { describe, expect, test } from "bun:test";
import type { EventPage, EventResource } from "../../../core/wire/event.ts";
import { addNewer, addOlder, EVENTS_MAX, type EventList, showWaiting, startList } from "./event-pages.ts";

function event(number: number): EventResource {
  const at = number * 1000;
  return { id: `c${number}`, type: "player.joined", at, seen_at: at, source: "log", backfill: false, data: {} };
}

/** The events `from` to `to`, oldest first, with an older page before them. */
function page(from: number, to: number, more: Partial<EventPage> = {}): EventPage {
  const items = Array.from({ length: to - from + 1 }, (_, index) => event(from + index));
  return { items, next: `c${to}`, previous: `c${from - 1}`, has_more: from > 1, ...more };
}

const idsOf = (events: readonly EventResource[]) => events.map(({ id }) => id);

/** The newest and the oldest event of the list, and that there is none missing between them. */
function spanOf({ events }: EventList): readonly [number, number] {
  const numbers = idsOf(events).map((id) => Number(id.slice(1)));
  const [first = 0] = numbers;
  expect(numbers).toEqual(numbers.map((_, index) => first - index));
  return [first, first - numbers.length + 1];
}

describe("pages of a ledger", () => {
  test("become one list, newest first", () => {
    const list = addOlder(addNewer(startList(page(4, 5)), page(6, 7)), page(1, 3));
    expect(idsOf(list.events)).toEqual(["c7", "c6", "c5", "c4", "c3", "c2", "c1"]);
    expect(list).toMatchObject({ newest: "c7", hasOlder: false, waiting: [] });
  });

  test("that overlap make no event twice", () => {
    const list = addOlder(addNewer(startList(page(4, 6)), page(5, 7)), page(2, 4));
    expect(idsOf(list.events)).toEqual(["c7", "c6", "c5", "c4", "c3", "c2"]);
  });

  test("without a fitting event still move the cursors", () => {
    const empty = { items: [], next: "c90", previous: "c2", has_more: true };
    const list = addOlder(addNewer(startList(page(50, 51)), empty), empty);
    expect(list).toMatchObject({ newest: "c90", oldest: "c2", hasOlder: true });
    expect(idsOf(list.events)).toEqual(["c51", "c50"]);
  });

  test("of new events push out the oldest ones, which can be loaded again", () => {
    const start = startList(page(1, 3));
    expect(start.hasOlder).toBe(false);
    const list = addNewer(start, page(4, EVENTS_MAX + 5));
    expect(spanOf(list)).toEqual([EVENTS_MAX + 5, 6]);
    expect(list).toMatchObject({ oldest: "c6", hasOlder: true });
    expect(spanOf(addOlder(list, page(4, 5)))).toEqual([EVENTS_MAX + 3, 4]);
  });
});

describe("a list that is held", () => {
  test("does not change when events arrive, and shows them all in order afterwards", () => {
    const start = startList(page(1, 3));
    const held = addNewer(addNewer(start, page(4, 5), true), page(5, 6), true);
    expect(held.events).toEqual(start.events);
    expect(idsOf(held.waiting)).toEqual(["c6", "c5", "c4"]);
    expect(held.newest).toBe("c6");
    expect(spanOf(showWaiting(held))).toEqual([6, 1]);
    expect(showWaiting(start)).toBe(start);
  });

  test("holds a bounded number of events, however many arrive or are loaded, and never has a hole", () => {
    let list = startList(page(10_001, 10_100));
    for (let next = 10_101; next < 13_000; next += 100) {
      list = addNewer(list, page(next, next + 99), true);
      expect(list.events.length + list.waiting.length).toBeLessThanOrEqual(2 * EVENTS_MAX);
    }
    expect(spanOf(list)).toEqual([10_100, 10_001]);
    expect(spanOf(showWaiting(list))).toEqual([13_000, 13_001 - EVENTS_MAX]);
    for (let last = 10_000; last > 8_000; last -= 100) {
      list = addOlder(list, page(last - 99, last));
      expect(list.events.length).toBeLessThanOrEqual(EVENTS_MAX);
      expect(list.waiting.length).toBeLessThanOrEqual(EVENTS_MAX);
      expect(spanOf(list)[1]).toBe(last - 99);
      expect(spanOf(showWaiting(list))[0]).toBe(13_000);
    }
  });

  test("by older pages alone lets what they pushed out, and what is newer, come back in order", () => {
    let list = startList(page(2_901, 3_000));
    for (let last = 2_900; last > 2_300; last -= 100) list = addOlder(list, page(last - 99, last));
    expect(spanOf(list)).toEqual([2_800, 2_301]);
    list = addNewer(list, page(3_001, 3_010));
    expect(idsOf(list.waiting.slice(0, 11)).at(-1)).toBe("c3000");
    expect(list.waiting.length).toBe(210);
    expect(spanOf(showWaiting(list))).toEqual([3_010, 2_511]);
  });
});
