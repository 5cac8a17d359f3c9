// Timers: one that runs an action at most once within a time, and one for every text of the page that counts seconds.

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

const TICK_MS = 1_000;

export type TickerDeps = {
  readonly setTimer: SetTimer;
  readonly isHidden: () => boolean;
  /** Calls back whenever the tab is hidden or shown. Returns a function that ends it. */
  readonly onVisibility: (run: () => void) => () => void;
};

export class SecondTicker {
  readonly #deps: TickerDeps;
  readonly #listeners = new Set<() => void>();
  #cancelTimer: (() => void) | undefined;
  #stopVisibility: (() => void) | undefined;
  #ticks = 0;

  constructor(deps: TickerDeps) {
    this.#deps = deps;
  }

  /** Changes with every tick. */
  get ticks(): number {
    return this.#ticks;
  }

  /** Calls the listener once a second, and at once when a hidden tab is shown. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#stopVisibility ??= this.#deps.onVisibility(() => this.#adapt());
    if (!this.#cancelTimer) this.#wait();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop();
      this.#stopVisibility?.();
      this.#stopVisibility = undefined;
    };
  };

  #adapt(): void {
    this.#stop();
    if (!this.#deps.isHidden()) this.#tick();
  }

  #wait(): void {
    if (this.#deps.isHidden()) return;
    this.#cancelTimer = this.#deps.setTimer(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    this.#cancelTimer = undefined;
    this.#ticks++;
    this.#wait();
    for (const listener of this.#listeners) listener();
  }

  #stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
