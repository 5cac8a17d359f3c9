// Wires what callers use: authentication, reads, commands, the game's webhooks and the public status.
import { randomBytes } from "node:crypto";
import type { Config } from "../config.ts";
import { createAddressList } from "../core/address.ts";
import { ERRORS } from "../core/errors.ts";
import type { SleepUntilWoken } from "../core/ports/clock.ts";
import { WAITING_MAX } from "../gateway/commands/command-ends.ts";
import { CommandSubmitter } from "../gateway/commands/submit-command.ts";
import { WAITING_EVENTS_MAX } from "../gateway/events/event-recorder.ts";
import { HookMeter } from "../gateway/hooks/hook-meter.ts";
import { HookReceiver, SEEN_MAX } from "../gateway/hooks/hook-receiver.ts";
import { SignatureCheck } from "../gateway/hooks/hook-signature.ts";
import { Authenticator } from "../gateway/keys/authenticate.ts";
import { GUESSING_ADDRESSES_MAX, GuessLimit } from "../gateway/keys/authenticate-operator.ts";
import { DeviceSessions, SIGNING_IN_KEYS_MAX } from "../gateway/keys/device-sessions.ts";
import { SessionTokens } from "../gateway/keys/session-tokens.ts";
import { BACKLOG_MAX } from "../gateway/keys/usage-backlog.ts";
import { findParkedRefusal } from "../gateway/servers/parked-servers.ts";
import { AddressLimit, ASKING_ADDRESSES_MAX } from "../gateway/status/address-limit.ts";
import { PublicStatuses, STATUSES_MAX } from "../gateway/status/public-statuses.ts";
import type { Call } from "../http/call.ts";
import { CallerSteps } from "../http/caller-steps.ts";
import { findClientAddress } from "../http/client-address.ts";
import { CommandHandlers } from "../http/commands.ts";
import type { CursorSealer } from "../http/cursor.ts";
import { EventSocketHandler, GUESTS_MAX } from "../http/event-socket.ts";
import { EventStreamHandler } from "../http/event-stream.ts";
import { EventHandlers } from "../http/events.ts";
import { FacadeHandlers } from "../http/facade/facade-handlers.ts";
import { GameHookHandler } from "../http/game-hooks.ts";
import { HeldBodies } from "../http/held-bodies.ts";
import { HistoryHandlers } from "../http/history.ts";
import { MapHandlers } from "../http/maps.ts";
import type { SizeGauge } from "../http/metrics.ts";
import type { AnswerObserver } from "../http/observe-answers.ts";
import { OwnKeyHandler } from "../http/own-key.ts";
import { OwnOrigin } from "../http/own-origin.ts";
import type { Pages } from "../http/pages.ts";
import { ReadServerHandler } from "../http/read-server.ts";
import type { Handlers } from "../http/routes.ts";
import { wantsGzip } from "../http/send-body.ts";
import { SessionHandlers } from "../http/session.ts";
import { StatusHandlers } from "../http/status.ts";
import { StreamReaders } from "../http/stream-readers.ts";
import { UnsentAnswers } from "../http/unsent-answers.ts";
import { UntrustedProxyNotice } from "../http/untrusted-proxy.ts";
import type { Basics, Resources } from "./open-resources.ts";
import { type Gateway, pauseUntilWoken } from "./wire-gateway.ts";

export type HttpWiring = {
  readonly config: Config;
  readonly basics: Pick<Basics, "log" | "masterKey" | "secret">;
  readonly resources: Resources;
  readonly gateway: Gateway;
  readonly isDraining: () => boolean;
  /** How readers of events wait. */
  readonly waitForEvents: SleepUntilWoken | undefined;
  /** How callers wait for what becomes of their commands. */
  readonly waitForCommands: SleepUntilWoken | undefined;
};

/** Some of the handlers, and the gauges of what they keep in memory. */
export type Wired<Name extends keyof Handlers> = {
  readonly handlers: Pick<Handlers, Name>;
  readonly sizes: readonly SizeGauge[];
};

export type Authentication = Wired<"callerSteps" | "ownKey" | "ownOrigin" | "session"> & {
  readonly findAddress: (call: Call) => string;
  readonly untrustedProxy: UntrustedProxyNotice;
  readonly sessions: DeviceSessions;
};

/** Finds out who calls: by key or session, and from which address. */
export function wireAuthentication({ config, basics, resources, gateway }: HttpWiring): Authentication {
  const { store } = resources;
  const { usage } = gateway;
  const trusted = createAddressList(config.trustProxy);
  const findAddress = (call: Call) => findClientAddress(call, trusted);
  const untrustedProxy = new UntrustedProxyNotice(trusted, basics.log);
  const tokens = new SessionTokens(basics.secret);
  const sessions = new DeviceSessions({ store, tokens, randomBytes });
  const guesses = new GuessLimit(ERRORS.invalidToken);
  const authenticator = new Authenticator(store.keys, store.limits, { tokens, devices: store.devices });
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
  return {
    findAddress,
    untrustedProxy,
    sessions,
    handlers: {
      callerSteps,
      ownKey: new OwnKeyHandler(store.keys),
      ownOrigin: new OwnOrigin({ isTls: config.tls !== undefined, trusted }),
      session: new SessionHandlers({ sessions, guesses, findAddress }),
    },
    sizes: [
      { name: "known_authorization_headers", size: () => authenticator.size, max: authenticator.max },
      { name: "known_sessions", size: () => authenticator.sessions, max: authenticator.sessionsMax },
      { name: "guessing_browsers", size: () => guesses.size, max: GUESSING_ADDRESSES_MAX },
      { name: "signing_in_keys", size: () => sessions.size, max: SIGNING_IN_KEYS_MAX },
      { name: "unsaved_usage", size: () => usage.size(), max: BACKLOG_MAX + authenticator.max },
    ],
  };
}

