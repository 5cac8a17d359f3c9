// The game API's rate limits: a fixed window for each bucket, the rate-limit headers, and the 429 answer.
import { type Answer, answerJson } from "./error-answers.ts";

const BUCKETS_MAX = 1000;

export type LimitVerdict = { isRefused: boolean; limit: number; remaining: number; resetMs: number };

/** Limits the calls per window. A bucket's window begins with its first call. At most BUCKETS_MAX buckets are kept. */
export class WindowLimit {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #buckets = new Map<string, { count: number; resetMs: number }>();

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Counts one call. Undefined when there is no limit. */
  take(bucket: string, nowMs: number): LimitVerdict | undefined {
    if (this.#limit === 0 || this.#windowMs === 0) return undefined;
    let window = this.#buckets.get(bucket);
    if (!window || nowMs >= window.resetMs) {
      window = { count: 0, resetMs: nowMs + this.#windowMs };
      this.#buckets.delete(bucket);
      this.#buckets.set(bucket, window);
      this.#dropOldest();
    }
    const isRefused = window.count >= this.#limit;
    if (!isRefused) window.count++;
    return { isRefused, limit: this.#limit, remaining: this.#limit - window.count, resetMs: window.resetMs };
  }

  #dropOldest(): void {
    const oldest = this.#buckets.keys().next();
    if (this.#buckets.size > BUCKETS_MAX && !oldest.done) this.#buckets.delete(oldest.value);
  }
}

export function limitHeaders(bucket: string, verdict: LimitVerdict): Record<string, string> {
  return {
    "X-RateLimit-Bucket": bucket,
    "X-RateLimit-Limit": String(verdict.limit),
    "X-RateLimit-Remaining": String(verdict.remaining),
    "X-RateLimit-Reset": String(Math.ceil(verdict.resetMs / 1000)),
  };
}

export function answerRateLimited(bucket: string, verdict: LimitVerdict, nowMs: number): Answer {
  const retryAfter = Math.max(1, Math.ceil((verdict.resetMs - nowMs) / 1000));
  const body = { message: "You are being rate limited!", retry_after: retryAfter, bucket, code: 4001 };
  const headers = { ...limitHeaders(bucket, verdict), "Retry-After": String(retryAfter) };
  return { ...answerJson(429, body, headers), code: 4001 };
}
