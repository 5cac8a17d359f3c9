// Watching: intervals stretch evenly, no server starves, and callers keep at least a third of every window.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Budget, followClock, msUntilCall, pauseBudget, spendCall, UNKNOWN_BUDGET } from "./budget.ts";
import { findDueAt, listDue, msUntilWatch, OFFLINE_INTERVAL_MS, planInterval, spendWatchCall } from "./watch-plan.ts";

const NOW = 1_800_000_000_000;
const WINDOW_MS = 60_000;
const ALONE = { areCallersWaiting: false, serversWaitingLonger: 0, callsInFlight: 0 };

function budgetOf(limit: number | null, remaining = limit ?? 0): Budget {
  return { ...UNKNOWN_BUDGET, hasAnswer: true, limit, remaining, resetAt: NOW + WINDOW_MS };
}

const online = (count: number) => ({ online: count, offline: 0 });

describe("the interval in force", () => {
  test.each([
    ["no limit: the configured one", null, 1_000, 5_000],
    ["no servers", 30, 0, 5_000],
    ["a budget that carries it", 30, 1, 5_000],
    ["just enough: 60 of 90 calls, 12 for each of 5 servers", 90, 5, 5_000],
    ["one server more: all are read less often", 90, 6, 6_000],
    ["twice as many servers: twice as long", 90, 12, 12_000],
    ["many servers, few calls", 3, 100, 3_000_000],
  ])("%s", (_, limit, servers, intervalMs) => {
    expect(planInterval(5_000, online(servers), budgetOf(limit))).toBe(intervalMs);
  });

  test("there is none when two thirds of the limit are no call", () => {
    expect(planInterval(5_000, online(1), budgetOf(1))).toBeUndefined();
    expect(planInterval(5_000, online(1), budgetOf(0))).toBeUndefined();
  });

  test("servers that are offline need few calls, and never stretch it beyond what all servers need", () => {
    expect(planInterval(5_000, { online: 4, offline: 0 }, budgetOf(60))).toBe(6_000);
    // 6 offline servers need 12 of 40 calls, so 28 are left for 4 servers.
    expect(planInterval(5_000, { online: 4, offline: 6 }, budgetOf(60))).toBe(Math.ceil(240_000 / 28));
    expect(planInterval(5_000, { online: 4, offline: 36 }, budgetOf(60))).toBe(60_000);
  });

  test("the calls of all servers together never need more than two thirds of a window", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 5_000 }),
        fc.integer({ min: 0, max: 1_000 }),
        fc.integer({ min: 0, max: 1_000 }),
        fc.integer({ min: 1, max: 60_000 }),
        (limit, up, down, configuredMs) => {
          const intervalMs = planInterval(configuredMs, { online: up, offline: down }, budgetOf(limit));
          if (intervalMs === undefined) throw new Error("there is no interval");
          const downMs = Math.max(intervalMs, OFFLINE_INTERVAL_MS);
          const calls = (up * WINDOW_MS) / intervalMs + (down * WINDOW_MS) / downMs;
          expect(intervalMs).toBeGreaterThanOrEqual(configuredMs);
          expect(calls).toBeLessThanOrEqual((limit * 2) / 3 + 1e-6);
        },
      ),
    );
  });
});

describe("which server is due", () => {
  const at = (lastCallAt: number, isOffline = false) => ({ lastCallAt, firstDueAt: NOW, isOffline });

  test("one interval after its last call, 30 s when it is offline, at its first turn when it was never called", () => {
    expect(findDueAt(at(NOW - 1_000), 5_000, NOW)).toBe(NOW + 4_000);
    expect(findDueAt(at(NOW - 1_000, true), 5_000, NOW)).toBe(NOW + 29_000);
    expect(findDueAt(at(NOW - 1_000, true), 45_000, NOW)).toBe(NOW + 44_000);
    expect(findDueAt({ ...at(0), firstDueAt: NOW + 700 }, 5_000, NOW)).toBe(NOW + 700);
  });

  test("now, when the clock was set back since", () => {
    expect(findDueAt(at(NOW + 3_600_000), 5_000, NOW)).toBe(NOW);
    expect(findDueAt({ ...at(0), firstDueAt: NOW + 3_600_000 }, 5_000, NOW)).toBe(NOW);
  });

  test("the one that has waited longest comes first", () => {
    const servers = [at(NOW - 5_000), at(NOW - 9_000), at(NOW - 4_999), at(NOW - 31_000, true)];
    const [one, two, , four] = servers;
    expect(listDue(servers, 5_000, NOW)).toEqual([two, four, one] as typeof servers);
  });
});

