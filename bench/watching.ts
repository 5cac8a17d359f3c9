// npm run bench:watching: what 200 watched servers cost the callers. Cached reads with watching on and off, in turns, each on
// a newly started Gatehouse. Prints ratios and the goals. Uses a folder that is deleted afterwards.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { mintToken } from "../src/core/keys/token.ts";
import { ALL_SECTIONS_PATH, READ_PATH } from "./cases.ts";
import { FRESH_FOREVER_MS, GATEHOUSE, settingsOf } from "./contenders/gatehouse.ts";
import { fillKeys, fillServers, openSqlite } from "./fill-store.ts";
import { type Goal, printGoals } from "./goals.ts";
import { type Measured, measureLoad, putLoad } from "./load.ts";
import { chooseCores, pinProcess } from "./machine.ts";
import { readResidentMb } from "./process-usage.ts";
import { type Program, startProgram } from "./processes.ts";
import { Progress } from "./progress.ts";
import { CONNECTIONS, READ_KEYS } from "./settings.ts";
import { PLAYERS, serverKeyOf, writeTokens } from "./stage.ts";
import { median, spread } from "./statistics.ts";

const SERVERS = 200;
/** The shipped default of GATEHOUSE_WATCH_INTERVAL_MS. */
const INTERVAL_SECONDS = 5;
/** Fewer readings than this share of the expected ones mean that the simulator was the bottleneck. */
const READINGS_SHARE_MIN = 0.9;
/** Where the unwatched turns differ by more, the machine was not quiet. */
const SPREAD_MAX = 1.1;
const USAGE = "npm run bench:watching -- [--quick] [--rounds 5] [--seconds 10]";

const CASES = [
  { title: "cached read, base only", path: READ_PATH },
  { title: "cached read, nine sections", path: ALL_SECTIONS_PATH },
] as const;
const MODES = ["off", "on"] as const;

type Mode = (typeof MODES)[number];
type Settings = { readonly rounds: number; readonly seconds: number; readonly warmSeconds: number };
type Turn = {
  readonly results: readonly Measured[];
  readonly residentMb: number;
  readonly readingsPerSecond: number;
};

