import { expect, test } from "bun:test";
import { toAverage, toSecondBounds, toSeconds, toShare } from "./rounding.ts";

test("parts in seconds never add up to more than the whole", () => {
  expect(toSeconds(1_999)).toBe(1);
  expect(toSeconds(999) + toSeconds(1_001)).toBeLessThanOrEqual(toSeconds(2_000));
});

test("bounds are rounded outwards", () => {
  expect(toSecondBounds(1_999, 2_001)).toEqual([1, 3]);
  expect(toSecondBounds(2_000, 2_000)).toEqual([2, 2]);
});

test("a share is 0 only when nothing is known, and 1 only when everything is", () => {
  expect([0, 1, 50, 99_999, 100_000, 100_001].map((known) => toShare(known, 100_000))).toEqual([
    0, 0.0001, 0.0005, 0.9999, 1, 1,
  ]);
});

test("averages have two decimals", () => {
  expect(toAverage(10, 3)).toBe(3.33);
});
