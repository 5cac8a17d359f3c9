// The link to Redis or Valkey. Every request has a deadline. A node that does not answer, or answers that it cannot be written,
// is down: requests to it fail at once until a write succeeds again. The link opens in the background.
import { ErrorReply } from "@redis/client";
import { StartRefused, StoreUnavailable } from "../core/errors.ts";
import type { Log } from "../core/ports/log.ts";
import { RunningTime } from "../core/running-time.ts";
import { findFaultWords } from "../core/system-faults.ts";
import { createThrottle } from "../core/throttle.ts";
import { probeName, tagOf } from "./names.ts";
import type { RedisAddress } from "./parse-address.ts";
import { type Client, openClient, type Reply } from "./redis-client.ts";
import prelude from "./scripts/prelude.lua" with { type: "text" };

/** No request waits longer than 0.5 s: the deadline, and the time until it is checked. */
export const REPLY_DEADLINE_MS = 400;
/** The pause between two attempts to reach what is down. */
const RETRY_EVERY_MS = 200;
/** After this long without a reply, a new connection is tried beside the old one. */
const PROBE_DEADLINE_MS = 300;
const LOG_EVERY_MS = 60_000;
/** The hash tag by which the first connection is tried. */
const FIRST_TAG = "limit:0";

/**
 * Replies that mean: this server cannot be written now. It is not the primary (any more), or full, or loading, or busy, or does
 * not accept us.
 */
const AWAY = /^(?:READONLY|LOADING|MASTERDOWN|OOM|MISCONF|NOREPLICAS|CLUSTERDOWN|BUSY|MOVED|NOAUTH|NOPERM|WRONGPASS)\b/;
/** Errors that no retry can solve: wrong password, user or database, or an untrusted certificate. */
const PERMANENT = /^(?:WRONGPASS|NOAUTH|NOPERM|ERR(?! max number of clients)) |certificate/;

/** A script that writes: a server may allow reads, or writes but no scripts. */
const PROBE = "return redis.call('SET', KEYS[1], '1', 'PX', 1000) and 1";

