// The edge: routes each request, finishes each response, and is the only place that turns an exception into an answer.
import { ArchiveUnavailable, ERRORS, refuse, StoreUnavailable } from "../core/errors.ts";
import type { MaybePromise } from "../core/maybe-promise.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import { createThrottle } from "../core/throttle.ts";
import { answerRefusal, STORE_UNAVAILABLE } from "./answers.ts";
import { Call, type Connection } from "./call.ts";
import type { Handler } from "./operation.ts";
import type { Target } from "./requests/target.ts";
import type { Method } from "./router.ts";
import { isSessionRoute } from "./steps/own-origin.ts";
import type { Cors } from "./web/cors.ts";

/** Version 1 is switched off: every request under /v1 gets it, with or without a key. */
const OBSOLETE = refuse(ERRORS.obsolete);
const STORE_FAULT_LOG_MS = 1_000;
/** One year, as the proxy samples in deploy/ have it. Other names below this one may have no TLS. */
const STRICT_TRANSPORT_SECURITY = "max-age=31536000";
const NOT_FOUND = refuse(ERRORS.notFound);
const ARCHIVE_UNAVAILABLE = refuse(
  ERRORS.unavailable,
  { retry_after: 1, details: { archive: "cannot be read or written" } },
  { "Retry-After": "1" },
);

export type EdgeParts = {
  readonly findTarget: (url: string) => Target;
  readonly cors: Cors;
  readonly clock: Clock;
  readonly log: Log;
  /** During a drain every answer has `Connection: close`. */
  readonly isDraining: () => boolean;
  /** Whether the listener terminates TLS. Browsers are then told to come back over TLS only. */
  readonly isSecure: boolean;
  /** Called with every answer before it is sent. */
  readonly observe: (call: Call, response: Response) => void;
};

export class Edge {
  readonly #throttleStoreFault = createThrottle(STORE_FAULT_LOG_MS);
  readonly #throttleArchiveFault = createThrottle(STORE_FAULT_LOG_MS);

  constructor(private readonly parts: EdgeParts) {}

  handle(request: Request, connection: Connection): MaybePromise<Response> {
    const target = this.parts.findTarget(request.url);
    const call = new Call(request, target, connection, this.parts.clock);
    if (!target.match) {
      return this.#finishUnhandled(call, answerRefusal(call, target.isLegacy ? OBSOLETE : NOT_FOUND));
    }
    const { route, allow } = target.match;
    const method = request.method === "HEAD" ? "GET" : request.method;
    const handler = route[method as Method];
    if (!handler) return this.#finishUnhandled(call, this.#answerWrongMethod(call, allow));
    const answer = this.#run(handler, call);
    return answer instanceof Promise ? this.#finishAsync(call, answer) : this.#finish(call, answer);
  }

  #answerWrongMethod(call: Call, allow: string): Response {
    const { request } = call;
    const isPreflight = request.method === "OPTIONS";
    const mayAsk = isPreflight && !isSessionRoute(call.target.routeName);
    const preflight = mayAsk ? this.parts.cors.answerPreflight(request, allow) : undefined;
    return preflight ?? answerRefusal(call, refuse(ERRORS.methodNotAllowed, undefined, { Allow: allow }));
  }

  #run(handler: Handler, call: Call): MaybePromise<Response> {
    try {
      return handler(call);
    } catch (error) {
      return this.#answerFault(call, error);
    }
  }

  async #finishAsync(call: Call, answer: Promise<Response>): Promise<Response> {
    call.isAsync = true;
    return this.#finish(call, await answer.catch((error) => this.#answerFault(call, error)));
  }

  #finishUnhandled(call: Call, answer: Response): Response {
    // After CONNECT the runtime takes further bytes for a tunnel, and never answers them.
    if (call.request.method === "CONNECT") answer.headers.set("Connection", "close");
    return this.#finish(call, answer);
  }

  #finish(call: Call, answer: Response): Response {
    const { cors, isDraining, isSecure, observe } = this.parts;
    if (!isSessionRoute(call.target.routeName)) cors.mark(call.request, answer);
    if (isSecure) answer.headers.set("Strict-Transport-Security", STRICT_TRANSPORT_SECURITY);
    if (isDraining()) answer.headers.set("Connection", "close");
    observe(call, answer);
    if (call.hasId) answer.headers.set("X-Request-Id", call.id);
    return answer;
  }

  #answerFault(call: Call, error: unknown): Response {
    const { log } = this.parts;
    const fields = { err: error, method: call.request.method, route: call.target.routeName };
    if (error instanceof StoreUnavailable) {
      const isArchive = error instanceof ArchiveUnavailable;
      const throttle = isArchive ? this.#throttleArchiveFault : this.#throttleStoreFault;
      throttle(call.now, (unlogged) => {
        const source = isArchive ? "archive" : "store";
        log.error({ ...fields, request_id: call.id, unlogged }, `the ${source} cannot answer`);
      });
      return answerRefusal(call, isArchive ? ARCHIVE_UNAVAILABLE : STORE_UNAVAILABLE, call.report);
    }
    log.error({ ...fields, request_id: call.id }, "unexpected failure while answering");
    return answerRefusal(call, refuse(ERRORS.internal, { request_id: call.id }), call.report);
  }
}
