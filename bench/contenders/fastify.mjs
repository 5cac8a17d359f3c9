// The same work with Fastify and @fastify/rate-limit, on Node.
import rateLimit from "@fastify/rate-limit";
import LocalStore from "@fastify/rate-limit/store/LocalStore.js";
import fastify from "fastify";
import {
  INVALID_TOKEN,
  LIMIT,
  limitedBody,
  limitHeaders,
  OBSOLETE,
  readingHeaders,
  readStage,
  refusalHeaders,
  secondsUntil,
  WINDOW_MS,
} from "./answers.mjs";

const stage = readStage(process.argv[2]);
const app = fastify({ logger: false });
// Bodies are sent as bytes, because Fastify adds a charset to text, which the others do not send.

/** The plugin's own store, large enough for every key. The error handler needs it, because only the store knows the count. */
class Counts extends LocalStore {
  constructor() {
    super(false, false, stage.tokenCount);
    Counts.only = this;
  }
}

class Limited extends Error {
  constructor(token) {
    super("limited");
    this.token = token;
  }
}

app.addHook("onRequest", async (request, reply) => {
  if (!request.url.startsWith("/v2/") || stage.isKnown(request.headers.authorization)) return;
  return reply
    .code(401)
    .headers(refusalHeaders({ "WWW-Authenticate": "Bearer" }))
    .send(Buffer.from(INVALID_TOKEN));
});

await app.register(rateLimit, {
  global: false,
  max: LIMIT,
  timeWindow: WINDOW_MS,
  store: Counts,
  keyGenerator: (request) => request.headers.authorization,
  errorResponseBuilder: (request) => new Limited(request.headers.authorization),
  addHeaders: { "retry-after": false },
});
const limit = app.rateLimit();

app.setErrorHandler((error, _request, reply) => {
  if (!(error instanceof Limited)) throw error;
  Counts.only.read(
    error.token,
    (_, { current, ttl }) => {
      const now = Date.now();
      const resetAt = now + ttl;
      const headers = refusalHeaders({
        ...limitHeaders(0, Math.ceil(resetAt / 1000)),
        "Retry-After": String(secondsUntil(resetAt, now)),
      });
      reply
        .code(429)
        .headers(headers)
        .send(Buffer.from(limitedBody(current, resetAt, now)));
    },
    WINDOW_MS,
  );
});

app.get("/v2/game/server", { onRequest: limit }, (request, reply) => {
  const body = stage.findBody(request.query);
  const reset = Math.ceil(Date.now() / 1000) + reply.getHeader("x-ratelimit-reset");
  const headers = readingHeaders(body, stage.readAt, reply.getHeader("x-ratelimit-remaining"), reset);
  reply.headers(headers);
  if (request.headers["if-none-match"] === body.etag) reply.code(304).send();
  else reply.send(body.bytes);
});

app.all("/v1/*", (_request, reply) => {
  reply.code(500).headers(refusalHeaders()).send(Buffer.from(OBSOLETE));
});

console.log(`listening on ${await app.listen({ host: "127.0.0.1", port: 0 })}`);
