// npm run bench:archive-thread: how late the event loop is while the embedded archive records, in its own thread and in the
// thread that answers requests. Prints ratios to the same loop without an archive. Uses a folder that is deleted afterwards.
// With --slow-disk, strace delays every fsync by 20 ms.

import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filterAll } from "../src/core/events/event-types.ts";
import type { NewEvent } from "../src/core/events/new-event.ts";
import { NO_HISTORY } from "../src/core/history/history.ts";
import type { Archive, LedgerPage, LedgerRecord, PageRequest, RecordOutcome } from "../src/core/ports/archive.ts";
import { openEmbeddedArchive } from "../src/database/archive/embedded-archive.ts";
import { startArchiveThread } from "../src/threads.ts";
import { openLocalArchive } from "../test/event-archive.ts";
import { median } from "./statistics.ts";

const ROUNDS = 5;
const ROUND_MS = 4_000;
const SERVERS = 200;
/** 40 a second: as many as 200 watched servers have, each read every 5 s. */
const READING_EVERY_MS = 25;
const EVENTS_PER_READING = 10;
const PAGE_EVERY_MS = 100;
const PAGE_LIMIT = 500;
const EVENTS_BEFORE = 200;
const FSYNCS = 50;
const TICK_MS = 1;
const SLOW_FSYNC_MS = 20;

type Keeper = {
  readonly record: (records: readonly LedgerRecord[]) => Promise<readonly RecordOutcome[]>;
  readonly readPage: (request: PageRequest) => Promise<LedgerPage>;
  readonly close: () => Promise<void>;
};

const WAYS = ["no archive", "in a thread of its own", "in the thread of the event loop"] as const;
type Way = (typeof WAYS)[number];
type Delay = { readonly p50: number; readonly p99: number };

if (process.argv.includes("--slow-disk")) process.exit(await runOnSlowDisk());
const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
try {
  const results = new Map<Way, Delay[]>(WAYS.map((way) => [way, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of WAYS) results.get(way)?.push(await measureRound(way, join(folder, `${round}-${way}`)));
  }
  const alone = summarise(results.get("no archive") ?? []);
  console.log(`Between two ticks of a timer of ${TICK_MS} ms, beside the same without an archive; medians of`);
  console.log(`${ROUNDS} rounds, turn about. An fsync of this disk takes ${timeFsync().toFixed(2)} ms.`);
  console.table(
    WAYS.map((way) => {
      const { p50, p99 } = summarise(results.get(way) ?? []);
      return {
        "the archive works": way,
        p50: (p50 / alone.p50).toFixed(2),
        p99: (p99 / alone.p99).toFixed(2),
      };
    }),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs this file again, under strace. Returns its exit code. */
async function runOnSlowDisk(): Promise<number> {
  const delay = `inject=fsync,fdatasync:delay_enter=${SLOW_FSYNC_MS * 1000}`;
  const trace = ["-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", delay];
  const command = ["strace", ...trace, process.execPath, "--no-env-file", import.meta.path];
  return Bun.spawn(command, { stdio: ["ignore", "inherit", "inherit"] }).exited;
}

async function measureRound(way: Way, path: string): Promise<Delay> {
  if (way === "no archive") return sampleTicks();
  const keeper = way === "in a thread of its own" ? openInThread(path) : openHere(path);
  const load = new ArchiveLoad(keeper);
  await load.fill();
  load.start();
  const delay = await sampleTicks();
  await load.stop();
  await keeper.close();
  return delay;
}

function openInThread(path: string): Keeper {
  const archive: Archive = openEmbeddedArchive(path, startArchiveThread);
  return {
    record: (records) => archive.record(records),
    readPage: (request) => archive.readPage(request),
    close: () => archive.close(),
  };
}

function openHere(path: string): Keeper {
  return openLocalArchive(path);
}

/** Records readings and reads pages at a steady pace, as far as the archive keeps up. */
class ArchiveLoad {
  readonly #keeper: Keeper;
  readonly #versions = new Map<string, number>();
  #readings = 0;
  #isStopped = false;
  #running: readonly Promise<void>[] = [];

  constructor(keeper: Keeper) {
    this.#keeper = keeper;
  }

  /** So that pages are full from the start. */
  async fill(): Promise<void> {
    for (let server = 0; server < SERVERS; server++) await this.#record(server, EVENTS_BEFORE);
  }

  start(): void {
    this.#running = [
      this.#repeat(READING_EVERY_MS, () => this.#record(this.#readings % SERVERS, EVENTS_PER_READING)),
      this.#repeat(PAGE_EVERY_MS, () => this.#readPage(this.#readings % SERVERS)),
    ];
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  async #repeat(everyMs: number, work: () => Promise<void>): Promise<void> {
    while (!this.#isStopped) {
      await work();
      await Bun.sleep(everyMs);
    }
  }

  async #record(server: number, count: number): Promise<void> {
    const serverId = `srv_${server}`;
    const version = this.#versions.get(serverId) ?? 0;
    const now = Date.now();
    const events = Array.from({ length: count }, (_, place) => toKill(this.#readings, place, now));
    this.#readings++;
    const record = { serverId, version, events, memory: [], history: NO_HISTORY, stillShown: [], now };
    const [outcome] = await this.#keeper.record([record]);
    if (!outcome || "conflict" in outcome) throw new Error("a record was refused");
    this.#versions.set(serverId, outcome.version);
  }

  async #readPage(server: number): Promise<void> {
    const start = { after: "earliest" } as const;
    const request = { serverId: `srv_${server}`, start, filter: filterAll(), limit: PAGE_LIMIT };
    const page = await this.#keeper.readPage(request);
    if ("expired" in page || page.events.length < EVENTS_BEFORE) throw new Error("a page was not read");
  }
}

function toKill(reading: number, place: number, now: number): NewEvent {
  const data = {
    Killed: "QuietHarbor:1184420",
    Timestamp: Math.floor(now / 1000),
    Killer: "WindyWillow821:2686120778",
  };
  return {
    type: "player.killed",
    at: now,
    seenAt: now,
    source: "log",
    isBackfill: false,
    data: JSON.stringify(data),
    meta: null,
    section: null,
    identity: `${reading}-${place}`,
    players: ["1184420", "2686120778"],
  };
}

/** How long it takes from one tick to the next, in milliseconds. */
async function sampleTicks(): Promise<Delay> {
  const times: number[] = [];
  const endAt = performance.now() + ROUND_MS;
  for (let last = performance.now(); last < endAt; ) {
    await Bun.sleep(TICK_MS);
    const now = performance.now();
    times.push(now - last);
    last = now;
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

function summarise(delays: readonly Delay[]): Delay {
  return {
    p50: median(delays.map(({ p50 }) => p50)),
    p99: median(delays.map(({ p99 }) => p99)),
  };
}

/** The median of some appends that are flushed to the disk. Far below a millisecond, the folder is in memory. */
function timeFsync(): number {
  const file = openSync(join(folder, "fsync"), "w");
  const times = Array.from({ length: FSYNCS }, () => {
    const startedAt = performance.now();
    writeSync(file, "x".repeat(4_096));
    fsyncSync(file);
    return performance.now() - startedAt;
  });
  closeSync(file);
  return median(times);
}
