// The limit of every key, for several instances: the windows are in Redis, the blocks are in the database. While Redis is away,
// each instance counts for itself, with windows of its own.
import type { KeyIdentity } from "../core/keys/api-key.ts";
import {
  BLOCK_AHEAD_MAX_MS,
  BLOCK_AT_EXCESS,
  BLOCK_EXTENSION_MS,
  BLOCK_MS,
  CLOCK_TOLERANCE_MS,
  FRESH_LIMIT,
  judgeRequest,
  LIMIT_PER_WINDOW,
  type LimitState,
  type Verdict,
  WINDOW_MS,
} from "../core/keys/rate-limit.ts";
import type { MaybePromise } from "../core/maybe-promise.ts";
import type { AuditNote } from "../core/ports/audit.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Block, BlockStore, LimitStore } from "../core/ports/limits.ts";
import type { Log } from "../core/ports/log.ts";
import { createThrottle } from "../core/throttle.ts";
import { countShards, directoryName, shardOf, windowName } from "./names.ts";
import type { Notices } from "./notices.ts";
import { createScript, type RedisLink } from "./redis-link.ts";
import liftText from "./scripts/lift.lua" with { type: "text" };
import limitText from "./scripts/limit.lua" with { type: "text" };
import { UnsavedBlocks } from "./unsaved-blocks.ts";

const RULE = {
  LIMIT: LIMIT_PER_WINDOW,
  WINDOW_MS,
  BLOCK_AT: BLOCK_AT_EXCESS,
  BLOCK_MS,
  EXTENSION_MS: BLOCK_EXTENSION_MS,
  AHEAD_MAX_MS: BLOCK_AHEAD_MAX_MS,
  TOLERANCE_MS: CLOCK_TOLERANCE_MS,
  /** Longer than it takes all instances to learn of a change when its notice was lost. */
  RECENT_MS: 10_000,
};
const NUMBERS = Object.entries(RULE)
  .map(([name, value]) => `local ${name} = ${value}\n`)
  .join("");
const LIMIT = createScript(NUMBERS + limitText);
const LIFT = createScript(NUMBERS + liftText);
/** In the order of the numbers that limit.lua returns. */
const OUTCOMES = ["uncounted", "admitted", "limited", "blocked"] as const satisfies Verdict["outcome"][];
const BLOCK_CHANGED = 1;
const BLOCK_UNKNOWN = 2;
/** The time and the version come before the verdicts. */
const NUMBERS_BEFORE = 2;
const NUMBERS_PER_VERDICT = 5;
/** A larger batch would keep Redis from other requests. */
const BATCH_MAX = 100;
const FAULT_LOG_MS = 60_000;
const REFRESH_DEADLINE_MS = 500;
const COUNTING_LOCALLY = "Redis cannot judge requests; this instance counts for itself";

/** A request that waits for its verdict. */
type PendingVerdict = {
  readonly key: KeyIdentity;
  readonly now: number;
  readonly isCounted: boolean;
  readonly resolve: (verdict: MaybePromise<Verdict>) => void;
};

type Batch = { readonly shard: number; readonly time: string; readonly requests: PendingVerdict[] };

export type SharedLimitsDeps = {
  readonly link: RedisLink;
  readonly notices: Notices;
  /** The version of the directory that this instance knows. */
  readonly findVersion: () => number;
  /** Reads from the database what has changed. Throws StoreUnavailable when it cannot. */
  readonly catchUp: () => Promise<void> | void;
  readonly blocks: BlockStore;
  readonly log: Log;
  /** The clock of all instances. */
  readonly clock: Clock;
  /** Replaces Redis's clock in tests. */
  readonly limitClock?: Clock | undefined;
};

export class SharedLimits implements LimitStore {
  readonly #shards: number;
  readonly #unsaved: UnsavedBlocks;
  /** Windows for the time without Redis, kept until they end: a Redis that comes and goes must not give fresh windows. */
  readonly #localWindows = new Map<string, LimitState>();
  readonly #throttleFault = createThrottle(FAULT_LOG_MS);
  #sweptAt = 0;
  #pending: PendingVerdict[] = [];

  constructor(private readonly deps: SharedLimitsDeps) {
    this.#shards = countShards(deps.link.isCluster);
    this.#unsaved = new UnsavedBlocks(deps.blocks, deps.log);
  }

