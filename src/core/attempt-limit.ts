// The limit of attempts: so many in any window of time are allowed, further ones are refused. Of wrong secrets, ten a minute
// from one address.

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
  // Times in the future are from before the clock was set back.
  const recent = attempts.filter((at) => at <= now && now - at < windowMs);
  const [oldest] = recent;
  if (oldest !== undefined && recent.length >= max) {
    return { attempts: recent, allowedFrom: oldest + windowMs };
  }
  return { attempts: [...recent, now], allowedFrom: now };
}
