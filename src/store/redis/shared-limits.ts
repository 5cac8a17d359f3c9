// The limit of every key, counted by Redis for all instances. While Redis is away each instance counts locally, with its
// share of the limit: together they admit at most the requests of one window, beside those that Redis had counted before.
import type { KeyIdentity } from "../../core/api-key.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { Block, LimitStore } from "../../core/ports/limits.ts";
import type { Log } from "../../core/ports/log.ts";
import {
  BLOCK_AHEAD_MAX_MS,
  BLOCK_AT_EXCESS,
  BLOCK_EXTENSION_MS,
  BLOCK_MS,
  FRESH_LIMIT,
  isWindowOver,
  judgeRequest,
  LIMIT_PER_WINDOW,
  type LimitState,
  type Verdict,
  WINDOW_MS,
} from "../../core/rate-limit.ts";
import { createThrottle } from "../../core/throttle.ts";
import type { Directory } from "./directory.ts";
import { NAMES } from "./names.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import type { RedisLink } from "./redis-link.ts";
import { createScript } from "./script.ts";
import limitText from "./scripts/limit.lua" with { type: "text" };

const RULE = {
  LIMIT: LIMIT_PER_WINDOW,
  WINDOW_MS,
  BLOCK_AT: BLOCK_AT_EXCESS,
  BLOCK_MS,
  EXTENSION_MS: BLOCK_EXTENSION_MS,
  AHEAD_MAX_MS: BLOCK_AHEAD_MAX_MS,
};
const NUMBERS = Object.entries(RULE).map(([name, value]) => `local ${name} = ${value}`);
const LIMIT = createScript(`${NUMBERS.join("\n")}\n${limitText}`);
/** In the order of the numbers that limit.lua returns. */
const OUTCOMES = ["uncounted", "admitted", "limited", "blocked"] as const satisfies Verdict["outcome"][];
const NUMBERS_PER_VERDICT = 5;
/** A larger batch would keep Redis from other requests. */
const BATCH_MAX = 100;
const FAULT_LOG_MS = 60_000;
const COUNTING_LOCALLY = "Redis cannot judge requests; this instance counts for itself";

/** A request that waits for its verdict. */
type PendingVerdict = {
  readonly key: KeyIdentity;
  readonly now: number;
  readonly isCounted: boolean;
  readonly resolve: (verdict: Verdict) => void;
};

export type SharedLimitsParts = {
  readonly link: RedisLink;
  readonly times: ScriptTimes;
  readonly directory: Directory;
  /** How many instances there were at the last heartbeat. */
  readonly countInstances: () => number;
  readonly log: Log;
};

export class SharedLimits implements LimitStore {
  readonly #parts: SharedLimitsParts;
  /** Windows for the time without Redis, kept until they end: a Redis that comes and goes must not give new shares. */
  readonly #localWindows = new Map<string, LimitState>();
  /** Known blocks, so that they hold while Redis is away. */
  readonly #blocks = new Map<string, number>();
  /** Keys whose block began or grew while Redis was away. */
  readonly #unpublished = new Map<string, KeyIdentity>();

  readonly #throttleFault = createThrottle(FAULT_LOG_MS);
  #pending: PendingVerdict[] = [];

  constructor(parts: SharedLimitsParts) {
    this.#parts = parts;
  }

  /** All requests of one turn of the event loop are judged in one batch. */
  /** The limits are in Redis. */
  openHandle(): undefined {
    return undefined;
  }

