// Creates towns and advances their time. A town has no timer: it is advanced whenever it is read.
import { tickEmergencies } from "./emergencies.ts";
import type { EntryCount } from "./entry-record.ts";
import { generateJoinKey, generateTownName } from "./names.ts";
import { tickPlayers } from "./player-behaviour.ts";
import { addFirstPlayers, createUniqueProfile, tickPopulation } from "./population.ts";
import { hashOf, Random } from "./random.ts";
import { tickStaff } from "./staff-behaviour.ts";
import type { Profile, Rank, Town } from "./town.ts";
import { TownLogs } from "./town-logs.ts";

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
