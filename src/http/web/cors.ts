// Lets pages of the configured origins call us from a browser. Without configured origins no header is added.
import { NO_SNIFFING } from "./page-headers.ts";

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
const SENDABLE_HEADERS = "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Server-Key";
const PREFLIGHT_SECONDS = "600";

export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** The answer to a preflight; undefined when no origin is configured. */
  answerPreflight(request: Request, allow: string): Response | undefined {
    if (this.#origins.size === 0) return undefined;
    const response = new Response(null, { status: 204, headers: { Allow: `${allow}, OPTIONS`, ...NO_SNIFFING } });
    if (this.#isAllowed(request.headers.get("origin"))) {
      response.headers.set("Access-Control-Allow-Methods", allow);
      response.headers.set("Access-Control-Allow-Headers", SENDABLE_HEADERS);
      response.headers.set("Access-Control-Max-Age", PREFLIGHT_SECONDS);
    }
    return response;
  }

  /** Adds the headers that let a page of an allowed origin read this answer. */
  mark(request: Request, response: Response): void {
    if (this.#origins.size === 0) return;
    const origin = request.headers.get("origin");
    response.headers.append("Vary", "Origin");
    if (!this.#isAllowed(origin)) return;
    response.headers.set("Access-Control-Allow-Origin", origin);
    response.headers.set("Access-Control-Expose-Headers", READABLE_HEADERS);
  }

  #isAllowed(origin: string | null): origin is string {
    return origin !== null && (this.#origins.has("*") || this.#origins.has(origin));
  }
}