  /** The limits are in Redis. */
  openHandle(): undefined {
    return undefined;
  }

  /** All requests of one turn of the event loop are judged in one batch. */
  judge(key: KeyIdentity, now: number, isCounted: boolean): MaybePromise<Verdict> {
    if (!this.deps.link.isUpFor(this.#windowOf(key.keyId))) return this.#judgeLocally(key, now, isCounted);
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    if (this.#pending.length === 0) setImmediate(() => this.#flush());
    this.#pending.push({ key, now, isCounted, resolve });
    return promise;
  }

  async findBlocked(keyIds: readonly string[], now: number): Promise<Set<string>> {
    return new Set(keyIds.filter((keyId) => this.#blockedUntil(keyId) > now));
  }

  async listBlocks(now: number): Promise<readonly Block[]> {
    await this.#refresh();
    return this.#unsaved.listAll(now);
  }

  async liftBlock(keyId: string, now: number, note?: AuditNote): Promise<void> {
    // Another instance may have saved the block a moment ago.
    await this.deps.catchUp();
    const isKnown = this.#blockedUntil(keyId) > now;
    // First in Redis: an instance that finds a block there which the database does not have saves it.
    await this.#liftInRedis(keyId, now, isKnown);
    if (!isKnown) return;
    try {
      await this.#unsaved.lift(keyId, now, note);
    } catch (error) {
      const name = this.#windowOf(keyId);
      await this.deps.link.send(name, "HDEL", name, "lifted_at").catch(() => {});
      throw error;
    }
    this.#localWindows.delete(keyId);
  }

  async close(): Promise<void> {
    await this.#unsaved.close();
  }

  /** For an operator, whose question brings no version. While the database is away, what is known is told. */
  async #refresh(): Promise<void> {
    const caughtUp = (async () => this.deps.catchUp())();
    await Promise.race([caughtUp.catch(() => {}), Bun.sleep(REFRESH_DEADLINE_MS)]);
  }

  #windowOf(keyId: string): string {
    return windowName(shardOf(keyId, this.#shards), keyId);
  }

  #blockedUntil(keyId: string): number {
    return Math.max(this.deps.blocks.find(keyId), this.#unsaved.find(keyId));
  }

  /** Fails while Redis is away. When it is back, it has missed a version, and its blocks count only if the database has them. */
  async #liftInRedis(keyId: string, now: number, isKnown: boolean): Promise<void> {
    const { link, limitClock } = this.deps;
    const time = limitClock ? now : "";
    await link.run(LIFT, [this.#windowOf(keyId)], [time, isKnown ? 1 : 0]).catch(() => {});
  }

  #flush(): void {
    const { limitClock } = this.deps;
    const batches = new Map<string, Batch>();
    for (const request of this.#pending) {
      const shard = shardOf(request.key.keyId, this.#shards);
      const time = limitClock ? String(request.now) : "";
      const id = `${shard} ${time}`;
      let batch = batches.get(id);
      if (!batch || batch.requests.length === BATCH_MAX) {
        if (batch) void this.#judgeBatch(batch);
        batch = { shard, time, requests: [] };
        batches.set(id, batch);
      }
      batch.requests.push(request);
    }
    this.#pending = [];
    for (const batch of batches.values()) void this.#judgeBatch(batch);
  }

  async #judgeBatch({ shard, time, requests }: Batch, isAgain = false): Promise<void> {
    const { link, notices, log } = this.deps;
    const version = this.deps.findVersion();
    const names = [directoryName(shard)];
    const args: (string | number)[] = [time, version, isAgain ? 1 : 0];
    const saved = requests.map(({ key }) => this.deps.blocks.find(key.keyId));
    for (const [index, { key, isCounted }] of requests.entries()) {
      names.push(windowName(shard, key.keyId));
      const blockedUntil = this.#blockedUntil(key.keyId);
      args.push(isCounted ? 1 : 0, blockedUntil, blockedUntil > (saved[index] ?? 0) ? 1 : 0);
    }
    try {
      const reply = (await link.run(LIMIT, names, args)) as number[];
      if (reply.length !== NUMBERS_BEFORE + requests.length * NUMBERS_PER_VERDICT)
        throw new Error("verdicts are missing");
      const news = notices.learn(reply[1] ?? 0);
      if (news) await news;
      const hasUnknown = requests.some(({ key }, index) => this.#isUnknown(key.keyId, reply, index));
      // It may have been lifted while Redis was away.
      if (hasUnknown) await this.#refresh();
      const mustRepeat = hasUnknown && !isAgain && this.deps.findVersion() > version;
      const repeated: PendingVerdict[] = [];
      for (const [index, request] of requests.entries()) {
        const { keyId } = request.key;
        if (mustRepeat && this.#isUnknown(keyId, reply, index)) repeated.push(request);
        else request.resolve(this.#parseVerdict(keyId, reply, index, saved[index] ?? 0));
      }
      if (repeated.length > 0) await this.#judgeBatch({ shard, time, requests: repeated }, true);
    } catch (error) {
      // Others were judged while these waited, and may not be judged as if they had come later.
      const now = (this.deps.limitClock ?? this.deps.clock)();
      for (const { key, isCounted, resolve } of requests) resolve(this.#judgeLocally(key, now, isCounted));
      // The link logs that Redis is away.
      if (link.isUp)
        this.#throttleFault(performance.now(), (unlogged) => log.warn({ err: error, unlogged }, COUNTING_LOCALLY));
    }
  }

  /** Whether Redis has a block that this instance does not know. */
  #isUnknown(keyId: string, reply: readonly number[], index: number): boolean {
    return numberAt(reply, index, 1) === BLOCK_UNKNOWN && numberAt(reply, index, 4) > this.#blockedUntil(keyId);
  }

  /** `savedBefore` is the end of the block that the database had when Redis was asked. */
  #parseVerdict(keyId: string, reply: readonly number[], index: number, savedBefore: number): MaybePromise<Verdict> {
    const at = (position: number) => numberAt(reply, index, position);
    const now = reply[0] ?? 0;
    const [resetAt, count] = [at(2), at(3)];
    // The database has the last word, so that nobody ends a block by writing into Redis. A block that has become known
    // meanwhile may have begun after this verdict, which then has a count that no other request gets.
    const known = this.deps.blocks.find(keyId);
    const isBlocked = known > now && savedBefore > now;
    const outcome = isBlocked ? "blocked" : (OUTCOMES[at(0)] ?? "limited");
    const blockedUntil = isBlocked ? Math.max(known, at(4)) : at(4);
    const blockChanged = at(1) === BLOCK_CHANGED;
    const verdict = { outcome, now, blockChanged, state: { resetAt, count, blockedUntil } };
    const mustSave = blockChanged || this.#isUnknown(keyId, reply, index);
    return mustSave ? this.#saveBlock(keyId, verdict) : verdict;
  }

  async #saveBlock(keyId: string, verdict: Verdict): Promise<Verdict> {
    await this.#unsaved.save(keyId, verdict.state.blockedUntil);
    return verdict;
  }

  #judgeLocally({ keyId }: KeyIdentity, now: number, isCounted: boolean): MaybePromise<Verdict> {
    this.#sweep(now);
    const verdict = judgeRequest(this.#findLocal(keyId, now), now, isCounted);
    this.#localWindows.set(keyId, verdict.state);
    return verdict.blockChanged ? this.#saveBlock(keyId, verdict) : verdict;
  }

  /** The window of this instance, with the block of all. */
  #findLocal(keyId: string, now: number): LimitState {
    const local = this.#localWindows.get(keyId) ?? FRESH_LIMIT;
    const blockedUntil = this.#blockedUntil(keyId);
    const wasBlocked = local.blockedUntil > now;
    if (blockedUntil > now) return { ...(wasBlocked ? local : FRESH_LIMIT), blockedUntil };
    // Another instance has lifted it.
    return wasBlocked ? FRESH_LIMIT : local;
  }

  #sweep(now: number): void {
    if (Math.abs(now - this.#sweptAt) < WINDOW_MS) return;
    this.#sweptAt = now;
    for (const [keyId, { resetAt, blockedUntil }] of this.#localWindows)
      if (Math.max(resetAt, blockedUntil) <= now) this.#localWindows.delete(keyId);
  }
}

function numberAt(reply: readonly number[], index: number, position: number): number {
  return reply[NUMBERS_BEFORE + index * NUMBERS_PER_VERDICT + position] ?? 0;
}
