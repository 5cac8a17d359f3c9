// The connection to Redis or Valkey: one server or a cluster. Every request has a deadline. While Redis does not answer,
// requests fail at once, and the connection is retried until it works again.
import { createClient, createCluster } from "@redis/client";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import { DIRECTORY_TAG, NAMES } from "./names.ts";
import { CHECK_EVERY_MS, ReplyDeadlines } from "./reply-deadlines.ts";
import type { Script } from "./script.ts";

/** The deadline of a reply. An HTTP request may need two replies, one after the other. */
export const REPLY_DEADLINE_MS = 550;
/** For the tools of operators, where a slow answer is better than a failure. */
export const TOOL_REPLY_DEADLINE_MS = 10_000;
const RECONNECT_EVERY_MS = 200;
const CONNECT_DEADLINE_MS = 1_000;
/** After this long without a reply, a new connection is tried beside the old one. */
const PROBE_DEADLINE_MS = 300;
/** The backoff for a part of a cluster that gave no reply. */
const SILENT_MS = 1_000;

/**
 * Redis replies that mean: not the primary (any more), or not ready yet. After a failover the host name leads to the new
 * primary, but only for a new connection. The client of a cluster finds the primary by itself.
 */
const NOT_PRIMARY = /^(?:READONLY|LOADING|MASTERDOWN)\b/;

/** The reply of a script that ran after its deadline (see prelude.lua): it changed nothing. */
const LATE = /^LATE\b/;
/** How often a script is sent at most when it is late each time. */
const ATTEMPTS_MAX = 3;

/** The cause of a request that failed before it was sent: it changed nothing. */
export const NOT_SENT = "not sent";

export type Reply = string | number | null | Reply[];

export type RedisAddress = {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly isCluster: boolean;
  readonly isTls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
};

/** The common part of the clients for one server and for a cluster. */
type Client = {
  send(key: string, args: string[]): Promise<Reply>;
  /** To every primary. */
  sendToAll(args: string[]): Promise<Reply[]>;
  isReady(): boolean;
  destroy(): void;
};

export class RedisLink {
  readonly #open: () => Promise<Client>;
  readonly isCluster: boolean;
  readonly #log: Log;
  readonly replyDeadlineMs: number;
  readonly #pending: ReplyDeadlines;
  /** Tags whose node of a cluster does not answer, and the end of their backoff. */
  readonly #silentUntil = new Map<string, number>();
  readonly #timer: ReturnType<typeof setInterval>;
  /**
   * Measures Redis's clock again and returns a new deadline for a script that was late: Redis is there, and this process was slow
   * to write the request or to measure the clock. Undefined: such a script fails.
   */
  renewDeadline: (() => Promise<string>) | undefined;
  #client: Client;
  #isUp = true;
  #isReconnecting = false;
  #isClosed = false;

  /** Throws when Redis does not answer. */
  static async open(
    address: RedisAddress,
    log: Log,
    replyDeadlineMs = REPLY_DEADLINE_MS,
  ): Promise<RedisLink> {
    const onError = (error: Error) => log.debug({ err: error }, "the connection to Redis has an error");
    const connectDeadlineMs = Math.max(CONNECT_DEADLINE_MS, replyDeadlineMs);
    const openClient = address.isCluster ? openCluster : openSingle;
    const open = () => openClient(address, connectDeadlineMs, onError);
    return new RedisLink(await open(), open, address.isCluster, log, replyDeadlineMs);
  }

