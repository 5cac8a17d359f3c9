// The use of keys: a hash for each key, with a count for each hour and error code.
import type { HourlyUsage, UsageCount, UsageStore } from "../../core/ports/usage.ts";
import type { Directory } from "./directory.ts";
import { NAMES } from "./names.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import type { RedisLink } from "./redis-link.ts";
import { createScript } from "./script.ts";
import usageText from "./scripts/usage.lua" with { type: "text" };
import countsText from "./scripts/usage-counts.lua" with { type: "text" };
import { toPairs } from "./shared-limits.ts";

const USAGE = createScript(usageText);
const COUNTS = createScript(countsText);
const TIDY_BATCH = 100;

export class UsageTable implements UsageStore {
  readonly #link: RedisLink;
  readonly #directory: Directory;
  readonly #times: ScriptTimes;

  constructor(link: RedisLink, directory: Directory, times: ScriptTimes) {
    this.#link = link;
    this.#directory = directory;
    this.#times = times;
  }

  async add(all: readonly HourlyUsage[]): Promise<readonly HourlyUsage[]> {
    const entries = all.flatMap((entry) => {
      const serverId = this.#directory.cache.serverOf(entry.keyId);
      return serverId === undefined ? [] : [{ ...entry, serverId }];
    });
    if (entries.length === 0) return [];
    // First, because it is idempotent: when the counts fail, the caller adds all of it again.
    const lastUses = entries.flatMap(({ keyId, lastUsedAt, hour }) => [keyId, lastUsedAt, hour]);
    await this.#link.run(USAGE, [NAMES.lastUsed, NAMES.oldestHours], [...this.#times(), ...lastUses]);
    // A script may only use keys of one node of a cluster, and only the keys of one game server surely share a node.
    const groups = [
      ...Map.groupBy(entries, ({ serverId }) => (this.#link.isCluster ? serverId : "")).values(),
    ];
    const outcomes = await Promise.allSettled(groups.map((group) => this.#addCounts(group)));
    const failures = outcomes.filter((outcome) => outcome.status === "rejected");
    if (failures.length === groups.length) throw failures[0]?.reason;
    return groups.filter((_, index) => outcomes[index]?.status === "rejected").flat();
  }

  #addCounts(entries: readonly (HourlyUsage & { readonly serverId: string })[]): Promise<unknown> {
    const names: string[] = [];
    const additions: (string | number)[] = [];
    for (const { serverId, keyId, hour, counts } of entries) {
      for (const [code, times] of counts) {
        names.push(NAMES.usage(serverId, keyId));
        additions.push(`${hour}:${code}`, times);
      }
    }
    return this.#link.run(COUNTS, names, [...this.#times(), ...additions]);
  }

  async read(keyId: string, since: number): Promise<readonly UsageCount[]> {
    const key = await this.#directory.readKey(keyId);
    if (!key) return [];
    const counts = await this.#readAll(NAMES.usage(key.record.serverId, keyId));
    return counts.filter(({ hour }) => hour >= since).sort((a, b) => a.hour - b.hour || a.code - b.code);
  }

  async findLastUsed(keyId: string): Promise<number | null> {
    const [time = null] = await this.listLastUsed([keyId]);
    return time;
  }

  /** In the order of the keys. */
  async listLastUsed(keyIds: readonly string[]): Promise<(number | null)[]> {
    if (keyIds.length === 0) return [];
    const replies = await this.#link.send(NAMES.lastUsed, "HMGET", NAMES.lastUsed, ...keyIds);
    return (replies as (string | null)[]).map((reply) => (reply === null ? null : Number(reply)));
  }

  async forgetBefore(time: number): Promise<void> {
    for (;;) {
      const range = ["ZRANGE", NAMES.oldestHours, "-inf", `(${time}`, "BYSCORE", "LIMIT", 0, TIDY_BATCH];
      const keyIds = (await this.#link.send(NAMES.oldestHours, ...range)) as string[];
      for (const keyId of keyIds) {
        const name = NAMES.usage((await this.#directory.readKey(keyId))?.record.serverId ?? keyId, keyId);
        const counts = await this.#readAll(name);
        const old = counts.filter(({ hour }) => hour < time).map(({ hour, code }) => `${hour}:${code}`);
        if (old.length > 0) await this.#link.send(name, "HDEL", name, ...old);
        await this.#saveOldest(
          keyId,
          counts.map(({ hour }) => hour).filter((hour) => hour >= time),
        );
      }
      if (keyIds.length < TIDY_BATCH) return;
    }
  }

  async #saveOldest(keyId: string, hours: readonly number[]): Promise<void> {
    const name = NAMES.oldestHours;
    if (hours.length === 0) await this.#link.send(name, "ZREM", name, keyId);
    else await this.#link.send(name, "ZADD", name, Math.min(...hours), keyId);
  }

  async #readAll(name: string): Promise<UsageCount[]> {
    const flat = (await this.#link.send(name, "HGETALL", name)) as string[];
    return toPairs(flat).map(([field, count]) => {
      const [hour, code] = field.split(":");
      return { hour: Number(hour), code: Number(code), count: Number(count) };
    });
  }
}
