// The whole API on one page: every path, its methods, and what answers them. /v1 is judged before any of these.
import type { Handler } from "./call.ts";
import type { Route } from "./router.ts";

export type Handlers = {
  readonly readServer: Handler;
  readonly tellAlive: Handler;
  readonly tellReady: Handler;
  readonly tellMetrics: Handler;
};

export function listRoutes(handlers: Handlers): Route[] {
  return [
    { path: "/v2/game/server", GET: handlers.readServer },
    { path: "/v2/:community/game/server", GET: handlers.readServer },
    { path: "/healthz", GET: handlers.tellAlive },
    { path: "/readyz", GET: handlers.tellReady },
    { path: "/metrics", GET: handlers.tellMetrics },
  ];
}
