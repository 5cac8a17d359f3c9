// npm run bench:history: how long questions about a year of history of 50 servers take on the embedded archive, and what
// recording costs beside an empty archive. Prints times, a ratio and the goals. Uses a folder that is deleted afterwards.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { DAY_MS, MINUTE_MS } from "../src/core/durations.ts";
import type { Archive } from "../src/core/ports/archive.ts";
import type { Period } from "../src/core/ports/history.ts";
import { openEmbeddedArchive } from "../src/database/archive/embedded-archive.ts";
import { startArchiveThread } from "../src/threads.ts";
import { fillHistory, makeMinute, playerOf, STAFF, serverOf } from "./fill-history.ts";
import { printGoals } from "./goals.ts";
import { Progress } from "./progress.ts";
import { median } from "./statistics.ts";

const USAGE = "npm run bench:history -- [--servers 50] [--days 365] [--samples 30]";
const SLOWEST_MS = 200;
const RATIO_MAX = 1.2;
/** Records that are made before the measured ones. */
const WARM_RECORDS = 50;
/** The end of the history is in the middle of a day, so that every period has edges. */
const ENDS_AT = Math.floor(Date.now() / DAY_MS) * DAY_MS + 13 * 60 * MINUTE_MS;
const YEAR = lastDays(365);

type Question = {
  readonly title: string;
  readonly ask: (archive: Archive, serverId: string) => Promise<unknown>;
};

const QUESTIONS: readonly Question[] = [
  { title: "players, 1m, 16 hours", ask: (archive, id) => archive.readCounts(id, "1m", lastDays(16 / 24)) },
  { title: "players, 5m, 3 days", ask: (archive, id) => archive.readCounts(id, "5m", lastDays(3)) },
  { title: "players, 1h, 41 days", ask: (archive, id) => archive.readCounts(id, "1h", lastDays(41)) },
  { title: "players, 1d, a year", ask: (archive, id) => archive.readCounts(id, "1d", YEAR) },
  {
    title: "sessions of a player, a year",
    ask: (archive, serverId) => archive.listSessions({ serverId, ...YEAR, player: playerOf(STAFF + 5), limit: 500 }),
  },
  {
    title: "sessions of all, a year",
    ask: (archive, serverId) => archive.listSessions({ serverId, ...YEAR, limit: 500 }),
  },
  {
    title: "sessions of all, the end of a month",
    ask: (archive, serverId) => {
      const { from, to } = lastDays(30);
      return archive.listSessions({ serverId, from, to, after: { joinedAt: from, number: 0 }, limit: 500 });
    },
  },
  { title: "playtime, a day", ask: (archive, id) => sumPresence(archive, id, lastDays(1)) },
  { title: "playtime, a month", ask: (archive, id) => sumPresence(archive, id, lastDays(30)) },
  { title: "playtime, a year", ask: (archive, id) => sumPresence(archive, id, YEAR) },
  { title: "staff, a month", ask: (archive, id) => archive.readStaff(id, lastDays(30), []) },
  { title: "staff, a year", ask: (archive, id) => archive.readStaff(id, YEAR, []) },
  { title: "peaks, a year of hours", ask: (archive, id) => archive.readCounts(id, "1h", YEAR, "players") },
  {
    title: "peaks, 60 days of five minutes",
    ask: (archive, id) => archive.readCounts(id, "5m", lastDays(60), "players"),
  },
];

const settings = readSettings();
const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
const progress = new Progress();
const opened: Archive[] = [];
try {
  const full = await open("full", settings.days);
  const empty = await open("empty", 0);
  const rows = await measureQuestions(full);
  const ratio = await measureRecords(empty, full);
  progress.end();
  console.log(
    `${settings.servers} servers, ${settings.days} days, ${Math.round(statSync(join(folder, "full.db")).size / 1e6)} MB`,
  );
  console.table(rows);
  const slowest = Math.max(...rows.map((row) => Number(row["slowest, ms"])));
  printGoals([
    { name: "slowest question, ms", isAtLeast: false, wanted: SLOWEST_MS, found: slowest },
    { name: "recording beside an empty archive", isAtLeast: false, wanted: RATIO_MAX, found: ratio },
  ]);
} finally {
  for (const archive of opened) await archive.close();
  rmSync(folder, { recursive: true, force: true });
}

async function open(name: string, days: number): Promise<Archive> {
  const { servers } = settings;
  progress.part(`the ${name} archive`, servers);
  await fillHistory(join(folder, `${name}.db`), { servers, days, endsAt: ENDS_AT }, (server) =>
    progress.step(`server ${server + 1}`),
  );
  const archive = openEmbeddedArchive(join(folder, `${name}.db`), startArchiveThread);
  opened.push(archive);
  return archive;
}

async function measureQuestions(archive: Archive) {
  progress.part("questions", QUESTIONS.length);
  const rows: { question: string; "median, ms": string; "slowest, ms": string }[] = [];
  await archive.readOpenHistory(serverOf(0));
  for (const { title, ask } of QUESTIONS) {
    const times: number[] = [];
    for (let sample = 0; sample < settings.samples; sample++) {
      const startedAt = performance.now();
      await ask(archive, serverOf(sample % settings.servers));
      times.push(performance.now() - startedAt);
    }
    const [middle, slowest] = [median(times), Math.max(...times)];
    rows.push({ question: title, "median, ms": middle.toFixed(1), "slowest, ms": slowest.toFixed(1) });
    progress.step(title);
  }
  return rows;
}

/** The archives take turns with every record, so that a slow moment of the machine meets both. */
async function measureRecords(empty: Archive, full: Archive): Promise<number> {
  progress.part("recording", 1);
  const times: [number[], number[]] = [[], []];
  for (let sample = -WARM_RECORDS; sample < settings.records; sample++) {
    const serverId = serverOf((sample + WARM_RECORDS) % settings.servers);
    const at = ENDS_AT + Math.floor((sample + WARM_RECORDS) / settings.servers) * MINUTE_MS;
    const history = makeMinute(at);
    for (const [place, archive] of [empty, full].entries()) {
      const { version } = await archive.load(serverId);
      const startedAt = performance.now();
      await archive.record([{ serverId, version, events: [], memory: [], history, stillShown: [], now: at }]);
      if (sample >= 0) times[place]?.push(performance.now() - startedAt);
    }
  }
  progress.step(`${settings.records} records`);
  return median(times[1]) / median(times[0]);
}

function sumPresence(archive: Archive, serverId: string, period: Period): Promise<unknown> {
  return archive.sumPresence(serverId, period, [], { offset: 0, limit: 500 });
}

function lastDays(days: number): Period {
  return { from: ENDS_AT - days * DAY_MS, to: ENDS_AT };
}

function readSettings(): { servers: number; days: number; samples: number; records: number } {
  try {
    const { values } = parseArgs({
      options: {
        servers: { type: "string", default: "50" },
        days: { type: "string", default: "365" },
        samples: { type: "string", default: "30" },
      },
    });
    const [servers, days, samples] = [Number(values.servers), Number(values.days), Number(values.samples)];
    if (![servers, days, samples].every((value) => Number.isInteger(value) && value > 0))
      throw new Error("--servers, --days and --samples must be whole numbers above 0");
    return { servers, days, samples, records: samples * 20 };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
}
