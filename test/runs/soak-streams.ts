// Event streams that stay open during a whole soak, half of them WebSockets. One that ends is a problem and is opened again.
import { SocketReader, SseReader } from "../stream-reader.ts";
import type { SoakStage } from "./soak-stage.ts";

const STREAMS = 20;
const REOPEN_MS = 1_000;

export class SoakStreams {
  readonly #stage: SoakStage;
  readonly #onProblem: (problem: string) => void;
  readonly #close: (() => unknown)[] = [];
  #isOver = false;
  #events = 0;

  constructor(stage: SoakStage, onProblem: (problem: string) => void) {
    this.#stage = stage;
    this.#onProblem = onProblem;
    for (let count = 0; count < STREAMS; count++) void this.#keepOpen(count);
  }

  /** Events that all streams together have got. */
  get events(): number {
    return this.#events;
  }

  close(): void {
    this.#isOver = true;
    for (const close of this.#close) void close();
  }

  async #keepOpen(at: number): Promise<void> {
    const { streamKeys } = this.#stage;
    const token = streamKeys[at % streamKeys.length]?.token ?? "";
    const isSocket = at % 2 === 1;
    while (!this.#isOver) {
      const end = await (isSocket ? this.#readSocket(at, token) : this.#readStream(at, token)).catch(String);
      if (this.#isOver) return;
      this.#onProblem(`an open ${isSocket ? "WebSocket" : "event stream"} ended: ${end}`);
      await Bun.sleep(REOPEN_MS);
    }
  }

  async #readStream(at: number, token: string): Promise<string> {
    const headers = { Authorization: `Bearer ${token}` };
    const url = `${this.#stage.gatehouse.url}/v2/game/server/events/stream`;
    const answer = await fetch(url, { headers, timeout: false } as RequestInit);
    if (answer.status !== 200) return `status ${answer.status}`;
    const reader = new SseReader(answer);
    this.#close[at] = () => reader.cancel().catch(() => {});
    for (;;) {
      const message = await reader.next();
      if (!message || message.event === "bye") return message?.raw ?? "without a word";
      if (message.data?.type !== undefined) this.#events++;
    }
  }

  async #readSocket(at: number, token: string): Promise<string> {
    const url = `${this.#stage.gatehouse.url}/v2/game/server/events/socket`;
    const reader = new SocketReader(url, { Authorization: `Bearer ${token}` });
    this.#close[at] = () => reader.socket.close();
    await reader.opened;
    for (;;) {
      const frame = await reader.next();
      if (!frame || frame.op === "bye") return `${frame?.code ?? frame?.reason ?? `close ${await reader.closed}`}`;
      if (frame.op === "event") this.#events++;
    }
  }
}
