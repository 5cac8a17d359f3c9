// One reader of a stream. At the newest place its server's feed gives it what is recorded; behind that place it reads the
// ledger by itself, only as fast as it takes what is sent.
import { type LedgerPosition, writeCursor } from "../../core/events/cursor.ts";
import {
  type StreamEnd,
  type StreamFormat,
  toRetentionGap,
  writeBye,
  writeHeartbeat,
  writeHello,
} from "../../core/events/stream-frames.ts";
import {
  isHeartbeatDue,
  judgeProgress,
  type Progress,
  startProgress,
  WAITING_BYTES_MAX,
} from "../../core/events/stream-pace.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { StreamClosing } from "../meters.ts";
import { EventBatch, type NamedFilter, StreamChunk } from "./event-batch.ts";
import type { BatchPage, FeedMember, ServerFeed } from "./server-feed.ts";

/** What is given to the connection before the reader has taken it. The rest waits here, where readers share it. */
export const HANDED_BYTES_MAX = 65_536;

const NO_POSITION: LedgerPosition = { number: 0, mark: 0 };

/** The connection of a reader. */
export interface StreamSink {
  /** Bytes that were sent and that the kernel has not taken. */
  readonly waitingBytes: number;
  /** Whether the connection is known to be closed. */
  readonly isClosed: boolean;
  send(chunk: StreamChunk): void;
  /** Sends the last frame where it still arrives, and closes. */
  end(bye: StreamChunk, end: StreamEnd): void;
}

export type StreamDeps = {
  readonly feed: ServerFeed;
  readonly format: StreamFormat;
  readonly filter: NamedFilter;
  readonly clock: Clock;
  /** Called once, when the stream has ended. */
  readonly onClosed: (stream: EventStream, closing: StreamClosing) => void;
  readonly countSent: (events: number) => void;
};

export class EventStream implements FeedMember {
  readonly #queue: StreamChunk[] = [];
  #sink: StreamSink | undefined;
  /** What was read of the ledger, including what waits in the queue. */
  #place: LedgerPosition = NO_POSITION;
  /** What was given to the connection. */
  #sentPlace: LedgerPosition = NO_POSITION;
  #queuedBytes = 0;
  #handedBytes = 0;
  #isLive = false;
  #isReading = false;
  #isClosed = false;
  #lastMessageAt = 0;
  #progress: Progress = startProgress(0);

  constructor(private readonly deps: StreamDeps) {}

