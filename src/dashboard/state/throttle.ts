// Runs an action at once, and again at most once within a time, however often it is asked for.

export type SetTimer = (run: () => void, ms: number) => () => void;

export const setPageTimer: SetTimer = (run, ms) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

export class Throttle {
  readonly #run: () => void;
  readonly #spacingMs: () => number;
  readonly #setTimer: SetTimer;
  #cancelTimer: (() => void) | undefined;
  #isAsked = false;

  /** `spacingMs` is called before each run. */
  constructor(run: () => void, spacingMs: () => number, setTimer = setPageTimer) {
    this.#run = run;
    this.#spacingMs = spacingMs;
    this.#setTimer = setTimer;
  }

  /** Runs now, or once the spacing is over. */
  ask(): void {
    if (this.#cancelTimer) {
      this.#isAsked = true;
      return;
    }
    this.#isAsked = false;
    // The timer comes first, so that the action may ask for itself again.
    this.#cancelTimer = this.#setTimer(() => {
      this.#cancelTimer = undefined;
      if (this.#isAsked) this.ask();
    }, this.#spacingMs());
    this.#run();
  }

  /** Forgets what was asked for. */
  cancel(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#isAsked = false;
  }
}
