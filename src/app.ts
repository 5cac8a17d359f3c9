// The composition root: opens, wires and starts Gatehouse from a configuration. app/ has a file for each of the three.
import { startBackgroundJobs } from "./app/background-jobs.ts";
import { Closers } from "./app/closers.ts";
import { openBasics, openResources, readTls } from "./app/open-resources.ts";
import { type GatewayOptions, wireGateway } from "./app/wire-gateway.ts";
import { type DrainState, wireHttp } from "./app/wire-http.ts";
import type { Config } from "./config.ts";
import { createAddressList } from "./core/address.ts";
import { NotReadyToStart, StoreUnavailable } from "./core/errors.ts";
import type { Clock } from "./core/ports/clock.ts";
import type { Log } from "./core/ports/log.ts";
import type { Store } from "./core/ports/store.ts";
import type { ConnectionLimitOptions } from "./http/connection-limit.ts";
import { listen, type RequestHandler } from "./http/listen.ts";
import { rememberMasterKey } from "./secrets.ts";
import { TlsReloader } from "./tls-files.ts";

const DRAIN_MS = 10_000;
/** During a drain, idle and silent connections may send a request for this long. */
const IDLE_GRACE_MS = 1_000;

export type App = {
  readonly url: string;
  readonly port: number;
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
};

/** Throws StartRefused when it must not start; nothing stays open then. */
export async function startApp(config: Config, options: AppOptions = {}): Promise<App> {
  const basics = openBasics(config, options.writeLog);
  const { folder, log, masterKey } = basics;
  const closers = new Closers();
  const drain: DrainState = { isDraining: false };
  try {
    const resources = await openResources(config, basics, closers, options.clock);
    const gateway = wireGateway(config, resources, log, options);
    const { dispatcher } = gateway;
    closers.add(() => dispatcher.stop(DRAIN_MS));
    await dispatcher.start();
    await startBackgroundJobs(config, resources, gateway, log, closers);
    const edge = wireHttp(config, basics, resources, gateway, drain);
    const answer: RequestHandler = (request, connection) => edge.handle(request, connection);
    const listener = await listen({
      host: config.host,
      port: config.port,
      tls: readTls(config),
      handle: answer,
      log,
      connectionLimit: toConnectionLimit(config),
    });
    closers.add(() => listener.close(DRAIN_MS, options.idleGraceMs ?? IDLE_GRACE_MS));
    const tlsReloader = config.tls && new TlsReloader(config.tls, log, listener.replaceTls);
    if (tlsReloader) closers.add(async () => tlsReloader.stop());
    const newMasterKey = await rememberMasterKey(resources.store.settings, masterKey);
    // Starting leaves garbage behind, the more the more keys there are.
    Bun.gc(true);
    log.info({ url: listener.url, upstream: config.upstreamUrl ?? "simulator" }, "started");

    return {
      url: listener.url,
      port: listener.port,
      store: resources.store,
      log,
      demoToken: resources.demoToken,
      newMasterKey: config.masterKey === undefined ? newMasterKey : undefined,
      dataDir: folder.path,
      answer,
      reloadTls: () => tlsReloader?.reload(),
      async stop() {
        drain.isDraining = true;
        // In parallel with the rest, so that both together take DRAIN_MS at most.
        const sent = dispatcher.stop(DRAIN_MS);
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

function toConnectionLimit({
  connectionsPerAddress,
  trustProxy,
}: Config): ConnectionLimitOptions | undefined {
  if (connectionsPerAddress === 0) return undefined;
  const trusted = createAddressList(trustProxy);
  return { max: connectionsPerAddress, isExempt: (address) => trusted.has(address) };
}
