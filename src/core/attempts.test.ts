import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ATTEMPTS_PER_WINDOW, ATTEMPTS_WINDOW_MS, type Attempts, judgeAttempt } from "./attempts.ts";

const NOW = 1_800_000_000_000;

/** For each try, in how many milliseconds the next one is answered; 0 for a try that was answered itself. */
function tryAt(times: readonly number[]): number[] {
  let attempts: Attempts = [];
  return times.map((time) => {
    const verdict = judgeAttempt(attempts, time);
    attempts = verdict.attempts;
    return verdict.answeredFrom - time;
  });
}

describe("wrong tries of one address", () => {
  test("ten in a minute are answered, the eleventh and later ones are sent away until the first is a minute old", () => {
    const times = Array.from({ length: 13 }, (_, i) => NOW + i);
    expect(tryAt(times)).toEqual([...new Array(10).fill(0), 59_990, 59_989, 59_988]);
  });

  test("any minute counts, not only the one that began with the first try", () => {
    const late = new Array(9).fill(NOW + 59_000);
    expect(tryAt([NOW, ...late, NOW + 61_000, NOW + 61_000])).toEqual([...new Array(11).fill(0), 58_000]);
  });

  test("those that were sent away count for nothing: the time that was named is true", () => {
    const tries = new Array(10).fill(NOW);
    const flood = Array.from({ length: 500 }, (_, i) => NOW + i);
    expect(tryAt([...tries, ...flood, NOW + ATTEMPTS_WINDOW_MS - 1]).at(-1)).toBe(1);
    expect(tryAt([...tries, ...flood, NOW + ATTEMPTS_WINDOW_MS]).at(-1)).toBe(0);
  });

  test("a clock set back starts over instead of sending anybody away for longer than a minute", () => {
    expect(tryAt([...new Array(10).fill(NOW), NOW - 1]).at(-1)).toBe(0);
  });

  test("whatever the clock does, nobody waits longer than a minute, and no more than ten are remembered", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -5_000, max: 20_000 }), { minLength: 1, maxLength: 60, size: "max" }),
        (steps) => {
          let now = NOW;
          let attempts: Attempts = [];
          for (const step of steps) {
            now += step;
            const verdict = judgeAttempt(attempts, now);
            attempts = verdict.attempts;
            expect(verdict.answeredFrom).toBeGreaterThanOrEqual(now);
            expect(verdict.answeredFrom).toBeLessThanOrEqual(now + ATTEMPTS_WINDOW_MS);
            expect(attempts.length).toBeLessThanOrEqual(ATTEMPTS_PER_WINDOW);
          }
        },
      ),
    );
  });
});
