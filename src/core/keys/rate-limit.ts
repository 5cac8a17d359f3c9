// The rules of the request limit and the spam block: one pure function from a key's state and the time to a verdict and
// the next state. Stores keep the state and do not decide. All numbers of the rules are here.
import { HOUR_MS } from "../durations.ts";

export const LIMIT_PER_WINDOW = 120;
/** The bucket that the headers name. A key has only this one. */
export const LIMIT_BUCKET = "server";
export const WINDOW_MS = 60_000;
export const BLOCK_AT_EXCESS = 400;
export const BLOCK_MS = 5 * 60_000;
export const BLOCK_EXTENSION_MS = 60_000;
export const BLOCK_AHEAD_MAX_MS = HOUR_MS;
/** Clocks are corrected by less while they run. */
export const CLOCK_TOLERANCE_MS = 1_000;

/**
 * `resetAt` and `count` describe the current window: the window of the limit or, while the key is blocked, the window
 * that counts requests during the block. `resetAt` 0 means that no window has begun.
 */
export type LimitState = { readonly resetAt: number; readonly count: number; readonly blockedUntil: number };

export const FRESH_LIMIT: LimitState = { resetAt: 0, count: 0, blockedUntil: 0 };

/**
 * `uncounted`: the request is admitted and does not change the state. `blockChanged`: the block began or was extended,
 * and the store must make it durable. `now` is the time of the verdict, by the store's clock.
 */
export type Verdict = {
  readonly outcome: "admitted" | "uncounted" | "limited" | "blocked";
  readonly now: number;
  readonly blockChanged: boolean;
  readonly state: LimitState;
};

/** `isCounted` is false for command submissions. During a block every request counts. */
export function judgeRequest(state: LimitState, now: number, isCounted: boolean): Verdict {
  if (state.blockedUntil > now) return judgeDuringBlock(state, now);
  if (!isCounted) return { outcome: "uncounted", now, blockChanged: false, state };

  const isFreshWindow = state.blockedUntil !== 0 || isWindowOver(state, now);
  const count = isFreshWindow ? 1 : state.count + 1;
  const resetAt = isFreshWindow ? now + WINDOW_MS : state.resetAt;

  if (count - LIMIT_PER_WINDOW >= BLOCK_AT_EXCESS) {
    const blocked = { resetAt: 0, count: 0, blockedUntil: now + BLOCK_MS };
    return { outcome: "blocked", now, blockChanged: true, state: blocked };
  }
  const outcome = count > LIMIT_PER_WINDOW ? "limited" : "admitted";
  return { outcome, now, blockChanged: false, state: { resetAt, count, blockedUntil: 0 } };
}

function judgeDuringBlock(state: LimitState, now: number): Verdict {
  const isFreshWindow = isWindowOver(state, now);
  const count = isFreshWindow ? 1 : state.count + 1;
  const resetAt = isFreshWindow ? now + WINDOW_MS : state.resetAt;
  // Equality, so that each window extends the block only once.
  const isExtended = count === LIMIT_PER_WINDOW + 1;
  const until = isExtended ? state.blockedUntil + BLOCK_EXTENSION_MS : state.blockedUntil;
  // The maximum also shortens a block that ends too far ahead because the clock was set back.
  const blockedUntil = Math.min(until, now + BLOCK_AHEAD_MAX_MS);
  const blockChanged = blockedUntil !== state.blockedUntil;
  return { outcome: "blocked", now, blockChanged, state: { resetAt, count, blockedUntil } };
}

/** Also true when the window ends much further ahead than its length, because then the clock was set back. */
export function isWindowOver(state: LimitState, now: number): boolean {
  return now >= state.resetAt || state.resetAt - now > WINDOW_MS + CLOCK_TOLERANCE_MS;
}

/** Rounded up, and at least 1: for Retry-After. */
export function secondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / 1000));
}
