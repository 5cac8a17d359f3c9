// The whole API on one page: every path, its methods, the steps before them, and their operations. Requests under /v1 are
// answered before routing.
import type { AdminDeps } from "./admin/admin-operation.ts";
import { auditOperations } from "./admin/audit.ts";
import {
  anyCommandOperations,
  blockOperations,
  playerOperations,
  upstreamOperations,
} from "./admin/blocks-commands.ts";
import { keyOperations } from "./admin/keys.ts";
import { personOperations, roleOperations } from "./admin/people.ts";
import { serverOperations } from "./admin/servers.ts";
import { webhookOperations } from "./admin/webhooks.ts";
import type { Call } from "./call.ts";
import { type CommandDeps, cancelCommand, listCommands, showCommand, submitCommand } from "./commands.ts";
import { type EventSocketHandler, openEventSocket } from "./events/event-socket.ts";
import { type EventStreamHandler, streamEvents, streamServerEvents } from "./events/event-stream.ts";
import { type EventHandlers, readEvents, readServerEvents } from "./events/events.ts";
import { type GameHookHandler, receiveGameWebhook } from "./events/game-hooks.ts";
import { FACADE_V1, type FacadeHandlers } from "./facade/facade-handlers.ts";
import {
  asFacadeOperation,
  describeV1,
  READ_AS_THE_GAME,
  READ_BANS,
  SEND_AS_THE_GAME,
  SEND_AS_THE_GAME_V1,
} from "./facade/facade-operations.ts";
import { inGameForm } from "./facade/game-form.ts";
import { type HistoryDeps, historyOperations } from "./history/history.ts";
import { type OpenApiHandler, readOpenApi } from "./openapi/answer-openapi.ts";
import { type Definition, type Handler, type OpenOperation, withOperation } from "./operation.ts";
import { type ModCallDeps, modCallOperations } from "./players/modcalls.ts";
import { playerOperations as knownPlayers, noteOperations, type PlayerDeps } from "./players/players.ts";
import { type MapDeps, readMap, readMapImage, serverMapOperations } from "./readings/maps.ts";
import { readOwnKey } from "./readings/own-key.ts";
import { type ReadServerHandler, readServer } from "./readings/read-server.ts";
import type { Method, Route } from "./router.ts";
import { checkLiveness, checkReadiness, type ReadyzHandler } from "./service/health.ts";
import { type MetricsHandler, readMetrics } from "./service/metrics.ts";
import { type StatusHandlers, statusOperations } from "./status/status.ts";
import {
  behindCallerSteps,
  type CallerHandler,
  type CallerOperation,
  type CallerSteps,
  CLAIMING,
  MANAGING_COMMANDS,
  type Purpose,
  READING,
  READING_MAP,
  READING_MOD_CALLS,
  READING_PLAYERS,
  READING_SERVER,
  SENDING_COMMAND,
  WRITING_NOTES,
} from "./steps/caller-steps.ts";
import {
  behindOperatorStep,
  may,
  type Need,
  OPERATORS,
  OPERATORS_OF_SERVER,
  type OperatorOperation,
  type OperatorStep,
} from "./steps/operator-step.ts";
import type { OwnOrigin } from "./steps/own-origin.ts";
import type { ClientHandlers } from "./web/clients.ts";
import type { DashboardHandlers } from "./web/dashboard.ts";
import type { ReferenceHandlers } from "./web/reference.ts";
import { type SessionHandlers, sessionOperations } from "./web/session.ts";
import { type SignInHandlers, signInOperations } from "./web/sign-in.ts";

/** What the operations work with. */
export type Handlers = {
  /** The steps that check the API key, count the request, and check the key's rights. */
  readonly callerSteps: CallerSteps;
  /** The step that checks the master key or a person's token, and what a person needs. */
  readonly operatorStep: OperatorStep;
  /** The step that lets only our own page through. */
  readonly ownOrigin: OwnOrigin;
  readonly readServer: ReadServerHandler;
  readonly events: EventHandlers;
  readonly eventStream: EventStreamHandler;
  readonly eventSocket: EventSocketHandler;
  readonly history: HistoryDeps;
  readonly players: PlayerDeps;
  readonly modCalls: ModCallDeps;
  readonly maps: MapDeps;
  readonly commands: CommandDeps;
  /** For clients of the game API: the same steps, with its form of keys and errors. */
  readonly facade: FacadeHandlers;
  /** Open to everybody: the body's signature says that it is from the game. */
  readonly gameHooks: GameHookHandler;
  /** Open to everybody: only what the operator has made public, with a limit for each address. */
  readonly status: StatusHandlers;
  readonly session: SessionHandlers;
  readonly signIn: SignInHandlers;
  readonly readyz: ReadyzHandler;
  readonly metrics: MetricsHandler;
  readonly admin: AdminDeps;
  /** Open to everybody: the files hold no secrets, and the page itself asks for a key. */
  readonly dashboard: DashboardHandlers;
  /** Open to everybody: what anybody may install. */
  readonly clients: ClientHandlers;
  readonly openApi: OpenApiHandler;
  readonly reference: ReferenceHandlers;
};

