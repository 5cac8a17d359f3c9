// One timer for every text of the page that counts seconds. It stops while the tab is hidden. Knows nothing of React.
import type { SetTimer } from "./throttle.ts";

const TICK_MS = 1_000;

export type TickerParts = {
  readonly setTimer: SetTimer;
  readonly isHidden: () => boolean;
  /** Calls back whenever the tab is hidden or shown. Returns a function that ends it. */
  readonly onVisibility: (run: () => void) => () => void;
};

export class SecondTicker {
  readonly #parts: TickerParts;
  readonly #listeners = new Set<() => void>();
  #cancelTimer: (() => void) | undefined;
  #stopVisibility: (() => void) | undefined;
  #ticks = 0;

  constructor(parts: TickerParts) {
    this.#parts = parts;
  }

  /** Changes with every tick. */
  get ticks(): number {
    return this.#ticks;
  }

  /** Calls the listener once a second, and at once when a hidden tab is shown. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    this.#stopVisibility ??= this.#parts.onVisibility(() => this.#adapt());
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
    if (!this.#parts.isHidden()) this.#tick();
  }

  #wait(): void {
    if (this.#parts.isHidden()) return;
    this.#cancelTimer = this.#parts.setTimer(() => this.#tick(), TICK_MS);
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
