// Wires what callers use: authentication, reads, commands, the game's webhooks and the public status.
import { randomBytes } from "node:crypto";
import { createAddressList } from "../core/address.ts";
import { ERRORS } from "../core/errors.ts";
import { PEOPLE_MAX } from "../core/people/person.ts";
import { WAITING_MAX } from "../gateway/commands/command-ends.ts";
import { CommandSubmitter } from "../gateway/commands/submit-command.ts";
import { WAITING_EVENTS_MAX } from "../gateway/events/event-recorder.ts";
import { HookReceiver, SEEN_MAX } from "../gateway/hooks/hook-receiver.ts";
import { SignatureCheck } from "../gateway/hooks/hook-signature.ts";
import { Authenticator } from "../gateway/keys/authenticate.ts";
import { GUESSING_ADDRESSES_MAX, GuessLimit } from "../gateway/keys/authenticate-operator.ts";
import { BACKLOG_MAX } from "../gateway/keys/usage-backlog.ts";
import { HookMeter } from "../gateway/meters.ts";
import { ChatPlatform } from "../gateway/people/chat-platform.ts";
import { ChatSignIn } from "../gateway/people/chat-sign-in.ts";
import { Owners } from "../gateway/people/owners.ts";
import { Passkeys } from "../gateway/people/passkeys.ts";
import { People } from "../gateway/people/people.ts";
import { SessionTokens } from "../gateway/people/session-tokens.ts";
import { SignedTexts } from "../gateway/people/signed-texts.ts";
import { findParkedRefusal } from "../gateway/servers/parked-servers.ts";
import { AddressLimit, ASKING_ADDRESSES_MAX, PublicStatuses, STATUSES_MAX } from "../gateway/status/public-statuses.ts";
import type { Call } from "../http/call.ts";
import { EventSocketHandler, GUESTS_MAX } from "../http/events/event-socket.ts";
import { EventStreamHandler } from "../http/events/event-stream.ts";
import { EventHandlers } from "../http/events/events.ts";
import { GameHookHandler } from "../http/events/game-hooks.ts";
import { StreamReaders } from "../http/events/stream-readers.ts";
import { FacadeHandlers } from "../http/facade/facade-handlers.ts";
import { ReadServerHandler } from "../http/readings/read-server.ts";
import { HeldBodies } from "../http/requests/held-bodies.ts";
import type { CursorSealer, Pages } from "../http/requests/pages.ts";
import type { Handlers } from "../http/routes.ts";
import { wantsGzip } from "../http/sending/send-body.ts";
import { UnsentAnswers } from "../http/sending/unsent-answers.ts";
import type { SizeGauge } from "../http/service/metrics.ts";
import type { AnswerObserver } from "../http/service/observe-answers.ts";
import { StatusHandlers } from "../http/status/status.ts";
import { CallerSteps } from "../http/steps/caller-steps.ts";
import { findClientAddress, UntrustedProxyNotice } from "../http/steps/client-address.ts";
import { OwnOrigin } from "../http/steps/own-origin.ts";
import { SessionHandlers, type SessionHandlersDeps } from "../http/web/session.ts";
import { SignInHandlers } from "../http/web/sign-in.ts";
import { type Gateway, type GatewayWiring, pauseUntilWoken } from "./wire-gateway.ts";

export type HttpWiring = GatewayWiring & { readonly gateway: Gateway; readonly isDraining: () => boolean };

/** Some of the handlers, and the gauges of what they keep in memory. */
export type Wired<Name extends keyof Handlers> = {
  readonly handlers: Pick<Handlers, Name>;
  readonly sizes: readonly SizeGauge[];
};

export type Authentication = Wired<"callerSteps" | "ownOrigin" | "session" | "signIn"> & {
  readonly findAddress: (call: Call) => string;
  readonly untrustedProxy: UntrustedProxyNotice;
  readonly people: People;
  readonly authenticator: Authenticator;
};

