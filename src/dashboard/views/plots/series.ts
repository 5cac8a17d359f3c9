// Turns the history of the page into the lines of a plot and the rows of a table. Pure.
import { MINUTE_MS } from "../../../core/durations.ts";
import type { HistoryPoint } from "../../state/server-history.ts";
import type { Line } from "./line.ts";

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
    if (before && point.at - before.at > GAP_MS) addPoint(lines, before.at + 1000, null, null, null, null);
    // A reading counts what happened since the previous one, so the window starts at a previous reading.
    while (first < index - 1 && (points[first + 1]?.at ?? 0) <= point.at - MINUTE_MS) first += 1;
    const minutes = Math.max(point.at - (points[first]?.at ?? point.at), MINUTE_MS) / MINUTE_MS;
    const window = points.slice(index === 0 ? 0 : first + 1, index + 1);
    const joins = sumOf(window, ({ joins }) => joins);
    const leaves = sumOf(window, ({ leaves }) => leaves);
    addPoint(
      lines,
      point.at,
      point.players,
      point.queue ?? null,
      joins === undefined ? null : joins / minutes,
      leaves === undefined ? null : leaves / minutes,
    );
  }
  return lines;
}

function addPoint(
  lines: PlotLines,
  at: number,
  players: number | null,
  queue: number | null,
  joins: number | null,
  leaves: number | null,
): void {
  lines.times.push(at / 1000);
  lines.players.push(players);
  lines.queue.push(queue);
  lines.joins.push(joins);
  lines.leaves.push(leaves);
}

export type MinuteRow = {
  /** The start of the minute, in epoch milliseconds. */
  readonly at: number;
  /** From the last reading of the minute. */
  readonly players: number;
  readonly queue: number | undefined;
  readonly joins: number | undefined;
  readonly leaves: number | undefined;
};

/** One row for each minute with a reading, the newest first. */
export function listMinutes(points: readonly HistoryPoint[]): readonly MinuteRow[] {
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
