// The answers about the past as CSV, for spreadsheets. Times are ISO 8601, in UTC.
import { writeCsv } from "../csv.ts";
import type {
  PeaksResource,
  PlayersHistory,
  PlaytimeResource,
  SessionResource,
  StaffResource,
} from "../wire/history.ts";

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** A column for each team that is in any of the points. What the reader may not see is empty. */
export function writePlayersCsv({ points }: PlayersHistory): string {
  const teams = [...new Set(points.flatMap((point) => Object.keys(point.teams ?? {})))].toSorted();
  return writeCsv(
    ["at", "known", "min", "avg", "max", "queue_max", "staff_max", ...teams.map((team) => `team ${team}`)],
    points.map(({ at, known, min, avg, max, queue_max, staff_max, teams: inTeams }) => [
      toIso(at),
      known,
      min,
      avg,
      max,
      queue_max ?? null,
      staff_max ?? null,
      ...teams.map((team) => (inTeams ? (ownValue(inTeams, team) ?? 0) : null)),
    ]),
  );
}

export function writeSessionsCsv(sessions: readonly SessionResource[]): string {
  return writeCsv(
    ["player", "id", "joined_at", "left_at", "seconds", "ended", "teams"],
    sessions.map(({ player, id, joined_at, left_at, seconds, ended, teams }) => [
      player,
      id,
      toIso(joined_at),
      left_at === null ? null : toIso(left_at),
      seconds,
      ended,
      JSON.stringify(teams),
    ]),
  );
}

export function writePlaytimeCsv(items: readonly PlaytimeResource[]): string {
  const rows = items.map(({ player, id, seconds, sessions }) => [player, id, seconds, sessions]);
  return writeCsv(["player", "id", "seconds", "sessions"], rows);
}

export function writeStaffCsv(items: readonly StaffResource[]): string {
  return writeCsv(
    [
      "player",
      "id",
      "seconds",
      "commands",
      "modcalls_answered",
      "median_at_least",
      "median_at_most",
      "teams",
    ],
    items.map(({ player, id, seconds, teams, commands, modcalls_answered, median_between }) => [
      player,
      id,
      seconds,
      commands,
      modcalls_answered,
      median_between?.[0] ?? null,
      median_between?.[1] ?? null,
      JSON.stringify(teams),
    ]),
  );
}

/** A row for each hour, a column for each day of the week. */
export function writePeaksCsv({ tz, table }: PeaksResource): string {
  return writeCsv(
    [`hour (${tz})`, ...WEEKDAYS],
    Array.from({ length: 24 }, (_, hour) => [hour, ...table.map((day) => day[hour] ?? null)]),
  );
}

function ownValue(values: Readonly<Record<string, number>>, name: string): number | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function toIso(at: number): string {
  return new Date(at).toISOString();
}
