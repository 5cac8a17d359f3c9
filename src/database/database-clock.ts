// An estimate of PostgreSQL's clock, which all instances use. Each heartbeat measures how far it is ahead of the local clock.
// A reply that this process read late says little, so it does not replace what better ones have said.
import type { Clock } from "../core/ports/clock.ts";

/** How far the two clocks may drift apart between two measurements, rounding included. */
const DRIFT_MS = 1;

export class DatabaseClock {
  /** How far the database's clock can be ahead of the local one: at least if a reply had taken no time, at most if a request had. */
  #ahead: { readonly minMs: number; readonly maxMs: number } | undefined;

  /** `ownClock` replaces the database's clock in tests. */
  constructor(private readonly ownClock?: Clock) {}

  readonly now: Clock = () => {
    const { minMs, maxMs } = this.#ahead ?? { minMs: 0, maxMs: 0 };
    return this.ownClock?.() ?? Math.round(Date.now() + (minMs + maxMs) / 2);
  };

  /** How far the local clock is ahead of the database's, at least; negative when it is behind, 0 when they may agree. */
  get offsetMs(): number {
    const { minMs, maxMs } = this.#ahead ?? { minMs: 0, maxMs: 0 };
    return minMs > 0 ? -minMs : Math.max(0, -maxMs);
  }

  /** `databaseNow` was the database's time at some moment between the two local times. */
  learn(databaseNow: number, sentAt: number, receivedAt: number): void {
    const measured = { minMs: databaseNow - receivedAt, maxMs: databaseNow - sentAt };
    const { minMs, maxMs } = this.#ahead ?? measured;
    const ahead = {
      minMs: Math.max(measured.minMs, minMs - DRIFT_MS),
      maxMs: Math.min(measured.maxMs, maxMs + DRIFT_MS),
    };
    // They contradict each other when one of the clocks was set.
    this.#ahead = ahead.minMs <= ahead.maxMs ? ahead : measured;
  }
}

/** A clock that all threads share and that nobody can set. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
