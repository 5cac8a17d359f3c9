// The budget of calls to the game API. Several instances share one budget. While they cannot agree, because Redis is away, each
// keeps to its part of what the window still allowed.
import { StoreUnavailable } from "../../core/errors.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { RelayShare } from "../../core/ports/relay-share.ts";
import {
  type Budget,
  boundBudget,
  createBudget,
  currentWindow,
  divideCalls,
  followClock,
  isOlderBudget,
  isPaused,
  isSameReset,
  liftPause,
  spendCall,
  UNKNOWN_BUDGET,
  withLift,
  withLongerPause,
} from "../../core/readings/budget.ts";
import type { SavedNotes } from "../../core/readings/upstream-notes.ts";
import type { UpstreamNotes } from "./upstream-notes.ts";

/** The calls that are left to this instance in one window. */
type Part = { readonly resetAt: number; readonly calls: number };

type PauseNotes = Pick<UpstreamNotes, "saved" | "savePause">;

export class BudgetKeeper {
  /** Called when a pause was lifted, by this instance or another one. */
  onLift: () => void = () => {};
  readonly #share: RelayShare | undefined;
  readonly #clock: Clock;
  readonly #notes: PauseNotes | undefined;
  readonly #countInstances: () => number;
  /** As it was shared last, with the answers to this instance since; as this instance knows it while Redis is away. */
  #budget: Budget;
  /** As it was shared last. */
  #agreed: Budget = UNKNOWN_BUDGET;
  #isAway = false;
  /** While Redis is away, and in a window in which the shared budget was lost. */
  #part: Part | undefined;
  /** As if no other instance called: the answers to this instance, and its own calls. */
  #own: Budget = UNKNOWN_BUDGET;

  constructor(share: RelayShare | undefined, clock: Clock, notes?: PauseNotes, countInstances = () => 1) {
    this.#share = share;
    this.#clock = clock;
    this.#notes = notes;
    this.#countInstances = countInstances;
    this.#budget = createBudget(notes?.saved.pause);
  }

  /** What this instance may call: all that is left, or its part. */
  get budget(): Budget {
    const whole = this.#followClock();
    return this.#isAway ? this.#divide(whole) : whole;
  }

  /** How long the pause after a 429 still lasts; 0 when there is none. */
  msPaused(now: number): number {
    const { budget } = this;
    return isPaused(budget, now) ? budget.pausedUntil - now : 0;
  }

  /** Changes the budget, the shared one if there is one. `judge` may be called several times; undefined means no change. */
  change(judge: (budget: Budget) => Budget | undefined): MaybePromise<void> {
    if (this.#share) return this.#changeShared(this.#share, judge);
    const { budget } = this;
    this.#budget = judge(budget) ?? budget;
  }

  /** Counts a call that this instance makes. The shared budget has counted it before. */
  countOwnCall(): void {
    const now = this.#clock();
    this.#own = spendCall(followClock(this.#own, now), now);
  }

  /** Applies the headers of an answer: to this instance's budget at once, and then to the shared one. */
  applyAnswer(change: (budget: Budget) => Budget): void {
    const before = this.#followClock();
    this.#budget = change(before);
    this.#own = change(followClock(this.#own, this.#clock()));
    const { pausedUntil, pauseMs, isPauseNamed } = this.#budget;
    if (pausedUntil !== before.pausedUntil) this.#notes?.savePause({ pausedUntil, pauseMs, isPauseNamed });
    // Without the new pause in it, because then this 429 would look like a second one of the same pause.
    if (this.#share) void this.#changeShared(this.#share, change, before);
  }

  /** Ends the pause for all instances. While Redis is away, they learn of it from the database. */
  async lift(now: number): Promise<void> {
    const change = (budget: Budget) => liftPause(budget, now);
    const shared = await this.#share?.changeBudget(change).catch((error) => {
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    });
    this.#adopt(shared ?? change(this.#budget));
    this.#notes?.savePause({ pausedUntil: 0, pauseMs: 0, isPauseNamed: false });
  }