  private constructor(
    client: Client,
    open: () => Promise<Client>,
    isCluster: boolean,
    log: Log,
    replyDeadlineMs: number,
  ) {
    this.#client = client;
    this.#open = open;
    this.isCluster = isCluster;
    this.#log = log;
    this.replyDeadlineMs = replyDeadlineMs;
    this.#pending = new ReplyDeadlines(replyDeadlineMs, performance.now());
    this.#timer = setInterval(() => this.#checkDeadlines(), CHECK_EVERY_MS);
    this.#timer.unref();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Runs a script on the node that has these keys. The second argument of every script is its deadline. */
  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<Reply> {
    const [now = "", deadline = "", ...rest] = args;
    for (let attempt = 1, until = deadline; ; attempt++) {
      try {
        return await this.#runOnce(script, keys, [now, until, ...rest]);
      } catch (error) {
        const isLate = error instanceof StoreUnavailable && LATE.test(error.message);
        if (!isLate || attempt === ATTEMPTS_MAX || !this.renewDeadline) throw error;
        until = await this.renewDeadline();
      }
    }
  }

  #runOnce(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<Reply> {
    const rest = [String(keys.length), ...keys, ...args.map(String)];
    const [key = ""] = keys;
    return this.#request(key, (client) =>
      client.send(key, ["EVALSHA", script.sha, ...rest]).catch((error) => {
        // A Redis that was restarted has no scripts.
        if (!String(error).includes("NOSCRIPT")) throw error;
        return client.send(key, ["EVAL", script.text, ...rest]);
      }),
    );
  }

  /** Sends a Redis command to the node that has this key. */
  send(key: string, ...args: (string | number)[]): Promise<Reply> {
    return this.#request(key, (client) => client.send(key, args.map(String)));
  }

  /** Sends a Redis command to every primary. */
  sendToAll(...args: (string | number)[]): Promise<Reply[]> {
    return this.#request("", (client) => client.sendToAll(args.map(String))) as Promise<Reply[]>;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const { reject } of this.#pending.takeAll())
      reject(new StoreUnavailable("the store is being closed"));
    this.#client.destroy();
  }

  #request(key: string, send: (client: Client) => Promise<Reply>): Promise<Reply> {
    const tag = tagOf(key);
    const isSilent = this.#silentUntil.size > 0 && (this.#silentUntil.get(tag) ?? 0) > performance.now();
    if (!this.#isUp || isSilent)
      return Promise.reject(new StoreUnavailable("Redis does not answer", { cause: NOT_SENT }));
    return this.#requestFrom(this.#client, tag, send);
  }

  #requestFrom(client: Client, tag: string, send: (client: Client) => Promise<Reply>): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const entry = { tag, reject };
    this.#pending.add(entry, performance.now());
    send(client).then(
      (reply) => {
        this.#pending.delete(entry);
        resolve(reply);
      },
      (error) => {
        this.#pending.delete(entry);
        const reason = error instanceof Error ? error.message : String(error);
        if (this.#isUp && !this.isCluster && NOT_PRIMARY.test(reason)) this.#setUp(false);
        reject(new StoreUnavailable(reason, { cause: error }));
      },
    );
    return promise;
  }

  /**
   * Fails each request at its own deadline and not before: its script may act until shortly before the deadline, and a
   * script that was reported as failed must not act.
   */
  #checkDeadlines(): void {
    const now = performance.now();
    for (const request of this.#pending.takeOverdue(now)) {
      request.reject(new StoreUnavailable("Redis did not answer in time"));
      // One silent node of a cluster must not stop the others.
      if (this.isCluster && request.tag !== DIRECTORY_TAG) {
        this.#silentUntil.set(request.tag, now + SILENT_MS);
      } else if (this.#isUp) this.#setUp(false);
    }
    for (const [tag, until] of this.#silentUntil) if (until <= now) this.#silentUntil.delete(tag);
    if (this.#isUp && !this.#client.isReady()) this.#setUp(false);
    if (!this.#isUp && !this.#isReconnecting) void this.#reconnect();
  }

  /** Probes the old connection, then a new one: an old connection may be dead without an error. */
  async #reconnect(): Promise<void> {
    this.#isReconnecting = true;
    try {
      const probe = this.#probe(this.#client);
      const isAnswered = await Promise.race([probe, Bun.sleep(PROBE_DEADLINE_MS).then(() => false)]);
      if (!isAnswered) await this.#replaceClient();
    } finally {
      this.#isReconnecting = false;
    }
  }

  async #replaceClient(): Promise<void> {
    const fresh = await this.#open().catch(() => undefined);
    if (!fresh) return;
    // The old connection may work again meanwhile.
    if (this.#isClosed || this.#isUp || !(await this.#probe(fresh))) return fresh.destroy();
    this.#client.destroy();
    this.#client = fresh;
  }

  async #probe(client: Client): Promise<boolean> {
    if (!client.isReady()) return false;
    try {
      // A write, because it fails while Redis is loading and on a server that is not the primary.
      const write = ["SET", NAMES.probe, "1", "PX", "1000"];
      await this.#requestFrom(client, DIRECTORY_TAG, () => client.send(NAMES.probe, write));
      this.#setUp(true);
      return true;
    } catch {
      return false;
    }
  }

  #setUp(isUp: boolean): void {
    this.#isUp = isUp;
    if (isUp) this.#log.info({}, "Redis answers again");
    else
      this.#log.error({}, "Redis does not answer; going on with what is known, without commands and changes");
  }
}

