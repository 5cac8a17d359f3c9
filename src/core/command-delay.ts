// How long to wait before the next command of a server: our own interval, or longer if the game API asks for it. Pure.
import { PAUSE_FIRST_MS, PAUSE_MAX_MS, requestedPauseMs } from "./budget.ts";
import type { LimitHint } from "./ports/upstream.ts";

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
