// Whose turn is it? Every call to the game API comes out of one budget, and the servers that are asked about take turns.
import { msUntilCall, pauseBudget, spendCall, updateBudget } from "../../core/budget.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { LimitHint } from "../../core/ports/upstream.ts";
import type { BudgetKeeper } from "./budget-keeper.ts";
import type { ServerStatus } from "./server-status.ts";
import type { ServerStatuses } from "./server-statuses.ts";

/** A caller waits this long for the budget before it is told to come back; most waits are shorter. */
export const BUDGET_PATIENCE_MS = 3_000;

/** `hasOthers` when other instances spend from the same budget. */
type TurnSettings = { readonly hasOthers: boolean; readonly timeoutMs: number };

export class Turns {
  /** How many of our own calls the game API has not answered yet. */
  #callsInFlight = 0;
  readonly #keeper: BudgetKeeper;
  readonly #statuses: ServerStatuses;
  readonly #settings: TurnSettings;

  constructor(keeper: BudgetKeeper, statuses: ServerStatuses, settings: TurnSettings) {
    this.#keeper = keeper;
    this.#statuses = statuses;
    this.#settings = settings;
  }

  /** A pause was ordered by the game API, so nobody waits for its end here; a turn in the budget may be waited for. */
  patienceMs(now: number): number {
    return this.#keeper.msPaused(now) > 0 ? 0 : BUDGET_PATIENCE_MS;
  }

  /** How long the server has to wait for its next call; 0 when it may be made now. */
  msUntil(status: ServerStatus, now: number, budget = this.#keeper.budget): number {
    const { hasOthers, timeoutMs } = this.#settings;
    // Before the first answer, another instance's call may be the one that is under way.
    const isOthersCall = hasOthers && !budget.hasAnswer && now - budget.lastCallAt < timeoutMs;
    return msUntilCall(budget, now, {
      isFirstCall: status.lastCallAt === 0,
      serversWaitingLonger: budget.limit === null ? 0 : this.#statuses.countAhead(status, now),
      callsInFlight: Math.max(this.#callsInFlight, isOthersCall ? 1 : 0),
    });
  }

  /** 0 when the call may be made now, and is counted; else how long to wait. */
  take(status: ServerStatus, now: number): MaybePromise<number> {
    let waitMs = 0;
    const turn = this.#keeper.change((budget) => {
      waitMs = this.msUntil(status, now, budget);
      return waitMs > 0 ? undefined : spendCall(budget, now);
    });
    if (!(turn instanceof Promise)) return waitMs;
    // Another call may have been refused while the other instances were asked.
    return turn.then(() => Math.max(waitMs, this.#keeper.msPaused(now)));
  }

  /** Makes a call whose turn was taken. */
  async spend<T>(call: () => Promise<T>): Promise<T> {
    this.#callsInFlight++;
    try {
      return await call();
    } finally {
      this.#callsInFlight--;
    }
  }

  /** What the game API says about its limit; when it refuses a call for it, there is a pause. */
  learn(hint: LimitHint, isRefused: boolean, now: number): void {
    this.#keeper.learn((budget) => {
      return isRefused
        ? pauseBudget(budget, hint, now)
        : updateBudget(budget, hint, now, this.#callsInFlight);
    });
  }
}
