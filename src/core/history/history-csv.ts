// The answers about the past as CSV, for spreadsheets. Times are ISO 8601, in UTC.
import type {
  PeaksResource,
  PlayersHistory,
  PlaytimeResource,
  SessionResource,
  StaffResource,
} from "../wire/history.ts";
import { COMMAND_KINDS } from "./command-kinds.ts";

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** A column for each team that is in any of the points. What the reader may not see is empty. */
export function writePlayersCsv({ points }: PlayersHistory): string {
  const fields = ["at", "known", "min", "avg", "max", "queue_max", "staff_max"] as const;
  const rows = points.map((point) => ({ queue_max: null, staff_max: null, ...point, at: toIso(point.at) }));
  return writeFields(fields, rows);
}

export function writeSessionsCsv(sessions: readonly SessionResource[]): string {
  const rows = sessions.map((session) => ({
    ...session,
    joined_at: toIso(session.joined_at),
    left_at: session.left_at === null ? null : toIso(session.left_at),
  }));
  return writeFields(["player", "id", "joined_at", "left_at", "seconds", "ended"], rows);
}

export function writePlaytimeCsv(items: readonly PlaytimeResource[]): string {
  return writeFields(["player", "id", "seconds", "sessions"], items);
}

export function writeStaffCsv(items: readonly StaffResource[]): string {
  const rows = items.map(({ median_between, commands_by_kind, ...item }) => {
    const [median_at_least = null, median_at_most = null] = median_between ?? [];
    return { ...item, ...commands_by_kind, median_at_least, median_at_most };
  });
  const answers = ["modcalls_answered", "median_at_least", "median_at_most"] as const;
  return writeFields(["player", "id", "role", "seconds", "commands", ...COMMAND_KINDS, ...answers], rows);
}

/** A row for each hour, a column for each day of the week. */
export function writePeaksCsv({ tz, table }: PeaksResource): string {
  return writeCsv(
    [`hour (${tz})`, ...WEEKDAYS],
    Array.from({ length: 24 }, (_, hour) => [hour, ...table.map((day) => day[hour] ?? null)]),
  );
}

type Teams = Readonly<Record<string, number>> | null | undefined;

/** The columns are the fields of these names, and one for each team that is in any of the rows. */
function writeFields<Field extends string>(
  fields: readonly Field[],
  rows: readonly (Readonly<Record<Field, CsvValue>> & { readonly teams?: Teams })[],
): string {
  const teams = listTeams(rows);
  return writeCsv(
    [...fields, ...teams.map((team) => `team ${team}`)],
    rows.map((row) => [...fields.map((field) => row[field]), ...listTimes(row.teams, teams)]),
  );
}

function listTeams(rows: readonly { readonly teams?: Teams }[]): readonly string[] {
  return [...new Set(rows.flatMap(({ teams }) => Object.keys(teams ?? {})))].toSorted();
}

/** Nobody in a team is 0; teams that are not known are empty. */
function listTimes(known: Teams, teams: readonly string[]): CsvValue[] {
  return teams.map((team) => (known ? (ownValue(known, team) ?? 0) : null));
}

function ownValue(values: Readonly<Record<string, number>>, name: string): number | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function toIso(at: number): string {
  return new Date(at).toISOString();
}

/** Null is an empty cell. */
export type CsvValue = string | number | null;

/** Spreadsheets take a text that begins so for a formula, and run it. */
const FORMULA = /^[=+\-@\t\r\n]/;

/** RFC 4180, with a line of titles and a line end after every row. */
export function writeCsv(titles: readonly string[], rows: Iterable<readonly CsvValue[]>): string {
  return writeCsvRows([titles, ...rows]);
}

/** Without titles, for a table that is written piece by piece. */
export function writeCsvRows(rows: readonly (readonly CsvValue[])[]): string {
  return rows.map((row) => `${row.map(writeCell).join(",")}\r\n`).join("");
}

/**
 * Numbers are numbers, also negative ones; only a text can be a formula. Every text is quoted: a spreadsheet may split cells at
 * semicolons or tabs too, and what follows one could be a formula.
 */
function writeCell(value: CsvValue): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return `"${text.replaceAll('"', '""')}"`;
}
