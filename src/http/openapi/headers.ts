// The headers of answers. A name that ends in "Sometimes" stands for a header that an answer may lack.
import Type from "typebox";
import { LIMIT_BUCKET, LIMIT_PER_WINDOW } from "../../core/keys/rate-limit.ts";

type Header = {
  readonly header: string;
  readonly description: string;
  readonly schema: Type.TSchema;
  readonly example: unknown;
};

function header(name: string, description: string, schema: Type.TSchema, example: unknown): Header {
  return { header: name, description, schema, example };
}

const LIMIT_HEADERS = {
  RateLimitLimit: header(
    "X-RateLimit-Limit",
    "Requests a minute that the key has.",
    Type.Literal(LIMIT_PER_WINDOW),
    LIMIT_PER_WINDOW,
  ),
  RateLimitRemaining: header(
    "X-RateLimit-Remaining",
    "Requests that are left in this window, after this one.",
    Type.Integer({ minimum: 0, maximum: LIMIT_PER_WINDOW - 1 }),
    118,
  ),
  RateLimitReset: header(
    "X-RateLimit-Reset",
    "When the window ends, in epoch seconds.",
    Type.Integer({ format: "int64" }),
    1_794_722_374,
  ),
  RateLimitBucket: header(
    "X-RateLimit-Bucket",
    "What is counted together: every request of the key about its server.",
    Type.Literal(LIMIT_BUCKET),
    LIMIT_BUCKET,
  ),
};

const PLAIN_HEADERS = {
  RequestId: header(
    "X-Request-Id",
    "Only when the operator's log speaks of this request, under this name: after a mistake of our own, for one, and at the level debug after every request.",
    Type.String({ pattern: "^req_[0-9a-z]+$" }),
    "req_k3v9qa1f",
  ),
  ETag: header(
    "ETag",
    "Send it back as `If-None-Match`; while nothing has changed the answer is 304 without a body.",
    Type.String(),
    '"1f0c6a2b9d"',
  ),
  Age: header("Age", "Whole seconds since the game API answered.", Type.Integer({ minimum: 0 }), 1),
  Cache: header(
    "X-Cache",
    "`hit`: answered from memory. `miss`: the game API was asked.",
    Type.Enum(["hit", "miss"]),
    "hit",
  ),
  CacheControl: header(
    "Cache-Control",
    "What may be kept, by whom. Errors are never to be stored.",
    Type.String(),
    "no-store",
  ),
  Vary: header(
    "Vary",
    "Larger answers are compressed when `Accept-Encoding` has gzip.",
    Type.String(),
    "Accept-Encoding",
  ),
  Authenticate: header("WWW-Authenticate", "How to say who you are.", Type.Enum(["Bearer", "Signature"]), "Bearer"),
  SetCookie: header(
    "Set-Cookie",
    "The cookie of the session, or its deletion. Scripts cannot read it, and only `/session` takes it.",
    Type.String(),
    "__Secure-gatehouse_session=gtd_…; Path=/session; HttpOnly; SameSite=Strict; Secure; Max-Age=2592000",
  ),
  Disposition: header(
    "Content-Disposition",
    "The name of the file.",
    Type.String(),
    'attachment; filename="gatehouse-audit.csv"',
  ),
  Location: header("Location", "Where the browser goes.", Type.String(), "https://gatehouse.example.org/"),
  Upgrade: header("Upgrade", "What to ask for.", Type.Literal("websocket"), "websocket"),
  AccelBuffering: header(
    "X-Accel-Buffering",
    "Tells nginx to pass every message on at once.",
    Type.Literal("no"),
    "no",
  ),
  SecurityPolicy: header(
    "Content-Security-Policy",
    "Lets the picture load and run nothing, however it is opened.",
    Type.String(),
    "default-src 'none'; sandbox",
  ),
  AllowOrigin: header("Access-Control-Allow-Origin", "Pages of every origin may read it.", Type.Literal("*"), "*"),
  ResourcePolicy: header(
    "Cross-Origin-Resource-Policy",
    "Pages of every origin may show it.",
    Type.Literal("cross-origin"),
    "cross-origin",
  ),
  RetryAfter: header("Retry-After", "Seconds to wait before asking again.", Type.Integer({ minimum: 1 }), 17),
};

const ALWAYS = { ...LIMIT_HEADERS, ...PLAIN_HEADERS };

export type LimitHeaderName = keyof typeof LIMIT_HEADERS;
export type HeaderName =
  | keyof typeof ALWAYS
  | `${LimitHeaderName}Sometimes`
  | "RetryAfterSometimes"
  | "RequestIdSometimes";

export const LIMIT_HEADER_NAMES = Object.keys(LIMIT_HEADERS) as LimitHeaderName[];

const SOMETIMES = "Sometimes";

export function headerOf(name: HeaderName): Header & { readonly isRequired: boolean } {
  const isRequired = !name.endsWith(SOMETIMES);
  const base = isRequired ? name : name.slice(0, -SOMETIMES.length);
  return { ...ALWAYS[base as keyof typeof ALWAYS], isRequired };
}
