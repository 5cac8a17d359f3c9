// The one stream of events of the page: opens it, resumes it by its cursor, and gives each event to every listener once and in
// order. Knows nothing of React.
import { type SseMessage, SseParser } from "../../../../packages/client/src/sse-parser.ts";
import { ERRORS } from "../../../core/errors.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import { parseExactJson } from "../../api/exact-json.ts";
import type { ApiError, OpenedStream, OpenStream } from "../../api/request.ts";
import { type SetTimer, setPageTimer } from "../time/throttle.ts";

/**
 * `live`: events arrive as they are recorded. `resuming`: it was live moments ago, so views wait for it before they poll.
 * `off`: views poll.
 */
export type StreamStatus = "live" | "resuming" | "off";

export type StreamListener = {
  /** Events arrive in the order of the ledger, none of them twice. */
  readonly onEvent?: (event: EventResource) => void;
  readonly onStatus?: (status: StreamStatus) => void;
  /** The stream began at the newest event, so what happened before it must be read. */
  readonly onFreshStart?: () => void;
  /** Gatehouse has refused to open the stream, or has ended it because of the key. */
  readonly onRefused?: (error: ApiError | undefined) => void;
};

/** How long views wait for a broken stream before they poll. */
export const GRACE_MS = 6_000;
/** Heartbeats come every 15 s; a connection without two of them is dead. */
export const SILENCE_MAX_MS = 40_000;
/** After a longer pause the stream begins at the newest event, and views read what they need of the rest. */
export const RESUME_MAX_MS = 10 * 60_000;
/** How many events are kept for views that open while the stream runs. */
export const RECENT_MAX = 500;

export type StreamDeps = {
  readonly open: OpenStream;
  /** How long the page must not send requests, because of the key's limit or a block. */
  readonly waitMs: (now: number) => number;
  readonly now?: () => number;
  readonly setTimer?: SetTimer;
  readonly random?: () => number;
};

export class LiveStream {
  readonly #deps: Required<StreamDeps>;
  readonly #listeners = new Set<StreamListener>();
  #run: AbortController | undefined;
  #status: StreamStatus = "off";
  #cursor: string | undefined;
  #recent: EventResource[] = [];
  #lastMessageAt = 0;
  #clockAheadMs = 0;
  #failures = 0;
  #wake: (() => void) | undefined;
  #cancelGrace: (() => void) | undefined;

  constructor(deps: StreamDeps) {
    this.#deps = { now: Date.now, setTimer: setPageTimer, random: Math.random, ...deps };
  }

  get status(): StreamStatus {
    return this.#status;
  }

  /** The cursor that the stream has reached. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** The last events, oldest first. */
  get recent(): readonly EventResource[] {
    return this.#recent;
  }

  /** The time by the clock of Gatehouse, as far as it is known. */
  get serverNow(): number {
    return this.#deps.now() + this.#clockAheadMs;
  }

