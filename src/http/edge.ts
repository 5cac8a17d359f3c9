// The edge: from a raw request to its route and back. The only place where an exception becomes an answer.
import type { Server } from "bun";
import { ERRORS, refuse, StoreUnavailable } from "../core/errors.ts";
import type { Clock, Log } from "../core/ports.ts";
import { answerRefusal } from "./answers.ts";
import { Call, type Handler, type Target } from "./call.ts";
import type { Cors } from "./cors.ts";
import { answerLegacyV1 } from "./legacy-v1.ts";
import { createRouter, isLegacyPath, type Method, type Route } from "./router.ts";

const NOT_FOUND = refuse(ERRORS.notFound);
const UNAVAILABLE = refuse(ERRORS.unavailable, { retry_after: 1 }, { "Retry-After": "1" });
const NO_PARAMS = Object.freeze({});

/** Told about every answer, after it was made. `route` is the path's pattern. */
export type Watcher = (call: Call, route: string, response: Response) => void;

export type EdgeParts = {
  readonly routes: readonly Route[];
  readonly cors: Cors;
  readonly clock: Clock;
  readonly log: Log;
  readonly watch: Watcher;
};

export type Edge = (request: Request, server: Server<undefined>) => Response | Promise<Response>;

export function createEdge({ routes, cors, clock, log, watch }: EdgeParts): Edge {
  const findRoute = createRouter(routes);

  return (request, server) => {
    const { path, query } = splitUrl(request.url);
    const now = clock();
    const match = findRoute(path);
    if (!match) {
      const call = new Call(request, { params: NO_PARAMS, query }, server, now);
      if (isLegacyPath(path)) return finish(call, "/v1", answerLegacyV1(call));
      return finish(call, "none", answerRefusal(call, NOT_FOUND));
    }
    const target: Target = { params: match.params, query };
    const call = new Call(request, target, server, now);
    const method = request.method === "HEAD" ? "GET" : request.method;
    const handler = match.route[method as Method];
    if (!handler) {
      const preflight = method === "OPTIONS" ? cors.answerPreflight(request, match.allow) : undefined;
      const wrongMethod = refuse(ERRORS.methodNotAllowed, undefined, { Allow: match.allow });
      return finish(call, match.route.path, preflight ?? answerRefusal(call, wrongMethod));
    }
    return finish(call, match.route.path, run(handler, call));
  };

  function run(handler: Handler, call: Call): Response | Promise<Response> {
    try {
      const answer = handler(call);
      return answer instanceof Promise ? answer.catch((error) => answerFault(call, error)) : answer;
    } catch (error) {
      return answerFault(call, error);
    }
  }

  function finish(
    call: Call,
    route: string,
    answer: Response | Promise<Response>,
  ): Response | Promise<Response> {
    if (answer instanceof Promise) return answer.then((response) => finish(call, route, response));
    cors.mark(call.request, answer);
    watch(call, route, answer);
    return answer;
  }

  function answerFault(call: Call, error: unknown): Response {
    const isStoreFault = error instanceof StoreUnavailable;
    log.error(
      { err: error, request_id: call.id, method: call.request.method, path: splitUrl(call.request.url).path },
      isStoreFault ? "the store cannot answer" : "unexpected failure while answering",
    );
    const refusal = isStoreFault ? UNAVAILABLE : refuse(ERRORS.internal, { request_id: call.id });
    const response = answerRefusal(call, refusal);
    response.headers.set("X-Request-Id", call.id);
    return response;
  }
}

/**
 * The runtime gives an absolute URL, or just the path when the Host header makes no URL; `new URL` would throw then.
 * A fragment has no meaning in a request and is left out.
 */
export function splitUrl(url: string): { path: string; query: string } {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", "https://".length);
  if (start === -1) return { path: "", query: "" };
  const hash = url.indexOf("#", start);
  const end = hash === -1 ? url.length : hash;
  const mark = url.indexOf("?", start);
  if (mark === -1 || mark > end) return { path: url.slice(start, end), query: "" };
  return { path: url.slice(start, mark), query: url.slice(mark + 1, end) };
}
