// Measures how many commands are accepted in a second, each on disk before its answer: both stores, one caller and many.
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { startRedis } from "../test/redis-server.ts";
import { READ_PATH } from "./cases.ts";
import { findRedisObstacle, GATEHOUSE, gatehouseEnv } from "./contenders/gatehouse.ts";
import { fillKeys, fillServers, openRedis, openSqlite } from "./fill-store.ts";
import { type Cores, pinProcess } from "./machine.ts";
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

export type CommandRow = { readonly store: string; readonly callers: number; readonly perSecond: number };
export type CommandResults = { readonly rows: readonly CommandRow[]; readonly diskPerSecond: number };

export async function measureCommands(
  stage: Stage,
  cores: Cores,
  settings: Settings,
  progress: Progress,
): Promise<CommandResults> {
  const tokens = stage.tokens.slice(0, SERVERS);
  progress.part("commands", CALLERS.length * 2);

  const folder = stage.makeFolder("commands");
  const sqlite = openSqlite(folder);
  await fillKeys(sqlite, await fillServers(sqlite, SERVERS), tokens);
  await sqlite.close();
  const rows = await measureStore("SQLite", {}, folder);

  if (findRedisObstacle() === undefined) {
    const server = await startRedis();
    try {
      pinProcess(server.pid, cores.redis);
      const redis = await openRedis(server.url);
      await fillKeys(redis, await fillServers(redis, SERVERS), tokens);
      await redis.close();
      const env = { GATEHOUSE_STORE: server.url };
      rows.push(...(await measureStore("Redis", env, stage.makeFolder("commands-redis"))));
    } finally {
      await server.stop();
    }
  }
  return { rows, diskPerSecond: measureDisk(join(folder, "disk")) };

  async function measureStore(
    store: string,
    env: Record<string, string>,
    dataDir: string,
  ): Promise<CommandRow[]> {
    const all = { ...gatehouseEnv(stage, dataDir), ...env, GATEHOUSE_COMMAND_INTERVAL_MS: NEVER_MS };
    const program = await startProgram({ command: GATEHOUSE, core: cores.server, env: all });
    try {
      const url = `${program.urls[0]}${READ_PATH}/command`;
      await submit(url, tokens, SERVERS, 16);
      const done: CommandRow[] = [];
      for (const callers of CALLERS) {
        const count = callers === 1 ? settings.commandsAlone : settings.commandsTogether;
        const perSecond = await submit(url, tokens, count, callers);
        done.push({ store, callers, perSecond });
        progress.step(`${store}, ${callers} callers: ${Math.round(perSecond)}/s`);
      }
      return done;
    } finally {
      await program.stop();
    }
  }
}

/** Returns how many commands were accepted in a second. Throws when one was not. */
async function submit(
  url: string,
  tokens: readonly string[],
  count: number,
  callers: number,
): Promise<number> {
  let next = 0;
  const body = JSON.stringify({ command: ":h benchmark" });
  async function call(): Promise<void> {
    for (let i = next++; i < count; i = next++) {
      const headers = {
        Authorization: `Bearer ${tokens[i % tokens.length]}`,
        "Content-Type": "application/json",
      };
      const response = await fetch(url, { method: "POST", headers, body });
      const answer = await response.text();
      if (response.status !== 202)
        throw new Error(`a command was answered with ${response.status} ${answer}`);
    }
  }
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: callers }, call));
  return count / ((performance.now() - startedAt) / 1000);
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
