// The map of every town: a grid of streets around the origin, with X growing to the right and Z growing downwards, and
// the address of each point of a street.
import type { Random } from "./random.ts";

/** Half the side of the square world. */
export const MAP_HALF = 1560;
const STREET_END = 1500;
const LANE_OFFSET = 6;
const TURN_CHANCE = 0.35;
const NUMBERS_PER_BLOCK = 50;

/** `runs` is the axis of the street; `at` is its coordinate on the other axis. */
export type Street = { name: string; runs: "x" | "z"; at: number };

/** A point of a street: the coordinate along its axis, and the direction of travel. */
export type Place = { street: Street; along: number; direction: 1 | -1 };

export type Address = { postalCode: string; streetName: string; buildingNumber: string };

function createStreets(runs: "x" | "z", lines: readonly (readonly [number, string])[]): readonly Street[] {
  return lines.map(([at, name]) => ({ name, runs, at }));
}

const AVENUES = createStreets("z", [
  [-1400, "Harbor Avenue"],
  [-1130, "Mill Avenue"],
  [-860, "Orchard Avenue"],
  [-590, "Liberty Avenue"],
  [-330, "Foundry Avenue"],
  [-80, "Independence Parkway"],
  [170, "Colonial Drive"],
  [430, "Maple Avenue"],
  [690, "Academy Place"],
  [960, "Fairfax Road"],
  [1220, "Sandstone Road"],
  [1430, "Ridge Road"],
]);

const CROSS_STREETS = createStreets("x", [
  [-1420, "North Loop"],
  [-1160, "Elm Street"],
  [-900, "Grand Street"],
  [-640, "Chapel Street"],
  [-370, "Station Street"],
  [-110, "Main Street"],
  [150, "Park Street"],
  [410, "Riverside Drive"],
  [680, "Franklin Street"],
  [940, "Hillview Road"],
  [1190, "Quarry Road"],
  [1410, "Lakeshore Drive"],
]);

export const STREETS: readonly Street[] = [...AVENUES, ...CROSS_STREETS];

/** Where jailed players are. */
export const JAIL: Place = { street: findStreet("Station Street"), along: 300, direction: 1 };

/** Where killed players respawn. */
export const HOSPITAL: Place = { street: findStreet("Park Street"), along: -200, direction: -1 };

function findStreet(name: string): Street {
  const street = STREETS.find((candidate) => candidate.name === name);
  if (!street) throw new RangeError(`no street is called ${name}`);
  return street;
}

function crossingsOf(street: Street): readonly Street[] {
  return street.runs === "x" ? AVENUES : CROSS_STREETS;
}

export function choosePlace(random: Random): Place {
  return {
    street: random.pick(STREETS),
    along: random.integer(-STREET_END, STREET_END),
    direction: random.chance(0.5) ? 1 : -1,
  };
}

/** World coordinates on the right-hand lane, with three decimals as in the real game API. */
export function pointOf({ street, along, direction }: Place): { x: number; z: number } {
  // Because Z grows downwards, the right-hand side is +Z when travelling along +X, and -X when travelling along +Z.
  const side = street.runs === "x" ? direction : -direction;
  const across = street.at + side * LANE_OFFSET;
  return street.runs === "x"
    ? { x: roundCoordinate(along), z: roundCoordinate(across) }
    : { x: roundCoordinate(across), z: roundCoordinate(along) };
}

function roundCoordinate(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function blockOf(lines: readonly Street[], coordinate: number): number {
  let block = 0;
  for (const line of lines) if (line.at <= coordinate) block++;
  return block;
}

/** Postal codes count the blocks row by row. Building numbers rise along a street, by a hundred per block. */
export function addressOf(place: Place): Address {
  const { street, along, direction } = place;
  const { x, z } = pointOf(place);
  const row = blockOf(CROSS_STREETS, z);
  const column = blockOf(AVENUES, x);
  const lines = crossingsOf(street);
  const block = blockOf(lines, along);
  const start = lines[block - 1]?.at ?? -MAP_HALF;
  const end = lines[block]?.at ?? MAP_HALF;
  const house = Math.min(NUMBERS_PER_BLOCK - 1, Math.floor(((along - start) / (end - start)) * NUMBERS_PER_BLOCK));
  return {
    postalCode: String(101 + row * (AVENUES.length + 1) + column),
    streetName: street.name,
    buildingNumber: String((block + 1) * 100 + house * 2 + (direction === 1 ? 1 : 0)),
  };
}

/** The nearest crossing street, for descriptions such as "Park Street near Maple Avenue". */
export function nearestCrossing({ street, along }: Place): Street {
  const [first, ...rest] = crossingsOf(street);
  if (!first) throw new RangeError(`${street.name} crosses nothing`);
  return rest.reduce((near, line) => (Math.abs(line.at - along) < Math.abs(near.at - along) ? line : near), first);
}

/** Travels a distance, turning at random crossings and back at the end of a street. */
export function travel(place: Place, distance: number, random: Random): Place {
  let { street, along, direction } = place;
  let left = distance;
  while (left > 0) {
    const crossing = findNextCrossing(street, along, direction);
    const stop = crossing?.at ?? direction * STREET_END;
    const reach = Math.abs(stop - along);
    if (left < reach) return { street, along: along + direction * left, direction };
    left -= reach;
    along = stop;
    if (!crossing) {
      direction = direction === 1 ? -1 : 1;
    } else if (random.chance(TURN_CHANCE)) {
      along = street.at;
      street = crossing;
      direction = random.chance(0.5) ? 1 : -1;
    }
  }
  return { street, along, direction };
}

function findNextCrossing(street: Street, along: number, direction: 1 | -1): Street | undefined {
  const lines = crossingsOf(street);
  return direction === 1 ? lines.find(({ at }) => at > along) : lines.findLast(({ at }) => at < along);
}
