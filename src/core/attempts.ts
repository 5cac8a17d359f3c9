// Wrong master keys from one address: ten within any minute are answered, the next ones are sent away.

export const ATTEMPTS_PER_WINDOW = 10;
export const ATTEMPTS_WINDOW_MS = 60_000;

/** When those were that were answered, oldest first; never more than ten. */
export type Attempts = readonly number[];

/** The state after one more wrong try, and when the next one is answered: now or before, unless this one was sent away. */
export function judgeAttempt(attempts: Attempts, now: number): { attempts: Attempts; answeredFrom: number } {
  // What lies ahead is from before the clock was set back.
  const recent = attempts.filter((at) => at <= now && now - at < ATTEMPTS_WINDOW_MS);
  const [oldest] = recent;
  if (oldest !== undefined && recent.length >= ATTEMPTS_PER_WINDOW) {
    return { attempts: recent, answeredFrom: oldest + ATTEMPTS_WINDOW_MS };
  }
  return { attempts: [...recent, now], answeredFrom: now };
}
