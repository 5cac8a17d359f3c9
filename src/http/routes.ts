// The whole API on one page: every path, its methods, and what answers them. /v1 is judged before any of these.
import type { Admin } from "./admin.ts";
import type { Handler } from "./call.ts";
import {
  type CallerHandler,
  type CallerOnly,
  COMMANDING,
  FOLLOWING_UP,
  INQUIRING,
  READING,
} from "./caller-only.ts";
import type { Commands } from "./commands.ts";
import type { Dashboard } from "./dashboard.ts";
import type { OperatorOnly } from "./operator-only.ts";
import type { Reference } from "./reference/reference.ts";
import type { Route } from "./router.ts";

export type Handlers = {
  /** The steps that ask for an API key, count, and judge its rights. */
  readonly caller: CallerOnly;
  readonly readServer: CallerHandler;
  readonly tellKey: CallerHandler;
  readonly commands: Commands;
  readonly tellAlive: Handler;
  readonly tellReady: Handler;
  readonly tellMetrics: Handler;
  /** The step that asks for the master key. */
  readonly operator: OperatorOnly;
  readonly admin: Admin;
  /** Files for anybody: the page has no secrets and asks for a key itself. */
  readonly dashboard: Dashboard;
  readonly tellOpenApi: Handler;
  readonly reference: Reference;
};

export function listRoutes({
  caller,
  commands,
  operator,
  admin,
  dashboard,
  reference,
  ...handlers
}: Handlers): Route[] {
  return [
    ...bothForms("/game/server", { GET: caller(READING, handlers.readServer) }),
    ...bothForms("/game/key", { GET: caller(INQUIRING, handlers.tellKey) }),
    ...bothForms("/game/server/command", {
      GET: caller(FOLLOWING_UP, commands.list),
      POST: caller(COMMANDING, commands.submit),
    }),
    ...bothForms("/game/server/command/:id", {
      GET: caller(FOLLOWING_UP, commands.show),
      DELETE: caller(FOLLOWING_UP, commands.cancel),
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

    { path: "/openapi.json", GET: handlers.tellOpenApi },
    { path: "/docs", GET: reference.page },
    { path: "/docs/:file", GET: reference.file },

    { path: "/healthz", GET: handlers.tellAlive },
    { path: "/readyz", GET: handlers.tellReady },
    { path: "/metrics", GET: handlers.tellMetrics },
  ];
}

/** With and without the community segment: the same endpoint. */
function bothForms(path: string, methods: Omit<Route, "path">): Route[] {
  return ["/v2", "/v2/:community"].map((base) => ({ path: base + path, ...methods }));
}
