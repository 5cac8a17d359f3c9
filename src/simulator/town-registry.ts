// The simulated towns, one per server id. A town is created by the first call for its server.

import { advanceTown, createTown, type TownPlan } from "./advance-town.ts";
import type { Town } from "./town.ts";

/** Beyond this many, the least recently used town is dropped. */
export const TOWNS_MAX = 256;

export class TownRegistry {
  readonly #towns = new Map<string, Town>();
  readonly #plan: Omit<TownPlan, "serverId">;

  constructor(plan: Omit<TownPlan, "serverId">) {
    this.#plan = plan;
  }

  /** The server's town, advanced to this time. */
  getCurrent(serverId: string, nowMs: number): Town {
    const town = this.#towns.get(serverId) ?? createTown({ ...this.#plan, serverId }, nowMs);
    this.#towns.delete(serverId);
    this.#towns.set(serverId, town);
    const oldest = this.#towns.keys().next();
    if (this.#towns.size > TOWNS_MAX && !oldest.done) this.#towns.delete(oldest.value);
    advanceTown(town, nowMs);
    return town;
  }

  get size(): number {
    return this.#towns.size;
  }
}
