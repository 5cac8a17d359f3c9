// The limit and the spam block: one pure function from a key's state and the time to a verdict and the next state.
// Stores keep the state; nobody else decides. Every number of the rule is here.

export const LIMIT_PER_WINDOW = 120;
export const WINDOW_MS = 60_000;
export const BLOCK_AT_EXCESS = 400;
export const BLOCK_MS = 5 * 60_000;
export const BLOCK_EXTENSION_MS = 60_000;
export const BLOCK_AHEAD_MAX_MS = 60 * 60_000;

/**
 * `resetAt` and `count` describe the window under way: the limit's own, or, while `blockedUntil` lies ahead, the
 * window that counts requests inside the block. `resetAt` 0 means that no window has begun.
 */
export type LimitState = {
  readonly resetAt: number;
  readonly count: number;
  readonly blockedUntil: number;
};

export const FRESH_LIMIT: LimitState = { resetAt: 0, count: 0, blockedUntil: 0 };

/**
 * `uncounted`: the request is admitted and left no trace. `blockChanged` tells the store that the block began or grew
 * and must outlive the process. `now` is the time the verdict was made at, by the clock that keeps the state.
 */
export type Verdict = {
  readonly outcome: "admitted" | "uncounted" | "limited" | "blocked";
  readonly now: number;
  readonly blockChanged: boolean;
  readonly state: LimitState;
};

/** A command submission is not counted, unless the key is blocked: inside a block every request counts. */
export function judgeRequest(state: LimitState, now: number, isCounted: boolean): Verdict {
  if (state.blockedUntil > now) return judgeInsideBlock(state, now);
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

function judgeInsideBlock(state: LimitState, now: number): Verdict {
  const isFreshWindow = isWindowOver(state, now);
  const count = isFreshWindow ? 1 : state.count + 1;
  const resetAt = isFreshWindow ? now + WINDOW_MS : state.resetAt;
  // Equality, not "more than": each window adds its minute once.
  const isExtended = count === LIMIT_PER_WINDOW + 1;
  const until = isExtended ? state.blockedUntil + BLOCK_EXTENSION_MS : state.blockedUntil;
  // The ceiling also mends a block that a clock set back has pushed far ahead.
  const blockedUntil = Math.min(until, now + BLOCK_AHEAD_MAX_MS);
  const blockChanged = blockedUntil !== state.blockedUntil;
  return { outcome: "blocked", now, blockChanged, state: { resetAt, count, blockedUntil } };
}

/** A window further ahead than its length means that the clock was set back; it is over too. */
export function isWindowOver(state: LimitState, now: number): boolean {
  return now >= state.resetAt || state.resetAt - now > WINDOW_MS;
}

export function secondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / 1000));
}
