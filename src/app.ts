// The composition root: the only file that knows every room. Builds Gatehouse from a configuration and starts it.
import { randomBytes } from "node:crypto";
import type { Config } from "./config.ts";
import { createAddressList } from "./core/address.ts";
import { DEFAULT_RIGHTS } from "./core/api-key.ts";
import { ERRORS } from "./core/errors.ts";
import type { Clock, Log, Store } from "./core/ports.ts";
import { hashToken, mintToken } from "./core/token.ts";
import { type DataFolder, obtainSecret, openDataFolder } from "./data-folder.ts";
import { countKnownHeaders, KNOWN_HEADERS_MAX } from "./gateway/authenticate.ts";
import { createOperatorCheck } from "./gateway/authenticate-operator.ts";
import { Relay } from "./gateway/relay.ts";
import { RelayMeter } from "./gateway/relay-meter.ts";
import { createAddressFinder } from "./http/client-address.ts";
import { createCors } from "./http/cors.ts";
import { createEdge } from "./http/edge.ts";
import { EdgeMeter } from "./http/edge-meter.ts";
import { createTellReady, tellAlive } from "./http/health.ts";
import { listen } from "./http/listen.ts";
import { createMetrics } from "./http/metrics.ts";
import { createReadServer, wantsGzip } from "./http/read-server.ts";
import { listRoutes } from "./http/routes.ts";
import { createTargetFinder, TARGETS_MAX } from "./http/target.ts";
import { createLog, createSampler } from "./log.ts";
import { createSealer } from "./store/sealer.ts";
import { openSqliteStore } from "./store/sqlite/sqlite-store.ts";
import { readTlsFiles, watchTlsFiles } from "./tls-files.ts";
import { createUpstream } from "./upstream/client.ts";
import { VERSION } from "./version.ts";

const DRAIN_MS = 10_000;
const FAREWELL_MS = 100;
const INVALID_TOKEN_LOG_MS = 10_000;
/** Timers count to 2^31 - 1; any positive setting is legal, so longer ones mean "as long as possible". */
const TIMER_MAX_MS = 2 ** 31 - 1;
const DEMO_SERVER_KEY = "demo-Town";

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
  reloadTls(): void;
  /** Lets open requests finish, then closes everything. */
  stop(): Promise<void>;
};

export type AppOptions = {
  readonly clock?: Clock;
  readonly sleep?: (ms: number) => Promise<void>;
  readonly writeLog?: (line: string) => void;
};

