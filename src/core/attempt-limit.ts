// The limit of wrong master keys per address: ten in any minute are allowed, further ones are refused.

export const ATTEMPTS_PER_WINDOW = 10;
export const ATTEMPTS_WINDOW_MS = 60_000;

/** The times of the allowed attempts, oldest first; at most ATTEMPTS_PER_WINDOW. */
export type Attempts = readonly number[];

/** Judges one wrong attempt. It is refused when `allowedFrom`, the time of the next allowed attempt, is after `now`. */
export function judgeAttempt(attempts: Attempts, now: number): { attempts: Attempts; allowedFrom: number } {
  // Times in the future are from before the clock was set back.
  const recent = attempts.filter((at) => at <= now && now - at < ATTEMPTS_WINDOW_MS);
  const [oldest] = recent;
  if (oldest !== undefined && recent.length >= ATTEMPTS_PER_WINDOW) {
    return { attempts: recent, allowedFrom: oldest + ATTEMPTS_WINDOW_MS };
  }
  return { attempts: [...recent, now], allowedFrom: now };
}