/** Finds out who calls: by key or session, and from which address. */
export function wireAuthentication(wiring: HttpWiring): Authentication {
  const { config, basics, resources, gateway } = wiring;
  const { store } = resources;
  const { usage, relay } = gateway;
  const trusted = createAddressList(config.trustProxy);
  const findAddress = (call: Call) => findClientAddress(call, trusted);
  const untrustedProxy = new UntrustedProxyNotice(trusted, basics.log);
  const owners = new Owners({ servers: store.servers, relay, sleep: Bun.sleep });
  const people = new People({ store, tokens: new SessionTokens(basics.secret), owners, randomBytes });
  const guesses = new GuessLimit(ERRORS.invalidToken);
  const authenticator = new Authenticator(store.keys, store.limits, people);
  const ownOrigin = new OwnOrigin({ isTls: config.tls !== undefined, trusted });
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
    people,
    authenticator,
    handlers: { callerSteps, ownOrigin, ...wireSignIn(wiring, people, owners, { ownOrigin, guesses, findAddress }) },
    sizes: [
      { name: "known_authorization_headers", size: () => authenticator.size, max: authenticator.max },
      { name: "known_sessions", size: () => authenticator.sessions, max: authenticator.sessionsMax },
      { name: "guessing_browsers", size: () => guesses.size, max: GUESSING_ADDRESSES_MAX },
      { name: "signing_in_people", size: () => people.signingIn, max: PEOPLE_MAX },
      { name: "unsaved_usage", size: () => usage.size(), max: BACKLOG_MAX + authenticator.max },
    ],
  };
}

function wireSignIn(
  { config, basics, resources: { store } }: HttpWiring,
  people: People,
  owners: Owners,
  steps: Pick<SessionHandlersDeps, "guesses" | "findAddress"> & { readonly ownOrigin: OwnOrigin },
): Pick<Handlers, "session" | "signIn"> {
  const { publicUrl, chat: settings } = config;
  const { log } = basics;
  const texts = new SignedTexts(basics.secret);
  const common = { store, people, texts, randomBytes };
  const passkeys = new Passkeys({ ...common, publicUrl });
  const chat = settings && new ChatSignIn({ ...common, owners, platform: new ChatPlatform(settings), log });
  const session = new SessionHandlers({ store, people, passkeys, ...steps });
  const { ownOrigin } = steps;
  return {
    session,
    signIn: new SignInHandlers({ people, passkeys, chat, session, ownOrigin, publicUrl, hasAdmin: true }),
  };
}

export function wireReads(
  { basics, resources, gateway, options }: HttpWiring,
  { handlers: { callerSteps }, findAddress }: Authentication,
  cursors: CursorSealer,
  observer: AnswerObserver,
): Wired<"readServer" | "eventStream" | "eventSocket" | "events" | "history" | "players" | "modCalls" | "maps"> {
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
    pause: options.waitForEvents ?? pauseUntilWoken,
    log: basics.log,
    observeToken: (call, address, refusal) => observer.observeToken(call, address, refusal),
  });
  return {
    handlers: {
      readServer: new ReadServerHandler(relay, callerSteps, clock, unsent),
      eventStream: new EventStreamHandler(streams, readers),
      eventSocket,
      events: new EventHandlers({ events, ...common }),
      history: { history, cursors, ...common },
      players: { archive: gateway.archive, cursors, randomBytes, ...common },
      modCalls: { desk: gateway.modCalls, cursors, ...common },
      maps: { maps, ...common },
    },
    sizes: [
      { name: "known_accept_encodings", size: wantsGzip.size, max: wantsGzip.max },
      { name: "unsent_bytes", size: () => unsent.bytes, max: unsent.bytesMax },
      { name: "unauthenticated_sockets", size: () => eventSocket.guests, max: GUESTS_MAX },
      ...(recorder ? [{ name: "waiting_events", size: () => recorder.waitingEvents, max: WAITING_EVENTS_MAX }] : []),
    ],
  };
}

export function wireCommands(
  { config, resources, gateway, options }: HttpWiring,
  { handlers: { callerSteps } }: Authentication,
  pages: Pages,
  readServer: ReadServerHandler,
): Wired<"commands" | "facade"> {
  const { store, clock } = resources;
  const { commands, keys, servers } = store;
  const { relay, dispatcher, commandMeter: meter, commandEnds: ends } = gateway;
  const pause = options.waitForCommands ?? pauseUntilWoken;
  const isSimulatorInUse = config.upstreamUrl === undefined;
  const submitter = new CommandSubmitter({
    commands,
    intervalMs: config.commandIntervalMs,
    findParkedRefusal: (serverId) => findParkedRefusal(servers, isSimulatorInUse, serverId),
    notify: (serverId) => dispatcher.notify(serverId),
  });
  return {
    handlers: {
      commands: { commands, keys, callerSteps, pages, clock, meter, submitter, ends },
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
