// Schedules the calls to the game API: all servers share one budget, and the server that has waited longest goes first.
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { LimitHint } from "../../core/ports/upstream.ts";
import { type Budget, msUntilCall, pauseBudget, spendCall, updateBudget } from "../../core/readings/budget.ts";
import { msUntilWatch, spendWatchCall } from "../../core/readings/watch-plan.ts";
import type { BudgetKeeper } from "./budget-keeper.ts";
import type { ServerStatus } from "./server-status.ts";
import type { ServerStatuses } from "./server-statuses.ts";

/** A read that would have to wait longer for the budget is refused with Retry-After. */
export const BUDGET_WAIT_MAX_MS = 3_000;

/** `hasOthers`: other instances share the budget. */
type SchedulerSettings = { readonly hasOthers: boolean; readonly timeoutMs: number };

export class CallScheduler {
  /** Calls of this instance that are not answered yet. */
  #callsInFlight = 0;
  /** Reads of callers that wait for their turn. */
  #waitingReads = 0;

  constructor(
    private readonly keeper: BudgetKeeper,
    private readonly statuses: ServerStatuses,
    private readonly settings: SchedulerSettings,
  ) {}

  /** How long a read may wait for its call: not at all during a pause after a 429. */
  maxWaitMs(now: number): number {
    return this.keeper.msPaused(now) > 0 ? 0 : BUDGET_WAIT_MAX_MS;
  }

  /** How long the server has to wait for its next call; 0 when it may be made now. */
  msUntil(status: ServerStatus, now: number, budget = this.keeper.budget): number {
    return msUntilCall(budget, now, {
      isFirstCall: status.lastCallAt === 0,
      ...this.#describeCalls(status, now, budget),
    });
  }

  /** How long the watcher has to wait before it may call for the server; 0 when it may call now. */
  msUntilWatch(status: ServerStatus, now: number, budget = this.keeper.budget): number {
    const areCallersWaiting = this.#waitingReads > 0;
    return msUntilWatch(budget, now, { areCallersWaiting, ...this.#describeCalls(status, now, budget) });
  }

  /** Counts a call if it may be made now, and returns 0. Otherwise returns how long to wait. */
  reserve(status: ServerStatus, now: number): MaybePromise<number> {
    let waitMs = 0;
    const { isPendingForWatch } = status;
    const change = this.keeper.change((budget) => {
      waitMs = isPendingForWatch ? this.msUntilWatch(status, now, budget) : this.msUntil(status, now, budget);
      if (waitMs > 0) return undefined;
      return isPendingForWatch ? spendWatchCall(budget, now) : spendCall(budget, now);
    });
    if (!(change instanceof Promise)) return waitMs;
    // Another call may have got a 429 while the shared budget was changed.
    return change.then(() => Math.max(waitMs, this.keeper.msPaused(now)));
  }

  /** Waits for the turn of a caller's read. */
  async waitTurn(sleep: Promise<void>): Promise<void> {
    this.#waitingReads++;
    try {
      await sleep;
    } finally {
      this.#waitingReads--;
    }
  }

  /** Makes a call that was reserved. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    this.#callsInFlight++;
    this.keeper.countOwnCall();
    try {
      return await call();
    } finally {
      this.#callsInFlight--;
    }
  }

  /** Applies the rate-limit headers of an answer to the budget. A 429 pauses it. */
  applyHint(hint: LimitHint, isRefused: boolean, now: number): void {
    this.keeper.applyAnswer((budget) => {
      return isRefused ? pauseBudget(budget, hint, now) : updateBudget(budget, hint, now, this.#callsInFlight);
    });
  }

  #describeCalls(status: ServerStatus, now: number, budget: Budget) {
    const { hasOthers, timeoutMs } = this.settings;
    // Before the first answer, a call of another instance may be in flight.
    const isOthersCall = hasOthers && !budget.hasAnswer && now - budget.lastCallAt < timeoutMs;
    return {
      serversWaitingLonger: budget.limit === null ? 0 : this.statuses.countAhead(status, now),
      callsInFlight: Math.max(this.#callsInFlight, isOthersCall ? 1 : 0),
    };
  }
}
