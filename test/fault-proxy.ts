// A proxy between an instance and its Redis, its PostgreSQL or its callers that can fail: it closes, holds, drops or delays connections, or answers itself.
import { connect, createServer, type Socket } from "node:net";
import { undoLater } from "./temporary.ts";

type Direction = "request" | "reply";
type Mode =
  | { readonly kind: "pass" }
  /** Data arrives when the proxy passes again. */
  | { readonly kind: "hold" }
  /** Data is dropped; a connection that has lost data stays unusable. */
  | { readonly kind: "swallow" }
  /** Open connections are closed and new ones refused. */
  | { readonly kind: "closed" }
  /** Requests arrive; the line is cut before the reply gets through. */
  | { readonly kind: "lose-replies" }
  /** Requests arrive late, replies at once. */
  | { readonly kind: "slow"; readonly ms: number }
  /** Every command of the Redis protocol gets this error and goes no further. Open connections are closed first. */
  | { readonly kind: "refuse"; readonly error: string };

export class FaultProxy {
  readonly #lines = new Set<Line>();
  /** Where new connections lead; open ones keep theirs. */
  targetPort: number;
  #port = 0;
  mode: Mode = { kind: "pass" };
  /** Sees every chunk of a reply before the instance does. `connection` tells the connections apart. */
  watchReply: (piece: Buffer, connection: object) => void = () => {};

  static async start(targetPort: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(targetPort);
    const server = createServer((socket) => proxy.#connect(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    proxy.#port = typeof address === "object" && address ? address.port : 0;
    undoLater(() => {
      proxy.set({ kind: "closed" });
      server.close();
    });
    return proxy;
  }

  private constructor(targetPort: number) {
    this.targetPort = targetPort;
  }

  get port(): number {
    return this.#port;
  }

  /** As the address of a Redis. */
  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** The same database, through this proxy. */
  postgresUrl(url: string): string {
    const changed = new URL(url);
    changed.port = String(this.#port);
    return changed.href;
  }

  set(mode: Mode): void {
    this.mode = mode;
    if (mode.kind === "closed" || mode.kind === "refuse") for (const line of this.#lines) line.cut();
    if (mode.kind === "pass") for (const line of this.#lines) line.release();
  }

  #connect(socket: Socket): void {
    if (this.mode.kind === "closed") {
      socket.destroy();
      return;
    }
    const line = new Line(this, socket, connect(this.targetPort, "127.0.0.1"));
    this.#lines.add(line);
    socket.on("close", () => this.#lines.delete(line));
  }
}

class Line {
  readonly #proxy: FaultProxy;
  readonly #ends: Readonly<Record<Direction, Socket>>;
  readonly #held: { direction: Direction; piece: Buffer }[] = [];
  #isDeaf = false;
  #delayed = 0;
  #delayMs = 0;
  #unparsed: Buffer = Buffer.alloc(0);

  constructor(proxy: FaultProxy, instance: Socket, redis: Socket) {
    this.#proxy = proxy;
    this.#ends = { request: redis, reply: instance };
    instance.setNoDelay(true);
    redis.setNoDelay(true);
    instance.on("data", (piece: Buffer) => this.#take("request", piece));
    redis.on("data", (piece: Buffer) => this.#take("reply", piece));
    for (const socket of [instance, redis]) {
      socket.on("error", () => {});
      socket.on("close", () => this.cut());
    }
  }

  cut(): void {
    this.#ends.request.destroy();
    this.#ends.reply.destroy();
  }

  release(): void {
    for (const { direction, piece } of this.#held.splice(0)) this.#pass(direction, piece);
  }

  #take(direction: Direction, piece: Buffer): void {
    const { mode } = this.#proxy;
    if (this.#isDeaf) return;
    if (mode.kind === "swallow") this.#isDeaf = true;
    else if (mode.kind === "hold") this.#held.push({ direction, piece });
    else if (mode.kind === "lose-replies" && direction === "reply") this.cut();
    else if (mode.kind === "refuse" && direction === "request") this.#refuse(piece, mode.error);
    else if (direction === "request" && (mode.kind === "slow" || this.#delayed > 0)) {
      // What comes after a delayed piece must not overtake it.
      if (mode.kind === "slow") this.#delayMs = mode.ms;
      this.#delayed++;
      setTimeout(() => {
        this.#delayed--;
        if (this.#proxy.mode.kind === "hold") this.#held.push({ direction, piece });
        else this.#pass(direction, piece);
      }, this.#delayMs);
    } else this.#pass(direction, piece);
  }

  #pass(direction: Direction, piece: Buffer): void {
    if (direction === "reply") this.#proxy.watchReply(piece, this);
    this.#ends[direction].write(piece);
  }

  #refuse(piece: Buffer, error: string): void {
    this.#unparsed = Buffer.concat([this.#unparsed, piece]);
    for (let end = findCommandEnd(this.#unparsed); end > 0; end = findCommandEnd(this.#unparsed)) {
      this.#unparsed = this.#unparsed.subarray(end);
      this.#ends.reply.write(`-${error}\r\n`);
    }
  }
}

/** The end of the first complete command of the Redis protocol; 0 when it is incomplete. */
function findCommandEnd(bytes: Buffer): number {
  let at = 0;
  const readLine = (): number => {
    const end = bytes.indexOf("\r\n", at);
    if (end === -1) return Number.NaN;
    const count = Number(bytes.toString("latin1", at + 1, end));
    at = end + 2;
    return count;
  };
  const parts = readLine();
  for (let part = 0; part < parts; part++) {
    const length = readLine();
    at += length + 2;
  }
  return Number.isNaN(parts) || Number.isNaN(at) || at > bytes.length ? 0 : at;
}
