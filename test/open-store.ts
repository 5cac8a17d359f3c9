// Opens stores for tests, as an instance does.
import { randomUUID } from "node:crypto";
import type { HistoryLimits } from "../src/core/commands/command.ts";
import type { Clock } from "../src/core/ports/clock.ts";
import type { Log } from "../src/core/ports/log.ts";
import { PostgresDriver } from "../src/database/postgres.ts";
import { Sealer } from "../src/database/sealer.ts";
import { markAbandoned } from "../src/database/store/commands.ts";
import { STORE_MIGRATIONS } from "../src/database/store/migrations.ts";
import { openSqliteStore } from "../src/database/store/open-sqlite-store.ts";
import { DatabaseStore } from "../src/database/store/store.ts";
import { MemoryLimits } from "../src/shared/memory-limits.ts";

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

export type TestStoreSettings = {
  readonly path: string;
  readonly secret?: string;
  readonly log?: Log;
  readonly clock?: Clock;
  readonly historyLimits?: HistoryLimits | undefined;
};

export function openTestStore({
  path,
  secret = "a secret",
  log = SILENT,
  clock = () => 1_800_000_000_000,
  historyLimits,
}: TestStoreSettings): Promise<DatabaseStore> {
  return openSqliteStore({
    path,
    sealer: new Sealer(secret),
    log,
    clock,
    openLimits: ({ blocks }) => new MemoryLimits(blocks, log),
    historyLimits,
  });
}

export async function openTestPostgres({
  url,
  secret = "a secret",
  log = SILENT,
  historyLimits,
  instanceId = randomUUID(),
}: Omit<TestStoreSettings, "path" | "clock"> & {
  readonly url: string;
  readonly instanceId?: string;
}): Promise<DatabaseStore> {
  let isRegistered = false;
  const driver = new PostgresDriver({
    url,
    migrations: STORE_MIGRATIONS,
    findInstanceId: () => (isRegistered ? instanceId : undefined),
  });
  const sealer = new Sealer(secret);
  const store = new DatabaseStore({
    driver,
    sealer,
    instanceId: () => instanceId,
    openLimits: ({ blocks }) => new MemoryLimits(blocks, log),
    historyLimits,
    close: () => driver.close(),
  });
  await driver.transact(async (sql) => {
    const insert = "INSERT INTO instances (instance_id, started_at, seen_at, redis) VALUES (?1, 0, 0, '')";
    await sql.run(insert, instanceId);
  });
  isRegistered = true;
  await store.settings.checkSecret(sealer);
  await store.directory.load();
  return store;
}

/** Creates the tables of the store in an empty database. */
export async function migrateStore(url: string): Promise<void> {
  const driver = new PostgresDriver({ url, migrations: STORE_MIGRATIONS, connectionsMax: 1 });
  await driver.check();
  await driver.close();
}

/** As another instance does with one that was not seen for too long. */
export async function reapInstance(url: string, instanceId: string, now: number): Promise<void> {
  const driver = new PostgresDriver({ url, migrations: STORE_MIGRATIONS, connectionsMax: 1 });
  await driver.transact(async (sql) => {
    await sql.run("DELETE FROM instances WHERE instance_id = ?1", instanceId);
    await markAbandoned(sql, now);
  });
  await driver.close();
}
