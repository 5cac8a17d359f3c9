// Redis's clock, as well as it is known here: all instances go by it. Each heartbeat tells how far it is ahead.
import type { Clock } from "../../core/ports/clock.ts";

/** A script may act until so long before its sender gives up. */
const GIVE_UP_LATER_MS = 100;

type Times = readonly [now: string, deadline: string];

/** The times that a script is given: now, and until when it may act. */
export type ScriptTimes = (now?: number) => Times;

export class RedisClock {
  readonly #actWithinMs: number;
  readonly #ownClock: Clock | undefined;
  /** How far Redis's clock is ahead of this machine's. */
  #aheadMs = 0;
  /** The same, if the answer had taken no time at all. */
  #aheadLeastMs = 0;

  /** `ownClock`: in tests, instead of Redis's. */
  constructor(answerWithinMs: number, ownClock: Clock | undefined) {
    this.#actWithinMs = answerWithinMs - GIVE_UP_LATER_MS;
    this.#ownClock = ownClock;
  }

  readonly now: Clock = () => this.#ownClock?.() ?? Math.round(Date.now() + this.#aheadMs);

  readonly times: ScriptTimes = (now = this.now()) => {
    if (this.#ownClock) return [String(now), ""];
    // By the least that Redis's clock can be ahead: too early does no harm, too late would.
    return ["", String(Math.floor(Date.now() + this.#aheadLeastMs + this.#actWithinMs))];
  };

  /** Without a deadline: for the script that the time is learned from. */
  timesWithoutDeadline(): Times {
    return [this.#ownClock ? String(this.#ownClock()) : "", ""];
  }

  /** What Redis's clock was at some moment between those two of this machine's. */
  learn(redisNow: number, sentAt: number, receivedAt: number): void {
    this.#aheadMs = redisNow - (sentAt + receivedAt) / 2;
    this.#aheadLeastMs = redisNow - receivedAt;
  }
}
