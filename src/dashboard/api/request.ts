// Sends a request to Gatehouse: to the same origin, with the key in a header. Failures are returned, not thrown.

import { toGatehouseError } from "../../../packages/client/src/gatehouse-error.ts";
import { type Query, writeQuery } from "../../../packages/client/src/query.ts";
import { LIMIT_PER_WINDOW } from "../../core/keys/rate-limit.ts";
import { PAGE_SIZE_MAX } from "../../core/ports/pages.ts";
import type { Notice } from "../../core/wire/health.ts";
import type { PageOf, PageQuery } from "../../core/wire/page.ts";
import { parseExactJson } from "./exact-json.ts";

export type LimitLeft = {
  readonly limit: number;
  readonly remaining: number;
  /** In epoch milliseconds of this machine's clock. */
  readonly resetAt: number;
};

/** `code` is an error code of Gatehouse; UNREACHABLE when there was no answer, or not one of Gatehouse. */
export type ApiError = {
  readonly code: number;
  readonly status: number;
  readonly message: string;
  readonly upstreamCode: number | undefined;
  readonly upstreamMessage: string | undefined;
  /** In seconds. */
  readonly retryAfter: number | undefined;
  /** What is wrong with each field: in English, and as a code. */
  readonly details: Readonly<Record<string, string>> | undefined;
  /** What is not well, of /readyz. */
  readonly notices?: readonly Notice[] | undefined;
  readonly reasons?: Readonly<Record<string, { readonly code: string; readonly position?: number }>> | undefined;
};

export type Answer<T> = {
  readonly ok: true;
  readonly status: number;
  /** Undefined for the statuses 204 and 304. */
  readonly value: T;
  readonly etag: string | null;
  /** The age of the data when it arrived. */
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

export type ApiCallOptions = {
  readonly method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly query?: Query;
  /** A file is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Returns the body as text, for answers that are not JSON. */
  readonly asText?: boolean;
  /** Returns the body of a good answer as a file. */
  readonly asFile?: boolean;
};

export type ApiCall = <T>(path: string, options?: ApiCallOptions) => Promise<Outcome<T>>;

/** A stream of Server-Sent Events; `texts` ends when the connection does, and throws when it breaks. */
export type OpenedStream = {
  readonly ok: true;
  readonly receivedAt: number;
  readonly limit: LimitLeft | undefined;
  readonly texts: AsyncIterable<string>;
};

/** Throws only when the signal aborts. */
export type OpenStream = (lastEventId: string | undefined, signal: AbortSignal) => Promise<OpenedStream | Failure>;

/** A token that is renewed while the page is open. */
export type TokenSource = {
  current(): Promise<string>;
  /** Another token than the refused one; undefined when there is none. */
  replace(refused: string): Promise<string | undefined>;
};

/** A key, or the token of a person. */
export type Credential = string | TokenSource;

export const UNREACHABLE = 0;
const DEADLINE_MS = 20_000;
/** A file of some megabytes takes longer; Gatehouse waits as long for one. */
const FILE_DEADLINE_MS = 60_000;
const WINDOW_MAX_MS = 60_000;
const STREAM_TYPE = "text/event-stream";

/** `observe` sees every outcome, to pace the next requests. */
export function createApiCall(
  credential: Credential,
  observe: (outcome: Outcome<unknown>) => void = () => {},
): ApiCall {
  return async <T>(path: string, options: ApiCallOptions = {}): Promise<Outcome<T>> => {
    const outcome = await send<T>(credential, path, options);
    observe(outcome);
    return outcome;
  };
}

/** Opens streams at `path`. `observe` sees every outcome. */
export function createStreamCall(
  credential: Credential,
  path: string,
  observe: (outcome: OpenedStream | Failure) => void,
): OpenStream {
  return async (lastEventId, signal) => {
    const outcome = await openStream(credential, path, lastEventId, signal);
    observe(outcome);
    return outcome;
  };
}

async function openStream(
  credential: Credential,
  path: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
): Promise<OpenedStream | Failure> {
  // The deadline is for the headers only: the body goes on for as long as the page is open.
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), DEADLINE_MS);
  try {
    const headers = { Accept: STREAM_TYPE, ...(lastEventId !== undefined && { "Last-Event-ID": lastEventId }) };
    const response = await sendRequest(credential, path, {
      headers,
      signal: AbortSignal.any([signal, deadline.signal]),
    });
    if (!response.ok) {
      const outcome = await readOutcome(response, false);
      if (!outcome.ok) return outcome;
    }
    const receivedAt = Date.now();
    const limit = readLimit(response.headers, receivedAt);
    const isStream = response.headers.get("Content-Type")?.startsWith(STREAM_TYPE);
    if (response.ok && isStream && response.body) {
      return { ok: true, receivedAt, limit, texts: readTexts(response.body) };
    }
    await response.body?.cancel();
    return { ok: false, error: describeUnreachable("not a stream"), receivedAt, limit };
  } catch (error) {
    return describeFailedFetch(error, signal);
  } finally {
    clearTimeout(timer);
  }
}

async function* readTexts(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    // Ends the request when the page wants no more of it; a broken connection has nothing to cancel.
    await reader.cancel().catch(() => {});
  }
}

