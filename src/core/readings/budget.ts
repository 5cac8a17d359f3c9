// The read budget: how many calls the game API allows, shared by all game servers. Follows the rate-limit headers and
// decides when the next call may be made. Pure: state and time in, state out.
import { DAY_MS, HOUR_MS } from "../durations.ts";
import type { LimitHint } from "../ports/upstream.ts";

/** The length of a rate-limit window, unless the headers show a longer one. */
export const BUDGET_WINDOW_MS = 60_000;
/** A reset time further ahead is treated as an error of the game API. */
const WINDOW_MAX_MS = HOUR_MS;
/** Until the first answer, one more call is allowed each time that this has passed since the last call. */
const FIRST_CALLS_INTERVAL_MS = 500;
/** Until the first answer, waiting servers check again after this time. */
const FIRST_ANSWER_POLL_MS = 25;
/** The backoff after a 429 that names no time: the first one, and the longest. */
export const PAUSE_FIRST_MS = 5_000;
export const PAUSE_MAX_MS = 60_000;
/** This share of a window's calls may be made at once; the others are spread evenly over the rest of the window. */
const BURST_SHARE = 0.25;
/** A longer pause is treated as an error of the game API. */
const REQUESTED_PAUSE_MAX_MS = DAY_MS;
/** A pause or window whose end is further ahead than its length began before the clock was set back; this is the tolerance. */
const CLOCK_TOLERANCE_MS = 1_000;
/** Reset times that differ by less belong to the same window: the header has whole seconds. */
const SAME_RESET_MS = 1_500;

/** `remaining` is the number of calls still allowed before `resetAt`; calls in flight are subtracted already. */
export type Budget = {
  /** Whether the game API has answered any call yet. */
  readonly hasAnswer: boolean;
  /** Null when the game API sends no limit: then no call has to wait. */
  readonly limit: number | null;
  readonly remaining: number;
  readonly resetAt: number;
  readonly windowMs: number;
  /** When the last call for any server was made, without those of watching; 0 before the first. */
  readonly lastCallAt: number;
  /** When the watcher last called for any server; 0 before the first. */
  readonly lastWatchAt: number;
  readonly pausedUntil: number;
  readonly pauseMs: number;
  /** Whether the game API named the length of the last pause. Otherwise it was a backoff of our own. */
  readonly isPauseNamed: boolean;
  /** When an operator last lifted a pause; 0 before. A pause that began before is not shared any more. */
  readonly liftedAt: number;
  /** The pause after the next 429 that names no time. */
  readonly backoffMs: number;
};

export const UNKNOWN_BUDGET: Budget = {
  hasAnswer: false,
  limit: null,
  remaining: 0,
  resetAt: 0,
  windowMs: BUDGET_WINDOW_MS,
  lastCallAt: 0,
  lastWatchAt: 0,
  pausedUntil: 0,
  pauseMs: 0,
  isPauseNamed: false,
  liftedAt: 0,
  backoffMs: PAUSE_FIRST_MS,
};

/** What the decision about a call depends on besides the budget. */
export type CallContext = {
  /** No call was made for this server yet. It goes first as long as calls remain. */
  readonly isFirstCall: boolean;
  /** How many servers are due for a call and have waited longer since their last one. */
  readonly serversWaitingLonger: number;
  readonly callsInFlight: number;
};

/**
 * How long a server has to wait for its next call; 0 when it may be made now. When calls are scarce they are made at an
 * even pace, and each goes to the server that has waited longest, so that no server starves.
 */
export function msUntilCall(budget: Budget, now: number, context: CallContext): number {
  const { isFirstCall, serversWaitingLonger, callsInFlight } = context;
  if (isPaused(budget, now)) return budget.pausedUntil - now;
  if (!budget.hasAnswer) {
    const isNextDue = callsInFlight === 0 || now - budget.lastCallAt >= FIRST_CALLS_INTERVAL_MS;
    return isNextDue ? 0 : FIRST_ANSWER_POLL_MS;
  }
  if (budget.limit === null) return 0;
  const { remaining, resetAt } = currentWindow(budget, budget.limit, now);
  if (remaining <= 0) return resetAt - now;
  const isBurst = remaining > budget.limit * (1 - BURST_SHARE) && remaining > serversWaitingLonger;
  if (isFirstCall || isBurst) return 0;
  const paceMs = (resetAt - now) / remaining;
  const turnAt = Math.min(budget.lastCallAt + (serversWaitingLonger + 1) * paceMs, resetAt);
  return Math.max(0, turnAt - now);
}

