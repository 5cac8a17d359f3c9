// Turns the counts of a period into the lines of a plot, and sums them up. Pure.
import type { PlayersPoint } from "../../../core/wire/history.ts";
import type { Line } from "./line.ts";

export type HistoryLines = {
  /** Epoch seconds. */
  readonly times: readonly number[];
  readonly average: Line;
  readonly low: Line;
  readonly high: Line;
  /** Undefined when the key may not read it. */
  readonly queue: Line | undefined;
  readonly staff: Line | undefined;
};

/** A point of which nothing is known is a gap in every line. */
export function buildHistoryLines(points: readonly PlayersPoint[]): HistoryLines {
  const hasQueue = points.some(({ queue_max }) => queue_max !== undefined);
  const hasStaff = points.some(({ staff_max }) => staff_max !== undefined);
  return {
    times: points.map(({ at }) => at / 1000),
    average: points.map(({ avg }) => avg),
    low: points.map(({ min }) => min),
    high: points.map(({ max }) => max),
    queue: hasQueue ? points.map(({ queue_max }) => queue_max ?? null) : undefined,
    staff: hasStaff ? points.map(({ staff_max }) => staff_max ?? null) : undefined,
  };
}

export type HistorySummary = {
  /** From 0 to 1: for how much of the time until the end of the period readings vouch. */
  readonly known: number;
  /** How many points are known, at least in part. */
  readonly knownPoints: number;
  /** When the first known point begins. */
  readonly firstAt: number;
  /** Whether nothing is known before that point. */
  readonly isBegun: boolean;
  /** The average of all known time. */
  readonly average: number;
  readonly max: number;
  /** When the point with the most players begins. */
  readonly maxAt: number;
};

/** Undefined when nothing is known. */
export function summarise(points: readonly PlayersPoint[]): HistorySummary | undefined {
  const first = points.findIndex(({ known }) => known > 0);
  const firstPoint = points[first];
  if (!firstPoint) return undefined;
  let best = firstPoint;
  for (const point of points) if ((point.max ?? -1) > (best.max ?? -1)) best = point;
  const knownSum = points.reduce((sum, point) => sum + point.known, 0);
  const averages = points.reduce((sum, { known, avg }) => sum + known * (avg ?? 0), 0);
  return {
    known: knownSum / points.length,
    average: averages / knownSum,
    knownPoints: points.filter((point) => point.known > 0).length,
    firstAt: firstPoint.at,
    isBegun: first > 0,
    max: best.max ?? 0,
    maxAt: best.at,
  };
}
