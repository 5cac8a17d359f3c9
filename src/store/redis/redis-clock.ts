// An estimate of Redis's clock, which all instances use. Each heartbeat measures how far it is ahead of the local clock. A reply
// that this process read late says little, so it does not replace what better ones have said.
import type { Clock } from "../../core/ports/clock.ts";

/** A script's deadline is this long before its sender stops waiting for the reply. */
const DEADLINE_MARGIN_MS = 100;
/** How far the two clocks may drift apart between two measurements, rounding included. */
const DRIFT_MS = 1;

type Times = readonly [now: string, deadline: string];

/** The first two arguments of every script: the time, and the deadline after which the script does nothing. */
export type ScriptTimes = (now?: number) => Times;

export class RedisClock {
  readonly #deadlineMs: number;
  readonly #ownClock: Clock | undefined;
  /** How far Redis's clock can be ahead of the local clock: at least if a reply had taken no time, at most if a request had. */
  #ahead: { readonly minMs: number; readonly maxMs: number } | undefined;

  /** `ownClock` replaces Redis's clock in tests. */
  constructor(replyDeadlineMs: number, ownClock: Clock | undefined) {
    this.#deadlineMs = replyDeadlineMs - DEADLINE_MARGIN_MS;
    this.#ownClock = ownClock;
  }

  readonly now: Clock = () => {
    const { minMs, maxMs } = this.#ahead ?? { minMs: 0, maxMs: 0 };
    return this.#ownClock?.() ?? Math.round(Date.now() + (minMs + maxMs) / 2);
  };

  readonly times: ScriptTimes = (now = this.now()) => {
    if (this.#ownClock) return [String(now), ""];
    // With the least that Redis's clock can be ahead: a deadline that is too early does no harm, one too late would.
    return ["", String(Math.floor(Date.now() + (this.#ahead?.minMs ?? 0) + this.#deadlineMs))];
  };

  /** For the script that measures the time, and so cannot have a deadline yet. */
  timesWithoutDeadline(): Times {
    return [this.#ownClock ? String(this.#ownClock()) : "", ""];
  }

  /** `redisNow` was Redis's time at some moment between the two local times. */
  learn(redisNow: number, sentAt: number, receivedAt: number): void {
    const measured = { minMs: redisNow - receivedAt, maxMs: redisNow - sentAt };
    const { minMs, maxMs } = this.#ahead ?? measured;
    const ahead = {
      minMs: Math.max(measured.minMs, minMs - DRIFT_MS),
      maxMs: Math.min(measured.maxMs, maxMs + DRIFT_MS),
    };
    // They contradict each other when one of the clocks was set.
    this.#ahead = ahead.minMs <= ahead.maxMs ? ahead : measured;
  }
}
