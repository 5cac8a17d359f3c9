import { expect, test } from "bun:test";
import { AttemptCounter } from "./attempt-limit.ts";

const NOW = 1_800_000_000_000;
const WINDOW_MS = 60_000;
const SOURCES_MAX = 3;

function create(): AttemptCounter {
  return new AttemptCounter({ max: 2, windowMs: WINDOW_MS }, SOURCES_MAX);
}

/** A counter with as many sources as fit; all of them have used up their attempts. */
function createFull(): AttemptCounter {
  const counter = create();
  for (const source of ["a", "b", "c"]) for (const _ of [1, 2]) counter.count(source, NOW);
  return counter;
}

test("attempts beyond the limit are refused until the first one leaves the window, for each source alone", () => {
  const counter = create();
  expect([0, 10_000, 20_000, 59_500].map((ms) => counter.count("a", NOW + ms))).toEqual([undefined, undefined, 40, 1]);
  expect(counter.count("b", NOW + 59_500)).toBeUndefined();
  expect(counter.count("a", NOW + WINDOW_MS)).toBeUndefined();
  expect(counter.count("a", NOW + WINDOW_MS)).toBe(10);
});

test("at the ceiling, a new source takes the place of the one whose count began first", () => {
  const counter = createFull();
  expect(counter.count("d", NOW)).toBeUndefined();
  expect(counter.size).toBe(SOURCES_MAX);
  expect(counter.count("b", NOW)).toBe(60);
  expect(counter.count("a", NOW)).toBeUndefined();
});

test("at the ceiling, a known source drops nobody", () => {
  const counter = createFull();
  for (const source of ["c", "b", "a"]) expect(counter.count(source, NOW)).toBe(60);
  expect(counter.size).toBe(SOURCES_MAX);
});

test("the count of a source begins anew after a window without attempts, so others are dropped before it", () => {
  const counter = create();
  counter.count("a", NOW);
  for (const source of ["b", "c", "a", "a"]) counter.count(source, NOW + WINDOW_MS);
  counter.count("d", NOW + WINDOW_MS);
  expect(counter.count("a", NOW + WINDOW_MS)).toBe(60);
});
