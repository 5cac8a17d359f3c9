// Wires the handlers, the routes and the edges in front of them.
import type { NoticeBoard } from "../gateway/instances/notice-board.ts";
import { Edge, type EdgeParts } from "../http/edge.ts";
import { OpenApiHandler } from "../http/openapi/answer-openapi.ts";
import { CursorSealer, Pages } from "../http/requests/pages.ts";
import { createTargetFinder, TARGETS_MAX } from "../http/requests/target.ts";
import { isOperatorPath, type Route } from "../http/router.ts";
import { type Handlers, listRoutes } from "../http/routes.ts";
import type { SizeGauge } from "../http/service/metrics.ts";
import { AnswerObserver, EdgeMeter } from "../http/service/observe-answers.ts";
import type { RequestHandler, RequestHandlers } from "../http/socket/listen.ts";
import { ClientHandlers } from "../http/web/clients.ts";
import { Cors } from "../http/web/cors.ts";
import { DashboardHandlers } from "../http/web/dashboard.ts";
import { ReferenceHandlers } from "../http/web/reference.ts";
import { findBuiltFile } from "../instance/built-files.ts";
import { VERSION } from "../instance/version.ts";
import {
  type HttpWiring,
  wireAuthentication,
  wireCommands,
  wireGameHooks,
  wireReads,
  wireStatus,
} from "./wire-callers.ts";
import { wireMetrics, wireNotices, wireOperators, wireReadyz } from "./wire-operators.ts";

/** The handlers of both listeners. Without a second one, everybody's serves operators too. */
export type WiredHandlers = {
  readonly everybody: RequestHandlers;
  readonly operators: RequestHandlers;
  readonly notices: NoticeBoard;
  /** Ends the sockets that are no streams yet. */
  readonly stopSockets: () => void;
};

export function wireHttp(wiring: HttpWiring): WiredHandlers {
  const { log, secret } = wiring.basics;
  const cursors = new CursorSealer(secret);
  const pages = new Pages(cursors);
  const edgeMeter = new EdgeMeter();
  const authentication = wireAuthentication(wiring);
  const { findAddress } = authentication;
  const observer = new AnswerObserver({ meter: edgeMeter, usage: wiring.gateway.usage, log, findAddress });
  const reads = wireReads(wiring, authentication, cursors, observer);
  const { readServer, eventSocket } = reads.handlers;
  const commands = wireCommands(wiring, authentication, pages, readServer);
  const gameHooks = wireGameHooks(wiring, findAddress);
  const status = wireStatus(wiring, findAddress);
  const admin = wireOperators(wiring, authentication, pages, readServer);
  const wired = [authentication, reads, commands, gameHooks, status, admin];
  const sizes = wired.flatMap((each) => each.sizes);
  const notices = wireNotices(wiring, authentication);
  const handlers: Handlers = {
    ...authentication.handlers,
    ...reads.handlers,
    ...commands.handlers,
    ...gameHooks.handlers,
    ...status.handlers,
    ...admin.handlers,
    dashboard: new DashboardHandlers((name) => findBuiltFile(`dashboard/${name}`)),
    clients: new ClientHandlers({
      findFile: (name) => findBuiltFile(`clients/${name}`),
      findAddress: (call) => wiring.config.publicUrl ?? authentication.handlers.ownOrigin.find(call) ?? "",
    }),
    openApi: new OpenApiHandler(VERSION),
    reference: new ReferenceHandlers((name) => findBuiltFile(`reference/${name}`)),
    readyz: wireReadyz(wiring, authentication, notices),
    metrics: wireMetrics(wiring, authentication, { edgeMeter, hookMeter: gameHooks.hookMeter, sizes }),
  };
  const { everybody, operators, knownUrls } = wireEdges(wiring, handlers, observer);
  // Added last, because the edges are made from the handlers, and /metrics is one of them.
  sizes.push(knownUrls);
  return { everybody, operators, notices, stopSockets: () => eventSocket.stop() };
}

function wireEdges(
  { config, basics, resources, isDraining }: HttpWiring,
  handlers: Handlers,
  observer: AnswerObserver,
): Pick<WiredHandlers, "everybody" | "operators"> & { readonly knownUrls: SizeGauge } {
  const parts: Omit<EdgeParts, "findTarget"> = {
    cors: new Cors(config.corsOrigins),
    clock: resources.clock,
    log: basics.log,
    isDraining,
    isSecure: config.tls !== undefined,
    observe: (call, response) => observer.observe(call, response),
  };
  const routes = listRoutes(handlers);
  const operatorRoutes = routes.filter(({ path }) => isOperatorPath(path));
  const otherRoutes = routes.filter(({ path }) => !isOperatorPath(path));
  const forOthers = wireEdge(parts, otherRoutes);
  const forOperators = wireEdge(parts, operatorRoutes);
  const forCallers = config.admin && wireEdge(parts, listCallerRoutes(handlers));
  const forNobody = wireEdge(parts, []);
  const refuse = forNobody.handle;
  const operators = { handle: forOthers.handle, handleOperator: forOperators.handle, refuse };
  const edges = [forOthers, forOperators, forNobody, ...(forCallers ? [forCallers] : [])];
  return {
    everybody: forCallers ? { handle: forCallers.handle, handleOperator: refuse, refuse } : operators,
    operators,
    knownUrls: {
      name: "known_urls",
      size: () => edges.reduce((sum, { findTarget }) => sum + findTarget.size(), 0),
      max: edges.length * TARGETS_MAX,
    },
  };
}

function wireEdge(parts: Omit<EdgeParts, "findTarget">, routes: readonly Route[]) {
  const findTarget = createTargetFinder(routes);
  const edge = new Edge({ ...parts, findTarget });
  const handle: RequestHandler = (request, connection) => edge.handle(request, connection);
  return { handle, findTarget };
}

/** The routes of everybody's listener when operators have one of their own. */
function listCallerRoutes(handlers: Handlers): Route[] {
  const openApi = new OpenApiHandler(VERSION, "callers");
  const routes = listRoutes({ ...handlers, openApi, signIn: handlers.signIn.withoutAdmin() });
  return routes.filter(({ path }) => !isOperatorPath(path));
}
