// The simulated towns, one per server id. A town is created by the first call for its server.

import { advanceTown, createTown, type TownPlan } from "./advance-town.ts";
import type { EntryCount } from "./entry-record.ts";
import type { Quirks } from "./quirks.ts";
import type { HookEvent, Town } from "./town.ts";
import { TownHooks } from "./town-hooks.ts";

/** Beyond this many, the least recently used town is dropped. */
export const TOWNS_MAX = 256;

export class TownRegistry {
  readonly #towns = new Map<string, Town>();
  readonly #entryCount: EntryCount = { total: 0 };
  readonly #plan: Omit<TownPlan, "serverId">;
  /** Set when events are told by webhook. */
  #hookQuirks: Quirks | undefined;

  constructor(plan: Omit<TownPlan, "serverId">) {
    this.#plan = plan;
  }

  /** The server's town, advanced to this time. */
  getCurrent(serverId: string, nowMs: number): Town {
    const town = this.#towns.get(serverId) ?? this.#create(serverId, nowMs);
    this.#towns.delete(serverId);
    this.#towns.set(serverId, town);
    this.#dropOldest();
    advanceTown(town, nowMs);
    return town;
  }

  /** The server's town as the last call left it; undefined when there is none. */
  find(serverId: string): Town | undefined {
    return this.#towns.get(serverId);
  }

  /** From now on every town collects what is told by webhook. */
  collectHooks(quirks: Quirks): void {
    this.#hookQuirks = quirks;
    for (const town of this.#towns.values()) town.hooks = new TownHooks(town, quirks);
  }

  /** Advances every town, and takes what is to be told of each. */
  takeHooks(nowMs: number): { serverId: string; events: readonly HookEvent[] }[] {
    return Array.from(this.#towns, ([serverId, town]) => {
      advanceTown(town, nowMs);
      return { serverId, events: town.hooks?.take() ?? [] };
    });
  }

  #create(serverId: string, nowMs: number): Town {
    const town = createTown({ ...this.#plan, serverId }, nowMs, this.#entryCount);
    if (this.#hookQuirks) town.hooks = new TownHooks(town, this.#hookQuirks);
    return town;
  }

  #dropOldest(): void {
    const [oldest] = this.#towns;
    if (this.#towns.size <= TOWNS_MAX || !oldest) return;
    const [serverId, town] = oldest;
    this.#towns.delete(serverId);
    town.logs.dropRecord();
  }

  get size(): number {
    return this.#towns.size;
  }
}
