// gatehouse history: how full a game server was, who was there, what staff did, and when it is full.
import { type Command, Option } from "commander";
import { COMMAND_KINDS } from "../../core/history/command-kinds.ts";
import { RESOLUTIONS } from "../../core/history/counts.ts";
import {
  writePeaksCsv,
  writePlayersCsv,
  writePlaytimeCsv,
  writeSessionsCsv,
  writeStaffCsv,
} from "../../core/history/history-csv.ts";
import { formatSeconds } from "../../core/human-units.ts";
import type {
  PeaksResource,
  PlayersHistory,
  PlayersPoint,
  PlaytimeResource,
  SessionResource,
  StaffResource,
} from "../../core/wire/history.ts";
import type { AdminRequest } from "../connection/admin-client.ts";
import { adminCommand, adminGroup, type Session, type SessionOptions, withLimit } from "../connection/session.ts";
import { failUsage } from "../exit-codes.ts";
import { printResources, type ResourceField, type Screen } from "../terminal/fields.ts";
import type { Cell } from "../terminal/printer.ts";
import { escapeUnsafe } from "../terminal/safe-text.ts";
import { formatMoment, parsePastMoment } from "../terminal/times.ts";
import { obtainServerIdOrOnly, requestFor, SERVERS } from "./find-resource.ts";

const WEEKDAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];
const NO_READINGS = "no readings of this time: is the server watched? gatehouse servers list shows it";

const POINT_FIELDS: readonly ResourceField<PlayersPoint>[] = [
  { name: "from", show: ({ at }) => formatMoment(at), isWhole: true },
  { name: "average", show: ({ avg }) => avg?.toFixed(1) ?? "-", isWhole: true },
  { name: "min", show: ({ min }) => String(min ?? "-"), isWhole: true },
  { name: "max", show: ({ max }) => String(max ?? "-"), isWhole: true },
  { name: "known", show: describeKnown, isWhole: true },
  { name: "queue", show: ({ queue_max }) => String(queue_max ?? "-"), isExtra: true },
  { name: "staff", show: ({ staff_max }) => String(staff_max ?? "-"), isExtra: true },
];

export const SESSION_FIELDS: readonly ResourceField<SessionResource>[] = [
  { name: "player", show: ({ player }) => player },
  { name: "joined", show: ({ joined_at }) => formatMoment(joined_at), isWhole: true },
  { name: "time", show: ({ seconds }) => formatSeconds(seconds), isWhole: true },
  { name: "ended", show: ({ ended }) => ended ?? { text: "still there", colour: "green" }, isWhole: true },
  { name: "left", show: ({ left_at }) => formatMoment(left_at), isWhole: true, isExtra: true },
  { name: "teams", show: describeTeams, isExtra: true },
];

export const PLAYTIME_FIELDS: readonly ResourceField<PlaytimeResource>[] = [
  { name: "player", show: ({ player }) => player },
  { name: "time", show: ({ seconds }) => formatSeconds(seconds), isWhole: true },
  { name: "sessions", show: ({ sessions }) => String(sessions), isWhole: true },
];

export const STAFF_FIELDS: readonly ResourceField<StaffResource>[] = [
  { name: "player", show: ({ player }) => player },
  { name: "time", show: ({ seconds }) => formatSeconds(seconds), isWhole: true },
  { name: "commands", show: ({ commands }) => String(commands), isWhole: true },
  { name: "calls", show: ({ modcalls_answered }) => String(modcalls_answered), isWhole: true },
  { name: "callers waited", show: describeWait, isWhole: true },
  { name: "role", show: ({ role }) => role ?? "-", isExtra: true },
  ...COMMAND_KINDS.map(
    (kind): ResourceField<StaffResource> => ({
      name: kind,
      show: ({ commands_by_kind: counts }) => String(counts[kind]),
      isExtra: true,
    }),
  ),
  { name: "teams", show: describeTeams, isExtra: true },
];

export function createHistoryCommand(): Command {
  const resolution = new Option("--resolution <length>", "how long each point is (default: chosen for the period)");
  return adminGroup("history", "show how full a game server was, who was there, and what staff did", [
    answerCommand("players", "how many players there were", printPlayers, writePlayersCsv).addOption(
      resolution.choices(RESOLUTIONS),
    ),
    listCommand("sessions", "who was there and when, newest first", SESSION_FIELDS, writeSessionsCsv).option(
      "--player <id>",
      "only the sessions of this player",
    ),
    listCommand("playtime", "who played most", PLAYTIME_FIELDS, writePlaytimeCsv),
    listCommand("staff", "how long staff were there and what they did", STAFF_FIELDS, writeStaffCsv),
    answerCommand("peaks", "players on average for each hour of the week", printPeaks, writePeaksCsv).option(
      "--tz <zone>",
      "time zone of the table, such as Europe/Berlin (default: the local one)",
    ),
  ]);
}

