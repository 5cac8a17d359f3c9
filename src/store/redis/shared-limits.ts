// The limit of every key, counted by Redis for all instances. While Redis is away each instance counts for itself, with its
// share of the limit: together they let no more in than one window allows, beside what Redis had counted before it went.
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
/** By the number that the script gives each. */
const OUTCOMES = ["uncounted", "admitted", "limited", "blocked"] as const satisfies Verdict["outcome"][];
const NUMBERS_A_VERDICT = 5;
/** A script that judges more at a time would keep Redis from others. */
const JUDGED_AT_ONCE = 100;
const FAULT_LOG_MS = 60_000;
const COUNTING_ALONE = "Redis cannot judge requests; this instance counts for itself";

/** A request that waits for its verdict. */
type Question = {
  readonly key: KeyIdentity;
  readonly now: number;
  readonly isCounted: boolean;
  readonly resolve: (verdict: Verdict) => void;
};

export type SharedLimitsParts = {
  readonly link: RedisLink;
  readonly times: ScriptTimes;
  readonly directory: Directory;
  /** How many instances there were when that was last known. */
  readonly countInstances: () => number;
  readonly log: Log;
};

export class SharedLimits implements LimitStore {
  readonly #parts: SharedLimitsParts;
  /** Windows of our own, for the time without Redis; kept to their end, so that one that comes and goes gives no new share. */
  readonly #own = new Map<string, LimitState>();
  /** Blocks that we know of, so that they hold while Redis is away. */
  readonly #blocks = new Map<string, number>();
  /** Keys that were blocked, or blocked for longer, while Redis was away. */
  readonly #untold = new Map<string, KeyIdentity>();

  readonly #noteFault = createThrottle(FAULT_LOG_MS);
  #questions: Question[] = [];

  constructor(parts: SharedLimitsParts) {
    this.#parts = parts;
  }

