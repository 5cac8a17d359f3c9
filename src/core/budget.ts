// The read budget that all game servers behind one Gatehouse share: when may the next call be made, and what did the
// game API's headers teach us. Pure: state and time in, state out.
import type { LimitHint } from "./ports/upstream.ts";

/** How long a window of the game API lasts until it says otherwise, and how long we believe that one can last. */
export const BUDGET_WINDOW_MS = 60_000;
const WINDOW_MAX_MS = 60 * 60_000;
/** Before the first answer one call is under way, and one more each time that this has passed since the last. */
const UNTOLD_STEP_MS = 500;
/** The others look again after this time, by when the first answer will have told. */
const UNTOLD_RECHECK_MS = 25;
export const PAUSE_FIRST_MS = 5_000;
export const PAUSE_MAX_MS = 60_000;
/** This share of a window's calls may be made at any pace; the rest is spread over what is left of the window. */
const BURST_SHARE = 0.25;
/** A longer pause than a day is a mistake of the sender. */
const NAMED_PAUSE_MAX_MS = 24 * 60 * 60_000;
/** What ends later than it can is from before the clock was set back; so much is forgiven for small corrections. */
const CLOCK_SLACK_MS = 1_000;

/** `remaining` counts the calls that are still allowed before `resetAt`, those under way already taken off. */
export type Budget = {
  /** Whether any answer has come yet, with a limit or without. */
  readonly isTold: boolean;
  /** Null when the game API names no limit: then nothing is held back. */
  readonly limit: number | null;
  readonly remaining: number;
  readonly resetAt: number;
  readonly windowMs: number;
  /** When a call was last made, for any server; 0 before the first. */
  readonly lastCallAt: number;
  readonly pausedUntil: number;
  readonly pauseMs: number;
  /** The pause to choose next when a refusal names none. */
  readonly ownPauseMs: number;
};

export const UNKNOWN_BUDGET: Budget = {
  isTold: false,
  limit: null,
  remaining: 0,
  resetAt: 0,
  windowMs: BUDGET_WINDOW_MS,
  lastCallAt: 0,
  pausedUntil: 0,
  pauseMs: 0,
  ownPauseMs: PAUSE_FIRST_MS,
};

/** What a decision depends on besides the budget: the server's own history, and what is going on around it. */
export type CallOutlook = {
  /** No call was ever made for this server: it goes first, while there are calls at all. */
  readonly isFirstCall: boolean;
  /** How many servers wait for a call whose last one was longer ago. */
  readonly serversAhead: number;
  readonly callsUnderWay: number;
};

/**
 * How long one server has to wait for its next call: 0 when it may be made now. When calls are scarce they are made
 * one by one at an even pace, and each goes to the server that has waited longest: so none can starve another.
 */
export function msUntilCall(budget: Budget, now: number, outlook: CallOutlook): number {
  const { isFirstCall, serversAhead, callsUnderWay } = outlook;
  if (isPaused(budget, now)) return budget.pausedUntil - now;
  if (!budget.isTold) {
    const isNextDue = callsUnderWay === 0 || now - budget.lastCallAt >= UNTOLD_STEP_MS;
    return isNextDue ? 0 : UNTOLD_RECHECK_MS;
  }
  if (budget.limit === null) return 0;
  const { remaining, resetAt } = currentWindow(budget, budget.limit, now);
  if (remaining <= 0) return resetAt - now;
  const isBurst = remaining > budget.limit * (1 - BURST_SHARE) && remaining > serversAhead;
  if (isFirstCall || isBurst) return 0;
  const paceMs = (resetAt - now) / remaining;
  const turnAt = Math.min(budget.lastCallAt + (serversAhead + 1) * paceMs, resetAt);
  return Math.max(0, turnAt - now);
}

export function isPaused({ pausedUntil, pauseMs }: Budget, now: number): boolean {
  return pausedUntil > now && pausedUntil - now <= pauseMs + CLOCK_SLACK_MS;
}

