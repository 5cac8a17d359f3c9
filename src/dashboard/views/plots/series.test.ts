import { describe, expect, test } from "bun:test";
import type { HistoryPoint } from "../../state/server/server-history.ts";
import { buildLines, describeLine, listMinutes } from "./history-lines.ts";

const START = 1_800_000_000_000;

function point(seconds: number, more: Partial<HistoryPoint> = {}): HistoryPoint {
  return { at: START + seconds * 1000, players: 10, queue: 2, joins: 0, leaves: 0, ...more };
}

describe("the lines of the plots", () => {
  test("show the rate of the last minute", () => {
    const points = Array.from({ length: 30 }, (_, n) => point(n * 5, { joins: n === 0 ? 0 : 1 }));
    const { joins } = buildLines(points);
    expect(joins[6]).toBe(6);
    expect(joins[29]).toBe(12);
  });

  test("spread what happened while the tab was hidden over that time", () => {
    const { joins } = buildLines([point(0), point(5), point(605, { joins: 20 })]);
    expect(joins.at(-1)).toBe(2);
  });

  test("have a gap after a long time without readings", () => {
    const { times, players } = buildLines([point(0), point(5), point(305)]);
    expect(players).toEqual([10, 10, null, 10]);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test("are empty for what the key may not read", () => {
    const hidden = { queue: undefined, joins: undefined, leaves: undefined };
    const lines = buildLines([point(0, hidden), point(5, hidden)]);
    expect([lines.queue, lines.joins, lines.leaves]).toEqual(Array(3).fill([null, null]));
    expect(describeLine(lines.queue)).toBeUndefined();
  });

  test("are described by their last, lowest and highest value", () => {
    expect(describeLine([3, null, 9, 1, 4, null])).toEqual({ now: 4, low: 1, high: 9 });
  });
});

test("the table has one row per minute, newest first, with the sums of that minute", () => {
  const points = [point(0, { joins: 1 }), point(30, { joins: 2, players: 12 }), point(60, { leaves: 3, players: 9 })];
  expect(listMinutes(points)).toEqual([
    { at: START + 60_000, players: 9, queue: 2, joins: 0, leaves: 3 },
    { at: START, players: 12, queue: 2, joins: 3, leaves: 0 },
  ]);
});
