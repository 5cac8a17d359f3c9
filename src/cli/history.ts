// gatehouse history: how full a game server was, who was there, what staff did, and when it is full.
import { Command, Option } from "commander";
import { formatSeconds } from "../core/format-seconds.ts";
import { RESOLUTIONS } from "../core/history/counts.ts";
import {
  writePeaksCsv,
  writePlayersCsv,
  writePlaytimeCsv,
  writeSessionsCsv,
  writeStaffCsv,
} from "../core/history/history-csv.ts";
import type {
  PeaksResource,
  PlayersHistory,
  PlayersPoint,
  PlaytimeResource,
  SessionResource,
  StaffResource,
} from "../core/wire/history.ts";
import type { AdminRequest } from "./admin-client.ts";
import { failUsage } from "./exit-codes.ts";
import { obtainServerIdOrOnly } from "./find-server.ts";
import type { Cell, Printer } from "./printer.ts";
import { escapeUnsafe } from "./safe-text.ts";
import {
  addSessionOptions,
  callAndShow,
  listAndShow,
  openSession,
  parseLimit,
  ROWS_DEFAULT,
  type Session,
  type SessionOptions,
} from "./session.ts";
import { formatMoment, parsePastMoment } from "./times.ts";

const WEEKDAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];
const NO_READINGS = "no readings of this time: is the server watched? gatehouse servers list shows it";

type PeriodOptions = SessionOptions & {
  readonly server?: string;
  readonly from?: string;
  readonly to?: string;
  readonly csv?: boolean;
};
type ListOptions = PeriodOptions & { readonly limit?: number };

export function createHistoryCommand(): Command {
  const players = withPeriod(new Command("players").description("how many players there were"))
    .addOption(
      new Option("--resolution <length>", "how long each point is (default: chosen for the period)").choices(
        RESOLUTIONS,
      ),
    )
    .action(showPlayers);
  const sessions = withLimit(
    withPeriod(new Command("sessions").description("who was there and when, newest first")),
  )
    .option("--player <id>", "only the sessions of this player")
    .action(showSessions);
  const playtime = withLimit(withPeriod(new Command("playtime").description("who played most"))).action(
    showPlaytime,
  );
  const staff = withLimit(
    withPeriod(new Command("staff").description("how long staff were there and what they did")),
  ).action(showStaff);
  const peaks = withPeriod(new Command("peaks").description("players on average for each hour of the week"))
    .option("--tz <zone>", "time zone of the table, such as Europe/Berlin (default: the local one)")
    .action(showPeaks);
  const history = new Command("history").description(
    "show how full a game server was, who was there, and what staff did",
  );
  for (const command of [players, sessions, playtime, staff, peaks])
    history.addCommand(addSessionOptions(command));
  return history;
}

function withPeriod(command: Command): Command {
  return command
    .option("--server <server>", "id or name of the server; not needed when there is only one")
    .option(
      "--from <time>",
      "begin here: a date, or how long ago, such as 7d (default: 24 hours before --to)",
    )
    .option("--to <time>", "end here (default: now)")
    .option("--csv", "print a table for spreadsheets");
}

function withLimit(command: Command): Command {
  return command.option(
    "--limit <number>",
    `show at most this many (tables: ${ROWS_DEFAULT}, --json and --csv: all)`,
    parseLimit,
  );
}

async function showPlayers(options: PeriodOptions & { readonly resolution?: string }): Promise<void> {
  const session = await openSession(options);
  const request = await toRequest(session, "players", options, { resolution: options.resolution });
  await answerOnce<PlayersHistory>(session, options, request, writePlayersCsv, (history) =>
    printPlayers(session.printer, history),
  );
}

async function showSessions(options: ListOptions & { readonly player?: string }): Promise<void> {
  const session = await openSession(options);
  const request = await toRequest(session, "sessions", options, { player: options.player });
  await answerList<SessionResource>(session, options, request, writeSessionsCsv, (items) =>
    printSessions(session.printer, items),
  );
}

async function showPlaytime(options: ListOptions): Promise<void> {
  const session = await openSession(options);
  const request = await toRequest(session, "playtime", options);
  await answerList<PlaytimeResource>(session, options, request, writePlaytimeCsv, (items) =>
    printPlaytime(session.printer, items),
  );
}

async function showStaff(options: ListOptions): Promise<void> {
  const session = await openSession(options);
  const request = await toRequest(session, "staff", options);
  await answerList<StaffResource>(session, options, request, writeStaffCsv, (items) =>
    printStaff(session.printer, items),
  );
}

async function showPeaks(options: PeriodOptions & { readonly tz?: string }): Promise<void> {
  const session = await openSession(options);
  const tz = options.tz ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const request = await toRequest(session, "peaks", options, { tz });
  await answerOnce<PeaksResource>(session, options, request, writePeaksCsv, (peaks) =>
    printPeaks(session.printer, peaks),
  );
}

