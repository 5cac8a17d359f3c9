// Simulates the players: they travel, change teams and vehicles, commit crimes, go to jail and die.
import { generateVehicle } from "./names.ts";
import { changeTeam, chooseTeam } from "./population.ts";
import { HOSPITAL, JAIL, travel } from "./street-map.ts";
import { activityOf, listPlayers, type Player, refOf, type Town, timestampOf } from "./town.ts";

const STARS_MAX = 5;
const DRIVING_UNITS_PER_SECOND = [9, 26] as const;
const WALKING_UNITS_PER_SECOND = [1, 4] as const;
const JAIL_SECONDS = [60, 180] as const;

/** Probabilities per player and second. */
const CHANCE = {
  newSpeed: 1 / 20,
  newTeam: 1 / 1200,
  newVehicle: 1 / 400,
  crime: 1 / 400,
  loseStar: 1 / 90,
  arrest: 1 / 120,
};
/** Probability per second in a town of activity 1. */
const DEATH_CHANCE = 1 / 120;

export function tickPlayers(town: Town): void {
  const isPoliced = listPlayers(town).some(({ team }) => team === "Police" || team === "Sheriff");
  for (const player of town.players.values()) {
    if (player.team === "Jail") tickPrisoner(town, player);
    else tickFreePlayer(town, player, isPoliced);
  }
  if (town.random.chance(DEATH_CHANCE * activityOf(town))) killRandomPlayer(town);
}

function tickFreePlayer(town: Town, player: Player, isPoliced: boolean): void {
  const { random } = town;
  if (random.chance(CHANCE.newSpeed)) player.unitsPerSecond = chooseSpeed(town, player);
  if (player.unitsPerSecond > 0) player.place = travel(player.place, player.unitsPerSecond, random);
  if (random.chance(CHANCE.newVehicle)) player.vehicle = generateVehicle(player.team, random);
  if (player.stars > 0) {
    if (isPoliced && player.team === "Civilian" && random.chance(CHANCE.arrest)) jail(town, player);
    else if (random.chance(CHANCE.loseStar)) player.stars--;
  } else if (random.chance(CHANCE.newTeam)) {
    changeTeam(town, player, chooseTeam(random));
  }
  if (player.team === "Civilian" && random.chance(CHANCE.crime)) setStars(player, player.stars + random.integer(1, 2));
}

function chooseSpeed(town: Town, player: Player): number {
  const { random } = town;
  if (random.chance(0.2)) return 0;
  const [least, most] = player.vehicle ? DRIVING_UNITS_PER_SECOND : WALKING_UNITS_PER_SECOND;
  return least + random.fraction() * (most - least);
}

function tickPrisoner(town: Town, player: Player): void {
  if (town.second >= player.releasedAt) release(town, player);
}

export function setStars(player: Player, stars: number): void {
  player.stars = Math.min(STARS_MAX, Math.max(0, stars));
}

export function jail(town: Town, player: Player): void {
  changeTeam(town, player, "Jail");
  player.stars = 0;
  player.place = JAIL;
  player.unitsPerSecond = 0;
  player.releasedAt = town.second + town.random.integer(...JAIL_SECONDS);
}

export function release(town: Town, player: Player): void {
  if (player.team === "Jail") changeTeam(town, player, "Civilian");
}

/** Puts a player back at the hospital, or in jail if jailed. */
export function respawn(player: Player): void {
  player.place = player.team === "Jail" ? JAIL : HOSPITAL;
  player.unitsPerSecond = 0;
}

/** `killer` is null when no player was the killer. */
export function killPlayer(town: Town, victim: Player, killer: Player | null): void {
  town.logs.add("KillLogs", {
    at: timestampOf(town),
    killed: refOf(victim.profile),
    killer: killer ? refOf(killer.profile) : null,
  });
  victim.stars = 0;
  respawn(victim);
}

function killRandomPlayer(town: Town): void {
  const { random } = town;
  const free = listPlayers(town).filter(({ team }) => team !== "Jail");
  const victim = random.find(free);
  if (!victim) return;
  const isAccident = random.chance(0.25);
  const killer = isAccident ? undefined : random.find(free.filter((other) => other !== victim));
  killPlayer(town, victim, killer ?? null);
  if (killer?.team === "Civilian") setStars(killer, killer.stars + 2);
}
