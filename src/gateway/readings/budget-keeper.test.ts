// The budget of an instance: a single instance saves its pauses for the next start, several instances share them.
import { describe, expect, test } from "bun:test";
import { type Budget, isPaused, pauseBudget, UNKNOWN_BUDGET } from "../../core/budget.ts";
import type { RelayShare } from "../../core/ports/relay-share.ts";
import type { LimitHint } from "../../core/ports/upstream.ts";
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

describe("an instance alone", () => {
  test("saves every pause, and nothing else", () => {
    const noted: unknown[] = [];
    const keeper = new BudgetKeeper(undefined, () => START, {
      pause: undefined,
      savePause: (pause) => noted.push(pause),
    });
    keeper.applyAnswer((budget) => ({ ...budget, hasAnswer: true }));
    keeper.applyAnswer((budget) => pauseBudget(budget, { ...SILENT, retryAfterMs: 30_000 }, START));
    expect(noted).toEqual([{ pausedUntil: START + 30_000, pauseMs: 30_000 }]);
  });

  test.each([
    ["not over", { pausedUntil: START + 30_000, pauseMs: 600_000 }, true],
    ["over", { pausedUntil: START, pauseMs: 600_000 }, false],
    ["never saved", undefined, false],
    ["of a clock that was set back since", { pausedUntil: START + 36_000_000, pauseMs: 5_000 }, false],
  ])("starts with the saved pause, if it is not over: %s", (_, pause, isSo) => {
    const keeper = new BudgetKeeper(undefined, () => START, { pause, savePause() {} });
    expect(isPaused(keeper.budget, START)).toBe(isSo);
  });
});
