// Counts what streams of events have done since the start, for /metrics.
import { STREAM_FORMATS, type StreamFormat } from "../../core/events/stream-frames.ts";

/**
 * `reader`: the reader went. `key`: its key may not go on. `restart`: we stop. `slow`: it did not take what was sent.
 * `misuse`: it sent something that a reader does not send.
 */
export const STREAM_CLOSINGS = ["reader", "key", "restart", "slow", "misuse"] as const;
export type StreamClosing = (typeof STREAM_CLOSINGS)[number];

export class StreamMeter {
  eventsSent = 0;
  readonly open: Record<StreamFormat, number> = Object.fromEntries(
    STREAM_FORMATS.map((format) => [format, 0]),
  ) as Record<StreamFormat, number>;
  readonly closed: Record<StreamClosing, number> = Object.fromEntries(
    STREAM_CLOSINGS.map((closing) => [closing, 0]),
  ) as Record<StreamClosing, number>;
}
