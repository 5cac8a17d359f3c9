// All streams of this instance: opens them, checks several times a second whether each may go on, and ends them.
import { ERRORS, type Refusal, StoreUnavailable } from "../../core/errors.ts";
import type { StreamFormat } from "../../core/events/stream-frames.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Archive, PageStart } from "../../core/ports/archive.ts";
import type { Clock, SleepUntilWoken } from "../../core/ports/clock.ts";
import type { LimitStore } from "../../core/ports/limits.ts";
import type { Log } from "../../core/ports/log.ts";
import { type StreamClosing, StreamMeter } from "../meters.ts";
import type { NamedFilter } from "./event-batch.ts";
import type { EventNotifier } from "./event-notifier.ts";
import { EventStream, type StreamSink } from "./event-stream.ts";
import { type BatchPage, ServerFeed } from "./server-feed.ts";
import { type StreamSlots, TOO_MANY_STREAMS } from "./stream-slots.ts";

/** How often every stream is checked. Changes of keys reach other instances within 250 ms; together it is less than a second. */
export const CHECK_MS = 400;

/** Who reads a stream, and what of it. */
export type StreamReader = {
  readonly serverId: string;
  /** Undefined for an operator. */
  readonly keyId: string | undefined;
  readonly filter: NamedFilter;
  /** Why the reader may not go on; undefined when it may. */
  readonly recheck: (now: number) => MaybePromise<Refusal | undefined>;
};

/** A stream that was admitted and has no connection yet. One of the two is called, once. */
export type OpenedStream = { readonly start: (sink: StreamSink) => EventStream; readonly cancel: () => void };

export type EventStreamsDeps = {
  readonly archive: Pick<Archive, "readPage">;
  readonly notifier: EventNotifier;
  readonly slots: StreamSlots;
  readonly limits: Pick<LimitStore, "findBlocked">;
  readonly clock: Clock;
  readonly pause: SleepUntilWoken;
  readonly log: Pick<Log, "error">;
};

export class EventStreams {
  readonly meter = new StreamMeter();
  readonly #feeds = new Map<string, ServerFeed>();
  readonly #streams = new Map<EventStream, StreamReader>();
  /** Ends the pause between two checks when the last stream has ended. */
  #idle: AbortController | undefined;
  #isAskingForBlocks = false;
  #isStopped = false;

  constructor(private readonly deps: EventStreamsDeps) {}

