import { expect, test } from "bun:test";
import { describeMedian, roundWait, splitPresence } from "./presence-text.tsx";

test("a presence is told in hours and minutes, never more than it was", () => {
  expect(splitPresence(0)).toEqual({ kind: "none" });
  expect(splitPresence(59)).toEqual({ kind: "underMinute" });
  expect(splitPresence(3_599)).toEqual({ kind: "minutes", m: 59 });
  expect(splitPresence(3_660)).toEqual({ kind: "hours", h: 1, m: 1 });
  expect(splitPresence(200_000)).toEqual({ kind: "hours", h: 55, m: 33 });
});

test("bounds stay true when they are rounded", () => {
  expect([roundWait(20.9, "down"), roundWait(20.1, "up")]).toEqual([
    { unit: "seconds", n: 20 },
    { unit: "seconds", n: 21 },
  ]);
  expect([roundWait(60, "up"), roundWait(121, "up"), roundWait(179, "down")]).toEqual([
    { unit: "minutes", n: 1 },
    { unit: "minutes", n: 3 },
    { unit: "minutes", n: 2 },
  ]);
  expect(roundWait(7_201, "up")).toEqual({ unit: "hours", n: 3 });
});

test("a median is a range, at most its upper bound, or exact", () => {
  expect(describeMedian(null)).toBeUndefined();
  expect(describeMedian([20, 60])).toEqual({
    kind: "between",
    low: { unit: "seconds", n: 20 },
    high: { unit: "minutes", n: 1 },
  });
  expect(describeMedian([0, 45])).toEqual({ kind: "atMost", high: { unit: "seconds", n: 45 } });
  expect(describeMedian([0, 0])).toEqual({ kind: "exactly", low: { unit: "seconds", n: 0 } });
});
