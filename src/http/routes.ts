// The whole API on one page: every path, its methods, and what answers them. /v1 is judged before any of these.
import type { Admin } from "./admin.ts";
import type { Handler } from "./call.ts";
import {
  type CallerHandler,
  type CallerSteps,
  COMMANDING,
  FOLLOWING_UP,
  INQUIRING,
  type Purpose,
  READING,
} from "./caller-steps.ts";
import type { CommandHandlers } from "./commands.ts";
import type { Dashboard } from "./dashboard.ts";
import { answerHealthz } from "./health.ts";
import type { OpenApiHandler } from "./openapi/answer-openapi.ts";
import type { OperatorOnly } from "./operator-only.ts";
import { answerOwnKey } from "./own-key.ts";
import type { Reference } from "./reference/reference.ts";
import type { Route } from "./router.ts";

export type Handlers = {
  /** The steps that ask for an API key, count, and judge its rights. */
  readonly callerSteps: CallerSteps;
  readonly readServer: CallerHandler;
  readonly commands: CommandHandlers;
  readonly readyz: Handler;
  readonly metrics: Handler;
  /** The step that asks for the master key. */
  readonly operator: OperatorOnly;
  readonly admin: Admin;
  /** Files for anybody: the page has no secrets and asks for a key itself. */
  readonly dashboard: Dashboard;
  readonly openApi: OpenApiHandler;
  readonly reference: Reference;
};

export function listRoutes({
  callerSteps,
  readServer,
  commands,
  operator,
  admin,
  dashboard,
  openApi,
  reference,
  readyz,
  metrics,
}: Handlers): Route[] {
  const caller = (purpose: Purpose, handler: CallerHandler) => callerSteps.before(purpose, handler);
  const routes: Route[] = [
    ...bothForms("/game/server", { GET: caller(READING, readServer) }),
    ...bothForms("/game/key", { GET: caller(INQUIRING, answerOwnKey) }),
    ...bothForms("/game/server/command", {
      GET: caller(FOLLOWING_UP, (call, caller) => commands.list(call, caller)),
      POST: caller(COMMANDING, (call, caller) => commands.submit(call, caller)),
    }),
    ...bothForms("/game/server/command/:id", {
      GET: caller(FOLLOWING_UP, (call, caller) => commands.show(call, caller)),
      DELETE: caller(FOLLOWING_UP, (call, caller) => commands.cancel(call, caller)),
    }),

    { path: "/admin/servers", GET: operator(admin.listServers), POST: operator(admin.createServer) },
    {
      path: "/admin/servers/:id",
      GET: operator(admin.showServer),
      PATCH: operator(admin.changeServer),
      DELETE: operator(admin.deleteServer),
    },
    { path: "/admin/keys", GET: operator(admin.listKeys), POST: operator(admin.createKey) },
    {
      path: "/admin/keys/:id",
      GET: operator(admin.showKey),
      PATCH: operator(admin.changeKey),
      DELETE: operator(admin.revokeKey),
    },
    { path: "/admin/keys/:id/rotate", POST: operator(admin.rotateKey) },
    { path: "/admin/blocks", GET: operator(admin.listBlocks) },
    { path: "/admin/blocks/:id", DELETE: operator(admin.liftBlock) },
    { path: "/admin/commands", GET: operator(admin.listCommands) },
    {
      path: "/admin/commands/:id",
      GET: operator(admin.showCommand),
      DELETE: operator(admin.cancelCommand),
    },
    { path: "/admin/audit", GET: operator(admin.listAudit) },

    { path: "/", GET: dashboard.page },
    { path: "/assets/:file", GET: dashboard.asset },

    { path: "/openapi.json", GET: (call) => openApi.answer(call, routes) },
    { path: "/docs", GET: reference.page },
    { path: "/docs/:file", GET: reference.file },

    { path: "/healthz", GET: answerHealthz },
    { path: "/readyz", GET: readyz },
    { path: "/metrics", GET: metrics },
  ];
  return routes;
}

/** With and without the community segment: the same endpoint. */
function bothForms(path: string, methods: Omit<Route, "path">): Route[] {
  return ["/v2", "/v2/:community"].map((base) => ({ path: base + path, ...methods }));
}
