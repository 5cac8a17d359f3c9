// Instances that share a real Redis, with a database in memory: what each of them knows of it, it has to catch up with.
import { StoreUnavailable } from "../../src/core/errors.ts";
import type { Verdict } from "../../src/core/keys/rate-limit.ts";
import type { BlockStore } from "../../src/core/ports/limits.ts";
import type { Log } from "../../src/core/ports/log.ts";
import { Sealer } from "../../src/database/sealer.ts";
import { openShared, type Shared, type SharedDeps } from "../../src/shared/open-shared.ts";
import type { RedisAddress } from "../../src/shared/parse-address.ts";
import { until } from "../until.ts";

export const NOW = 1_800_000_000_000;
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
/** Most tests are not about deadlines, so their instances wait as long as a busy machine needs. */
const PATIENCE_MS = 10_000;

/** The database that the instances of one test share. */
export class FakeDatabase {
  version = 1;
  readonly blocks = new Map<string, number>();
  isAway = false;
  /** How often an instance has read what changed. */
  catchUps = 0;

  check(): void {
    if (this.isAway) throw new StoreUnavailable("the database is away");
  }
}

export type Instance = {
  readonly shared: Shared;
  readonly limits: Shared["limits"];
  readonly blocks: BlockStore;
  /** The version of the database that it knows. */
  readonly version: number;
  /** Judges one request of a key after another. */
  judge(keyId: string, times?: number): Promise<Verdict[]>;
  catchUp(): Promise<void>;
};

export type InstanceOptions = Partial<SharedDeps> & {
  readonly database?: FakeDatabase;
  readonly secret?: string;
  /** Does not wait for Redis. */
  readonly isImpatient?: boolean;
};

const opened = new Set<Shared>();

export function closeInstances(): void {
  for (const shared of opened) shared.close();
  opened.clear();
}

export async function openInstance(address: RedisAddress, options: InstanceOptions = {}): Promise<Instance> {
  const { database = new FakeDatabase(), secret = "a secret", isImpatient = false, ...deps } = options;
  let version = database.version;
  let known = new Map(database.blocks);
  const catchUp = async () => {
    database.check();
    await Bun.sleep(0);
    database.catchUps++;
    version = database.version;
    known = new Map(database.blocks);
  };
  const change = async (make: () => void) => {
    database.check();
    // A transaction takes a while; others see the change when it is committed.
    await Bun.sleep(0);
    database.check();
    make();
    const made = ++database.version;
    await catchUp();
    await shared.announce(made);
  };
  const blocks: BlockStore = {
    find: (keyId) => known.get(keyId) ?? 0,
    list: async (now) =>
      Array.from(known, ([keyId, blockedUntil]) => ({ keyId, blockedUntil })).filter(
        ({ blockedUntil }) => blockedUntil > now,
      ),
    save: (keyId, blockedUntil) => change(() => database.blocks.set(keyId, blockedUntil)),
    lift: (keyId) => change(() => database.blocks.delete(keyId)),
  };
  const shared = openShared({
    address,
    sealer: new Sealer(secret),
    log: SILENT,
    clock: Date.now,
    blocks,
    findVersion: () => version,
    onVersion: catchUp,
    ...(!isImpatient && { replyDeadlineMs: PATIENCE_MS }),
    ...deps,
  });
  opened.add(shared);
  if (!isImpatient) await until("Redis is not up", () => shared.isUp);
  return {
    shared,
    limits: shared.limits,
    blocks,
    get version() {
      return version;
    },
    catchUp,
    async judge(keyId, times = 1) {
      const now = (deps.limitClock ?? Date.now)();
      const key = { keyId, serverId: "srv_a", label: "a" };
      return Promise.all(Array.from({ length: times }, () => shared.limits.judge(key, now, true)));
    },
  };
}

/** What it returns, and how long it took. */
export async function measure<T>(work: () => T | Promise<T>): Promise<[result: T, ms: number]> {
  const startedAt = performance.now();
  const result = await work();
  return [result, performance.now() - startedAt];
}
