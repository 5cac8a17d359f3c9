// Founding a town and letting its time pass. A town has no timer of its own: it catches up when it is looked at.
import { BoundedLog } from "./bounded-log.ts";
import { handleEmergencies } from "./emergencies.ts";
import { inventJoinKey, inventTownName } from "./names.ts";
import { inventStranger, moveCrowd, settleFirstResidents } from "./population.ts";
import { hashOf, Random } from "./random.ts";
import { keepStaffBusy } from "./staff-duty.ts";
import { liveOnTheStreets } from "./street-life.ts";
import type { Person, Rank, Town } from "./town.ts";

/** Town seconds that are made up before the first look, so that the logs have something to tell. */
const PAST_SECONDS = 900;
/** Town seconds that are lived through at most for one look; what lies before is skipped. */
export const CATCH_UP_SECONDS_MAX = 900;
const JOIN_LOGS_MAX = 100;
const KILL_LOGS_MAX = 100;
const COMMAND_LOGS_MAX = 100;
const MOD_CALLS_MAX = 50;
const PEOPLE_LEAST = 60;
const PEOPLE_PER_PLAYER = 3;

export type TownPlan = {
  seed: number;
  serverId: string;
  playersWanted: number;
  maxPlayers: number;
  speed: number;
};

export function foundTown(plan: TownPlan, nowMs: number): Town {
  const seed = hashOf(plan.seed, plan.serverId);
  const random = new Random(seed);
  const people = gatherPeople(plan, random);
  const idsOf = (rank: Rank) => people.filter((person) => person.rank === rank).map(({ id }) => id);
  const town: Town = {
    seed,
    name: inventTownName(random),
    joinKey: inventJoinKey(random),
    verification: random.pick(["Disabled", "Email", "Phone", "ID", "Phone/ID"] as const),
    hasTeamBalance: random.isLucky(0.5),
    ownerId: idsOf("owner")[0] ?? 0,
    coOwnerIds: idsOf("co-owner"),
    playersWanted: plan.playersWanted,
    maxPlayers: plan.maxPlayers,
    originMs: nowMs,
    speed: plan.speed,
    random,
    second: -PAST_SECONDS,
    people,
    banned: new Map(),
    residents: new Map(),
    queue: [],
    joins: new BoundedLog(JOIN_LOGS_MAX),
    kills: new BoundedLog(KILL_LOGS_MAX),
    commands: new BoundedLog(COMMAND_LOGS_MAX),
    modCalls: new BoundedLog(MOD_CALLS_MAX),
    emergencies: [],
    emergencyCount: 0,
    emergencyCountOfTeam: new Map(),
  };
  if (plan.playersWanted > 0) {
    settleFirstResidents(town);
    liveUntil(town, 0);
  }
  return town;
}

/** Brings the town to a moment of the wall clock; an earlier moment changes nothing. */
export function advanceTown(town: Town, nowMs: number): void {
  if (town.playersWanted === 0) return;
  const target = Math.floor(((nowMs - town.originMs) / 1000) * town.speed);
  if (target - town.second > CATCH_UP_SECONDS_MAX) town.second = target - CATCH_UP_SECONDS_MAX;
  liveUntil(town, target);
}

function liveUntil(town: Town, second: number): void {
  while (town.second < second) {
    town.second++;
    moveCrowd(town);
    liveOnTheStreets(town);
    handleEmergencies(town);
    keepStaffBusy(town);
  }
}

function gatherPeople(plan: TownPlan, random: Random): Person[] {
  const staff: Rank[] = ["owner", "co-owner"];
  if (random.isLucky(0.5)) staff.push("co-owner");
  staff.push(...Array<Rank>(random.integer(2, 4)).fill("administrator"));
  staff.push(...Array<Rank>(random.integer(2, 5)).fill("moderator"));
  // Every third town has no helpers: an empty map is one of the things that readers must cope with.
  if (random.isLucky(2 / 3)) staff.push(...Array<Rank>(random.integer(1, 3)).fill("helper"));
  const count = Math.max(PEOPLE_LEAST, (plan.playersWanted + plan.maxPlayers) * PEOPLE_PER_PLAYER);
  const people: Person[] = [];
  for (let i = 0; i < count; i++) people.push(inventStranger(random, people, staff[i] ?? "none"));
  return people;
}
