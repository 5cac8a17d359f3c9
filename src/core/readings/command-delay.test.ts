// The delay between commands: our own interval, or longer when the game API asks for it, never shorter.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LimitHint } from "../ports/upstream.ts";
import { delayAfterRateLimitMs, delayAfterSendMs } from "./budget.ts";

const NOW = 1_800_000_000_000;
const NO_HINT: LimitHint = { limit: null, remaining: null, resetAt: null, retryAfterMs: null };
const hint = (fields: Partial<LimitHint>): LimitHint => ({ ...NO_HINT, ...fields });

describe("after an accepted command", () => {
  const cases: [string, LimitHint | null, number][] = [
    ["no answer", null, 5_000],
    ["no headers", NO_HINT, 5_000],
    ["calls remain", hint({ limit: 5, remaining: 1, resetAt: NOW + 60_000 }), 5_000],
    ["none remains: the end of the window", hint({ limit: 1, remaining: 0, resetAt: NOW + 12_000 }), 12_000],
    [
      "none remains, and the answer names a time",
      hint({ remaining: 0, resetAt: NOW + 9_000, retryAfterMs: 7_000 }),
      7_000,
    ],
    ["none remains, and the window ends before our own interval", hint({ remaining: 0, resetAt: NOW + 800 }), 5_000],
    ["none remains, without a reset time", hint({ remaining: 0 }), 5_000],
    ["the window is over already", hint({ remaining: 0, resetAt: NOW - 1_000 }), 5_000],
    ["a reset time in the far future", hint({ remaining: 0, resetAt: NOW * 2 }), 24 * 3_600_000],
  ];
  test.each(cases)("%s", (_, given, expected) => {
    expect(delayAfterSendMs(5_000, given, NOW)).toBe(expected);
  });
});

describe("after a 429", () => {
  test("the delay is the time that the answer names", () => {
    expect(delayAfterRateLimitMs(5_000, hint({ retryAfterMs: 30_000 }), 0, NOW)).toBe(30_000);
    expect(delayAfterRateLimitMs(5_000, hint({ resetAt: NOW + 20_000 }), 7, NOW)).toBe(20_000);
    expect(delayAfterRateLimitMs(5_000, hint({ retryAfterMs: 9_000, resetAt: NOW + 20_000 }), 0, NOW)).toBe(9_000);
  });

  test("the delay is never shorter than our own interval", () => {
    expect(delayAfterRateLimitMs(5_000, hint({ retryAfterMs: 1_000 }), 0, NOW)).toBe(5_000);
    expect(delayAfterRateLimitMs(90_000, NO_HINT, 0, NOW)).toBe(90_000);
  });

  test("without a time the delay is 5 s and doubles up to 60 s", () => {
    const delays = [0, 1, 2, 3, 4, 5, 1_000].map((before) => delayAfterRateLimitMs(1, NO_HINT, before, NOW));
    expect(delays).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
    expect(delayAfterRateLimitMs(1, null, 0, NOW)).toBe(5_000);
  });
});

test("whatever the game API answers, the delay is at least our own interval and at most a day", () => {
  const number = fc.option(fc.oneof(fc.integer({ min: -10, max: 100_000 }), fc.double({ noNaN: true })));
  const fields = fc.record({ limit: number, remaining: number, resetAt: number, retryAfterMs: number });
  fc.assert(
    fc.property(fields, fc.integer({ min: 1, max: 3_600_000 }), fc.nat(), (given, intervalMs, before) => {
      const hinted = { ...given, resetAt: given.resetAt === null ? null : NOW + given.resetAt };
      for (const ms of [
        delayAfterSendMs(intervalMs, hinted, NOW),
        delayAfterRateLimitMs(intervalMs, hinted, before, NOW),
      ]) {
        expect(ms).toBeGreaterThanOrEqual(intervalMs);
        expect(ms).toBeLessThanOrEqual(24 * 3_600_000);
      }
    }),
  );
});
