// One way to ask Gatehouse: the same origin, the key in a header, and whatever happens comes back as a value.
import { LIMIT_PER_WINDOW } from "../../core/rate-limit.ts";
import type { UncheckedErrorBody } from "../../core/wire/error.ts";
import { parseExactJson } from "./exact-json.ts";

export type LimitLeft = {
  readonly limit: number;
  readonly remaining: number;
  /** By this machine's clock. */
  readonly resetAt: number;
};

/** `code` is a code of Gatehouse; 0 when nothing, or nothing of Gatehouse's, answered. */
export type ApiError = {
  readonly code: number;
  readonly status: number;
  readonly message: string;
  readonly upstreamCode: number | undefined;
  readonly upstreamMessage: string | undefined;
  /** In seconds. */
  readonly retryAfter: number | undefined;
  readonly details: Readonly<Record<string, string>> | undefined;
};

export type Answer<T> = {
  readonly ok: true;
  readonly status: number;
  /** Undefined for a 204 and a 304. */
  readonly value: T;
  readonly etag: string | null;
  /** How old the data was when it arrived. */
  readonly ageMs: number;
  readonly receivedAt: number;
  readonly limit: LimitLeft | undefined;
};

export type Failure = {
  readonly ok: false;
  readonly error: ApiError;
  readonly receivedAt: number;
  readonly limit: LimitLeft | undefined;
};

export type Outcome<T> = Answer<T> | Failure;

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export type AskOptions = {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** For answers that are not JSON. */
  readonly asText?: boolean;
};

export type Ask = <T>(path: string, options?: AskOptions) => Promise<Outcome<T>>;

export const UNREACHABLE = 0;
const DEADLINE_MS = 20_000;
const WINDOW_MAX_MS = 60_000;

/** `note` is told of every outcome, to pace what is asked next. */
export function createAsk(credential: string, note: (outcome: Outcome<unknown>) => void = () => {}): Ask {
  return async <T>(path: string, options: AskOptions = {}): Promise<Outcome<T>> => {
    const outcome = await send<T>(credential, path, options);
    note(outcome);
    return outcome;
  };
}

async function send<T>(credential: string, path: string, options: AskOptions): Promise<Outcome<T>> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const { body } = options;
  try {
    // The path begins with a slash: this page asks nobody but the server that it came from.
    const response = await fetch(path + queryText(options.query), {
      method: options.method ?? "GET",
      headers: {
        Authorization: `Bearer ${credential}`,
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...options.headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: options.signal ? AbortSignal.any([options.signal, deadline]) : deadline,
      mode: "same-origin",
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
    return await readOutcome<T>(response, options.asText ?? false);
  } catch (error) {
    // Whoever took the question back wants no answer.
    if (options.signal?.aborted) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, error: describeNothing(message), receivedAt: Date.now(), limit: undefined };
  }
}

async function readOutcome<T>(response: Response, asText: boolean): Promise<Outcome<T>> {
  const text = await response.text();
  const receivedAt = Date.now();
  const limit = readLimit(response.headers, receivedAt);
  const isGood = response.ok || response.status === 304;
  const value = text === "" ? undefined : isGood && asText ? text : parseOrUndefined(text);
  if (!isGood) return { ok: false, error: describeError(response, value), receivedAt, limit };
  if (text !== "" && value === undefined) {
    return { ok: false, error: describeNothing("not JSON"), receivedAt, limit };
  }
  return {
    ok: true,
    status: response.status,
    value: value as T,
    etag: response.headers.get("ETag"),
    ageMs: (readNumber(response.headers, "Age") ?? 0) * 1000,
    receivedAt,
    limit,
  };
}

function parseOrUndefined(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

function describeNothing(message: string): ApiError {
  return {
    code: UNREACHABLE,
    status: 0,
    message,
    upstreamCode: undefined,
    upstreamMessage: undefined,
    retryAfter: undefined,
    details: undefined,
  };
}

function describeError(response: Response, value: unknown): ApiError {
  const body = (typeof value === "object" && value !== null ? value : {}) as UncheckedErrorBody;
  const { code, message, upstream_code, upstream_message, retry_after, details } = body;
  return {
    code: typeof code === "number" ? code : UNREACHABLE,
    status: response.status,
    message: typeof message === "string" ? message : response.statusText,
    upstreamCode: typeof upstream_code === "number" ? upstream_code : undefined,
    upstreamMessage: typeof upstream_message === "string" ? upstream_message : undefined,
    retryAfter: typeof retry_after === "number" ? retry_after : readNumber(response.headers, "Retry-After"),
    details:
      typeof details === "object" && details !== null ? (details as Record<string, string>) : undefined,
  };
}

function readLimit(headers: Headers, now: number): LimitLeft | undefined {
  const remaining = readNumber(headers, "X-RateLimit-Remaining");
  const reset = readNumber(headers, "X-RateLimit-Reset");
  if (remaining === undefined || reset === undefined) return undefined;
  // The server's clock may differ from ours; a window is never longer than a minute.
  const date = Date.parse(headers.get("Date") ?? "");
  const aheadMs = reset * 1000 - (Number.isNaN(date) ? now : date);
  const resetAt = now + Math.min(Math.max(aheadMs, 1000), WINDOW_MAX_MS);
  return { limit: readNumber(headers, "X-RateLimit-Limit") ?? LIMIT_PER_WINDOW, remaining, resetAt };
}

function readNumber(headers: Headers, name: string): number | undefined {
  const text = headers.get(name);
  if (text === null || text.trim() === "") return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function queryText(query: Query | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}
