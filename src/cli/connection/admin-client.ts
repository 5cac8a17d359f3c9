// Calls the admin API over HTTP. Every call has a deadline, follows no redirect with the master key, and turns an error
// into a sentence with its exit code.
import { type GatehouseError, isObject, toGatehouseError } from "../../../packages/client/src/gatehouse-error.ts";
import { writeQuery } from "../../../packages/client/src/query.ts";
import { type SseMessage, SseParser } from "../../../packages/client/src/sse-parser.ts";
import { ERRORS } from "../../core/errors.ts";
import { PAGE_SIZE_MAX } from "../../core/ports/pages.ts";
import type { PageOf } from "../../core/wire/page.ts";
import { CommandFailed, EXIT_CODES, failUsage, toExitCode } from "../exit-codes.ts";
import { escapeUnsafe } from "../terminal/safe-text.ts";
import type { AdminAddress } from "./admin-address.ts";
import { describeNoAnswer, makeTransport } from "./admin-transport.ts";
import type { MasterKey } from "./master-key.ts";

const DEADLINE_MS = 10_000;
/** A stream has a heartbeat every 15 s; one that is silent for longer has lost its connection. */
const STREAM_SILENCE_MS = 45_000;

export type Answer<T> = { readonly text: string; readonly body: T };
export type AdminRequest = {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Segments below /admin. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The message when the resource does not exist. */
  readonly notFoundMessage?: string;
};

type Received = { readonly status: number; readonly text: string; readonly headers: Headers };

/** Every failure is a CommandFailed. The type of a body is what the API documents; the body itself is not checked. */
export class AdminClient {
  readonly #address: AdminAddress;
  readonly #masterKey: MasterKey;
  readonly #deadlineMs: number;

  constructor(address: AdminAddress, masterKey: MasterKey, deadlineMs = DEADLINE_MS) {
    this.#address = address;
    this.#masterKey = masterKey;
    this.#deadlineMs = deadlineMs;
  }

  async call<T>(request: AdminRequest): Promise<Answer<T>> {
    const received = await this.#send(request);
    const { status, text } = received;
    const body = parseJson(text);
    if (status >= 200 && status < 300 && (status === 204 || isObject(body))) return { text, body: body as T };
    throw this.#describeFailure(received, request);
  }

  /**
   * The messages of a stream of Server-Sent Events, until it ends, breaks or is aborted. A stream that broke throws
   * CommandFailed, with the exit code for a Gatehouse that cannot be reached.
   */
  stream(request: AdminRequest, signal: AbortSignal): AsyncGenerator<SseMessage> {
    return this.#readOn(request, ["text/event-stream"], signal, readMessages);
  }

  /** The bytes of a file, however long it takes. One that broke throws CommandFailed. */
  download(request: AdminRequest): AsyncGenerator<Uint8Array> {
    return this.#readOn(request, ["text/csv", "application/jsonl"], undefined, readChunks);
  }

