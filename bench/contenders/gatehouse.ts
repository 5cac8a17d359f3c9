// Gatehouse itself, as `gatehouse serve` starts it, on either store. Its snapshot stays fresh, so that upstream is not called.
import { BUNDLED_MAIN, buildServer } from "../../scripts/build-server.ts";
import { startPostgres } from "../../test/postgres-server.ts";
import { startRedis } from "../../test/redis-server.ts";
import { fillKeys, fillServers, openPostgres, openSqlite } from "../fill-store.ts";
import { pinProcess } from "../machine.ts";
import { startProgram } from "../processes.ts";
import { SECRET, type Stage } from "../stage.ts";
import type { Contender } from "./contender.ts";

/** The runtime as the `gatehouse` script starts it. */
export const RUNTIME = ["env", "BUN_JSC_forceRAMSize=1073741824", process.execPath];
await buildServer();
/** The command of the `gatehouse` script, without its checks of what must be built. */
export const GATEHOUSE = [...RUNTIME, "--no-env-file", "--max-http-header-size=65536", BUNDLED_MAIN, "serve"];
export const FRESH_FOREVER_MS = "1000000000000";

/** The settings for a data folder that was filled here. Nothing is watched, so that no call to the game API disturbs. */
export function settingsOf(folder: string, upstreamUrl: string): Record<string, string> {
  return {
    GATEHOUSE_DATA_DIR: folder,
    GATEHOUSE_PORT: "0",
    GATEHOUSE_SECRET: SECRET,
    GATEHOUSE_UPSTREAM_URL: upstreamUrl,
    GATEHOUSE_WATCH: "off",
  };
}

export function gatehouseEnv(stage: Stage, folder: string): Record<string, string> {
  return { ...settingsOf(folder, stage.simulator.url), GATEHOUSE_FRESH_MS: FRESH_FOREVER_MS };
}

export const gatehouseSqlite: Contender = {
  id: "gatehouse-sqlite",
  name: "Gatehouse (SQLite)",
  findObstacle: () => undefined,
  async start(stage, cores) {
    const folder = stage.makeFolder("sqlite");
    const store = await openSqlite(folder);
    await fillKeys(store, await fillServers(store, 1), stage.tokens);
    await store.close();
    const env = gatehouseEnv(stage, folder);
    const program = await startProgram({ command: GATEHOUSE, core: cores.server, env });
    return { ...program, urlOf: ({ path }) => program.urls[0] + path };
  },
};

export const gatehouseRedis: Contender = {
  id: "gatehouse-redis",
  name: "Gatehouse (PostgreSQL and Redis)",
  findObstacle: findRedisObstacle,
  async start(stage, cores) {
    const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
    pinProcess(redis.pid, cores.redis);
    const url = await postgres.createDatabase();
    const store = await openPostgres(url);
    await fillKeys(store, await fillServers(store, 1), stage.tokens);
    await store.close();
    const shared = { GATEHOUSE_STORE: url, GATEHOUSE_REDIS: redis.url };
    const env = { ...gatehouseEnv(stage, stage.makeFolder("redis")), ...shared };
    const program = await startProgram({ command: GATEHOUSE, core: cores.server, env });
    return {
      ...program,
      urlOf: ({ path }) => program.urls[0] + path,
      async stop() {
        await program.stop();
        await Promise.all([redis.stop(), postgres.stop()]);
      },
    };
  },
};

export function findRedisObstacle(): string | undefined {
  return Bun.which("redis-server") || Bun.which("valkey-server")
    ? undefined
    : "neither redis-server nor valkey-server is installed";
}