  judge(key: KeyIdentity, now: number, isCounted: boolean): Verdict | Promise<Verdict> {
    if (!this.#parts.link.isUp) return this.#judgeLocally(key, now, isCounted);
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    if (this.#pending.length === 0) setImmediate(() => this.#flush());
    this.#pending.push({ key, now, isCounted, resolve });
    return promise;
  }

  async findBlocked(keyIds: readonly string[], now: number): Promise<Set<string>> {
    if (keyIds.length === 0) return new Set();
    const name = NAMES.blocks;
    const ends = (await this.#parts.link.send(name, "HMGET", name, ...keyIds)) as (string | null)[];
    return new Set(keyIds.filter((_, index) => Number(ends[index] ?? 0) > now));
  }

  async listBlocks(now: number): Promise<Block[]> {
    const reply = (await this.#parts.link.send(NAMES.blocks, "HGETALL", NAMES.blocks)) as string[];
    const blocks: Block[] = [];
    for (const [keyId, until] of toPairs(reply)) {
      if (Number(until) > now) blocks.push({ keyId, blockedUntil: Number(until) });
    }
    return blocks;
  }

  async liftBlock(keyId: string, now: number, note?: AuditNote): Promise<void> {
    const { directory } = this.#parts;
    const serverId = directory.cache.serverOf(keyId);
    if (!(await this.#isBlocked(keyId, serverId, now))) return;
    // The note and the list first, in one script; the block holds until the limit is deleted too.
    await directory.write({
      steps: [["HDEL", NAMES.blocks, keyId]],
      changed: [],
      audit: note && { target: keyId, note },
    });
    await this.forget(keyId, serverId);
  }

  /** Reads the blocks in force, for the time without Redis. */
  async load(now: number): Promise<void> {
    for (const { keyId, blockedUntil } of await this.listBlocks(now)) this.#blocks.set(keyId, blockedUntil);
  }

  async forget(keyId: string, serverId: string | undefined): Promise<void> {
    await this.forgetAll([keyId], serverId ?? keyId);
    await this.#parts.link.send(NAMES.blocks, "HDEL", NAMES.blocks, keyId);
  }

  /** For keys of one server whose blocks are no longer listed. */
  async forgetAll(keyIds: readonly string[], serverId: string): Promise<void> {
    for (const keyId of keyIds) {
      this.#localWindows.delete(keyId);
      this.#blocks.delete(keyId);
      this.#unpublished.delete(keyId);
    }
    const names = keyIds.map((keyId) => NAMES.limit(serverId, keyId));
    const [first] = names;
    if (first !== undefined) await this.#parts.link.send(first, "DEL", ...names);
  }

  /** Adds a block of another store. */
  async adopt({ keyId, blockedUntil }: Block, serverId: string | undefined): Promise<void> {
    const name = NAMES.limit(serverId ?? keyId, keyId);
    await this.#parts.link.send(name, "HSET", name, "reset_at", 0, "count", 0, "blocked_until", blockedUntil);
    await this.#parts.link.send(name, "PEXPIREAT", name, blockedUntil + WINDOW_MS);
    await this.#parts.link.send(NAMES.blocks, "HSET", NAMES.blocks, keyId, blockedUntil);
    this.#blocks.set(keyId, blockedUntil);
  }

  async #isBlocked(keyId: string, serverId: string | undefined, now: number): Promise<boolean> {
    const name = NAMES.limit(serverId ?? keyId, keyId);
    return Number(await this.#parts.link.send(name, "HGET", name, "blocked_until")) > now;
  }

  /** Removes blocks that have ended. */
  async tidy(now: number): Promise<void> {
    const reply = (await this.#parts.link.send(NAMES.blocks, "HGETALL", NAMES.blocks)) as string[];
    for (const [keyId, until] of toPairs(reply)) {
      if (Number(until) <= now) await this.#parts.link.send(NAMES.blocks, "HDEL", NAMES.blocks, keyId);
    }
    for (const [keyId, until] of this.#blocks) if (until <= now) this.#blocks.delete(keyId);
    for (const keyId of this.#unpublished.keys())
      if (!this.#blocks.has(keyId)) this.#unpublished.delete(keyId);
    for (const [keyId, { resetAt }] of this.#localWindows)
      if (resetAt <= now) this.#localWindows.delete(keyId);
  }

  #flush(): void {
    const { link, times } = this.#parts;
    const pending = this.#pending;
    this.#pending = [];
    // In a cluster the limits of different servers may be on different nodes.
    const groups = Map.groupBy(pending, ({ key, now }) => {
      return `${times(now)[0]} ${link.isCluster ? key.serverId : ""}`;
    });
    for (const group of groups.values()) {
      for (let done = 0; done < group.length; done += BATCH_MAX) {
        void this.#judgeBatch(group.slice(done, done + BATCH_MAX));
      }
    }
  }

  async #judgeBatch(group: readonly PendingVerdict[]): Promise<void> {
    const { link, times, log } = this.#parts;
    const names = group.map(({ key }) => NAMES.limit(key.serverId, key.keyId));
    const flags = group.map(({ isCounted }) => (isCounted ? 1 : 0));
    try {
      if (this.#unpublished.size > 0) for (const { key, now } of group) await this.#publishBlock(key, now);
      const reply = (await link.run(LIMIT, names, [...times(group[0]?.now), ...flags])) as number[];
      if (reply.length !== 1 + group.length * NUMBERS_PER_VERDICT) throw new Error("verdicts are missing");
      for (const [index, { key, resolve }] of group.entries()) {
        resolve(this.#parseVerdict(key.keyId, reply, index));
      }
    } catch (error) {
      for (const { key, now, isCounted, resolve } of group) resolve(this.#judgeLocally(key, now, isCounted));
      // The link logs once that Redis does not answer at all.
      if (link.isUp)
        this.#throttleFault(performance.now(), (unlogged) =>
          log.warn({ err: error, unlogged }, COUNTING_LOCALLY),
        );
    }
  }

  /** Writes blocks that began while Redis was away, unless Redis has longer ones. */
  async publishBlocks(now: number): Promise<void> {
    for (const key of this.#unpublished.values()) await this.#publishBlock(key, now);
  }

  async #publishBlock({ keyId, serverId }: KeyIdentity, now: number): Promise<void> {
    if (!this.#unpublished.has(keyId)) return;
    const blockedUntil = this.#blocks.get(keyId) ?? 0;
    const name = NAMES.limit(serverId, keyId);
    const kept = Number(await this.#parts.link.send(name, "HGET", name, "blocked_until"));
    if (blockedUntil > Math.max(now, kept)) await this.adopt({ keyId, blockedUntil }, serverId);
    this.#unpublished.delete(keyId);
  }

  #parseVerdict(keyId: string, reply: readonly number[], index: number): Verdict {
    const at = (place: number) => reply[1 + index * NUMBERS_PER_VERDICT + place] ?? 0;
    const now = reply[0] ?? 0;
    const [changed, resetAt, count, blockedUntil] = [at(1), at(2), at(3), at(4)];
    const outcome = OUTCOMES[at(0)] ?? "limited";
    if (outcome === "blocked") this.#listBlock(keyId, blockedUntil);
    else if (this.#blocks.size > 0) this.#blocks.delete(keyId);
    return { outcome, now, blockChanged: changed === 1, state: { resetAt, count, blockedUntil } };
  }

  /** The limit holds the block; the list is for operators, and for instances while Redis is away. */
  #listBlock(keyId: string, blockedUntil: number): void {
    const { link, log } = this.#parts;
    if (this.#blocks.get(keyId) === blockedUntil) return;
    this.#blocks.set(keyId, blockedUntil);
    log.warn({ key_id: keyId, blocked_until: blockedUntil }, "a key is blocked for spam");
    link.send(NAMES.blocks, "HSET", NAMES.blocks, keyId, blockedUntil).catch((error) => {
      log.warn({ err: error, key_id: keyId }, "a spam block could not be listed");
    });
  }

  #judgeLocally(key: KeyIdentity, now: number, isCounted: boolean): Verdict {
    const { keyId } = key;
    const kept = this.#localWindows.get(keyId);
    const blockedUntil = Math.max(kept?.blockedUntil ?? 0, this.#blocks.get(keyId) ?? 0);
    const isOver = !kept || isWindowOver(kept, now);
    const share = Math.floor(LIMIT_PER_WINDOW / Math.max(1, this.#parts.countInstances()));
    // A local window begins with the shares of the other instances already used.
    const fresh = { resetAt: now + WINDOW_MS, count: LIMIT_PER_WINDOW - share, blockedUntil: 0 };
    const state = blockedUntil > now ? { ...(kept ?? FRESH_LIMIT), blockedUntil } : isOver ? fresh : kept;
    const verdict = judgeRequest(state, now, isCounted);
    this.#localWindows.set(keyId, verdict.state);
    if (verdict.blockChanged) {
      this.#blocks.set(keyId, verdict.state.blockedUntil);
      this.#unpublished.set(keyId, key);
    }
    return verdict;
  }
}

export function toPairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[i * 2] ?? "", flat[i * 2 + 1] ?? ""]);
}