  /** What another instance has saved: its pause, or that an operator has lifted one. */
  learnNote({ pause, liftedAt }: Pick<SavedNotes, "pause" | "liftedAt">): void {
    const now = this.#clock();
    const budget = this.#followClock();
    const isLifted = liftedAt > budget.liftedAt && budget.pausedUntil - budget.pauseMs <= liftedAt;
    const known = isLifted ? liftPause(budget, liftedAt) : budget;
    this.#adopt(pause ? withLongerPause(known, createBudget(pause), now) : known);
  }

  /** Fetches the shared budget: another instance may have got a 429. */
  async catchUp(): Promise<void> {
    if (this.#share) await this.#changeShared(this.#share, () => undefined);
  }

  async #changeShared(
    share: RelayShare,
    change: (budget: Budget) => Budget | undefined,
    known?: Budget,
  ): Promise<void> {
    let spent = 0;
    try {
      const agreed = await share.changeBudget((shared) => {
        const now = this.#clock();
        const lifted = withLift(followClock(shared, now), this.#budget.liftedAt);
        // A pause that could not be shared while the store was unavailable is shared now.
        const paused = withLongerPause(lifted, known ?? this.#followClock(), now);
        const bounded = this.#keepToPart(boundBudget(paused, followClock(this.#own, now), now), shared, now);
        const changed = change(bounded);
        spent = changed ? Math.max(0, bounded.remaining - changed.remaining) : 0;
        return changed ?? (bounded === shared ? undefined : bounded);
      });
      if (this.#isAway) this.#part = undefined;
      else if (this.#part) this.#part = { ...this.#part, calls: this.#part.calls - spent };
      this.#isAway = false;
      this.#agreed = agreed;
      // Keep a pause that began during this call; the next call shares it.
      this.#adopt(withLongerPause(agreed, this.#followClock(), this.#clock()));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#isAway = true;
      // An answer was applied before.
      if (!known) this.#changeAlone(change);
    }
  }

  /**
   * After the shared budget was lost, or an old one was put back, the calls of the others are not known: until the end of the
   * window this instance makes no more than its part.
   */
  #keepToPart(bounded: Budget, shared: Budget, now: number): Budget {
    const own = followClock(this.#own, now);
    if (this.#isAway || bounded.limit === null || own.limit === null) return bounded;
    const { resetAt } = currentWindow(own, own.limit, now);
    const { remaining } = currentWindow(bounded, bounded.limit, now);
    const isKept = this.#part !== undefined && isSameReset(this.#part.resetAt, resetAt);
    if (!isKept && !isOlderBudget(shared, this.#agreed)) return bounded;
    if (!this.#part || !isKept) this.#part = { resetAt, calls: divideCalls(remaining, this.#countInstances()) };
    return remaining <= this.#part.calls ? bounded : { ...bounded, remaining: this.#part.calls, resetAt };
  }

  /** Counts a call twice: in what is left for all, and in the part of this instance. */
  #changeAlone(change: (budget: Budget) => Budget | undefined): void {
    const whole = this.#followClock();
    const part = this.#divide(whole);
    const changed = change(part);
    if (!changed) return;
    const { limit } = whole;
    if (limit === null || part.limit === null) {
      this.#budget = changed;
      return;
    }
    const spent = part.remaining - changed.remaining;
    const { resetAt, remaining } = currentWindow(whole, limit, this.#clock());
    this.#part = { resetAt, calls: part.remaining - spent };
    this.#budget = { ...changed, limit, remaining: remaining - spent, resetAt };
  }

  /** The budget with the part of this instance in it. */
  #divide(whole: Budget): Budget {
    if (whole.limit === null) return whole;
    const instances = this.#countInstances();
    const { resetAt, remaining } = currentWindow(whole, whole.limit, this.#clock());
    if (!this.#part || !isSameReset(this.#part.resetAt, resetAt))
      this.#part = { resetAt, calls: divideCalls(remaining, instances) };
    const limit = divideCalls(whole.limit, instances);
    return { ...whole, limit, remaining: Math.min(this.#part.calls, remaining), resetAt };
  }

  /** The whole budget, as it is by the clock, which may have been set back. */
  #followClock(): Budget {
    this.#budget = followClock(this.#budget, this.#clock());
    return this.#budget;
  }

  #adopt(budget: Budget): void {
    const isLifted = budget.liftedAt > this.#budget.liftedAt;
    this.#budget = budget;
    if (isLifted) this.onLift();
  }
}
