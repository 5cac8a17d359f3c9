// How much keys were used: a hash for each key, with a count for each hour and error code.
import type { UsageCell, UsageCount } from "../../core/ports.ts";
import { NAMES } from "./names.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import type { RedisLink } from "./redis-link.ts";
import { createScript } from "./script.ts";
import usageText from "./scripts/usage.lua" with { type: "text" };
import countsText from "./scripts/usage-counts.lua" with { type: "text" };
import { toPairs } from "./shared-limits.ts";

const USAGE = createScript(usageText);
const COUNTS = createScript(countsText);
const TIDIED_AT_ONCE = 100;

export class UsageTable {
  readonly #link: RedisLink;
  readonly #times: ScriptTimes;

  constructor(link: RedisLink, times: ScriptTimes) {
    this.#link = link;
    this.#times = times;
  }

  /** Resolves with the cells that were not added, though others were. */
  async add(
    all: readonly UsageCell[],
    serverOf: (keyId: string) => string | undefined,
  ): Promise<readonly UsageCell[]> {
    const cells = all.flatMap((cell) => {
      const serverId = serverOf(cell.keyId);
      return serverId === undefined ? [] : [{ ...cell, serverId }];
    });
    if (cells.length === 0) return [];
    // First, because this may be told twice: whoever hears that nothing was added will try all of it again.
    const noted = cells.flatMap(({ keyId, lastUsedAt, hour }) => [keyId, lastUsedAt, hour]);
    await this.#link.run(USAGE, [NAMES.lastUsed, NAMES.oldestHours], [...this.#times(), ...noted]);
    // A cluster keeps each game server's keys together, and apart from the others'.
    const groups = [...Map.groupBy(cells, ({ serverId }) => (this.#link.isCluster ? serverId : "")).values()];
    const outcomes = await Promise.allSettled(groups.map((group) => this.#addCounts(group)));
    const failures = outcomes.filter((outcome) => outcome.status === "rejected");
    if (failures.length === groups.length) throw failures[0]?.reason;
    return groups.filter((_, index) => outcomes[index]?.status === "rejected").flat();
  }

  #addCounts(cells: readonly (UsageCell & { readonly serverId: string })[]): Promise<unknown> {
    const names: string[] = [];
    const additions: (string | number)[] = [];
    for (const { serverId, keyId, hour, counts } of cells) {
      for (const [code, times] of counts) {
        names.push(NAMES.usage(serverId, keyId));
        additions.push(`${hour}:${code}`, times);
      }
    }
    return this.#link.run(COUNTS, names, [...this.#times(), ...additions]);
  }

  async read(serverId: string, keyId: string, since: number): Promise<UsageCount[]> {
    const counts = await this.#readAll(NAMES.usage(serverId, keyId));
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

  async forgetBefore(
    time: number,
    findServerOf: (keyId: string) => Promise<string | undefined>,
  ): Promise<void> {
    for (;;) {
      const range = ["ZRANGE", NAMES.oldestHours, "-inf", `(${time}`, "BYSCORE", "LIMIT", 0, TIDIED_AT_ONCE];
      const keyIds = (await this.#link.send(NAMES.oldestHours, ...range)) as string[];
      for (const keyId of keyIds) {
        const name = NAMES.usage((await findServerOf(keyId)) ?? keyId, keyId);
        const counts = await this.#readAll(name);
        const old = counts.filter(({ hour }) => hour < time).map(({ hour, code }) => `${hour}:${code}`);
        if (old.length > 0) await this.#link.send(name, "HDEL", name, ...old);
        await this.#noteOldest(
          keyId,
          counts.map(({ hour }) => hour).filter((hour) => hour >= time),
        );
      }
      if (keyIds.length < TIDIED_AT_ONCE) return;
    }
  }

  async #noteOldest(keyId: string, hours: readonly number[]): Promise<void> {
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