  get format(): StreamFormat {
    return this.deps.format;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get place(): LedgerPosition {
    return this.#place;
  }

  /** Bytes that wait for the reader beyond the kernel's buffers. */
  get waitingBytes(): number {
    return this.#queuedBytes + (this.#sink?.waitingBytes ?? 0);
  }

  /** How many events of its ledger the reader was not sent yet. */
  get eventsBehind(): number {
    return Math.max(0, this.deps.feed.newestNumber - this.#sentPlace.number);
  }

  /** `first` is the page that the stream begins with, `asked` the place that the reader named. */
  start(sink: StreamSink, first: BatchPage, asked: LedgerPosition | undefined): void {
    const { clock, format } = this.deps;
    const now = clock();
    this.#sink = sink;
    this.#progress = startProgress(now);
    // A reader whose place is too old keeps it until the gap has arrived, so that it cannot miss the gap.
    this.#place = "oldest" in first ? (asked ?? first.oldest) : first.previous;
    this.#sentPlace = this.#place;
    this.#say(writeHello(format, this.#cursorOf(this.#place), now));
    this.#takePage(first);
    void this.#readOn("hasMore" in first && !first.hasMore);
  }

  take(batch: EventBatch): void {
    if (batch.place.number <= this.#place.number) return;
    if (this.waitingBytes >= WAITING_BYTES_MAX) {
      this.fallBehind();
      this.#progress = { ...this.#progress, overflowedAt: this.deps.clock() };
      return;
    }
    this.#queueBatch(batch);
    this.#pump();
  }

  fallBehind(): void {
    this.#isLive = false;
    this.deps.feed.leaveLive(this);
    void this.#readOn(false);
  }

  /** The connection may have room again. */
  drained(): void {
    if (this.#isClosed || !this.#sink) return;
    this.#pump();
    if (!this.#isLive) void this.#readOn(false);
  }

  /** Sends a heartbeat when one is due, and ends a stream whose reader is too slow or gone. */
  check(now: number): void {
    const sink = this.#sink;
    if (!sink) return;
    const { waitingBytes } = this;
    const takenBytes = this.#handedBytes - sink.waitingBytes;
    const judged = judgeProgress(this.#progress, { waitingBytes, takenBytes }, now);
    if (judged === "slow") {
      this.end({ reason: "slow" });
      return;
    }
    this.#progress = judged;
    this.drained();
    if (!isHeartbeatDue(this.#lastMessageAt, waitingBytes, now)) return;
    if (sink.isClosed) this.close("reader");
    else this.#say(writeHeartbeat(this.deps.format, this.#cursorOf(this.#place)));
  }

  /** Says why, and closes the connection. */
  end(end: StreamEnd): void {
    const sink = this.#sink;
    if (this.#isClosed) return;
    this.close("code" in end ? "key" : end.reason);
    const cursor = this.#cursorOf(this.#sentPlace);
    sink?.end(new StreamChunk([writeBye(this.deps.format, cursor, end)], 0, this.#sentPlace), end);
  }

  /** The connection is closed, or will be. */
  close(closing: StreamClosing): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue.length = 0;
    this.#queuedBytes = 0;
    this.deps.feed.leave(this);
    this.deps.onClosed(this, closing);
  }

  /** Reads the ledger until the newest place is reached, or the reader has enough for now. */
  async #readOn(hasReachedEnd: boolean): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const { feed, filter } = this.deps;
    try {
      let isAtEnd = hasReachedEnd;
      for (;;) {
        if (this.#isClosed) return;
        if (isAtEnd && feed.joinLive(this)) {
          this.#isLive = true;
          return;
        }
        if (this.waitingBytes >= HANDED_BYTES_MAX) return;
        const page = await feed.readPage(this.#place, filter);
        if (this.#isClosed || !page) return;
        this.#takePage(page);
        isAtEnd = "hasMore" in page && !page.hasMore;
      }
    } finally {
      this.#isReading = false;
    }
  }

  #takePage(page: BatchPage): void {
    const { feed, clock, filter } = this.deps;
    if ("oldest" in page) {
      const gap = toRetentionGap(page.oldest, clock());
      // Whatever the filter says: the reader must learn that it has missed something.
      const kinds = new Set([...filter.kinds, gap.kind]);
      const batch = new EventBatch(feed.serverId, [gap], page.oldest);
      const chunks = batch.chunksOf(this.deps.format, { ...filter, kinds }, { number: -1, mark: 0 });
      for (const chunk of chunks) this.#enqueue(chunk);
      this.#place = page.oldest;
    } else {
      this.#queueBatch(page.batch);
    }
    this.#pump();
  }

  #queueBatch(batch: EventBatch): void {
    const { format, filter } = this.deps;
    for (const chunk of batch.chunksOf(format, filter, this.#place)) this.#enqueue(chunk);
    this.#place = batch.place;
  }

  #enqueue(chunk: StreamChunk): void {
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.size;
  }

  #pump(): void {
    const sink = this.#sink;
    if (!sink) return;
    while (sink.waitingBytes < HANDED_BYTES_MAX) {
      const chunk = this.#queue.shift();
      if (!chunk) break;
      this.#queuedBytes -= chunk.size;
      this.#send(sink, chunk);
    }
    // Past what the filter has left out.
    if (this.#queue.length === 0) this.#sentPlace = this.#place;
  }

  #say(frame: string): void {
    if (this.#sink) this.#send(this.#sink, new StreamChunk([frame], 0, this.#sentPlace));
  }

  #send(sink: StreamSink, chunk: StreamChunk): void {
    sink.send(chunk);
    this.#sentPlace = chunk.place;
    this.#handedBytes += chunk.size;
    this.#lastMessageAt = this.deps.clock();
    this.deps.countSent(chunk.events);
  }

  #cursorOf(place: LedgerPosition): string {
    return writeCursor(this.deps.feed.serverId, place);
  }
}
