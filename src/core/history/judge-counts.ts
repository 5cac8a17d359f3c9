// How many players there were, reading by reading: each reading vouches from its time until the next one, or until nobody can
// know any more. What it vouches for is counted when the next one comes.
import { type CountMemory, type CountNow, type Counts, RESOLUTION_MS } from "./counts.ts";
import { addCounts, countTime } from "./join-counts.ts";

/** `minutes`: those that are over. */
export type JudgedCounts = { readonly minutes: readonly Counts[]; readonly memory: CountMemory };

/** `vouchMs`: for how long the reading vouches at most. */
export function judgeCounts(known: CountMemory, now: CountNow, at: number, vouchMs: number): JudgedCounts {
  const { last } = known;
  const minutes: Counts[] = [];
  let minute = known.minute;
  // After the clock was set back the last reading lies ahead, and nothing is counted.
  for (const piece of last ? countTime(last.now, last.at, Math.min(at, last.until)) : []) {
    if (minute && minute.at !== piece.at) {
      minutes.push(minute);
      minute = null;
    }
    minute = minute ? addCounts(minute, piece) : piece;
  }
  if (minute && !isWithin(minute, at)) {
    minutes.push(minute);
    minute = null;
  }
  return { minutes, memory: { minute, last: { at, until: at + vouchMs, now } } };
}

function isWithin(minute: Counts, at: number): boolean {
  return at >= minute.at && at < minute.at + RESOLUTION_MS["1m"];
}
