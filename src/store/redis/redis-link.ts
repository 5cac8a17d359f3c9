// The line to Redis or Valkey: one server or a cluster. Every question has a deadline; while nobody answers, every question
// fails at once, and the line is tried until it works again.
import { createClient, createCluster } from "@redis/client";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import { DIRECTORY_TAG, NAMES } from "./names.ts";
import type { Script } from "./script.ts";

/** No request waits longer for Redis than this, though it may have to wait twice. */
export const ANSWER_WITHIN_MS = 550;
/** For the tools of operators, who would rather wait than begin again. */
export const PATIENT_ANSWER_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 50;
const RECONNECT_EVERY_MS = 200;
const CONNECT_WITHIN_MS = 1_000;
/** A line that is silent for so long is not waited for; a new one is tried beside it. */
const PROBE_PATIENCE_MS = 300;
/** How long a part of a cluster that gave no answer is not asked again. */
const SILENT_MS = 1_000;

/**
 * What a server says that is not, or not yet, the one to write to. After a failover the name leads to another, but only for
 * a new connection; a cluster's client finds the right one by itself.
 */
const NOT_THE_MASTER = /^(?:READONLY|LOADING|MASTERDOWN)\b/;

/** The cause of a question that failed without having been asked: it surely changed nothing. */
export const NOT_ASKED = "not asked";

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
  /** Asks every server that can be written to. */
  sendToAll(args: string[]): Promise<Reply[]>;
  isReady(): boolean;
  destroy(): void;
};

type Question = {
  readonly askedAt: number;
  /** What a cluster keeps together. */
  readonly tag: string;
  readonly reject: (error: Error) => void;
};

export class RedisLink {
  readonly #open: () => Promise<Client>;
  readonly isCluster: boolean;
  readonly #log: Log;
  readonly answerWithinMs: number;
  /** In the order in which they were asked. */
  readonly #questions = new Set<Question>();
  /** Tags whose part of a cluster does not answer, and when it is asked again. */
  readonly #silentUntil = new Map<string, number>();
  readonly #timer: ReturnType<typeof setInterval>;
  #client: Client;
  #isUp = true;
  #isMending = false;
  #isClosed = false;

  /** Throws when there is no answer. */
  static async open(address: RedisAddress, log: Log, answerWithinMs = ANSWER_WITHIN_MS): Promise<RedisLink> {
    const onError = (error: Error) => log.debug({ err: error }, "the line to Redis is troubled");
    const connectWithinMs = Math.max(CONNECT_WITHIN_MS, answerWithinMs);
    const openClient = address.isCluster ? openCluster : openSingle;
    const open = () => openClient(address, connectWithinMs, onError);
    return new RedisLink(await open(), open, address.isCluster, log, answerWithinMs);
  }

