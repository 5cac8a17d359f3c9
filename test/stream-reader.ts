// Readers of streams for tests: Server-Sent Events over fetch, and WebSockets.
import type { EventResource } from "../src/core/wire/event.ts";

export type SseMessage = {
  readonly id: string | undefined;
  readonly event: string;
  readonly retry: string | undefined;
  /** The parsed data. */
  // biome-ignore lint/suspicious/noExplicitAny: each kind of message has its own data
  readonly data: any;
  readonly raw: string;
};

export function parseSse(raw: string): SseMessage {
  const fields = new Map(
    raw.split("\n").map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
  );
  return {
    id: fields.get("id"),
    event: fields.get("event") ?? "",
    retry: fields.get("retry"),
    data: JSON.parse(fields.get("data") ?? "null"),
    raw,
  };
}

export class SseReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(response: Response) {
    if (!response.body) throw new Error("the answer has no body");
    this.#reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  }

  /** The next message; undefined when the stream has ended. */
  async next(): Promise<SseMessage | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const raw = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return parseSse(raw);
      }
      const { value, done } = await this.#reader.read();
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  async take(count: number): Promise<SseMessage[]> {
    const messages: SseMessage[] = [];
    while (messages.length < count) {
      const message = await this.next();
      if (!message) throw new Error(`the stream has ended after ${messages.length} messages`);
      messages.push(message);
    }
    return messages;
  }

  /** The next message that is no heartbeat: a clock that is advanced may bring some before an event is recorded. */
  async takeEvent(): Promise<SseMessage> {
    for (;;) {
      const [message] = await this.take(1);
      if (message && message.event !== "heartbeat") return message;
    }
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

export type SocketFrame = {
  readonly op: string;
  readonly cursor?: string;
  readonly server_time?: number;
  readonly event?: EventResource;
  readonly code?: number;
  readonly reason?: string;
};

export class SocketReader {
  readonly socket: WebSocket;
  /** The code of the close. */
  readonly closed: Promise<number>;
  readonly opened: Promise<void>;
  readonly #frames: SocketFrame[] = [];
  #arrived = Promise.withResolvers<void>();
  #isClosed = false;

  constructor(
    url: string,
    headers: Record<string, string> = {},
    tls: { rejectUnauthorized: boolean } = { rejectUnauthorized: true },
  ) {
    this.socket = new WebSocket(url.replace(/^http/, "ws"), { headers, tls } as unknown as string[]);
    this.opened = new Promise((resolve, reject) => {
      this.socket.onopen = () => resolve();
      this.socket.onerror = () => reject(new Error("the socket was refused"));
    });
    this.opened.catch(() => {});
    this.closed = new Promise((resolve) => {
      this.socket.onclose = ({ code }) => {
        this.#isClosed = true;
        this.#arrived.resolve();
        resolve(code);
      };
    });
    this.socket.onmessage = ({ data }) => {
      this.#frames.push(JSON.parse(String(data)));
      this.#arrived.resolve();
    };
  }

  /** The next frame; undefined when the socket is closed. */
  async next(): Promise<SocketFrame | undefined> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame || this.#isClosed) return frame;
      this.#arrived = Promise.withResolvers();
      await this.#arrived.promise;
    }
  }

  async take(count: number): Promise<SocketFrame[]> {
    const frames: SocketFrame[] = [];
    while (frames.length < count) {
      const frame = await this.next();
      if (!frame) throw new Error(`the socket was closed after ${frames.length} frames`);
      frames.push(frame);
    }
    return frames;
  }
}
