// Fills an embedded archive with the history of many servers: that of one server is recorded by the archive itself, day by day,
// and the others get copies of its rows, which is many times as fast.
import type { Database } from "bun:sqlite";
import { DAY_MS, MINUTE_MS } from "../src/core/durations.ts";
import { type Counts, RESOLUTION_KEPT_MS } from "../src/core/history/counts.ts";
import { type HistoryChange, NO_HISTORY, type StaffAct } from "../src/core/history/history.ts";
import type { Archive } from "../src/core/ports/archive.ts";
import { createArchive } from "../src/database/archive/archive.ts";
import { openArchiveFile } from "../src/database/archive/open-archive-file.ts";
import { SqliteDriver } from "../src/database/sqlite.ts";

export const STAFF = 20;

const MINUTES_PER_DAY = 1_440;
const PLAYERS_ON_AVERAGE = 12;
const SESSION_MINUTES = 45;
const SESSIONS_PER_DAY = (PLAYERS_ON_AVERAGE * MINUTES_PER_DAY) / SESSION_MINUTES;
const COMMANDS_PER_DAY = 200;
const ANSWERS_PER_DAY = 30;
/** Most sessions are of some hundred people who come again and again, the others of people who come once or twice. */
const REGULARS = 300;
const REGULAR_SHARE = 0.7;
const VISITORS = 20_000;
const TEAMS = ["Civilian", "Police", "Sheriff", "Fire", "DOT"];
/** The tables of the history, with the columns of each but for the ledger. */
const COPIED = {
  counts: "resolution, at, known_ms, player_ms, min, max, queue_max, staff_max, teams",
  sessions: "player, joined_at, number, left_at, ended, was_staff, stays",
  player_days: "player, day, ms, begun",
  staff_acts: "at, number, player, low, high",
  player_names: "player, name",
} as const;

export type HistorySize = { readonly servers: number; readonly days: number; readonly endsAt: number };

export function serverOf(index: number): string {
  return `srv_history${index}`;
}

/** The ids of the staff come first, then those of the regulars. */
export function playerOf(index: number): string {
  return String(1_000_000_000 + index);
}

