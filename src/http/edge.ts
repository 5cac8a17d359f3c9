// The edge: from a raw request to its route and back. The only place where an exception becomes an answer.
import { ERRORS, refuse, StoreUnavailable } from "../core/errors.ts";
import type { Clock, Log, MaybePromise } from "../core/ports.ts";
import { createSampler } from "../core/sampler.ts";
import { answerRefusal } from "./answers.ts";
import { Call, type Connection, type Handler } from "./call.ts";
import type { Cors } from "./cors.ts";
import { answerLegacyV1 } from "./legacy-v1.ts";
import type { Method } from "./router.ts";
import type { Target } from "./target.ts";

const STORE_FAULT_LOG_MS = 1_000;
const NOT_FOUND = refuse(ERRORS.notFound);
const UNAVAILABLE = refuse(ERRORS.unavailable, { retry_after: 1 }, { "Retry-After": "1" });

/** Told about every answer, after it was made. */
export type Watcher = (call: Call, response: Response) => void;

export type EdgeParts = {
  readonly findTarget: (url: string) => Target;
  readonly cors: Cors;
  readonly clock: Clock;
  readonly log: Log;
  /** While true, every answer asks its caller to come back on a new connection, to whoever listens then. */
  readonly isDraining: () => boolean;
  readonly watch: Watcher;
};

export type Edge = (request: Request, connection: Connection) => MaybePromise<Response>;

export function createEdge({ findTarget, cors, clock, log, isDraining, watch }: EdgeParts): Edge {
  const noteStoreFault = createSampler(STORE_FAULT_LOG_MS);

  return (request, connection) => {
    const target = findTarget(request.url);
    const call = new Call(request, target, connection, clock());
    if (!target.match) {
      return finish(call, target.isLegacy ? answerLegacyV1(call) : answerRefusal(call, NOT_FOUND));
    }
    const { route, allow } = target.match;
    const method = request.method === "HEAD" ? "GET" : request.method;
    const handler = route[method as Method];
    if (handler) {
      const answer = run(handler, call);
      return answer instanceof Promise ? finishLate(call, answer) : finish(call, answer);
    }
    const preflight = method === "OPTIONS" ? cors.answerPreflight(request, allow) : undefined;
    return finish(
      call,
      preflight ?? answerRefusal(call, refuse(ERRORS.methodNotAllowed, undefined, { Allow: allow })),
    );
  };

  function run(handler: Handler, call: Call): MaybePromise<Response> {
    try {
      return handler(call);
    } catch (error) {
      return answerFault(call, error);
    }
  }

  async function finishLate(call: Call, answer: Promise<Response>): Promise<Response> {
    call.isLate = true;
    return finish(call, await answer.catch((error) => answerFault(call, error)));
  }

  function finish(call: Call, answer: Response): Response {
    cors.mark(call.request, answer);
    if (isDraining()) answer.headers.set("Connection", "close");
    watch(call, answer);
    if (call.hasId) answer.headers.set("X-Request-Id", call.id);
    return answer;
  }

  function answerFault(call: Call, error: unknown): Response {
    const fields = { err: error, method: call.request.method, route: call.target.routeName };
    if (error instanceof StoreUnavailable) {
      noteStoreFault(call.now, (unlogged) => {
        log.error({ ...fields, request_id: call.id, unlogged }, "the store cannot answer");
      });
      return answerRefusal(call, UNAVAILABLE, call.report);
    }
    log.error({ ...fields, request_id: call.id }, "unexpected failure while answering");
    return answerRefusal(call, refuse(ERRORS.internal, { request_id: call.id }), call.report);
  }
}
