// Opens the resources of an instance: data folder, secrets, log, store, archive, and the client of the game API, which runs
// in the reading thread when there is an archive.
import type { Config } from "../config.ts";
import { StartRefused } from "../core/errors.ts";
import type { Archive } from "../core/ports/archive.ts";
import { type Clock, TIMER_MAX_MS } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import type { Store } from "../core/ports/store.ts";
import type { Upstream } from "../core/ports/upstream.ts";
import type { WebhookSealer } from "../core/ports/webhook-sealer.ts";
import { identifyUpstream } from "../core/upstream-notes.ts";
import { DataFolder } from "../data-folder.ts";
import type { ArchivePlace } from "../database/archive/open-archive.ts";
import { type DemoUpstream, markOldDemoServer, obtainDemoToken, startDemoUpstream } from "../demo.ts";
import { UpstreamNotes } from "../gateway/readings/upstream-notes.ts";
import { createLog } from "../log.ts";
import { ReadingThread } from "../reading-thread/reading-thread.ts";
import { checkSharedMasterKey, obtainMasterKey, obtainStoreSecret } from "../secrets.ts";
import type { RedisAddress } from "../store/redis/redis-link.ts";
import type { RedisStore } from "../store/redis/redis-store.ts";
import { Sealer } from "../store/sealer.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { refuseUnfinished } from "../store/unfinished-migration.ts";
import { createWebhookSealer } from "../store/webhook-sealer.ts";
import { startReadingThread } from "../threads.ts";
import { readTlsFiles } from "../tls-files.ts";
import { UpstreamClient, warmUpHttpClient } from "../upstream/client.ts";
import type { Closers } from "./closers.ts";

/** The lease of a claimed command is this much longer than the timeout of a call to the game API. */
const COMMAND_LEASE_EXTRA_MS = 5_000;

/** Opened before the store, because closing needs the log. */
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
  /** Identifies the pair of game API and global key, see identifyUpstream. */
  readonly upstreamIdentity: string;
  /** Undefined with a shared store, which holds the same facts for all instances. */
  readonly notes: UpstreamNotes | undefined;
  /** The key of the demo server; undefined with a real game API, or when somebody revoked it. */
  readonly demoToken: string | undefined;
  /** The built-in simulator; undefined with a real game API. */
  readonly demo: DemoUpstream | undefined;
  /** Undefined when nothing is to be remembered. */
  readonly archive: Archive | undefined;
  readonly webhookSealer: WebhookSealer;
  /** Is the upstream and the recorder, when there is an archive. */
  readonly readingThread: ReadingThread | undefined;
};

export function openBasics(config: Config, writeLog?: (line: string) => void): Basics {
  const folder = DataFolder.open(config.dataDir);
  const secret =
    config.secret ?? (config.redis ? folder.obtainSecret("secret.key") : obtainStoreSecret(folder));
  const masterKey = config.masterKey ?? obtainMasterKey(folder);
  const log = createLog({
    level: config.logLevel,
    format: config.logFormat,
    secrets: [masterKey, secret, ...listConfiguredSecrets(config)],
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
  // A setting may be larger than any timer; it then means "as long as possible".
  const upstreamTimeoutMs = Math.min(config.upstreamTimeoutMs, TIMER_MAX_MS);
  const sealer = new Sealer(secret);
  const shared =
    config.redis && (await openSharedStore(config.redis, upstreamTimeoutMs, sealer, log, ownClock));
  const clock = ownClock ?? shared?.clock ?? Date.now;
  const store = shared ?? openSqliteStore({ path: folder.databasePath, sealer, log, clock });
  closers.add(() => store.close());
  await refuseUnfinished(store.settings);
  if (shared && config.masterKey === undefined) await checkSharedMasterKey(store.settings, masterKey);
  await markOldDemoServer(store);
  const demo = config.upstreamUrl === undefined ? await startDemoUpstream() : undefined;
  if (demo) closers.add(() => demo.stop());
  const demoToken = demo && (await obtainDemoToken(store, folder, clock()));
  const baseUrl = config.upstreamUrl ?? demo?.url ?? "";
  const globalKey = config.upstreamGlobalKey;
  warmUpHttpClient();
  const upstreamSettings = {
    baseUrl,
    globalKey,
    timeoutMs: upstreamTimeoutMs,
    keepsUnknown: config.keepsUnknownFields,
  };
  const upstreamIdentity = identifyUpstream(baseUrl, globalKey);
  const notes = shared ? undefined : await UpstreamNotes.open(store, upstreamIdentity, log);
  const place = findArchive(config.archive, folder);
  const readingThread =
    place &&
    new ReadingThread({
      startThread: startReadingThread,
      settings: { upstream: upstreamSettings, archive: place, secret },
      clock,
      log,
      commands: store.commands,
    });
  const archive = readingThread?.archive;
  if (archive) closers.add(() => archive.close());
  await readingThread?.checkArchive();
  const upstream = readingThread ?? new UpstreamClient({ ...upstreamSettings, clock });
  return {
    store,
    shared,
    clock,
    upstream,
    upstreamTimeoutMs,
    upstreamIdentity,
    notes,
    demoToken,
    demo,
    archive,
    webhookSealer: createWebhookSealer(sealer),
    readingThread,
  };
}

/** Undefined when nothing is to be remembered. */
function findArchive(config: Config["archive"], folder: DataFolder): ArchivePlace | undefined {
  if (config === "off") return undefined;
  return config === "sqlite" ? { path: folder.archivePath } : config;
}

/** For the filter of the log. The password of Redis in both forms: as it is sent, and as it is written in the address. */
export function listConfiguredSecrets(config: Config): (string | undefined)[] {
  const { masterKey, secret, upstreamGlobalKey, metricsToken, redis, archive } = config;
  const postgres = typeof archive === "object" ? URL.parse(archive.postgresUrl)?.password : undefined;
  const passwords = redis?.password === undefined ? [] : [redis.password, encodeURIComponent(redis.password)];
  const ofPostgres = postgres ? [postgres, decodeURIComponent(postgres)] : [];
  return [masterKey, secret, upstreamGlobalKey, metricsToken, ...passwords, ...ofPostgres];
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
