// Generates names of players and servers, callsigns, and vehicles with their colours and number plates. Any likeness to a real
// player is accidental.
import type { Random } from "./random.ts";

function splitWords(text: string): readonly string[] {
  return text.split(" ");
}

const FIRST_PARTS = splitWords(
  "Amber Blue Cobalt Dusty Ember Frosty Gravel Hazel Ivory Jolly Kettle Lunar Misty Nimble Olive Pepper " +
    "Quiet Rusty Silver Tango Umber Velvet Windy Zesty",
);
const SECOND_PARTS = splitWords(
  "Badger Beacon Canyon Comet Driver Falcon Fox Harbor Lantern Maple Marten Otter Patrol Pilot Ranger " +
    "Raven River Rook Sparrow Summit Trucker Wagon Willow Wrench",
);
const UNICODE_NAMES = splitWords(
  "Łukasz_Dąb Søren_Fjord Zoë_Lark Иван_Дорога さくら巡査 한강라이더 Ángel_Río Jürgen_Öl Ελένη_Φως نجم_الطريق " +
    "👮Otter🚓 Thảo_Xanh",
);
const UNICODE_CHANCE = 0.12;

const TOWN_PARTS = ["Willow Bay", "Cedar County", "Northgate", "Silverlake", "Pine Hollow", "Eastmoor", "Copper Ridge"];
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

export const SERVICE_TEAMS = ["Sheriff", "Police", "Fire", "DOT"] as const;
export type ServiceTeam = (typeof SERVICE_TEAMS)[number];
export type Team = "Civilian" | "Jail" | ServiceTeam;

export type Vehicle = { model: string; plate: string; livery: string | null; colorHex: string; colorName: string };

type Fleet = { models: readonly string[]; liveries: readonly (string | null)[] };

const CIVILIAN_FLEET: Fleet = {
  models: [
    "2019 Falcon Stallion 350",
    "2004 Bullhorn Prancer",
    "1988 Overland Apache",
    "2021 Chevlon Camion",
    "2016 Vellfire Pioneer",
    "2011 Leland LTS",
    "1995 Arrow Phoenix",
    "2022 Averon RS3",
    "Dump Truck",
    "Farm Tractor",
  ],
  liveries: [null, null, null, "Racing Stripes", "Two Tone", "Taxi"],
};

const FLEETS: Record<Team, Fleet> = {
  Civilian: CIVILIAN_FLEET,
  Jail: CIVILIAN_FLEET,
  Sheriff: {
    models: ["2018 Falcon Advance SSV", "2020 Chevlon Commuter PPV", "2013 Bullhorn Pueblo", "Prisoner Transport Bus"],
    liveries: ["Standard", "County Ghost", "Slicktop", "K-9 Unit"],
  },
  Police: {
    models: ["2017 Falcon Interceptor", "2015 Bullhorn Prancer Pursuit", "2020 Falcon Interceptor Utility"],
    liveries: ["Standard", "Supervisor", "Traffic Unit", "Undercover"],
  },
  Fire: {
    models: ["Fire Engine", "Ladder Truck", "Ambulance", "Heavy Rescue", "Battalion Chief SUV"],
    liveries: ["Standard", "Station 7", "EMS", null],
  },
  DOT: {
    models: ["Tow Truck", "Flatbed Tow Truck", "Street Sweeper", "Cone Truck", "Salt Truck"],
    liveries: ["Standard", "Highway Assist", null],
  },
};

const COLOURS: readonly (readonly [name: string, hex: string])[] = [
  ["Super Red", "#ff4444"],
  ["Deep Blue", "#1E3A8A"],
  ["Pearl White", "#f5f5f0"],
  ["Midnight Black", "#0b0b0f"],
  ["Silver Metallic", "#C0C0C0"],
  ["Forest Green", "#22662a"],
  ["Sunset Orange", "#ff7a1a"],
  ["Canary Yellow", "#FFE14D"],
];
const PLATE_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ";

export function generateVehicle(team: Team, random: Random): Vehicle {
  const fleet = FLEETS[team];
  const [colorName, colorHex] = random.pick(COLOURS);
  return {
    model: random.pick(fleet.models),
    plate: generatePlate(random),
    livery: random.pick(fleet.liveries),
    colorHex,
    colorName,
  };
}

function generatePlate(random: Random): string {
  let letters = "";
  for (let i = 0; i < 3; i++) letters += PLATE_LETTERS[random.integer(0, PLATE_LETTERS.length - 1)];
  return `${letters}-${random.integer(100, 999)}`;
}
