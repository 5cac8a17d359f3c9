// The simulated towns, one per server id. A town is created by the first call for its server.

import { advanceTown, createTown, type TownPlan } from "./advance-town.ts";
import type { EntryCount } from "./entry-record.ts";
import type { Town } from "./town.ts";

/** Beyond this many, the least recently used town is dropped. */
export const TOWNS_MAX = 256;

export class TownRegistry {
  readonly #towns = new Map<string, Town>();
  readonly #entryCount: EntryCount = { total: 0 };
  readonly #plan: Omit<TownPlan, "serverId">;

  constructor(plan: Omit<TownPlan, "serverId">) {
    this.#plan = plan;
  }

  /** The server's town, advanced to this time. */
  getCurrent(serverId: string, nowMs: number): Town {
    const town =
      this.#towns.get(serverId) ?? createTown({ ...this.#plan, serverId }, nowMs, this.#entryCount);
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
