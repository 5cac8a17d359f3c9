// The budget of an instance: a single instance saves its pauses for the next start, several instances share them.
import { describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../core/errors.ts";
import type { RelayShare } from "../../core/ports/relay-share.ts";
import type { LimitHint } from "../../core/ports/upstream.ts";
import {
  type Budget,
  currentWindow,
  isPaused,
  pauseBudget,
  spendCall,
  UNKNOWN_BUDGET,
  updateBudget,
} from "../../core/readings/budget.ts";
import type { SavedNotes, SavedPause } from "../../core/readings/upstream-notes.ts";
import { BudgetKeeper } from "./budget-keeper.ts";

const START = 1_800_000_000_000;
const SILENT: LimitHint = { limit: null, remaining: null, resetAt: null, retryAfterMs: null };

/** Only the part of the share that is about the budget. */
function startShare() {
  let shared: Budget = UNKNOWN_BUDGET;
  const changeBudget: RelayShare["changeBudget"] = async (change) => {
    shared = change(shared) ?? shared;
    return shared;
  };
  return { changeBudget } as RelayShare;
}

describe("instances that share a budget", () => {
  test.each([1, 2])(
    "429s without a named time double the pause from 5 s to 60 s, with %d instances in turn",
    async (count) => {
      const share = startShare();
      let now = START;
      const keepers = Array.from({ length: count }, () => new BudgetKeeper(share, () => now));
      const pauses: number[] = [];
      for (let refusal = 0; refusal < 6; refusal++) {
        const keeper = keepers[refusal % count];
        keeper?.applyAnswer((budget) => pauseBudget(budget, SILENT, now));
        await keeper?.catchUp();
        pauses.push((keeper?.budget.pausedUntil ?? 0) - now);
        now = keeper?.budget.pausedUntil ?? now;
      }
      expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    },
  );

  test("two 429s at the same moment, one for each instance, count as one", async () => {
    const share = startShare();
    const keepers = [new BudgetKeeper(share, () => START), new BudgetKeeper(share, () => START)];
    for (const keeper of keepers) keeper.applyAnswer((budget) => pauseBudget(budget, SILENT, START));
    for (const keeper of keepers) {
      await keeper.catchUp();
      expect(keeper.budget).toMatchObject({ pausedUntil: START + 5_000, backoffMs: 10_000 });
    }
  });
});

describe("a budget that somebody has put back", () => {
  const hint: LimitHint = { limit: 35, remaining: 3, resetAt: START + 30_000, retryAfterMs: null };

  test.each([
    ["of a better time", { limit: 35, remaining: 35, resetAt: START + 30_000 }],
    ["of a window that is over", { limit: 35, remaining: 0, resetAt: START - 1 }],
    ["with very short windows", { limit: 35, remaining: 0, resetAt: START - 1, windowMs: 1 }],
    ["of a game API with a higher limit", { limit: 1_000_000, remaining: 999_999, resetAt: START + 1 }],
    ["of a game API without a limit", { limit: null }],
  ])("%s allows no more calls than the game API's own headers", async (_, old: Partial<Budget>) => {
    let now = START;
    const changeBudget: RelayShare["changeBudget"] = async (change) => {
      const found = { ...UNKNOWN_BUDGET, hasAnswer: true, ...old };
      return change(found) ?? found;
    };
    const keeper = new BudgetKeeper({ changeBudget } as RelayShare, () => now);
    keeper.applyAnswer((budget) => updateBudget(budget, hint, now, 0));
    const call = async () => {
      let isAllowed = false;
      await keeper.change((budget) => {
        isAllowed = budget.limit !== null && currentWindow(budget, budget.limit, now).remaining > 0;
        return isAllowed ? spendCall(budget, now) : undefined;
      });
      if (isAllowed) keeper.countOwnCall();
      return isAllowed;
    };
    let calls = 0;
    for (; now < START + 30_000; now += 100) if (await call()) calls++;
    expect(calls).toBe(3);
    expect(await call()).toBe(true);
  });
});

test.each([
  ["lost", "never"],
  ["lost", "again and again"],
  ["put back", "never"],
  ["put back", "again and again"],
])("a shared budget that is %s makes four instances call no more than their parts, %s", async (how, when) => {
  let shared: Budget = UNKNOWN_BUDGET;
  const changeBudget: RelayShare["changeBudget"] = async (change) => {
    shared = change(shared) ?? shared;
    return shared;
  };
  const open = () => {
    return new BudgetKeeper(
      { changeBudget } as RelayShare,
      () => START,
      undefined,
      () => 4,
    );
  };
  const keepers = Array.from({ length: 4 }, open);
  let left = 35;
  const call = async (keeper: BudgetKeeper) => {
    let isAllowed = false;
    await keeper.change((budget) => {
      isAllowed = !budget.hasAnswer || (budget.limit !== null && budget.remaining > 0);
      return isAllowed ? spendCall(budget, START) : undefined;
    });
    if (!isAllowed) return false;
    keeper.countOwnCall();
    left--;
    const hint = { limit: 35, remaining: left, resetAt: START + 30_000, retryAfterMs: null };
    keeper.applyAnswer((budget) => updateBudget(budget, hint, START, 0));
    await keeper.catchUp();
    return true;
  };
  for (const keeper of keepers) expect(await call(keeper)).toBe(true);
  const old = shared;
  for (const keeper of keepers) await call(keeper);
  const spoil = () => {
    shared = how === "lost" ? UNKNOWN_BUDGET : old;
  };
  spoil();
  for (let isAny = true; isAny; ) {
    isAny = false;
    for (const keeper of keepers) {
      if (when === "again and again") spoil();
      isAny = (await call(keeper)) || isAny;
    }
  }
  // The game API has refused none.
  expect(left).toBeGreaterThanOrEqual(0);
});

test("a shared budget that is lost with fewer calls left than instances still allows one", async () => {
  let shared: Budget = UNKNOWN_BUDGET;
  const changeBudget: RelayShare["changeBudget"] = async (change) => {
    shared = change(shared) ?? shared;
    return shared;
  };
  const countInstances = () => 4;
  const keeper = new BudgetKeeper({ changeBudget } as RelayShare, () => START, undefined, countInstances);
  const hint = { limit: 35, remaining: 3, resetAt: START + 30_000, retryAfterMs: null };
  keeper.applyAnswer((budget) => updateBudget(budget, hint, START, 0));
  await keeper.catchUp();
  shared = UNKNOWN_BUDGET;
  await keeper.catchUp();
  expect(keeper.budget).toMatchObject({ limit: 35, remaining: 1 });
});

test("that there is no limit is believed from others only after an answer of one's own", async () => {
  const found = { ...UNKNOWN_BUDGET, hasAnswer: true };
  const changeBudget: RelayShare["changeBudget"] = async (change) => change(found) ?? found;
  const keeper = new BudgetKeeper({ changeBudget } as RelayShare, () => START);
  await keeper.catchUp();
  expect(keeper.budget.hasAnswer).toBe(false);
  keeper.applyAnswer((budget) => updateBudget(budget, SILENT, START, 0));
  await keeper.catchUp();
  expect(keeper.budget).toMatchObject({ hasAnswer: true, limit: null });
});

describe("while the instances cannot agree", () => {
  let now = START;
  let isAway = false;

  /** Instances whose shared budget has this many calls left of 35. */
  async function openKeepers(count: number, remaining: number): Promise<BudgetKeeper[]> {
    now = START;
    isAway = false;
    const { changeBudget } = startShare();
    const share = {
      changeBudget: (change: Parameters<typeof changeBudget>[0]) =>
        isAway ? Promise.reject(new StoreUnavailable("away")) : changeBudget(change),
    } as RelayShare;
    const keepers = Array.from(
      { length: count },
      () =>
        new BudgetKeeper(
          share,
          () => now,
          undefined,
          () => count,
        ),
    );
    const hint = { limit: 35, remaining, resetAt: START + 30_000, retryAfterMs: null };
    keepers[0]?.applyAnswer((budget) => updateBudget(budget, hint, now, 0));
    for (const keeper of keepers) await keeper.catchUp();
    isAway = true;
    return keepers;
  }

  /** How many calls an instance makes when it always wants to. */
  async function countCalls(keeper: BudgetKeeper): Promise<number> {
    for (let calls = 0; ; calls++) {
      let isAllowed = false;
      await keeper.change((budget) => {
        isAllowed = budget.limit === null || currentWindow(budget, budget.limit, now).remaining > 0;
        return isAllowed ? spendCall(budget, now) : undefined;
      });
      if (!isAllowed) return calls;
      keeper.countOwnCall();
      // The headers of the answer tell what all of them have left.
      const hint = { limit: 35, remaining: 34 - calls, resetAt: keeper.budget.resetAt, retryAfterMs: null };
      keeper.applyAnswer((budget) => updateBudget(budget, hint, now, 0));
    }
  }

  test.each([
    [4, 35, [8, 8, 8, 8]],
    [4, 21, [5, 5, 5, 5]],
    [4, 3, [1, 1, 1, 1]],
    [4, 0, [0, 0, 0, 0]],
    [1, 21, [21]],
  ])("%d of them with %d calls left make %j, and their part of each later window", async (count, left, calls) => {
    const keepers = await openKeepers(count, left);
    const made: number[] = [];
    for (const keeper of keepers) made.push(await countCalls(keeper));
    expect(made).toEqual(calls);
    for (const at of [START + 30_000, START + 90_000]) {
      now = at;
      for (const keeper of keepers) expect(await countCalls(keeper)).toBe(Math.floor(35 / count));
    }
  });

  test("an instance shows its part, and the whole again when they agree", async () => {
    const [keeper] = await openKeepers(4, 21);
    await keeper?.catchUp();
    expect(keeper?.budget).toMatchObject({ limit: 8, remaining: 5 });
    keeper?.learnNote({ pause: undefined, liftedAt: 0 });
    expect(keeper?.budget).toMatchObject({ limit: 8, remaining: 5 });
    isAway = false;
    await keeper?.catchUp();
    expect(keeper?.budget).toMatchObject({ limit: 35, remaining: 21 });
  });

  test("a pause holds, and is shared when they agree", async () => {
    const [one, two] = await openKeepers(2, 35);
    one?.applyAnswer((budget) => pauseBudget(budget, { ...SILENT, retryAfterMs: 30_000 }, now));
    await one?.catchUp();
    expect([one?.msPaused(now), two?.msPaused(now)]).toEqual([30_000, 0]);
    isAway = false;
    for (const keeper of [one, two]) await keeper?.catchUp();
    expect([one?.msPaused(now), two?.msPaused(now)]).toEqual([30_000, 30_000]);
  });
});

describe("a lifted pause", () => {
  const PAUSE = { ...SILENT, retryAfterMs: 86_400_000 };

  test("is over on every instance, also on one that knew it before", async () => {
    const share = startShare();
    const [one, two] = [new BudgetKeeper(share, () => START), new BudgetKeeper(share, () => START)];
    let lifts = 0;
    two.onLift = () => lifts++;
    one.applyAnswer((budget) => pauseBudget(budget, PAUSE, START));
    await one.catchUp();
    await two.catchUp();
    expect([one.msPaused(START), two.msPaused(START)]).toEqual([86_400_000, 86_400_000]);
    await one.lift(START + 1);
    for (const keeper of [two, one, two]) await keeper.catchUp();
    expect([one.msPaused(START + 1), two.msPaused(START + 1), lifts]).toEqual([0, 0, 1]);
  });

  test("is over even if the clock of the instance that lifts it is behind", async () => {
    const share = startShare();
    const one = new BudgetKeeper(share, () => START);
    const late = new BudgetKeeper(share, () => START - 200);
    one.applyAnswer((budget) => pauseBudget(budget, PAUSE, START));
    await one.catchUp();
    await late.lift(START - 150);
    for (const keeper of [one, late, one]) await keeper.catchUp();
    expect([one.msPaused(START), late.msPaused(START)]).toEqual([0, 0]);
  });

  test("stays lifted when somebody puts the paused budget back", async () => {
    let shared: Budget = UNKNOWN_BUDGET;
    const changeBudget: RelayShare["changeBudget"] = async (change) => {
      shared = change(shared) ?? shared;
      return shared;
    };
    const keeper = new BudgetKeeper({ changeBudget } as RelayShare, () => START + 2);
    keeper.applyAnswer((budget) => pauseBudget(budget, PAUSE, START));
    await keeper.catchUp();
    const old = shared;
    await keeper.lift(START + 1);
    shared = old;
    await keeper.catchUp();
    expect([keeper.msPaused(START + 2), isPaused(shared, START + 2)]).toEqual([0, false]);
  });

  test("does not keep the next 429 from pausing again, on every instance", async () => {
    const share = startShare();
    const [one, two] = [new BudgetKeeper(share, () => START), new BudgetKeeper(share, () => START)];
    one.applyAnswer((budget) => pauseBudget(budget, PAUSE, START));
    await one.lift(START + 1);
    two.applyAnswer((budget) => pauseBudget(budget, SILENT, START + 2));
    for (const keeper of [two, one]) await keeper.catchUp();
    expect([one.msPaused(START + 2), two.msPaused(START + 2)]).toEqual([5_000, 5_000]);
  });

  test("is lifted while Redis is away too, and the note tells the other instances", async () => {
    const share = {
      changeBudget: () => Promise.reject(new StoreUnavailable("away")),
    } as unknown as RelayShare;
    const noted: unknown[] = [];
    const notes = { saved: notesWith(undefined), savePause: (pause: SavedPause) => noted.push(pause) };
    const keeper = new BudgetKeeper(share, () => START, notes);
    keeper.applyAnswer((budget) => pauseBudget(budget, PAUSE, START));
    await keeper.catchUp();
    await keeper.lift(START + 1);
    expect(keeper.msPaused(START + 1)).toBe(0);
    expect(noted.at(-1)).toEqual({ pausedUntil: 0, pauseMs: 0, isPauseNamed: false });
  });
});

test("a pause that begins while another change is being shared is never lost", async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<Budget>();
  const replies = [answered, Promise.withResolvers<Budget>().promise];
  const share = { changeBudget: () => replies.shift() } as unknown as RelayShare;
  const keeper = new BudgetKeeper(share, () => START);
  const turn = keeper.change((budget) => ({ ...budget, hasAnswer: true }));
  keeper.applyAnswer((budget) => pauseBudget(budget, { ...SILENT, retryAfterMs: 30_000 }, START));
  answer({ ...UNKNOWN_BUDGET, hasAnswer: true });
  await turn;
  expect(keeper.budget).toMatchObject({ pausedUntil: START + 30_000, hasAnswer: true });
});

