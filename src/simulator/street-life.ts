// What residents do with their day: travel, change teams and vehicles, break the law, go to jail, die.
import { changeTeam, chooseTeam } from "./population.ts";
import { HOSPITAL, JAIL, travel } from "./street-map.ts";
import { bustleOf, listResidents, type Resident, refOf, type Town, timestampOf } from "./town.ts";
import { buildVehicle } from "./vehicles.ts";

const STARS_MAX = 5;
const DRIVING_UNITS_PER_SECOND = [9, 26] as const;
const WALKING_UNITS_PER_SECOND = [1, 4] as const;
const JAIL_SECONDS = [60, 180] as const;

/** Chances per resident and second. */
const CHANCE = {
  newPace: 1 / 20,
  newTeam: 1 / 1200,
  newVehicle: 1 / 400,
  crime: 1 / 400,
  forgetStar: 1 / 90,
  arrest: 1 / 120,
};
/** Chance per town of ordinary bustle and second. */
const DEATH_CHANCE = 1 / 120;

export function liveOnTheStreets(town: Town): void {
  let arresters = 0;
  for (const { team } of town.residents.values()) if (team === "Police" || team === "Sheriff") arresters++;
  for (const resident of town.residents.values()) {
    if (resident.team === "Jail") serveTime(town, resident);
    else liveFreely(town, resident, arresters > 0);
  }
  if (town.random.isLucky(DEATH_CHANCE * bustleOf(town))) stageDeath(town);
}

function liveFreely(town: Town, resident: Resident, isPoliced: boolean): void {
  const { random } = town;
  if (random.isLucky(CHANCE.newPace)) resident.unitsPerSecond = choosePace(town, resident);
  if (resident.unitsPerSecond > 0) resident.place = travel(resident.place, resident.unitsPerSecond, random);
  if (random.isLucky(CHANCE.newVehicle)) resident.vehicle = buildVehicle(resident.team, random);
  if (resident.stars > 0) {
    if (isPoliced && resident.team === "Civilian" && random.isLucky(CHANCE.arrest)) imprison(town, resident);
    else if (random.isLucky(CHANCE.forgetStar)) resident.stars--;
  } else if (random.isLucky(CHANCE.newTeam)) {
    changeTeam(town, resident, chooseTeam(random));
  }
  if (resident.team === "Civilian" && random.isLucky(CHANCE.crime)) {
    accuse(resident, resident.stars + random.integer(1, 2));
  }
}

function choosePace(town: Town, resident: Resident): number {
  const { random } = town;
  if (random.isLucky(0.2)) return 0;
  const [least, most] = resident.vehicle ? DRIVING_UNITS_PER_SECOND : WALKING_UNITS_PER_SECOND;
  return least + random.fraction() * (most - least);
}

function serveTime(town: Town, resident: Resident): void {
  if (town.second >= resident.freeAt) release(town, resident);
}

export function accuse(resident: Resident, stars: number): void {
  resident.stars = Math.min(STARS_MAX, Math.max(0, stars));
}

export function imprison(town: Town, resident: Resident): void {
  changeTeam(town, resident, "Jail");
  resident.stars = 0;
  resident.place = JAIL;
  resident.unitsPerSecond = 0;
  resident.freeAt = town.second + town.random.integer(...JAIL_SECONDS);
}

export function release(town: Town, resident: Resident): void {
  if (resident.team === "Jail") changeTeam(town, resident, "Civilian");
}

/** Puts a free resident back at the hospital; prisoners wake up in jail. */
export function respawn(resident: Resident): void {
  resident.place = resident.team === "Jail" ? JAIL : HOSPITAL;
  resident.unitsPerSecond = 0;
}

/** `killer` is null when the surroundings did it. */
export function die(town: Town, victim: Resident, killer: Resident | null): void {
  town.kills.add({
    at: timestampOf(town),
    killed: refOf(victim.person),
    killer: killer ? refOf(killer.person) : null,
  });
  victim.stars = 0;
  respawn(victim);
}

function stageDeath(town: Town): void {
  const { random } = town;
  const free = listResidents(town).filter(({ team }) => team !== "Jail");
  const victim = random.find(free);
  if (!victim) return;
  const isAccident = random.isLucky(0.25);
  const killer = isAccident ? undefined : random.find(free.filter((other) => other !== victim));
  die(town, victim, killer ?? null);
  if (killer?.team === "Civilian") accuse(killer, killer.stars + 2);
}
