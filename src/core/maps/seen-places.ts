// What positions of players say about the game's map: in which cells of a grid a street name or postal code was seen. Only
// counts are kept, never who was there or when, so forgetting a player has nothing to do here. Pure.
import type { Element } from "../events/elements.ts";

/** The side of a cell, in units of the game. */
export const CELL_SIZE = 40;
/** The most places that are kept of one server. Those that were seen least are dropped first. */
export const PLACES_MAX = 10_000;
/** A count stops here, so that sums stay small. */
export const SEEN_MAX = 1_000_000;
export const STREET_LENGTH_MAX = 60;
export const POSTAL_LENGTH_MAX = 12;
/** Larger coordinates are not positions on a map. */
const COORDINATE_MAX = 100_000;

export const PLACE_KINDS = ["street", "postal"] as const;
export type PlaceKind = (typeof PLACE_KINDS)[number];

/** A name that was seen in a cell. The sums are of the distances from the cell's corner, in whole units. */
export type SeenPlace = {
  readonly kind: PlaceKind;
  readonly name: string;
  readonly cellX: number;
  readonly cellZ: number;
  readonly count: number;
  readonly sumX: number;
  readonly sumZ: number;
};

/** The places that the players of one reading were seen at, each with a count of 1. */
export function listSeenPlaces(players: readonly Element[]): SeenPlace[] {
  return players.flatMap(({ Location }) => {
    if (typeof Location !== "object" || Location === null) return [];
    const { LocationX, LocationZ, StreetName, PostalCode } = Location as Element;
    const [x, z] = [toCoordinate(LocationX), toCoordinate(LocationZ)];
    if (x === undefined || z === undefined) return [];
    const [cellX, cellZ] = [Math.floor(x / CELL_SIZE), Math.floor(z / CELL_SIZE)];
    const sumX = Math.min(Math.round(x - cellX * CELL_SIZE), CELL_SIZE);
    const sumZ = Math.min(Math.round(z - cellZ * CELL_SIZE), CELL_SIZE);
    const names = [
      ["street", cleanName(StreetName, STREET_LENGTH_MAX)],
      ["postal", cleanName(PostalCode, POSTAL_LENGTH_MAX)],
    ] as const;
    return names.flatMap(([kind, name]) => {
      return name === undefined ? [] : [{ kind, name, cellX, cellZ, count: 1, sumX, sumZ }];
    });
  });
}

/** Numbers may be exact JSON, which has no value of its own. */
function toCoordinate(value: unknown): number | undefined {
  if (value === null || typeof value === "string") return undefined;
  const number = typeof value === "number" ? value : Number(JSON.stringify(value));
  return Math.abs(number) <= COORDINATE_MAX ? number : undefined;
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/u;

/** One line of visible text. Undefined for a text that cannot be a name on a map. */
function cleanName(value: unknown, lengthMax: number): string | undefined {
  // White space that is cut counts too, so that a very long text costs nothing.
  if (typeof value !== "string" || value.length > lengthMax * 2) return undefined;
  const name = value.replace(/\s+/g, " ").trim();
  const isName = name !== "" && name.length <= lengthMax && name.isWellFormed() && !INVISIBLE.test(name);
  return isName ? name : undefined;
}
