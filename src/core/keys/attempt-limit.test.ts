// Wrong master keys from one address: ten in a minute are allowed, and nobody is refused for longer than a minute.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Attempts, judgeAttempt, WRONG_SECRETS } from "./attempt-limit.ts";

const NOW = 1_800_000_000_000;

/** For each attempt, in how many milliseconds the next one is allowed; 0 for an attempt that was allowed itself. */
function attemptAt(times: readonly number[]): number[] {
  let attempts: Attempts = [];
  return times.map((time) => {
    const verdict = judgeAttempt(attempts, time, WRONG_SECRETS);
    attempts = verdict.attempts;
    return verdict.allowedFrom - time;
  });
}

describe("wrong attempts from one address", () => {
  test("ten in a minute are allowed, further ones are refused until the first is a minute old", () => {
    const times = Array.from({ length: 13 }, (_, i) => NOW + i);
    expect(attemptAt(times)).toEqual([...new Array(10).fill(0), 59_990, 59_989, 59_988]);
  });

  test("any minute counts, not only the one that began with the first attempt", () => {
    const late = new Array(9).fill(NOW + 59_000);
    expect(attemptAt([NOW, ...late, NOW + 61_000, NOW + 61_000])).toEqual([...new Array(11).fill(0), 58_000]);
  });

  test("refused attempts are not counted, so the time given for the next attempt holds", () => {
    const allowed = new Array(10).fill(NOW);
    const flood = Array.from({ length: 500 }, (_, i) => NOW + i);
    expect(attemptAt([...allowed, ...flood, NOW + WRONG_SECRETS.windowMs - 1]).at(-1)).toBe(1);
    expect(attemptAt([...allowed, ...flood, NOW + WRONG_SECRETS.windowMs]).at(-1)).toBe(0);
  });

  test("when the clock is set back, counting starts over", () => {
    expect(attemptAt([...new Array(10).fill(NOW), NOW - 5_000]).at(-1)).toBe(0);
  });

  test("an attempt that is judged a little late, or by a corrected clock, ends no count", () => {
    const tries = [...new Array(10).fill(NOW), NOW - 400, NOW + 1];
    expect(attemptAt(tries).slice(-2)).toEqual([WRONG_SECRETS.windowMs, WRONG_SECRETS.windowMs - 1]);
  });

  test("whatever the clock does, nobody waits longer than a minute, and no more than ten times are kept", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -5_000, max: 20_000 }), { minLength: 1, maxLength: 60, size: "max" }),
        (steps) => {
          let now = NOW;
          let attempts: Attempts = [];
          for (const step of steps) {
            now += step;
            const verdict = judgeAttempt(attempts, now, WRONG_SECRETS);
            attempts = verdict.attempts;
            expect(verdict.allowedFrom).toBeGreaterThanOrEqual(now);
            expect(verdict.allowedFrom).toBeLessThanOrEqual(now + WRONG_SECRETS.windowMs);
            expect(attempts.length).toBeLessThanOrEqual(WRONG_SECRETS.max);
          }
        },
      ),
    );
  });
});
