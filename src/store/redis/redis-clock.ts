// An estimate of Redis's clock, which all instances use. Each heartbeat measures how far it is ahead of the local clock.
import type { Clock } from "../../core/ports/clock.ts";

/** A script's deadline is this long before its sender stops waiting for the reply. */
const DEADLINE_MARGIN_MS = 100;

type Times = readonly [now: string, deadline: string];

/** The first two arguments of every script: the time, and the deadline after which the script does nothing. */
export type ScriptTimes = (now?: number) => Times;

export class RedisClock {
  readonly #deadlineMs: number;
  readonly #ownClock: Clock | undefined;
  /** How far Redis's clock is ahead of the local clock. */
  #aheadMs = 0;
  /** The least that it can be ahead: if the reply had taken no time at all. */
  #aheadMinMs = 0;

  /** `ownClock` replaces Redis's clock in tests. */
  constructor(replyDeadlineMs: number, ownClock: Clock | undefined) {
    this.#deadlineMs = replyDeadlineMs - DEADLINE_MARGIN_MS;
    this.#ownClock = ownClock;
  }

  readonly now: Clock = () => this.#ownClock?.() ?? Math.round(Date.now() + this.#aheadMs);

  readonly times: ScriptTimes = (now = this.now()) => {
    if (this.#ownClock) return [String(now), ""];
    // With the least that Redis's clock can be ahead: a deadline that is too early does no harm, one too late would.
    return ["", String(Math.floor(Date.now() + this.#aheadMinMs + this.#deadlineMs))];
  };

  /** For the script that measures the time, and so cannot have a deadline yet. */
  timesWithoutDeadline(): Times {
    return [this.#ownClock ? String(this.#ownClock()) : "", ""];
  }

  /** `redisNow` was Redis's time at some moment between the two local times. */
  learn(redisNow: number, sentAt: number, receivedAt: number): void {
    this.#aheadMs = redisNow - (sentAt + receivedAt) / 2;
    this.#aheadMinMs = redisNow - receivedAt;
  }
}
