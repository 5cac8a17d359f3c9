// Writes what the archive knows of a map as the API tells it.
import type { MapImageFacts } from "../../core/map-image.ts";
import { CELL_SIZE, type PlaceKind, type SeenPlace } from "../../core/seen-places.ts";
import type { GameMapResource, MapImageResource } from "../../core/wire/game-map.ts";

/** The most names of each kind; those that were seen most. */
export const NAMES_MAX = 500;

type Cell = [x: number, z: number, seen: number];

export function describeMap(places: readonly SeenPlace[], image: MapImageFacts | undefined): GameMapResource {
  return {
    cell_size: CELL_SIZE,
    streets: listNames(places, "street"),
    postal_codes: listNames(places, "postal"),
    image: image ? describeMapImage(image) : null,
  };
}

export function describeMapImage({ hash, setAt, ...facts }: MapImageFacts): MapImageResource {
  const { type, width, height, bytes, left, top, right, bottom } = facts;
  return { type, width, height, bytes, left, top, right, bottom, set_at: setAt, etag: `"${hash}"` };
}

function listNames(places: readonly SeenPlace[], kind: PlaceKind): { name: string; cells: Cell[] }[] {
  const names = new Map<string, { seen: number; cells: Cell[] }>();
  for (const { name, cellX, cellZ, count, sumX, sumZ, ...rest } of places) {
    if (rest.kind !== kind) continue;
    const known = names.get(name) ?? { seen: 0, cells: [] };
    known.seen += count;
    known.cells.push([toMean(cellX, sumX, count), toMean(cellZ, sumZ, count), count]);
    names.set(name, known);
  }
  return [...names]
    .sort(([nameA, a], [nameB, b]) => b.seen - a.seen || (nameA < nameB ? -1 : 1))
    .slice(0, NAMES_MAX)
    .map(([name, { cells }]) => ({ name, cells: cells.sort(([xA, zA], [xB, zB]) => xA - xB || zA - zB) }));
}

/** Inside of the cell, so that readers can tell which cell it is. */
function toMean(cell: number, sum: number, count: number): number {
  return cell * CELL_SIZE + Math.min(Math.round(sum / count), CELL_SIZE - 1);
}