/** The calls left in the window under way, for people to see; null when there is no limit. */
export function countCallsLeft(budget: Budget, now: number): number | null {
  return budget.limit === null ? null : Math.max(0, currentWindow(budget, budget.limit, now).remaining);
}

export function spendCall(budget: Budget, now: number): Budget {
  if (budget.limit === null) return { ...budget, lastCallAt: now };
  const { remaining, resetAt } = currentWindow(budget, budget.limit, now);
  return { ...budget, remaining: remaining - 1, resetAt, lastCallAt: now };
}

/** Learns from an answer's headers. `callsUnderWay` are others that the game API may not have counted yet. */
export function learnBudget(budget: Budget, hint: LimitHint, now: number, callsUnderWay: number): Budget {
  const calm = { ...budget, isTold: true, ownPauseMs: PAUSE_FIRST_MS };
  const { limit, remaining } = hint;
  if (limit === null || remaining === null || hint.resetAt === null) return calm;
  const resetAt = Math.min(hint.resetAt, now + WINDOW_MAX_MS);
  if (resetAt <= now) return { ...calm, limit };
  const isSameWindow = calm.limit !== null && Math.abs(resetAt - calm.resetAt) < 1_500;
  // Within one window the smaller number is the true one: somebody else may share our address.
  if (isSameWindow) return { ...calm, limit, remaining: Math.min(calm.remaining, remaining), resetAt };
  // What is left of a window says how long it lasts at least; guessing too short would cost calls that are refused.
  const windowMs = Math.max(BUDGET_WINDOW_MS, resetAt - now);
  return { ...calm, limit, remaining: remaining - callsUnderWay, resetAt, windowMs };
}

/** After a 429: nothing is asked for any server of this budget until the time it named, or a time of our own. */
export function pauseBudget(budget: Budget, hint: LimitHint, now: number): Budget {
  const namedMs = namedPauseMs(hint, now);
  const isNamed = namedMs !== null;
  const wasPaused = isPaused(budget, now);
  const wantedMs = namedMs ?? budget.ownPauseMs;
  // Refusals that were under way together are one: they may lengthen the pause by name, never shorten or double it.
  const pauseMs = wasPaused ? Math.max(budget.pausedUntil - now, isNamed ? wantedMs : 0) : wantedMs;
  const doubledMs = Math.min(budget.ownPauseMs * 2, PAUSE_MAX_MS);
  const ownPauseMs = isNamed ? PAUSE_FIRST_MS : wasPaused ? budget.ownPauseMs : doubledMs;
  return { ...budget, isTold: true, pausedUntil: now + pauseMs, pauseMs, ownPauseMs };
}

/** What is known at a start: a pause that was ordered before. */
export function startBudget(pause: Pick<Budget, "pausedUntil" | "pauseMs"> | undefined): Budget {
  return { ...UNKNOWN_BUDGET, ...pause };
}

/** The budget with the other's pause, if that is the longer one. */
export function withPauseOf(budget: Budget, other: Budget, now: number): Budget {
  const isLonger = isPaused(other, now) && other.pausedUntil > budget.pausedUntil;
  return isLonger ? { ...budget, pausedUntil: other.pausedUntil, pauseMs: other.pauseMs } : budget;
}

/** How long the game API wants to be left alone; null when it did not say. */
export function namedPauseMs(hint: LimitHint, now: number): number | null {
  const namedMs = hint.retryAfterMs ?? (hint.resetAt === null ? null : hint.resetAt - now);
  return namedMs !== null && namedMs > 0 ? Math.min(namedMs, NAMED_PAUSE_MAX_MS) : null;
}

function currentWindow(budget: Budget, limit: number, now: number): { remaining: number; resetAt: number } {
  const isOver = now >= budget.resetAt || budget.resetAt - now > budget.windowMs + CLOCK_SLACK_MS;
  return isOver ? { remaining: limit, resetAt: now + budget.windowMs } : budget;
}
