// The composition root: the only file that knows every room. Builds Gatehouse from a configuration and starts it.
import { randomBytes } from "node:crypto";
import type { Config } from "./config.ts";
import { createAddressList } from "./core/address.ts";
import { NotReadyToStart, StartRefused, StoreUnavailable } from "./core/errors.ts";
import type { Clock, Log, Store } from "./core/ports.ts";
import { SECTIONS } from "./core/sections.ts";
import { findDashboardFile } from "./dashboard-files.ts";
import { openDataFolder } from "./data-folder.ts";
import { obtainDemoToken, startDemoUpstream } from "./demo.ts";
import { createAuthenticator } from "./gateway/authenticate.ts";
import {
  createGuessLimit,
  createOperatorCheck,
  fingerprintOf,
  GUESSING_ADDRESSES_MAX,
} from "./gateway/authenticate-operator.ts";
import { CommandDispatcher, type Pause } from "./gateway/command-dispatcher.ts";
import { CommandMeter } from "./gateway/command-meter.ts";
import { Relay } from "./gateway/relay.ts";
import { RelayMeter } from "./gateway/relay-meter.ts";
import { createSubmitCommand } from "./gateway/submit-command.ts";
import { openUpstreamNotes } from "./gateway/upstream-notes.ts";
import { HOUR_MS, UsageMeter, WAITING_CELLS_MAX } from "./gateway/usage-meter.ts";
import { createAdmin } from "./http/admin.ts";
import { createCallerSteps } from "./http/caller-only.ts";
import { createAddressFinder } from "./http/client-address.ts";
import { createCommands } from "./http/commands.ts";
import { createCors } from "./http/cors.ts";
import { createDashboard } from "./http/dashboard.ts";
import { createEdge, type Edge } from "./http/edge.ts";
import { EdgeMeter } from "./http/edge-meter.ts";
import { createTellReady, tellAlive } from "./http/health.ts";
import { listen } from "./http/listen.ts";
import { createMetrics } from "./http/metrics.ts";
import { createTellOpenApi } from "./http/openapi/tell-openapi.ts";
import { createOperatorOnly } from "./http/operator-only.ts";
import { createReadServer, wantsGzip } from "./http/read-server.ts";
import { reference } from "./http/reference/reference.ts";
import type { Route } from "./http/router.ts";
import { listRoutes } from "./http/routes.ts";
import { createTargetFinder, TARGETS_MAX } from "./http/target.ts";
import { tellKey } from "./http/tell-key.ts";
import { createWatcher } from "./http/watcher.ts";
import { createLog } from "./log.ts";
import { agreeOnMasterKey, noteMasterKey, obtainMasterKey, obtainStoreSecret } from "./secrets.ts";
import type { RedisAddress } from "./store/redis/redis-link.ts";
import { createSealer, type Sealer } from "./store/sealer.ts";
import { openSqliteStore } from "./store/sqlite/sqlite-store.ts";
import { refuseUnfinished } from "./store/unfinished-migration.ts";
import { readTlsFiles, watchTlsFiles } from "./tls-files.ts";
import { createUpstream, wakeHttpClient } from "./upstream/client.ts";
import { VERSION } from "./version.ts";

const DRAIN_MS = 10_000;
const FAREWELL_MS = 100;
/** When a key was last used must be right within five seconds: on other instances, and after a crash. */
const USAGE_HAND_OVER_MS = 3_000;
/** Nobody here waits while Redis writes, so fewer, larger steps cost less. */
const USAGE_SHARED_BATCH = 500;
const USAGE_KEPT_MS = 30 * 24 * HOUR_MS;
const TIDY_MS = HOUR_MS;
const BURST_QUIET_MS = 100;
const LOOK_AROUND_MS = 500;
/** Longer than any call to the game API: a command belongs to whoever sends it. */
const COMMAND_LEASE_EXTRA_MS = 5_000;
const DAY_MS = 24 * HOUR_MS;
const COMMAND_LOGS = SECTIONS.indexOf("CommandLogs");
/** Timers count to 2^31 - 1; any positive setting is legal, so longer ones mean "as long as possible". */
const TIMER_MAX_MS = 2 ** 31 - 1;

export type App = {
  readonly url: string;
  readonly port: number;
  readonly store: Store;
  readonly log: Log;
  /** The key of the demonstration server; undefined with a real game API, or when somebody revoked it. */
  readonly demoToken: string | undefined;
  /** Set at the first start with a master key that was made up. */
  readonly newMasterKey: string | undefined;
  readonly dataDir: string;
  /** Answers a request as the listener does, without a socket: at once where nothing has to be waited for. */
  readonly answer: Edge;
  reloadTls(): void;
  /** Lets open requests finish, then closes everything. */
  stop(): Promise<void>;
};

export type AppOptions = {
  readonly clock?: Clock;
  readonly sleep?: (ms: number) => Promise<void>;
  /** How the workers that send commands wait. */
  readonly pause?: Pause;
  readonly burstQuietMs?: number;
  readonly writeLog?: (line: string) => void;
};

