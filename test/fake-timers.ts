// Timers that a test moves by hand.
import type { SetTimer } from "../src/dashboard/state/time/throttle.ts";

export class FakeTimers {
  now = 0;
  #timers: { readonly at: number; readonly run: () => void }[] = [];

  readonly set: SetTimer = (run, ms) => {
    const timer = { at: this.now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.now = Math.max(this.now, next.at);
      next.run();
    }
    this.now = end;
  }
}
