// Wires the handlers, the routes and the edge in front of them.
import { randomBytes } from "node:crypto";
import { findBuiltFile } from "../built-files.ts";
import type { Config } from "../config.ts";
import { createAddressList } from "../core/address.ts";
import { ERRORS } from "../core/errors.ts";
import type { Memoized } from "../core/memoize.ts";
import { deriveNoticesToken } from "../core/token.ts";
import type { Pause } from "../gateway/commands/command-dispatcher.ts";
import { WAITING_MAX } from "../gateway/commands/command-ends.ts";
import { CommandSubmitter } from "../gateway/commands/submit-command.ts";
import { listArchiveNotices } from "../gateway/events/archive-notices.ts";
import { WAITING_EVENTS_MAX } from "../gateway/events/event-recorder.ts";
import { HookMeter } from "../gateway/hooks/hook-meter.ts";
import { HookReceiver, SEEN_MAX } from "../gateway/hooks/hook-receiver.ts";
import { SignatureCheck } from "../gateway/hooks/hook-signature.ts";
import { Authenticator } from "../gateway/keys/authenticate.ts";
import {
  fingerprintOf,
  GUESSING_ADDRESSES_MAX,
  GuessLimit,
  OperatorCheck,
} from "../gateway/keys/authenticate-operator.ts";
import { DeviceSessions, SIGNING_IN_KEYS_MAX } from "../gateway/keys/device-sessions.ts";
import { SessionTokens } from "../gateway/keys/session-tokens.ts";
import { BACKLOG_MAX } from "../gateway/keys/usage-backlog.ts";
import { nameServers } from "../gateway/servers/name-servers.ts";
import { findParkedRefusal, listParked, listParkedNotices } from "../gateway/servers/parked-servers.ts";
import { AddressLimit, ASKING_ADDRESSES_MAX } from "../gateway/status/address-limit.ts";
import { PublicStatuses, STATUSES_MAX } from "../gateway/status/public-statuses.ts";
import type { ManagedWebhooks } from "../gateway/webhooks/manage-webhooks.ts";
import { AdminHandlers } from "../http/admin/admin-handlers.ts";
import type { Call } from "../http/call.ts";
import { CallerSteps } from "../http/caller-steps.ts";
import { findClientAddress } from "../http/client-address.ts";
import { CommandHandlers } from "../http/commands.ts";
import { Cors } from "../http/cors.ts";
import { CursorSealer } from "../http/cursor.ts";
import { DashboardHandlers } from "../http/dashboard.ts";
import { Edge } from "../http/edge.ts";
import { EdgeMeter } from "../http/edge-meter.ts";
import { EventSocketHandler, GUESTS_MAX } from "../http/event-socket.ts";
import { EventStreamHandler } from "../http/event-stream.ts";
import { EventHandlers } from "../http/events.ts";
import { FacadeHandlers } from "../http/facade/facade-handlers.ts";
import { GameHookHandler } from "../http/game-hooks.ts";
import { ReadyzHandler } from "../http/health.ts";
import { HeldBodies } from "../http/held-bodies.ts";
import { HistoryHandlers } from "../http/history.ts";
import type { RequestHandler, RequestHandlers } from "../http/listen.ts";
import { MapHandlers } from "../http/maps.ts";
import { MetricsHandler, type SizeGauge } from "../http/metrics.ts";
import { AnswerObserver } from "../http/observe-answers.ts";
import { OpenApiHandler } from "../http/openapi/answer-openapi.ts";
import { isOperatorPath } from "../http/operator-paths.ts";
import { OperatorStep } from "../http/operator-step.ts";
import { OwnKeyHandler } from "../http/own-key.ts";
import { OwnOrigin } from "../http/own-origin.ts";
import { Pages } from "../http/pages.ts";
import { ReadServerHandler } from "../http/read-server.ts";
import { ReferenceHandlers } from "../http/reference/reference.ts";
import type { Route } from "../http/router.ts";
import { type Handlers, listRoutes } from "../http/routes.ts";
import { wantsGzip } from "../http/send-body.ts";
import { SessionHandlers } from "../http/session.ts";
import { StatusHandlers } from "../http/status.ts";
import { StreamReaders } from "../http/stream-readers.ts";
import { createTargetFinder, TARGETS_MAX, type Target } from "../http/target.ts";
import { UnsentAnswers } from "../http/unsent-answers.ts";
import { UntrustedProxyNotice } from "../http/untrusted-proxy.ts";
import { VERSION } from "../version.ts";
import { USAGE_KEPT_MS } from "./background-jobs.ts";
import type { Basics, Resources } from "./open-resources.ts";
import { type Gateway, pauseUntilWoken } from "./wire-gateway.ts";

