// Measures the cost of more keys and more servers: throughput relative to the smallest size, memory, and the time to start.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { mintToken } from "../src/core/keys/token.ts";
import { ALL_SECTIONS_PATH, READ_PATH } from "./cases.ts";
import { GATEHOUSE, gatehouseEnv, RUNTIME } from "./contenders/gatehouse.ts";
import { fillKeys, fillServers, openSqlite } from "./fill-store.ts";
import { type Load, type Measured, measureLoad, putLoad } from "./load.ts";
import type { Cores } from "./machine.ts";
import { readResidentMb } from "./process-usage.ts";
import { type Program, startProgram } from "./processes.ts";
import type { Progress } from "./progress.ts";
import { CONNECTIONS, READ_KEYS, type Settings } from "./settings.ts";
import { type Stage, writeTokens } from "./stage.ts";
import { median } from "./statistics.ts";

/** Requests of each key while the fast clock moves by a minute; below 120, so that none is refused. */
const REQUESTS_A_MINUTE = 100;
const WARM_SECONDS = 2;

export type GrowthRow = {
  readonly label: string;
  readonly size: number;
  readonly perSecond: number;
  /** Both relative to the smallest size. */
  readonly ratio: number;
  readonly cpuRatio: number;
  readonly p99Ms: number;
  readonly idleMb: number;
  readonly loadedMb: number;
  readonly startMs: number;
};

export type GrowthResults = { readonly keys: readonly GrowthRow[]; readonly servers: readonly GrowthRow[] };

type Size = {
  readonly label: string;
  readonly size: number;
  readonly folder: string;
  readonly tokensPath: string;
  /** How many of the tokens send requests. */
  readonly used: number;
  readonly path: string;
};

export async function measureGrowth(
  stage: Stage,
  cores: Cores,
  settings: Settings,
  progress: Progress,
): Promise<GrowthResults> {
  const { keyCounts, serverCounts } = settings;
  progress.part("growth: filling", keyCounts.length + serverCounts.length);
  const keySizes: Size[] = [];
  for (const count of keyCounts) {
    progress.step(`${count} keys`);
    keySizes.push(await prepare(stage, name(count, "key"), count, 1, count, READ_PATH));
  }
  const [small, largest] = [keySizes.at(-2), keySizes.at(-1)];
  if (small && largest) {
    const label = `${largest.label}, ${small.size.toLocaleString("en")} of them in use`;
    keySizes.push({ ...largest, label, used: small.size });
  }
  const serverSizes: Size[] = [];
  for (const count of serverCounts) {
    progress.step(`${count} servers`);
    serverSizes.push(await prepare(stage, name(count, "server"), count, count, READ_KEYS, ALL_SECTIONS_PATH));
  }
  const steps = settings.growthRounds + settings.starts;
  progress.part("growth: keys", keySizes.length * steps);
  const keys = await measureSizes(keySizes, stage, cores, settings, progress);
  progress.part("growth: servers", serverSizes.length * steps);
  return { keys, servers: await measureSizes(serverSizes, stage, cores, settings, progress) };
}

async function prepare(
  stage: Stage,
  label: string,
  size: number,
  servers: number,
  keys: number,
  path: string,
): Promise<Size> {
  const folder = stage.makeFolder("growth");
  const tokens = Array.from({ length: keys }, () => mintToken(randomBytes));
  const store = await openSqlite(folder);
  await fillKeys(store, await fillServers(store, servers), tokens);
  await store.close();
  return { label, size, folder, path, used: keys, tokensPath: writeTokens(folder, "tokens.txt", tokens) };
}

async function measureSizes(
  sizes: readonly Size[],
  stage: Stage,
  cores: Cores,
  settings: Settings,
  progress: Progress,
): Promise<GrowthRow[]> {
  const rounds: Measured[][] = sizes.map(() => []);
  const rows: Omit<GrowthRow, "ratio" | "cpuRatio">[] = [];
  const starts: { startMs: number; idleMb: number }[] = [];
  for (const size of sizes) starts.push(await measureStarts(size, stage, cores, settings, progress));
  // One after the other, because only one Gatehouse can use a folder at a time.
  for (let round = 0; round < settings.growthRounds; round++) {
    for (const [index, size] of sizes.entries()) {
      const program = await startWithFastClock(size, stage, cores);
      try {
        const load = {
          url: program.urls[0] + size.path,
          tokensPath: size.tokensPath,
          first: 0,
          count: size.used,
          connections: CONNECTIONS,
        };
        const skip = await sendWithEveryKey(load, cores);
        const timed = { ...load, skip, seconds: settings.roundSeconds };
        const result = await measureLoad(timed, cores.load, program.pid);
        if (result.refused > 0) throw new Error(`${size.label}: ${result.refused} requests were refused`);
        rounds[index]?.push(result);
        rows[index] = toRow(size, rounds[index] ?? [], {
          ...(starts[index] ?? { startMs: Number.NaN, idleMb: Number.NaN }),
          loadedMb: readResidentMb(program.pid),
        });
        progress.step(`${size.label}, ${Math.round(result.perSecond)}/s`);
      } finally {
        await program.stop();
      }
    }
  }
  const ratioToFirst = (what: "perSecond" | "cpuMicros", index: number) => {
    return median((rounds[index] ?? []).map((result, i) => result[what] / (rounds[0]?.[i]?.[what] ?? Number.NaN)));
  };
  return rows.map((row, index) => ({
    ...row,
    ratio: ratioToFirst("perSecond", index),
    cpuRatio: ratioToFirst("cpuMicros", index),
  }));
}

/** Warms up until every key was used, so that the memory includes every key in use. Returns the number of requests. */
async function sendWithEveryKey(load: Omit<Load, "seconds">, cores: Cores): Promise<number> {
  let sent = 0;
  do {
    sent += (await putLoad({ ...load, skip: sent, seconds: WARM_SECONDS }, cores.load)).requests;
  } while (sent < load.count);
  return sent;
}

function toRow(
  { label, size }: Size,
  results: readonly Measured[],
  weights: { startMs: number; idleMb: number; loadedMb: number },
): Omit<GrowthRow, "ratio" | "cpuRatio"> {
  return {
    label,
    size,
    perSecond: median(results.map(({ perSecond }) => perSecond)),
    p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
    ...weights,
  };
}

/** The time until the real program listens, and its memory at that moment. */
async function measureStarts(
  size: Size,
  stage: Stage,
  cores: Cores,
  settings: Settings,
  progress: Progress,
): Promise<{ startMs: number; idleMb: number }> {
  const starts: { startMs: number; idleMb: number }[] = [];
  for (let i = 0; i < settings.starts; i++) {
    const env = gatehouseEnv(stage, size.folder);
    const program = await startProgram({ command: GATEHOUSE, core: cores.server, env });
    starts.push({ startMs: program.startMs, idleMb: readResidentMb(program.pid) });
    await program.stop();
    progress.step(`${size.label}: started in ${Math.round(program.startMs)} ms`);
  }
  return {
    startMs: median(starts.map(({ startMs }) => startMs)),
    idleMb: median(starts.map(({ idleMb }) => idleMb)),
  };
}

function startWithFastClock(size: Size, stage: Stage, cores: Cores): Promise<Program> {
  const env = {
    ...gatehouseEnv(stage, size.folder),
    BENCH_STEP_MS: String(60_000 / REQUESTS_A_MINUTE / size.used),
  };
  const command = [...RUNTIME, "--no-env-file", join(import.meta.dir, "fast-clock-gatehouse.ts")];
  return startProgram({ command, core: cores.server, env });
}

function name(count: number, thing: string): string {
  return `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
}
