// Opens what Gatehouse works with: the data folder and its secrets, the log, the store, the game API.
import type { Config } from "../config.ts";
import { StartRefused } from "../core/errors.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import type { Store } from "../core/ports/store.ts";
import type { Upstream } from "../core/ports/upstream.ts";
import { type DataFolder, openDataFolder } from "../data-folder.ts";
import { obtainDemoToken, startDemoUpstream } from "../demo.ts";
import {
  identifyUpstream,
  openUpstreamNotes,
  type UpstreamNotes,
} from "../gateway/readings/upstream-notes.ts";
import { createLog } from "../log.ts";
import { agreeOnMasterKey, obtainMasterKey, obtainStoreSecret } from "../secrets.ts";
import type { RedisAddress } from "../store/redis/redis-link.ts";
import type { RedisStore } from "../store/redis/redis-store.ts";
import { createSealer, type Sealer } from "../store/sealer.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { refuseUnfinished } from "../store/unfinished-migration.ts";
import { readTlsFiles } from "../tls-files.ts";
import { createUpstream, wakeHttpClient } from "../upstream/client.ts";
import type { Closers } from "./closers.ts";

/** A sender may keep a claimed command this much longer than a call to the game API may take. */
const COMMAND_LEASE_EXTRA_MS = 5_000;
/** Timers count to 2^31 - 1. Any positive setting is legal, so a longer one means "as long as possible". */
export const TIMER_MAX_MS = 2 ** 31 - 1;

/** What is there before the store is opened: closing needs the log. */
export type Basics = {
  readonly folder: DataFolder;
  readonly log: ReturnType<typeof createLog>;
  readonly secret: string;
  readonly masterKey: string;
};

export type Resources = {
  readonly store: Store;
  /** The same store, when several instances share it. */
  readonly shared: RedisStore | undefined;
  readonly clock: Clock;
  readonly upstream: Upstream;
  readonly upstreamTimeoutMs: number;
  /** Stands for the game API and the global key. */
  readonly upstreamIdentity: string;
  /** Undefined when the other instances know what the game API has forbidden. */
  readonly notes: UpstreamNotes | undefined;
  /** The key of the demo server; undefined with a real game API, or when somebody revoked it. */
  readonly demoToken: string | undefined;
};

export function openBasics(config: Config, writeLog?: (line: string) => void): Basics {
  const folder = openDataFolder(config.dataDir);
  const secret =
    config.secret ?? (config.redis ? folder.obtainSecret("secret.key") : obtainStoreSecret(folder));
  const masterKey = config.masterKey ?? obtainMasterKey(folder);
  const log = createLog({
    level: config.logLevel,
    format: config.logFormat,
    secrets: [masterKey, secret, config.upstreamGlobalKey, config.metricsToken],
    ...(writeLog && { write: writeLog }),
  });
  for (const name of config.unknownSettings) log.warn({ name }, "this setting is unknown and has no effect");
  return { folder, log, secret, masterKey };
}

export async function openResources(
  config: Config,
  { folder, log, secret, masterKey }: Basics,
  closers: Closers,
  ownClock: Clock | undefined,
): Promise<Resources> {
  const upstreamTimeoutMs = Math.min(config.upstreamTimeoutMs, TIMER_MAX_MS);
  const sealer = createSealer(secret);
  const shared =
    config.redis && (await openSharedStore(config.redis, upstreamTimeoutMs, sealer, log, ownClock));
  const clock = ownClock ?? shared?.clock ?? Date.now;
  const store = shared ?? openSqliteStore({ path: folder.databasePath, sealer, log, clock });
  closers.add(() => store.close());
  await refuseUnfinished(store.settings);
  if (shared && config.masterKey === undefined) await agreeOnMasterKey(store.settings, masterKey);
  const demo = config.upstreamUrl === undefined ? await startDemoUpstream() : undefined;
  if (demo) closers.add(() => demo.stop());
  const demoToken = demo && (await obtainDemoToken(store, folder, clock()));
  const baseUrl = config.upstreamUrl ?? demo?.url ?? "";
  const globalKey = config.upstreamGlobalKey;
  wakeHttpClient();
  const upstream = createUpstream({
    baseUrl,
    globalKey,
    timeoutMs: upstreamTimeoutMs,
    keepsUnknown: config.keepsUnknownFields,
    clock,
  });
  const upstreamIdentity = identifyUpstream(baseUrl, globalKey);
  const notes = shared ? undefined : await openUpstreamNotes(store, upstreamIdentity, log);
  return { store, shared, clock, upstream, upstreamTimeoutMs, upstreamIdentity, notes, demoToken };
}

export function readTls(config: Config) {
  const read = config.tls && readTlsFiles(config.tls);
  if (read && "problems" in read) throw new StartRefused(read.problems.join("; "), 2);
  return read?.tls;
}

/** Loaded only when needed: a single instance never pays for it. */
async function openSharedStore(
  address: RedisAddress,
  timeoutMs: number,
  sealer: Sealer,
  log: Log,
  ownClock: Clock | undefined,
): Promise<RedisStore> {
  const { openRedisStore } = await import("../store/redis/redis-store.ts");
  const commandLeaseMs = timeoutMs + COMMAND_LEASE_EXTRA_MS;
  const store = await openRedisStore({
    address,
    sealer,
    log,
    commandLeaseMs,
    ...(ownClock && { clock: ownClock }),
  });
  for (const problem of await store.listDurabilityProblems()) log.warn({}, problem);
  return store;
}
