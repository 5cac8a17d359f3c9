// The composition root: opens, wires and starts Gatehouse from a configuration. app/ has the files for each of the three.
import { startBackgroundJobs, startNoticeJobs } from "./app/background-jobs.ts";
import { Closers } from "./app/closers.ts";
import { listListeners, openListeners, type WaitingRoom } from "./app/open-listeners.ts";
import { openBasics, openResources } from "./app/open-resources.ts";
import { type GatewayOptions, wireGateway } from "./app/wire-gateway.ts";
import { wireHttp } from "./app/wire-http.ts";
import { NotReadyToStart, StoreUnavailable } from "./core/errors.ts";
import type { Clock } from "./core/ports/clock.ts";
import type { Log } from "./core/ports/log.ts";
import type { Store } from "./core/ports/store.ts";
import { splitUrl } from "./http/requests/target.ts";
import { isOperatorPath } from "./http/router.ts";
import type { Listener, RequestHandler, RequestHandlers } from "./http/socket/listen.ts";
import type { Config } from "./instance/config.ts";
import type { DataFolder } from "./instance/data-folder.ts";
import { ListeningLock } from "./instance/listening-lock.ts";
import type { MeasureDisk } from "./instance/machine-watch.ts";
import { rememberMasterKey } from "./instance/secrets.ts";
import { TlsReloader } from "./instance/tls-files.ts";

const DRAIN_MS = 10_000;
/** How long the last events may take when Gatehouse stops. What is not recorded then is read again after the next start. */
const LAST_RECORD_MS = 2_000;
/** During a drain, idle and silent connections may send a request for this long. */
const IDLE_GRACE_MS = 1_000;

/** After the first answers, and before the first check of connections, which rests for a hundred times its processor time. */
const COLLECT_AFTER_MS = 400;

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
  /** Resolves when this instance must end at once, because another one acts in its place. */
  readonly replaced: Promise<Error>;
  /** Answers a request like the listener, without a socket. Synchronous where nothing has to be waited for. */
  readonly answer: RequestHandler;
  reloadTls(): void;
  /** Looks at disk, certificate and key file now, and not only once a minute. */
  lookAtMachine(): Promise<void>;
  /** Lets open requests finish, then closes everything. */
  stop(): Promise<void>;
};

export type AppOptions = GatewayOptions & {
  readonly clock?: Clock;
  /** How full the disk of the data folder is. */
  readonly measureDisk?: MeasureDisk;
  readonly writeLog?: (line: string) => void;
  /** IDLE_GRACE_MS by default. */
  readonly idleGraceMs?: number;
  /** Whether the built-in simulator sends webhooks. True by default. */
  readonly sendsDemoHooks?: boolean;
  /** Listens already. Used when the start succeeds, and left alone when it does not. */
  readonly room?: WaitingRoom | undefined;
};

/** Throws StartRefused when it must not start; nothing stays open then. */
export async function startApp(config: Config, options: AppOptions = {}): Promise<App> {
  const basics = openBasics(config, options.writeLog);
  const { folder, log, masterKey } = basics;
  const closers = new Closers();
  let isDraining = false;
  try {
    const resources = await openResources(config, basics, closers, options);
    const wiring = { config, resources, basics, options };
    const gateway = wireGateway(wiring);
    const { dispatcher, recorder } = gateway;
    if (recorder) closers.add(() => recorder.stop(LAST_RECORD_MS));
    closers.add(() => dispatcher.stop(DRAIN_MS));
    await dispatcher.start();
    await startBackgroundJobs(config, resources, gateway, log, closers);
    const deliverer = gateway.webhooks?.deliverer;
    if (deliverer) closers.add(() => deliverer.stop(DRAIN_MS));
    deliverer?.start();
    const handlers = wireHttp({ ...wiring, gateway, isDraining: () => isDraining });
    await resources.prepared;
    const { room } = options;
    const opened = room?.listeners ?? (await openListeners(config, handlers, log));
    const { everybody: listener, operators: adminListener } = opened;
    const listeners = listListeners(opened);
    const idleGraceMs = options.idleGraceMs ?? IDLE_GRACE_MS;
    const closeListeners = () => Promise.all(listeners.map((each) => each.close(DRAIN_MS, idleGraceMs)));
    if (!room) closers.add(closeListeners);
    startNoticeJobs(handlers.notices, resources, log, closers);
    const newMasterKey = await rememberMasterKey(resources.store.settings, masterKey);
    // Nothing after this can fail and be tried again.
    if (room) closers.add(closeListeners);
    room?.admit(handlers);
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
    // After the line that says where it listens.
    setTimeout(() => resources.readingThread?.begin());
    // Starting leaves garbage behind, the more the more keys there are.
    setTimeout(() => Bun.gc(true), COLLECT_AFTER_MS).unref();
    const adminUrl = adminListener?.url;
    log.info({ url: listener.url, admin_url: adminUrl, upstream: config.upstreamUrl ?? "simulator" }, "started");

    return {
      url: listener.url,
      port: listener.port,
      adminUrl,
      store: resources.store,
      log,
      demoToken: resources.demoToken,
      newMasterKey: config.masterKey === undefined ? newMasterKey : undefined,
      dataDir: folder.path,
      replaced: resources.replaced,
      answer,
      reloadTls: () => tlsReloader?.reload(),
      lookAtMachine: () => resources.machine.look(),
      async stop() {
        isDraining = true;
        gateway.events?.stop();
        gateway.commandEnds.stop();
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
    // PostgreSQL is away, or was lost during the start.
    if (config.store !== "sqlite" && error instanceof StoreUnavailable) throw new NotReadyToStart(error.message);
    throw error;
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
