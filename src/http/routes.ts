// The whole API on one page: every path, its methods, and their handlers. Requests under /v1 are answered before routing.
import type { HistoryQuestion } from "../core/history/history-questions.ts";
import type { AdminHandlers } from "./admin/admin-handlers.ts";
import type { Handler } from "./call.ts";
import {
  type CallerHandler,
  type CallerSteps,
  MANAGING_COMMANDS,
  type Purpose,
  READING,
  READING_MAP,
  READING_SERVER,
  REMEMBERING_DEVICE,
  SENDING_COMMAND,
  toHistoryPurpose,
} from "./caller-steps.ts";
import type { CommandHandlers } from "./commands.ts";
import type { DashboardHandlers } from "./dashboard.ts";
import type { EventSocketHandler } from "./event-socket.ts";
import type { EventStreamHandler } from "./event-stream.ts";
import type { EventHandlers } from "./events.ts";
import { FACADE_V1, type FacadeHandlers } from "./facade/facade-handlers.ts";
import { inGameForm } from "./facade/game-form.ts";
import type { GameHookHandler } from "./game-hooks.ts";
import { answerHealthz, type ReadyzHandler } from "./health.ts";
import type { HistoryHandlers } from "./history.ts";
import type { MapHandlers } from "./maps.ts";
import type { MetricsHandler } from "./metrics.ts";
import type { OpenApiHandler } from "./openapi/answer-openapi.ts";
import type { OperatorHandler, OperatorStep } from "./operator-step.ts";
import type { OwnKeyHandler } from "./own-key.ts";
import type { OwnOrigin } from "./own-origin.ts";
import type { ReadServerHandler } from "./read-server.ts";
import type { ReferenceHandlers } from "./reference/reference.ts";
import type { Route } from "./router.ts";
import type { SessionHandlers } from "./session.ts";
import type { StatusHandlers } from "./status.ts";

export type Handlers = {
  /** The steps that check the API key, count the request, and check the key's rights. */
  readonly callerSteps: CallerSteps;
  readonly readServer: ReadServerHandler;
  readonly ownKey: OwnKeyHandler;
  readonly events: EventHandlers;
  readonly eventStream: EventStreamHandler;
  /** Takes the steps of the caller by itself: the token may come in the first frame. */
  readonly eventSocket: EventSocketHandler;
  readonly history: HistoryHandlers;
  readonly maps: MapHandlers;
  readonly commands: CommandHandlers;
  /** For clients of the game API: the same steps, with its form of keys and errors. */
  readonly facade: FacadeHandlers;
  /** Open to everybody: the body's signature says that it is from the game. */
  readonly gameHooks: GameHookHandler;
  /** The step that lets only our own page through. */
  readonly ownOrigin: OwnOrigin;
  /** Open to everybody: only what the operator has made public, with a limit for each address. */
  readonly status: StatusHandlers;
  readonly session: SessionHandlers;
  readonly readyz: ReadyzHandler;
  /** Checks its token by itself: the master key, or the one for metrics. */
  readonly metrics: MetricsHandler;
  /** The step that checks the master key. */
  readonly operatorStep: OperatorStep;
  readonly admin: AdminHandlers;
  /** Open to everybody: the files hold no secrets, and the page itself asks for a key. */
  readonly dashboard: DashboardHandlers;
  readonly openApi: OpenApiHandler;
  readonly reference: ReferenceHandlers;
};

