// Measures how many commands are accepted in a second, each on disk before its answer: both stores, one caller and many.
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { findPostgresObstacle, startPostgres } from "../test/postgres-server.ts";
import { READ_PATH } from "./cases.ts";
import { GATEHOUSE, gatehouseEnv } from "./contenders/gatehouse.ts";
import { fillKeys, fillServers, openPostgres, openSqlite } from "./fill-store.ts";
import type { Cores } from "./machine.ts";
import { startProgram } from "./processes.ts";
import type { Progress } from "./progress.ts";
import type { Settings } from "./settings.ts";
import type { Stage } from "./stage.ts";

/** Each queue holds 100 commands, so the submissions are spread over many servers. */
const SERVERS = 200;
const CALLERS = [1, 64, 256] as const;
/** Longer than the run: only the first command is sent to the game, so that only the acceptance is measured. */
const NEVER_MS = "1000000000";
const DISK_MS = 500;
/** What a busy community offers, for the time until an answer. */
const STEADY_PER_SECOND = 500;
const STEADY_SECONDS = 5;

export type CommandRow = { readonly store: string; readonly callers: number; readonly perSecond: number };
/** 99 of 100 were accepted within this time while so many were offered in a second. */
export type SteadyRow = { readonly store: string; readonly offeredPerSecond: number; readonly p99Ms: number };
export type CommandResults = {
  readonly rows: readonly CommandRow[];
  readonly steady: readonly SteadyRow[];
  readonly diskPerSecond: number;
};

export async function measureCommands(
  stage: Stage,
  cores: Cores,
  settings: Settings,
  progress: Progress,
): Promise<CommandResults> {
  const tokens = stage.tokens.slice(0, SERVERS);
  progress.part("commands", (CALLERS.length + 1) * 2);
  const rows: CommandRow[] = [];
  const steady: SteadyRow[] = [];

  const folder = stage.makeFolder("commands");
  const sqlite = await openSqlite(folder);
  await fillKeys(sqlite, await fillServers(sqlite, SERVERS), tokens);
  await sqlite.close();
  await measureStore("SQLite", {}, folder);

  if (findPostgresObstacle() === undefined) {
    // Its transactions are on disk, as with SQLite.
    const server = await startPostgres(["fsync=on"]);
    try {
      const url = await server.createDatabase();
      const postgres = await openPostgres(url);
      await fillKeys(postgres, await fillServers(postgres, SERVERS), tokens);
      await postgres.close();
      const env = { GATEHOUSE_STORE: url };
      await measureStore("PostgreSQL", env, stage.makeFolder("commands-postgres"));
    } finally {
      await server.stop();
    }
  }
  return { rows, steady, diskPerSecond: measureDisk(join(folder, "disk")) };

  async function measureStore(store: string, env: Record<string, string>, dataDir: string): Promise<void> {
    const all = { ...gatehouseEnv(stage, dataDir), ...env, GATEHOUSE_COMMAND_INTERVAL_MS: NEVER_MS };
    const program = await startProgram({ command: GATEHOUSE, core: cores.server, env: all });
    try {
      const url = `${program.urls[0]}${READ_PATH}/command`;
      await submit(url, tokens, SERVERS, 16);
      for (const callers of CALLERS) {
        const count = callers === 1 ? settings.commandsAlone : settings.commandsTogether;
        const perSecond = await submit(url, tokens, count, callers);
        rows.push({ store, callers, perSecond });
        progress.step(`${store}, ${callers} callers: ${Math.round(perSecond)}/s`);
      }
      const p99Ms = await submitSteadily(url, tokens);
      steady.push({ store, offeredPerSecond: STEADY_PER_SECOND, p99Ms });
      progress.step(`${store}, ${STEADY_PER_SECOND} offered in a second: p99 ${p99Ms.toFixed(1)} ms`);
    } finally {
      await program.stop();
    }
  }
}

/** Returns how many commands were accepted in a second. Throws when one was not. */
async function submit(url: string, tokens: readonly string[], count: number, callers: number): Promise<number> {
  let next = 0;
  async function call(): Promise<void> {
    for (let i = next++; i < count; i = next++) await submitOne(url, tokens[i % tokens.length] ?? "");
  }
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: callers }, call));
  return count / ((performance.now() - startedAt) / 1000);
}

/** Offers commands at a steady rate, however long answers take. Returns the time in which 99 of 100 were accepted. */
async function submitSteadily(url: string, tokens: readonly string[]): Promise<number> {
  const count = STEADY_PER_SECOND * STEADY_SECONDS;
  const startedAt = performance.now();
  const waits: Promise<number>[] = [];
  while (waits.length < count) {
    const due = Math.min(count, ((performance.now() - startedAt) * STEADY_PER_SECOND) / 1000);
    while (waits.length < due) {
      const sentAt = performance.now();
      const accepted = submitOne(url, tokens[waits.length % tokens.length] ?? "");
      waits.push(accepted.then(() => performance.now() - sentAt));
    }
    await Bun.sleep(1);
  }
  const sorted = (await Promise.all(waits)).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
}

async function submitOne(url: string, token: string): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ command: ":h benchmark" }) });
  const answer = await response.text();
  if (response.status !== 202) throw new Error(`a command was answered with ${response.status} ${answer}`);
}

/** How many writes in a second the disk can sync one by one: the maximum without group commits. */
function measureDisk(path: string): number {
  const file = openSync(path, "w");
  const block = Buffer.alloc(4096, 1);
  const startedAt = performance.now();
  let writes = 0;
  while (performance.now() - startedAt < DISK_MS) {
    writeSync(file, block);
    fdatasyncSync(file);
    writes++;
  }
  closeSync(file);
  return writes / ((performance.now() - startedAt) / 1000);
}
