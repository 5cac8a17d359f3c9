// PostgreSQL killed, frozen and full, the file of the embedded archive full and locked: reads and commands go on at their usual
// speed, and afterwards, without a restart, the ledger is complete. When Gatehouse is killed meanwhile, gaps say what is lost.
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { LOG_LISTS } from "../../src/core/events/memory.ts";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { mounting, testWith } from "../needs.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { type Listening, serve } from "../run-gatehouse.ts";
import { fill, mountDisk } from "../small-disk.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";
import type { ToldEvent } from "./ledger-judge.ts";
import { LedgerWitness } from "./ledger-witness.ts";

const FRESH_MS = 300;
const TOWN = "Watched";
/** Of the archive; a request that waited for it would take this long. */
const DEADLINE_MS = 5_000;
/** Of a machine that does other work too. */
const TOLERANCE_MS = 2_000;
const ROUNDS = 3;
const CACHED_READS = 20;
const COMMANDS = 4;
const RATIO_MAX = 5;
/** Of a busy machine; who waits for the archive waits for seconds. */
const NOISE_MS = 500;
const TEST_MS = 180_000;
/** So many entries that a reading which comes seconds late, on a busy machine, still overlaps with the one before. */
const LOG_WINDOW = 500;

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterEach(cleanUp);
afterAll(stopPostgresServers);

type Speed = { readonly cached: number[]; readonly fresh: number[]; readonly commands: number[] };

/** A Gatehouse with a watched server, and one that is only read by callers. */
class Stage {
  readonly folder = makeFolder();
  readonly simulator: Simulator;
  readonly witness: LedgerWitness;
  readonly #env: Readonly<Record<string, string>>;
  #gatehouse: Listening | undefined;
  watchedId = "";
  #quietId = "";

