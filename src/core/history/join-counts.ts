// Adds counts together, and makes counts of what the memory of a server has not written yet.
import { type CountMemory, type Counts, RESOLUTION_MS } from "./counts.ts";

const MINUTE_MS = RESOLUTION_MS["1m"];

/** Both together, from the time where the first begins. */
export function addCounts(a: Counts, b: Counts): Counts {
  // A map, because a team can have the name of something that every object has.
  const teamMs = new Map(Object.entries(a.teamMs));
  for (const [team, ms] of Object.entries(b.teamMs)) teamMs.set(team, (teamMs.get(team) ?? 0) + ms);
  return {
    at: a.at,
    knownMs: a.knownMs + b.knownMs,
    playerMs: a.playerMs + b.playerMs,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
    queueMax: maxOrNull(a.queueMax, b.queueMax),
    staffMax: maxOrNull(a.staffMax, b.staffMax),
    teamMs: Object.fromEntries(teamMs),
  };
}

/**
 * The minutes that are not written yet, as they are at `now`, oldest first: the open one, and those for which the last reading
 * vouches since.
 */
export function listOpenMinutes({ minute, last }: CountMemory, now: number): Counts[] {
  const minutes = new Map<number, Counts>(minute ? [[minute.at, minute]] : []);
  const end = last ? Math.min(now, last.until) : 0;
  for (let from = last?.at ?? 0; last && from < end; ) {
    const at = Math.floor(from / MINUTE_MS) * MINUTE_MS;
    const to = Math.min(at + MINUTE_MS, end);
    const { players, queue, staff, teams } = last.now;
    const teamMs = Object.fromEntries(
      Object.entries(teams).map(([team, count]) => [team, count * (to - from)]),
    );
    const piece: Counts = {
      at,
      knownMs: to - from,
      playerMs: players * (to - from),
      min: players,
      max: players,
      queueMax: queue,
      staffMax: staff,
      teamMs,
    };
    const known = minutes.get(at);
    minutes.set(at, known ? addCounts(known, piece) : piece);
    from = to;
  }
  return [...minutes.values()];
}

function maxOrNull(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
