// A reader of a stream that comes back with its cursor whenever the stream ends, until it is stopped. It keeps the ids of all
// events that it was told.
import { SocketReader, SseReader } from "./stream-reader.ts";

/** Between two connections. */
const RETRY_MS = 50;

export type ReaderOptions = {
  readonly kind: "sse" | "socket";
  readonly token: string;
  /** Undefined: every type. */
  readonly types?: string | undefined;
  /** Where the next connection leads. */
  readonly choosePort: () => number;
};

export class ResumingReader {
  readonly ids: string[] = [];
  readonly types: string | undefined;
  connections = 0;
  /** Connections that ended before the stream was open. */
  failedOpenings = 0;
  /** Streams that were open and ended without a farewell. */
  cuts = 0;
  readonly #options: ReaderOptions;
  #cursor: string | undefined;
  #isStopped = false;
  #close: () => unknown = () => {};

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.types = options.types;
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      const opened = this.connections;
      let hasFarewell = false;
      try {
        hasFarewell = await (this.#options.kind === "sse" ? this.#readStream() : this.#readSocket());
      } catch {
        // The connection broke.
      }
      if (this.#isStopped) return;
      if (this.connections === opened) this.failedOpenings++;
      else if (!hasFarewell) this.cuts++;
      await Bun.sleep(RETRY_MS);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#close();
  }

  #url(path: string, cursor = "earliest"): string {
    const types = this.types === undefined ? "" : `&types=${this.types}`;
    return `http://127.0.0.1:${this.#options.choosePort()}/v2/game/server/events/${path}?after=${cursor}${types}`;
  }

  /** Both return whether the server said that it ends the stream. */
  async #readStream(): Promise<boolean> {
    const cut = new AbortController();
    this.#close = () => cut.abort();
    const headers = {
      Authorization: `Bearer ${this.#options.token}`,
      ...(this.#cursor !== undefined && { "Last-Event-ID": this.#cursor }),
    };
    const answer = await fetch(this.#url("stream"), { headers, signal: cut.signal, keepalive: false });
    if (answer.status !== 200) return this.#wait(answer);
    this.connections++;
    const reader = new SseReader(answer);
    let last = "";
    for (let message = await reader.next(); message; message = await reader.next()) {
      last = message.event;
      if (message.id === undefined) continue;
      if (message.data?.id !== undefined) this.ids.push(message.data.id);
      this.#cursor = message.id;
    }
    return last === "bye";
  }

  async #readSocket(): Promise<boolean> {
    const headers = { Authorization: `Bearer ${this.#options.token}` };
    const reader = new SocketReader(this.#url("socket", this.#cursor), headers);
    this.#close = () => reader.socket.close();
    await reader.opened;
    this.connections++;
    let last = "";
    for (let frame = await reader.next(); frame; frame = await reader.next()) {
      last = frame.op;
      if (frame.event) this.ids.push(frame.event.id);
      this.#cursor = frame.event?.id ?? frame.cursor ?? this.#cursor;
    }
    return last === "bye";
  }

  /** A reader that is told to come back later does so. */
  async #wait(answer: Response): Promise<boolean> {
    await answer.body?.cancel();
    await Bun.sleep(Math.min(1, Number(answer.headers.get("retry-after") ?? 0)) * 1_000);
    return false;
  }
}
