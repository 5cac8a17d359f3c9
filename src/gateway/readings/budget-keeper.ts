// The budget of calls to the game API. Instances with a shared store share one budget.
import {
  type Budget,
  boundBudget,
  createBudget,
  followClock,
  isPaused,
  liftPause,
  spendCall,
  UNKNOWN_BUDGET,
  withLongerPause,
} from "../../core/budget.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { RelayShare } from "../../core/ports/relay-share.ts";
import type { UpstreamNotes } from "./upstream-notes.ts";

type PauseNotes = Pick<UpstreamNotes, "pause" | "savePause">;

export class BudgetKeeper {
  /** Called when a pause was lifted, by this instance or another one. */
  onLift: () => void = () => {};
  readonly #share: RelayShare | undefined;
  readonly #clock: Clock;
  readonly #notes: PauseNotes | undefined;
  #budget: Budget;
  /** As if no other instance called: the answers to this instance, and its own calls. */
  #own: Budget = UNKNOWN_BUDGET;

  constructor(share: RelayShare | undefined, clock: Clock, notes?: PauseNotes) {
    this.#share = share;
    this.#clock = clock;
    this.#notes = notes;
    this.#budget = createBudget(notes?.pause);
  }

  /** As it is by the clock, which may have been set back. */
  get budget(): Budget {
    this.#budget = followClock(this.#budget, this.#clock());
    return this.#budget;
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
    const before = this.budget;
    this.#budget = change(before);
    this.#own = change(followClock(this.#own, this.#clock()));
    const { pausedUntil, pauseMs, isPauseNamed } = this.#budget;
    if (pausedUntil !== before.pausedUntil) this.#notes?.savePause({ pausedUntil, pauseMs, isPauseNamed });
    // Without the new pause in it, because then this 429 would look like a second one of the same pause.
    if (this.#share) void this.#changeShared(this.#share, change, before);
  }

  /** Ends the pause for all instances. Throws StoreUnavailable when they cannot be told. */
  async lift(now: number): Promise<void> {
    const change = (budget: Budget) => liftPause(budget, now);
    this.#adopt(this.#share ? await this.#share.changeBudget(change) : change(this.#budget));
    this.#notes?.savePause({ pausedUntil: 0, pauseMs: 0, isPauseNamed: false });
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
    try {
      const agreed = await share.changeBudget((shared) => {
        const now = this.#clock();
        // A pause that could not be shared while the store was unavailable is shared now.
        const paused = withLongerPause(followClock(shared, now), known ?? this.budget, now);
        const bounded = boundBudget(paused, followClock(this.#own, now), now);
        return change(bounded) ?? (bounded === shared ? undefined : bounded);
      });
      // Keep a pause that began during this call; the next call shares it.
      this.#adopt(withLongerPause(agreed, this.budget, this.#clock()));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#budget = change(this.budget) ?? this.#budget;
    }
  }

  #adopt(budget: Budget): void {
    const isLifted = budget.liftedAt > this.#budget.liftedAt;
    this.#budget = budget;
    if (isLifted) this.onLift();
  }
}
