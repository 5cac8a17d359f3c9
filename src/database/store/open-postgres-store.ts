// Opens the store in a PostgreSQL, which one instance uses alone, or several together with a Redis. Once a heartbeat was not
// answered, all queries fail at once until one is: requests then learn quickly that the database is away.
import type { HistoryLimits } from "../../core/commands/command.ts";
import { StartRefused, StoreUnavailable } from "../../core/errors.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { LimitStore } from "../../core/ports/limits.ts";
import type { Log } from "../../core/ports/log.ts";
import { DatabaseClock } from "../database-clock.ts";
import { isRefusal, PostgresDriver, PostgresTooOld } from "../postgres.ts";
import type { Sealer } from "../sealer.ts";
import { markAbandoned } from "./commands.ts";
import { BEAT_DEADLINE_MS, Instances, type InstancesDeps } from "./instances.ts";
import { STORE_MIGRATIONS } from "./migrations.ts";
import { DatabaseStore } from "./store.ts";

export type PostgresStoreSettings = {
  readonly url: string;
  readonly sealer: Sealer;
  readonly log: Log;
  /** Whether a Redis is shared with other instances. */
  readonly isShared: boolean;
  readonly openLimits: (store: DatabaseStore, link: PostgresLink) => LimitStore;
  /** Replaces the database's clock in tests. */
  readonly ownClock?: Clock | undefined;
  readonly historyLimits?: HistoryLimits | undefined;
};

export type PostgresStore = { readonly store: DatabaseStore; readonly instances: Instances; readonly clock: Clock };

/**
 * Throws StartRefused for another secret, a PostgreSQL that is too old, and beside instances that it must not meet, and
 * StoreUnavailable when PostgreSQL does not answer.
 */
export async function openPostgresStore(settings: PostgresStoreSettings): Promise<PostgresStore> {
  const { url, sealer, log, isShared, ownClock, historyLimits } = settings;
  const link = openPostgresLink({ url, log, isShared, markAbandoned, ownClock });
  const { driver, instances } = link;
  let store: DatabaseStore | undefined;
  try {
    await link.check();
    store = new DatabaseStore({
      driver,
      sealer,
      instanceId: () => instances.instanceId ?? "",
      openLimits: (opened) => settings.openLimits(opened, link),
      historyLimits,
      close: () => link.close(),
    });
    // Before it registers: an instance with another secret changes nothing.
    await store.settings.checkSecret(sealer);
    await instances.start();
    const { directory } = store;
    await directory.load();
    instances.onChange.add(() => {
      if (instances.isUp) directory.distrust();
    });
    instances.onVersion = (version) => {
      // A failure is followed by another beat.
      if (version !== directory.version) directory.catchUp().catch(() => {});
    };
    return { store, instances, clock: link.clock };
  } catch (error) {
    await (store ?? link).close();
    if (!(error instanceof StoreUnavailable)) throw error;
    const { cause, message } = error;
    if (cause instanceof StartRefused) throw cause;
    if (cause instanceof PostgresTooOld) throw new StartRefused(`GATEHOUSE_STORE cannot be used: ${message}`, 2);
    if (isRefusal(cause))
      throw new StartRefused(`GATEHOUSE_STORE cannot be used: ${message} — check the address and its password`);
    throw error;
  }
}

type PostgresLinkDeps = Pick<InstancesDeps, "log" | "isShared" | "markAbandoned" | "sleep" | "ownTicks"> & {
  readonly url: string;
  /** Replaces the database's clock in tests. */
  readonly ownClock?: Clock | undefined;
};

export type PostgresLink = {
  /** Refuses transactions of an instance that counts as dead. */
  readonly driver: PostgresDriver;
  readonly instances: Instances;
  readonly clock: Clock;
  /** Throws as `driver.check`. Opens the heartbeat's connection too, so that the first heartbeat has its time for itself. */
  check(): Promise<void>;
  close(): Promise<void>;
};

/** Connects with the first query. `instances.start` comes next. */
export function openPostgresLink({ url, ownClock, ...deps }: PostgresLinkDeps): PostgresLink {
  const migrations = STORE_MIGRATIONS;
  const clock = new DatabaseClock(ownClock);
  const pulse = new PostgresDriver({ url, migrations, connectionsMax: 1, deadlineMs: BEAT_DEADLINE_MS });
  const driver = new PostgresDriver({
    url,
    migrations,
    findInstanceId: () => instances.instanceId,
    isUp: () => instances.isUp,
    onFault: () => void instances.beat(),
  });
  const instances = new Instances({ ...deps, pulse, driver, clock });
  instances.onChange.add(() => {
    if (!instances.isUp) driver.reset();
  });
  return {
    driver,
    instances,
    clock: clock.now,
    async check() {
      await Promise.all([driver.check(), pulse.check().catch(() => {})]);
    },
    async close() {
      await instances.stop();
      await Promise.all([driver.close(), pulse.close()]);
    },
  };
}
