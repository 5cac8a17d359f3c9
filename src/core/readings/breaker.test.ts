// The circuit breaker: five failures in a row stop the calls for 5 s, each failed probe doubles that time up to 60 s.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Breaker, CLOSED_BREAKER, isCallDue, isOpen, recordFailure } from "./breaker.ts";
import { BREAKER_CODES } from "./upstream-codes.ts";

const NOW = 1_800_000_000_000;

function failTimes(times: number, now = NOW, breaker: Breaker = CLOSED_BREAKER): Breaker {
  let next = breaker;
  for (let i = 0; i < times; i++) next = recordFailure(next, now);
  return next;
}

/** The first millisecond, counted from `now`, at which a call is due again. */
function waitOf(breaker: Breaker, now: number): number {
  let low = 0;
  let high = 120_000;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isCallDue(breaker, now + middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

describe("codes", () => {
  test.each([0, 1001, 1002])("code %p counts toward the breaker", (code) => {
    expect(BREAKER_CODES.has(code)).toBe(true);
  });
  test.each([2000, 2001, 2002, 2003, 2004, 3001, 3002, 4000, 4001, 4002, 4003, 9998, 9999, 1, 1000, 1003, 77])(
    "code %p does not count",
    (code) => {
      expect(BREAKER_CODES.has(code)).toBe(false);
    },
  );
});

describe("opening", () => {
  test("a breaker is closed at first, and calls are due", () => {
    expect(isOpen(CLOSED_BREAKER)).toBe(false);
    expect(isCallDue(CLOSED_BREAKER, NOW)).toBe(true);
  });

  test.each([1, 2, 3, 4])("%p failures in a row do not open it", (times) => {
    expect(isOpen(failTimes(times))).toBe(false);
    expect(isCallDue(failTimes(times), NOW)).toBe(true);
  });

  test("the fifth failure in a row opens it for exactly 5 s", () => {
    const breaker = failTimes(5);
    expect(isOpen(breaker)).toBe(true);
    expect(isCallDue(breaker, NOW + 4_999)).toBe(false);
    expect(isCallDue(breaker, NOW + 5_000)).toBe(true);
  });

  test("the 5 s count from the fifth failure, not from the first", () => {
    const breaker = recordFailure(failTimes(4, NOW), NOW + 30_000);
    expect(waitOf(breaker, NOW + 30_000)).toBe(5_000);
  });
});

describe("staying open", () => {
  test("each failed probe doubles the wait, up to 60 s and no further", () => {
    let breaker = failTimes(5);
    let now = NOW;
    const waits = [waitOf(breaker, now)];
    for (let probe = 0; probe < 7; probe++) {
      now += waits.at(-1) ?? 0;
      breaker = recordFailure(breaker, now);
      waits.push(waitOf(breaker, now));
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000, 60_000]);
  });

  test("it stays open after its time is up, until a probe succeeds", () => {
    expect(isOpen(failTimes(5))).toBe(true);
    expect(isOpen(failTimes(9))).toBe(true);
  });

  test("once closed, five failures are needed again and the wait is 5 s again", () => {
    const reopened = failTimes(5, NOW, CLOSED_BREAKER);
    expect(isOpen(failTimes(4, NOW, CLOSED_BREAKER))).toBe(false);
    expect(waitOf(reopened, NOW)).toBe(5_000);
  });

  test("when the clock is set back, no call waits longer than 60 s", () => {
    const breaker = failTimes(5);
    const back = NOW - 86_400_000;
    expect(waitOf(breaker, back)).toBeLessThanOrEqual(60_000);
  });

  test("after any sequence of failures the wait is 5, 10, 20, 40 or 60 s", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100_000), { minLength: 5, maxLength: 30 }), (gaps) => {
        let now = NOW;
        let breaker = CLOSED_BREAKER;
        for (const gap of gaps) {
          now += gap;
          breaker = recordFailure(breaker, now);
        }
        expect([5_000, 10_000, 20_000, 40_000, 60_000]).toContain(waitOf(breaker, now));
      }),
    );
  });
});