/** `onServer` is called after each server. */
export async function fillHistory(
  path: string,
  { servers, days, endsAt }: HistorySize,
  onServer: (server: number) => void,
): Promise<void> {
  const db = openArchiveFile(path);
  // Only for the filling: a file that is lost in a crash is filled again.
  db.exec("PRAGMA synchronous = OFF");
  db.exec("PRAGMA cache_size = -262144");
  const archive = createArchive(new SqliteDriver(db));
  for (let server = 0; server < servers; server++) await addTo(archive, server, NO_HISTORY, endsAt);
  for (let day = 0; day < days; day++) {
    const startsAt = endsAt - (days - day) * DAY_MS;
    await addTo(archive, 0, makeDay(startsAt, endsAt), endsAt);
  }
  while (await archive.prune({ now: endsAt, days: 30, eventsMax: 1_000_000 }));
  onServer(0);
  for (let server = 1; server < servers; server++) {
    copyHistory(db, server);
    onServer(server);
  }
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

/** What happens on a server in one minute, on average. */
export function makeMinute(at: number): HistoryChange {
  const hasAct = Math.random() < (COMMANDS_PER_DAY + ANSWERS_PER_DAY) / MINUTES_PER_DAY;
  const hasSession = Math.random() < SESSIONS_PER_DAY / MINUTES_PER_DAY;
  return {
    minutes: [makeCounts(at)],
    sessions: hasSession ? [makeSession(at, 0)] : [],
    acts: hasAct ? [makeAct(at, false)] : [],
    seen: [],
  };
}

async function addTo(archive: Archive, server: number, history: HistoryChange, now: number): Promise<void> {
  const serverId = serverOf(server);
  const { version } = await archive.load(serverId);
  const staff = Array.from({ length: STAFF }, (_, index) => [playerOf(index), nameOf(index)]);
  const memory = version === 0 ? [{ part: "staff", text: JSON.stringify({ Mods: staff }) }] : [];
  await archive.record([{ serverId, version, events: [], memory, history, stillShown: [], now }]);
}

function copyHistory(db: Database, server: number): void {
  const ledgerOf = (index: number) => `(SELECT ledger FROM ledgers WHERE server_id = '${serverOf(index)}')`;
  db.transaction(() => {
    for (const [table, columns] of Object.entries(COPIED)) {
      db.exec(`INSERT INTO ${table} (ledger, ${columns})
        SELECT ${ledgerOf(server)}, ${columns} FROM ${table} WHERE ledger = ${ledgerOf(0)}`);
    }
  })();
}

function makeDay(startsAt: number, endsAt: number): HistoryChange {
  const minutes = Array.from({ length: MINUTES_PER_DAY }, (_, index) => makeCounts(startsAt + index * MINUTE_MS));
  const sessions = Array.from({ length: SESSIONS_PER_DAY }, (_, index) =>
    makeSession(startsAt + Math.floor(((index + 1) / SESSIONS_PER_DAY) * DAY_MS), index),
  );
  const acts = Array.from({ length: COMMANDS_PER_DAY + ANSWERS_PER_DAY }, (_, index) =>
    makeAct(startsAt + Math.floor(Math.random() * DAY_MS), index < ANSWERS_PER_DAY),
  );
  return { minutes: minutes.filter((_, index) => index % stepFor(endsAt - startsAt) === 0), sessions, acts, seen: [] };
}

/** Old minutes are not kept, so one of each five minutes, or of each hour, gives the rows that there would be. */
function stepFor(age: number): number {
  if (age <= (RESOLUTION_KEPT_MS["1m"] ?? age)) return 1;
  return age <= (RESOLUTION_KEPT_MS["5m"] ?? age) ? 5 : 60;
}

function makeCounts(at: number): Counts {
  const hour = (at % DAY_MS) / (60 * MINUTE_MS);
  const players = Math.max(
    0,
    Math.round(PLAYERS_ON_AVERAGE * (1 + Math.sin((hour / 24) * 2 * Math.PI)) + Math.random() * 4 - 2),
  );
  const teamMs = Object.fromEntries(TEAMS.map((team) => [team, Math.round((players / TEAMS.length) * MINUTE_MS)]));
  return {
    at,
    knownMs: MINUTE_MS,
    playerMs: players * MINUTE_MS,
    min: players,
    max: players,
    queueMax: players > 20 ? 3 : 0,
    staffMax: Math.min(players, 3),
    teamKnownMs: MINUTE_MS,
    teamMs,
  };
}

/** The first ones of a day are those of the staff. */
function makeSession(leftAt: number, index: number): HistoryChange["sessions"][number] {
  const isStaff = index < STAFF;
  const place = isStaff ? index : choosePlayer();
  const joinedAt = leftAt - Math.round(SESSION_MINUTES * MINUTE_MS * (0.2 + Math.random() * 1.6));
  const changedAt = Math.round((joinedAt + leftAt) / 2);
  return {
    player: playerOf(place),
    name: nameOf(place),
    joinedAt,
    leftAt,
    ended: "log",
    wasStaff: isStaff,
    stays: [
      { team: "Civilian", from: joinedAt, to: changedAt },
      { team: TEAMS[place % TEAMS.length] ?? "Police", from: changedAt, to: leftAt },
    ],
  };
}

function makeAct(at: number, isAnswer: boolean): StaffAct {
  const place = Math.floor(Math.random() * STAFF);
  const low = Math.floor(Math.random() * 120_000);
  return { player: playerOf(place), name: nameOf(place), at, waited: isAnswer ? [low, low + 5_000] : null, kind: null };
}

function choosePlayer(): number {
  if (Math.random() < REGULAR_SHARE) return STAFF + Math.floor(Math.random() ** 2 * REGULARS);
  return STAFF + REGULARS + Math.floor(Math.random() * VISITORS);
}

function nameOf(place: number): string {
  return `PlayerNumber${place}`;
}
