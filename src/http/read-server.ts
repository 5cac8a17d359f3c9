// GET /v2/game/server, with and without the community segment: the request's way as a straight line.
import { type Access, findForbidden } from "../core/api-key.ts";
import { isRefusal } from "../core/errors.ts";
import type { Store } from "../core/ports.ts";
import { admit, type LimitReport } from "../gateway/admit.ts";
import { authenticate, INVALID_TOKEN } from "../gateway/authenticate.ts";
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
  readonly store: Store;
  readonly relay: Relay;
  readonly findAddress: (call: Call) => string;
};

export function createReadServer({ store, relay, findAddress }: ReadServerParts): Handler {
  return (call) => {
    const { request, target, now } = call;
    const { sections } = target;
    return chain(authenticate(store, request.headers.get("authorization"), now), (key) => {
      if (isRefusal(key)) return answerRefusal(call, key);
      return chain(admit(store, key.keyId, now, true), ({ refusal, report }) => {
        if (refusal) return answerRefusal(call, refusal, report);
        return chain(store.findServer(key.serverId), (server) => {
          if (!server) return answerRefusal(call, INVALID_TOKEN, report);
          const access: Access = {
            version: "v2",
            community: target.params.community,
            serverCommunity: server.community,
            sections,
            findAddress: () => findAddress(call),
          };
          const forbidden = findForbidden(key, access);
          if (forbidden) return answerRefusal(call, forbidden, report);
          const reading = relay.read(server, now);
          if (reading instanceof Promise) call.waitFor(relay.longestWaitMs);
          return chain(reading, (outcome) => {
            if (isRefusal(outcome)) return answerRefusal(call, outcome, report);
            return answerReading(call, outcome, outcome.snapshot.body(sections), report);
          });
        });
      });
    });
  };
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

function answerReading(call: Call, reading: Reading, body: Body, report: LimitReport | null): Response {
  const { headers: asked } = call.request;
  const isKnown = isMatchingEtag(asked.get("if-none-match"), body.etag);
  const isPacked = body.mayBePacked && !isKnown && wantsGzip(asked.get("accept-encoding") ?? "");
  const packed = isPacked ? body.gzipped : null;
  const headers = headersOf(body);
  const response = isKnown
    ? new Response(null, { status: 304, headers })
    : new Response(packed ?? body.bytes, { headers });
  const ageMs = reading.isHit ? call.now - reading.snapshot.fetchedAt : 0;
  response.headers.set("Age", ageMs < 1000 ? "0" : String(Math.floor(ageMs / 1000)));
  if (report) {
    response.headers.set("X-RateLimit-Remaining", String(report.remaining));
    response.headers.set("X-RateLimit-Reset", toResetSeconds(report.resetAt));
  }
  if (!reading.isHit) response.headers.set("X-Cache", "miss");
  if (packed) response.headers.set("Content-Encoding", "gzip");
  return response;
}