export function isPaused({ pausedUntil }: Budget, now: number): boolean {
  return pausedUntil > now;
}

/** After the clock was set back, a pause and a window last as long as they are, from now: neither for ever nor not at all. */
export function followClock(budget: Budget, now: number): Budget {
  const pausedUntil = endBySetClock(budget.pausedUntil, budget.pauseMs, now);
  const resetAt = endBySetClock(budget.resetAt, budget.windowMs, now);
  if (pausedUntil === budget.pausedUntil && resetAt === budget.resetAt) return budget;
  return { ...budget, pausedUntil, resetAt };
}

function endBySetClock(end: number, lengthMs: number, now: number): number {
  return end - now > lengthMs + CLOCK_TOLERANCE_MS ? now + lengthMs : end;
}

/** The calls that remain in the current window, for metrics; null when there is no limit. */
export function countCallsLeft(budget: Budget, now: number): number | null {
  return budget.limit === null ? null : Math.max(0, currentWindow(budget, budget.limit, now).remaining);
}

/** Counts a call that is being made. */
export function spendCall(budget: Budget, now: number): Budget {
  if (budget.limit === null) return { ...budget, lastCallAt: now };
  const { remaining, resetAt } = currentWindow(budget, budget.limit, now);
  return { ...budget, remaining: remaining - 1, resetAt, lastCallAt: now };
}

/** Applies the headers of an answer. The game API may not have counted the other `callsInFlight` yet. */
export function updateBudget(budget: Budget, hint: LimitHint, now: number, callsInFlight: number): Budget {
  const base = { ...budget, hasAnswer: true, backoffMs: PAUSE_FIRST_MS };
  const { limit, remaining } = hint;
  // With a limit of 0 no call would ever be made again, and so none would tell another limit.
  if (limit === null || limit < 1 || remaining === null || hint.resetAt === null) return base;
  const resetAt = Math.min(hint.resetAt, now + WINDOW_MAX_MS);
  if (resetAt <= now) return { ...base, limit };
  const isSameWindow = base.limit !== null && isSameReset(resetAt, base.resetAt);
  // Within one window the smaller number is right, because another program may call from our address.
  if (isSameWindow) return { ...base, limit, remaining: Math.min(base.remaining, remaining), resetAt };
  // The rest of the window is the least possible length. Assuming a window that is too short would lead to refused calls.
  const windowMs = Math.max(BUDGET_WINDOW_MS, resetAt - now);
  return { ...base, limit, remaining: remaining - callsInFlight, resetAt, windowMs };
}

/** After a 429: no calls for any server until the time that it names, or for a backoff of our own. */
export function pauseBudget(budget: Budget, hint: LimitHint, now: number): Budget {
  const requestedMs = requestedPauseMs(hint, now);
  const isRequested = requestedMs !== null;
  const wasPaused = isPaused(budget, now);
  const newPauseMs = requestedMs ?? budget.backoffMs;
  // Several 429s of concurrent calls count as one: a later one may only extend the pause, by the time that it names.
  const pauseMs = wasPaused ? Math.max(budget.pausedUntil - now, isRequested ? newPauseMs : 0) : newPauseMs;
  const doubledMs = Math.min(budget.backoffMs * 2, PAUSE_MAX_MS);
  const backoffMs = isRequested ? PAUSE_FIRST_MS : wasPaused ? budget.backoffMs : doubledMs;
  const isPauseNamed = isRequested || (wasPaused && budget.isPauseNamed);
  return { ...budget, hasAnswer: true, pausedUntil: now + pauseMs, pauseMs, isPauseNamed, backoffMs };
}

/** Ends the pause, on every instance: other instances drop their copy of a pause that began before. */
export function liftPause(budget: Budget, now: number): Budget {
  const none = { pausedUntil: 0, pauseMs: 0, isPauseNamed: false };
  // The clock of the instance that got the 429 may be ahead of ours.
  const liftedAt = Math.max(now, budget.pausedUntil - budget.pauseMs);
  return { ...budget, ...none, backoffMs: PAUSE_FIRST_MS, liftedAt };
}

/** The budget at a start, with a pause that was saved before. */
export function createBudget(pause: Partial<Budget> | undefined): Budget {
  return { ...UNKNOWN_BUDGET, ...pause };
}