  /** Reads a body for as long as something comes. */
  async *#readOn<T>(
    request: AdminRequest,
    types: readonly string[],
    signal: AbortSignal | undefined,
    read: (body: ReadableStream<Uint8Array>, onChunk: () => void) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const silent = new AbortController();
    const abort = () => silent.abort(new DOMException("silent", "TimeoutError"));
    let deadlineMs = this.#deadlineMs;
    let timer = setTimeout(abort, deadlineMs);
    try {
      const ended = signal ? AbortSignal.any([signal, silent.signal]) : silent.signal;
      const response = await this.#fetch(request, types.join(), ended);
      const type = response.headers.get("content-type") ?? "";
      const isExpected = types.some((each) => type.startsWith(each));
      if (!response.ok || !isExpected || !response.body) throw this.#describeFailure(await receive(response), request);
      yield* read(response.body, () => {
        clearTimeout(timer);
        deadlineMs = STREAM_SILENCE_MS;
        timer = setTimeout(abort, deadlineMs);
      });
    } catch (error) {
      if (error instanceof CommandFailed) throw error;
      if (error instanceof RangeError) throw describeForeignAnswer(200, this.#address);
      throw new CommandFailed(describeNoAnswer(error, this.#address.base, deadlineMs), EXIT_CODES.unavailable);
    } finally {
      clearTimeout(timer);
    }
  }

  #describeFailure({ status, text, headers }: Received, request: AdminRequest): CommandFailed {
    if (status >= 300 && status < 400) {
      const location = headers.get("location") ?? "";
      return new CommandFailed(
        `${this.#address.base} redirects elsewhere (${escapeUnsafe(location)}), and the master key is not sent there: give the right address with --url`,
      );
    }
    const error = toGatehouseError(status, headers, parseJson(text));
    return error.code === 0
      ? describeForeignAnswer(status, this.#address)
      : new CommandFailed(this.#describeError(error, request), toExitCode(error.code), error);
  }

  /**
   * Reads page after page, until the last one or until there are `limit` items that `keeps` accepts; `next` is null after
   * the last.
   */
  async list<T>(
    request: AdminRequest,
    limit = Number.POSITIVE_INFINITY,
    keeps: (item: T) => boolean = () => true,
  ): Promise<PageOf<T>> {
    const items: T[] = [];
    let cursor: string | null = null;
    do {
      const query: Record<string, string | undefined> = {
        ...request.query,
        limit: String(Math.min(PAGE_SIZE_MAX, limit - items.length)),
        cursor: cursor ?? undefined,
      };
      const { body }: Answer<Partial<PageOf<T>>> = await this.call({ ...request, query });
      if (!Array.isArray(body.items)) throw describeForeignAnswer(200, this.#address);
      items.push(...body.items.filter(keeps));
      const next: string | null = body.next ?? null;
      // A page that names itself as the next one would be read for ever.
      if (next !== null && next === cursor) throw describeForeignAnswer(200, this.#address);
      cursor = next;
    } while (cursor !== null && items.length < limit);
    return { items, next: cursor };
  }

  async #send(request: AdminRequest): Promise<Received> {
    const deadlineMs = this.#deadlineMs;
    try {
      return await receive(await this.#fetch(request, "application/json", AbortSignal.timeout(deadlineMs)));
    } catch (error) {
      if (error instanceof CommandFailed) throw error;
      const isLate = error instanceof Error && error.name === "TimeoutError";
      const doubt = isLate && request.method ? "; the change may have been made, so check before you try again" : "";
      const reason = describeNoAnswer(error, this.#address.base, deadlineMs);
      throw new CommandFailed(reason + doubt, EXIT_CODES.unavailable);
    }
  }

  async #fetch(request: AdminRequest, accept: string, signal: AbortSignal): Promise<Response> {
    return fetch(toUrl(this.#address, request), {
      method: request.method ?? "GET",
      headers: {
        Authorization: `Bearer ${this.#masterKey.key}`,
        Accept: accept,
        ...(request.body && { "Content-Type": "application/json" }),
      },
      ...(request.body && { body: JSON.stringify(request.body) }),
      redirect: "manual",
      signal,
      // When a kept-alive connection breaks, the runtime would repeat the request by itself.
      keepalive: false,
      ...(await makeTransport(this.#address)),
    });
  }

  #describeError(error: GatehouseError, request: AdminRequest): string {
    const { base } = this.#address;
    const { source } = this.#masterKey;
    const again = error.retryAfter === undefined ? "later" : `in ${error.retryAfter} s`;
    switch (error.code) {
      case ERRORS.invalidMasterKey.code:
      case ERRORS.missingToken.code:
        return `${base} does not accept the master key ${source}: use the one it was started with (--master-key-file, GATEHOUSE_MASTER_KEY)`;
      case ERRORS.tooManyAttempts.code:
        return `too many wrong master keys came from this address: check the one ${source} and try again ${again}`;
      case ERRORS.unavailable.code:
        if (error.details?.archive !== undefined)
          return `Gatehouse cannot reach its archive now, where events, history and webhooks are: try again ${again}. What is wrong with it is told by: gatehouse doctor`;
        return `Gatehouse cannot reach its store now: try again ${again}, and check its log if that does not help`;
      case ERRORS.notConfigured.code:
        return "this Gatehouse keeps no events and no history: it has no archive (GATEHOUSE_ARCHIVE)";
      case ERRORS.cursorExpired.code:
        return "the events after this cursor are no longer kept: use --after earliest";
      case ERRORS.internal.code:
        return `Gatehouse failed: its log says why, under request ${escapeUnsafe(String(error.body.request_id ?? "?"))}`;
      case ERRORS.notFound.code:
        return (
          request.notFoundMessage ??
          `${base} has no such resource: is it a Gatehouse of this version, and the port of its admin API (GATEHOUSE_ADMIN_PORT)?`
        );
      default:
        return describeOtherError(error);
    }
  }
}

async function* readChunks(body: ReadableStream<Uint8Array>, onChunk: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    onChunk();
    yield chunk;
  }
}

async function receive(response: Response): Promise<Received> {
  const text = await response.text();
  return { status: response.status, text, headers: response.headers };
}

function toUrl(address: AdminAddress, { path, query = {} }: AdminRequest): string {
  for (const segment of path) {
    // An empty or dotted segment would name another resource. A person on a server has an @.
    if (!/^[\w@-]+$/.test(segment)) failUsage(`"${escapeUnsafe(segment)}" is not an id`);
  }
  return `${address.base}/admin/${path.join("/")}${writeQuery(query)}`;
}

function describeOtherError({ code, details, body }: GatehouseError): string {
  if (!details) return `Gatehouse refused: ${escapeUnsafe(String(body.message))} (${code})`;
  const reasons = Object.entries(details).map(
    ([field, reason]) => `${escapeUnsafe(field)}: ${escapeUnsafe(String(reason))}`,
  );
  return `Gatehouse refused: ${reasons.join("; ")}`;
}

/** For an answer that does not come from Gatehouse: a proxy cannot reach it, or the address is wrong. */
function describeForeignAnswer(status: number, address: AdminAddress): CommandFailed {
  if (status >= 502 && status <= 504) {
    return new CommandFailed(
      `the proxy at ${address.base} cannot reach Gatehouse (${status}): is it running?`,
      EXIT_CODES.unavailable,
    );
  }
  return new CommandFailed(`${address.base} does not answer like Gatehouse (${status}): check the address (--url)`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Ends when the stream ends; a message without its end is dropped. Throws RangeError for a message that is too long.
 * `onBytes` is called with whatever arrives.
 */
async function* readMessages(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => {},
): AsyncGenerator<SseMessage> {
  const decoder = new TextDecoder();
  const parser = new SseParser();
  for await (const bytes of body) {
    onBytes();
    yield* parser.push(decoder.decode(bytes, { stream: true }));
  }
}
