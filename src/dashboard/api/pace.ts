// How often the page may ask: at most half of the key's limit, slower when others use the key too, not at all while
// Gatehouse says to wait. Time is handed in.
import { ERRORS } from "../../core/errors.ts";
import { LIMIT_PER_WINDOW, WINDOW_MS } from "../../core/rate-limit.ts";
import { type LimitLeft, type Outcome, UNREACHABLE } from "./request.ts";

/** Of its limit, the page leaves this share to the bots that use the same key. */
const OWN_SHARE = 0.5;
/** Below this share of what is left, the page asks at half its pace; below the next, it waits for the new window. */
const SCARCE_SHARE = 0.5;
const NEARLY_GONE_SHARE = 0.15;
/** A restart of Gatehouse is over in seconds, and who waits for it looks at the page. */
const FAILURE_DELAY_MAX_MS = 10_000;
/** How often a reader may ask whether the block of the key is lifted. */
const INSIST_EVERY_MS = 3_000;
const JITTER_SHARE = 0.1;

export class Pace {
  #askedAt: number[] = [];
  #limit: LimitLeft | undefined;
  #waitUntil = 0;
  #failures = 0;
  #isBlocked = false;
  readonly #listeners = new Set<() => void>();

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
    const error = outcome.ok ? undefined : outcome.error;
    const isLost = error?.code === UNREACHABLE;
    const isBlocked = isLost ? this.#isBlocked : error?.code === ERRORS.spamBlocked.code;
    // Inside a block nothing else is answered: it is over, whatever time was named.
    const isRecovered = !isLost && (this.#failures > 0 || (this.#isBlocked && !isBlocked));
    if (isRecovered) this.#waitUntil = 0;
    if (error?.retryAfter !== undefined) this.#waitUntil = now + error.retryAfter * 1000;
    this.#failures = isLost ? this.#failures + 1 : 0;
    this.#isBlocked = isBlocked;
    if (isRecovered) for (const listener of this.#listeners) listener();
  }

  /** The listener is told when Gatehouse can be reached again, or the block is over. Returns how to end that. */
  onRecovery(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** How long to wait before asking again, for somebody who would like to ask every `intervalMs`. */
  delayMs(intervalMs: number, now: number): number {
    let delay = intervalMs;
    if (this.#failures > 0) {
      const longer = Math.min(intervalMs * 2 ** (this.#failures - 1), FAILURE_DELAY_MAX_MS);
      delay = Math.max(delay, longer);
    }
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

  /** Whether the reader may ask, also inside a block: an operator may have lifted it. */
  mayInsist(now: number): boolean {
    if (!this.#isBlocked) return this.mayAsk(now);
    const lastAt = this.#askedAt.at(-1) ?? 0;
    return now - lastAt >= INSIST_EVERY_MS && this.ownShareDelayMs(now) === 0;
  }

  /** 0 while the page has something left of its own share of the limit. */
  ownShareDelayMs(now: number): number {
    const max = (this.#limit?.limit ?? LIMIT_PER_WINDOW) * OWN_SHARE;
    const recent = this.#askedAt.filter((at) => now - at < WINDOW_MS);
    if (recent.length < max) return 0;
    return (recent[recent.length - Math.floor(max)] ?? now) + WINDOW_MS - now;
  }
}
