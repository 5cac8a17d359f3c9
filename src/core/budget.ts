// The read budget that all game servers behind one Gatehouse share: when may the next call be made, and what did the
// game API's headers teach us. Pure: state and time in, state out.
import type { LimitHint } from "./ports.ts";

/** How long a window of the game API lasts when it has not said so. */
export const BUDGET_WINDOW_MS = 60_000;
export const PAUSE_FIRST_MS = 5_000;
export const PAUSE_MAX_MS = 60_000;
/** This share of a window's calls may be made at any pace; the rest is spread over what is left of the window. */
const BURST_SHARE = 0.25;
/** A longer pause than a day is a mistake of the sender. */
const NAMED_PAUSE_MAX_MS = 24 * 60 * 60_000;

/** `remaining` counts the calls that are still allowed before `resetAt`, those under way already taken off. */
export type Budget = {
  /** Null until the game API has named a limit: then nothing is held back. */
  readonly limit: number | null;
  readonly remaining: number;
  readonly resetAt: number;
  readonly pausedUntil: number;
  /** The last pause we had to choose ourselves; 0 when the last answer was no refusal. */
  readonly pauseMs: number;
};

export const UNKNOWN_BUDGET: Budget = { limit: null, remaining: 0, resetAt: 0, pausedUntil: 0, pauseMs: 0 };

/**
 * How long one server has to wait for its next call: 0 when it may be made now. When calls are scarce, every server
 * that is being asked about gets its turn once in (servers x time left / calls left), so none can starve another.
 */
export function msUntilCall(budget: Budget, now: number, lastCallAt: number, activeServers: number): number {
  if (budget.pausedUntil > now) return budget.pausedUntil - now;
  if (budget.limit === null) return 0;
  const { remaining, resetAt } = currentWindow(budget, budget.limit, now);
  if (remaining <= 0) return resetAt - now;
  if (remaining > budget.limit * (1 - BURST_SHARE) && remaining > activeServers) return 0;
  const turnMs = (Math.max(1, activeServers) * (resetAt - now)) / remaining;
  return Math.max(0, Math.min(lastCallAt + turnMs, resetAt) - now);
}

export function spendCall(budget: Budget, now: number): Budget {
  if (budget.limit === null) return budget;
  const { remaining, resetAt } = currentWindow(budget, budget.limit, now);
  return { ...budget, remaining: remaining - 1, resetAt };
}

/** Learns from an answer's headers. `callsUnderWay` are others that the game API may not have counted yet. */
export function learnBudget(budget: Budget, hint: LimitHint, now: number, callsUnderWay: number): Budget {
  const calm = { ...budget, pauseMs: 0 };
  if (hint.limit === null || hint.remaining === null || hint.resetAt === null) return calm;
  const resetAt = Math.min(hint.resetAt, now + BUDGET_WINDOW_MS);
  if (resetAt <= now) return { ...calm, limit: hint.limit };
  const isSameWindow = calm.limit !== null && Math.abs(resetAt - calm.resetAt) < 1_500;
  const told = hint.remaining - callsUnderWay;
  // Within one window the smaller number is the true one: somebody else may share our address.
  const remaining = isSameWindow ? Math.min(calm.remaining, hint.remaining) : told;
  return { ...calm, limit: hint.limit, remaining, resetAt };
}

/** After a 429: nothing is asked for any server of this budget until the time it named, or a time of our own. */
export function pauseBudget(budget: Budget, hint: LimitHint, now: number): Budget {
  const namedMs = hint.retryAfterMs ?? (hint.resetAt === null ? null : hint.resetAt - now);
  if (namedMs !== null && namedMs > 0) {
    return { ...budget, pausedUntil: now + Math.min(namedMs, NAMED_PAUSE_MAX_MS), pauseMs: 0 };
  }
  const pauseMs = budget.pauseMs === 0 ? PAUSE_FIRST_MS : Math.min(budget.pauseMs * 2, PAUSE_MAX_MS);
  return { ...budget, pausedUntil: now + pauseMs, pauseMs };
}

function currentWindow(budget: Budget, limit: number, now: number): { remaining: number; resetAt: number } {
  const isOver = now >= budget.resetAt || budget.resetAt - now > BUDGET_WINDOW_MS;
  return isOver ? { remaining: limit, resetAt: now + BUDGET_WINDOW_MS } : budget;
}
