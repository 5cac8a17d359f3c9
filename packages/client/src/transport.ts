// Sends requests to Gatehouse: each has a deadline, follows no redirect, and reads a bounded body. A 429 is waited for once.
import { Deadline, DeadlineExceeded } from "./deadline.ts";
import { parseExactJson } from "./exact-json.ts";
import {
  chooseBackoffMs,
  findLimitWait,
  GatehouseError,
  isInFlight,
  isObject,
  isOutage,
  toGatehouseError,
} from "./gatehouse-error.ts";
import { type Query, writeQuery } from "./query.ts";

const TIMEOUT_DEFAULT_MS = 15_000;
/** A timer with more than this fires at once. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;
/** Far more than the largest answer. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;
/** Long enough for a restart of Gatehouse. A read changes nothing, so it is safe to send again. */
export const RESTART_BACKOFFS_MS = [250, 500, 1_000, 2_000, 4_000, 8_000];
const STREAM_TYPE = "text/event-stream";
const VISIBLE = /^[\x21-\x7e]+$/;

/** What the client needs of fetch. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type GatehouseOptions = {
  /** The address of Gatehouse, such as `https://gatehouse.example`; a path before `/v2` may follow. */
  readonly baseUrl: string;
  /** The API key, `gth_…`. */
  readonly token: string;
  /** The deadline of each request, its body included; 15,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Used instead of the global fetch. */
  readonly fetch?: Fetch | undefined;
};

export type Request = {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Instead of the deadline of all requests. */
  readonly timeoutMs?: number | undefined;
  /** What Gatehouse may take by itself, in addition to the deadline. */
  readonly extraMs?: number;
  /** The waits after failures, for requests that are safe to send again. Reads have some by default, others none. */
  readonly backoffsMs?: readonly number[];
  /** Is told of each failure, also when another try follows. */
  readonly onFailure?: (error: unknown) => void;
};

/** What every method takes. */
export type CallOptions = {
  readonly signal?: AbortSignal | undefined;
  /** The deadline of this request, its body included, instead of the one for all. */
  readonly timeoutMs?: number | undefined;
};

/** What was left of the key's limit when Gatehouse answered. */
export type LimitState = {
  readonly limit: number;
  readonly remaining: number;
  /** When the next window begins, in epoch milliseconds of the clock of Gatehouse. */
  readonly resetAt: number;
};

export type Answer<T> = { readonly value: T; readonly headers: Headers };

/** An open stream. `read` throws GatehouseError when nothing comes for `silenceMs`, or the connection breaks. */
export type OpenStream = {
  /** Undefined at the end of the stream. */
  read(silenceMs: number): Promise<Uint8Array | undefined>;
  close(): void;
};

/** Resolves after this time, or at once when the signal aborts. Tests hand in one of their own. */
export type Pause = (ms: number, signal?: AbortSignal) => Promise<void>;

type ByteReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read">;

export class Transport {
  readonly #base: string;
  readonly #token: string;
  readonly #timeoutMs: number;
  readonly #fetch: Fetch;
  readonly pause: Pause;
  /** Of the last answer that had one. */
  limit: LimitState | undefined;