async function send<T>(credential: Credential, path: string, options: ApiCallOptions): Promise<Outcome<T>> {
  const hasFile = options.asFile || options.body instanceof Blob;
  const deadline = AbortSignal.timeout(hasFile ? FILE_DEADLINE_MS : DEADLINE_MS);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  try {
    const response = await sendRequest(credential, path, { ...options, signal });
    if (options.asFile && response.ok) return await readFile<T>(response);
    return await readOutcome<T>(response, options.asText ?? false);
  } catch (error) {
    return describeFailedFetch(error, options.signal);
  }
}

/** Sends the request again with another token when the one of a person was refused: it may have expired on the way. */
async function sendRequest(credential: Credential, path: string, options: ApiCallOptions): Promise<Response> {
  if (typeof credential === "string") return fetchOwn(path, withToken(options, credential), "omit");
  const token = await credential.current();
  const response = await fetchOwn(path, withToken(options, token), "omit");
  const renewed = response.status === 401 ? await credential.replace(token) : undefined;
  if (renewed === undefined) return response;
  await response.body?.cancel();
  return fetchOwn(path, withToken(options, renewed), "omit");
}

/** For /session, the only path that takes a cookie. */
export async function sendWithCookie<T>(path: string, options: ApiCallOptions): Promise<Outcome<T>> {
  try {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    return await readOutcome<T>(await fetchOwn(path, { ...options, signal }, "same-origin"), false);
  } catch (error) {
    return describeFailedFetch(error, undefined);
  }
}

function withToken(options: ApiCallOptions, token: string): ApiCallOptions {
  return { ...options, headers: { Authorization: `Bearer ${token}`, ...options.headers } };
}

function fetchOwn(path: string, options: ApiCallOptions, credentials: RequestCredentials): Promise<Response> {
  const { body, signal } = options;
  // The path starts with a slash, so the request goes to the server of this page.
  return fetch(path + writeQuery(options.query ?? {}), {
    method: options.method ?? "GET",
    headers: {
      ...(body !== undefined && !(body instanceof Blob) && { "Content-Type": "application/json" }),
      ...options.headers,
    },
    ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
    mode: "same-origin",
    credentials,
    cache: "no-store",
    redirect: "error",
    referrerPolicy: "no-referrer",
  });
}

/** Throws the error again when the caller has aborted the request and wants no outcome. */
function describeFailedFetch(error: unknown, signal: AbortSignal | undefined): Failure {
  if (signal?.aborted) throw error;
  const message = error instanceof Error ? error.message : String(error);
  return { ok: false, error: describeUnreachable(message), receivedAt: Date.now(), limit: undefined };
}

async function readFile<T>(response: Response): Promise<Outcome<T>> {
  const value = (await response.blob()) as T;
  const receivedAt = Date.now();
  const { status, headers } = response;
  const limit = readLimit(headers, receivedAt);
  return { ok: true, status, value, etag: headers.get("ETag"), ageMs: 0, receivedAt, limit };
}

async function readOutcome<T>(response: Response, asText: boolean): Promise<Outcome<T>> {
  const text = await response.text();
  const receivedAt = Date.now();
  const limit = readLimit(response.headers, receivedAt);
  const isGood = response.ok || response.status === 304;
  const value = text === "" ? undefined : isGood && asText ? text : parseOrUndefined(text);
  if (!isGood) return { ok: false, error: describeError(response, value), receivedAt, limit };
  if (text !== "" && value === undefined) {
    return { ok: false, error: describeUnreachable("not JSON"), receivedAt, limit };
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

function describeUnreachable(message: string): ApiError {
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

function describeError({ status, statusText, headers }: Response, value: unknown): ApiError {
  const { code, retryAfter, upstreamCode, details, body } = toGatehouseError(status, headers, value);
  const { message, upstream_message, reasons, notices } = body;
  return {
    // 0, when the answer has none, is UNREACHABLE.
    code,
    status,
    message: typeof message === "string" ? message : statusText,
    upstreamCode,
    upstreamMessage: typeof upstream_message === "string" ? upstream_message : undefined,
    retryAfter,
    details: details as ApiError["details"],
    reasons: reasons as ApiError["reasons"],
    notices: notices as ApiError["notices"],
  };
}

function readLimit(headers: Headers, now: number): LimitLeft | undefined {
  const remaining = readNumber(headers, "X-RateLimit-Remaining");
  const reset = readNumber(headers, "X-RateLimit-Reset");
  if (remaining === undefined || reset === undefined) return undefined;
  // The server's clock may differ from ours, and a window is never longer than a minute.
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

/** `readAllPages` does not read more. */
const PAGES_MAX = 10;

/** Reads the pages of a list, up to a maximum. */
export async function readAllPages<T>(
  readPage: (query: PageQuery) => Promise<Outcome<PageOf<T>>>,
): Promise<Outcome<readonly T[]>> {
  const items: T[] = [];
  let cursor: string | null = null;
  for (let pages = 1; ; pages += 1) {
    const outcome: Outcome<PageOf<T>> = await readPage({
      limit: PAGE_SIZE_MAX,
      ...(cursor !== null && { cursor }),
    });
    if (!outcome.ok) return outcome;
    items.push(...outcome.value.items);
    cursor = outcome.value.next;
    if (cursor === null || pages === PAGES_MAX) return { ...outcome, value: items };
  }
}
