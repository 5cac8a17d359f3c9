// The breaker of one game server's upstream: after some failures in a row calls stop for a while, then one probe
// decides. Pure: state and time in, state out.

export const FAILURES_TO_OPEN = 5;
export const OPEN_FIRST_MS = 5_000;
export const OPEN_MAX_MS = 60_000;

/** `openMs` is how long the breaker was last opened for; 0 while it is closed. */
export type Breaker = { readonly failures: number; readonly openMs: number; readonly openUntil: number };

export const CLOSED_BREAKER: Breaker = { failures: 0, openMs: 0, openUntil: 0 };

export function isOpen(breaker: Breaker): boolean {
  return breaker.openMs !== 0;
}

/** While open, one call is due when the time is up: the probe. A clock set back must not lengthen the wait. */
export function isCallDue(breaker: Breaker, now: number): boolean {
  return now >= breaker.openUntil || breaker.openUntil - now > OPEN_MAX_MS;
}

export function afterFailure(breaker: Breaker, now: number): Breaker {
  const failures = breaker.failures + 1;
  if (failures < FAILURES_TO_OPEN) return { ...breaker, failures };
  const openMs = isOpen(breaker) ? Math.min(breaker.openMs * 2, OPEN_MAX_MS) : OPEN_FIRST_MS;
  return { failures, openMs, openUntil: now + openMs };
}
