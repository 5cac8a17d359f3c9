// Follows the events of a server: an async iterator that opens the stream again from its cursor whenever it ends.
import { parseExactJson } from "./exact-json.ts";
import type { GameEvent } from "./game-event.ts";
import { chooseBackoffMs, findLimitWait, GatehouseError, isOutage } from "./gatehouse-error.ts";
import { type SseMessage, SseParser } from "./sse-parser.ts";
import type { Transport } from "./transport.ts";

const PATH = "/v2/game/server/events/stream";
/** `silenceMs`: a stream has a heartbeat every 15 s; one that is silent for longer has lost its connection. */
const PACE = { silenceMs: 45_000, random: Math.random };
/** Waits before the next connection. Each failure in a row uses the next, the last repeats. */
const BACKOFFS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];
/** What a stream says that is not an event. */
export const CONTROL_MESSAGES: ReadonlySet<string> = new Set(["hello", "heartbeat", "bye"]);

export type StreamOptions = {
  /** A cursor, `earliest` or `now`; `now` by default. */
  readonly after?: string | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a connection failed and another is tried after this time. */
  readonly onOutage?: ((error: GatehouseError, waitMs: number) => void) | undefined;
};

/**
 * Events in order, each once. It goes on over restarts and lost connections, waits out a 429 of at most 60 s, and throws
 * GatehouseError for a refusal that asking again does not change.
 */
export class EventStream<E = GameEvent> implements AsyncIterableIterator<E> {
  readonly #transport: Transport;
  readonly #types: string | undefined;
  readonly #options: StreamOptions;
  readonly #pace: typeof PACE;
  readonly #stop = new AbortController();
  readonly #events: AsyncGenerator<E, undefined>;
  #cursor: string | undefined;
  readonly #onAbort = () => this.#stop.abort();

  constructor(
    transport: Transport,
    types: readonly string[] | undefined,
    options: StreamOptions,
    pace: typeof PACE = PACE,
  ) {
    this.#transport = transport;
    this.#types = types?.join(",");
    this.#options = options;
    this.#pace = pace;
    this.#cursor = options.after;
    this.#events = this.#follow();
    if (options.signal?.aborted) this.#stop.abort();
    else options.signal?.addEventListener("abort", this.#onAbort);
  }

  /**
   * Keep it once you have handled an event, and hand it in as `after` at the next start: nothing is missed or repeated. It
   * moves on with heartbeats too. Undefined before the first connection that began at `now`.
   */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  next(): Promise<IteratorResult<E, undefined>> {
    return this.#events.next();
  }

  /** Ends the stream, also while an event is waited for. */
  return(): Promise<IteratorResult<E, undefined>> {
    this.#close();
    return this.#events.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #close(): void {
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#stop.abort();
  }

  async *#follow(): AsyncGenerator<E, undefined> {
    const { signal } = this.#stop;
    try {
      for (let failures = 0; !signal.aborted; failures++) {
        let failure: GatehouseError | undefined;
        try {
          for await (const { id, event, data } of this.#readOnce(signal)) {
            if (id !== "") this.#cursor = id;
            if (!CONTROL_MESSAGES.has(event)) yield parseEvent<E>(data);
            // Not at once after the beginning: a connection that always ends there must not be opened without a pause.
            if (event !== "hello" && event !== "bye") failures = 0;
          }
        } catch (error) {
          if (signal.aborted) return undefined;
          if (!isOutage(error) && findLimitWait(error) === undefined) throw error;
          failure = error as GatehouseError;
        }
        if (signal.aborted) return undefined;
        await this.#backOff(failure, failures);
      }
      return undefined;
    } finally {
      this.#close();
    }
  }

  async #backOff(failure: GatehouseError | undefined, failures: number): Promise<void> {
    const backoffMs = BACKOFFS_MS[Math.min(failures, BACKOFFS_MS.length - 1)] ?? 0;
    // Spread, because a restart cuts many readers at the same moment.
    const waitMs = chooseBackoffMs(failure, Math.round(backoffMs * (0.75 + this.#pace.random() / 2)));
    if (failure) this.#options.onOutage?.(failure, waitMs);
    await this.#transport.pause(waitMs, this.#stop.signal);
  }

  async *#readOnce(signal: AbortSignal): AsyncGenerator<SseMessage> {
    const query = { after: this.#cursor, types: this.#types };
    const stream = await this.#transport.openStream(PATH, query, signal);
    const decoder = new TextDecoder();
    const parser = new SseParser();
    try {
      for (;;) {
        const bytes = await stream.read(this.#pace.silenceMs);
        if (!bytes) return;
        yield* pushOrThrow(parser, decoder.decode(bytes, { stream: true }));
      }
    } finally {
      stream.close();
    }
  }
}

function pushOrThrow(parser: SseParser, text: string): SseMessage[] {
  try {
    return parser.push(text);
  } catch (error) {
    throw toStreamFault(error);
  }
}

function parseEvent<E>(data: string): E {
  try {
    return parseExactJson(data) as E;
  } catch (error) {
    throw toStreamFault(error);
  }
}

/** Thrown to the caller: another connection would bring the same. */
function toStreamFault(cause: unknown): GatehouseError {
  return new GatehouseError("this is no stream of Gatehouse", { status: 200, cause });
}
