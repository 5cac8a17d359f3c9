// How far a clock is off is never overstated: an answer may take its time, and the header has whole seconds.
import { expect, test } from "bun:test";
import { findClockOffset } from "./clock-offset.ts";

const DATE = "Thu, 12 Nov 2026 10:00:00 GMT";
const AT = Date.parse(DATE);

test.each([
  ["in the same second", DATE, null, 0, 0, 0],
  ["at the end of the second", DATE, null, 999, 999, 0],
  ["a slow answer, written at its beginning", DATE, null, -500, 9_000, 0],
  ["a slow answer, written at its end", DATE, null, -9_000, 10, 0],
  ["a clock that is ahead", DATE, null, 61_000, 62_000, 60_000],
  ["a clock that is behind", DATE, null, -62_000, -60_000, -60_000],
  ["an answer from a cache", DATE, "60", 60_000, 60_500, 0],
])("%s", (_, date, age, sentMs, receivedMs, expected) => {
  const headers = new Headers({ date, ...(age !== null && { age }) });
  expect(findClockOffset(headers, AT + sentMs, AT + receivedMs)).toBe(expected);
});

test("an answer without a time says nothing", () => {
  expect(findClockOffset(new Headers(), AT, AT)).toBeUndefined();
  expect(findClockOffset(new Headers({ date: "soon" }), AT, AT)).toBeUndefined();
});