describe("when the watcher may call", () => {
  test("at once without a limit, and not during a pause", () => {
    expect(msUntilWatch(budgetOf(null), NOW, ALONE)).toBe(0);
    const hint = { limit: null, remaining: null, resetAt: null, retryAfterMs: 7_000 };
    expect(msUntilWatch(pauseBudget(budgetOf(null), hint, NOW), NOW, ALONE)).toBe(7_000);
  });

  test("before the first answer, one call at a time", () => {
    const asked = spendWatchCall(UNKNOWN_BUDGET, NOW);
    expect(msUntilWatch(UNKNOWN_BUDGET, NOW, ALONE)).toBe(0);
    expect(msUntilWatch(asked, NOW + 1, { ...ALONE, callsInFlight: 1 })).toBeGreaterThan(0);
  });

  test("evenly spaced, also when the last call was made by another instance", () => {
    const spent = spendWatchCall(budgetOf(30), NOW);
    expect(msUntilWatch(spent, NOW, ALONE)).toBe(3_000);
    expect(msUntilWatch(spent, NOW + 2_999, ALONE)).toBe(1);
    expect(msUntilWatch(spent, NOW + 3_000, ALONE)).toBe(0);
    const setBack = NOW - 3_600_000;
    expect(msUntilWatch(followClock(spent, setBack), setBack, ALONE)).toBe(0);
  });

  test("not while a caller waits, unless the server has waited longer than the callers' servers", () => {
    const waiting = { ...ALONE, areCallersWaiting: true };
    expect(msUntilWatch(budgetOf(30), NOW, waiting)).toBe(0);
    expect(msUntilWatch(budgetOf(30), NOW, { ...waiting, serversWaitingLonger: 1 })).toBeGreaterThan(0);
    expect(msUntilWatch(budgetOf(30), NOW, { ...ALONE, serversWaitingLonger: 1 })).toBe(0);
  });

  test("never with the third that is kept for callers, which shrinks as the window passes", () => {
    expect(msUntilWatch(budgetOf(30, 11), NOW, ALONE)).toBe(0);
    expect(msUntilWatch(budgetOf(30, 10), NOW, ALONE)).toBe(6_000);
    expect(msUntilWatch(budgetOf(30, 1), NOW, ALONE)).toBe(60_000);
    expect(msUntilWatch(budgetOf(30, 1), NOW + 60_000, ALONE)).toBe(0);
  });

  test("it does not delay the next call of a caller", () => {
    const budget = { ...budgetOf(30, 15), lastCallAt: NOW - 10_000 };
    const caller = { isFirstCall: false, serversWaitingLonger: 0, callsInFlight: 0 };
    expect(msUntilCall(spendWatchCall(budget, NOW), NOW, caller)).toBe(0);
    expect(msUntilCall(spendCall(budget, NOW), NOW, caller)).toBeGreaterThan(0);
  });
});

/** A minute-by-minute world: servers that are watched, and callers that read whenever they may. */
function simulate(limit: number, servers: number, callerEveryMs: number, durationMs: number) {
  let budget: Budget = budgetOf(limit);
  const calledAt = new Array<number>(servers).fill(0);
  const watchCalls: { at: number; server: number }[] = [];
  const stepMs = 50;
  for (let now = NOW; now < NOW + durationMs; now += stepMs) {
    if (callerEveryMs > 0 && (now - NOW) % callerEveryMs === 0) {
      const caller = { isFirstCall: false, serversWaitingLonger: 0, callsInFlight: 0 };
      if (msUntilCall(budget, now, caller) === 0) budget = spendCall(budget, now);
    }
    const intervalMs = planInterval(1_000, online(servers), budget) ?? 0;
    const candidates = calledAt.map((lastCallAt, server) => {
      return { server, lastCallAt, firstDueAt: NOW, isOffline: false };
    });
    for (const { server } of listDue(candidates, intervalMs, now)) {
      if (msUntilWatch(budget, now, ALONE) > 0) break;
      budget = spendWatchCall(budget, now);
      calledAt[server] = now;
      watchCalls.push({ at: now, server });
    }
  }
  return { watchCalls, budget };
}

describe("over many windows", () => {
  const worlds = [
    fc.integer({ min: 2, max: 120 }),
    fc.integer({ min: 1, max: 40 }),
    fc.constantFrom(0, 50, 500, 4_000),
  ] as const;

  test("no stretch of time as long as a window has more than two thirds of its calls", () => {
    fc.assert(
      fc.property(...worlds, (limit, servers, callerEveryMs) => {
        const { watchCalls } = simulate(limit, servers, callerEveryMs, 3 * WINDOW_MS);
        for (const [place, { at }] of watchCalls.entries()) {
          const within = watchCalls.slice(place).filter((call) => call.at < at + WINDOW_MS);
          expect(within.length).toBeLessThanOrEqual((limit * 2) / 3);
        }
      }),
      { numRuns: 40 },
    );
  });

  test("no server starves: each gets as many calls as any other, give or take one", () => {
    fc.assert(
      fc.property(...worlds, (limit, servers, callerEveryMs) => {
        const { watchCalls } = simulate(limit, servers, callerEveryMs, 5 * WINDOW_MS);
        const counts = new Array<number>(servers).fill(0);
        for (const { server } of watchCalls) counts[server] = (counts[server] ?? 0) + 1;
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        // A smaller limit may be used up by callers.
        if (limit >= 6) expect(watchCalls.length).toBeGreaterThan(0);
      }),
      { numRuns: 40 },
    );
  });

  test("callers that read all the time get at least a third of each window", () => {
    fc.assert(
      fc.property(fc.integer({ min: 6, max: 120 }), fc.integer({ min: 1, max: 40 }), (limit, servers) => {
        const { watchCalls, budget } = simulate(limit, servers, 50, WINDOW_MS);
        const callerCalls = limit - budget.remaining - watchCalls.length;
        expect(callerCalls).toBeGreaterThanOrEqual(Math.floor(limit / 3));
      }),
      { numRuns: 40 },
    );
  });
});
