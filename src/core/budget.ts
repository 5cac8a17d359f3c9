// The read budget that all game servers behind one Gatehouse share: when may the next call be made, and what did the
// game API's headers teach us. Pure: state and time in, state out.
import type { LimitHint } from "./ports.ts";

/** How long a window of the game API lasts until we know better, and how long we believe that one can last. */
export const BUDGET_WINDOW_MS = 60_000;
const WINDOW_MAX_MS = 60 * 60_000;
/** Before the game API has told us anything: as many calls under way as it was seen to allow in a window. */
export const CALLS_UNTOLD_MAX = 35;
/** Then others look again after this time, by when the first answer will have told. */
const UNTOLD_RECHECK_MS = 25;
export const PAUSE_FIRST_MS = 5_000;
export const PAUSE_MAX_MS = 60_000;
/** This share of a window's calls may be made at any pace; the rest is spread over what is left of the window. */
const BURST_SHARE = 0.25;
/** A longer pause than a day is a mistake of the sender. */
const NAMED_PAUSE_MAX_MS = 24 * 60 * 60_000;

/** `remaining` counts the calls that are still allowed before `resetAt`, those under way already taken off. */
export type Budget = {
  /** Whether any answer has come yet, with a limit or without. */
  readonly isTold: boolean;
  /** Null when the game API names no limit: then nothing is held back. */
  readonly limit: number | null;
  readonly remaining: number;
  readonly resetAt: number;
  readonly windowMs: number;
  readonly pausedUntil: number;
  /** The last pause we had to choose ourselves; 0 when the last answer was no refusal. */
  readonly pauseMs: number;
};

export const UNKNOWN_BUDGET: Budget = {
  isTold: false,
  limit: null,
  remaining: 0,
  resetAt: 0,
  windowMs: BUDGET_WINDOW_MS,
  pausedUntil: 0,
  pauseMs: 0,
};

/** What a decision depends on besides the budget: the server's own history, and what is going on around it. */
export type CallOutlook = {
  readonly lastCallAt: number;
  readonly activeServers: number;
  readonly callsUnderWay: number;
};

/**
 * How long one server has to wait for its next call: 0 when it may be made now. When calls are scarce, every server
 * that is being asked about gets its turn once in (servers x time left / calls left), so none can starve another.
 */
export function msUntilCall(budget: Budget, now: number, outlook: CallOutlook): number {
  const { lastCallAt, activeServers, callsUnderWay } = outlook;
  if (budget.pausedUntil > now) return budget.pausedUntil - now;
  if (!budget.isTold) return callsUnderWay < CALLS_UNTOLD_MAX ? 0 : UNTOLD_RECHECK_MS;
  if (budget.limit === null) return 0;
  const { remaining, resetAt } = currentWindow(budget, budget.limit, now);
  if (remaining <= 0) return resetAt - now;
  if (remaining > budget.limit * (1 - BURST_SHARE) && remaining > activeServers) return 0;
  const turnMs = (Math.max(1, activeServers) * (resetAt - now)) / remaining;
  return Math.max(0, Math.min(lastCallAt + turnMs, resetAt) - now);
}

/** The calls left in the window under way, for people to see; null when there is no limit. */
export function countCallsLeft(budget: Budget, now: number): number | null {
  return budget.limit === null ? null : Math.max(0, currentWindow(budget, budget.limit, now).remaining);
}

export function spendCall(budget: Budget, now: number): Budget {
  if (budget.limit === null) return budget;
  const { remaining, resetAt } = currentWindow(budget, budget.limit, now);
  return { ...budget, remaining: remaining - 1, resetAt };
}

/** Learns from an answer's headers. `callsUnderWay` are others that the game API may not have counted yet. */
export function learnBudget(budget: Budget, hint: LimitHint, now: number, callsUnderWay: number): Budget {
  const calm = { ...budget, isTold: true, pauseMs: 0 };
  if (hint.limit === null || hint.remaining === null || hint.resetAt === null) return calm;
  const resetAt = Math.min(hint.resetAt, now + WINDOW_MAX_MS);
  if (resetAt <= now) return { ...calm, limit: hint.limit };
  const isSameWindow = calm.limit !== null && Math.abs(resetAt - calm.resetAt) < 1_500;
  // Within one window the smaller number is the true one: somebody else may share our address.
  if (isSameWindow)
    return { ...calm, limit: hint.limit, remaining: Math.min(calm.remaining, hint.remaining), resetAt };
  return {
    ...calm,
    limit: hint.limit,
    remaining: hint.remaining - callsUnderWay,
    resetAt,
    windowMs: resetAt - now,
  };
}

/** After a 429: nothing is asked for any server of this budget until the time it named, or a time of our own. */
export function pauseBudget(budget: Budget, hint: LimitHint, now: number): Budget {
  const namedMs = hint.retryAfterMs ?? (hint.resetAt === null ? null : hint.resetAt - now);
  const isNamed = namedMs !== null && namedMs > 0;
  const ownMs = budget.pauseMs === 0 ? PAUSE_FIRST_MS : Math.min(budget.pauseMs * 2, PAUSE_MAX_MS);
  const pauseMs = isNamed ? Math.min(namedMs, NAMED_PAUSE_MAX_MS) : ownMs;
  // A refusal that was under way when the pause began may lengthen it, never shorten it.
  const pausedUntil = Math.max(budget.pausedUntil, now + pauseMs);
  return { ...budget, isTold: true, pausedUntil, pauseMs: isNamed ? 0 : ownMs };
}

function currentWindow(budget: Budget, limit: number, now: number): { remaining: number; resetAt: number } {
  const isOver = now >= budget.resetAt || budget.resetAt - now > WINDOW_MAX_MS;
  return isOver ? { remaining: limit, resetAt: now + budget.windowMs } : budget;
}