export function wireReads(
  { basics, resources, gateway, waitForEvents }: HttpWiring,
  { handlers: { callerSteps }, findAddress }: Authentication,
  cursors: CursorSealer,
  observer: AnswerObserver,
): Wired<"readServer" | "eventStream" | "eventSocket" | "events" | "history" | "maps"> {
  const { clock } = resources;
  const { servers } = resources.store;
  const { relay, recorder, events, streams, history, maps } = gateway;
  const unsent = new UnsentAnswers();
  const common = { servers, callerSteps, clock, unsent };
  const readers = new StreamReaders(callerSteps, findAddress, servers);
  const eventSocket = new EventSocketHandler({
    streams,
    readers,
    callerSteps,
    clock,
    pause: waitForEvents ?? pauseUntilWoken,
    log: basics.log,
    observeToken: (call, address, refusal) => observer.observeToken(call, address, refusal),
  });
  return {
    handlers: {
      readServer: new ReadServerHandler(relay, callerSteps, clock, unsent),
      eventStream: new EventStreamHandler(streams, readers),
      eventSocket,
      events: new EventHandlers({ events, ...common }),
      history: new HistoryHandlers({ history, cursors, ...common }),
      maps: new MapHandlers({ maps, ...common }),
    },
    sizes: [
      { name: "known_accept_encodings", size: wantsGzip.size, max: wantsGzip.max },
      { name: "unsent_bytes", size: () => unsent.bytes, max: unsent.bytesMax },
      { name: "unauthenticated_sockets", size: () => eventSocket.guests, max: GUESTS_MAX },
      ...(recorder
        ? [{ name: "waiting_events", size: () => recorder.waitingEvents, max: WAITING_EVENTS_MAX }]
        : []),
    ],
  };
}

export function wireCommands(
  { config, resources, gateway, waitForCommands }: HttpWiring,
  { handlers: { callerSteps } }: Authentication,
  pages: Pages,
  readServer: ReadServerHandler,
): Wired<"commands" | "facade"> {
  const { store, clock } = resources;
  const { commands, keys, servers } = store;
  const { relay, dispatcher, commandMeter: meter, commandEnds: ends } = gateway;
  const pause = waitForCommands ?? pauseUntilWoken;
  const isSimulatorInUse = config.upstreamUrl === undefined;
  const submitter = new CommandSubmitter({
    commands,
    intervalMs: config.commandIntervalMs,
    findParkedRefusal: (serverId) => findParkedRefusal(servers, isSimulatorInUse, serverId),
    notify: (serverId) => dispatcher.notify(serverId),
  });
  return {
    handlers: {
      commands: new CommandHandlers({ commands, keys, callerSteps, pages, clock, meter, submitter }),
      facade: new FacadeHandlers({ readServer, callerSteps, submitter, ends, relay, clock, pause }),
    },
    sizes: [{ name: "awaited_commands", size: () => ends.waiting, max: WAITING_MAX }],
  };
}

export function wireGameHooks(
  { config, resources, gateway }: HttpWiring,
  findAddress: (call: Call) => string,
): Wired<"gameHooks"> & { readonly hookMeter: HookMeter } {
  const { store, clock, demo } = resources;
  const meter = new HookMeter();
  const held = new HeldBodies();
  const receiver = new HookReceiver({ servers: store.servers, recorder: gateway.recorder, clock, meter });
  const signatureCheck = new SignatureCheck([config.gamePublicKey, ...(demo ? [demo.publicKey] : [])]);
  return {
    hookMeter: meter,
    handlers: { gameHooks: new GameHookHandler({ receiver, signatureCheck, meter, held, findAddress }) },
    sizes: [
      { name: "held_webhook_bytes", size: () => held.bytes, max: held.bytesMax },
      { name: "seen_webhooks", size: () => receiver.seen, max: SEEN_MAX },
    ],
  };
}

export function wireStatus(
  { config, resources, gateway }: HttpWiring,
  findAddress: (call: Call) => string,
): Wired<"status"> {
  const { store, clock } = resources;
  const { relay, watcher, archive } = gateway;
  const statuses = new PublicStatuses({
    servers: store.servers,
    relay,
    watcher,
    clock,
    sleep: Bun.sleep,
    history: archive,
    changes: archive,
  });
  const limit = new AddressLimit();
  return {
    handlers: {
      status: new StatusHandlers({ statuses, limit, findAddress, publicUrl: config.publicUrl }),
    },
    sizes: [
      { name: "public_statuses", size: () => statuses.size, max: STATUSES_MAX },
      { name: "status_addresses", size: () => limit.size, max: ASKING_ADDRESSES_MAX },
    ],
  };
}
