// The read budget: how long a 429 pauses the calls, that a game API with a fixed window never has to refuse a call, and
// that no server starves.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LimitHint } from "../ports/upstream.ts";
import {
  type Budget,
  followClock,
  msUntilCall,
  pauseBudget,
  spendCall,
  UNKNOWN_BUDGET,
  updateBudget,
} from "./budget.ts";

const NOW = 1_800_000_000_000;
const NO_HINT: LimitHint = { limit: null, remaining: null, resetAt: null, retryAfterMs: null };

const IDLE = { isFirstCall: false, serversWaitingLonger: 0, callsInFlight: 0 };
const waitOf = (budget: Budget, now: number) => msUntilCall(budget, now, IDLE);

describe("before the first answer", () => {
  const oneInFlight = { isFirstCall: true, serversWaitingLonger: 0, callsInFlight: 1 };

  test("one call is made; a second one only when the first is not answered soon", () => {
    const probing = spendCall(UNKNOWN_BUDGET, NOW);
    expect(waitOf(UNKNOWN_BUDGET, NOW)).toBe(0);
    expect(msUntilCall(probing, NOW + 1, oneInFlight)).toBeGreaterThan(0);
    expect(msUntilCall(probing, NOW + 500, oneInFlight)).toBe(0);
  });
  test("while no answer comes, one more call is made every half second, however many are in flight", () => {
    const fifth = spendCall(UNKNOWN_BUDGET, NOW);
    expect(msUntilCall(fifth, NOW + 499, { ...oneInFlight, callsInFlight: 5 })).toBeGreaterThan(0);
    expect(msUntilCall(fifth, NOW + 500, { ...oneInFlight, callsInFlight: 5 })).toBe(0);
  });
  test("after an answer without rate-limit headers no call has to wait", () => {
    const budget = updateBudget(spendCall(UNKNOWN_BUDGET, NOW), NO_HINT, NOW, 0);
    expect(msUntilCall(budget, NOW, { isFirstCall: false, serversWaitingLonger: 500, callsInFlight: 90 })).toBe(0);
  });
});

