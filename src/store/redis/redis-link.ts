// The line to Redis or Valkey: one server or a cluster. Every question has a deadline; while nobody answers, every question
// fails at once, and the line is tried until it works again.
import { createClient, createCluster } from "@redis/client";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Log } from "../../core/ports.ts";
import type { Script } from "./script.ts";

/** Nobody waits longer for Redis than this. */
const ANSWER_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 100;
const RECONNECT_EVERY_MS = 200;
const CONNECT_WITHIN_MS = 1_000;

export type Reply = string | number | null | Reply[];

export type RedisAddress = {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly isCluster: boolean;
  readonly isTls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
};

/** What of the client's two kinds is needed here. */
type Client = {
  send(key: string, args: string[]): Promise<Reply>;
  isReady(): boolean;
  destroy(): void;
};

type Question = { readonly askedAt: number; readonly reject: (error: Error) => void };

export class RedisLink {
  readonly #client: Client;
  readonly #log: Log;
  readonly #questions = new Set<Question>();
  readonly #timer: ReturnType<typeof setInterval>;
  #isUp = true;
  #isProbing = false;

  /** Throws when there is no answer at all. */
  static async open(address: RedisAddress, log: Log): Promise<RedisLink> {
    const onError = (error: Error) => log.debug({ err: error }, "the line to Redis is troubled");
    const client = await (address.isCluster ? openCluster(address, onError) : openSingle(address, onError));
    return new RedisLink(client, log);
  }

  private constructor(client: Client, log: Log) {
    this.#client = client;
    this.#log = log;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Runs a script on the server that has these keys. */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<Reply> {
    const rest = [String(keys.length), ...keys, ...args.map(String)];
    const [key = ""] = keys;
    return this.#ask(() =>
      this.#client.send(key, ["EVALSHA", script.sha, ...rest]).catch((error) => {
        // A server that was restarted knows no scripts.
        if (!String(error).includes("NOSCRIPT")) throw error;
        return this.#client.send(key, ["EVAL", script.text, ...rest]);
      }),
    );
  }

  /** Sends a plain command to the server that has this key. */
  send(key: string, ...args: (string | number)[]): Promise<Reply> {
    return this.#ask(() => this.#client.send(key, args.map(String)));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#failAll("the store is being closed");
    this.#client.destroy();
  }

  #ask(question: () => Promise<Reply>): Promise<Reply> {
    if (!this.#isUp) return Promise.reject(new StoreUnavailable("Redis does not answer"));
    return this.#askNow(question);
  }

  #askNow(question: () => Promise<Reply>): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const entry = { askedAt: performance.now(), reject };
    this.#questions.add(entry);
    question().then(
      (reply) => {
        this.#questions.delete(entry);
        resolve(reply);
      },
      (error) => {
        this.#questions.delete(entry);
        reject(
          new StoreUnavailable(error instanceof Error ? error.message : String(error), { cause: error }),
        );
      },
    );
    return promise;
  }

  #look(): void {
    const [oldest] = this.#questions;
    const isOverdue = oldest !== undefined && performance.now() - oldest.askedAt > ANSWER_WITHIN_MS;
    if (this.#isUp && (isOverdue || !this.#client.isReady())) this.#setUp(false);
    if (isOverdue) this.#failAll("Redis did not answer in time");
    if (!this.#isUp) void this.#probe();
  }

  async #probe(): Promise<void> {
    if (this.#isProbing || !this.#client.isReady()) return;
    this.#isProbing = true;
    try {
      // A write: it fails while a server is loading, or is no longer the one to write to.
      await this.#askNow(() => this.#client.send(PROBE_KEY, ["SET", PROBE_KEY, "1", "PX", "1000"]));
      this.#setUp(true);
    } catch {
      // Not yet.
    } finally {
      this.#isProbing = false;
    }
  }

  #setUp(isUp: boolean): void {
    this.#isUp = isUp;
    if (isUp) this.#log.info({}, "Redis answers again");
    else
      this.#log.error({}, "Redis does not answer; going on with what is known, without commands and changes");
  }

  #failAll(reason: string): void {
    const questions = [...this.#questions];
    this.#questions.clear();
    for (const { reject } of questions) reject(new StoreUnavailable(reason));
  }
}

/** The older protocol: maps come as flat lists, from a single server and from a cluster alike. */
const RESP = 2;
const PROBE_KEY = "gatehouse:{directory}:probe";

/** Without a queue of its own: what cannot be sent now fails now. */
function optionsOf(address: RedisAddress) {
  const { username, password, isTls } = address;
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    disableOfflineQueue: true,
    socket: {
      connectTimeout: CONNECT_WITHIN_MS,
      reconnectStrategy: () => RECONNECT_EVERY_MS,
      ...(isTls && { tls: true as const }),
    },
  };
}

async function openSingle(address: RedisAddress, onError: (error: Error) => void): Promise<Client> {
  const { socket, ...options } = optionsOf(address);
  const [node] = address.nodes;
  let isConnected = false;
  const client = createClient({
    ...options,
    RESP,
    database: address.database,
    socket: {
      ...socket,
      host: node?.host ?? "",
      port: node?.port ?? 0,
      // The first connection is not tried again: who starts wants to know.
      reconnectStrategy: (_: number, cause: Error) => (isConnected ? RECONNECT_EVERY_MS : cause),
    },
  });
  client.on("error", onError);
  await client.connect();
  isConnected = true;
  return {
    send: (_, args) => client.sendCommand<Reply>(args),
    isReady: () => client.isReady,
    destroy: () => client.destroy(),
  };
}

async function openCluster(address: RedisAddress, onError: (error: Error) => void): Promise<Client> {
  const cluster = createCluster({
    RESP,
    rootNodes: address.nodes.map((node) => ({
      socket: { ...node, ...(address.isTls && { tls: true as const }) },
    })),
    defaults: optionsOf(address),
  });
  cluster.on("error", onError);
  await cluster.connect();
  return {
    send: (key, args) => cluster.sendCommand<Reply>(key, false, args),
    // The cluster client mends its own connections; questions that fail tell what is not well.
    isReady: () => true,
    destroy: () => cluster.destroy(),
  };
}
