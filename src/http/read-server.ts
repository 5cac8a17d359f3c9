// GET /v2/game/server, with and without the community segment: answers with the state of the caller's server.
import { ERRORS, isRefusal, type Refusal } from "../core/errors.ts";
import type { GameServer } from "../core/game-server.ts";
import type { MaybePromise } from "../core/maybe-promise.ts";
import { memoize } from "../core/memoize.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { LimitReport } from "../gateway/keys/admit.ts";
import type { Relay } from "../gateway/readings/relay.ts";
import type { Reading } from "../gateway/readings/server-status.ts";
import type { Body } from "../gateway/readings/snapshot.ts";
import { answerRefusal, LIMIT_BUCKET, LIMIT_TEXT, toResetSeconds } from "./answers.ts";
import type { Call } from "./call.ts";
import { type Caller, type CallerSteps, READING_SERVER } from "./caller-steps.ts";
import { ACCEPT_ENCODING_LENGTH_MAX, acceptsGzip, isMatchingEtag } from "./conditional.ts";
import { NO_SNIFFING } from "./page-headers.ts";

type Outcome = Awaited<ReturnType<Relay["read"]>>;

/** Up to this size the runtime sends the headers and body of an asynchronous answer together. */
const SENT_TOGETHER_BYTES_MAX = 15_000;
/** Up to this size a streamed body fits into the socket's buffer. The runtime must know the length of a larger one. */
const STREAMED_BYTES_MAX = 32_768;

/** Cached, because clients send the same few values again and again. */
export const wantsGzip = memoize(acceptsGzip, 200, ACCEPT_ENCODING_LENGTH_MAX);

export class ReadServerHandler {
  readonly #relay: Pick<Relay, "read" | "longestWaitMs">;
  readonly #callerSteps: Pick<CallerSteps, "recheck">;
  readonly #clock: Clock;

  constructor(
    relay: Pick<Relay, "read" | "longestWaitMs">,
    callerSteps: Pick<CallerSteps, "recheck">,
    clock: Clock,
  ) {
    this.#relay = relay;
    this.#callerSteps = callerSteps;
    this.#clock = clock;
  }

  /** Answers at once from a fresh snapshot: a promise for every request would cost more than the answer. */
  answer(call: Call, { server, report }: Caller): MaybePromise<Response> {
    const outcome = this.#relay.read(server, call.now);
    return outcome instanceof Promise
      ? this.#answerLater(call, outcome, report)
      : answerOutcome(call, outcome, report, call.now);
  }

  /** The same for an operator, who has no key and no limit. */
  async answerOperator(call: Call, server: GameServer): Promise<Response> {
    const outcome = await this.#wait(call, this.#relay.read(server, call.now));
    const response = answerOutcome(call, outcome, null, this.#clock());
    for (const name of ["X-RateLimit-Limit", "X-RateLimit-Bucket"]) response.headers.delete(name);
    return response;
  }

  async #answerLater(call: Call, pending: Promise<Outcome>, report: LimitReport | null): Promise<Response> {
    const outcome = await this.#wait(call, pending);
    const now = this.#clock();
    // The operator may have revoked or narrowed the key while the request waited.
    const key = await this.#callerSteps.recheck(call, READING_SERVER, now);
    if (isRefusal(key)) return answerRefusal(call, key, isUncounted(key) ? null : report);
    return answerOutcome(call, outcome, report, now);
  }

  async #wait(call: Call, outcome: MaybePromise<Outcome>): Promise<Outcome> {
    // Twice: a request may wait in vain for another instance, and then for our own call.
    call.extendIdleTimeout(2 * this.#relay.longestWaitMs);
    try {
      return await outcome;
    } finally {
      call.resetIdleTimeout();
    }
  }
}

/** An answer about the token itself never has the headers of the limit. */
function isUncounted({ refused }: Refusal): boolean {
  return refused.status === ERRORS.invalidToken.status;
}

function answerOutcome(call: Call, outcome: Outcome, report: LimitReport | null, now: number): Response {
  if (isRefusal(outcome)) return answerRefusal(call, outcome, report);
  return answerReading(call, outcome, outcome.snapshot.body(call.target.sections), report, now);
}

function answerReading(
  call: Call,
  reading: Reading,
  body: Body,
  report: LimitReport | null,
  now: number,
): Response {
  const { headers: requested } = call.request;
  const isKnown = isMatchingEtag(requested.get("if-none-match"), body.etag);
  const isPacked = body.isCompressible && !isKnown && wantsGzip(requested.get("accept-encoding") ?? "");
  const packed = isPacked ? body.gzipped : null;
  const headers = headersOf(body);
  const response = isKnown
    ? new Response(null, { status: 304, headers })
    : new Response(toPayload(call, packed ?? body.bytes), { headers });
  const ageMs = reading.isHit ? now - reading.snapshot.fetchedAt : 0;
  if (ageMs >= 1000) response.headers.set("Age", String(Math.floor(ageMs / 1000)));
  if (report) {
    response.headers.set("X-RateLimit-Remaining", String(report.remaining));
    response.headers.set("X-RateLimit-Reset", toResetSeconds(report.resetAt));
  }
  if (!reading.isHit) response.headers.set("X-Cache", "miss");
  if (packed) response.headers.set("Content-Encoding", "gzip");
  return response;
}

/**
 * Works around a slow path of the runtime: it sends the headers of a larger asynchronous answer in many small packets, unless
 * the body is a stream. The cost is a chunked answer instead of one with Content-Length.
 */
function toPayload(call: Call, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | ReadableStream {
  const isStreamed =
    call.isAsync && bytes.length > SENT_TOGETHER_BYTES_MAX && bytes.length <= STREAMED_BYTES_MAX;
  if (!isStreamed || call.request.method === "HEAD") return bytes;
  return new ReadableStream({
    type: "direct",
    pull(controller) {
      controller.write(bytes);
      controller.end();
    },
  });
}

/** The headers of a cache hit, cached by body: copying them is cheaper than building them from a list. */
const hitHeaders = new WeakMap<Body, Headers>();

function headersOf(body: Body): Headers {
  const cached = hitHeaders.get(body);
  if (cached) return cached;
  const headers = new Headers({
    "Content-Type": "application/json",
    "Cache-Control": "private, no-cache",
    ...NO_SNIFFING,
    Vary: "Accept-Encoding",
    ETag: body.etag,
    Age: "0",
    "X-Cache": "hit",
    "X-RateLimit-Limit": LIMIT_TEXT,
    "X-RateLimit-Bucket": LIMIT_BUCKET,
  });
  hitHeaders.set(body, headers);
  return headers;
}
