// How often the page may ask: at most half of the key's limit, slower when others use the key too, not at all while
// Gatehouse says to wait. Time is handed in.
import { LIMIT_PER_WINDOW, WINDOW_MS } from "../../core/rate-limit.ts";
import type { LimitLeft, Outcome } from "./request.ts";

/** Of its limit, the page leaves this share to the bots that use the same key. */
const OWN_SHARE = 0.5;
/** Below this share of what is left, the page asks at half its pace; below the next, it waits for the new window. */
const SCARCE_SHARE = 0.5;
const NEARLY_GONE_SHARE = 0.15;
const FAILURE_DELAY_MAX_MS = 60_000;
const JITTER_SHARE = 0.1;

export class Pace {
  #askedAt: number[] = [];
  #limit: LimitLeft | undefined;
  #waitUntil = 0;
  #failures = 0;

  get limit(): LimitLeft | undefined {
    return this.#limit;
  }

  /** When Gatehouse has told us to come back; 0 when it has not. */
  get waitUntil(): number {
    return this.#waitUntil;
  }

  note(outcome: Outcome<unknown>): void {
    const now = outcome.receivedAt;
    this.#askedAt = this.#askedAt.filter((at) => now - at < WINDOW_MS);
    this.#askedAt.push(now);
    if (outcome.limit) this.#limit = outcome.limit;
    if (outcome.ok) {
      this.#failures = 0;
      return;
    }
    const { retryAfter, code } = outcome.error;
    if (retryAfter !== undefined) this.#waitUntil = now + retryAfter * 1000;
    this.#failures = code === 0 ? this.#failures + 1 : 0;
  }

  /** How long to wait before asking again, for somebody who would like to ask every `intervalMs`. */
  delayMs(intervalMs: number, now: number): number {
    let delay = intervalMs;
    if (this.#failures > 0) delay = Math.min(intervalMs * 2 ** (this.#failures - 1), FAILURE_DELAY_MAX_MS);
    const limit = this.#limit && this.#limit.resetAt > now ? this.#limit : undefined;
    if (limit && limit.remaining < limit.limit * NEARLY_GONE_SHARE) {
      delay = Math.max(delay, limit.resetAt - now);
    } else if (limit && limit.remaining < limit.limit * SCARCE_SHARE) {
      delay = Math.max(delay, intervalMs * 2);
    }
    delay = Math.max(delay, this.#waitUntil - now, this.ownShareDelayMs(now));
    return Math.round(delay + Math.random() * intervalMs * JITTER_SHARE);
  }

  isSlowed(now: number): boolean {
    const limit = this.#limit && this.#limit.resetAt > now ? this.#limit : undefined;
    return limit !== undefined && limit.remaining < limit.limit * SCARCE_SHARE;
  }

  /** Whether a request that nobody asked for may be sent at this moment. */
  mayAsk(now: number): boolean {
    return now >= this.#waitUntil && this.ownShareDelayMs(now) === 0;
  }

  /** 0 while the page has something left of its own share of the limit. */
  ownShareDelayMs(now: number): number {
    const max = (this.#limit?.limit ?? LIMIT_PER_WINDOW) * OWN_SHARE;
    const recent = this.#askedAt.filter((at) => now - at < WINDOW_MS);
    if (recent.length < max) return 0;
    return (recent[recent.length - Math.floor(max)] ?? now) + WINDOW_MS - now;
  }
}
