// GET /v2/game/server, with and without the community segment: identify, admit, allow, relay, answer.
import { type ApiKey, findForbidden } from "../core/api-key.ts";
import { isRefusal } from "../core/errors.ts";
import type { Clock, MaybePromise, Store } from "../core/ports.ts";
import { admit, type LimitReport } from "../gateway/admit.ts";
import { type Authenticate, INVALID_TOKEN } from "../gateway/authenticate.ts";
import { chain } from "../gateway/chain.ts";
import type { Reading, Relay } from "../gateway/relay.ts";
import type { Body } from "../gateway/snapshot.ts";
import { answerRefusal, LIMIT_BUCKET, LIMIT_TEXT, toResetSeconds } from "./answers.ts";
import type { Call, Handler } from "./call.ts";
import { acceptsGzip, isMatchingEtag } from "./conditional.ts";
import { memoize } from "./memo.ts";

/** Clients send the same few values again and again. */
export const wantsGzip = memoize(acceptsGzip, 200, 256);

export type ReadServerParts = {
  readonly authenticate: Authenticate;
  readonly store: Pick<Store, "judge" | "findServer">;
  readonly relay: Relay;
  readonly clock: Clock;
  readonly findAddress: (call: Call) => string;
};

export function createReadServer({
  authenticate,
  store,
  relay,
  clock,
  findAddress,
}: ReadServerParts): Handler {
  return identify;

  function identify(call: Call): MaybePromise<Response> {
    return chain(authenticate(call.request.headers.get("authorization"), call.now), (key) => {
      if (isRefusal(key)) return answerRefusal(call, key);
      call.keyId = key.keyId;
      return admitKey(call, key);
    });
  }

  function admitKey(call: Call, key: ApiKey): MaybePromise<Response> {
    return chain(admit(store, key.keyId, call.now, true), ({ refusal, report }) => {
      return refusal ? answerRefusal(call, refusal, report) : relayAllowed(call, key, report);
    });
  }

  function relayAllowed(call: Call, key: ApiKey, report: LimitReport | null): MaybePromise<Response> {
    return chain(store.findServer(key.serverId), (server) => {
      if (!server) return answerRefusal(call, INVALID_TOKEN, report);
      const forbidden = findForbidden(key, {
        version: "v2",
        community: call.target.params.community,
        serverCommunity: server.community,
        sections: call.target.sections,
        findAddress: () => findAddress(call),
      });
      if (forbidden) return answerRefusal(call, forbidden, report);
      const outcome = relay.read(server, call.now);
      if (!(outcome instanceof Promise)) return answer(call, outcome, report, call.now);
      call.waitFor(relay.longestWaitMs);
      return outcome.finally(() => call.waitNoLonger()).then((late) => answer(call, late, report, clock()));
    });
  }
}

function answer(
  call: Call,
  outcome: Awaited<ReturnType<Relay["read"]>>,
  report: LimitReport | null,
  now: number,
): Response {
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
  const { headers: asked } = call.request;
  const isKnown = isMatchingEtag(asked.get("if-none-match"), body.etag);
  const isPacked = body.mayBePacked && !isKnown && wantsGzip(asked.get("accept-encoding") ?? "");
  const packed = isPacked ? body.gzipped : null;
  const headers = headersOf(body);
  const response = isKnown
    ? new Response(null, { status: 304, headers })
    : new Response(packed ?? body.bytes, { headers });
  const ageMs = reading.isHit ? now - reading.snapshot.fetchedAt : 0;
  response.headers.set("Age", ageMs < 1000 ? "0" : String(Math.floor(ageMs / 1000)));
  if (report) {
    response.headers.set("X-RateLimit-Remaining", String(report.remaining));
    response.headers.set("X-RateLimit-Reset", toResetSeconds(report.resetAt));
  }
  if (!reading.isHit) response.headers.set("X-Cache", "miss");
  if (packed) response.headers.set("Content-Encoding", "gzip");
  return response;
}

/** What every answer with this body says, made once a body: copying it is cheaper than listing it anew. */
const hitHeaders = new WeakMap<Body, Headers>();

function headersOf(body: Body): Headers {
  const kept = hitHeaders.get(body);
  if (kept) return kept;
  const headers = new Headers({
    "Content-Type": "application/json",
    "Cache-Control": "private, no-cache",
    Vary: "Accept-Encoding",
    ETag: body.etag,
    "X-Cache": "hit",
    "X-RateLimit-Limit": LIMIT_TEXT,
    "X-RateLimit-Bucket": LIMIT_BUCKET,
  });
  hitHeaders.set(body, headers);
  return headers;
}
