// Reads the messages of a stream of Server-Sent Events.
import { type SseMessage, SseParser } from "../../packages/client/src/sse-parser.ts";

/**
 * Ends when the stream ends; a message without its end is dropped. Throws RangeError for a message that is too long.
 * `onBytes` is called with whatever arrives.
 */
export async function* readMessages(
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
