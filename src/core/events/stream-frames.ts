// What a stream of events says, as text: messages of Server-Sent Events and frames of a WebSocket.
import { HIDES_NOTHING, type HiddenSet } from "../keys/rights.ts";
import type { LedgerEvent } from "../ports/archive.ts";
import { hideInEvent } from "../readings/hide-fields.ts";
import { type LedgerPosition, writeCursor } from "./cursor.ts";
import { toEventKind, typeOfKind } from "./event-types.ts";
import { toGapEvent } from "./new-event.ts";

/** How a stream is carried. */
export const STREAM_FORMATS = ["sse", "socket"] as const;
export type StreamFormat = (typeof STREAM_FORMATS)[number];

/** Why a stream ends: the error code that the reader would get now, or a reason of our own. */
export type StreamEnd = { readonly code: number } | { readonly reason: "restart" | "slow" };

/** How long a reader of Server-Sent Events waits before it connects again. */
export const RECONNECT_MS = 2_000;

const LINE_BREAKS = /[\r\n]+/g;

/** `text` is the event as `writeEvent` gives it. */
export function writeEventFrame(format: StreamFormat, cursor: string, type: string, text: string): string {
  return format === "sse" ? writeMessage(cursor, type, text) : `{"op":"event","event":${text}}`;
}

export function writeHello(format: StreamFormat, cursor: string, now: number): string {
  const fields = `"cursor":"${cursor}","server_time":${now}`;
  if (format === "socket") return `{"op":"hello",${fields}}`;
  return `retry: ${RECONNECT_MS}\n${writeMessage(cursor, "hello", `{${fields}}`)}`;
}

export function writeHeartbeat(format: StreamFormat, cursor: string): string {
  if (format === "socket") return `{"op":"heartbeat","cursor":"${cursor}"}`;
  return writeMessage(cursor, "heartbeat", `{"cursor":"${cursor}"}`);
}

/** `cursor` is undefined when the reader was told of no place yet. */
export function writeBye(format: StreamFormat, cursor: string | undefined, end: StreamEnd): string {
  const data = JSON.stringify(end);
  return format === "socket" ? `{"op":"bye",${data.slice(1)}` : writeMessage(cursor, "bye", data);
}

/** The gap that a reader gets whose place is not kept any more; `oldest` is the place before the oldest kept event. */
export function toRetentionGap(oldest: LedgerPosition, now: number): LedgerEvent {
  const gap = { section: "*", reason: "retention", from: null, to: null } as const;
  return { ...toGapEvent(gap, now), ...oldest, kind: toEventKind("gap", "*") };
}

/** The event as frames of both formats; each text is written once, however many readers get it. */
export class EventFrames {
  #text: string | undefined;
  readonly #frames: { [F in StreamFormat]?: string } = {};
  readonly #hidden = new Map<HiddenSet, EventFrames | undefined>();

  constructor(
    private readonly serverId: string,
    readonly event: LedgerEvent,
  ) {}

  /** What readers get from whom something is hidden; undefined when the event is not theirs. */
  shownTo(hide: HiddenSet): EventFrames | undefined {
    if (hide === HIDES_NOTHING) return this;
    if (this.#hidden.has(hide)) return this.#hidden.get(hide);
    const event = hideInEvent(this.event, hide);
    const frames = event === this.event ? this : event && new EventFrames(this.serverId, event);
    this.#hidden.set(hide, frames);
    return frames;
  }

  frameOf(format: StreamFormat): string {
    const known = this.#frames[format];
    if (known !== undefined) return known;
    const cursor = writeCursor(this.serverId, this.event);
    this.#text ??= writeEvent(this.serverId, this.event, cursor);
    const frame = writeEventFrame(format, cursor, typeOfKind(this.event.kind), this.#text);
    this.#frames[format] = frame;
    return frame;
  }
}

function writeMessage(cursor: string | undefined, event: string, data: string): string {
  // JSON text has line breaks only between its tokens, where a space means the same.
  const line = data.includes("\n") || data.includes("\r") ? data.replace(LINE_BREAKS, " ") : data;
  return `${cursor === undefined ? "" : `id: ${cursor}\n`}event: ${event}\ndata: ${line}\n\n`;
}

/** An event as readers get it. It is put together from the stored text, so that its numbers stay exact. */
export function writeEvent(serverId: string, event: LedgerEvent, id = writeCursor(serverId, event)): string {
  const { kind, at, seenAt, source, isBackfill, data, meta } = event;
  const text = `{"id":"${id}","type":"${typeOfKind(kind)}","at":${at},"seen_at":${seenAt},"source":"${source}","backfill":${isBackfill},"data":${data}`;
  return meta === null ? `${text}}` : `${text},"meta":${meta}}`;
}
