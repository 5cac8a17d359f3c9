// Turns readings and counts of a period into the lines of a plot, and sums them up. Pure.

import { MINUTE_MS } from "../../../core/durations.ts";
import type { PlayersPoint } from "../../../core/wire/history.ts";
import type { HistoryPoint } from "../../state/server/server-history.ts";

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

/** A longer time without a reading is a gap in the line. */
export const GAP_MS = 45_000;

export type PlotLines = {
  /** Epoch seconds. */
  readonly times: number[];
  readonly players: Line;
  readonly queue: Line;
  /** Per minute: over the last minute, or over the time since the previous reading when that is longer. */
  readonly joins: Line;
  readonly leaves: Line;
};

export function buildLines(points: readonly HistoryPoint[]): PlotLines {
  const lines: PlotLines = { times: [], players: [], queue: [], joins: [], leaves: [] };
  let first = 0;
  for (const [index, point] of points.entries()) {
    const before = points[index - 1];
    if (before && point.at - before.at > GAP_MS) addPoint(lines, before.at + 1000, {});
    // A reading counts what happened since the previous one, so the window starts at a previous reading.
    while (first < index - 1 && (points[first + 1]?.at ?? 0) <= point.at - MINUTE_MS) first += 1;
    const minutes = Math.max(point.at - (points[first]?.at ?? point.at), MINUTE_MS) / MINUTE_MS;
    const window = points.slice(index === 0 ? 0 : first + 1, index + 1);
    const perMinute = (count: number | undefined) => (count === undefined ? undefined : count / minutes);
    addPoint(lines, point.at, {
      ...point,
      joins: perMinute(sumOf(window, ({ joins }) => joins)),
      leaves: perMinute(sumOf(window, ({ leaves }) => leaves)),
    });
  }
  return lines;
}

function addPoint(lines: PlotLines, at: number, values: Partial<HistoryPoint>): void {
  lines.times.push(at / 1000);
  for (const name of ["players", "queue", "joins", "leaves"] as const) lines[name].push(values[name] ?? null);
}

/** One point for each minute with a reading, the newest first: where it begins, and its last reading. */
export function listMinutes(points: readonly HistoryPoint[]): readonly HistoryPoint[] {
  const minutes = Map.groupBy(points, ({ at }) => Math.floor(at / MINUTE_MS) * MINUTE_MS);
  return Array.from(minutes, ([at, inside]) => {
    const last = inside.at(-1);
    return {
      at,
      players: last?.players ?? 0,
      queue: last?.queue,
      joins: sumOf(inside, ({ joins }) => joins),
      leaves: sumOf(inside, ({ leaves }) => leaves),
    };
  }).reverse();
}

function sumOf(
  points: readonly HistoryPoint[],
  countOf: (point: HistoryPoint) => number | undefined,
): number | undefined {
  let sum: number | undefined;
  for (const point of points) {
    const count = countOf(point);
    if (count !== undefined) sum = (sum ?? 0) + count;
  }
  return sum;
}

/** Null where nothing is known. */
export type Line = (number | null)[];

export type Range = { readonly now: number; readonly low: number; readonly high: number };

/** The last, lowest and highest value; undefined for a line without values. */
export function describeLine(line: Line): Range | undefined {
  let range: Range | undefined;
  for (const now of line) {
    if (now === null) continue;
    range = { now, low: Math.min(range?.low ?? now, now), high: Math.max(range?.high ?? now, now) };
  }
  return range;
}

/** The indexes of values without a neighbour: no line goes through them, so they need a dot. */
export function listLoneIndexes(line: ArrayLike<number | null | undefined>): number[] {
  const lone: number[] = [];
  for (let index = 0; index < line.length; index++) {
    const isKnown = (at: number) => line[at] !== null && line[at] !== undefined;
    if (isKnown(index) && !isKnown(index - 1) && !isKnown(index + 1)) lone.push(index);
  }
  return lone;
}

export const PLOT_COLOURS = {
  players: { light: "#3b5bdb", dark: "#91a7ff" },
  queue: { light: "#c2410c", dark: "#ffa94d" },
  staff: { light: "#862e9c", dark: "#e599f7" },
  joins: { light: "#087f5b", dark: "#38d9a9" },
  leaves: { light: "#862e9c", dark: "#e599f7" },
} as const;