  listen(listener: StreamListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Opens the stream and keeps it open. Goes on where it was stopped, if that was not long ago. */
  start(): void {
    if (this.#run) return;
    this.#run = new AbortController();
    this.#failures = 0;
    void this.#follow(this.#run.signal);
  }

  stop(): void {
    this.#run?.abort();
    this.#run = undefined;
    this.#setStatus("off");
  }

  /** Ends a backoff: something says that the next try may succeed. */
  retryNow(): void {
    if (this.#deps.waitMs(this.#deps.now()) === 0) this.#wake?.();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const waitMs = this.#deps.waitMs(this.#deps.now());
      const delayMs = waitMs > 0 ? waitMs : await this.#readOnce(signal);
      if (signal.aborted) return;
      if (delayMs === undefined) return this.#setStatus("off");
      await this.#pause(delayMs, signal);
    }
  }

  /** Reads one connection to its end. Returns the backoff; undefined when there is no stream to be had. */
  async #readOnce(signal: AbortSignal): Promise<number | undefined> {
    const { now, random } = this.#deps;
    if (this.#cursor !== undefined && now() - this.#lastMessageAt > RESUME_MAX_MS) this.#forget();
    const connection = new AbortController();
    const both = AbortSignal.any([signal, connection.signal]);
    const openedAt = now();
    try {
      const outcome = await this.#deps.open(this.#cursor, both);
      if (signal.aborted) return undefined;
      if (!outcome.ok) {
        this.#failures++;
        // A cursor that Gatehouse does not take would be refused again and again.
        if (outcome.error.status === 400) this.#forget();
        this.#lose();
        this.#tell(({ onRefused }) => onRefused?.(outcome.error));
        return refusalBackoffMs(outcome.error, this.#failures, random);
      }
      await this.#readMessages(outcome, connection, signal);
    } catch {
      // The connection broke, or was silent for too long; what it gave is kept, and the next one goes on from there.
    } finally {
      connection.abort();
    }
    if (signal.aborted) return undefined;
    this.#lose();
    this.#failures = now() - openedAt >= GOOD_STREAM_MS ? 1 : this.#failures + 1;
    return backoffMs(this.#failures, random);
  }

  async #readMessages(opened: OpenedStream, connection: AbortController, signal: AbortSignal): Promise<void> {
    const parser = new SseParser();
    const guard = () => this.#deps.setTimer(() => connection.abort(), SILENCE_MAX_MS);
    let cancelGuard = guard();
    try {
      for await (const text of opened.texts) {
        if (signal.aborted) return;
        cancelGuard();
        cancelGuard = guard();
        for (const message of parser.push(text)) {
          if (!this.#takeMessage(message)) return;
        }
      }
    } finally {
      cancelGuard();
    }
  }

  /** Returns false for the last message of a stream. */
  #takeMessage({ id, event: name, data }: SseMessage): boolean {
    this.#lastMessageAt = this.#deps.now();
    if (name === "bye") {
      const { code } = parseExactJson(data) as { readonly code?: unknown };
      if (code !== undefined) this.#tell(({ onRefused }) => onRefused?.(undefined));
      return false;
    }
    const isFresh = this.#cursor === undefined;
    if (name === "hello") this.#takeHello(data, isFresh, id);
    else if (name !== "heartbeat" && id !== this.#cursor) {
      const event = parseExactJson(data) as EventResource;
      this.#cursor = id;
      this.#recent.push(event);
      if (this.#recent.length > RECENT_MAX) this.#recent.shift();
      this.#tell(({ onEvent }) => onEvent?.(event));
    }
    if (id !== "") this.#cursor = id;
    return true;
  }

  #takeHello(data: string, isFresh: boolean, id: string): void {
    const { server_time } = parseExactJson(data) as { readonly server_time?: unknown };
    if (typeof server_time === "number") this.#clockAheadMs = server_time - this.#deps.now();
    if (id !== "") this.#cursor = id;
    if (isFresh) this.#tell(({ onFreshStart }) => onFreshStart?.());
    this.#setStatus("live");
  }

  /** A listener that throws is a bug; it must not look like a broken connection. */
  #tell(call: (listener: StreamListener) => void): void {
    for (const listener of this.#listeners) {
      try {
        call(listener);
      } catch (error) {
        reportError(error);
      }
    }
  }

  #forget(): void {
    this.#cursor = undefined;
    this.#recent = [];
  }

  #lose(): void {
    if (this.#status !== "live") return;
    this.#setStatus("resuming");
    this.#cancelGrace = this.#deps.setTimer(() => this.#setStatus("off"), GRACE_MS);
  }

  #setStatus(status: StreamStatus): void {
    this.#cancelGrace?.();
    this.#cancelGrace = undefined;
    if (status === this.#status) return;
    this.#status = status;
    this.#tell(({ onStatus }) => onStatus?.(status));
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#deps.setTimer(resolve, ms);
    signal.addEventListener("abort", () => resolve(), { once: true });
    this.#wake = resolve;
    await promise;
    if (this.#wake === resolve) this.#wake = undefined;
    cancel();
  }
}

/** The wait after the first failure; Gatehouse sends the same time as `retry`. */
const FIRST_BACKOFF_MS = 2_000;
const BACKOFF_MAX_MS = 30_000;
/** For refusals that rarely change while the page is open. */
const SELDOM_BACKOFF_MS = 60_000;
/** A stream that lived for this long was a good one, so the next failure is the first again. */
export const GOOD_STREAM_MS = 10_000;

/** `random` gives 0 to 1. Half of each wait is jitter, so that all pages do not come back at the same moment. */
export function backoffMs(failures: number, random: () => number): number {
  const longest = Math.min(FIRST_BACKOFF_MS * 2 ** Math.max(0, failures - 1), BACKOFF_MAX_MS);
  return addJitter(longest, random);
}

/** The wait after a refusal; undefined when another try is of no use. */
export function refusalBackoffMs(error: ApiError, failures: number, random: () => number): number | undefined {
  const { code, status, retryAfter } = error;
  // There is no archive, or the key does not work any more.
  if (code === ERRORS.notConfigured.code || status === 401) return undefined;
  const isTemporary = status === 0 || status >= 500;
  const wait = isTemporary ? backoffMs(failures, random) : addJitter(SELDOM_BACKOFF_MS, random);
  return Math.max(wait, (retryAfter ?? 0) * 1000);
}

function addJitter(longestMs: number, random: () => number): number {
  return Math.round(longestMs * (0.5 + random() / 2));
}
