// Opens the embedded store: one file in the data folder, and one instance that uses it.
import { randomUUID } from "node:crypto";
import type { HistoryLimits } from "../../core/commands/command.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { LimitStore } from "../../core/ports/limits.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Sealer } from "../sealer.ts";
import { truncateLog } from "../sqlite-file/database-file.ts";
import { refuseToOpen } from "../sqlite-file/explain-open-error.ts";
import { markAbandoned } from "./commands.ts";
import { openStoreDriver } from "./open-store-file.ts";
import { DatabaseStore } from "./store.ts";

export type SqliteStoreSettings = {
  readonly path: string;
  readonly sealer: Sealer;
  readonly log: Log;
  readonly clock: Clock;
  readonly openLimits: (store: DatabaseStore) => LimitStore;
  readonly historyLimits?: HistoryLimits | undefined;
};

/** Throws StartRefused for a file that is not ours, is damaged, is in use, or was sealed with another secret. */
export async function openSqliteStore(settings: SqliteStoreSettings): Promise<DatabaseStore> {
  const { path, sealer, log, clock, openLimits, historyLimits } = settings;
  const { driver, db, close } = openStoreDriver(path, log);
  const instanceId = randomUUID();
  try {
    const store = new DatabaseStore({
      driver,
      sealer,
      instanceId: () => instanceId,
      getNow: (text, ...values) => driver.getNow(text, ...values),
      runNow: (text, ...values) => driver.runNow(text, ...values),
      openLimits,
      historyLimits,
      truncateLog: () => truncateLog(db),
      close,
    });
    await driver.transact(async (sql) => {
      // The data folder is locked, so every instance before this one has ended.
      await sql.run("DELETE FROM instances");
      const insert = "INSERT INTO instances (instance_id, started_at, seen_at, redis) VALUES (?1, ?2, ?2, '')";
      await sql.run(insert, instanceId, clock());
      await markAbandoned(sql, clock());
    });
    await store.settings.checkSecret(sealer);
    await store.directory.load();
    return store;
  } catch (error) {
    await close();
    const isWrapped = error instanceof StoreUnavailable && error.cause !== undefined;
    throw refuseToOpen(path, isWrapped ? error.cause : error);
  }
}