  private constructor(
    client: Client,
    open: () => Promise<Client>,
    isCluster: boolean,
    log: Log,
    answerWithinMs: number,
  ) {
    this.#client = client;
    this.#open = open;
    this.isCluster = isCluster;
    this.#log = log;
    this.answerWithinMs = answerWithinMs;
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
    return this.#ask(key, (client) =>
      client.send(key, ["EVALSHA", script.sha, ...rest]).catch((error) => {
        // A server that was restarted knows no scripts.
        if (!String(error).includes("NOSCRIPT")) throw error;
        return client.send(key, ["EVAL", script.text, ...rest]);
      }),
    );
  }

  /** Sends a plain command to the server that has this key. */
  send(key: string, ...args: (string | number)[]): Promise<Reply> {
    return this.#ask(key, (client) => client.send(key, args.map(String)));
  }

  /** Sends a plain command to every server that can be written to. */
  sendToAll(...args: (string | number)[]): Promise<Reply[]> {
    return this.#ask("", (client) => client.sendToAll(args.map(String))) as Promise<Reply[]>;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const { reject } of this.#questions) reject(new StoreUnavailable("the store is being closed"));
    this.#questions.clear();
    this.#client.destroy();
  }

  #ask(key: string, question: (client: Client) => Promise<Reply>): Promise<Reply> {
    const tag = tagOf(key);
    const isSilent = this.#silentUntil.size > 0 && (this.#silentUntil.get(tag) ?? 0) > performance.now();
    if (!this.#isUp || isSilent)
      return Promise.reject(new StoreUnavailable("Redis does not answer", { cause: NOT_ASKED }));
    return this.#askNow(this.#client, tag, question);
  }

  #askNow(client: Client, tag: string, question: (client: Client) => Promise<Reply>): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const entry = { askedAt: performance.now(), tag, reject };
    this.#questions.add(entry);
    question(client).then(
      (reply) => {
        this.#questions.delete(entry);
        resolve(reply);
      },
      (error) => {
        this.#questions.delete(entry);
        const reason = error instanceof Error ? error.message : String(error);
        if (this.#isUp && !this.isCluster && NOT_THE_MASTER.test(reason)) this.#setUp(false);
        reject(new StoreUnavailable(reason, { cause: error }));
      },
    );
    return promise;
  }

  /**
   * Fails each question when its own time is up, not before: its script may act until shortly before that, and whoever
   * is told that it failed must be able to rely on it.
   */
  #look(): void {
    const now = performance.now();
    for (const question of this.#questions) {
      if (now - question.askedAt <= this.answerWithinMs) break;
      this.#questions.delete(question);
      question.reject(new StoreUnavailable("Redis did not answer in time"));
      // One part of a cluster that is silent must not stop the others.
      if (this.isCluster && question.tag !== DIRECTORY_TAG) {
        this.#silentUntil.set(question.tag, now + SILENT_MS);
      } else if (this.#isUp) this.#setUp(false);
    }
    for (const [tag, until] of this.#silentUntil) if (until <= now) this.#silentUntil.delete(tag);
    if (this.#isUp && !this.#client.isReady()) this.#setUp(false);
    if (!this.#isUp && !this.#isMending) void this.#mend();
  }

  /** Tries the line as it is, then a new one: an old connection may be dead without knowing it. */
  async #mend(): Promise<void> {
    this.#isMending = true;
    try {
      const answer = this.#probe(this.#client);
      const isAnswered = await Promise.race([answer, Bun.sleep(PROBE_PATIENCE_MS).then(() => false)]);
      if (!isAnswered) await this.#replaceClient();
    } finally {
      this.#isMending = false;
    }
  }

  async #replaceClient(): Promise<void> {
    const fresh = await this.#open().catch(() => undefined);
    if (!fresh) return;
    // The old line may have come back meanwhile.
    if (this.#isClosed || this.#isUp || !(await this.#probe(fresh))) return fresh.destroy();
    this.#client.destroy();
    this.#client = fresh;
  }

  async #probe(client: Client): Promise<boolean> {
    if (!client.isReady()) return false;
    try {
      // A write: it fails while a server is loading, or is no longer the one to write to.
      const write = ["SET", NAMES.probe, "1", "PX", "1000"];
      await this.#askNow(client, DIRECTORY_TAG, () => client.send(NAMES.probe, write));
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

/** The hash tag of a name. */
function tagOf(key: string): string {
  return key.slice(key.indexOf("{") + 1, key.indexOf("}"));
}

/** The older protocol: maps come as flat lists, from a single server and from a cluster alike. */
const RESP = 2;

/** Without a queue of its own: what cannot be sent now fails now. */
function optionsOf(address: RedisAddress, connectWithinMs: number) {
  const { username, password, isTls } = address;
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    disableOfflineQueue: true,
    socket: {
      connectTimeout: connectWithinMs,
      reconnectStrategy: () => RECONNECT_EVERY_MS,
      ...(isTls && { tls: true as const }),
    },
  };
}

async function openSingle(
  address: RedisAddress,
  connectWithinMs: number,
  onError: (error: Error) => void,
): Promise<Client> {
  const { socket, ...options } = optionsOf(address, connectWithinMs);
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
  await connectInTime(client, connectWithinMs);
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
  connectWithinMs: number,
  onError: (error: Error) => void,
): Promise<Client> {
  const cluster = createCluster({
    RESP,
    rootNodes: address.nodes.map((node) => ({
      socket: { ...node, ...(address.isTls && { tls: true as const }) },
    })),
    defaults: optionsOf(address, connectWithinMs),
  });
  cluster.on("error", onError);
  await connectInTime(cluster, connectWithinMs);
  return {
    send: (key, args) => cluster.sendCommand<Reply>(key, false, args),
    async sendToAll(args) {
      const clients = await Promise.all(cluster.masters.map((node) => cluster.nodeClient(node)));
      return Promise.all(clients.map((client) => client.sendCommand<Reply>(args)));
    },
    // The cluster client mends its own connections; questions that fail tell what is not well.
    isReady: () => true,
    destroy: () => cluster.destroy(),
  };
}

/** A server that takes connections and says nothing would be waited for without end. */
async function connectInTime(
  client: { connect(): Promise<unknown>; destroy(): void },
  withinMs: number,
): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("Redis does not answer")), withinMs);
  try {
    await Promise.race([client.connect(), promise]);
  } catch (error) {
    try {
      client.destroy();
    } catch {
      // It was never open.
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