/** Throws StartRefused when it cannot start rightly; nothing is left open then. */
export async function startApp(config: Config, options: AppOptions = {}): Promise<App> {
  const { sleep = Bun.sleep } = options;
  const folder = openDataFolder(config.dataDir);
  const secret =
    config.secret ?? (config.redis ? folder.obtainSecret("secret.key") : obtainStoreSecret(folder));
  const masterKey = config.masterKey ?? obtainMasterKey(folder);
  const log = createLog({
    level: config.logLevel,
    format: config.logFormat,
    secrets: [masterKey, secret, config.upstreamGlobalKey, config.metricsToken],
    ...(options.writeLog && { write: options.writeLog }),
  });
  for (const name of config.unknownSettings) log.warn({ name }, "this setting is unknown and has no effect");

  const closers: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    for (const close of closers.reverse()) {
      await close().catch((error) => log.error({ err: error }, "something could not be closed in order"));
    }
  };
  try {
    const timeoutMs = Math.min(config.upstreamTimeoutMs, TIMER_MAX_MS);
    const sealer = createSealer(secret);
    const shared =
      config.redis && (await openSharedStore(config.redis, timeoutMs, sealer, log, options.clock));
    const clock = options.clock ?? shared?.clock ?? Date.now;
    const store = shared ?? openSqliteStore({ path: folder.databasePath, sealer, log, clock });
    closers.push(() => store.close());
    await refuseUnfinished(store);
    if (shared && config.masterKey === undefined) await agreeOnMasterKey(store, masterKey);
    const demo = config.upstreamUrl === undefined ? await startDemoUpstream() : undefined;
    if (demo) closers.push(() => demo.stop());
    const demoToken = demo && (await obtainDemoToken(store, folder, clock()));

    const relayMeter = new RelayMeter();
    const upstreamUrl = config.upstreamUrl ?? demo?.url ?? "";
    wakeHttpClient();
    const upstream = createUpstream({
      baseUrl: upstreamUrl,
      globalKey: config.upstreamGlobalKey,
      timeoutMs,
      keepsUnknown: config.keepsUnknownFields,
      clock,
    });
    const relay = new Relay({
      upstream,
      store,
      clock,
      sleep,
      settings: {
        timeoutMs,
        freshMs: config.freshMs,
        staleMs: config.staleMs,
        hasGlobalKey: config.upstreamGlobalKey !== undefined,
      },
      meter: relayMeter,
      log,
      share: shared?.relayShare,
      notes: shared
        ? undefined
        : await openUpstreamNotes(store, `${upstreamUrl} ${config.upstreamGlobalKey ?? ""}`, log),
      watchReading(serverId, parts, now) {
        const commandLog = parts.sections[COMMAND_LOGS] ?? "[]";
        dispatcher.confirm(serverId, commandLog, now).catch((error) => {
          // Whoever cannot be reached is complained about elsewhere.
          if (!(error instanceof StoreUnavailable))
            log.warn(
              { err: error, server_id: serverId },
              "commands could not be looked for in the game's log",
            );
        });
      },
    });
    const commandMeter = new CommandMeter();
    const dispatcher = new CommandDispatcher({
      store,
      upstream,
      outlook: relay,
      clock,
      pause: options.pause ?? pauseUntilWoken,
      intervalMs: config.commandIntervalMs,
      ttlMs: config.commandTtlMs,
      burstQuietMs: options.burstQuietMs ?? BURST_QUIET_MS,
      meter: commandMeter,
      log,
    });
    closers.push(() => dispatcher.stop(DRAIN_MS));
    await dispatcher.start();
    if (shared) {
      // Another instance may have died with commands waiting, and may have learned of a pause.
      const lookAround = async () => {
        relay.forgetGone((serverId) => shared.findServer(serverId) !== undefined);
        await Promise.all([dispatcher.start(), relay.catchUp()]).catch((error) => {
          if (!(error instanceof StoreUnavailable)) log.error({ err: error }, "looking around failed");
        });
      };
      closers.push(repeat(LOOK_AROUND_MS, lookAround));
    }

    const usage = shared ? new UsageMeter(store, log, USAGE_SHARED_BATCH) : new UsageMeter(store, log);
    closers.push(() => usage.handOver());
    closers.push(repeat(USAGE_HAND_OVER_MS, () => (shared ? usage.handOver() : usage.handOverGently())));
    const tidy = async () => {
      const now = clock();
      const before = {
        now,
        usage: now - USAGE_KEPT_MS,
        audit: now - config.auditDays * DAY_MS,
        commands: now - config.commandHistoryDays * DAY_MS,
      };
      await store.tidy(before).catch((error) => log.warn({ err: error }, "old entries could not be deleted"));
    };
    await tidy();
    closers.push(repeat(TIDY_MS, tidy));

    let isDraining = false;
    const edgeMeter = new EdgeMeter();
    const authenticate = createAuthenticator(store);
    const findAddress = createAddressFinder(createAddressList(config.trustProxy));
    const caller = createCallerSteps({ authenticate, store, findAddress });
    const guesses = createGuessLimit();
    const routes: readonly Route[] = listRoutes({
      operator: createOperatorOnly({
        check: createOperatorCheck([masterKey]),
        guesses,
        fingerprint: fingerprintOf(masterKey),
        findAddress,
      }),
      admin: createAdmin({
        store,
        randomBytes,
        usage,
        usageMs: USAGE_KEPT_MS,
        forgetServer: (serverId) => relay.forget(serverId),
        commandMeter,
      }),
      caller: caller.only,
      readServer: createReadServer({ relay, clock }),
      tellKey,
      commands: createCommands({
        commands: store.commands,
        recheck: caller.recheck,
        clock,
        meter: commandMeter,
        submit: createSubmitCommand({
          commands: store.commands,
          intervalMs: config.commandIntervalMs,
          notify: (serverId) => dispatcher.notify(serverId),
        }),
      }),
      dashboard: createDashboard(findDashboardFile),
      tellOpenApi: createTellOpenApi({ listRoutes: () => routes, version: VERSION }),
      reference,
      tellAlive,
      tellReady: createTellReady({
        store,
        clock,
        log,
        isDraining: () => isDraining,
        listNotices: (now) => relay.listNotices(now),
      }),
      tellMetrics: createMetrics({
        check: createOperatorCheck([masterKey, config.metricsToken]),
        clock,
        edgeMeter,
        relayMeter,
        relay,
        commandMeter,
        reportQueue: () => store.commands.report(),
        countInstances: () => shared?.instances ?? 1,
        countBlocks: async (now) => (await store.listBlocks(now)).length,
        gauged: [
          { name: "known_authorization_headers", size: authenticate.size, max: authenticate.max },
          { name: "known_accept_encodings", size: wantsGzip.size, max: wantsGzip.max },
          { name: "guessing_addresses", size: guesses.size, max: GUESSING_ADDRESSES_MAX },
          { name: "unsaved_usage", size: () => usage.size(), max: WAITING_CELLS_MAX + authenticate.max },
          { name: "known_urls", size: () => findTarget.size(), max: TARGETS_MAX },
        ],
        version: VERSION,
      }),
    });
    const findTarget = createTargetFinder(routes);
    const edge = createEdge({
      findTarget,
      cors: createCors(config.corsOrigins),
      clock,
      log,
      isDraining: () => isDraining,
      watch: createWatcher({ meter: edgeMeter, usage, log, findAddress }),
    });
    const listener = await listen({ host: config.host, port: config.port, tls: findTls(config), edge });
    closers.push(() => listener.close(DRAIN_MS));
    const tlsWatch = config.tls && watchTlsFiles(config.tls, log, listener.replaceTls);
    if (tlsWatch) closers.push(async () => tlsWatch.stop());
    const newMasterKey = await noteMasterKey(store, masterKey);
    // Starting leaves much behind that is never needed again, the more the more keys there are.
    Bun.gc(true);
    log.info({ url: listener.url, upstream: config.upstreamUrl ?? "simulator" }, "started");

    return {
      url: listener.url,
      port: listener.port,
      store,
      log,
      demoToken,
      newMasterKey: config.masterKey === undefined ? newMasterKey : undefined,
      dataDir: folder.path,
      answer: edge,
      reloadTls: () => tlsWatch?.reload(),
      async stop() {
        isDraining = true;
        // Closing a kept connection could meet a request on its way; for a moment, callers are asked to close theirs.
        await Bun.sleep(FAREWELL_MS);
        // At the same time: both together may take no longer than one of them.
        const sent = dispatcher.stop(DRAIN_MS);
        await closeAll();
        await sent;
        log.info({}, "stopped");
      },
    };
  } catch (error) {
    await closeAll();
    // Redis has gone away while everything else was being made ready.
    if (config.redis && error instanceof StoreUnavailable) throw new NotReadyToStart(error.message);
    throw error;
  }
}

