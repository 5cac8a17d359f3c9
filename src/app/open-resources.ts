// Opens the resources of an instance: data folder, secrets, log, store, archive, and the client of the game API, which runs
// in the reading thread when there is an archive.
import { StartRefused } from "../core/errors.ts";
import type { Archive } from "../core/ports/archive.ts";
import { type Clock, TIMER_MAX_MS } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import type { LimitHint, Upstream } from "../core/ports/upstream.ts";
import type { WebhookSealer } from "../core/ports/webhooks.ts";
import { identifyUpstream } from "../core/readings/upstream-notes.ts";
import type { ArchivePlace } from "../database/archive/open-archive.ts";
import { createWebhookSealer, Sealer } from "../database/sealer.ts";
import type { Instances } from "../database/store/instances.ts";
import { openSqliteStore } from "../database/store/open-sqlite-store.ts";
import { AMENDED_SETTING, refuseUnfinished, tellEndedDevices } from "../database/store/settings.ts";
import type { DatabaseStore } from "../database/store/store.ts";
import { type DemoUpstream, markOldDemoServer, obtainDemoToken, startDemoUpstream } from "../demo.ts";
import { RedisIdKeeper } from "../gateway/instances/shared-redis.ts";
import { UpstreamNotes } from "../gateway/readings/upstream-notes.ts";
import type { Config } from "../instance/config.ts";
import { DataFolder } from "../instance/data-folder.ts";
import { createLog } from "../instance/log.ts";
import { MachineWatch, type MeasureDisk, masterKeyFileOf } from "../instance/machine-watch.ts";
import { checkSharedMasterKey, obtainMasterKey, obtainStoreSecret } from "../instance/secrets.ts";
import { readTlsFiles } from "../instance/tls-files.ts";
import { ReadingThread } from "../reading-thread/reading-thread.ts";
import { MemoryLimits } from "../shared/memory-limits.ts";
import type { Shared } from "../shared/open-shared.ts";
import { startReadingThread } from "../threads.ts";
import { UpstreamClient, warmUpHttpClient } from "../upstream/client.ts";
import type { Closers } from "./closers.ts";

/** Opened before the store, because closing needs the log. */
export type Basics = {
  readonly folder: DataFolder;
  readonly log: ReturnType<typeof createLog>;
  readonly secret: string;
  readonly masterKey: string;
};

export type Resources = {
  readonly store: DatabaseStore;
  /** Which instances use the PostgreSQL. Undefined on SQLite. */
  readonly instances: Instances | undefined;
  /** What several instances share and may be lost. Undefined for a single instance. */
  readonly shared: Shared | undefined;
  readonly redisId: RedisIdKeeper | undefined;
  readonly clock: Clock;
  /** Resolves when this instance must end at once, because another one acts in its place. */
  readonly replaced: Promise<Error>;
  readonly machine: MachineWatch;
  readonly upstream: Upstream;
  readonly upstreamTimeoutMs: number;
  /** Pauses and refused keys, which all instances know. */
  readonly notes: UpstreamNotes;
  /** The key of the demo server; undefined with a real game API, or when somebody revoked it. */
  readonly demoToken: string | undefined;
  /** The built-in simulator; undefined with a real game API. */
  readonly demo: DemoUpstream | undefined;
  /** Undefined when nothing is to be remembered. */
  readonly archive: Archive | undefined;
  readonly webhookSealer: WebhookSealer;
  /** Is the upstream and the recorder, when there is an archive. */
  readonly readingThread: ReadingThread | undefined;
  /** Resolves when the reading thread is there. */
  readonly prepared: Promise<void>;
};

export function openBasics(config: Config, writeLog?: (line: string) => void): Basics {
  const folder = DataFolder.open(config.dataDir);
  const secret =
    config.secret ?? (config.store === "sqlite" ? obtainStoreSecret(folder) : folder.obtainSecret("secret.key"));
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
  { clock: ownClock, measureDisk }: { readonly clock?: Clock; readonly measureDisk?: MeasureDisk },
): Promise<Resources> {
  // A setting may be larger than any timer; it then means "as long as possible".
  const upstreamTimeoutMs = Math.min(config.upstreamTimeoutMs, TIMER_MAX_MS);
  const sealer = new Sealer(secret);
  const opened =
    config.store === "sqlite"
      ? await openEmbedded(folder, sealer, log, ownClock ?? Date.now)
      : await openDatabase(config, config.store.postgresUrl, sealer, log, ownClock);
  const { store, instances, shared, clock } = opened;
  closers.add(async () => shared?.close());
  closers.add(() => store.close());
  await shared?.firstTry;
  const redisId = shared && instances && new RedisIdKeeper(shared, instances);
  await redisId?.keep();
  await refuseUnfinished(store.settings);
  await tellEndedDevices(store.settings, log);
  if (instances && config.masterKey === undefined) await checkSharedMasterKey(store.settings, masterKey);
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
  const notes = await openNotes(store, identifyUpstream(baseUrl, globalKey), log);
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
  if (readingThread && instances && isSamePosition(config)) followDatabase(readingThread, instances);
  // The embedded archive never refuses a start, so it is checked after it.
  const isEmbedded = place !== undefined && "path" in place;
  const prepared = isEmbedded ? readingThread?.prepare() : readingThread?.checkArchive();
  if (!isEmbedded) await prepared;
  const { masterKey: ownMasterKey, tls } = config;
  const machine = new MachineWatch({
    folder: folder.path,
    clock,
    masterKeyFile: ownMasterKey === undefined ? masterKeyFileOf(folder.path) : undefined,
    tls,
    measure: measureDisk,
  });
  const upstream = compareClocks(readingThread ?? new UpstreamClient({ ...upstreamSettings, clock }), machine);
  return {
    ...opened,
    redisId,
    machine,
    upstream,
    upstreamTimeoutMs,
    notes,
    demoToken,
    demo,
    archive,
    webhookSealer: createWebhookSealer(sealer),
    readingThread,
    prepared: prepared ?? Promise.resolve(),
  };
}

