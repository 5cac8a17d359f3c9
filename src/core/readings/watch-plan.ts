// Watching: how often servers are read unasked, which one is next, and when the budget allows it. Callers come first. Pure:
// state and time in, decision out.
import { type Budget, type CallContext, currentWindow, isPaused, msUntilCall, spendCall } from "./budget.ts";

/** Watching uses at most this share of the calls that a window allows. */
const WATCH_SHARE = 2 / 3;
/** How often a server is asked that is offline. */
export const OFFLINE_INTERVAL_MS = 30_000;
/** While callers wait for the budget, the watcher checks again after this time. */
const CALLERS_RECHECK_MS = 100;

/** Whether a server is watched, and at which interval now. */
export type WatchPlan = { readonly isWatched: boolean; readonly intervalMs: number };

export type WatchedCounts = {
  /** Servers that may be called for and are not offline. */
  readonly online: number;
  readonly offline: number;
};

/** How many calls of a window watching may use. */
export function countWatchCalls(limit: number): number {
  return Math.floor(limit * WATCH_SHARE);
}

/**
 * The interval in force: the configured one, or a longer one when the budget does not carry it. Then it is the same for all
 * servers, except that those offline are asked less often anyway. Undefined when the budget allows no watching at all.
 */
export function planInterval(
  configuredMs: number,
  { online, offline }: WatchedCounts,
  { limit, windowMs }: Pick<Budget, "limit" | "windowMs">,
): number | undefined {
  if (limit === null) return configuredMs;
  const calls = countWatchCalls(limit);
  if (calls === 0) return undefined;
  const callsLeft = calls - (offline * windowMs) / OFFLINE_INTERVAL_MS;
  const besideOfflineMs = callsLeft > 0 ? (online * windowMs) / callsLeft : Number.POSITIVE_INFINITY;
  const evenMs = ((online + offline) * windowMs) / calls;
  const stretchedMs = besideOfflineMs <= OFFLINE_INTERVAL_MS ? besideOfflineMs : evenMs;
  return Math.max(configuredMs, Math.ceil(stretchedMs));
}

/** The interval of one server. */
export function intervalOf(isOffline: boolean, intervalMs: number): number {
  return isOffline ? Math.max(OFFLINE_INTERVAL_MS, intervalMs) : intervalMs;
}

/** One watched server that may be called for. */
export type WatchCandidate = {
  /** When it was last called, whoever asked for it; 0 when it was not. */
  readonly lastCallAt: number;
  /** When its first call is due. It is used until there was one. */
  readonly firstDueAt: number;
  readonly isOffline: boolean;
};

/** When the next call for the server is due: now, when the clock was set back since the last one. */
export function findDueAt(candidate: WatchCandidate, intervalMs: number, now: number): number {
  const { lastCallAt, firstDueAt, isOffline } = candidate;
  const ownMs = intervalOf(isOffline, intervalMs);
  if (lastCallAt === 0) return firstDueAt - now > ownMs ? now : firstDueAt;
  return lastCallAt > now ? now : lastCallAt + ownMs;
}

/** The servers that are due, the one that has waited longest first. */
export function listDue<T extends WatchCandidate>(candidates: readonly T[], intervalMs: number, now: number): T[] {
  const due: { readonly candidate: T; readonly dueAt: number }[] = [];
  for (const candidate of candidates) {
    const dueAt = findDueAt(candidate, intervalMs, now);
    if (dueAt <= now) due.push({ candidate, dueAt });
  }
  return due.sort((a, b) => a.dueAt - b.dueAt).map(({ candidate }) => candidate);
}

export type WatchContext = Omit<CallContext, "isFirstCall"> & {
  /** Whether a read of a caller waits for the budget now. */
  readonly areCallersWaiting: boolean;
};

/**
 * How long the watcher has to wait before it may call for this server; 0 when it may call now. Its calls are evenly spaced,
 * so that every stretch of time as long as a window has at most WATCH_SHARE of the window's calls. The other calls of
 * the window stay for callers, and callers that wait go first, unless this server has waited longer than theirs.
 */
export function msUntilWatch(budget: Budget, now: number, context: WatchContext): number {
  if (isPaused(budget, now) || !budget.hasAnswer) return msUntilCall(budget, now, { ...context, isFirstCall: false });
  const { limit, windowMs, lastWatchAt } = budget;
  if (limit === null) return 0;
  const calls = countWatchCalls(limit);
  if (calls === 0) return windowMs;
  const spacingMs = windowMs / calls;
  const sinceMs = now - lastWatchAt;
  // A last call in the future was made before the clock was set back.
  if (sinceMs >= 0 && sinceMs < spacingMs) return spacingMs - sinceMs;
  if (context.areCallersWaiting && context.serversWaitingLonger > 0) return CALLERS_RECHECK_MS;
  const { remaining, resetAt } = currentWindow(budget, limit, now);
  const reservedPerMs = (limit - calls) / windowMs;
  // The calls kept for callers become fewer as the window passes.
  const allowedAt = resetAt - Math.max(0, remaining - 1) / reservedPerMs;
  return remaining < 1 ? resetAt - now : Math.max(0, allowedAt - now);
}

/** Counts a call of the watcher. It does not delay the next call of a caller, which keeps a pace of its own. */
export function spendWatchCall(budget: Budget, now: number): Budget {
  const spent = spendCall(budget, now);
  return { ...spent, lastCallAt: budget.hasAnswer ? budget.lastCallAt : now, lastWatchAt: now };
}
