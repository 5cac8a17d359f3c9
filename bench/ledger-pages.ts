// npm run bench:ledger: how long a page of a ledger with 5,000,000 events takes beside one with 5,000, for every kind of
// cursor and filter. Prints ratios and the goal. Uses folders that are deleted afterwards.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { LedgerPosition } from "../src/core/events/cursor.ts";
import { type EventFilter, type EventType, filterAll, toEventKind } from "../src/core/events/event-types.ts";
import { type Archive, type LedgerPage, PAGE_LOOK_MAX, type PageRequest } from "../src/core/ports/archive.ts";
import { openEmbeddedArchive } from "../src/database/archive/embedded-archive.ts";
import { openPostgresArchive } from "../src/database/archive/open-archive.ts";
import { startArchiveThread } from "../src/threads.ts";
import { startPostgres, stopPostgresServers } from "../test/postgres-server.ts";
import { fillPostgresLedger, fillSqliteLedger, LEDGER_SERVER, RECORDED } from "./fill-ledger.ts";
import { type Goal, printGoals } from "./goals.ts";
import { Progress } from "./progress.ts";
import { median } from "./statistics.ts";

const SMALL = RECORDED;
const USAGE = "npm run bench:ledger -- [--quick] [--postgres] [--events 5000000]";
/** The default of `limit`. */
const LIMIT = 100;
const WARM_SAMPLES = 50;
const RATIO_MAX = 3;

type Ledger = {
  readonly archive: Archive;
  readonly events: number;
  /** The marks of the recorded events. The copies have the same. */
  readonly marks: readonly number[];
};
type Case = { readonly title: string; readonly choose: (ledger: Ledger) => PageRequest };
type Row = { readonly title: string; readonly p50: number; readonly p99: number };

const ONLY_KILLS = filterFor("player.killed");
const ONLY_RARE = filterFor("modcall.opened");
const NEVER = filterFor("server.offline");

/** Where there are few matches, a page of the small ledger begins at its start, so that it has the most to look at. */
const CASES: readonly Case[] = [
  { title: "from the earliest", choose: () => ask({ after: "earliest" }) },
  {
    title: "after an early cursor",
    choose: (ledger) => ask({ after: placeIn(ledger, 0, 0.01) }),
  },
  { title: "after a random cursor", choose: (ledger) => ask({ after: placeIn(ledger, 0, 1) }) },
  { title: "after a late cursor", choose: (ledger) => ask({ after: placeIn(ledger, 0.99, 1) }) },
  { title: "the newest", choose: () => ask({ before: "now" }) },
  {
    title: "back from a random cursor",
    choose: (ledger) => ask({ before: placeIn(ledger, 0, 1) }),
  },
  {
    title: "one type in five, after a random cursor",
    choose: (ledger) => ask({ after: placeIn(ledger, 0, 1, LIMIT * 5) }, ONLY_KILLS),
  },
  {
    title: "one type in a thousand, after a random cursor",
    choose: (ledger) => ask({ after: placeIn(ledger, 0, 1, PAGE_LOOK_MAX) }, ONLY_RARE),
  },
  {
    title: "a type that never occurs, after a random cursor",
    choose: (ledger) => ask({ after: placeIn(ledger, 0, 1, PAGE_LOOK_MAX) }, NEVER),
  },
  {
    title: "one player in 200, after a random cursor",
    choose: (ledger) => ({
      ...ask({ after: placeIn(ledger, 0, 1, PAGE_LOOK_MAX) }),
      player: "1000000031",
    }),
  },
];

const settings = readSettings();
const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
const progress = new Progress();
try {
  const sqlite = await measure("SQLite", openSqliteLedger);
  const postgres = settings.postgres ? await measure("PostgreSQL", openPostgresLedger) : undefined;
  progress.end();
  const goals: Goal[] = [];
  for (const [name, rows] of [["SQLite", sqlite] as const, ["PostgreSQL", postgres] as const]) {
    if (!rows) continue;
    print(name, rows);
    const found = Math.max(...rows.map(({ p50 }) => p50));
    goals.push({ name: `slowest page, ${name}`, isAtLeast: false, wanted: RATIO_MAX, found });
  }
  printGoals(goals);
} finally {
  await stopPostgresServers();
  rmSync(folder, { recursive: true, force: true });
}

async function openSqliteLedger(events: number): Promise<Ledger> {
  const path = join(folder, `${events}.db`);
  await fillSqliteLedger(path, events);
  const archive = openEmbeddedArchive(path, startArchiveThread);
  return { archive, events, marks: await readMarks(archive) };
}

async function openPostgresLedger(events: number): Promise<Ledger> {
  const server = await startPostgres();
  const archive = openPostgresArchive(server.urlOf());
  await fillPostgresLedger(archive, server.urlOf(), events);
  return { archive, events, marks: await readMarks(archive) };
}

