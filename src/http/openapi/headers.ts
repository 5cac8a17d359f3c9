// The headers of answers. A name that ends in "Sometimes" stands for a header that an answer may lack.
import Type from "typebox";
import { LIMIT_BUCKET, LIMIT_PER_WINDOW } from "../../core/rate-limit.ts";

type Header = {
  readonly header: string;
  readonly description: string;
  readonly schema: Type.TSchema;
  readonly example: unknown;
};

const LIMIT_HEADERS = {
  RateLimitLimit: {
    header: "X-RateLimit-Limit",
    description: "Requests a minute that the key has.",
    schema: Type.Literal(LIMIT_PER_WINDOW),
    example: LIMIT_PER_WINDOW,
  },
  RateLimitRemaining: {
    header: "X-RateLimit-Remaining",
    description: "Requests that are left in this window, after this one.",
    schema: Type.Integer({ minimum: 0, maximum: LIMIT_PER_WINDOW - 1 }),
    example: 118,
  },
  RateLimitReset: {
    header: "X-RateLimit-Reset",
    description: "When the window ends, in epoch seconds.",
    schema: Type.Integer({ format: "int64" }),
    example: 1_794_722_374,
  },
  RateLimitBucket: {
    header: "X-RateLimit-Bucket",
    description: "What is counted together: every request of the key about its server.",
    schema: Type.Literal(LIMIT_BUCKET),
    example: LIMIT_BUCKET,
  },
} as const satisfies Record<string, Header>;

const RETRY_AFTER = {
  header: "Retry-After",
  description: "Seconds to wait before asking again.",
  schema: Type.Integer({ minimum: 1 }),
  example: 17,
} as const satisfies Header;

const PLAIN_HEADERS = {
  RequestId: {
    header: "X-Request-Id",
    description:
      "Only when the operator's log speaks of this request, under this name: after a mistake of our own, for one, and at the level debug after every request.",
    schema: Type.String({ pattern: "^req_[0-9a-z]+$" }),
    example: "req_k3v9qa1f",
  },
  ETag: {
    header: "ETag",
    description:
      "Send it back as `If-None-Match`; while nothing has changed the answer is 304 without a body.",
    schema: Type.String(),
    example: '"1f0c6a2b9d"',
  },
  Age: {
    header: "Age",
    description: "Whole seconds since the game API answered.",
    schema: Type.Integer({ minimum: 0 }),
    example: 1,
  },
  Cache: {
    header: "X-Cache",
    description: "`hit`: answered from memory. `miss`: the game API was asked.",
    schema: Type.Enum(["hit", "miss"]),
    example: "hit",
  },
  CacheControl: {
    header: "Cache-Control",
    description: "What may be kept, by whom. Errors are never to be stored.",
    schema: Type.String(),
    example: "no-store",
  },
  Vary: {
    header: "Vary",
    description: "Larger answers are compressed when `Accept-Encoding` has gzip.",
    schema: Type.String(),
    example: "Accept-Encoding",
  },
  Authenticate: {
    header: "WWW-Authenticate",
    description: "How to say who you are.",
    schema: Type.Enum(["Bearer", "Signature"]),
    example: "Bearer",
  },
  SetCookie: {
    header: "Set-Cookie",
    description:
      "The cookie of the device, or its deletion. Scripts cannot read it, and only `/session` takes it.",
    schema: Type.String(),
    example:
      "__Secure-gatehouse_device=gtd_…; Path=/session; HttpOnly; SameSite=Strict; Secure; Max-Age=2592000",
  },
  Upgrade: {
    header: "Upgrade",
    description: "What to ask for.",
    schema: Type.Literal("websocket"),
    example: "websocket",
  },
  AccelBuffering: {
    header: "X-Accel-Buffering",
    description: "Tells nginx to pass every message on at once.",
    schema: Type.Literal("no"),
    example: "no",
  },
  SecurityPolicy: {
    header: "Content-Security-Policy",
    description: "Lets the picture load and run nothing, however it is opened.",
    schema: Type.String(),
    example: "default-src 'none'; sandbox",
  },
  AllowOrigin: {
    header: "Access-Control-Allow-Origin",
    description: "Pages of every origin may read it.",
    schema: Type.Literal("*"),
    example: "*",
  },
  ResourcePolicy: {
    header: "Cross-Origin-Resource-Policy",
    description: "Pages of every origin may show it.",
    schema: Type.Literal("cross-origin"),
    example: "cross-origin",
  },
  RetryAfter: RETRY_AFTER,
} as const satisfies Record<string, Header>;

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
