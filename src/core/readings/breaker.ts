// The circuit breaker of one game server: after FAILURES_TO_OPEN failures in a row, calls stop for a while. Then one call,
// the probe, decides whether the breaker closes. Pure: state and time in, state out.

export const FAILURES_TO_OPEN = 5;
export const OPEN_FIRST_MS = 5_000;
export const OPEN_MAX_MS = 60_000;

/** `openMs` is how long the breaker was last opened for, 0 while it is closed. `openedAt`: since when it is open. */
export type Breaker = {
  readonly failures: number;
  readonly openMs: number;
  readonly openUntil: number;
  readonly openedAt?: number | undefined;
};

export const CLOSED_BREAKER: Breaker = { failures: 0, openMs: 0, openUntil: 0 };

export function isOpen(breaker: Breaker): boolean {
  return breaker.openMs !== 0;
}

/** Always true while closed. While open, true when the probe is due. A clock that is set back does not delay the probe. */
export function isCallDue(breaker: Breaker, now: number): boolean {
  return now >= breaker.openUntil || breaker.openUntil - now > OPEN_MAX_MS;
}

/** The first failures only count; each failed probe doubles the time until the next one. */
export function recordFailure(breaker: Breaker, now: number): Breaker {
  const failures = breaker.failures + 1;
  if (failures < FAILURES_TO_OPEN) return { ...breaker, failures };
  const openMs = isOpen(breaker) ? Math.min(breaker.openMs * 2, OPEN_MAX_MS) : OPEN_FIRST_MS;
  return { failures, openMs, openUntil: now + openMs, openedAt: isOpen(breaker) ? breaker.openedAt : now };
}