describe("a pause after a 429", () => {
  test.each<[string, Partial<LimitHint>, number]>([
    ["Retry-After (or the body's retry_after)", { retryAfterMs: 7_000 }, 7_000],
    ["Retry-After before X-RateLimit-Reset", { retryAfterMs: 7_000, resetAt: NOW + 30_000 }, 7_000],
    ["Retry-After before an earlier X-RateLimit-Reset", { retryAfterMs: 40_000, resetAt: NOW + 1_000 }, 40_000],
    ["X-RateLimit-Reset without Retry-After", { resetAt: NOW + 12_345 }, 12_345],
    ["5 s without any header", {}, 5_000],
    ["5 s when the reset time is over already", { resetAt: NOW - 1_000 }, 5_000],
    ["a Retry-After longer than 60 s", { retryAfterMs: 3_600_000 }, 3_600_000],
  ])("lasts as long as: %s", (_, hint, ms) => {
    const budget = pauseBudget(UNKNOWN_BUDGET, { ...NO_HINT, ...hint }, NOW);
    expect(waitOf(budget, NOW)).toBe(ms);
    expect(waitOf(budget, NOW + ms - 1)).toBe(1);
    expect(waitOf(budget, NOW + ms)).toBe(0);
  });

  test("without a named time doubles from 5 s to 60 s with each 429 in a row", () => {
    let budget = UNKNOWN_BUDGET;
    let now = NOW;
    const waits: number[] = [];
    for (let i = 0; i < 7; i++) {
      budget = pauseBudget(budget, NO_HINT, now);
      waits.push(waitOf(budget, now));
      now += waits.at(-1) ?? 0;
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });

  test("lasts 5 s, not more, after several 429s of concurrent calls", () => {
    let budget = UNKNOWN_BUDGET;
    for (let i = 0; i < 5; i++) budget = pauseBudget(budget, NO_HINT, NOW + i);
    expect(waitOf(budget, NOW + 4)).toBe(4_996);
    expect(waitOf(pauseBudget(budget, NO_HINT, NOW + 5_000), NOW + 5_000)).toBe(10_000);
  });

  test.each([1_500, 3_600_000])("lasts as long as it is when the clock is set back by %d ms", (backMs) => {
    const paused = pauseBudget(UNKNOWN_BUDGET, { ...NO_HINT, retryAfterMs: 9_000 }, NOW);
    const now = NOW - backMs;
    const followed = followClock(paused, now);
    expect(waitOf(followed, now)).toBe(9_000);
    expect(waitOf(followClock(followed, now + 8_000), now + 8_000)).toBe(1_000);
    expect(waitOf(followed, now + 9_000)).toBe(0);
  });

  test("is 5 s again after an answer that was not a 429", () => {
    const twice = pauseBudget(pauseBudget(UNKNOWN_BUDGET, NO_HINT, NOW), NO_HINT, NOW + 5_000);
    const answered = updateBudget(twice, NO_HINT, NOW + 15_000, 0);
    expect(waitOf(pauseBudget(answered, NO_HINT, NOW + 20_000), NOW + 20_000)).toBe(5_000);
  });

  test("holds for every server, also when the window has calls left", () => {
    const full = updateBudget(UNKNOWN_BUDGET, { ...NO_HINT, limit: 35, remaining: 34, resetAt: NOW + 60_000 }, NOW, 0);
    const budget = pauseBudget(full, { ...NO_HINT, retryAfterMs: 9_000 }, NOW);
    for (const servers of [1, 50])
      expect(msUntilCall(budget, NOW + 1, { ...IDLE, serversWaitingLonger: servers })).toBe(8_999);
  });

  test("is not ended by the answer to a call that was in flight", () => {
    const paused = pauseBudget(UNKNOWN_BUDGET, { ...NO_HINT, retryAfterMs: 9_000 }, NOW);
    const hint = { ...NO_HINT, limit: 35, remaining: 20, resetAt: NOW + 30_000 };
    expect(waitOf(updateBudget(paused, hint, NOW + 10, 0), NOW + 10)).toBe(8_990);
  });

  test.each<[string, Partial<LimitHint>]>([
    ["a shorter time", { retryAfterMs: 1_000 }],
    ["no time at all", {}],
  ])("is not shortened by the 429 of a concurrent call that names %s", (_, second) => {
    const paused = pauseBudget(UNKNOWN_BUDGET, { ...NO_HINT, retryAfterMs: 30_000 }, NOW);
    const again = pauseBudget(paused, { ...NO_HINT, ...second }, NOW + 10);
    expect(waitOf(again, NOW + 10)).toBeGreaterThanOrEqual(29_990);
  });
});

describe("a window whose calls are used up", () => {
  test("delays every call until its reset, and not longer", () => {
    const hint = { ...NO_HINT, limit: 35, remaining: 0, resetAt: NOW + 20_000 };
    const budget = updateBudget(UNKNOWN_BUDGET, hint, NOW, 0);
    expect(waitOf(budget, NOW + 1)).toBe(19_999);
    expect(waitOf(budget, NOW + 20_000)).toBe(0);
  });

  test("a reset time in the far future stops the calls for an hour at most", () => {
    const hint = { ...NO_HINT, limit: 35, remaining: 0, resetAt: NOW + 1_000 * 86_400_000 };
    const budget = updateBudget(UNKNOWN_BUDGET, hint, NOW, 0);
    expect(waitOf(budget, NOW)).toBeLessThanOrEqual(3_600_000);
  });

  test("a limit of 0 is no limit: it would end all calls for good", () => {
    const hint = { ...NO_HINT, limit: 0, remaining: 0, resetAt: NOW + 5_000 };
    for (const before of [UNKNOWN_BUDGET, updateBudget(UNKNOWN_BUDGET, { ...hint, limit: 35, remaining: 9 }, NOW, 0)])
      expect(waitOf(updateBudget(before, hint, NOW, 0), NOW + 5_001)).toBe(0);
  });

  test("lasts as long as a window when the clock is set back to before it began", () => {
    const hint = { ...NO_HINT, limit: 35, remaining: 0, resetAt: NOW + 20_000 };
    const now = NOW - 1_800_000;
    const budget = followClock(updateBudget(UNKNOWN_BUDGET, hint, NOW, 0), now);
    expect(waitOf(budget, now)).toBe(60_000);
    expect(waitOf(budget, now + 60_000)).toBe(0);
  });

  test("a window that is first seen near its end is not treated as a short window", () => {
    const hint = { ...NO_HINT, limit: 35, remaining: 30, resetAt: NOW + 2_000 };
    let budget = updateBudget(UNKNOWN_BUDGET, hint, NOW, 0);
    let calls = 0;
    for (let now = NOW + 2_000; now < NOW + 61_000; now += 100) {
      if (msUntilCall(budget, now, { ...IDLE, isFirstCall: true }) > 0) continue;
      budget = spendCall(budget, now);
      calls++;
    }
    expect(calls).toBeLessThanOrEqual(35);
  });

  test("calls in flight are subtracted from the remaining calls", () => {
    const hint = { ...NO_HINT, limit: 35, remaining: 3, resetAt: NOW + 20_000 };
    const budget = updateBudget(UNKNOWN_BUDGET, hint, NOW, 3);
    expect(waitOf(budget, NOW)).toBe(20_000);
  });
});

/** A game API with a fixed window, which begins with the first call or is aligned to the clock. */
class FixedWindow {
  #count = 0;
  #resetAt = 0;
  constructor(
    readonly limit: number,
    readonly windowMs: number,
    readonly isClockAligned: boolean,
  ) {}

  take(now: number): { isRefused: boolean; hint: LimitHint } {
    if (now >= this.#resetAt) {
      this.#count = 0;
      this.#resetAt = this.isClockAligned ? now - (now % this.windowMs) + this.windowMs : now + this.windowMs;
    }
    const isRefused = this.#count >= this.limit;
    if (!isRefused) this.#count++;
    // The header has whole seconds, rounded up.
    const resetAt = Math.ceil(this.#resetAt / 1000) * 1000;
    return {
      isRefused,
      hint: { limit: this.limit, remaining: this.limit - this.#count, resetAt, retryAfterMs: null },
    };
  }
}

type TestServer = {
  lastCallAt: number;
  nextRequestAt: number;
  freshUntil: number;
  longestGapMs: number;
  calls: number;
};
type Setting = {
  servers: number;
  limit: number;
  windowMs: number;
  isClockAligned: boolean;
  latencyMs: number;
  /** The percentage of answers that are 429s although the window has calls left. */
  unexpectedPercent: number;
  seed: number;
};

/** Neither fresh nor in flight. */
function isDue(server: TestServer, now: number): boolean {
  return now >= server.freshUntil && server.nextRequestAt !== Number.POSITIVE_INFINITY;
}

function countWaitingLonger(servers: readonly TestServer[], than: TestServer, now: number): number {
  let count = 0;
  for (const other of servers) if (other.lastCallAt < than.lastCallAt && isDue(other, now)) count++;
  return count;
}

/** Requests every server again and again, as the relay does, and counts what the game API received. */
function simulate(
  { servers, limit, windowMs, isClockAligned, latencyMs, unexpectedPercent, seed }: Setting,
  minutes: number,
) {
  const random = randomFrom(seed);
  const api = new FixedWindow(limit, windowMs, isClockAligned);
  const end = NOW + minutes * 60_000;
  const tested: TestServer[] = Array.from({ length: servers }, () => {
    return {
      lastCallAt: 0,
      nextRequestAt: NOW + 1_000 + random(1_000),
      freshUntil: 0,
      longestGapMs: 0,
      calls: 0,
    };
  });
  // Begin with one answer, so that the limit is known.
  let budget = updateBudget(spendCall(UNKNOWN_BUDGET, NOW), api.take(NOW).hint, NOW, 0);
  const inFlight: { arrivesAt: number; answer: (at: number) => void }[] = [];
  let pausedUntil = 0;
  const seen = { refused: 0, duringPause: 0, pauses: 0, calls: 0 };

  for (let now = NOW + 1; now < end; ) {
    while (inFlight[0] && inFlight[0].arrivesAt <= now) inFlight.shift()?.answer(now);
    for (const server of tested) {
      if (server.nextRequestAt > now) continue;
      const waitMs =
        now < server.freshUntil
          ? server.freshUntil - now
          : msUntilCall(budget, now, {
              isFirstCall: server.lastCallAt === 0,
              serversWaitingLonger: countWaitingLonger(tested, server, now),
              callsInFlight: inFlight.length,
            });
      // A request with a long wait is refused and repeated later.
      server.nextRequestAt = now + (waitMs > 2_000 ? 200 + random(800) : Math.ceil(waitMs));
      if (waitMs > 0) continue;
      if (now < pausedUntil) seen.duringPause++;
      seen.calls++;
      server.longestGapMs = Math.max(server.longestGapMs, now - (server.lastCallAt || NOW));
      server.calls++;
      server.lastCallAt = now;
      server.nextRequestAt = Number.POSITIVE_INFINITY;
      budget = spendCall(budget, now);
      const { isRefused, hint } = api.take(now + Math.floor(latencyMs / 2));
      if (isRefused) seen.refused++;
      const isUnexpected = random(100) < unexpectedPercent;
      const answer = (at: number) => {
        server.nextRequestAt = at + random(500);
        if (isRefused || isUnexpected) {
          const pauseMs = 500 + random(20_000);
          seen.pauses++;
          pausedUntil = Math.max(pausedUntil, at + pauseMs);
          budget = pauseBudget(budget, { ...hint, retryAfterMs: pauseMs }, at);
        } else {
          server.freshUntil = at + 2_000;
          budget = updateBudget(budget, hint, at, inFlight.length);
        }
      };
      inFlight.push({ arrivesAt: now + latencyMs, answer });
    }
    let next = Number.POSITIVE_INFINITY;
    for (const { nextRequestAt } of tested) next = Math.min(next, nextRequestAt);
    for (const { arrivesAt } of inFlight) next = Math.min(next, arrivesAt);
    now = Math.max(next, now + (latencyMs === 0 ? 0 : 1));
  }
  for (const server of tested) server.longestGapMs = Math.max(server.longestGapMs, end - (server.lastCallAt || NOW));
  return { ...seen, longestGapMs: Math.max(...tested.map((server) => server.longestGapMs)) };
}

function randomFrom(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state % Math.max(1, below);
  };
}

const setting: fc.Arbitrary<Setting> = fc.record({
  servers: fc.integer({ min: 1, max: 50 }),
  limit: fc.integer({ min: 1, max: 60 }),
  windowMs: fc.constantFrom(20_000, 60_000, 90_000),
  isClockAligned: fc.boolean(),
  latencyMs: fc.constantFrom(0, 1, 50, 200, 500, 1_000),
  unexpectedPercent: fc.constant(0),
  seed: fc.nat(),
});

describe("against a game API with a fixed window of calls", () => {
  test("no call is refused", () => {
    let calls = 0;
    fc.assert(
      fc.property(setting, (given) => {
        const seen = simulate(given, 5);
        calls += seen.calls;
        expect(seen.refused).toBe(0);
      }),
      { numRuns: 60, seed: 11 },
    );
    expect(calls).toBeGreaterThan(5_000);
  });

  test("after unexpected 429s no call is made before the longest pause is over", () => {
    let pauses = 0;
    fc.assert(
      fc.property(setting, (given) => {
        const seen = simulate({ ...given, unexpectedPercent: 4 }, 5);
        pauses += seen.pauses;
        expect(seen.duringPause).toBe(0);
      }),
      { numRuns: 40, seed: 12 },
    );
    expect(pauses).toBeGreaterThan(100);
  });

  test("none of 50 servers that are requested all the time starves", () => {
    fc.assert(
      fc.property(setting, fc.constantFrom(10, 20, 35, 50, 120), (given, limit) => {
        const { longestGapMs } = simulate({ ...given, servers: 50, limit }, 15);
        // A fair share is a call every servers/limit windows; two more windows allow for the order of requests.
        expect(longestGapMs / given.windowMs).toBeLessThan(Math.max(1, 50 / limit) + 2);
      }),
      { numRuns: 12, seed: 13 },
    );
  });
});
