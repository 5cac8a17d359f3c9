// Counts players reading by reading, adds counts together, and makes counts of what the memory of a server has not written yet. Each
// reading is valid from its time until the next one, or until nobody can know any more; it is counted when the next one comes.
import { type CountMemory, type CountNow, type Counts, RESOLUTION_MS, type Resolution } from "./counts.ts";

/** More teams than this are not told apart, so that made-up names cannot grow without end. The game has fewer than ten. */
export const TEAMS_MAX = 50;

const MINUTE_MS = RESOLUTION_MS["1m"];

/** `minutes`: those that are over. */
export type JudgedCounts = { readonly minutes: readonly Counts[]; readonly memory: CountMemory };

/** `validMs`: for how long the reading is valid at most. */
export function judgeCounts(known: CountMemory, now: CountNow, at: number, validMs: number): JudgedCounts {
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
  return { minutes, memory: { minute, last: { at, until: at + validMs, now } } };
}

function isWithin(minute: Counts, at: number): boolean {
  return at >= minute.at && at < minute.at + MINUTE_MS;
}

/** Both together, from the time where the first begins. */
export function addCounts(a: Counts, b: Counts): Counts {
  // A map, because a team can have the name of something that every object has.
  const teamMs = new Map(Object.entries(a.teamMs));
  for (const [team, ms] of Object.entries(b.teamMs)) {
    const before = teamMs.get(team);
    if (before !== undefined || teamMs.size < TEAMS_MAX) teamMs.set(team, (before ?? 0) + ms);
  }
  return {
    at: a.at,
    knownMs: a.knownMs + b.knownMs,
    playerMs: a.playerMs + b.playerMs,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
    queueMax: maxOrNull(a.queueMax, b.queueMax),
    staffMax: maxOrNull(a.staffMax, b.staffMax),
    teamKnownMs: a.teamKnownMs + b.teamKnownMs,
    teamMs: Object.fromEntries(teamMs),
  };
}

/** Adds up what falls into the same time of a resolution, oldest first. */
export function rollUp(counts: Iterable<Counts>, resolution: Resolution): Counts[] {
  const sums = new Map<number, Counts>();
  for (const one of counts) {
    const at = beginOf(one.at, RESOLUTION_MS[resolution]);
    const sum = sums.get(at);
    sums.set(at, sum ? addCounts(sum, one) : { ...one, at });
  }
  return [...sums.values()].sort((a, b) => a.at - b.at);
}

/**
 * The minutes that are not written yet, as they are at `now`, oldest first: the open one, and those for which the last reading
 * is valid since.
 */
export function listOpenMinutes({ minute, last }: CountMemory, now: number): Counts[] {
  if (!last) return minute ? [minute] : [];
  // A reading is valid for its own moment at least, so that it is seen at once.
  const to = Math.min(Math.max(now, last.at + 1), last.until);
  return rollUp([...(minute ? [minute] : []), ...countTime(last.now, last.at, to)], "1m");
}

/** The counts of a time in which nothing changed, cut into minutes. Empty when `to` is not after `from`. */
export function countTime(now: CountNow, from: number, to: number): Counts[] {
  const minutes: Counts[] = [];
  for (let start = from; start < to; ) {
    const at = beginOf(start, MINUTE_MS);
    const end = Math.min(at + MINUTE_MS, to);
    minutes.push(countSpan(now, at, end - start));
    start = end;
  }
  return minutes;
}

function countSpan({ players, queue, staff, teams }: CountNow, at: number, ms: number): Counts {
  const teamMs = Object.fromEntries(Object.entries(teams ?? {}).map(([team, count]) => [team, count * ms]));
  return {
    at,
    knownMs: ms,
    playerMs: players * ms,
    min: players,
    max: players,
    queueMax: queue,
    staffMax: staff,
    teamKnownMs: teams ? ms : 0,
    teamMs,
  };
}

function beginOf(at: number, lengthMs: number): number {
  return Math.floor(at / lengthMs) * lengthMs;
}

function maxOrNull(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