  constructor(simulator: Simulator, archive: string) {
    this.simulator = simulator;
    this.witness = new LedgerWitness(simulator, TOWN);
    this.#env = {
      GATEHOUSE_DATA_DIR: join(this.folder, "data"),
      GATEHOUSE_ARCHIVE: archive,
      GATEHOUSE_UPSTREAM_URL: this.witness.open(),
      GATEHOUSE_FRESH_MS: String(FRESH_MS),
      GATEHOUSE_WATCH: "on",
      GATEHOUSE_WATCH_INTERVAL_MS: "200",
      GATEHOUSE_COMMAND_INTERVAL_MS: "1",
      GATEHOUSE_WEBHOOKS_PRIVATE: "allow",
    };
  }

  get gatehouse(): Listening {
    if (!this.#gatehouse) throw new Error("not started");
    return this.#gatehouse;
  }

  async start(): Promise<void> {
    this.#gatehouse = await serve({ cwd: this.folder, env: this.#env });
  }

  async prepare(): Promise<void> {
    await this.start();
    this.fillLists();
    this.watchedId = (await this.admin("POST", "/servers", { name: TOWN, server_key: `away-${TOWN}` })).server_id;
    const quiet = { name: "Quiet", server_key: "away-Quiet", watch: false };
    this.#quietId = (await this.admin("POST", "/servers", quiet)).server_id;
    await this.witness.pass(LOG_LISTS.length + 1);
    // Readings go on, and on a busy machine the newest of them is never recorded yet.
    const { newest } = this.witness;
    await this.#untilRecorded((events) => this.witness.hasNewest(events, newest));
  }

  /** A list that was never anything but empty cannot tell how much it has left out. */
  fillLists(): void {
    for (const list of LOG_LISTS) this.simulator.arm({ kind: "burst", list, count: 2, times: 1, server: TOWN });
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests read single fields, and a wrong body fails the test.
  async admin(method: string, path: string, body?: unknown): Promise<any> {
    const masterKey = readFileSync(join(this.folder, "data/master.key"), "utf8").trim();
    const response = await fetch(`${this.gatehouse.url}/admin${path}`, {
      method,
      headers: { Authorization: `Bearer ${masterKey}`, "Content-Type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  /** Returns the error of each. */
  addWebhooks(count: number): Promise<string[]> {
    const draft = { server_id: this.watchedId, label: "bot", url: "http://127.0.0.1:9", format: "standard" };
    const add = () => this.admin("POST", "/webhooks", draft).then(() => "", String);
    return Promise.all(Array.from({ length: count }, add));
  }

  /** How long reads and commands take. All of them must succeed, and so must making a key. */
  async measure(): Promise<Speed> {
    const { token } = await this.admin("POST", "/keys", {
      server_id: this.#quietId,
      label: "bot",
      commands: ["*"],
    });
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const url = `${this.gatehouse.url}/v2/game/server`;
    const speed: Speed = { cached: [], fresh: [], commands: [] };
    for (let round = 0; round < ROUNDS; round++) {
      await Bun.sleep(FRESH_MS + 20);
      for (let read = 0; read <= CACHED_READS; read++) {
        const beganAt = performance.now();
        const response = await fetch(url, { headers });
        expect(response.status).toBe(200);
        await response.bytes();
        const times = response.headers.get("x-cache") === "HIT" ? speed.cached : speed.fresh;
        times.push(performance.now() - beganAt);
      }
    }
    const { next } = this.simulator.calls();
    for (let command = 0; command < COMMANDS; command++) {
      const beganAt = performance.now();
      const body = JSON.stringify({ command: `:h ${command}` });
      const response = await fetch(`${url}/command`, { method: "POST", headers, body });
      expect(response.status).toBe(202);
      speed.commands.push(performance.now() - beganAt);
    }
    const countSent = () => this.simulator.calls(next).calls.filter(({ kind }) => kind === "command").length;
    await until("the commands are not sent", () => countSent() === COMMANDS);
    return speed;
  }

  async expectUsual(normal: Speed): Promise<void> {
    const now = await this.measure();
    for (const kind of ["cached", "fresh", "commands"] as const) {
      expect(Math.max(...now[kind])).toBeLessThan(DEADLINE_MS);
      expect(medianOf(now[kind])).toBeLessThan(medianOf(normal[kind]) * RATIO_MAX + NOISE_MS);
    }
    expect((await fetch(`${this.gatehouse.url}/readyz`)).status).toBe(200);
    // The watcher goes on too.
    await this.witness.pass(3);
  }

  async expectUnavailable(): Promise<void> {
    const beganAt = performance.now();
    const error = await this.readEvents().catch((caught) => caught);
    expect(String(error)).toMatch(/: 503 .*"code":5106/);
    expect(performance.now() - beganAt).toBeLessThan(DEADLINE_MS + TOLERANCE_MS);
  }

  async readEvents(): Promise<ToldEvent[]> {
    const events: ToldEvent[] = [];
    let after = "earliest";
    for (;;) {
      const page = await this.admin("GET", `/servers/${this.watchedId}/events?after=${after}&limit=500`);
      events.push(...page.items);
      if (!page.has_more) return events;
      after = page.next;
    }
  }

  /** The log says it once a minute; here it says it for the first time. */
  async untilMissed(): Promise<void> {
    await this.gatehouse.waitForLine("events wait in memory", "stderr");
  }

  async #untilRecorded(isAmong: (events: readonly ToldEvent[]) => boolean): Promise<void> {
    const isRecorded = async () => isAmong(await this.readEvents().catch(() => []));
    await until("the newest reading is not recorded", isRecorded);
  }

  /** The ledger when nothing is read any more and everything is recorded. */
  async settle(): Promise<ToldEvent[]> {
    this.fillLists();
    await this.witness.pass(LOG_LISTS.length + 1);
    await this.admin("PATCH", `/servers/${this.watchedId}`, { watch: false });
    await this.#untilRecorded((events) => this.witness.hasNewest(events));
    return this.readEvents();
  }
}

async function open(archive: string): Promise<Stage> {
  const simulator = await startSimulator({
    players: 20,
    speed: 60,
    readLimit: 0,
    commandIntervalMs: 0,
    logWindow: LOG_WINDOW,
  });
  undoLater(() => simulator.stop());
  return new Stage(simulator, archive);
}

function medianOf(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

/** Nothing was lost: every entry is told, without a gap. */
async function expectComplete(stage: Stage): Promise<void> {
  const { gaps } = stage.witness.judge(await stage.settle());
  expect(gaps).toEqual([]);
}

test(
  "PostgreSQL killed: all goes on, and afterwards nothing is missing",
  async () => {
    const stage = await open(await postgres.createDatabase());
    await stage.prepare();
    const normal = await stage.measure();
    await postgres.kill();
    try {
      await stage.untilMissed();
      await stage.expectUnavailable();
      await stage.expectUsual(normal);
    } finally {
      await postgres.start();
    }
    await expectComplete(stage);
  },
  TEST_MS,
);

test(
  "PostgreSQL frozen: all goes on, and afterwards nothing is missing",
  async () => {
    const stage = await open(await postgres.createDatabase());
    await stage.prepare();
    const normal = await stage.measure();
    postgres.freeze();
    try {
      const refused = stage.expectUnavailable();
      const webhooks = stage.addWebhooks(4);
      await stage.expectUsual(normal);
      await refused;
      for (const error of await webhooks) expect(error).toMatch(/: 503 .*"archive":/);
      await stage.expectUnavailable();
    } finally {
      postgres.thaw();
    }
    await expectComplete(stage);
  },
  TEST_MS,
);

testWith(mounting)(
  "PostgreSQL on a full disk: all goes on, and afterwards nothing is missing",
  async () => {
    const disk = await mountDisk("24m");
    await postgres.createTablespace("small", disk);
    await postgres.ask("CREATE DATABASE away_on_small_disk TABLESPACE small");
    undoLater(async () => {
      await postgres.ask("DROP DATABASE away_on_small_disk WITH (FORCE)").catch(() => {});
      await postgres.ask("DROP TABLESPACE small").catch(() => {});
    });
    const stage = await open(postgres.urlOf("away_on_small_disk"));
    await stage.prepare();
    await expectUsualWhenFull(stage, join(disk, "ballast"));
  },
  TEST_MS,
);

testWith(mounting)(
  "the embedded archive on a full disk: all goes on, and afterwards nothing is missing",
  async () => {
    const disk = await mountDisk("4m");
    const stage = await open("sqlite");
    await Bun.$`mkdir ${join(stage.folder, "data")}`.quiet();
    // The store is on another disk: without it, commands are refused.
    symlinkSync(join(disk, "archive.db"), join(stage.folder, "data/archive.db"));
    await stage.prepare();
    await expectUsualWhenFull(stage, join(disk, "ballast"));
  },
  TEST_MS,
);

test(
  "the embedded archive locked by another process: all goes on, and afterwards nothing is missing",
  async () => {
    const stage = await open("sqlite");
    await stage.prepare();
    const normal = await stage.measure();
    const db = new Database(join(stage.folder, "data/archive.db"));
    undoLater(() => db.close());
    db.exec("PRAGMA busy_timeout = 10000");
    db.exec("BEGIN IMMEDIATE");
    stage.fillLists();
    await stage.untilMissed();
    await stage.expectUsual(normal);
    db.exec("ROLLBACK");
    await expectComplete(stage);
  },
  TEST_MS,
);

test(
  "Gatehouse killed while PostgreSQL is away: what only the killed process has seen lies in gaps",
  async () => {
    const stage = await open(await postgres.createDatabase());
    await stage.prepare();
    await postgres.kill();
    try {
      stage.simulator.arm({ kind: "burst", list: "KillLogs", times: 1, server: TOWN });
      await stage.witness.pass(2);
      await stage.untilMissed();
      stage.gatehouse.kill("SIGKILL");
      await stage.gatehouse.exited;
      await stage.start();
      await stage.witness.pass(2);
      await stage.expectUnavailable();
    } finally {
      await postgres.start();
    }
    const { gaps } = stage.witness.judge(await stage.settle());
    // The reason is `archive` when more readings have waited than are kept.
    expect(gaps.map(({ section }) => section)).toContain("KillLogs");
  },
  TEST_MS,
);

async function expectUsualWhenFull(stage: Stage, ballast: string): Promise<void> {
  const normal = await stage.measure();
  fill(ballast);
  // Pages that were begun before have room left.
  stage.simulator.arm({ kind: "burst", list: "KillLogs", count: 25, server: TOWN, times: 40 });
  await stage.untilMissed();
  await stage.simulator.clearFaults();
  await stage.expectUsual(normal);
  rmSync(ballast);
  await expectComplete(stage);
}
