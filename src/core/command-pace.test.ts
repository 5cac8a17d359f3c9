// The pace of commands: ours, or slower when the game API says so, never faster.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { paceAfterSending, pauseAfterRefusal } from "./command-pace.ts";
import type { LimitHint } from "./ports/upstream.ts";

const NOW = 1_800_000_000_000;
const SILENT: LimitHint = { limit: null, remaining: null, resetAt: null, retryAfterMs: null };
const hint = (said: Partial<LimitHint>): LimitHint => ({ ...SILENT, ...said });

describe("after a command that was taken", () => {
  const cases: [string, LimitHint | null, number][] = [
    ["no answer to learn from", null, 5_000],
    ["no headers", SILENT, 5_000],
    ["calls are left", hint({ limit: 5, remaining: 1, resetAt: NOW + 60_000 }), 5_000],
    ["none is left: the end of the window", hint({ limit: 1, remaining: 0, resetAt: NOW + 12_000 }), 12_000],
    [
      "none is left, and a time is named",
      hint({ remaining: 0, resetAt: NOW + 9_000, retryAfterMs: 7_000 }),
      7_000,
    ],
    ["none is left until sooner than our own pace", hint({ remaining: 0, resetAt: NOW + 800 }), 5_000],
    ["none is left, until when is not said", hint({ remaining: 0 }), 5_000],
    ["the window is over already", hint({ remaining: 0, resetAt: NOW - 1_000 }), 5_000],
    ["an absurd time", hint({ remaining: 0, resetAt: NOW * 2 }), 24 * 3_600_000],
  ];
  test.each(cases)("%s", (_, said, expected) => {
    expect(paceAfterSending(5_000, said, NOW)).toBe(expected);
  });
});

describe("after a refusal for asking too often", () => {
  test("the time that it named", () => {
    expect(pauseAfterRefusal(5_000, hint({ retryAfterMs: 30_000 }), 0, NOW)).toBe(30_000);
    expect(pauseAfterRefusal(5_000, hint({ resetAt: NOW + 20_000 }), 7, NOW)).toBe(20_000);
    expect(pauseAfterRefusal(5_000, hint({ retryAfterMs: 9_000, resetAt: NOW + 20_000 }), 0, NOW)).toBe(
      9_000,
    );
  });

  test("never sooner than our own pace", () => {
    expect(pauseAfterRefusal(5_000, hint({ retryAfterMs: 1_000 }), 0, NOW)).toBe(5_000);
    expect(pauseAfterRefusal(90_000, SILENT, 0, NOW)).toBe(90_000);
  });

  test("without a time: 5 s, doubling to 60 s", () => {
    const pauses = [0, 1, 2, 3, 4, 5, 1_000].map((before) => pauseAfterRefusal(1, SILENT, before, NOW));
    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
    expect(pauseAfterRefusal(1, null, 0, NOW)).toBe(5_000);
  });
});

test("whatever the game API says, the wait is at least our own pace and at most a day", () => {
  const number = fc.option(fc.oneof(fc.integer({ min: -10, max: 100_000 }), fc.double({ noNaN: true })));
  const said = fc.record({ limit: number, remaining: number, resetAt: number, retryAfterMs: number });
  fc.assert(
    fc.property(said, fc.integer({ min: 1, max: 3_600_000 }), fc.nat(), (heard, intervalMs, before) => {
      const hinted = { ...heard, resetAt: heard.resetAt === null ? null : NOW + heard.resetAt };
      for (const ms of [
        paceAfterSending(intervalMs, hinted, NOW),
        pauseAfterRefusal(intervalMs, hinted, before, NOW),
      ]) {
        expect(ms).toBeGreaterThanOrEqual(intervalMs);
        expect(ms).toBeLessThanOrEqual(24 * 3_600_000);
      }
    }),
  );
});
