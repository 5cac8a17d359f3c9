// Counts the time for which no reading vouched, so that a condition of an alert can leave it out.
import { silenceMs } from "../events/judge-state.ts";
import type { ServerMemory } from "../events/memory.ts";

/** `after` is what was known before with one more reading. */
export function countUnknownTime(
  before: ServerMemory,
  after: ServerMemory,
  intervalMs: number,
): ServerMemory {
  if (before.lastReadingAt === null || after.lastReadingAt === null) return after;
  const unknownMs = after.lastReadingAt - before.lastReadingAt - silenceMs(intervalMs);
  return unknownMs > 0 ? { ...after, unknownMs: before.unknownMs + unknownMs } : after;
}