/** Undefined when nothing is to be remembered. */
function findArchive(config: Config["archive"], folder: DataFolder): ArchivePlace | undefined {
  if (config === "off") return undefined;
  return config === "sqlite" ? { path: folder.archivePath } : config;
}

/** For the filter of the log. Passwords in both forms: as it is sent, and as it is written in the address. */
export function listConfiguredSecrets(config: Config): (string | undefined)[] {
  const { masterKey, secret, upstreamGlobalKey, metricsToken, chat, redis, store, archive } = config;
  const passwords = redis?.password === undefined ? [] : [redis.password, encodeURIComponent(redis.password)];
  const ofPostgres = [store, archive].flatMap((place) => {
    const password = typeof place === "object" ? URL.parse(place.postgresUrl)?.password : undefined;
    return password ? [password, decodeURIComponent(password)] : [];
  });
  return [masterKey, secret, upstreamGlobalKey, metricsToken, chat?.clientSecret, ...passwords, ...ofPostgres];
}

export function readTls(config: Config) {
  const read = config.tls && readTlsFiles(config.tls);
  if (read && "problems" in read) throw new StartRefused(read.problems.join("; "), 2);
  return read?.tls;
}

type OpenedStore = Pick<Resources, "store" | "instances" | "shared" | "clock" | "replaced">;

async function openEmbedded(folder: DataFolder, sealer: Sealer, log: Log, clock: Clock): Promise<OpenedStore> {
  const openLimits = ({ blocks }: DatabaseStore) => new MemoryLimits(blocks, log);
  const store = await openSqliteStore({ path: folder.databasePath, sealer, log, clock, openLimits });
  return { store, instances: undefined, shared: undefined, clock, replaced: new Promise(() => {}) };
}

/** Loaded only when needed: an instance on SQLite never pays for it. */
async function openDatabase(
  { redis }: Config,
  url: string,
  sealer: Sealer,
  log: Log,
  ownClock: Clock | undefined,
): Promise<OpenedStore> {
  const { openPostgresStore } = await import("../database/store/open-postgres-store.ts");
  const openShared = redis && (await import("../shared/open-shared.ts")).openShared;
  let shared: Shared | undefined;
  const opening = openPostgresStore({
    url,
    sealer,
    log,
    isShared: redis !== undefined,
    ownClock,
    openLimits({ blocks, directory }, link) {
      if (!redis || !openShared) return new MemoryLimits(blocks, log);
      shared = openShared({
        address: redis,
        sealer,
        log,
        clock: link.clock,
        blocks,
        findVersion: () => directory.version,
        onVersion: () => directory.catchUp(),
        ...(ownClock && { limitClock: ownClock }),
      });
      return shared.limits;
    },
  });
  const { store, instances, clock } = await opening.catch((error) => {
    shared?.close();
    throw error;
  });
  const { promise: replaced, resolve } = Promise.withResolvers<Error>();
  instances.onReplaced = resolve;
  store.changes.announce = async (version) => shared?.announce(version);
  return { store, instances, shared, clock, replaced };
}

async function openNotes(store: DatabaseStore, identity: string, log: Log): Promise<UpstreamNotes> {
  const notes = await UpstreamNotes.open(store, identity, log);
  store.directory.onChange((ids) => {
    if (ids !== null && !ids.includes(AMENDED_SETTING)) return;
    // Without the database nobody else has noted anything; with it, the next change is another try.
    notes.catchUp().catch(() => {});
  });
  return notes;
}

/** Every answer of the game API tells what its clock says. */
function compareClocks(upstream: Upstream, machine: MachineWatch): Upstream {
  const learn = <A extends { readonly hint: LimitHint | null }>(answer: A): A => {
    if (answer.hint?.clockOffsetMs !== undefined) machine.learnOffset(answer.hint.clockOffsetMs);
    return answer;
  };
  return {
    readServer: async (serverKey) => learn(await upstream.readServer(serverKey)),
    sendCommand: async (serverKey, text) => learn(await upstream.sendCommand(serverKey, text)),
  };
}

function isSamePosition({ store, archive }: Config): boolean {
  return typeof store === "object" && typeof archive === "object" && store.postgresUrl === archive.postgresUrl;
}

/** An archive in the store's database has the same fence, and is away together with it. */
function followDatabase(readingThread: ReadingThread, instances: Instances): void {
  const tell = () => {
    const { instanceId, isUp } = instances;
    readingThread.learnDatabase({ instanceId, isUp });
  };
  instances.onChange.add(tell);
  tell();
}
