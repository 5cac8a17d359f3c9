// The shared read budget: what a refusal's pause is taken from, and that a game API with a fixed window of calls never
// has to refuse one of ours, while every server that is asked about gets its turn.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Budget, learnBudget, msUntilCall, pauseBudget, spendCall, UNKNOWN_BUDGET } from "./budget.ts";
import type { LimitHint } from "./ports/upstream.ts";

const NOW = 1_800_000_000_000;
const SILENT: LimitHint = { limit: null, remaining: null, resetAt: null, retryAfterMs: null };

const quiet = { isFirstCall: false, serversAhead: 0, callsUnderWay: 0 };
const waitOf = (budget: Budget, now: number) => msUntilCall(budget, now, quiet);

describe("before the game API has answered", () => {
  const oneUnderWay = { isFirstCall: true, serversAhead: 0, callsUnderWay: 1 };

  test("one call probes; another follows only when that one is slow to be answered", () => {
    const probing = spendCall(UNKNOWN_BUDGET, NOW);
    expect(waitOf(UNKNOWN_BUDGET, NOW)).toBe(0);
    expect(msUntilCall(probing, NOW + 1, oneUnderWay)).toBeGreaterThan(0);
    expect(msUntilCall(probing, NOW + 500, oneUnderWay)).toBe(0);
  });
  test("while no answer comes, one more follows every half second, however many are under way", () => {
    const fifth = spendCall(UNKNOWN_BUDGET, NOW);
    expect(msUntilCall(fifth, NOW + 499, { ...oneUnderWay, callsUnderWay: 5 })).toBeGreaterThan(0);
    expect(msUntilCall(fifth, NOW + 500, { ...oneUnderWay, callsUnderWay: 5 })).toBe(0);
  });
  test("an answer without headers means that nothing is held back", () => {
    const budget = learnBudget(spendCall(UNKNOWN_BUDGET, NOW), SILENT, NOW, 0);
    expect(msUntilCall(budget, NOW, { isFirstCall: false, serversAhead: 500, callsUnderWay: 90 })).toBe(0);
  });
});

