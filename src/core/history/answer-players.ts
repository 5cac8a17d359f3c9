// Answers how many players there were: chooses the resolution, and builds points without holes.
import type { Period } from "../ports/history.ts";
import { type PlayersHistory, type PlayersPoint, POINTS_MAX } from "../wire/history.ts";
import { type Counts, RESOLUTION_KEPT_MS, RESOLUTION_MS, RESOLUTIONS, type Resolution } from "./counts.ts";
import { rollUp } from "./join-counts.ts";
import { toAverage, toShare } from "./rounding.ts";

/** What the reader may see beside the number of players. */
export type CountRights = { readonly players: boolean; readonly queue: boolean };

/** The finest resolution that gives few enough points and is still kept where the period begins. */
export function chooseResolution(period: Period, now: number): Resolution {
  return (
    RESOLUTIONS.find(
      (resolution) => countPoints(period, resolution) <= POINTS_MAX && isKept(resolution, period.from, now),
    ) ?? "1d"
  );
}

/** Whether this resolution is still kept for that time. */
export function isKept(resolution: Resolution, at: number, now: number): boolean {
  const keptMs = RESOLUTION_KEPT_MS[resolution];
  return keptMs === null || at >= now - keptMs;
}

export function countPoints(period: Period, resolution: Resolution): number {
  const { from, to } = alignPeriod(period, resolution);
  return (to - from) / RESOLUTION_MS[resolution];
}

/** The whole points that the period touches. */
export function alignPeriod({ from, to }: Period, resolution: Resolution): Period {
  const stepMs = RESOLUTION_MS[resolution];
  return { from: Math.floor(from / stepMs) * stepMs, to: Math.ceil(to / stepMs) * stepMs };
}

/** `counts` are of this resolution, or of finer ones. Those outside of the period are left out. */
export function answerPlayers(
  period: Period,
  resolution: Resolution,
  counts: Iterable<Counts>,
  rights: CountRights,
): PlayersHistory {
  const stepMs = RESOLUTION_MS[resolution];
  const { from, to } = alignPeriod(period, resolution);
  const known = new Map(rollUp(counts, resolution).map((one) => [one.at, one]));
  const points: PlayersPoint[] = [];
  for (let at = from; at < to; at += stepMs) points.push(describePoint(at, stepMs, known.get(at), rights));
  return { resolution, points };
}

function describePoint(at: number, stepMs: number, counts: Counts | undefined, rights: CountRights): PlayersPoint {
  const told = counts && counts.knownMs > 0 ? counts : undefined;
  return {
    at,
    known: toShare(told?.knownMs ?? 0, stepMs),
    min: told?.min ?? null,
    avg: told ? toAverage(told.playerMs, told.knownMs) : null,
    max: told?.max ?? null,
    ...(rights.queue && { queue_max: told?.queueMax ?? null }),
    ...(rights.players && { staff_max: told?.staffMax ?? null, teams: told ? averageTeams(told) : null }),
  };
}

function averageTeams({ teamMs, teamKnownMs }: Counts): Record<string, number> | null {
  if (teamKnownMs === 0) return null;
  const averages = Object.entries(teamMs).map(([team, ms]): [string, number] => [team, toAverage(ms, teamKnownMs)]);
  return Object.fromEntries(averages);
}
