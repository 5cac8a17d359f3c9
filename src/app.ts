// The composition root: opens, wires and starts Gatehouse from a configuration. app/ has the files for each of the three.
import { startBackgroundJobs } from "./app/background-jobs.ts";
import { Closers } from "./app/closers.ts";
import { openBasics, openResources, readTls } from "./app/open-resources.ts";
import { type GatewayOptions, wireGateway } from "./app/wire-gateway.ts";
import { wireHttp } from "./app/wire-http.ts";
import type { Config } from "./config.ts";
import { createAddressList } from "./core/address.ts";
import { NotReadyToStart, StoreUnavailable } from "./core/errors.ts";
import type { Clock } from "./core/ports/clock.ts";
import type { Log } from "./core/ports/log.ts";
import type { Store } from "./core/ports/store.ts";
import type { DataFolder } from "./data-folder.ts";
import { nameServers } from "./gateway/servers/name-servers.ts";
import { listParked, listParkedNotices } from "./gateway/servers/parked-servers.ts";
import type { ConnectionLimitOptions } from "./http/connection-limit.ts";
import { type Listener, listen, type RequestHandler, type RequestHandlers } from "./http/listen.ts";
import { isOperatorPath } from "./http/operator-paths.ts";
import { splitUrl } from "./http/target.ts";
import { ListeningLock } from "./listening-lock.ts";
import { rememberMasterKey } from "./secrets.ts";
import { TlsReloader } from "./tls-files.ts";

const DRAIN_MS = 10_000;
/** How long the last events may take when Gatehouse stops. What is not recorded then is read again after the next start. */
const LAST_RECORD_MS = 2_000;
/** During a drain, idle and silent connections may send a request for this long. */
const IDLE_GRACE_MS = 1_000;

export type App = {
  readonly url: string;
  readonly port: number;
  /** Where operators are served when they have a listener of their own. */
  readonly adminUrl: string | undefined;
  readonly store: Store;
  readonly log: Log;
  /** The key of the demo server; undefined with a real game API, or when somebody revoked it. */
  readonly demoToken: string | undefined;
  /** Set at the first start with a generated master key. */
  readonly newMasterKey: string | undefined;
  readonly dataDir: string;
  /** Answers a request like the listener, without a socket. Synchronous where nothing has to be waited for. */
  readonly answer: RequestHandler;
  reloadTls(): void;
  /** Lets open requests finish, then closes everything. */
  stop(): Promise<void>;
};

export type AppOptions = GatewayOptions & {
  readonly clock?: Clock;
  readonly writeLog?: (line: string) => void;
  /** IDLE_GRACE_MS by default. */
  readonly idleGraceMs?: number;
  /** Whether the built-in simulator sends webhooks. True by default. */
  readonly sendsDemoHooks?: boolean;
};