const settings = readSettings();
const cores = chooseCores();
// The harness must not use the core of the server.
pinProcess(process.pid, cores.load);
const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
const progress = new Progress();
try {
  const simulator = await startBenchSimulator();
  const turns = await measure(simulator);
  await simulator.stop();
  progress.end();
  printTurns(turns);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function startBenchSimulator(): Promise<Program> {
  const main = resolve(import.meta.dir, "../src/main.ts");
  const options = ["--port", "0", "--players", String(PLAYERS), "--read-limit", "0"];
  const command = [process.execPath, "--no-env-file", main, "simulate", ...options];
  return startProgram({ command, core: cores.redis });
}

/**
 * Reads the servers from the simulator as often as a watching Gatehouse does. It runs while nothing is watched, so that the
 * core of the load has the same work in both turns, and the ratio speaks of Gatehouse alone.
 */
class StandInWatcher {
  readonly #simulator: Program;
  readonly #timer: Timer;
  #calls = 0;

  constructor(simulator: Program) {
    this.#simulator = simulator;
    this.#timer = setInterval(() => void this.#call(), (INTERVAL_SECONDS * 1000) / SERVERS);
  }

  get calls(): number {
    return this.#calls;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #call(): Promise<void> {
    return readServer(this.#simulator, this.#calls++ % SERVERS);
  }
}

async function readServer(simulator: Program, index: number): Promise<void> {
  const path = ALL_SECTIONS_PATH.replace(READ_PATH, "/v2/server");
  const answer = await fetch(simulator.urls[0] + path, { headers: { "server-key": serverKeyOf(index) } });
  await answer.arrayBuffer();
}

async function measure(simulator: Program): Promise<Record<Mode, Turn[]>> {
  const tokens = Array.from({ length: READ_KEYS }, () => mintToken(randomBytes));
  const tokensPath = writeTokens(folder, "tokens.txt", tokens);
  const folders = { off: mkdtempSync(join(folder, "off-")), on: mkdtempSync(join(folder, "on-")) };
  for (const mode of MODES) await fill(folders[mode], tokens);
  const turns: Record<Mode, Turn[]> = { off: [], on: [] };
  // The first reading of a server builds its town, which takes the simulator longer than all later ones.
  for (let index = 0; index < SERVERS; index++) await readServer(simulator, index);
  progress.part("watching", settings.rounds * MODES.length);
  for (let round = 0; round < settings.rounds; round++) {
    // The first of a round changes, so that a machine that becomes slower favours neither.
    for (const mode of round % 2 === 0 ? MODES : MODES.toReversed()) {
      const turn = await measureTurn(mode, folders[mode], tokensPath, simulator);
      turns[mode].push(turn);
      const rates = turn.results.map(({ perSecond, p99Ms }) => `${Math.round(perSecond)}/s p99 ${p99Ms.toFixed(1)} ms`);
      progress.step(`watching ${mode}: ${rates.join(", ")}, ${turn.readingsPerSecond.toFixed(1)} readings/s`);
    }
  }
  return turns;
}

async function fill(path: string, tokens: readonly string[]): Promise<void> {
  const store = await openSqlite(path);
  await fillKeys(store, await fillServers(store, SERVERS), tokens);
  await store.close();
}

async function measureTurn(mode: Mode, path: string, tokensPath: string, simulator: Program): Promise<Turn> {
  const program = await startProgram({
    command: GATEHOUSE,
    core: cores.server,
    env: {
      ...settingsOf(path, simulator.urls[0] ?? ""),
      GATEHOUSE_FRESH_MS: FRESH_FOREVER_MS,
      GATEHOUSE_WATCH: mode,
    },
  });
  const standIn = mode === "off" ? new StandInWatcher(simulator) : undefined;
  try {
    const keys = { tokensPath, first: 0, count: READ_KEYS, connections: CONNECTIONS };
    const url = program.urls[0] ?? "";
    // The first interval reads every server for the first time and compiles the paths; it is not measured.
    for (const { path: casePath } of CASES)
      await putLoad({ ...keys, url: url + casePath, seconds: settings.warmSeconds }, cores.load);
    const results: Measured[] = [];
    const readingsBefore = await countReadings(simulator);
    const standInBefore = standIn?.calls ?? 0;
    const startedAt = performance.now();
    for (const { title, path: casePath } of CASES) {
      const load = { ...keys, url: url + casePath, seconds: settings.seconds };
      const result = await measureLoad(load, cores.load, program.pid);
      if (result.refused > result.requests * 0.001)
        throw new Error(`${title}, watching ${mode}: ${result.refused} requests were refused`);
      results.push(result);
    }
    const seconds = (performance.now() - startedAt) / 1000;
    const standInCalls = (standIn?.calls ?? 0) - standInBefore;
    const readings = (await countReadings(simulator)) - readingsBefore;
    const readingsPerSecond = (readings - standInCalls) / seconds;
    checkReadings(mode, readingsPerSecond);
    return { results, residentMb: readResidentMb(program.pid), readingsPerSecond };
  } finally {
    standIn?.stop();
    await program.stop();
  }
}

async function countReadings(simulator: Program): Promise<number> {
  const answer = await fetch(`${simulator.urls[0]}/_calls?since=999999999`);
  const { totals } = (await answer.json()) as { totals: { reads: number } };
  return totals.reads;
}

/** Throws when the turn did not do what its name says. */
function checkReadings(mode: Mode, perSecond: number): void {
  const expected = mode === "on" ? SERVERS / INTERVAL_SECONDS : 0;
  if (mode === "off" ? perSecond < 1 : perSecond >= expected * READINGS_SHARE_MIN) return;
  throw new Error(`watching ${mode}: ${perSecond.toFixed(1)} readings a second, ${expected} were expected`);
}

function printTurns(turns: Record<Mode, Turn[]>): void {
  const rows = CASES.map(({ title }, index) => {
    const list = (mode: Mode, what: "perSecond" | "p50Ms" | "p99Ms" | "cpuMicros") =>
      turns[mode].map(({ results }) => results[index]?.[what] ?? Number.NaN);
    const ratio = (what: "perSecond" | "p50Ms" | "p99Ms" | "cpuMicros") => {
      const unwatched = list("off", what);
      return median(list("on", what).map((value, round) => value / (unwatched[round] ?? Number.NaN)));
    };
    return {
      title,
      perSecond: ratio("perSecond"),
      p50: ratio("p50Ms"),
      p99: ratio("p99Ms"),
      cpu: ratio("cpuMicros"),
      spread: spread(list("off", "perSecond")),
    };
  });
  const memory = (mode: Mode) => median(turns[mode].map(({ residentMb }) => residentMb));
  console.log(`\n${SERVERS} servers watched beside the same unwatched; medians of ${settings.rounds} rounds:`);
  console.table(
    rows.map((row) => ({
      case: row.title,
      "requests/s": row.perSecond.toFixed(3),
      p50: row.p50.toFixed(2),
      p99: row.p99.toFixed(2),
      "processor time": row.cpu.toFixed(2),
      "spread of the unwatched": row.spread.toFixed(2),
    })),
  );
  console.log(`Resident memory: ${memory("on").toFixed(0)} MB watched, ${memory("off").toFixed(0)} MB unwatched.\n`);
  if (rows.some((row) => row.spread > SPREAD_MAX))
    console.log("The machine was not quiet: the unwatched turns differ. The ratios say little.\n");
  printGoals(
    rows.flatMap(({ title, perSecond, p99 }): Goal[] => [
      {
        name: `${title}: requests/s watched beside unwatched`,
        isAtLeast: true,
        wanted: 0.75,
        found: perSecond,
      },
      { name: `${title}: p99 watched beside unwatched`, isAtLeast: false, wanted: 1.3, found: p99 },
    ]),
  );
}

function readSettings(): Settings {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: "boolean", default: false },
        rounds: { type: "string" },
        seconds: { type: "string" },
      },
    });
    const { quick } = values;
    const rounds = Number(values.rounds ?? (quick ? 2 : 5));
    // Whole intervals, so that every server is read equally often in each turn.
    const seconds = Number(values.seconds ?? (quick ? INTERVAL_SECONDS : 2 * INTERVAL_SECONDS));
    if (!(rounds >= 1) || !(seconds >= 1)) throw new Error("rounds and seconds must be 1 or more");
    return { rounds, seconds, warmSeconds: INTERVAL_SECONDS + 1 };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
}