/** Set once, when the drain begins. */
export type DrainState = { isDraining: boolean };

/** The handlers of both listeners. Without a second one, everybody's serves operators too. */
export type WiredHandlers = {
  readonly everybody: RequestHandlers;
  readonly operators: RequestHandlers;
  /** Ends the sockets that are no streams yet. */
  readonly stopSockets: () => void;
};

export function wireHttp(
  config: Config,
  { log, masterKey, secret }: Pick<Basics, "log" | "masterKey" | "secret">,
  resources: Resources,
  gateway: Gateway,
  drain: DrainState,
  waitForEvents: Pause = pauseUntilWoken,
): WiredHandlers {
  const { store, shared, clock, demo } = resources;
  const { relay, watcher, relayMeter, dispatcher, commandMeter, commandEnds, usage } = gateway;
  const { archive, archiveMeter, recorder, events, streams, forgetting, maps, history } = gateway;
  const deliverer = gateway.webhooks?.deliverer;
  const sessionTokens = new SessionTokens(secret);
  const sessions = new DeviceSessions({ store, tokens: sessionTokens, randomBytes });
  const sessionLookup = { tokens: sessionTokens, devices: store.devices };
  const authenticator = new Authenticator(store.keys, store.limits, sessionLookup);
  const trusted = createAddressList(config.trustProxy);
  const findAddress = (call: Call) => findClientAddress(call, trusted);
  const untrustedProxy = new UntrustedProxyNotice(trusted, log);
  const callerSteps = new CallerSteps({
    authenticator,
    limits: store.limits,
    servers: store.servers,
    findAddress(call) {
      // Only keys with an address list need the address, so nobody else pays for this.
      untrustedProxy.check(call);
      return findAddress(call);
    },
  });
  const cursors = new CursorSealer(secret);
  const pages = new Pages(cursors);
  const guesses = new GuessLimit();
  const sessionGuesses = new GuessLimit(ERRORS.invalidToken);
  const ownOrigin = new OwnOrigin({ isTls: config.tls !== undefined, trusted });
  const operatorCheck = new OperatorCheck([masterKey]);
  const noticesCheck = new OperatorCheck([masterKey, deriveNoticesToken(masterKey)]);
  const metricsCheck = new OperatorCheck([masterKey, config.metricsToken]);
  const edgeMeter = new EdgeMeter();
  const unsent = new UnsentAnswers();
  const sizes: SizeGauge[] = [
    { name: "known_authorization_headers", size: () => authenticator.size, max: authenticator.max },
    { name: "known_accept_encodings", size: wantsGzip.size, max: wantsGzip.max },
    { name: "guessing_addresses", size: () => guesses.size, max: GUESSING_ADDRESSES_MAX },
    { name: "guessing_browsers", size: () => sessionGuesses.size, max: GUESSING_ADDRESSES_MAX },
    { name: "signing_in_keys", size: () => sessions.size, max: SIGNING_IN_KEYS_MAX },
    { name: "known_sessions", size: () => authenticator.sessions, max: authenticator.sessionsMax },
    { name: "unsent_bytes", size: () => unsent.bytes, max: unsent.bytesMax },
    { name: "unsaved_usage", size: () => usage.size(), max: BACKLOG_MAX + authenticator.max },
  ];
  if (recorder)
    sizes.push({ name: "waiting_events", size: () => recorder.waitingEvents, max: WAITING_EVENTS_MAX });
  const isSimulatorInUse = config.upstreamUrl === undefined;
  const readServer = new ReadServerHandler(relay, callerSteps, clock, unsent);
  const observer = new AnswerObserver({ meter: edgeMeter, usage, log, findAddress });
  const readers = new StreamReaders(callerSteps, findAddress, store.servers);
  const eventSocket = new EventSocketHandler({
    streams,
    readers,
    callerSteps,
    clock,
    pause: waitForEvents,
    log,
    observeToken: (call, address, refusal) => observer.observeToken(call, address, refusal),
  });
  sizes.push({ name: "unauthenticated_sockets", size: () => eventSocket.guests, max: GUESTS_MAX });
  const submitter = new CommandSubmitter({
    commands: store.commands,
    intervalMs: config.commandIntervalMs,
    findParkedRefusal: (serverId) => findParkedRefusal(store.servers, isSimulatorInUse, serverId),
    notify: (serverId) => dispatcher.notify(serverId),
  });
  sizes.push({ name: "awaited_commands", size: () => commandEnds.waiting, max: WAITING_MAX });
  const hookMeter = new HookMeter();
  const hookReceiver = new HookReceiver({ servers: store.servers, recorder, clock, meter: hookMeter });
  const heldHooks = new HeldBodies();
  sizes.push(
    { name: "held_webhook_bytes", size: () => heldHooks.bytes, max: heldHooks.bytesMax },
    { name: "seen_webhooks", size: () => hookReceiver.seen, max: SEEN_MAX },
  );
  const statuses = new PublicStatuses({
    ...{ servers: store.servers, relay, watcher, clock, sleep: Bun.sleep },
    history: gateway.archive,
    changes: gateway.archive,
  });
  const statusLimit = new AddressLimit();
  sizes.push(
    { name: "public_statuses", size: () => statuses.size, max: STATUSES_MAX },
    { name: "status_addresses", size: () => statusLimit.size, max: ASKING_ADDRESSES_MAX },
  );
  const handlers: Handlers = {
    callerSteps,
    status: new StatusHandlers({
      statuses,
      limit: statusLimit,
      findAddress,
      publicUrl: config.publicUrl,
    }),
    gameHooks: new GameHookHandler({
      receiver: hookReceiver,
      signatureCheck: new SignatureCheck([config.gamePublicKey, ...(demo ? [demo.publicKey] : [])]),
      meter: hookMeter,
      held: heldHooks,
    }),
    ownKey: new OwnKeyHandler(store.keys),
    readServer,
    eventStream: new EventStreamHandler(streams, readers),
    eventSocket,
    events: new EventHandlers({ events, servers: store.servers, callerSteps, clock, unsent }),
    history: new HistoryHandlers({ history, servers: store.servers, callerSteps, cursors, clock, unsent }),
    maps: new MapHandlers({ maps, servers: store.servers, callerSteps, clock, unsent }),
    commands: new CommandHandlers({
      commands: store.commands,
      keys: store.keys,
      callerSteps,
      pages,
      clock,
      meter: commandMeter,
      submitter,
    }),
    facade: new FacadeHandlers({ readServer, callerSteps, submitter, ends: commandEnds, clock }),
    ownOrigin,
    session: new SessionHandlers({ sessions, guesses: sessionGuesses, findAddress }),
    operatorStep: new OperatorStep({
      operatorCheck,
      guesses,
      fingerprint: fingerprintOf(masterKey),
      findAddress,
    }),
    admin: new AdminHandlers({
      store,
      pages,
      randomBytes,
      sessions,
      findPageAddress: (call) => config.publicUrl ?? ownOrigin.find(call) ?? "",
      usage,
      usageMs: USAGE_KEPT_MS,
      relay,
      watcher,
      readServer,
      isSimulatorInUse,
      forgetServer(serverId) {
        relay.forget(serverId);
        maps?.forget(serverId);
        recorder?.removeServer(serverId).catch((error) => {
          log.warn(
            { err: error, server_id: serverId },
            "the events of a deleted server could not be deleted yet",
          );
        });
      },
      retryGlobalKey: () => relay.retryGlobalKey(),
      commandMeter,
      forgetting,
      webhooks: wireWebhookAdmin(config, resources, gateway),
      alerts: archive && { archive, servers: store.servers, settings: store.settings },
    }),
    dashboard: new DashboardHandlers((name) => findBuiltFile(`dashboard/${name}`)),
    openApi: new OpenApiHandler(VERSION),
    reference: new ReferenceHandlers((name) => findBuiltFile(`reference/${name}`)),
    readyz: new ReadyzHandler({
      store,
      clock,
      log,
      isDraining: () => drain.isDraining,
      isOperator: (call) => noticesCheck.check(call.request.headers.get("authorization")) === undefined,
      listNotices(now, isOperator) {
        const name = isOperator ? (ids: readonly string[]) => nameServers(store.servers, ids) : undefined;
        const parked = listParked(store.servers, isSimulatorInUse);
        return [
          ...relay.listNotices(now, name),
          ...listParkedNotices(parked, name),
          ...(recorder ? listArchiveNotices(archiveMeter, recorder, isOperator) : []),
          ...(deliverer?.listNotices(name) ?? []),
          ...(isOperator ? untrustedProxy.listNotices(now) : []),
        ];
      },
    }),
    metrics: new MetricsHandler({
      check: (header) => metricsCheck.check(header),
      clock,
      edgeMeter,
      relayMeter,
      relay,
      commandMeter,
      hookMeter,
      archive: recorder && events && streams && { meter: archiveMeter, recorder, events, streams, watcher },
      deliverer,
      reportQueue: () => store.commands.report(),
      countInstances: () => shared?.instances ?? 1,
      countBlocks: async (now) => (await store.limits.listBlocks(now)).length,
      sizes,
      version: VERSION,
    }),
  };
  const cors = new Cors(config.corsOrigins);
  const targetFinders: Memoized<Target>[] = [];
  const wireEdge = (routes: readonly Route[]): RequestHandler => {
    const findTarget = createTargetFinder(routes);
    targetFinders.push(findTarget);
    const edge = new Edge({
      findTarget,
      cors,
      clock,
      log,
      isDraining: () => drain.isDraining,
      isSecure: config.tls !== undefined,
      observe: (call, response) => observer.observe(call, response),
    });
    return (request, connection) => edge.handle(request, connection);
  };
  const routes = listRoutes(handlers);
  const operators: RequestHandlers = {
    handle: wireEdge(routes.filter(({ path }) => !isOperatorPath(path))),
    handleOperator: wireEdge(routes.filter(({ path }) => isOperatorPath(path))),
  };
  const everybody = config.admin
    ? { handle: wireEdge(listCallerRoutes(handlers)), handleOperator: undefined }
    : operators;
  sizes.push({
    name: "known_urls",
    size: () => targetFinders.reduce((sum, finder) => sum + finder.size(), 0),
    max: targetFinders.length * TARGETS_MAX,
  });
  return { everybody, operators, stopSockets: () => eventSocket.stop() };
}

/** Undefined without an archive. */
function wireWebhookAdmin(
  { allowsPrivateWebhooks: allowsPrivate }: Config,
  { store, webhookSealer: sealer }: Resources,
  { archive, webhooks }: Gateway,
): ManagedWebhooks | undefined {
  if (!archive || !webhooks) return undefined;
  const { servers, settings } = store;
  const { deliverer, sender } = webhooks;
  return {
    archive,
    servers,
    settings,
    sealer,
    randomBytes,
    allowsPrivate,
    sendTest: (webhook, testId) => sender.sendTest(webhook, testId),
    notify: (webhookId) => deliverer.notify(webhookId),
  };
}

/** The routes of everybody's listener when operators have one of their own. */
function listCallerRoutes(handlers: Handlers): Route[] {
  const routes = listRoutes({ ...handlers, openApi: new OpenApiHandler(VERSION, "callers") });
  return routes.filter(({ path }) => !isOperatorPath(path));
}
