// npm run bench:beside -- FOLDER: this checkout of Gatehouse beside another one on the same machine, in turns, each newly
// started for every turn. Shows whether a change has made cached reads slower. Each is started with the settings of the
// runtime that its own benchmark has; answers are not compared. Uses a folder that is deleted afterwards.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { CASES } from "./cases.ts";
import type { Contender } from "./contenders/contender.ts";
import { gatehouseSqlite } from "./contenders/gatehouse.ts";
import { type Measured, measureLoad, putLoad } from "./load.ts";
import { chooseCores, pinProcess } from "./machine.ts";
import { readResidentMb } from "./process-usage.ts";
import { Progress } from "./progress.ts";
import { CONNECTIONS, READ_KEYS } from "./settings.ts";
import { openStage } from "./stage.ts";
import { median, spread } from "./statistics.ts";

/** Where the other's turns differ by more, the machine was not quiet. */
const SPREAD_MAX = 1.1;
const WARM_SECONDS = 5;
const ROUNDS_MAX = 1_000;
/** Longer, and a fast machine uses up the limits of all keys. */
const SECONDS_MAX = 10;
const USAGE = "npm run bench:beside -- FOLDER [--rounds 10] [--seconds 4]   (FOLDER: another checkout, installed)";
const READS = CASES.filter(({ id }) => id === "read-base" || id === "read-all");

type Turn = { readonly startMs: number; readonly idleMb: number; readonly results: readonly Measured[] };

const settings = readSettings();
const other = await loadContender(settings.contenderPath);
const cores = chooseCores();
// The harness must not use the core of the server.
pinProcess(process.pid, cores.load);
const progress = new Progress();
const stage = await openStage();
try {
  const turns: { ours: Turn[]; others: Turn[] } = { ours: [], others: [] };
  progress.part("beside", settings.rounds * 2);
  for (let round = 0; round < settings.rounds; round++) {
    // The first of a round changes, so that a machine that becomes slower favours neither.
    for (const side of round % 2 === 0 ? (["ours", "others"] as const) : (["others", "ours"] as const)) {
      const turn = await measureTurn(side === "ours" ? gatehouseSqlite : other);
      turns[side].push(turn);
      const rates = turn.results.map(({ perSecond, p99Ms }) => `${Math.round(perSecond)}/s p99 ${p99Ms.toFixed(1)} ms`);
      progress.step(`${side === "ours" ? "this one" : "the other"}: ${rates.join(", ")}`);
    }
  }
  progress.end();
  printTurns(turns.ours, turns.others);
} finally {
  await stage.close();
}

async function loadContender(path: string): Promise<Contender> {
  try {
    const { gatehouseSqlite: found } = (await import(path)) as { gatehouseSqlite?: Contender };
    if (!found) throw new Error("it has no such contender");
    return found;
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    console.error(`${path} cannot be used: ${reason}\nRun "npm ci" in that checkout first.`);
    process.exit(2);
  }
}

async function measureTurn(contender: Contender): Promise<Turn> {
  const running = await contender.start(stage, cores, "");
  try {
    const idleMb = readResidentMb(running.pid);
    const results: Measured[] = [];
    for (const read of READS) {
      const keys = { tokensPath: stage.tokensPath, first: 0, count: READ_KEYS, connections: CONNECTIONS };
      const load = { ...keys, url: running.urlOf(read) };
      await putLoad({ ...load, seconds: WARM_SECONDS }, cores.load);
      const result = await measureLoad({ ...load, seconds: settings.seconds }, cores.load, running.pid);
      if (result.refused > result.requests * 0.001)
        throw new Error(`${read.title}: ${result.refused} of ${result.requests} requests were refused`);
      results.push(result);
    }
    return { startMs: running.startMs, idleMb, results };
  } finally {
    await running.stop();
  }
}

function printTurns(ours: readonly Turn[], others: readonly Turn[]): void {
  const list = (turns: readonly Turn[], index: number, what: "perSecond" | "p99Ms" | "cpuMicros") =>
    turns.map(({ results }) => results[index]?.[what] ?? Number.NaN);
  const spreads = READS.map((_, index) => spread(list(others, index, "perSecond")));
  console.log(`\nThis checkout beside the other; medians of ${settings.rounds} rounds:`);
  console.table(
    READS.map(({ title }, index) => {
      const ratio = (what: "perSecond" | "p99Ms" | "cpuMicros") => {
        const before = list(others, index, what);
        const ratios = list(ours, index, what).map((value, round) => value / (before[round] ?? Number.NaN));
        return median(ratios).toFixed(2);
      };
      return {
        case: title,
        "requests/s": ratio("perSecond"),
        p99: ratio("p99Ms"),
        "processor time": ratio("cpuMicros"),
        "spread of the other": spreads[index]?.toFixed(2),
      };
    }),
  );
  const middle = (turns: readonly Turn[], what: "startMs" | "idleMb") =>
    median(turns.map((turn) => turn[what])).toFixed(0);
  console.log(`Start: ${middle(ours, "startMs")} ms here, ${middle(others, "startMs")} ms there.`);
  console.log(`Memory after it: ${middle(ours, "idleMb")} MB here, ${middle(others, "idleMb")} MB there.`);
  if (spreads.some((value) => value > SPREAD_MAX))
    console.log("The machine was not quiet: turns of the other differ. Trust the processor time more.");
}

function readSettings() {
  try {
    const { values, positionals } = parseArgs({
      options: { rounds: { type: "string", default: "10" }, seconds: { type: "string", default: "4" } },
      allowPositionals: true,
    });
    const [folder] = positionals;
    if (folder === undefined || positionals.length > 1) throw new Error("name one folder");
    // npm changes to the folder of package.json, and tells where it was called.
    const contenderPath = join(resolve(process.env.INIT_CWD ?? ".", folder), "bench/contenders/gatehouse.ts");
    if (!existsSync(contenderPath)) throw new Error(`${folder} is no checkout of Gatehouse`);
    const rounds = Number(values.rounds);
    const seconds = Number(values.seconds);
    const isCount = (value: number, max: number) => Number.isInteger(value) && value >= 1 && value <= max;
    if (!isCount(rounds, ROUNDS_MAX)) throw new Error(`--rounds is a number from 1 to ${ROUNDS_MAX}`);
    if (!isCount(seconds, SECONDS_MAX)) throw new Error(`--seconds is a number from 1 to ${SECONDS_MAX}`);
    return { contenderPath, rounds, seconds };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    process.exit(2);
  }
}