export function listRoutes({
  callerSteps,
  readServer,
  ownKey,
  events,
  eventStream,
  eventSocket,
  history,
  maps,
  commands,
  facade,
  ownOrigin,
  session,
  operatorStep,
  admin,
  dashboard,
  openApi,
  reference,
  gameHooks,
  status,
  readyz,
  metrics,
}: Handlers): Route[] {
  const caller = (purpose: Purpose, handler: CallerHandler) => callerSteps.before(purpose, handler);
  const historyCaller = (question: HistoryQuestion) => {
    const purpose = toHistoryPurpose(question);
    return caller(purpose, (call, caller) => history.answer(question, purpose, call, caller));
  };
  const client = (purpose: Purpose, handler: CallerHandler) => inGameForm(caller(purpose, handler));
  const operator = (handler: OperatorHandler) => operatorStep.before(handler);
  const ownPage = (handler: Handler) => ownOrigin.before(handler);
  const routes: Route[] = [
    ...bothForms("/game/server", {
      GET: caller(READING_SERVER, (call, caller) => readServer.answer(call, caller)),
    }),
    ...bothForms("/game/key", { GET: caller(READING, (call, caller) => ownKey.answer(call, caller)) }),
    ...bothForms("/game/server/events", {
      GET: caller(READING, (call, caller) => events.answer(call, caller)),
    }),
    ...bothForms("/game/server/events/stream", {
      GET: caller(READING, (call, caller) => eventStream.answer(call, caller)),
    }),
    ...bothForms("/game/server/events/socket", { GET: (call) => eventSocket.answer(call) }),
    ...bothForms("/game/server/history/players", { GET: historyCaller("players") }),
    ...bothForms("/game/server/history/sessions", { GET: historyCaller("sessions") }),
    ...bothForms("/game/server/history/playtime", { GET: historyCaller("playtime") }),
    ...bothForms("/game/server/history/staff", { GET: historyCaller("staff") }),
    ...bothForms("/game/server/history/peaks", { GET: historyCaller("peaks") }),
    ...bothForms("/game/server/map", {
      GET: caller(READING_MAP, (call, caller) => maps.answer(call, caller)),
    }),
    ...bothForms("/game/server/map/image", {
      GET: caller(READING_MAP, (call, caller) => maps.answerImage(call, caller)),
    }),
    ...bothForms("/game/server/command", {
      GET: caller(MANAGING_COMMANDS, (call, caller) => commands.list(call, caller)),
      POST: caller(SENDING_COMMAND, (call, caller) => commands.submit(call, caller)),
    }),
    ...bothForms("/game/server/command/:id", {
      GET: caller(MANAGING_COMMANDS, (call, caller) => commands.show(call, caller)),
      DELETE: caller(MANAGING_COMMANDS, (call, caller) => commands.cancel(call, caller)),
    }),

    { path: "/v2/server", GET: client(READING, (call, caller) => facade.readServer(call, caller)) },
    {
      path: "/v2/server/command",
      POST: client(SENDING_COMMAND, (call, caller) => facade.send(call, caller)),
    },
    ...FACADE_V1.map(({ path, purpose, view }) => ({
      path,
      GET: client(purpose, (call, caller) => facade.readV1(call, caller, view)),
    })),
    {
      path: "/erlc/v1/server/bans",
      GET: client(READING, (call, caller) => facade.refuseBans(call, caller)),
    },
    {
      path: "/erlc/v1/server/command",
      POST: client(SENDING_COMMAND, (call, caller) => facade.send(call, caller)),
    },

    { path: "/hooks/game", POST: (call) => gameHooks.answer(call) },
    { path: "/status/:slug.json", GET: (call) => status.answerJson(call) },
    { path: "/status/:slug", GET: (call) => status.answerPage(call) },
    { path: "/status/:slug/badge.svg", GET: (call) => status.answerBadge(call) },
    { path: "/status/:slug/badge.json", GET: (call) => status.answerBadgeJson(call) },
    { path: "/status/:slug/feed.atom", GET: (call) => status.answerFeed(call) },
    // Only these take a cookie, and CORS never applies to them.
    {
      path: "/session",
      POST: ownPage((call) => session.renew(call)),
      DELETE: ownPage((call) => session.end(call)),
    },
    {
      path: "/session/devices",
      POST: ownPage(caller(REMEMBERING_DEVICE, (call, caller) => session.remember(call, caller))),
    },
    { path: "/session/links", POST: ownPage((call) => session.redeem(call)) },

    {
      path: "/admin/servers",
      GET: operator((call) => admin.servers.list(call)),
      POST: operator((call, actor) => admin.servers.create(call, actor)),
    },
    {
      path: "/admin/servers/:id",
      GET: operator((call) => admin.servers.show(call)),
      PATCH: operator((call, actor) => admin.servers.change(call, actor)),
      DELETE: operator((call, actor) => admin.servers.delete(call, actor)),
    },
    { path: "/admin/servers/:id/info", GET: operator((call) => admin.servers.readInfo(call)) },
    { path: "/admin/servers/:id/events", GET: operator((call) => events.answerOperator(call)) },
    {
      path: "/admin/servers/:id/events/stream",
      GET: operator((call) => eventStream.answerOperator(call)),
    },
    {
      path: "/admin/servers/:id/history/players",
      GET: operator((call) => history.answerOperator("players", call)),
    },
    {
      path: "/admin/servers/:id/history/sessions",
      GET: operator((call) => history.answerOperator("sessions", call)),
    },
    {
      path: "/admin/servers/:id/history/playtime",
      GET: operator((call) => history.answerOperator("playtime", call)),
    },
    {
      path: "/admin/servers/:id/history/staff",
      GET: operator((call) => history.answerOperator("staff", call)),
    },
    {
      path: "/admin/servers/:id/history/peaks",
      GET: operator((call) => history.answerOperator("peaks", call)),
    },
    {
      path: "/admin/servers/:id/alerts",
      GET: operator((call) => admin.alerts.show(call)),
      PUT: operator((call, actor) => admin.alerts.set(call, actor)),
    },
    { path: "/admin/servers/:id/map", GET: operator((call) => maps.answerOperator(call)) },
    {
      path: "/admin/servers/:id/map-image",
      GET: operator((call) => maps.answerImageOperator(call)),
      PUT: operator((call, actor) => maps.setImage(call, actor)),
      DELETE: operator((call, actor) => maps.removeImage(call, actor)),
    },
    {
      path: "/admin/keys",
      GET: operator((call) => admin.keys.list(call)),
      POST: operator((call, actor) => admin.keys.create(call, actor)),
    },
    {
      path: "/admin/keys/:id",
      GET: operator((call) => admin.keys.show(call)),
      PATCH: operator((call, actor) => admin.keys.change(call, actor)),
      DELETE: operator((call, actor) => admin.keys.revoke(call, actor)),
    },
    { path: "/admin/keys/:id/rotate", POST: operator((call, actor) => admin.keys.rotate(call, actor)) },
    { path: "/admin/keys/:id/devices", GET: operator((call) => admin.devices.list(call)) },
    {
      path: "/admin/keys/:id/devices/:device",
      DELETE: operator((call, actor) => admin.devices.end(call, actor)),
    },
    { path: "/admin/keys/:id/links", POST: operator((call, actor) => admin.devices.makeLink(call, actor)) },
    { path: "/admin/blocks", GET: operator((call) => admin.blocks.list(call)) },
    { path: "/admin/blocks/:id", DELETE: operator((call, actor) => admin.blocks.lift(call, actor)) },
    {
      path: "/admin/webhooks",
      GET: operator((call) => admin.webhooks.list(call)),
      POST: operator((call, actor) => admin.webhooks.create(call, actor)),
    },
    {
      path: "/admin/webhooks/:id",
      GET: operator((call) => admin.webhooks.show(call)),
      PATCH: operator((call, actor) => admin.webhooks.change(call, actor)),
      DELETE: operator((call, actor) => admin.webhooks.delete(call, actor)),
    },
    {
      path: "/admin/webhooks/:id/rotate",
      POST: operator((call, actor) => admin.webhooks.rotate(call, actor)),
    },
    { path: "/admin/webhooks/:id/test", POST: operator((call) => admin.webhooks.test(call)) },
    {
      path: "/admin/webhooks/:id/redeliver",
      POST: operator((call, actor) => admin.webhooks.redeliver(call, actor)),
    },
    { path: "/admin/webhooks/:id/deliveries", GET: operator((call) => admin.webhooks.listDeliveries(call)) },
    { path: "/admin/players/:id", DELETE: operator((call, actor) => admin.players.forget(call, actor)) },
    { path: "/admin/commands", GET: operator((call) => admin.commands.list(call)) },
    {
      path: "/admin/commands/:id",
      GET: operator((call) => admin.commands.show(call)),
      DELETE: operator((call, actor) => admin.commands.cancel(call, actor)),
    },
    { path: "/admin/upstream", GET: operator((call) => admin.upstream.show(call)) },
    {
      path: "/admin/upstream/resume",
      POST: operator((call, actor) => admin.upstream.resume(call, actor)),
    },
    { path: "/admin/audit", GET: operator((call) => admin.audit.list(call)) },
    { path: "/admin/audit/:id", GET: operator((call) => admin.audit.show(call)) },

    { path: "/", GET: (call) => dashboard.answerPage(call) },
    { path: "/assets/:file", GET: (call) => dashboard.answerAsset(call) },

    { path: "/openapi.json", GET: (call) => openApi.answer(call, routes) },
    { path: "/docs", GET: (call) => reference.answerPage(call) },
    { path: "/docs/:file", GET: (call) => reference.answerFile(call) },

    { path: "/healthz", GET: answerHealthz },
    { path: "/readyz", GET: (call) => readyz.answer(call) },
    { path: "/metrics", GET: (call) => metrics.answer(call) },
  ];
  return routes;
}

/** The same endpoint with and without the community segment. */
function bothForms(path: string, methods: Omit<Route, "path">): Route[] {
  return ["/v2", "/v2/:community"].map((base) => ({ path: base + path, ...methods }));
}
