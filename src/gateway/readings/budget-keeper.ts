// The budget of the game API as it is known here; with other instances, theirs too.
import { type Budget, createBudget, isPaused, withLongerPause } from "../../core/budget.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { RelayShare } from "../../core/ports/relay-share.ts";
import type { UpstreamNotes } from "./upstream-notes.ts";

type PauseNotes = Pick<UpstreamNotes, "pause" | "savePause">;

export class BudgetKeeper {
  readonly #share: RelayShare | undefined;
  readonly #clock: Clock;
  readonly #notes: PauseNotes | undefined;
  #budget: Budget;

  constructor(share: RelayShare | undefined, clock: Clock, notes?: PauseNotes) {
    this.#share = share;
    this.#clock = clock;
    this.#notes = notes;
    this.#budget = createBudget(notes?.pause);
  }

  get budget(): Budget {
    return this.#budget;
  }

  /** How long nothing may be asked from now on; 0 when there is no pause. */
  msPaused(now: number): number {
    return isPaused(this.#budget, now) ? this.#budget.pausedUntil - now : 0;
  }

  /** Judged together with the others, if there are others: undefined leaves the budget as it is. */
  change(judge: (budget: Budget) => Budget | undefined): MaybePromise<void> {
    if (this.#share) return this.#changeShared(this.#share, judge);
    this.#budget = judge(this.#budget) ?? this.#budget;
  }

  /** What an answer teaches is known here at once, and told to the others. */
  learn(lesson: (budget: Budget) => Budget): void {
    const before = this.#budget;
    this.#budget = lesson(before);
    const { pausedUntil, pauseMs } = this.#budget;
    if (pausedUntil !== before.pausedUntil) this.#notes?.savePause({ pausedUntil, pauseMs });
    // The others learn it from where we were: a pause that is there already would make this refusal look like an old one.
    if (this.#share) void this.#changeShared(this.#share, lesson, before);
  }

  /** Learns what the other instances have made of the budget, a pause above all. */
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
        // A pause that was ordered while the others could not be told is theirs too.
        const paused = withLongerPause(shared, known ?? this.#budget, this.#clock());
        return change(paused) ?? (paused === shared ? undefined : paused);
      });
      // One that was ordered while this was on its way is told next.
      this.#budget = withLongerPause(agreed, this.#budget, this.#clock());
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#budget = change(this.#budget) ?? this.#budget;
    }
  }
}