function withPeriod(command: Command): Command {
  return command
    .option("--server <server>", "id or name of the server; not needed when there is only one")
    .option("--from <time>", "begin here: a date, or how long ago, such as 7d (default: 24 hours before --to)")
    .option("--to <time>", "end here (default: now)")
    .option("--csv", "print a table for spreadsheets");
}

/** A command whose answer is one resource. Its name is the question's. */
function answerCommand<T>(
  name: string,
  description: string,
  print: (screen: Screen, answer: T) => void,
  write: (answer: T) => string,
): Command {
  const act = async (session: Session, options: QuestionOptions) =>
    await session.call<T>(await toRequest(session, name, options), (answer) => {
      if (options.csv) process.stdout.write(write(answer));
      else print(session, answer);
    });
  return withPeriod(adminCommand(name, description, act));
}

/** A command whose answer is a list. */
function listCommand<T>(
  name: string,
  description: string,
  fields: readonly ResourceField<T>[],
  write: (items: readonly T[]) => string,
): Command {
  const act = async (session: Session, options: QuestionOptions) => {
    const request = await toRequest(session, name, options);
    if (options.csv) {
      const { items } = await session.admin.list<T>(request, options.limit);
      process.stdout.write(write(items));
    } else {
      await session.list<T>(request, session.rowsOf(options), "nobody in this time", (items) =>
        printResources(session, fields, items),
      );
    }
  };
  return withLimit(withPeriod(adminCommand(name, description, act)), "--json and --csv");
}

/** Of all the questions. */
type QuestionOptions = SessionOptions & {
  readonly [Name in "from" | "to" | "resolution" | "player" | "tz"]?: string;
} & { readonly csv?: boolean };

async function toRequest(session: Session, question: string, options: QuestionOptions): Promise<AdminRequest> {
  const { server, from, to, csv, json, resolution, player } = options;
  if (csv && json) failUsage("--csv does not go with --json");
  const now = session.now();
  const period = { from: toMoment("--from", from, now), to: toMoment("--to", to, now) };
  const tz = question === "peaks" ? (options.tz ?? Intl.DateTimeFormat().resolvedOptions().timeZone) : undefined;
  const serverId = await obtainServerIdOrOnly(session, server);
  return { ...requestFor(SERVERS, serverId, "history", question), query: { ...period, resolution, player, tz } };
}

function toMoment(name: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined;
  const moment = parsePastMoment(text, now);
  if (moment === undefined)
    failUsage(`${name} "${escapeUnsafe(text)}" is no time: use a date (2026-11-15), or how long ago (7d, 12h)`);
  return String(moment);
}

export function printPlayers(screen: Screen, { points }: PlayersHistory): void {
  if (points.every(({ known }) => known === 0)) screen.printer.printLine(NO_READINGS);
  else printResources(screen, POINT_FIELDS, points);
}

export function printPeaks({ printer }: Screen, { tz, table }: PeaksResource): void {
  if (table.flat().every((value) => value === null)) {
    printer.printLine(NO_READINGS);
    return;
  }
  printer.printTable(
    [{ title: "HOUR", isWhole: true }, ...WEEKDAYS.map((title) => ({ title, isWhole: true }))],
    Array.from({ length: 24 }, (_, hour) => [
      `${String(hour).padStart(2, "0")}:00`,
      ...table.map((day) => day[hour]?.toFixed(1) ?? "-"),
    ]),
  );
  printer.printLine(`Players on average, in the time zone ${tz}.`, "dim");
}

function describeKnown({ known }: PlayersPoint): Cell {
  if (known === 0) return { text: "unknown", colour: "dim" };
  // 99.6 % is not everything.
  return known === 1 ? "100%" : `${Math.min(99, Math.max(1, Math.round(known * 100)))}%`;
}

function describeTeams({ teams }: { readonly teams: Readonly<Record<string, number>> }): string {
  const longestFirst = Object.entries(teams).toSorted(([, a], [, b]) => b - a);
  return longestFirst.map(([team, seconds]) => `${team} ${formatSeconds(seconds)}`).join(", ") || "-";
}

/** At least and at most; the same only when it is known exactly. */
function describeWait({ median_between: bounds }: StaffResource): string {
  const [low = 0, high = 0] = bounds ?? [];
  if (!bounds) return "-";
  return low === high ? formatSeconds(low) : `${formatSeconds(low)} to ${formatSeconds(high)}`;
}
