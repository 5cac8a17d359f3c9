// Decides how often the page sends requests: at most half of the key's limit, less often when others use the key too, and not
// at all until a Retry-After is over. The caller passes the time.
import { ERRORS } from "../../core/errors.ts";
import { LIMIT_PER_WINDOW, WINDOW_MS } from "../../core/keys/rate-limit.ts";
import { type Failure, type LimitLeft, type OpenedStream, type Outcome, UNREACHABLE } from "./request.ts";

/** The page uses this share of the limit and leaves the rest to bots with the same key. */
const OWN_SHARE = 0.5;
/** With less than this share left, the page polls half as often. */
const LOW_SHARE = 0.5;
/** With less than this share left, the page waits for the next window. */
const NEARLY_EMPTY_SHARE = 0.15;
/** A restart of Gatehouse takes only seconds, and the user is waiting for it. */
const BACKOFF_MAX_MS = 10_000;
/** How often the user may check whether a block was lifted. */
const BLOCKED_REFRESH_MS = 3_000;
const JITTER_SHARE = 0.1;
/** How soon after a request an event may cause the next one. */
const AFTER_EVENT_MS = 1_000;
/** The same when the page has used half of its share, so that a busy server does not use up the rest. */
const AFTER_EVENT_BUSY_MS = 2_500;

export class Pace {
  #requestTimes: number[] = [];
  #limit: LimitLeft | undefined;
  #waitUntil = 0;
  #failures = 0;
  #isBlocked = false;
  readonly #listeners = new Set<() => void>();

  get limit(): LimitLeft | undefined {
    return this.#limit;
  }

  /** The end of the last Retry-After, which may be over; 0 when there was none. */
  get waitUntil(): number {
    return this.#waitUntil;
  }

  /** Must see every outcome. */
  observe(outcome: Outcome<unknown>): void {
    const now = outcome.receivedAt;
    this.#count(outcome);
    const error = outcome.ok ? undefined : outcome.error;
    const isUnreachable = error?.code === UNREACHABLE;
    const isBlocked = isUnreachable ? this.#isBlocked : error?.code === ERRORS.spamBlocked.code;
    // A blocked key gets no other answer, so any other answer shows that the block is over.
    const isRecovered = !isUnreachable && (this.#failures > 0 || (this.#isBlocked && !isBlocked));
    if (isRecovered) this.#waitUntil = 0;
    if (error?.retryAfter !== undefined) this.#waitUntil = now + error.retryAfter * 1000;
    this.#failures = isUnreachable ? this.#failures + 1 : 0;
    this.#isBlocked = isBlocked;
    if (isRecovered) for (const listener of this.#listeners) listener();
  }

  /**
   * Must see every outcome of opening a stream. A stream that cannot be opened says nothing of other requests, unless the
   * limit is used up or the key is blocked.
   */
  observeStream(outcome: OpenedStream | Failure): void {
    const code = outcome.ok ? undefined : outcome.error.code;
    const isAboutKey = code === ERRORS.rateLimited.code || code === ERRORS.spamBlocked.code;
    if (!outcome.ok && isAboutKey) this.observe(outcome);
    else this.#count(outcome);
  }

  #count({ receivedAt: now, limit }: Pick<Failure, "receivedAt" | "limit">): void {
    this.#requestTimes = this.#requestTimes.filter((at) => now - at < WINDOW_MS);
    this.#requestTimes.push(now);
    if (limit) this.#limit = limit;
  }

  /** Calls the listener when Gatehouse is reachable again or a block is over. Returns a function that removes it. */
  onRecovery(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The delay before the next poll, for a poll that should happen every `intervalMs`. */
  delayMs(intervalMs: number, now: number): number {
    let delay = intervalMs;
    if (this.#failures > 0) {
      const backoff = Math.min(intervalMs * 2 ** (this.#failures - 1), BACKOFF_MAX_MS);
      delay = Math.max(delay, backoff);
    }
    const limit = this.#limit && this.#limit.resetAt > now ? this.#limit : undefined;
    if (limit && limit.remaining < limit.limit * NEARLY_EMPTY_SHARE) {
      delay = Math.max(delay, limit.resetAt - now);
    } else if (limit && limit.remaining < limit.limit * LOW_SHARE) {
      delay = Math.max(delay, intervalMs * 2);
    }
    delay = Math.max(delay, this.#waitUntil - now, this.ownShareDelayMs(now));
    return Math.round(delay + Math.random() * intervalMs * JITTER_SHARE);
  }

  /** The time between two requests that events cause. */
  eventSpacingMs(intervalMs: number, now: number): number {
    if (this.isSlowed(now)) return intervalMs;
    const max = (this.#limit?.limit ?? LIMIT_PER_WINDOW) * OWN_SHARE;
    const recent = this.#requestTimes.filter((at) => now - at < WINDOW_MS);
    return recent.length < max / 2 ? AFTER_EVENT_MS : AFTER_EVENT_BUSY_MS;
  }

  isSlowed(now: number): boolean {
    const limit = this.#limit && this.#limit.resetAt > now ? this.#limit : undefined;
    return limit !== undefined && limit.remaining < limit.limit * LOW_SHARE;
  }

  /** Whether the page may send a request on its own. */
  mayPoll(now: number): boolean {
    return now >= this.#waitUntil && this.ownShareDelayMs(now) === 0;
  }

  /** Whether the user may send a request. That is allowed during a block, because an operator may have lifted it. */
  mayRefresh(now: number): boolean {
    if (!this.#isBlocked) return this.mayPoll(now);
    const lastAt = this.#requestTimes.at(-1) ?? 0;
    return now - lastAt >= BLOCKED_REFRESH_MS && this.ownShareDelayMs(now) === 0;
  }

  /** The time until the page may send a request within its share of the limit; 0 when it may now. */
  ownShareDelayMs(now: number): number {
    const max = (this.#limit?.limit ?? LIMIT_PER_WINDOW) * OWN_SHARE;
    const recent = this.#requestTimes.filter((at) => now - at < WINDOW_MS);
    if (recent.length < max) return 0;
    return (recent[recent.length - Math.floor(max)] ?? now) + WINDOW_MS - now;
  }
}
