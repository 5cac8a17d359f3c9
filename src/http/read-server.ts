// GET /v2/game/server, with and without the community segment: answers with the state of the caller's server.
import type { Grant } from "../core/api-key.ts";
import { isRefusal } from "../core/errors.ts";
import type { GameServer } from "../core/game-server.ts";
import type { MaybePromise } from "../core/maybe-promise.ts";
import type { Clock } from "../core/ports/clock.ts";
import { LIMIT_BUCKET } from "../core/rate-limit.ts";
import { ALL_SECTIONS, type SectionSet } from "../core/sections.ts";
import type { Body } from "../gateway/body.ts";
import type { LimitReport } from "../gateway/keys/admit.ts";
import type { Relay } from "../gateway/readings/relay.ts";
import type { Reading } from "../gateway/readings/server-status.ts";
import type { Snapshot } from "../gateway/readings/snapshot.ts";
import { answerLateRefusal, answerRefusal, LIMIT_TEXT, toResetSeconds } from "./answers.ts";
import type { Call } from "./call.ts";
import { type Caller, type CallerSteps, type Purpose, READING_SERVER } from "./caller-steps.ts";
import { isMatchingEtag } from "./conditional.ts";
import { NO_SNIFFING } from "./page-headers.ts";
import { findGzipped, TOO_MUCH_UNSENT, toPayload } from "./send-body.ts";
import type { UnsentAnswers } from "./unsent-answers.ts";

type Outcome = Awaited<ReturnType<Relay["read"]>>;
/** What the answer needs to know of who reads. */
type Reader = {
  readonly key: { readonly keyId: string; readonly grant: Pick<Grant, "sections"> };
  readonly report: LimitReport | null;
};

/** All operators together have the room of one key for large answers. */
const OPERATOR: Reader = { key: { keyId: "", grant: { sections: ALL_SECTIONS } }, report: null };

/** What is shown of a reading, and what the caller needs for it. */
export type ReadingView = {
  readonly purpose: Purpose;
  bodyOf(call: Call, snapshot: Snapshot, readable: SectionSet): Body;
};

const SERVER_INFO: ReadingView = {
  purpose: READING_SERVER,
  bodyOf: (call, snapshot) => snapshot.body(call.target.sections),
};

export class ReadServerHandler {
  readonly #relay: Pick<Relay, "read" | "longestWaitMs">;
  readonly #callerSteps: Pick<CallerSteps, "recheck">;
  readonly #clock: Clock;
  readonly #unsent: Pick<UnsentAnswers, "add">;

  constructor(
    relay: Pick<Relay, "read" | "longestWaitMs">,
    callerSteps: Pick<CallerSteps, "recheck">,
    clock: Clock,
    unsent: Pick<UnsentAnswers, "add">,
  ) {
    this.#relay = relay;
    this.#callerSteps = callerSteps;
    this.#clock = clock;
    this.#unsent = unsent;
  }

  /** Answers at once from a fresh snapshot: a promise for every request would cost more than the answer. */
  answer(call: Call, caller: Caller, view = SERVER_INFO): MaybePromise<Response> {
    const outcome = this.#relay.read(caller.server, call.now);
    return outcome instanceof Promise
      ? this.#answerLater(call, outcome, caller, view)
      : this.#answerOutcome(call, outcome, caller, call.now, view);
  }

  /** The same for an operator, who has no key and no limit. */
  async answerOperator(call: Call, server: GameServer): Promise<Response> {
    const outcome = await this.#wait(call, this.#relay.read(server, call.now));
    const response = this.#answerOutcome(call, outcome, OPERATOR, this.#clock(), SERVER_INFO);
    for (const name of ["X-RateLimit-Limit", "X-RateLimit-Bucket"]) response.headers.delete(name);
    return response;
  }

  async #answerLater(
    call: Call,
    pending: Promise<Outcome>,
    { report }: Caller,
    view: ReadingView,
  ): Promise<Response> {
    const outcome = await this.#wait(call, pending);
    const now = this.#clock();
    // The operator may have revoked or narrowed the key while the request waited.
    const key = await this.#callerSteps.recheck(call, view.purpose, now);
    if (isRefusal(key)) return answerLateRefusal(call, key, report);
    return this.#answerOutcome(call, outcome, { key, report }, now, view);
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

  #answerOutcome(
    call: Call,
    outcome: Outcome,
    { key, report }: Reader,
    now: number,
    view: ReadingView,
  ): Response {
    if (isRefusal(outcome)) return answerRefusal(call, outcome, report);
    const body = view.bodyOf(call, outcome.snapshot, key.grant.sections);
    const { headers: requested } = call.request;
    if (isMatchingEtag(requested.get("if-none-match"), body.etag)) {
      return completeReading(
        new Response(null, { status: 304, headers: headersOf(body) }),
        outcome,
        report,
        now,
      );
    }
    const gzipped = findGzipped(requested, body);
    const payload = toPayload(call, gzipped ?? body.bytes, key.keyId, this.#unsent);
    if (!payload) return answerRefusal(call, TOO_MUCH_UNSENT, report);
    const response = new Response(payload, { headers: headersOf(body) });
    if (gzipped) response.headers.set("Content-Encoding", "gzip");
    return completeReading(response, outcome, report, now);
  }
}

/** Adds the headers that depend on the time and the caller. */
function completeReading(
  response: Response,
  reading: Reading,
  report: LimitReport | null,
  now: number,
): Response {
  const ageMs = reading.isHit ? now - reading.snapshot.fetchedAt : 0;
  if (ageMs >= 1000) response.headers.set("Age", String(Math.floor(ageMs / 1000)));
  if (report) {
    response.headers.set("X-RateLimit-Remaining", String(report.remaining));
    response.headers.set("X-RateLimit-Reset", toResetSeconds(report.resetAt));
  }
  if (!reading.isHit) response.headers.set("X-Cache", "miss");
  return response;
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