async function measure(name: string, open: (events: number) => Promise<Ledger>): Promise<Row[]> {
  progress.part(name, CASES.length + 2);
  const small = await open(SMALL);
  progress.step(`${SMALL.toLocaleString("en")} events written`);
  const large = await open(settings.events);
  progress.step(`${settings.events.toLocaleString("en")} events written`);
  try {
    for (const ledger of [small, large]) await checkCopies(ledger);
    const rows: Row[] = [];
    for (const one of CASES) {
      rows.push(await measureCase(one, small, large));
      progress.step(one.title);
    }
    return rows;
  } finally {
    await small.archive.close();
    await large.archive.close();
  }
}

/** The ledgers take turns with every page, so that a slow moment of the machine meets both. */
async function measureCase({ title, choose }: Case, small: Ledger, large: Ledger): Promise<Row> {
  const times: [number[], number[]] = [[], []];
  for (let sample = -WARM_SAMPLES; sample < settings.samples; sample++) {
    for (const [place, ledger] of [small, large].entries()) {
      const request = choose(ledger);
      const startedAt = performance.now();
      const page = await ledger.archive.readPage(request);
      const ms = performance.now() - startedAt;
      if ("expired" in page) throw new Error(`${title}: the cursor has expired`);
      if (sample >= 0) times[place]?.push(ms);
    }
  }
  const [ofSmall, ofLarge] = times;
  const p99 = (list: readonly number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length * 0.99)] ?? 0;
  return { title, p50: median(ofLarge) / median(ofSmall), p99: p99(ofLarge) / p99(ofSmall) };
}

function ask(start: PageRequest["start"], filter: EventFilter = filterAll()): PageRequest {
  return { serverId: LEDGER_SERVER, start, filter, limit: LIMIT };
}

/** A place in this part of the ledger with at least so many events after it, or the first place. */
function placeIn(ledger: Ledger, from: number, to: number, eventsAfter = LIMIT): LedgerPosition {
  const number = Math.floor(ledger.events * (from + Math.random() * (to - from)));
  return placeOf(ledger, Math.max(1, Math.min(number, ledger.events - eventsAfter)));
}

function placeOf({ marks }: Ledger, number: number): LedgerPosition {
  return { number, mark: marks[(number - 1) % RECORDED] ?? 0 };
}

async function readMarks(archive: Archive): Promise<number[]> {
  const found: number[] = [];
  let after: LedgerPosition | "earliest" = "earliest";
  while (found.length < RECORDED) {
    const page = getPage(await archive.readPage({ ...ask({ after }), limit: 500 }));
    for (const { mark } of page.events) found.push(mark);
    after = page.next;
  }
  return found;
}

/** Throws unless the copies are read like what was recorded, without a hole, to the end of the ledger. */
async function checkCopies(ledger: Ledger): Promise<void> {
  const { archive, events } = ledger;
  const read = async (number: number) =>
    getPage(await archive.readPage({ ...ask({ after: placeOf(ledger, number) }), limit: 500 })).events;
  const recorded = await read(1);
  for (const number of [1, events - RECORDED + 1]) {
    const found = await read(number);
    const isEqual = found.every(({ number: own, data }, index) => {
      return own === number + 1 + index && data === recorded[index]?.data;
    });
    if (found.length !== 500 || !isEqual) throw new Error(`the events after ${number} are not as written`);
  }
  const end = getPage(await archive.readPage(ask({ before: "now" })));
  if (end.next.number !== events || end.events.at(-1)?.number !== events)
    throw new Error(`the ledger does not end with event ${events}`);
}

function getPage(page: LedgerPage): Exclude<LedgerPage, { expired: true }> {
  if ("expired" in page) throw new Error("a cursor has expired");
  return page;
}

function filterFor(type: EventType): EventFilter {
  return new Set([toEventKind(type)]);
}

function print(name: string, rows: readonly Row[]): void {
  const large = settings.events.toLocaleString("en");
  console.log(
    `\n${name}: a page of ${LIMIT} events with ${large} beside ${SMALL.toLocaleString("en")}, times the time:`,
  );
  console.table(rows.map(({ title, p50, p99 }) => ({ page: title, p50: p50.toFixed(2), p99: p99.toFixed(2) })));
}

function readSettings(): { events: number; samples: number; postgres: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: "boolean", default: false },
        postgres: { type: "boolean", default: false },
        events: { type: "string" },
      },
    });
    const events = Number(values.events ?? (values.quick ? 500_000 : 5_000_000));
    if (!(events > RECORDED) || events % RECORDED !== 0)
      throw new Error(`--events must be a multiple of ${RECORDED}, and more than that`);
    return { events, samples: values.quick ? 100 : 500, postgres: values.postgres };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
}
