// A receiver of webhooks over real sockets that misbehaves as told, and checks what it accepts as a careful receiver does.
import { createServer, type Server, type Socket } from "node:net";
import { Webhook } from "standardwebhooks";

/** What becomes of a request: a status, or a fault of the connection. */
export type Reaction = number | "hang" | "reset" | "close" | "slow" | "redirect";

export type Received = { readonly id: string; readonly body: string };

const SLOW_MS = 40;

export class WebhookReceiver {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The deliveries that were accepted, repeats too. */
  readonly accepted: Received[] = [];
  /** All requests that came, whatever became of them. */
  requests = 0;
  /** Why a delivery was not genuine. */
  readonly forged: string[] = [];
  /** The secrets that this receiver knows: a delivery must be genuine by each. */
  secrets: readonly string[] = [];
  react: (n: number) => Reaction = () => 204;
  #changed = Promise.withResolvers<void>();

  private constructor() {
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/in/receivers-secret`;
  }

  /** The ids of what was accepted, each once, in the order of the first time. */
  get ids(): string[] {
    return [...new Set(this.accepted.map(({ id }) => id))];
  }

  /** Resolves when it is so; looked at after every request. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await this.#changed.promise;
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    let bytes = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const end = bytes.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = bytes.subarray(0, end).toString();
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
      const body = bytes.subarray(end + 4);
      if (body.length >= length) this.#receive(socket, head, body.toString());
    });
  }

  #receive(socket: Socket, head: string, body: string): void {
    const reaction = this.react(++this.requests);
    const answer = (line: string) => socket.end(`HTTP/1.1 ${line}\r\nContent-Length: 2\r\n\r\nok`);
    if (reaction === "reset") socket.resetAndDestroy();
    else if (reaction === "close") socket.destroy();
    else if (reaction === "redirect") answer(`302 Found\r\nLocation: ${this.url}/elsewhere`);
    else if (reaction === "slow") {
      this.#accept(head, body);
      setTimeout(() => answer("200 OK"), SLOW_MS);
    } else if (reaction !== "hang") {
      if (reaction >= 200 && reaction <= 299) this.#accept(head, body);
      answer(`${reaction} Answer${reaction === 429 ? "\r\nRetry-After: 0" : ""}`);
    }
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #accept(head: string, body: string): void {
    const headers = Object.fromEntries(
      head
        .split("\r\n")
        .slice(1)
        .map((line) => {
          const colon = line.indexOf(":");
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
        }),
    );
    for (const secret of this.secrets) {
      try {
        new Webhook(secret).verify(body, headers);
      } catch (error) {
        this.forged.push(String(error));
      }
    }
    this.accepted.push({ id: headers["webhook-id"] ?? "", body });
  }
}