const notesWith = (pause: SavedPause | undefined): SavedNotes => ({
  pause,
  liftedAt: 0,
  refusedKeys: [],
  globalKeyFailure: null,
});

describe("an instance alone", () => {
  test("saves every pause, and nothing else", () => {
    const noted: unknown[] = [];
    const keeper = new BudgetKeeper(undefined, () => START, {
      saved: notesWith(undefined),
      savePause: (pause) => noted.push(pause),
    });
    keeper.applyAnswer((budget) => ({ ...budget, hasAnswer: true }));
    keeper.applyAnswer((budget) => pauseBudget(budget, { ...SILENT, retryAfterMs: 30_000 }, START));
    expect(noted).toEqual([{ pausedUntil: START + 30_000, pauseMs: 30_000, isPauseNamed: true }]);
  });

  test("lifts a pause, and deletes the saved one", async () => {
    const noted: unknown[] = [];
    let lifts = 0;
    const pause = { pausedUntil: START + 30_000, pauseMs: 30_000 };
    const keeper = new BudgetKeeper(undefined, () => START, {
      saved: notesWith(pause),
      savePause: (one) => noted.push(one),
    });
    keeper.onLift = () => lifts++;
    await keeper.lift(START);
    expect([keeper.msPaused(START), lifts]).toEqual([0, 1]);
    expect(noted).toEqual([{ pausedUntil: 0, pauseMs: 0, isPauseNamed: false }]);
  });

  test.each([
    ["not over", { pausedUntil: START + 30_000, pauseMs: 600_000 }, true],
    ["over", { pausedUntil: START, pauseMs: 600_000 }, false],
    ["never saved", undefined, false],
    ["of a clock that was set back since", { pausedUntil: START + 36_000_000, pauseMs: 5_000 }, true],
  ])("starts with the saved pause, if it is not over: %s", (_, pause, isSo) => {
    const keeper = new BudgetKeeper(undefined, () => START, { saved: notesWith(pause), savePause() {} });
    expect(isPaused(keeper.budget, START)).toBe(isSo);
    expect(keeper.msPaused(START)).toBeLessThanOrEqual(30_000);
  });
});
