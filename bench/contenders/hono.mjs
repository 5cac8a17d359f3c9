// The same work with Hono and hono-rate-limiter, on Bun.
import { Hono } from "hono";
import { rateLimiter } from "hono-rate-limiter";
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
const app = new Hono();

app.use("/v2/*", async (c, next) => {
  const header = c.req.header("Authorization");
  if (!stage.isKnown(header)) return c.body(INVALID_TOKEN, 401, refusalHeaders({ "WWW-Authenticate": "Bearer" }));
  c.set("token", header);
  await next();
});

app.use(
  "/v2/*",
  rateLimiter({
    windowMs: WINDOW_MS,
    limit: LIMIT,
    standardHeaders: false,
    keyGenerator: (c) => c.get("token"),
    handler(c) {
      const { used, resetTime } = c.get("rateLimit");
      const now = Date.now();
      const resetAt = resetTime.getTime();
      const headers = refusalHeaders({
        ...limitHeaders(0, Math.ceil(resetAt / 1000)),
        "Retry-After": String(secondsUntil(resetAt, now)),
      });
      return c.body(limitedBody(used, resetAt, now), 429, headers);
    },
  }),
);

app.get("/v2/game/server", (c) => {
  const body = stage.findBody(c.req.query());
  const { remaining, resetTime } = c.get("rateLimit");
  const headers = readingHeaders(body, stage.readAt, remaining, Math.ceil(resetTime.getTime() / 1000));
  if (c.req.header("If-None-Match") === body.etag) return c.body(null, 304, headers);
  return c.body(body.bytes, 200, headers);
});

app.all("/v1/*", (c) => c.body(OBSOLETE, 500, refusalHeaders()));

const server = Bun.serve({ hostname: "127.0.0.1", port: 0, development: false, fetch: app.fetch });
console.log(`listening on http://127.0.0.1:${server.port}`);