export function listRoutes(handlers: Handlers): Route[] {
  const { callerSteps, ownOrigin, facade, status, dashboard, clients, openApi, reference } = handlers;
  const caller = (purpose: Purpose, operation: CallerOperation<Handlers>) =>
    behindCallerSteps(handlers, purpose, operation);
  const client = (purpose: Purpose, handler: CallerHandler, definition: Definition) => {
    const operation = asFacadeOperation(definition);
    return Object.assign(inGameForm(callerSteps.before(purpose, handler)), { operation });
  };
  const admin = (need: Need, operation: OperatorOperation<Handlers>) => behindOperatorStep(handlers, need, operation);
  const withNeed = (need: Need) => (operation: OperatorOperation<Handlers>) => admin(need, operation);
  const operators = withNeed(OPERATORS);
  const serverOperators = withNeed(OPERATORS_OF_SERVER);
  const ownStatus = withNeed(may("status", "server"));
  const keys = withNeed(may("keys", "handler"));
  const ownKey = withNeed(may("keys", "key"));
  const webhooks = withNeed(may("webhooks", "handler"));
  const ownWebhook = withNeed(may("webhooks", "webhook"));
  const people = withNeed(may("people", "handler"));
  const open = (operation: OpenOperation<Handlers>) => {
    const { security = [], isCounted } = operation;
    return withOperation((call) => operation.answer(handlers, call), operation, security, [], isCounted);
  };
  const ownPage = (handler: Handler): Handler => {
    const guarded = ownOrigin.before(handler);
    return Object.assign((call: Call) => guarded(call), handler.operation && { operation: handler.operation });
  };
  const { players, sessions, playtime, staff, peaks, present } = historyOperations;
  const readAsTheGame: CallerHandler = (call, caller) => facade.readServer(call, caller);
  const sendAsTheGame: CallerHandler = (call, caller) => facade.send(call, caller);
  const routes: Route[] = [
    ...bothForms("/game/server", { GET: caller(READING_SERVER, readServer) }),
    ...bothForms("/game/key", { GET: caller(READING, readOwnKey) }),
    ...bothForms("/game/server/events", { GET: caller(READING, readEvents) }),
    ...bothForms("/game/server/events/stream", { GET: caller(READING, streamEvents) }),
    ...bothForms("/game/server/events/socket", { GET: open(openEventSocket) }),
    ...bothForms("/game/server/history/players", { GET: caller(players.purpose, players.caller) }),
    ...bothForms("/game/server/history/sessions", { GET: caller(sessions.purpose, sessions.caller) }),
    ...bothForms("/game/server/history/playtime", { GET: caller(playtime.purpose, playtime.caller) }),
    ...bothForms("/game/server/history/staff", { GET: caller(staff.purpose, staff.caller) }),
    ...bothForms("/game/server/history/peaks", { GET: caller(peaks.purpose, peaks.caller) }),
    ...bothForms("/game/server/history/present", { GET: caller(present.purpose, present.caller) }),
    ...bothForms("/game/server/players", { GET: caller(READING_PLAYERS, knownPlayers.list) }),
    ...bothForms("/game/server/players/:id", { GET: caller(READING_PLAYERS, knownPlayers.show) }),
    ...bothForms("/game/server/players/:id/notes", {
      GET: caller(WRITING_NOTES, noteOperations.list),
      POST: caller(WRITING_NOTES, noteOperations.add),
    }),
    ...bothForms("/game/server/players/:id/notes/:note", { DELETE: caller(WRITING_NOTES, noteOperations.delete) }),
    ...bothForms("/game/server/modcalls", { GET: caller(READING_MOD_CALLS, modCallOperations.list) }),
    ...bothForms("/game/server/modcalls/:id/claim", {
      POST: caller(CLAIMING, modCallOperations.claim),
      DELETE: caller(CLAIMING, modCallOperations.release),
    }),
    ...bothForms("/game/server/map", { GET: caller(READING_MAP, readMap) }),
    ...bothForms("/game/server/map/image", { GET: caller(READING_MAP, readMapImage) }),
    ...bothForms("/game/server/command", {
      GET: caller(MANAGING_COMMANDS, listCommands),
      POST: caller(SENDING_COMMAND, submitCommand),
    }),
    ...bothForms("/game/server/command/:id", {
      GET: caller(MANAGING_COMMANDS, showCommand),
      DELETE: caller(MANAGING_COMMANDS, cancelCommand),
    }),

    // The façade speaks the game API's language.
    { path: "/v2/server", GET: client(READING, readAsTheGame, READ_AS_THE_GAME) },
    { path: "/v2/server/command", POST: client(SENDING_COMMAND, sendAsTheGame, SEND_AS_THE_GAME) },
    ...FACADE_V1.map(({ path, purpose, view, resource }) => ({
      path,
      GET: client(purpose, (call, caller) => facade.readV1(call, caller, view), describeV1(resource)),
    })),
    {
      path: "/erlc/v1/server/bans",
      GET: client(READING, (call, caller) => facade.refuseBans(call, caller), READ_BANS),
    },
    { path: "/erlc/v1/server/command", POST: client(SENDING_COMMAND, sendAsTheGame, SEND_AS_THE_GAME_V1) },

    { path: "/hooks/game", POST: open(receiveGameWebhook) },
    { path: "/status", GET: () => handlers.readyz.answerPage() },
    { path: "/status/:slug.json", GET: open(statusOperations.readJson) },
    { path: "/status/:slug", GET: (call) => status.answerPage(call) },
    { path: "/status/:slug/badge.svg", GET: open(statusOperations.readBadge) },
    { path: "/status/:slug/badge.json", GET: open(statusOperations.readBadgeJson) },
    { path: "/status/:slug/feed.atom", GET: open(statusOperations.readFeed) },
    // Only these take a cookie, and CORS never applies to them.
    { path: "/session", POST: ownPage(open(sessionOperations.grant)), DELETE: ownPage(open(sessionOperations.end)) },
    { path: "/session/methods", GET: open(signInOperations.readMethods) },
    { path: "/session/me", GET: open(sessionOperations.me), POST: ownPage(open(sessionOperations.meByCookie)) },
    { path: "/session/invitations", POST: ownPage(open(signInOperations.redeem)) },
    {
      path: "/session/passkeys",
      GET: open(sessionOperations.listPasskeys),
      POST: ownPage(open(signInOperations.addPasskey)),
    },
    { path: "/session/passkeys/options", POST: ownPage(open(signInOperations.describePasskey)) },
    { path: "/session/passkeys/sign-in", POST: ownPage(open(signInOperations.signInWithPasskey)) },
    { path: "/session/passkeys/sign-in/options", POST: ownPage(open(signInOperations.describeSignIn)) },
    { path: "/session/passkeys/:id", DELETE: ownPage(open(sessionOperations.removePasskey)) },
    { path: "/session/sessions", GET: open(sessionOperations.listSessions) },
    { path: "/session/sessions/:id", DELETE: ownPage(open(sessionOperations.endOne)) },
    // Navigations: the second comes from the chat platform, and its state proves that this browser began it.
    { path: "/session/chat", GET: open(signInOperations.beginChat) },
    { path: "/session/chat/return", GET: open(signInOperations.finishChat) },

    // What a person needs who is no operator, beside the operation itself.
    {
      path: "/admin/servers",
      GET: admin(may("anything", "handler"), serverOperations.list),
      POST: operators(serverOperations.create),
    },
    {
      path: "/admin/servers/:id",
      GET: admin(may("anything", "server"), serverOperations.show),
      PATCH: ownStatus(serverOperations.change),
      DELETE: serverOperators(serverOperations.delete),
    },
    // Everybody else reads these under /v2/game/server, with what their role shows.
    { path: "/admin/servers/:id/info", GET: serverOperators(serverOperations.readInfo) },
    { path: "/admin/servers/:id/events", GET: serverOperators(readServerEvents) },
    { path: "/admin/servers/:id/events/stream", GET: serverOperators(streamServerEvents) },
    { path: "/admin/servers/:id/history/players", GET: serverOperators(players.operator) },
    { path: "/admin/servers/:id/history/sessions", GET: serverOperators(sessions.operator) },
    { path: "/admin/servers/:id/history/playtime", GET: serverOperators(playtime.operator) },
    { path: "/admin/servers/:id/history/staff", GET: serverOperators(staff.operator) },
    { path: "/admin/servers/:id/history/peaks", GET: serverOperators(peaks.operator) },
    { path: "/admin/servers/:id/history/present", GET: serverOperators(present.operator) },
    { path: "/admin/servers/:id/map", GET: serverOperators(serverMapOperations.read) },
    {
      path: "/admin/servers/:id/alerts",
      GET: admin(may("alerts", "server"), serverOperations.showAlerts),
      PUT: admin(may("alerts", "server"), serverOperations.setAlerts),
    },
    {
      path: "/admin/servers/:id/map-image",
      GET: ownStatus(serverMapOperations.readImage),
      PUT: ownStatus(serverMapOperations.setImage),
      DELETE: ownStatus(serverMapOperations.removeImage),
    },
    { path: "/admin/keys", GET: keys(keyOperations.list), POST: keys(keyOperations.create) },
    {
      path: "/admin/keys/:id",
      GET: ownKey(keyOperations.show),
      PATCH: ownKey(keyOperations.change),
      DELETE: ownKey(keyOperations.revoke),
    },
    { path: "/admin/keys/:id/rotate", POST: ownKey(keyOperations.rotate) },
    { path: "/admin/blocks", GET: keys(blockOperations.list) },
    { path: "/admin/blocks/:id", DELETE: admin(may("keys", "block"), blockOperations.lift) },
    { path: "/admin/webhooks", GET: webhooks(webhookOperations.list), POST: webhooks(webhookOperations.create) },
    {
      path: "/admin/webhooks/:id",
      GET: ownWebhook(webhookOperations.show),
      PATCH: ownWebhook(webhookOperations.change),
      DELETE: ownWebhook(webhookOperations.delete),
    },
    { path: "/admin/webhooks/:id/rotate", POST: ownWebhook(webhookOperations.rotate) },
    { path: "/admin/webhooks/:id/test", POST: ownWebhook(webhookOperations.test) },
    { path: "/admin/webhooks/:id/redeliver", POST: ownWebhook(webhookOperations.redeliver) },
    { path: "/admin/webhooks/:id/deliveries", GET: ownWebhook(webhookOperations.listDeliveries) },
    { path: "/admin/players/:id", DELETE: operators(playerOperations.forget) },
    { path: "/admin/commands", GET: keys(anyCommandOperations.list) },
    {
      path: "/admin/commands/:id",
      GET: admin(may("keys", "command"), anyCommandOperations.show),
      DELETE: admin(may("keys", "command"), anyCommandOperations.cancel),
    },
    { path: "/admin/people", GET: people(personOperations.list), POST: people(personOperations.create) },
    {
      path: "/admin/people/:id",
      GET: people(personOperations.show),
      PATCH: people(personOperations.change),
      DELETE: people(personOperations.delete),
    },
    { path: "/admin/people/:id/invitations", POST: people(personOperations.invite) },
    {
      path: "/admin/people/:id/sessions",
      GET: people(personOperations.listSessions),
      DELETE: people(personOperations.endSessions),
    },
    { path: "/admin/people/:id/sessions/:session", DELETE: people(personOperations.endSession) },
    {
      path: "/admin/people/:id/passkeys",
      GET: people(personOperations.listPasskeys),
      DELETE: people(personOperations.removePasskeys),
    },
    { path: "/admin/people/:id/passkeys/:passkey", DELETE: people(personOperations.removePasskey) },
    { path: "/admin/roles", GET: admin(may("anything", "handler"), roleOperations.list) },
    { path: "/admin/roles/:name", PUT: operators(roleOperations.put), DELETE: operators(roleOperations.delete) },
    { path: "/admin/upstream", GET: operators(upstreamOperations.show) },
    { path: "/admin/upstream/resume", POST: operators(upstreamOperations.resume) },
    { path: "/admin/audit", GET: people(auditOperations.list) },
    { path: "/admin/audit/export", GET: admin(may("exports", "handler"), auditOperations.export) },
    { path: "/admin/audit/:id", GET: people(auditOperations.show) },

    { path: "/", GET: (call) => dashboard.answerPage(call) },
    { path: "/assets/:file", GET: (call) => dashboard.answerAsset(call) },
    { path: "/client/", GET: (call) => clients.answerPage(call) },
    { path: "/client/:file", GET: (call) => clients.answerFile(call) },

    { path: "/openapi.json", GET: withOperation((call) => openApi.answer(call, routes), readOpenApi, []) },
    { path: "/docs", GET: (call) => reference.answerPage(call) },
    { path: "/docs/:file", GET: (call) => reference.answerFile(call) },

    { path: "/healthz", GET: open(checkLiveness) },
    { path: "/readyz", GET: open(checkReadiness) },
    { path: "/metrics", GET: open(readMetrics) },
  ];
  return routes;
}

/** The same endpoint with and without the community segment. */
function bothForms(path: string, methods: { readonly [M in Method]?: Handler }): Route[] {
  const others = Object.entries(methods).map(([method, handler]) => {
    const { operation } = handler;
    if (!operation) return [method, handler];
    const ofCommunity = { ...operation, id: `${operation.id}OfCommunity`, tag: "With a community" };
    return [method, Object.assign((call: Call) => handler(call), { operation: ofCommunity })];
  });
  return [
    { path: `/v2${path}`, ...methods },
    { path: `/v2/:community${path}`, ...Object.fromEntries(others) },
  ];
}