/** Throws StartRefused when it cannot start rightly; nothing is left open then. */
export async function startApp(config: Config, options: AppOptions = {}): Promise<App> {
  const { clock = Date.now, sleep = Bun.sleep } = options;
  const folder = openDataFolder(config.dataDir);
  const masterKey = config.masterKey ?? obtainSecret(folder, "master.key");
  const secret = config.secret ?? obtainSecret(folder, "secret.key");
  const log = createLog({
    level: config.logLevel,
    format: config.logFormat,
    secrets: [masterKey, secret, config.upstreamGlobalKey, config.metricsToken],
    ...(options.writeLog && { write: options.writeLog }),
  });
  for (const name of config.unknownSettings) log.warn({ name }, "this setting is unknown and has no effect");

  const closers: (() => unknown)[] = [];
  const closeAll = async () => {
    for (const close of closers.reverse()) await close();
  };
  try {
    const store = openSqliteStore({ path: folder.databasePath, sealer: createSealer(secret), log });
    closers.push(() => store.close());
    const upstreamUrl = config.upstreamUrl ?? (await startDemoUpstream(closers));
    const timeoutMs = Math.min(config.upstreamTimeoutMs, TIMER_MAX_MS);
    const relayMeter = new RelayMeter();
    const edgeMeter = new EdgeMeter();
    const relay = new Relay({
      upstream: createUpstream({
        baseUrl: upstreamUrl,
        globalKey: config.upstreamGlobalKey,
        timeoutMs,
        keepsUnknown: config.keepsUnknownFields,
        clock,
      }),
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
    });
    const demoToken =
      config.upstreamUrl === undefined ? await obtainDemoToken(store, folder, clock()) : undefined;

    let isDraining = false;
    const findAddress = createAddressFinder(createAddressList(config.trustProxy));
    const noteInvalidToken = createSampler(log, INVALID_TOKEN_LOG_MS);
    const findTarget = createTargetFinder(
      listRoutes({
        readServer: createReadServer({ store, relay, findAddress }),
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
          countBlocks: async (now) => (await store.listBlocks(now)).length,
          gauged: [
            { name: "known_authorization_headers", size: countKnownHeaders, max: KNOWN_HEADERS_MAX },
            { name: "known_accept_encodings", size: wantsGzip.size, max: wantsGzip.max },
            { name: "known_urls", size: () => findTarget.size(), max: TARGETS_MAX },
          ],
          version: VERSION,
        }),
      }),
    );
    const edge = createEdge({
      findTarget,
      cors: createCors(config.corsOrigins),
      clock,
      log,
      isDraining: () => isDraining,
      watch(call, response) {
        const { code, target, startedAt } = call;
        const ms = performance.now() - startedAt;
        edgeMeter.of(target.routeName).count(response.status, code, ms / 1000);
        if (code === ERRORS.invalidToken.code) {
          noteInvalidToken(
            call.now,
            () => ({ address: findAddress(call) }),
            "a request had an invalid token",
          );
        }
        if (!log.isDebug) return;
        const { method } = call.request;
        log.debug({ method, route: target.routeName, status: response.status, code, ms }, "answered");
      },
    });
    const tls = config.tls && readTlsFiles(config.tls);
    const listener = await listen({ host: config.host, port: config.port, tls, edge });
    const tlsWatch = config.tls && watchTlsFiles(config.tls, log, listener.replaceTls);
    // Noted after everything that can fail: a made-up key is shown by the first start that succeeds.
    const masterKeyHash = hashToken(masterKey);
    const isMasterKeyNew = (await store.findSetting("master-key-hash")) !== masterKeyHash;
    if (isMasterKeyNew) await store.saveSetting("master-key-hash", masterKeyHash);
    log.info({ url: listener.url, upstream: config.upstreamUrl ?? "simulator" }, "started");

    return {
      url: listener.url,
      port: listener.port,
      store,
      log,
      demoToken,
      newMasterKey: isMasterKeyNew && config.masterKey === undefined ? masterKey : undefined,
      dataDir: folder.path,
      reloadTls: () => tlsWatch?.reload(),
      async stop() {
        isDraining = true;
        tlsWatch?.stop();
        // Closing a kept connection could meet a request on its way; for a moment, callers are asked to close theirs.
        await Bun.sleep(FAREWELL_MS);
        await listener.close(DRAIN_MS);
        await closeAll();
        log.info({}, "stopped");
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Loaded only when needed: with a real game API the simulator costs nothing. */
async function startDemoUpstream(closers: (() => unknown)[]): Promise<string> {
  const { startSimulator } = await import("./simulator/simulator.ts");
  // Nobody is protected by a limit on ourselves; a demonstration should not stutter.
  const simulator = await startSimulator({ readLimit: 0 });
  closers.push(() => simulator.stop());
  return simulator.url;
}

/**
 * The first start makes a server and a key to try; later ones find the key in the data folder. A setting tells a start
 * that was killed half-way, which is made up for, from a key that somebody has revoked, which stays revoked.
 */
async function obtainDemoToken(store: Store, folder: DataFolder, now: number): Promise<string | undefined> {
  const kept = folder.findSecret("demo.key");
  if ((await store.findSetting("demo")) === "made") {
    const key = kept === undefined ? undefined : await store.findKey(hashToken(kept), now);
    return key && kept;
  }
  const { items } = await store.listServers({ limit: 1 });
  // Servers without a demonstration key are an operator's own.
  if (items.length > 0 && kept === undefined) return undefined;
  const token = kept ?? mintToken(randomBytes);
  folder.saveSecret("demo.key", token);
  const draft = { name: "Demo", community: null, serverKey: DEMO_SERVER_KEY };
  const { serverId } = items[0] ?? (await store.createServer(draft, now));
  const tokenHash = hashToken(token);
  const isThere = await store.findKey(tokenHash, now);
  if (!isThere)
    await store.createKey({ ...DEFAULT_RIGHTS, serverId, label: "demo", expiresAt: null, tokenHash }, now);
  await store.saveSetting("demo", "made");
  return token;
}