  /** What is asked within one turn of the event loop is asked of Redis in one go. */
  judge(key: KeyIdentity, now: number, isCounted: boolean): Verdict | Promise<Verdict> {
    if (!this.#parts.link.isUp) return this.#judgeAlone(key, now, isCounted);
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    if (this.#questions.length === 0) setImmediate(() => this.#ask());
    this.#questions.push({ key, now, isCounted, resolve });
    return promise;
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
    const serverId = directory.serverOf(keyId);
    if (!(await this.#isBlocked(keyId, serverId, now))) return;
    // The note and the list first, in one step; the block itself stays in force until it is deleted too.
    await directory.make({
      steps: [["HDEL", NAMES.blocks, keyId]],
      changed: [],
      audit: note && { target: keyId, note },
    });
    await this.forget(keyId, serverId);
  }

  /** Learns the blocks in force, for the time without Redis. */
  async load(now: number): Promise<void> {
    for (const { keyId, blockedUntil } of await this.listBlocks(now)) this.#blocks.set(keyId, blockedUntil);
  }

  async forget(keyId: string, serverId: string | undefined): Promise<void> {
    await this.forgetAll([keyId], serverId ?? keyId);
    await this.#parts.link.send(NAMES.blocks, "HDEL", NAMES.blocks, keyId);
  }

  /** For keys of one server whose blocks are off the list already. */
  async forgetAll(keyIds: readonly string[], serverId: string): Promise<void> {
    for (const keyId of keyIds) {
      this.#own.delete(keyId);
      this.#blocks.delete(keyId);
      this.#untold.delete(keyId);
    }
    const names = keyIds.map((keyId) => NAMES.limit(serverId, keyId));
    const [first] = names;
    if (first !== undefined) await this.#parts.link.send(first, "DEL", ...names);
  }

  /** A block from another store. */
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

  /** Takes blocks that are over off the list. */
  async tidy(now: number): Promise<void> {
    const reply = (await this.#parts.link.send(NAMES.blocks, "HGETALL", NAMES.blocks)) as string[];
    for (const [keyId, until] of toPairs(reply)) {
      if (Number(until) <= now) await this.#parts.link.send(NAMES.blocks, "HDEL", NAMES.blocks, keyId);
    }
    for (const [keyId, until] of this.#blocks) if (until <= now) this.#blocks.delete(keyId);
    for (const keyId of this.#untold.keys()) if (!this.#blocks.has(keyId)) this.#untold.delete(keyId);
    for (const [keyId, { resetAt }] of this.#own) if (resetAt <= now) this.#own.delete(keyId);
  }

  #ask(): void {
    const { link, times } = this.#parts;
    const questions = this.#questions;
    this.#questions = [];
    // A cluster keeps each game server's limits together, and apart from the others'.
    const groups = Map.groupBy(questions, ({ key, now }) => {
      return `${times(now)[0]} ${link.isCluster ? key.serverId : ""}`;
    });
    for (const group of groups.values()) {
      for (let done = 0; done < group.length; done += JUDGED_AT_ONCE) {
        void this.#askFor(group.slice(done, done + JUDGED_AT_ONCE));
      }
    }
  }

  async #askFor(group: readonly Question[]): Promise<void> {
    const { link, times, log } = this.#parts;
    const names = group.map(({ key }) => NAMES.limit(key.serverId, key.keyId));
    const flags = group.map(({ isCounted }) => (isCounted ? 1 : 0));
    try {
      if (this.#untold.size > 0) for (const { key, now } of group) await this.#tellBlock(key, now);
      const reply = (await link.run(LIMIT, names, [...times(group[0]?.now), ...flags])) as number[];
      if (reply.length !== 1 + group.length * NUMBERS_A_VERDICT) throw new Error("verdicts are missing");
      for (const [index, { key, resolve }] of group.entries()) {
        resolve(this.#takeVerdict(key.keyId, reply, index));
      }
    } catch (error) {
      for (const { key, now, isCounted, resolve } of group) resolve(this.#judgeAlone(key, now, isCounted));
      // That it does not answer at all is told once, by the link.
      if (link.isUp)
        this.#noteFault(performance.now(), (unlogged) => log.warn({ err: error, unlogged }, COUNTING_ALONE));
    }
  }

  /** Blocks that began without Redis go on with it, unless Redis has longer ones. */
  async tellBlocks(now: number): Promise<void> {
    for (const key of this.#untold.values()) await this.#tellBlock(key, now);
  }

  async #tellBlock({ keyId, serverId }: KeyIdentity, now: number): Promise<void> {
    if (!this.#untold.has(keyId)) return;
    const blockedUntil = this.#blocks.get(keyId) ?? 0;
    const name = NAMES.limit(serverId, keyId);
    const kept = Number(await this.#parts.link.send(name, "HGET", name, "blocked_until"));
    if (blockedUntil > Math.max(now, kept)) await this.adopt({ keyId, blockedUntil }, serverId);
    this.#untold.delete(keyId);
  }

  #takeVerdict(keyId: string, reply: readonly number[], index: number): Verdict {
    const at = (place: number) => reply[1 + index * NUMBERS_A_VERDICT + place] ?? 0;
    const now = reply[0] ?? 0;
    const [changed, resetAt, count, blockedUntil] = [at(1), at(2), at(3), at(4)];
    const outcome = OUTCOMES[at(0)] ?? "limited";
    if (outcome === "blocked") this.#noteBlock(keyId, blockedUntil);
    else if (this.#blocks.size > 0) this.#blocks.delete(keyId);
    return { outcome, now, blockChanged: changed === 1, state: { resetAt, count, blockedUntil } };
  }

  /** The limit itself holds the block; the list of blocks is for operators, and for us while Redis is away. */
  #noteBlock(keyId: string, blockedUntil: number): void {
    const { link, log } = this.#parts;
    if (this.#blocks.get(keyId) === blockedUntil) return;
    this.#blocks.set(keyId, blockedUntil);
    log.warn({ key_id: keyId, blocked_until: blockedUntil }, "a key is blocked for spam");
    link.send(NAMES.blocks, "HSET", NAMES.blocks, keyId, blockedUntil).catch((error) => {
      log.warn({ err: error, key_id: keyId }, "a spam block could not be listed");
    });
  }

  #judgeAlone(key: KeyIdentity, now: number, isCounted: boolean): Verdict {
    const { keyId } = key;
    const kept = this.#own.get(keyId);
    const blockedUntil = Math.max(kept?.blockedUntil ?? 0, this.#blocks.get(keyId) ?? 0);
    const isOver = !kept || isWindowOver(kept, now);
    const share = Math.floor(LIMIT_PER_WINDOW / Math.max(1, this.#parts.countInstances()));
    // A window of our own begins with the shares of the others used up already.
    const fresh = { resetAt: now + WINDOW_MS, count: LIMIT_PER_WINDOW - share, blockedUntil: 0 };
    const state = blockedUntil > now ? { ...(kept ?? FRESH_LIMIT), blockedUntil } : isOver ? fresh : kept;
    const verdict = judgeRequest(state, now, isCounted);
    this.#own.set(keyId, verdict.state);
    if (verdict.blockChanged) {
      this.#blocks.set(keyId, verdict.state.blockedUntil);
      this.#untold.set(keyId, key);
    }
    return verdict;
  }
}

export function toPairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[i * 2] ?? "", flat[i * 2 + 1] ?? ""]);
}