  constructor(options: GatehouseOptions, ownPause: Pause = pause) {
    this.#base = parseBaseUrl(options.baseUrl);
    this.#token = options.token;
    // The message has no part of the token.
    if (typeof this.#token !== "string" || !VISIBLE.test(this.#token)) throw new TypeError("token must be an API key");
    this.#timeoutMs = checkTimeout(options.timeoutMs ?? TIMEOUT_DEFAULT_MS);
    // Called as a plain function, because a browser's fetch refuses to be a method of another object.
    const own = options.fetch;
    this.#fetch = own ? async (url, init) => own(url, init) : (url, init) => fetch(url, init);
    this.pause = ownPause;
  }

  /** Throws GatehouseError, or the reason of the signal when the caller has aborted. */
  async request<T>(path: string, request: Request = {}): Promise<Answer<T>> {
    const { method = "GET", backoffsMs = method === "GET" ? RESTART_BACKOFFS_MS : [], signal } = request;
    let hasWaited = false;
    for (let failures = 0; ; ) {
      try {
        return await this.#exchange<T>(path, request);
      } catch (error) {
        request.onFailure?.(error);
        const waitSeconds = hasWaited ? undefined : findLimitWait(error);
        // Whoever reads wants an answer in time: a deadline that passed is not begun anew.
        const isOver = method === "GET" && isPastDeadline(error);
        const canRepeat = !isOver && (isOutage(error) || isInFlight(error));
        const backoffMs = canRepeat ? backoffsMs[failures++] : undefined;
        if (waitSeconds !== undefined) hasWaited = true;
        else if (backoffMs === undefined) throw error;
        await this.pause(
          waitSeconds !== undefined ? waitSeconds * 1000 : chooseBackoffMs(error, backoffMs ?? 0),
          signal,
        );
        signal?.throwIfAborted();
      }
    }
  }

  /** Opens a stream of Server-Sent Events, once. Throws like `request`. */
  async openStream(path: string, query: Query, signal: AbortSignal): Promise<OpenStream> {
    signal.throwIfAborted();
    const deadline = new Deadline(signal);
    const init = this.#prepare({ headers: { Accept: STREAM_TYPE } }, deadline.signal);
    try {
      const reader = await deadline.within(this.#timeoutMs, this.#openReader(this.#address(path, query), init));
      return {
        async read(silenceMs) {
          try {
            const { done, value } = await deadline.within(silenceMs, reader.read());
            return done ? undefined : value;
          } catch (error) {
            throw toThrown(error, signal);
          }
        },
        close: () => deadline.close(),
      };
    } catch (error) {
      deadline.close();
      throw toThrown(error, signal);
    }
  }

  async #exchange<T>(path: string, request: Request): Promise<Answer<T>> {
    const { query = {}, signal, timeoutMs = this.#timeoutMs, extraMs = 0 } = request;
    checkTimeout(timeoutMs);
    signal?.throwIfAborted();
    const deadline = new Deadline(signal);
    const init = this.#prepare(request, deadline.signal);
    try {
      const answer = this.#fetchJson<T>(this.#address(path, query), init);
      return await deadline.within(Math.min(timeoutMs + extraMs, TIMEOUT_MAX_MS), answer);
    } catch (error) {
      throw toThrown(error, signal);
    } finally {
      deadline.close();
    }
  }

  #address(path: string, query: Query): string {
    return `${this.#base}${path}${writeQuery(query)}`;
  }

  #prepare({ method = "GET", headers, body }: Request, signal: AbortSignal): RequestInit {
    return {
      method,
      headers: {
        Accept: "application/json",
        ...headers,
        Authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { "Content-Type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
      // The token belongs to this address, and no other may send a command on.
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
    };
  }

  async #fetchJson<T>(url: string, init: RequestInit): Promise<Answer<T>> {
    const response = await this.#fetchGood(url, init);
    const value = parseOrUndefined(await readText(response));
    if (!isObject(value))
      throw new GatehouseError("this is no answer of Gatehouse: it is not JSON", { status: response.status });
    return { value: value as T, headers: response.headers };
  }

  async #openReader(url: string, init: RequestInit): Promise<ByteReader> {
    const response = await this.#fetchGood(url, init);
    const type = response.headers.get("Content-Type") ?? "";
    if (!type.startsWith(STREAM_TYPE) || !response.body)
      throw new GatehouseError("this is no stream of Gatehouse", { status: response.status });
    return response.body.getReader();
  }

  /** An error answer is read and thrown. */
  async #fetchGood(url: string, init: RequestInit): Promise<Response> {
    const response = await this.#fetch(url, init);
    this.limit = readLimit(response.headers) ?? this.limit;
    if (response.ok) return response;
    if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400))
      throw new GatehouseError("the address redirects; use the address that it redirects to as baseUrl", {
        // A browser does not tell the status.
        status: response.status || 302,
      });
    throw toGatehouseError(response.status, response.headers, parseOrUndefined(await readText(response)));
  }
}

/** What the caller gets: a failure of the network becomes a GatehouseError. */
function toThrown(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof GatehouseError) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new GatehouseError(`Gatehouse did not answer: ${words}`, { cause: error });
}

function isPastDeadline(error: unknown): boolean {
  return error instanceof GatehouseError && error.cause instanceof DeadlineExceeded;
}

function checkTimeout(ms: number): number {
  if (!(ms > 0 && ms <= TIMEOUT_MAX_MS)) throw new TypeError("timeoutMs must be a positive number of milliseconds");
  return ms;
}

function readLimit(headers: Headers): LimitState | undefined {
  const [limit, remaining, reset] = ["Limit", "Remaining", "Reset"].map((name) => {
    const text = headers.get(`X-RateLimit-${name}`) ?? "";
    return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
  });
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetAt: reset * 1000 };
}

function parseOrUndefined(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

async function readText(response: Response): Promise<string> {
  if (!response.body) return "";
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > BODY_BYTES_MAX) {
      await reader.cancel();
      throw new GatehouseError("the answer is too large", { status: response.status });
    }
    text += decoder.decode(value, { stream: true });
  }
}

function parseBaseUrl(text: string): string {
  const page = (globalThis as { readonly location?: { readonly href: string } }).location?.href;
  let url: URL;
  try {
    url = new URL(text, page);
  } catch {
    throw new TypeError("baseUrl must be an address such as https://gatehouse.example");
  }
  if (!/^https?:$/.test(url.protocol)) throw new TypeError("baseUrl must begin with https:// or http://");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new TypeError("baseUrl must have no user name, no password, no query and no fragment");
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener("abort", finish);
  });
}