export class RedisLink {
  readonly isCluster: boolean;
  readonly #address: RedisAddress;
  readonly #log: Log;
  readonly #throttleLog = createThrottle(LOG_EVERY_MS);
  readonly #pending: ReplyDeadlines;
  readonly #timer: ReturnType<typeof setInterval>;
  /** The nodes that are down, each with the hash tag that it was found by. */
  readonly #down = new Map<string, string>([["", FIRST_TAG]]);
  /** When each node of a cluster has last answered, and to which hash tag. */
  readonly #answers = new Map<string, { readonly tag: string; readonly ranMs: number }>();
  readonly #firstTry = Promise.withResolvers<void>();
  #client: Client | undefined;
  /** Why the last probe that was answered has failed. */
  #refusal: unknown;
  #isRecovering = false;
  #recoveredAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(address: RedisAddress, log: Log, replyDeadlineMs = REPLY_DEADLINE_MS) {
    this.isCluster = address.isCluster;
    this.#address = address;
    this.#log = log;
    this.#pending = new ReplyDeadlines(replyDeadlineMs, performance.now());
    this.#timer = setInterval(() => this.#check(), CHECK_EVERY_MS);
    this.#timer.unref();
    this.#firstTry.promise.catch(() => {});
    void this.#recover();
  }

  /**
   * Resolves when Redis answers, and also when the first attempt has failed: then it is tried again. Throws StartRefused when
   * trying again is pointless.
   */
  get firstTry(): Promise<void> {
    return this.#firstTry.promise;
  }

  get isUp(): boolean {
    return this.#down.size === 0;
  }

  /** Whether the node that has this key is up. */
  isUpFor(key: string): boolean {
    if (!this.#client) return false;
    return this.#down.size === 0 || !this.#down.has(this.#client.nodeOf(tagOf(key)));
  }

  /** Runs a script on the node that has these keys. */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<Reply> {
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

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const { reject } of this.#pending.takeAll()) reject(new StoreUnavailable("Redis is being closed"));
    this.#client?.destroy();
    this.#firstTry.resolve();
  }

  #request(key: string, send: (client: Client) => Promise<Reply>): Promise<Reply> {
    const client = this.#client;
    if (!client || this.#isClosed || !this.isUpFor(key))
      return Promise.reject(new StoreUnavailable("Redis does not answer"));
    const tag = tagOf(key);
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const entry = { tag, reject };
    this.#pending.add(entry, performance.now());
    send(client).then(
      (reply) => {
        this.#pending.delete(entry);
        this.#noteAnswer(client, tag);
        resolve(reply);
      },
      (error) => {
        this.#pending.delete(entry);
        if (error instanceof TypeError) return reject(error);
        const reason = error instanceof Error ? error.message : String(error);
        const isAway = !(error instanceof ErrorReply) || AWAY.test(reason);
        if (isAway && client === this.#client) this.#setDown(tag, reason);
        reject(new StoreUnavailable(reason, { cause: error }));
      },
    );
    return promise;
  }

  #check(): void {
    const now = performance.now();
    // What has arrived meanwhile is read first: a busy process finds its timers before its replies.
    if (this.#pending.hasOverdue(now)) setImmediate(() => setImmediate(() => this.#endOverdue()));
    if (this.isCluster && this.#pending.hasOlder(this.#pending.deadlineMs / 2, now)) this.#askOthers(now);
    if (this.isUp && this.#client?.isReady() === false) this.#setDown(FIRST_TAG, "the connection was lost");
    if (!this.isUp && !this.#isRecovering && now - this.#recoveredAt >= RETRY_EVERY_MS) void this.#recover();
  }

  #endOverdue(): void {
    const now = performance.now();
    const overdue = this.#pending.takeOverdue(now);
    for (const { tag, reject } of overdue) {
      reject(new StoreUnavailable("Redis did not answer in time"));
      this.#setDown(tag, "it did not answer in time");
    }
    if (overdue.length === 0) return;
    for (const tag of this.#listSilent(this.#pending.deadlineMs, now)) this.#setDown(tag, "it does not answer either");
  }

  /**
   * A request may need several nodes of a cluster, and waits for Redis only once: while one of them keeps it waiting, the others
   * are asked whether they are there.
   */
  #askOthers(now: number): void {
    const client = this.#client;
    if (!client) return;
    for (const tag of this.#listSilent(this.#pending.deadlineMs / 2, now)) void this.#probe(client, tag);
  }

  /** A hash tag of each node that has answered nothing for so long. */
  #listSilent(ms: number, now: number): string[] {
    const ranMs = this.#pending.ranMsAt(now);
    const tags: string[] = [];
    for (const [node, answer] of this.#answers) {
      // After a failover another node has these keys.
      if (this.#client?.nodeOf(answer.tag) !== node) this.#answers.delete(node);
      else if (ranMs - answer.ranMs > ms) tags.push(answer.tag);
    }
    return tags;
  }

  #noteAnswer(client: Client, tag: string): void {
    const node = client.nodeOf(tag);
    if (node !== "") this.#answers.set(node, { tag, ranMs: this.#pending.ranMsAt(performance.now()) });
  }

  /** Probes the old connection, then a new one: an old one may be dead without an error, or lead to a server of yesterday. */
  async #recover(): Promise<void> {
    this.#isRecovering = true;
    try {
      const client = this.#client;
      if (client) await this.#probeOld(client);
      if (!this.isUp && !this.#isClosed) await this.#replaceClient();
      this.#firstTry.resolve();
    } catch (error) {
      this.#log.debug({ err: error }, "Redis cannot be reached");
      this.#finishFirstTry(error);
    } finally {
      this.#isRecovering = false;
      this.#recoveredAt = performance.now();
    }
  }

  async #probeOld(client: Client): Promise<void> {
    const probes = [...this.#down].map(async ([node, tag]) => {
      // One that answers after the deadline counts all the same.
      if ((await this.#probe(client, tag)) && client === this.#client) this.#setUp(node);
    });
    await Promise.race([Promise.all(probes), Bun.sleep(PROBE_DEADLINE_MS)]);
  }

  async #replaceClient(): Promise<void> {
    this.#refusal = undefined;
    const onError = (error: Error) => this.#log.debug({ err: error }, "a connection to Redis has an error");
    const fresh = await openClient(this.#address, onError);
    const answers = [...this.#down].map(async ([node, tag]) => {
      const late = Bun.sleep(PROBE_DEADLINE_MS).then(() => false);
      return (await Promise.race([this.#probe(fresh, tag), late])) ? node : undefined;
    });
    const nodes = (await Promise.all(answers)).filter((node) => node !== undefined);
    // The old connection may work again meanwhile, and in a cluster with one dead node it is as good as the new one.
    if (this.#isClosed || this.isUp || nodes.length === 0) {
      fresh.destroy();
      // A server may accept connections without a password, and no commands.
      if (nodes.length === 0 && this.#refusal) throw this.#refusal;
      return;
    }
    const old = this.#client;
    this.#client = fresh;
    old?.destroy();
    for (const node of nodes) this.#setUp(node);
  }

  /** Whether the node that has this hash tag can be written. */
  async #probe(client: Client, tag: string): Promise<boolean> {
    const name = probeName(tag);
    try {
      if (!client.isReady()) return false;
      const isWritten = (await client.send(name, ["EVAL", PROBE, "1", name])) === 1;
      if (isWritten) this.#noteAnswer(client, tag);
      return isWritten;
    } catch (error) {
      this.#refusal = error;
      this.#log.debug({ err: error }, "Redis cannot be written");
      if (isPermanent(error)) this.#finishFirstTry(error);
    }
    return false;
  }

  #setDown(tag: string, reason: string): void {
    const node = this.#client?.nodeOf(tag) ?? "";
    if (this.#isClosed || this.#down.has(node)) return;
    this.#down.set(node, tag);
    this.#logAway({ reason, ...(node && { node }) });
  }

  #setUp(node: string): void {
    if (!this.#down.delete(node) || this.#down.size > 0) return;
    this.#log.info({}, "Redis answers");
  }

  #finishFirstTry(error: unknown): void {
    const reason = findFaultWords(error) ?? messageOf(error);
    if (isPermanent(error)) {
      const advice = "check the address and its password";
      this.#firstTry.reject(new StartRefused(`GATEHOUSE_REDIS cannot be used: ${reason} — ${advice}`));
    } else {
      this.#logAway({ reason });
      this.#firstTry.resolve();
    }
  }

  #logAway(fields: object): void {
    this.#throttleLog(performance.now(), () =>
      this.#log.error(fields, "Redis is away; every instance counts and calls for itself until it is back"),
    );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isPermanent(error: unknown): boolean {
  return PERMANENT.test(messageOf(error));
}

/** A Lua script and its hash, by which Redis runs it. */
export type Script = { readonly text: string; readonly sha: string };

export function createScript(body: string): Script {
  const text = `${prelude}\n${body}`;
  return { text, sha: Bun.SHA1.hash(text, "hex") };
}

/** How often deadlines are checked. */
export const CHECK_EVERY_MS = 50;

export type PendingRequest = {
  /** The hash tag of its keys. */
  readonly tag: string;
  readonly reject: (error: Error) => void;
};

export class ReplyDeadlines {
  readonly deadlineMs: number;
  readonly #running: RunningTime;
  /** With the running time at which each was sent, in this order. */
  readonly #pending = new Map<PendingRequest, number>();

  constructor(deadlineMs: number, now: number) {
    this.deadlineMs = deadlineMs;
    this.#running = new RunningTime(now, CHECK_EVERY_MS);
  }

  add(request: PendingRequest, now: number): void {
    this.#pending.set(request, this.#running.at(now));
  }

  delete(request: PendingRequest): void {
    this.#pending.delete(request);
  }

  /** How long this process has been running. */
  ranMsAt(now: number): number {
    return this.#running.at(now);
  }

  hasOverdue(now: number): boolean {
    return this.hasOlder(this.deadlineMs, now);
  }

  /** Whether a request has waited for longer than this. */
  hasOlder(ms: number, now: number): boolean {
    const ranMs = this.#running.at(now);
    for (const sentAt of this.#pending.values()) return ranMs - sentAt > ms;
    return false;
  }

  /** Removes the requests whose deadline has passed. */
  takeOverdue(now: number): readonly PendingRequest[] {
    const ranMs = this.#running.at(now);
    const overdue: PendingRequest[] = [];
    for (const [request, sentAt] of this.#pending) {
      if (ranMs - sentAt <= this.deadlineMs) break;
      overdue.push(request);
    }
    for (const request of overdue) this.#pending.delete(request);
    return overdue;
  }

  takeAll(): readonly PendingRequest[] {
    const all = [...this.#pending.keys()];
    this.#pending.clear();
    return all;
  }
}