/** Throws StartRefused when it must not start; nothing stays open then. */
export async function startApp(config: Config, options: AppOptions = {}): Promise<App> {
  const basics = openBasics(config, options.writeLog);
  const { folder, log, masterKey } = basics;
  const closers = new Closers();
  let isDraining = false;
  try {
    const resources = await openResources(config, basics, closers, options.clock);
    const gateway = wireGateway({ config, resources, basics, options });
    warnOfParked(resources.store, config.upstreamUrl === undefined, log);
    const { dispatcher, recorder } = gateway;
    if (recorder) closers.add(() => recorder.stop(LAST_RECORD_MS));
    closers.add(() => dispatcher.stop(DRAIN_MS));
    await dispatcher.start();
    await startBackgroundJobs(config, resources, gateway, log, closers);
    const deliverer = gateway.webhooks?.deliverer;
    if (deliverer) closers.add(() => deliverer.stop(DRAIN_MS));
    deliverer?.start();
    const handlers = wireHttp({
      config,
      basics,
      resources,
      gateway,
      isDraining: () => isDraining,
      waitForEvents: options.waitForEvents,
      waitForCommands: options.waitForCommands,
    });
    const listeners: Listener[] = [];
    const idleGraceMs = options.idleGraceMs ?? IDLE_GRACE_MS;
    closers.add(() => Promise.all(listeners.map((each) => each.close(DRAIN_MS, idleGraceMs))));
    const common = { tls: readTls(config), log, connectionLimit: toConnectionLimit(config) };
    const { host, port } = config;
    const listener = await listen({ ...handlers.everybody, ...common, host, port, settings: "GATEHOUSE" });
    listeners.push(listener);
    const adminListener =
      config.admin &&
      (await listen({ ...handlers.operators, ...common, ...config.admin, settings: "GATEHOUSE_ADMIN" }));
    if (adminListener) listeners.push(adminListener);
    const answer = createAnswer(handlers.everybody);
    if (options.sendsDemoHooks !== false)
      resources.demo?.sendHooks((headers, body) => answerHook(answer, headers, body));
    const tlsReloader =
      config.tls &&
      new TlsReloader(config.tls, log, (files) => {
        for (const each of listeners) each.replaceTls(files);
      });
    if (tlsReloader) closers.add(async () => tlsReloader.stop());
    for (const each of listeners) holdListeningLock(folder, each, log, closers);
    const newMasterKey = await rememberMasterKey(resources.store.settings, masterKey);
    // Starting leaves garbage behind, the more the more keys there are.
    Bun.gc(true);
    const adminUrl = adminListener?.url;
    log.info(
      { url: listener.url, admin_url: adminUrl, upstream: config.upstreamUrl ?? "simulator" },
      "started",
    );

    return {
      url: listener.url,
      port: listener.port,
      adminUrl,
      store: resources.store,
      log,
      demoToken: resources.demoToken,
      newMasterKey: config.masterKey === undefined ? newMasterKey : undefined,
      dataDir: folder.path,
      answer,
      reloadTls: () => tlsReloader?.reload(),
      async stop() {
        isDraining = true;
        gateway.events?.stop();
        gateway.streams?.stop();
        handlers.stopSockets();
        // In parallel with the rest, so that all together take DRAIN_MS at most.
        const sent = Promise.all([dispatcher.stop(DRAIN_MS), deliverer?.stop(DRAIN_MS)]);
        await closers.closeAll(log);
        await sent;
        log.info({}, "stopped");
      },
    };
  } catch (error) {
    await closers.closeAll(log);
    // Redis was lost during the start.
    if (config.redis && error instanceof StoreUnavailable) throw new NotReadyToStart(error.message);
    throw error;
  }
}

/** Tells which servers were made for another upstream than the one in use. Nothing is asked for them. */
function warnOfParked({ servers }: Store, isSimulatorInUse: boolean, log: Log): void {
  const parked = listParked(servers, isSimulatorInUse);
  for (const notice of listParkedNotices(parked, (ids) => nameServers(servers, ids))) {
    log.warn({ servers: parked.length }, notice);
  }
}

/** Chooses between the handlers as the listener does. */
function createAnswer({ handle, handleOperator }: RequestHandlers): RequestHandler {
  return (request, connection) => {
    const isForOperators = isOperatorPath(splitUrl(request.url).path);
    return isForOperators ? handleOperator(request, connection) : handle(request, connection);
  };
}

/** The simulator's webhooks take the way of the game's, without a socket: whatever the listener's address and certificate are. */
async function answerHook(
  answer: RequestHandler,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<number> {
  const request = new Request("http://localhost/hooks/game", { method: "POST", headers, body });
  const { status } = await answer(request, { requestIP: () => null, timeout() {} });
  return status;
}

/** It is released before the listener closes, because closers run in reverse order. Only the command line needs it. */
function holdListeningLock(folder: DataFolder, listener: Listener, log: Log, closers: Closers): void {
  try {
    const lock = ListeningLock.hold(folder.path, listener.address, listener.port);
    closers.add(async () => lock.release());
  } catch (error) {
    log.warn(
      { err: error },
      "the data folder cannot show where this instance listens; the command line needs TLS or --allow-http",
    );
  }
}

function toConnectionLimit({
  connectionsPerAddress,
  trustProxy,
}: Config): ConnectionLimitOptions | undefined {
  if (connectionsPerAddress === 0) return undefined;
  const trusted = createAddressList(trustProxy);
  return { max: connectionsPerAddress, isExempt: (address) => trusted.has(address) };
}
