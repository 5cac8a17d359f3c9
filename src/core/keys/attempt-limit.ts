// The limit of attempts: so many in any window of time are allowed, further ones are refused. Of wrong secrets, ten a minute
// from one address.
import { CLOCK_TOLERANCE_MS, secondsUntil } from "./rate-limit.ts";

/** The times of the allowed attempts, oldest first; at most as many as the rule allows. */
export type Attempts = readonly number[];

export type AttemptRule = { readonly max: number; readonly windowMs: number };
export const WRONG_SECRETS: AttemptRule = { max: 10, windowMs: 60_000 };

/** Judges one attempt. It is refused when `allowedFrom`, the time of the next allowed attempt, is after `now`. */
export function judgeAttempt(
  attempts: Attempts,
  now: number,
  { max, windowMs }: AttemptRule,
): { attempts: Attempts; allowedFrom: number } {
  // Times far in the future are from before the clock was set back.
  const recent = attempts.filter((at) => at <= now + CLOCK_TOLERANCE_MS && now - at < windowMs);
  const [oldest] = recent;
  if (oldest !== undefined && recent.length >= max)
    return { attempts: recent, allowedFrom: Math.min(oldest, now) + windowMs };
  return { attempts: [...recent, now], allowedFrom: now };
}

/** Counts attempts by source: an address or a key. */
export class AttemptCounter {
  /** The source whose count began first comes first. */
  readonly #attempts = new Map<string, Attempts>();

  /** When there are more than `sourcesMax` sources, the one whose count began first is dropped. */
  constructor(
    private readonly rule: AttemptRule,
    private readonly sourcesMax: number,
  ) {}

  get size(): number {
    return this.#attempts.size;
  }

  /** Undefined when the attempt is allowed; otherwise it is not counted, and the next one is allowed after so many seconds. */
  count(source: string, now: number): number | undefined {
    const known = this.#attempts.get(source);
    const { attempts, allowedFrom } = judgeAttempt(known ?? [], now, this.rule);
    if (!known && this.#attempts.size >= this.sourcesMax) {
      const [first] = this.#attempts.keys();
      if (first !== undefined) this.#attempts.delete(first);
    }
    // The count of a source without recent attempts begins anew.
    if (attempts.length === 1) this.#attempts.delete(source);
    this.#attempts.set(source, attempts);
    return allowedFrom <= now ? undefined : secondsUntil(allowedFrom, now);
  }
}
