// The clients of a rolling restart: half of them open a connection for each request, half keep theirs. Every request without a
// proper answer is a failure, and is told with its reason.
import type { Promised } from "../command-judge.ts";
import type { Home } from "../instances/fleet.ts";
import { openSocket, type RawAnswer, type RawSocket, sendRaw, writeRequest } from "../raw-socket.ts";

/** Longer than a drain may take. */
const ANSWER_DEADLINE_MS = 15_000;
/** Much shorter than idle connections may go on during a drain. */
const PAUSE_MAX_MS = 60;
const REPEAT_SHARE = 0.1;
/** How long commands that were begun are still sent when the load is stopped. */
const REST_MS = 20_000;
/** A key may be used 120 times a minute. */
const KEY_PAUSE_MS = 550;

type Connection = { ask(request: string): Promise<RawAnswer>; close(): void };

/** One connection for each request. */
class NewConnections implements Connection {
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  async ask(request: string): Promise<RawAnswer> {
    const answer = await sendRaw({ port: this.#port }, request, { deadlineMs: ANSWER_DEADLINE_MS });
    if (!answer) throw new Error("a new connection was closed without an answer");
    return answer;
  }

  close(): void {}
}

/** One connection until the server says that it closes it, or has closed it. */
class KeptConnection implements Connection {
  readonly #port: number;
  #socket: RawSocket | undefined;
  #requests = 0;

  constructor(port: number) {
    this.#port = port;
  }

  async ask(request: string): Promise<RawAnswer> {
    if (!this.#socket || this.#socket.isClosed) {
      this.close();
      this.#socket = await openSocket({ port: this.#port });
      this.#requests = 0;
    }
    this.#socket.write(request);
    const answer = await this.#socket.readAnswer({ deadlineMs: ANSWER_DEADLINE_MS });
    if (answer?.headers.get("connection")?.toLowerCase() === "close" || !answer) this.close();
    if (!answer) throw new Error(`a kept connection was closed without an answer after ${this.#requests} others`);
    this.#requests++;
    return answer;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}

/** Hands out keys in turn, none more often than its limit allows. */
export class KeyRing {
  readonly #tokens: readonly string[];
  readonly #usedAt = new Map<string, number>();
  #next = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  /** Undefined when all keys are in use. */
  take(): string | undefined {
    const token = this.#tokens[this.#next % this.#tokens.length];
    const now = performance.now();
    if (token === undefined || now - (this.#usedAt.get(token) ?? -KEY_PAUSE_MS) < KEY_PAUSE_MS) return undefined;
    this.#usedAt.set(token, now);
    this.#next++;
    return token;
  }
}

export type LoadOptions = {
  /** The balancer's. */
  readonly port: number;
  readonly homes: readonly (Home & { readonly token: string })[];
  /** Of the first of the homes. */
  readonly readers: KeyRing;
  readonly clients: number;
  readonly random: () => number;
};

export class RestartLoad {
  requests = 0;
  readonly failures: string[] = [];
  /** The accepted commands, by server. */
  readonly promised = new Map<string, Promised[]>();
  readonly problems: string[] = [];
  slowestMs = 0;
  readonly #options: LoadOptions;
  readonly #clients: Promise<void>[];
  #stoppedAt: number | undefined;

  constructor(options: LoadOptions) {
    this.#options = options;
    for (const { serverId } of options.homes) this.promised.set(serverId, []);
    this.#clients = Array.from({ length: options.clients }, (_, index) => this.#runClient(index));
  }

  get commands(): number {
    return [...this.promised.values()].reduce((sum, { length }) => sum + length, 0);
  }

  async stop(): Promise<void> {
    this.#stoppedAt ??= performance.now();
    await Promise.all(this.#clients);
  }

  async #runClient(index: number): Promise<void> {
    const { port, random, homes } = this.#options;
    const connection = index % 2 === 0 ? new NewConnections(port) : new KeptConnection(port);
    // Commands of one client stay in order, so each has one server.
    const home = homes[index % homes.length];
    const kinds = [
      () => this.#read(connection),
      () => this.#readEvents(connection),
      () => this.#checkHealth(connection),
    ];
    for (let count = 1; this.#stoppedAt === undefined; count++) {
      if (home && count % 8 === 0) await this.#submit(connection, home, `c${index}`, count);
      else await kinds[count % kinds.length]?.();
      await Bun.sleep(random() * PAUSE_MAX_MS);
    }
    connection.close();
  }

  /** The answer, when it has one of these statuses. */
  async #ask(connection: Connection, request: string, statuses: readonly number[]): Promise<RawAnswer | undefined> {
    const [line = ""] = request.split("\r\n", 1);
    const beganAt = performance.now();
    this.requests++;
    try {
      const answer = await connection.ask(request);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - beganAt);
      if (statuses.includes(answer.status)) return answer;
      this.failures.push(`${line}: ${answer.status} ${answer.body.slice(0, 200)}`);
    } catch (error) {
      this.failures.push(`${line}: ${error instanceof Error ? error.message : error}`);
    }
    return undefined;
  }

  async #checkHealth(connection: Connection): Promise<void> {
    await this.#ask(connection, writeRequest("/healthz"), [200]);
  }

  async #read(connection: Connection): Promise<void> {
    await this.#askAsReader(connection, "/v2/game/server?Players=true");
  }

  async #readEvents(connection: Connection): Promise<void> {
    await this.#askAsReader(connection, "/v2/game/server/events?limit=5");
  }

  async #askAsReader(connection: Connection, path: string): Promise<void> {
    const token = this.#options.readers.take();
    if (token === undefined) return await this.#checkHealth(connection);
    await this.#ask(connection, writeRequest(path, [`Authorization: Bearer ${token}`]), [200]);
  }

  /** Sends a command until it is accepted, always with the same idempotency key, and some once more. */
  async #submit(connection: Connection, home: Home & { token: string }, client: string, count: number): Promise<void> {
    const text = `:h ${client} ${count}`;
    const body = JSON.stringify({ command: text });
    const headers = [
      `Authorization: Bearer ${home.token}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
      `Idempotency-Key: ${client}-${count}`,
    ];
    const request = writeRequest("/v2/game/server/command", headers, "POST") + body;
    const ids = new Set<string>();
    const wanted = this.#options.random() < REPEAT_SHARE ? 2 : 1;
    for (let accepted = 0; accepted < wanted; ) {
      // 429: the queue is full.
      const answer = await this.#ask(connection, request, [202, 429]);
      if (answer?.status !== 202) {
        if (this.#mayGiveUp(ids.size, answer)) break;
        await Bun.sleep(PAUSE_MAX_MS);
        continue;
      }
      accepted++;
      ids.add(JSON.parse(answer.body).command_id);
    }
    if (ids.size > 1) this.problems.push(`${text} was accepted twice`);
    for (const commandId of ids) this.promised.get(home.serverId)?.push({ commandId, text });
  }

  /** When the load is stopped: at once for a command that is not accepted, later for one without an answer. */
  #mayGiveUp(accepted: number, answer: RawAnswer | undefined): boolean {
    if (this.#stoppedAt === undefined) return false;
    return (accepted === 0 && answer !== undefined) || performance.now() - this.#stoppedAt > REST_MS;
  }
}
