// When the next command of a server may be sent, by our own pace and by what the game API said. Pure.
import { namedPauseMs, PAUSE_FIRST_MS, PAUSE_MAX_MS } from "./budget.ts";
import type { LimitHint } from "./ports/upstream.ts";

/** After a command that the game API took: our own pace, or the end of a window that is used up. */
export function paceAfterSending(intervalMs: number, hint: LimitHint | null, now: number): number {
  const isUsedUp = hint !== null && hint.remaining !== null && hint.remaining <= 0;
  const windowMs = isUsedUp ? (namedPauseMs(hint, now) ?? 0) : 0;
  return Math.max(intervalMs, windowMs);
}

/** After a refusal for asking too often: the time it named, or one of our own that doubles with each refusal in a row. */
export function pauseAfterRefusal(
  intervalMs: number,
  hint: LimitHint | null,
  refusalsBefore: number,
  now: number,
): number {
  const ownMs = Math.min(PAUSE_FIRST_MS * 2 ** Math.min(refusalsBefore, 10), PAUSE_MAX_MS);
  return Math.max(intervalMs, (hint && namedPauseMs(hint, now)) ?? ownMs);
}
