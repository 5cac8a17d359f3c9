// Generates vehicles: models and liveries for each team, colours and number plates.
import type { Random } from "./random.ts";
import type { Team } from "./teams.ts";

export type Vehicle = {
  model: string;
  plate: string;
  livery: string | null;
  colorHex: string;
  colorName: string;
};

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
    models: [
      "2018 Falcon Advance SSV",
      "2020 Chevlon Commuter PPV",
      "2013 Bullhorn Pueblo",
      "Prisoner Transport Bus",
    ],
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
