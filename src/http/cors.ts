// Lets pages of the configured origins call us from a browser. Nothing is added for anybody else.

export type Cors = {
  /** The answer to a preflight, or undefined when no origin is configured at all. */
  answerPreflight(request: Request, allow: string): Response | undefined;
  /** Adds what lets the page read this answer, when its origin is allowed. */
  mark(request: Request, response: Response): void;
};

const READABLE_HEADERS = [
  "Age",
  "ETag",
  "Retry-After",
  "X-Cache",
  "X-RateLimit-Bucket",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
].join(", ");
const SENDABLE_HEADERS = "Authorization, Content-Type, Idempotency-Key, If-None-Match";
const PREFLIGHT_SECONDS = "600";

export function createCors(origins: readonly string[]): Cors {
  const allowed = new Set(origins);
  const isOpen = allowed.has("*");

  function mark(request: Request, response: Response): void {
    if (allowed.size === 0) return;
    const origin = request.headers.get("origin");
    response.headers.append("Vary", "Origin");
    if (origin === null || !(isOpen || allowed.has(origin))) return;
    response.headers.set("Access-Control-Allow-Origin", origin);
    response.headers.set("Access-Control-Expose-Headers", READABLE_HEADERS);
  }

  function answerPreflight(request: Request, allow: string): Response | undefined {
    if (allowed.size === 0) return undefined;
    const origin = request.headers.get("origin");
    const response = new Response(null, { status: 204, headers: { Allow: `${allow}, OPTIONS` } });
    if (origin !== null && (isOpen || allowed.has(origin))) {
      response.headers.set("Access-Control-Allow-Methods", allow);
      response.headers.set("Access-Control-Allow-Headers", SENDABLE_HEADERS);
      response.headers.set("Access-Control-Max-Age", PREFLIGHT_SECONDS);
    }
    return response;
  }

  return { answerPreflight, mark };
}