/** `budget`, with the pause of `other` if that ends later and was not lifted meanwhile. */
export function withLongerPause(budget: Budget, other: Budget, now: number): Budget {
  const isLonger = isPaused(other, now) && other.pausedUntil > budget.pausedUntil;
  const isLifted = other.pausedUntil - other.pauseMs <= budget.liftedAt;
  if (!isLonger || isLifted) return budget;
  const { pausedUntil, pauseMs, isPauseNamed } = other;
  return { ...budget, pausedUntil, pauseMs, isPauseNamed };
}

/**
 * A budget that was found in the shared store, with no more calls than this instance may make by what the game API told it:
 * somebody may have put an old budget back. `own`: the answers to this instance, and its own calls since.
 */
export function boundBudget(shared: Budget, own: Budget, now: number): Budget {
  if (own.limit === null) {
    // That there is no limit is believed only when the game API has told this instance so.
    const isOpen = shared.limit === null && shared.hasAnswer !== own.hasAnswer;
    return isOpen ? { ...shared, hasAnswer: own.hasAnswer } : shared;
  }
  const mine = currentWindow(own, own.limit, now);
  const limit = Math.min(shared.limit ?? own.limit, own.limit);
  const remaining = shared.limit === null ? limit : currentWindow(shared, shared.limit, now).remaining;
  if (limit === shared.limit && remaining <= mine.remaining) return shared;
  const windowMs = Math.max(shared.windowMs, own.windowMs);
  const { resetAt } = mine;
  return { ...shared, hasAnswer: true, limit, remaining: Math.min(remaining, mine.remaining), resetAt, windowMs };
}

/** `budget`, without a pause that began before an operator lifted it: somebody may have put an old budget back. */
export function withLift(budget: Budget, liftedAt: number): Budget {
  if (budget.liftedAt >= liftedAt) return budget;
  const isLifted = budget.pausedUntil - budget.pauseMs <= liftedAt;
  return { ...budget, liftedAt, ...(isLifted && { pausedUntil: 0, pauseMs: 0, isPauseNamed: false }) };
}

/** Whether `shared` is from before the `last` one that was seen: it was lost, or an old one was put back. */
export function isOlderBudget(shared: Budget, last: Budget): boolean {
  if (last.limit === null) return false;
  if (!shared.hasAnswer || shared.limit === null) return true;
  if (isSameReset(shared.resetAt, last.resetAt)) return shared.remaining > last.remaining;
  return shared.resetAt < last.resetAt;
}

/** The part of an instance of the calls that are left for all, while they cannot agree: at least one if any is left. */
export function divideCalls(calls: number, instances: number): number {
  return calls <= 0 ? calls : Math.max(1, Math.floor(calls / Math.max(1, instances)));
}

/** Whether both ends belong to one window. */
export function isSameReset(a: number, b: number): boolean {
  return Math.abs(a - b) < SAME_RESET_MS;
}

/** The pause that the headers request; null when they name none. */
export function requestedPauseMs(hint: LimitHint, now: number): number | null {
  const requestedMs = hint.retryAfterMs ?? (hint.resetAt === null ? null : hint.resetAt - now);
  return requestedMs !== null && requestedMs > 0 ? Math.min(requestedMs, REQUESTED_PAUSE_MAX_MS) : null;
}

/** A new window when the last one is over. */
export function currentWindow(
  budget: Budget,
  limit: number,
  now: number,
): { readonly remaining: number; readonly resetAt: number } {
  return now >= budget.resetAt ? { remaining: limit, resetAt: now + budget.windowMs } : budget;
}

/** After an accepted command. When the window is used up, the delay lasts until its reset. */
export function delayAfterSendMs(intervalMs: number, hint: LimitHint | null, now: number): number {
  const isUsedUp = hint !== null && hint.remaining !== null && hint.remaining <= 0;
  const windowMs = isUsedUp ? (requestedPauseMs(hint, now) ?? 0) : 0;
  return Math.max(intervalMs, windowMs);
}

/** After a 429: the time that the game API names, or a backoff that doubles with each refusal in a row. */
export function delayAfterRateLimitMs(
  intervalMs: number,
  hint: LimitHint | null,
  refusalsBefore: number,
  now: number,
): number {
  const backoffMs = Math.min(PAUSE_FIRST_MS * 2 ** Math.min(refusalsBefore, 10), PAUSE_MAX_MS);
  return Math.max(intervalMs, (hint && requestedPauseMs(hint, now)) ?? backoffMs);
}
