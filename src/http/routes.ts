// The whole API on one page: every path, its methods, and what answers them. /v1 is judged before any of these.
import type { Admin } from "./admin.ts";
import type { Handler } from "./call.ts";
import type { OperatorOnly } from "./operator-only.ts";
import type { Route } from "./router.ts";

export type Handlers = {
  readonly readServer: Handler;
  readonly tellAlive: Handler;
  readonly tellReady: Handler;
  readonly tellMetrics: Handler;
  /** The step that asks for the master key. */
  readonly operator: OperatorOnly;
  readonly admin: Admin;
};

export function listRoutes({ operator, admin, ...handlers }: Handlers): Route[] {
  return [
    { path: "/v2/game/server", GET: handlers.readServer },
    { path: "/v2/:community/game/server", GET: handlers.readServer },

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
    { path: "/admin/audit", GET: operator(admin.listAudit) },

    { path: "/healthz", GET: handlers.tellAlive },
    { path: "/readyz", GET: handlers.tellReady },
    { path: "/metrics", GET: handlers.tellMetrics },
  ];
}
