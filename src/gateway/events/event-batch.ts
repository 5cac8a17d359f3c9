// Events of one page of a ledger, ready to be sent. Many readers get the same bytes: each event is serialised once for each
// format, and put together once for each filter.
import type { LedgerPosition } from "../../core/events/cursor.ts";
import type { EventFilter } from "../../core/events/event-types.ts";
import { EventFrames, type StreamFormat } from "../../core/events/stream-frames.ts";
import { HIDES_NOTHING, type HiddenSet } from "../../core/keys/rights.ts";
import type { LedgerEvent } from "../../core/ports/archive.ts";

/** A chunk ends with the event that reaches this size. */
const CHUNK_BYTES = 32_768;

const encoder = new TextEncoder();

/** A filter with a name, and what is hidden in the events that pass it. Equal ones have equal names. */
export type NamedFilter = { readonly name: string; readonly kinds: EventFilter; readonly hide: HiddenSet };

export function nameFilter(kinds: EventFilter, hide: HiddenSet = HIDES_NOTHING): NamedFilter {
  return { name: `${hide}:${[...kinds].sort((a, b) => a - b).join()}`, kinds, hide };
}

/** Frames that are sent together. */
export class StreamChunk {
  #encoded: Uint8Array<ArrayBuffer> | undefined;
  #size: number | undefined;

  constructor(
    readonly frames: readonly string[],
    /** How many of the frames are events. */
    readonly events: number,
    /** The place that a reader has reached with it. */
    readonly place: LedgerPosition,
  ) {}

  /** All frames, one after the other. */
  get encoded(): Uint8Array<ArrayBuffer> {
    this.#encoded ??= encoder.encode(this.frames.join(""));
    return this.#encoded;
  }

  /** In bytes. */
  get size(): number {
    this.#size ??= this.#encoded?.length ?? this.frames.reduce((sum, frame) => sum + Buffer.byteLength(frame), 0);
    return this.#size;
  }
}

export class EventBatch {
  /** The place that a reader has reached with all of it, past what its filter leaves out. */
  readonly place: LedgerPosition;
  readonly #events: readonly EventFrames[];
  /** By the names of filters. */
  readonly #chunks: Readonly<Record<StreamFormat, Map<string, readonly StreamChunk[]>>> = {
    sse: new Map(),
    socket: new Map(),
  };

  constructor(serverId: string, events: readonly LedgerEvent[], place: LedgerPosition) {
    this.#events = events.map((event) => new EventFrames(serverId, event));
    this.place = place;
  }

  /** The events after a place that pass the filter. */
  chunksOf(format: StreamFormat, filter: NamedFilter, after: LedgerPosition): readonly StreamChunk[] {
    const [first] = this.#events;
    if (!first) return [];
    // Rare: a reader that was quicker than the feed of its server.
    if (after.number >= first.event.number) return this.#write(format, filter, after.number);
    // Asked once for each stream, so no text is made to look it up.
    const known = this.#chunks[format].get(filter.name);
    if (known) return known;
    const chunks = this.#write(format, filter, after.number);
    this.#chunks[format].set(filter.name, chunks);
    return chunks;
  }

  #write(format: StreamFormat, { kinds, hide }: NamedFilter, after: number): readonly StreamChunk[] {
    const passing = this.#events.filter(({ event }) => event.number > after && kinds.has(event.kind));
    const wanted = hide === HIDES_NOTHING ? passing : passing.flatMap((frames) => frames.shownTo(hide) ?? []);
    const chunks: StreamChunk[] = [];
    let frames: string[] = [];
    let length = 0;
    for (const [index, each] of wanted.entries()) {
      const frame = each.frameOf(format);
      frames.push(frame);
      length += frame.length;
      if (length < CHUNK_BYTES && index < wanted.length - 1) continue;
      chunks.push(new StreamChunk(frames, frames.length, each.event));
      frames = [];
      length = 0;
    }
    return chunks;
  }
}