  /** How far the slowest reader is behind, in events of its ledger. */
  get eventsBehindMax(): number {
    let max = 0;
    for (const stream of this.#streams.keys()) max = Math.max(max, stream.eventsBehind);
    return max;
  }

  /** Reads the first page, so that a stream is refused before it begins. Throws when the archive does not answer. */
  async open(format: StreamFormat, start: PageStart, reader: StreamReader): Promise<OpenedStream | Refusal> {
    const { slots } = this.deps;
    const { serverId, keyId, filter } = reader;
    if (!slots.take(keyId)) return TOO_MANY_STREAMS;
    const feed = this.#getFeed(serverId);
    feed.hold();
    try {
      const first = await feed.readFirst(start, filter);
      return {
        start: (sink) => this.#start(sink, format, first, start, reader, feed),
        cancel: () => this.#cancel(keyId, feed),
      };
    } catch (error) {
      this.#cancel(keyId, feed);
      throw error;
    }
  }

  /** The first page as `open` would read it, for a request that wants no stream. */
  async probe(start: PageStart, { serverId, filter }: StreamReader): Promise<void> {
    await this.deps.archive.readPage({ serverId, start, filter: filter.kinds, limit: 1 });
  }

  /** Ends every stream, also those that are opened from now on. */
  stop(): void {
    this.#isStopped = true;
    for (const stream of [...this.#streams.keys()]) stream.end({ reason: "restart" });
  }

  #start(
    sink: StreamSink,
    format: StreamFormat,
    first: BatchPage,
    start: PageStart,
    reader: StreamReader,
    feed: ServerFeed,
  ): EventStream {
    const { clock } = this.deps;
    const { meter } = this;
    const stream = new EventStream({
      feed,
      format,
      filter: reader.filter,
      clock,
      onClosed: (closed, closing) => this.#remove(closed, closing, reader.keyId),
      countSent: (events) => {
        meter.eventsSent += events;
      },
    });
    meter.open[format]++;
    this.#streams.set(stream, reader);
    const asked = "after" in start && typeof start.after === "object" ? start.after : undefined;
    stream.start(sink, first, asked);
    if (this.#isStopped) stream.end({ reason: "restart" });
    else this.#keepChecking();
    return stream;
  }

  #cancel(keyId: string | undefined, feed: ServerFeed): void {
    this.deps.slots.release(keyId);
    feed.release();
  }

  #remove(stream: EventStream, closing: StreamClosing, keyId: string | undefined): void {
    this.deps.slots.release(keyId);
    this.#streams.delete(stream);
    this.meter.open[stream.format]--;
    this.meter.closed[closing]++;
    if (this.#streams.size > 0) return;
    this.#idle?.abort();
    this.#idle = undefined;
  }

  #getFeed(serverId: string): ServerFeed {
    const known = this.#feeds.get(serverId);
    if (known) return known;
    const { archive, notifier, pause, log } = this.deps;
    const feed = new ServerFeed({
      serverId,
      archive,
      notifier,
      pause,
      log,
      onEmpty: () => this.#feeds.delete(serverId),
    });
    this.#feeds.set(serverId, feed);
    return feed;
  }

  #keepChecking(): void {
    if (this.#idle) return;
    this.#idle = new AbortController();
    void this.#checkAll(this.#idle.signal);
  }

  async #checkAll(idle: AbortSignal): Promise<void> {
    const { pause, clock } = this.deps;
    for (;;) {
      await pause(CHECK_MS, idle);
      if (idle.aborted) return;
      const now = clock();
      for (const [stream, reader] of [...this.#streams]) {
        this.#recheck(stream, reader, now);
        stream.check(now);
      }
      void this.#endBlocked(now);
    }
  }

  #recheck(stream: EventStream, { recheck }: StreamReader, now: number): void {
    try {
      const refusal = recheck(now);
      if (refusal instanceof Promise) void this.#endLater(stream, refusal);
      else if (refusal) stream.end({ code: refusal.refused.code });
    } catch (error) {
      stream.end({ code: this.#codeOf(error) });
    }
  }

  async #endLater(stream: EventStream, pending: Promise<Refusal | undefined>): Promise<void> {
    try {
      const refusal = await pending;
      if (refusal) stream.end({ code: refusal.refused.code });
    } catch (error) {
      stream.end({ code: this.#codeOf(error) });
    }
  }

  /** A key that cannot be asked about may be revoked, so its streams end; the reader comes back with its cursor. */
  #codeOf(error: unknown): number {
    if (error instanceof StoreUnavailable) return ERRORS.unavailable.code;
    this.deps.log.error({ err: error }, "checking the key of a stream failed");
    return ERRORS.internal.code;
  }

  async #endBlocked(now: number): Promise<void> {
    if (this.#isAskingForBlocks) return;
    this.#isAskingForBlocks = true;
    try {
      const keyIds = new Set<string>();
      for (const { keyId } of this.#streams.values()) if (keyId !== undefined) keyIds.add(keyId);
      if (keyIds.size === 0) return;
      const blocked = await this.deps.limits.findBlocked([...keyIds], now);
      if (blocked.size === 0) return;
      for (const [stream, { keyId }] of [...this.#streams]) {
        if (keyId !== undefined && blocked.has(keyId)) stream.end({ code: ERRORS.spamBlocked.code });
      }
    } catch (error) {
      // Asked again soon; until then nobody is known to be blocked.
      if (!(error instanceof StoreUnavailable)) this.deps.log.error({ err: error }, "asking for blocked keys failed");
    } finally {
      this.#isAskingForBlocks = false;
    }
  }
}
