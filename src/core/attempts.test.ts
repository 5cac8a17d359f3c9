import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  ATTEMPTS_PER_WINDOW,
  ATTEMPTS_WINDOW_MS,
  type Attempts,
  countAttempt,
  isTooMany,
} from "./attempts.ts";

const NOW = 1_800_000_000_000;

function tryAt(times: readonly number[]): Attempts {
  let state: Attempts | undefined;
  for (const time of times) state = countAttempt(state, time);
  if (!state) throw new Error("at least one time is needed");
  return state;
}

describe("wrong tries of one address", () => {
  test("ten in a minute are not too many, the eleventh is", () => {
    const times = (count: number) => Array.from({ length: count }, (_, i) => NOW + i);
    expect(isTooMany(tryAt(times(10)))).toBe(false);
    expect(isTooMany(tryAt(times(11)))).toBe(true);
    expect(isTooMany(tryAt(times(500)))).toBe(true);
  });

  test("the minute begins with the first try and is not made longer by later ones", () => {
    expect(tryAt([NOW])).toEqual({ count: 1, resetAt: NOW + ATTEMPTS_WINDOW_MS });
    expect(tryAt([NOW, NOW + 59_999])).toEqual({ count: 2, resetAt: NOW + ATTEMPTS_WINDOW_MS });
  });

  test("at the exact millisecond of its end a new minute begins", () => {
    expect(tryAt([NOW, NOW + 60_000])).toEqual({ count: 1, resetAt: NOW + 120_000 });
  });

  test("a clock set back starts over instead of sending anybody away for longer than a minute", () => {
    expect(tryAt([NOW, NOW - 1])).toEqual({ count: 1, resetAt: NOW - 1 + ATTEMPTS_WINDOW_MS });
  });

  test("whatever the clock does, the end is ahead and at most a minute away, and the count never jumps", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -200_000, max: 200_000 }), { minLength: 1 }), (steps) => {
        let now = NOW;
        let state: Attempts | undefined;
        for (const step of steps) {
          now += step;
          const next = countAttempt(state, now);
          expect(next.resetAt).toBeGreaterThan(now);
          expect(next.resetAt).toBeLessThanOrEqual(now + ATTEMPTS_WINDOW_MS);
          expect([1, (state?.count ?? 0) + 1]).toContain(next.count);
          expect(isTooMany(next)).toBe(next.count > ATTEMPTS_PER_WINDOW);
          state = next;
        }
      }),
    );
  });
});