async function toRequest(
  session: Session,
  question: string,
  { server, from, to, csv, json }: PeriodOptions,
  query: AdminRequest["query"] = {},
): Promise<AdminRequest> {
  if (csv && json) failUsage("--csv does not go with --json");
  const now = session.now();
  const period = { from: toMoment("--from", from, now), to: toMoment("--to", to, now) };
  const serverId = await obtainServerIdOrOnly(session, server);
  return {
    path: ["servers", serverId, "history", question],
    query: { ...period, ...query },
    notFoundMessage: `there is no server ${serverId}: gatehouse servers list shows them`,
  };
}

function toMoment(name: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined;
  const moment = parsePastMoment(text, now);
  if (moment === undefined)
    failUsage(
      `${name} "${escapeUnsafe(text)}" is no time: use a date (2026-11-15), or how long ago (7d, 12h)`,
    );
  return String(moment);
}

async function answerOnce<T>(
  session: Session,
  { csv }: PeriodOptions,
  request: AdminRequest,
  write: (answer: T) => string,
  print: (answer: T) => void,
): Promise<void> {
  await callAndShow<T>(session, request, (answer) => {
    if (csv) process.stdout.write(write(answer));
    else print(answer);
  });
}

async function answerList<T>(
  session: Session,
  { csv, limit }: ListOptions,
  request: AdminRequest,
  write: (items: readonly T[]) => string,
  print: (items: readonly T[]) => void,
): Promise<void> {
  if (csv) {
    const { items } = await session.admin.list<T>(request, limit);
    process.stdout.write(write(items));
    return;
  }
  const rows = limit ?? (session.wantsJson ? undefined : ROWS_DEFAULT);
  await listAndShow<T>(session, request, rows, ({ items }) => {
    if (items.length === 0) session.printer.printLine("nobody in this time");
    else print(items);
  });
}

export function printPlayers(printer: Printer, { points }: PlayersHistory): void {
  if (points.every(({ known }) => known === 0)) {
    printer.printLine(NO_READINGS);
    return;
  }
  printer.printTable(
    [
      { title: "FROM", isWhole: true },
      { title: "AVERAGE", isWhole: true },
      { title: "MIN", isWhole: true },
      { title: "MAX", isWhole: true },
      { title: "KNOWN", isWhole: true },
      { title: "QUEUE", isExtra: true },
      { title: "STAFF", isExtra: true },
    ],
    points.map((point) => [
      formatMoment(point.at),
      point.avg === null ? "-" : point.avg.toFixed(1),
      toCell(point.min),
      toCell(point.max),
      describeKnown(point),
      toCell(point.queue_max),
      toCell(point.staff_max),
    ]),
  );
}

export function printSessions(printer: Printer, sessions: readonly SessionResource[]): void {
  printer.printTable(
    [
      { title: "PLAYER" },
      { title: "JOINED", isWhole: true },
      { title: "TIME", isWhole: true },
      { title: "ENDED", isWhole: true },
      { title: "LEFT", isWhole: true, isExtra: true },
      { title: "TEAMS", isExtra: true },
    ],
    sessions.map(({ player, joined_at, left_at, seconds, ended, teams }) => [
      player,
      formatMoment(joined_at),
      formatSeconds(seconds),
      ended ?? { text: "still there", colour: "green" },
      left_at === null ? "-" : formatMoment(left_at),
      describeTeams(teams),
    ]),
  );
}

export function printPlaytime(printer: Printer, items: readonly PlaytimeResource[]): void {
  printer.printTable(
    [{ title: "PLAYER" }, { title: "TIME", isWhole: true }, { title: "SESSIONS", isWhole: true }],
    items.map(({ player, seconds, sessions }) => [player, formatSeconds(seconds), String(sessions)]),
  );
}

export function printStaff(printer: Printer, items: readonly StaffResource[]): void {
  printer.printTable(
    [
      { title: "PLAYER" },
      { title: "TIME", isWhole: true },
      { title: "COMMANDS", isWhole: true },
      { title: "CALLS", isWhole: true },
      { title: "CALLERS WAITED", isWhole: true },
      { title: "TEAMS", isExtra: true },
    ],
    items.map(({ player, seconds, teams, commands, modcalls_answered, median_between }) => [
      player,
      formatSeconds(seconds),
      String(commands),
      String(modcalls_answered),
      describeWait(median_between),
      describeTeams(teams),
    ]),
  );
}

export function printPeaks(printer: Printer, { tz, table }: PeaksResource): void {
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

function toCell(count: number | null | undefined): string {
  return count === null || count === undefined ? "-" : String(count);
}

function describeKnown({ known }: PlayersPoint): Cell {
  if (known === 0) return { text: "unknown", colour: "dim" };
  // 99.6 % is not everything.
  return known === 1 ? "100%" : `${Math.min(99, Math.max(1, Math.round(known * 100)))}%`;
}

function describeTeams(teams: Readonly<Record<string, number>>): string {
  const longestFirst = Object.entries(teams).toSorted(([, a], [, b]) => b - a);
  return longestFirst.map(([team, seconds]) => `${team} ${formatSeconds(seconds)}`).join(", ") || "-";
}

/** At least and at most; the same only when it is known exactly. */
function describeWait(bounds: StaffResource["median_between"]): string {
  const [low = 0, high = 0] = bounds ?? [];
  if (!bounds) return "-";
  return low === high ? formatSeconds(low) : `${formatSeconds(low)} to ${formatSeconds(high)}`;
}
