// What is drawn below the markers: streets and postal codes, made from the cells in which they were seen. Pure.
import type { GameMapResource } from "../../../core/wire/game-map.ts";
import { shortenText } from "./markers.ts";
import type { Point } from "./viewport.ts";

/** A place for the name of a street. An upright one reads from the bottom to the top. */
export type StreetAnchor = Point & { readonly isUpright: boolean };

export type GroundStreet = {
  readonly name: string;
  readonly anchors: readonly StreetAnchor[];
  /** How long the longest straight part is, in units of the game. */
  readonly length: number;
};

export type Ground = {
  /** The two ends of each piece of street. A cell without neighbours is a piece of no length. */
  readonly pieces: readonly (readonly [Point, Point])[];
  readonly streets: readonly GroundStreet[];
  readonly postalCodes: readonly (Point & { readonly name: string })[];
};

export const EMPTY_GROUND: Ground = { pieces: [], streets: [], postalCodes: [] };

/** A name that is rarer in a cell is a position beside the street, or a mistake of the game. */
const SHARE_MIN = 0.15;
/** Cells of one street this far apart in a straight line belong together, although nobody was seen between them. */
const GAP_MAX = 6;
/** The distance of two names of one street, in cells. */
const ANCHOR_STEP = 12;
const NAME_LENGTH_MAX = 32;

type Names = GameMapResource["streets"];
type Cell = Point & { readonly column: number; readonly row: number };
type Run = { readonly cells: readonly Cell[]; readonly span: number; readonly isUpright: boolean };

/** The same empty ground when nothing was seen, so that nothing is drawn anew. */
export function makeGround({ cell_size: size, streets, postal_codes: postals }: GameMapResource): Ground {
  if (streets.length === 0 && postals.length === 0) return EMPTY_GROUND;
  const totals = new Map<string, number>();
  for (const { cells } of streets) {
    for (const [x = 0, y = 0, seen = 0] of cells) {
      const key = keyOf(Math.floor(x / size), Math.floor(y / size));
      totals.set(key, (totals.get(key) ?? 0) + seen);
    }
  }
  const pieces: [Point, Point][] = [];
  const named: GroundStreet[] = [];
  for (const { name, cells } of streets) {
    const own = keepCells(cells, size, totals);
    joinCells(own, pieces);
    const run = findLongestRun([...own.values()]);
    if (!run) continue;
    named.push({ name: shortenText(name, NAME_LENGTH_MAX), anchors: listAnchors(run), length: run.span * size });
  }
  return { pieces, streets: named, postalCodes: placePostalCodes(postals) };
}

function keyOf(column: number, row: number): string {
  return `${column} ${row}`;
}

function keepCells(
  cells: Names[number]["cells"],
  size: number,
  totals: ReadonlyMap<string, number>,
): Map<string, Cell> {
  const kept = new Map<string, Cell>();
  for (const [x = 0, y = 0, seen = 0] of cells) {
    const [column, row] = [Math.floor(x / size), Math.floor(y / size)];
    const key = keyOf(column, row);
    if (seen >= (totals.get(key) ?? 0) * SHARE_MIN) kept.set(key, { x, y, column, row });
  }
  return kept;
}

/** Adds a piece between neighbours: each cell looks to the right and down, so that no piece is there twice. */
function joinCells(cells: ReadonlyMap<string, Cell>, pieces: [Point, Point][]): void {
  const at = (column: number, row: number) => cells.get(keyOf(column, row));
  for (const cell of cells.values()) {
    const { column, row } = cell;
    const join = (other: Cell) => pieces.push([cell, other]);
    join(cell);
    const right = at(column + 1, row);
    const down = at(column, row + 1);
    if (right) join(right);
    if (down) join(down);
    const downRight = at(column + 1, row + 1);
    if (downRight && !right && !down) join(downRight);
    const upRight = at(column + 1, row - 1);
    if (upRight && !right && !at(column, row - 1)) join(upRight);
    const acrossX = right || downRight || upRight ? undefined : findAcross((n, side) => at(column + n, row + side));
    if (acrossX) join(acrossX);
    const acrossY =
      down || downRight || at(column - 1, row + 1) ? undefined : findAcross((n, side) => at(column + side, row + n));
    if (acrossY) join(acrossY);
  }
}

/** The next cell of the street in a straight line, one cell aside at most. */
function findAcross(at: (n: number, side: number) => Cell | undefined): Cell | undefined {
  for (let n = 2; n <= GAP_MAX; n += 1) {
    const found = at(n, 0) ?? at(n, -1) ?? at(n, 1);
    if (found) return found;
  }
  return undefined;
}

function findLongestRun(cells: readonly Cell[]): Run | undefined {
  const runs = [
    ...listRuns(cells, "row", "column").map((found) => toRun(found, "column", false)),
    ...listRuns(cells, "column", "row").map((found) => toRun(found, "row", true)),
  ];
  return runs.reduce<Run | undefined>((best, run) => (best && best.span >= run.span ? best : run), undefined);
}

function toRun(cells: readonly Cell[], along: "row" | "column", isUpright: boolean): Run {
  return { cells, span: (cells.at(-1)?.[along] ?? 0) - (cells[0]?.[along] ?? 0) + 1, isUpright };
}

/** The cells of each line in their order, cut where a gap is too wide. */
function listRuns(cells: readonly Cell[], line: "row" | "column", along: "row" | "column"): Cell[][] {
  const sorted = cells.toSorted((a, b) => a[line] - b[line] || a[along] - b[along]);
  const runs: Cell[][] = [];
  let before: Cell | undefined;
  for (const cell of sorted) {
    const goesOn = before?.[line] === cell[line] && cell[along] - (before?.[along] ?? 0) <= GAP_MAX;
    if (goesOn) runs.at(-1)?.push(cell);
    else runs.push([cell]);
    before = cell;
  }
  return runs;
}

/** The middle of the run first, then further places on both sides, so that a part of a long street has its name too. */
function listAnchors({ cells, isUpright }: Run): StreetAnchor[] {
  const middle = Math.floor(cells.length / 2);
  const places = [middle];
  for (let step = ANCHOR_STEP; step <= middle; step += ANCHOR_STEP) places.push(middle - step, middle + step);
  return places.flatMap((place) => {
    const cell = cells[place];
    return cell ? [{ x: cell.x, y: cell.y, isUpright }] : [];
  });
}

/** In the middle of all cells of a code. */
function placePostalCodes(postals: Names): (Point & { name: string })[] {
  return postals.flatMap(({ name, cells }) => {
    if (cells.length === 0) return [];
    const sum = (at: 0 | 1) => cells.reduce((total, cell) => total + (cell[at] ?? 0), 0) / cells.length;
    return [{ name: shortenText(name, NAME_LENGTH_MAX), x: sum(0), y: sum(1) }];
  });
}
