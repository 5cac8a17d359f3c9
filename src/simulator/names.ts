// Generates names of players and servers, and callsigns. Any likeness to a real player is accidental.
import type { Random } from "./random.ts";
import type { Team } from "./teams.ts";

const FIRST_PARTS = [
  "Amber",
  "Blue",
  "Cobalt",
  "Dusty",
  "Ember",
  "Frosty",
  "Gravel",
  "Hazel",
  "Ivory",
  "Jolly",
  "Kettle",
  "Lunar",
  "Misty",
  "Nimble",
  "Olive",
  "Pepper",
  "Quiet",
  "Rusty",
  "Silver",
  "Tango",
  "Umber",
  "Velvet",
  "Windy",
  "Zesty",
];
const SECOND_PARTS = [
  "Badger",
  "Beacon",
  "Canyon",
  "Comet",
  "Driver",
  "Falcon",
  "Fox",
  "Harbor",
  "Lantern",
  "Maple",
  "Marten",
  "Otter",
  "Patrol",
  "Pilot",
  "Ranger",
  "Raven",
  "River",
  "Rook",
  "Sparrow",
  "Summit",
  "Trucker",
  "Wagon",
  "Willow",
  "Wrench",
];
const UNICODE_NAMES = [
  "Łukasz_Dąb",
  "Søren_Fjord",
  "Zoë_Lark",
  "Иван_Дорога",
  "さくら巡査",
  "한강라이더",
  "Ángel_Río",
  "Jürgen_Öl",
  "Ελένη_Φως",
  "نجم_الطريق",
  "👮Otter🚓",
  "Thảo_Xanh",
];
const UNICODE_CHANCE = 0.12;

const TOWN_PARTS = [
  "Willow Bay",
  "Cedar County",
  "Northgate",
  "Silverlake",
  "Pine Hollow",
  "Eastmoor",
  "Copper Ridge",
];
const TOWN_KINDS = ["Roleplay", "State Roleplay", "RP | Strict", "Community", "RP 24/7", "Public Safety RP"];

export function generatePlayerName(random: Random): string {
  const number = random.integer(1, 999);
  if (random.chance(UNICODE_CHANCE)) return `${random.pick(UNICODE_NAMES)}${number}`;
  const separator = random.chance(0.3) ? "_" : "";
  return `${random.pick(FIRST_PARTS)}${separator}${random.pick(SECOND_PARTS)}${random.chance(0.6) ? number : ""}`;
}

export function generateTownName(random: Random): string {
  return `${random.pick(TOWN_PARTS)} ${random.pick(TOWN_KINDS)}`;
}

export function generateJoinKey(random: Random): string {
  return `${random.pick(FIRST_PARTS)}${random.pick(SECOND_PARTS)}`.slice(0, 14);
}

/** Civilians and prisoners have no callsign. */
export function generateCallsign(team: Team, random: Random): string | null {
  switch (team) {
    case "Sheriff":
      return `${random.integer(1, 9)}${random.pick(["D", "K", "S"])}-${random.integer(100, 599)}`;
    case "Police":
      return `${random.integer(1, 4)}${random.pick(["L", "A", "X"])}-${random.integer(10, 79)}`;
    case "Fire":
      return `${random.pick(["E", "L", "M", "BC"])}-${random.integer(1, 29)}`;
    case "DOT":
      return `DOT-${random.integer(10, 49)}`;
    default:
      return null;
  }
}