/** Loaded only when needed: alone, an instance pays nothing for the others. */
async function openSharedStore(
  address: RedisAddress,
  timeoutMs: number,
  sealer: Sealer,
  log: Log,
  clock: Clock | undefined,
) {
  const { openRedisStore } = await import("./store/redis/redis-store.ts");
  const commandLeaseMs = timeoutMs + COMMAND_LEASE_EXTRA_MS;
  const store = await openRedisStore({ address, sealer, log, commandLeaseMs, ...(clock && { clock }) });
  for (const problem of await store.listDurabilityProblems()) log.warn({}, problem);
  return store;
}

function findTls(config: Config) {
  const read = config.tls && readTlsFiles(config.tls);
  if (read && "problems" in read) throw new StartRefused(read.problems.join("; "), 2);
  return read?.tls;
}

function pauseUntilWoken(ms: number, wake: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(ms, TIMER_MAX_MS));
  const wakeUp = () => resolve();
  wake.addEventListener("abort", wakeUp);
  return promise.finally(() => {
    clearTimeout(timer);
    wake.removeEventListener("abort", wakeUp);
  });
}

/** Calls again and again; what is returned ends it. */
function repeat(everyMs: number, act: () => Promise<void>): () => Promise<void> {
  const timer = setInterval(() => void act(), everyMs);
  timer.unref();
  return async () => clearInterval(timer);
}