/** The hash tag of a Redis key. */
function tagOf(key: string): string {
  return key.slice(key.indexOf("{") + 1, key.indexOf("}"));
}

/** The older protocol returns maps as flat lists, from one server and from a cluster alike. */
const RESP = 2;

/** Without an offline queue: a request that cannot be sent now fails now. */
function optionsOf(address: RedisAddress, connectDeadlineMs: number) {
  const { username, password, isTls } = address;
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    disableOfflineQueue: true,
    socket: {
      connectTimeout: connectDeadlineMs,
      reconnectStrategy: () => RECONNECT_EVERY_MS,
      ...(isTls && { tls: true as const }),
    },
  };
}

async function openSingle(
  address: RedisAddress,
  connectDeadlineMs: number,
  onError: (error: Error) => void,
): Promise<Client> {
  const { socket, ...options } = optionsOf(address, connectDeadlineMs);
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
      // The first connection is not retried: the caller decides what to do.
      reconnectStrategy: (_: number, cause: Error) => (isConnected ? RECONNECT_EVERY_MS : cause),
    },
  });
  client.on("error", onError);
  await connectInTime(client, connectDeadlineMs);
  isConnected = true;
  return {
    send: (_, args) => client.sendCommand<Reply>(args),
    sendToAll: async (args) => [await client.sendCommand<Reply>(args)],
    isReady: () => client.isReady,
    destroy: () => client.destroy(),
  };
}

async function openCluster(
  address: RedisAddress,
  connectDeadlineMs: number,
  onError: (error: Error) => void,
): Promise<Client> {
  const cluster = createCluster({
    RESP,
    rootNodes: address.nodes.map((node) => ({
      socket: { ...node, ...(address.isTls && { tls: true as const }) },
    })),
    defaults: optionsOf(address, connectDeadlineMs),
  });
  cluster.on("error", onError);
  await connectInTime(cluster, connectDeadlineMs);
  return {
    send: (key, args) => cluster.sendCommand<Reply>(key, false, args),
    async sendToAll(args) {
      const clients = await Promise.all(cluster.masters.map((node) => cluster.nodeClient(node)));
      return Promise.all(clients.map((client) => client.sendCommand<Reply>(args)));
    },
    // The cluster client repairs its own connections; failed requests show when it cannot.
    isReady: () => true,
    destroy: () => cluster.destroy(),
  };
}

/** With a deadline: a server may accept a connection and never reply. */
async function connectInTime(
  client: { connect(): Promise<unknown>; destroy(): void },
  deadlineMs: number,
): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("Redis does not answer")), deadlineMs);
  try {
    await Promise.race([client.connect(), promise]);
  } catch (error) {
    try {
      client.destroy();
    } catch {
      // It was never open.
    }
    // The client wraps the error that our reconnect strategy returns, and the wrapper has no code.
    throw error instanceof Error && "originalError" in error ? error.originalError : error;
  } finally {
    clearTimeout(timer);
  }
}
