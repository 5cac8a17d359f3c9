// The towns that exist at the moment, one for each server id, founded when first asked for.
import type { Town } from "./town.ts";
import { advanceTown, foundTown, type TownPlan } from "./town-clock.ts";

/** Beyond this many, the town that was looked at longest ago is forgotten. */
export const TOWNS_MAX = 256;

export class TownRegistry {
  readonly #towns = new Map<string, Town>();
  readonly #plan: Omit<TownPlan, "serverId">;

  constructor(plan: Omit<TownPlan, "serverId">) {
    this.#plan = plan;
  }

  /** The town of a server id as it is at this moment. */
  visit(serverId: string, nowMs: number): Town {
    const town = this.#towns.get(serverId) ?? foundTown({ ...this.#plan, serverId }, nowMs);
    this.#towns.delete(serverId);
    this.#towns.set(serverId, town);
    const stalest = this.#towns.keys().next();
    if (this.#towns.size > TOWNS_MAX && !stalest.done) this.#towns.delete(stalest.value);
    advanceTown(town, nowMs);
    return town;
  }

  get size(): number {
    return this.#towns.size;
  }
}
