// The simulated towns, one per server id. A town is created by the first call for its server, and has no timer: its time is
// advanced whenever it is read.
import { tickEmergencies } from "./emergencies.ts";
import { generateJoinKey, generateTownName } from "./names.ts";
import { tickPlayers } from "./player-behaviour.ts";
import { addFirstPlayers, createUniqueProfile, tickPopulation } from "./population.ts";
import type { Quirks } from "./quirks.ts";
import { hashOf, Random } from "./random.ts";
import { tickStaff } from "./staff-behaviour.ts";
import type { HookEvent, Profile, Rank, Town } from "./town.ts";
import { TownHooks } from "./town-hooks.ts";
import { type EntryCount, TownLogs } from "./town-logs.ts";

/** Beyond this many, the least recently used town is dropped. */
export const TOWNS_MAX = 256;

export class TownRegistry {
  readonly #towns = new Map<string, Town>();
  readonly #entryCount: EntryCount = { total: 0 };
  /** Set when events are told by webhook. */
  #hookQuirks: Quirks | undefined;

  constructor(private readonly plan: Omit<TownPlan, "serverId">) {}

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
    const town = createTown({ ...this.plan, serverId }, nowMs, this.#entryCount);
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

/** Town seconds that are simulated before the first read, so that the logs are not empty. */
const PAST_SECONDS = 900;
/** At most this many town seconds are simulated for one read; earlier ones are skipped. */
export const CATCH_UP_SECONDS_MAX = 900;
const PROFILES_MIN = 60;
const PROFILES_PER_PLAYER = 3;

export type TownPlan = {
  seed: number;
  serverId: string;
  playersWanted: number;
  maxPlayers: number;
  speed: number;
  /** How many entries each log list shows. */
  logWindow: number;
};

/** `entryCount` is shared by the towns whose recorded entries have one limit together. */
export function createTown(plan: TownPlan, nowMs: number, entryCount: EntryCount = { total: 0 }): Town {
  const seed = hashOf(plan.seed, plan.serverId);
  const random = new Random(seed);
  const profiles = createProfiles(plan, random);
  const idsOf = (rank: Rank) => profiles.filter((profile) => profile.rank === rank).map(({ id }) => id);
  const town: Town = {
    seed,
    name: generateTownName(random),
    joinKey: generateJoinKey(random),
    verification: random.pick(["Disabled", "Email", "Phone", "ID", "Phone/ID"] as const),
    hasTeamBalance: random.chance(0.5),
    ownerId: idsOf("owner")[0] ?? 0,
    coOwnerIds: idsOf("co-owner"),
    playersWanted: plan.playersWanted,
    maxPlayers: plan.maxPlayers,
    originMs: nowMs,
    speed: plan.speed,
    random,
    second: -PAST_SECONDS,
    profiles,
    banned: new Map(),
    players: new Map(),
    queue: [],
    logs: new TownLogs(plan.logWindow, entryCount),
    burstEntryCount: 0,
    emergencies: [],
    emergencyCount: 0,
    emergencyCountOfTeam: new Map(),
    hooks: null,
  };
  if (plan.playersWanted > 0) {
    addFirstPlayers(town);
    runUntil(town, 0);
    // No reading can have shown the older entries, so a comparison must not expect them.
    town.logs.restartRecord();
  }
  return town;
}

/** Advances the town to a wall-clock time. A time in its past changes nothing. */
export function advanceTown(town: Town, nowMs: number): void {
  if (town.playersWanted === 0) return;
  const target = Math.floor(((nowMs - town.originMs) / 1000) * town.speed);
  if (target - town.second > CATCH_UP_SECONDS_MAX) town.second = target - CATCH_UP_SECONDS_MAX;
  runUntil(town, target);
}

function runUntil(town: Town, second: number): void {
  while (town.second < second) {
    town.second++;
    tickPopulation(town);
    tickPlayers(town);
    tickEmergencies(town);
    tickStaff(town);
    town.hooks?.collect(town);
  }
}

function createProfiles(plan: TownPlan, random: Random): Profile[] {
  const staff: Rank[] = ["owner", "co-owner"];
  if (random.chance(0.5)) staff.push("co-owner");
  staff.push(...Array<Rank>(random.integer(2, 4)).fill("administrator"));
  staff.push(...Array<Rank>(random.integer(2, 5)).fill("moderator"));
  // Every third town has no helpers, because clients must handle an empty map.
  if (random.chance(2 / 3)) staff.push(...Array<Rank>(random.integer(1, 3)).fill("helper"));
  const count = Math.max(PROFILES_MIN, (plan.playersWanted + plan.maxPlayers) * PROFILES_PER_PLAYER);
  const profiles: Profile[] = [];
  for (let i = 0; i < count; i++) profiles.push(createUniqueProfile(random, profiles, staff[i] ?? "none"));
  return profiles;
}