describe("a pause after a 429", () => {
  test.each<[string, Partial<LimitHint>, number]>([
    ["Retry-After (or the body's retry_after)", { retryAfterMs: 7_000 }, 7_000],
    ["Retry-After before X-RateLimit-Reset", { retryAfterMs: 7_000, resetAt: NOW + 30_000 }, 7_000],
    [
      "Retry-After before an earlier X-RateLimit-Reset",
      { retryAfterMs: 40_000, resetAt: NOW + 1_000 },
      40_000,
    ],
    ["X-RateLimit-Reset when nothing else is said", { resetAt: NOW + 12_345 }, 12_345],
    ["5 s when nothing is said at all", {}, 5_000],
    ["5 s when the named time is over already", { resetAt: NOW - 1_000 }, 5_000],
    ["a named time longer than 60 s", { retryAfterMs: 3_600_000 }, 3_600_000],
  ])("lasts as told by %s", (_, hint, ms) => {
    const budget = pauseBudget(UNKNOWN_BUDGET, { ...SILENT, ...hint }, NOW);
    expect(waitOf(budget, NOW)).toBe(ms);
    expect(waitOf(budget, NOW + ms - 1)).toBe(1);
    expect(waitOf(budget, NOW + ms)).toBe(0);
  });

  test("without a named time doubles from 5 s to 60 s while refusals follow each other", () => {
    let budget = UNKNOWN_BUDGET;
    let now = NOW;
    const waits: number[] = [];
    for (let i = 0; i < 7; i++) {
      budget = pauseBudget(budget, SILENT, now);
      waits.push(waitOf(budget, now));
      now += waits.at(-1) ?? 0;
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });

  test("refusals that were under way together count as one: 5 s, not more", () => {
    let budget = UNKNOWN_BUDGET;
    for (let i = 0; i < 5; i++) budget = pauseBudget(budget, SILENT, NOW + i);
    expect(waitOf(budget, NOW + 4)).toBe(4_996);
    expect(waitOf(pauseBudget(budget, SILENT, NOW + 5_000), NOW + 5_000)).toBe(10_000);
  });

  test("is over when the clock is set back beyond it", () => {
    const paused = pauseBudget(UNKNOWN_BUDGET, { ...SILENT, retryAfterMs: 9_000 }, NOW);
    expect(waitOf(paused, NOW - 500)).toBe(9_500);
    expect(waitOf(paused, NOW - 3_600_000)).toBe(0);
  });

  test("starts again at 5 s after an answer that was no refusal", () => {
    const twice = pauseBudget(pauseBudget(UNKNOWN_BUDGET, SILENT, NOW), SILENT, NOW + 5_000);
    const calm = learnBudget(twice, SILENT, NOW + 15_000, 0);
    expect(waitOf(pauseBudget(calm, SILENT, NOW + 20_000), NOW + 20_000)).toBe(5_000);
  });

  test("holds every server back, also one that was never asked about and one in a half-full window", () => {
    const full = learnBudget(
      UNKNOWN_BUDGET,
      { ...SILENT, limit: 35, remaining: 34, resetAt: NOW + 60_000 },
      NOW,
      0,
    );
    const budget = pauseBudget(full, { ...SILENT, retryAfterMs: 9_000 }, NOW);
    for (const servers of [1, 50])
      expect(msUntilCall(budget, NOW + 1, { ...quiet, serversAhead: servers })).toBe(8_999);
  });

  test("is not ended by an answer to a call that was under way", () => {
    const paused = pauseBudget(UNKNOWN_BUDGET, { ...SILENT, retryAfterMs: 9_000 }, NOW);
    const hint = { ...SILENT, limit: 35, remaining: 20, resetAt: NOW + 30_000 };
    expect(waitOf(learnBudget(paused, hint, NOW + 10, 0), NOW + 10)).toBe(8_990);
  });

  test.each<[string, Partial<LimitHint>]>([
    ["a shorter time", { retryAfterMs: 1_000 }],
    ["no time at all", {}],
  ])("is not shortened by a second refusal that was under way and names %s", (_, second) => {
    const paused = pauseBudget(UNKNOWN_BUDGET, { ...SILENT, retryAfterMs: 30_000 }, NOW);
    const again = pauseBudget(paused, { ...SILENT, ...second }, NOW + 10);
    expect(waitOf(again, NOW + 10)).toBeGreaterThanOrEqual(29_990);
  });
});

describe("a window whose calls are used up", () => {
  test("holds every call until its reset, and not longer", () => {
    const hint = { ...SILENT, limit: 35, remaining: 0, resetAt: NOW + 20_000 };
    const budget = learnBudget(UNKNOWN_BUDGET, hint, NOW, 0);
    expect(waitOf(budget, NOW + 1)).toBe(19_999);
    expect(waitOf(budget, NOW + 20_000)).toBe(0);
  });

  test("a reset that lies absurdly far ahead does not stop the calls for good", () => {
    const hint = { ...SILENT, limit: 35, remaining: 0, resetAt: NOW + 1_000 * 86_400_000 };
    const budget = learnBudget(UNKNOWN_BUDGET, hint, NOW, 0);
    expect(waitOf(budget, NOW)).toBeLessThanOrEqual(3_600_000);
  });

  test("is over when the clock is set back beyond it", () => {
    const hint = { ...SILENT, limit: 35, remaining: 0, resetAt: NOW + 20_000 };
    const budget = learnBudget(UNKNOWN_BUDGET, hint, NOW, 0);
    expect(waitOf(budget, NOW - 1_800_000)).toBe(0);
  });

  test("a window learned near its end is not taken for a short one", () => {
    const hint = { ...SILENT, limit: 35, remaining: 30, resetAt: NOW + 2_000 };
    let budget = learnBudget(UNKNOWN_BUDGET, hint, NOW, 0);
    let calls = 0;
    for (let now = NOW + 2_000; now < NOW + 61_000; now += 100) {
      if (msUntilCall(budget, now, { ...quiet, isFirstCall: true }) > 0) continue;
      budget = spendCall(budget, now);
      calls++;
    }
    expect(calls).toBeLessThanOrEqual(35);
  });

  test("calls under way are not given out twice", () => {
    const hint = { ...SILENT, limit: 35, remaining: 3, resetAt: NOW + 20_000 };
    const budget = learnBudget(UNKNOWN_BUDGET, hint, NOW, 3);
    expect(waitOf(budget, NOW)).toBe(20_000);
  });
});

/** The game API: so many calls in a window, which begins with its first call or with the clock's own. */
class FixedWindow {
  #count = 0;
  #resetAt = 0;
  constructor(
    readonly limit: number,
    readonly windowMs: number,
    readonly isOnTheClock: boolean,
  ) {}

  take(now: number): { isRefused: boolean; hint: LimitHint } {
    if (now >= this.#resetAt) {
      this.#count = 0;
      this.#resetAt = this.isOnTheClock ? now - (now % this.windowMs) + this.windowMs : now + this.windowMs;
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

type Town = {
  lastCallAt: number;
  nextAskAt: number;
  freshUntil: number;
  longestGapMs: number;
  calls: number;
};
type Setting = {
  servers: number;
  limit: number;
  windowMs: number;
  isOnTheClock: boolean;
  latencyMs: number;
  /** Of a hundred answers so many are refusals that the budget could not foresee. */
  surprises: number;
  seed: number;
};

/** Neither fresh nor under way: a call could be made for it. */
function isDue(town: Town, now: number): boolean {
  return now >= town.freshUntil && town.nextAskAt !== Number.POSITIVE_INFINITY;
}

/** Asks for every server again and again, the way the relay does, and tells what the game API saw. */
function drive(
  { servers, limit, windowMs, isOnTheClock, latencyMs, surprises, seed }: Setting,
  minutes: number,
) {
  const random = randomFrom(seed);
  const api = new FixedWindow(limit, windowMs, isOnTheClock);
  const end = NOW + minutes * 60_000;
  const towns: Town[] = Array.from({ length: servers }, () => {
    return {
      lastCallAt: 0,
      nextAskAt: NOW + 1_000 + random(1_000),
      freshUntil: 0,
      longestGapMs: 0,
      calls: 0,
    };
  });
  // One call at first, so that the limit is known: a cold start is another test's matter.
  let budget = learnBudget(spendCall(UNKNOWN_BUDGET, NOW), api.take(NOW).hint, NOW, 0);
  const underWay: { arrivesAt: number; answer: (at: number) => void }[] = [];
  let namedPauseUntil = 0;
  const seen = { refused: 0, duringPause: 0, pauses: 0, calls: 0 };

  for (let now = NOW + 1; now < end; ) {
    while (underWay[0] && underWay[0].arrivesAt <= now) underWay.shift()?.answer(now);
    for (const town of towns) {
      if (town.nextAskAt > now) continue;
      const waitMs =
        now < town.freshUntil
          ? town.freshUntil - now
          : msUntilCall(budget, now, {
              isFirstCall: town.lastCallAt === 0,
              serversAhead: towns.filter((other) => other.lastCallAt < town.lastCallAt && isDue(other, now))
                .length,
              callsUnderWay: underWay.length,
            });
      // Callers that would wait for long are sent away and come again; the others wait.
      town.nextAskAt = now + (waitMs > 2_000 ? 200 + random(800) : Math.ceil(waitMs));
      if (waitMs > 0) continue;
      if (now < namedPauseUntil) seen.duringPause++;
      seen.calls++;
      town.longestGapMs = Math.max(town.longestGapMs, now - (town.lastCallAt || NOW));
      town.calls++;
      town.lastCallAt = now;
      town.nextAskAt = Number.POSITIVE_INFINITY;
      budget = spendCall(budget, now);
      const { isRefused, hint } = api.take(now + Math.floor(latencyMs / 2));
      if (isRefused) seen.refused++;
      const isSurprise = random(100) < surprises;
      const answer = (at: number) => {
        town.nextAskAt = at + random(500);
        if (isRefused || isSurprise) {
          const pauseMs = 500 + random(20_000);
          seen.pauses++;
          namedPauseUntil = Math.max(namedPauseUntil, at + pauseMs);
          budget = pauseBudget(budget, { ...hint, retryAfterMs: pauseMs }, at);
        } else {
          town.freshUntil = at + 2_000;
          budget = learnBudget(budget, hint, at, underWay.length);
        }
      };
      underWay.push({ arrivesAt: now + latencyMs, answer });
    }
    const asks = towns.map((town) => town.nextAskAt);
    const next = Math.min(...asks, ...underWay.map((call) => call.arrivesAt));
    now = Math.max(next, now + (latencyMs === 0 ? 0 : 1));
  }
  for (const town of towns) town.longestGapMs = Math.max(town.longestGapMs, end - (town.lastCallAt || NOW));
  return { ...seen, longestGapMs: Math.max(...towns.map((town) => town.longestGapMs)) };
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
  isOnTheClock: fc.boolean(),
  latencyMs: fc.constantFrom(0, 1, 50, 200, 500, 1_000),
  surprises: fc.constant(0),
  seed: fc.nat(),
});

describe("against a game API with a fixed window of calls", () => {
  test("no call is ever sent that it refuses", () => {
    let calls = 0;
    fc.assert(
      fc.property(setting, (given) => {
        const seen = drive(given, 5);
        calls += seen.calls;
        expect(seen.refused).toBe(0);
      }),
      { numRuns: 60, seed: 11 },
    );
    expect(calls).toBeGreaterThan(5_000);
  }, 30_000);

  test("after refusals nobody could foresee, no call is sent before the longest named pause is over", () => {
    let pauses = 0;
    fc.assert(
      fc.property(setting, (given) => {
        const seen = drive({ ...given, surprises: 4 }, 5);
        pauses += seen.pauses;
        expect(seen.duringPause).toBe(0);
      }),
      { numRuns: 40, seed: 12 },
    );
    expect(pauses).toBeGreaterThan(100);
  }, 30_000);

  test("none of 50 servers that are asked about all the time starves", () => {
    fc.assert(
      fc.property(setting, fc.constantFrom(10, 20, 35, 50, 120), (given, limit) => {
        const { longestGapMs } = drive({ ...given, servers: 50, limit }, 15);
        // A fair share would be a call every servers/limit windows; two more are for the order of the asking.
        expect(longestGapMs / given.windowMs).toBeLessThan(Math.max(1, 50 / limit) + 2);
      }),
      { numRuns: 12, seed: 13 },
    );
  }, 30_000);
});
