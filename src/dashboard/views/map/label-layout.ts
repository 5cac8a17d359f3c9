// Finds free positions for the labels of one frame: none lies over another, under a button or across the edge of the map.
import type { Point, Size } from "./viewport.ts";

export type Box = { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number };

/** The most labels of one frame. */
export const LABELS_MAX = 180;
const LABEL_HEIGHT = 15;
const LABEL_MARGIN = 2;

export class LabelLayout {
  readonly #size: Size;
  readonly #taken: Box[];
  /** How many labels have a position. */
  count = 0;

  /** No label is placed under the `covered` parts of the map. */
  constructor(size: Size, covered: readonly Box[]) {
    this.#size = size;
    this.#taken = [...covered];
  }

  /** Keeps the labels that are still to be placed away from these. */
  cover(boxes: readonly Box[]): void {
    this.#taken.push(...boxes);
  }

  /** Reserves the space for a line of text that starts at `left`. Returns false when it is not free. */
  reserve(left: number, middle: number, width: number): boolean {
    return this.reserveAround(left + width / 2, middle, width, false);
  }

  /** The same for a text around a point. An upright text reads from the bottom to the top. */
  reserveAround(x: number, y: number, length: number, isUpright: boolean): boolean {
    const [width, height] = isUpright ? [LABEL_HEIGHT, length] : [length, LABEL_HEIGHT];
    const [left, right] = [x - width / 2, x + width / 2];
    const [top, bottom] = [y - height / 2, y + height / 2];
    if (this.count === LABELS_MAX || left < 0 || top < 0) return false;
    if (right > this.#size.width || bottom > this.#size.height) return false;
    const box = { left: left - LABEL_MARGIN, top, right: right + LABEL_MARGIN, bottom };
    if (this.#taken.some((other) => isOver(box, other))) return false;
    this.#taken.push(box);
    this.count += 1;
    return true;
  }
}

function isOver(box: Box, other: Box): boolean {
  const isBeside = box.left > other.right || box.right < other.left;
  return !isBeside && box.top <= other.bottom && box.bottom >= other.top;
}

/** The left ends of a label on the right and on the left of its marker, the better side first. */
function listSides(x: number, width: number, gap: number, edge: number): readonly number[] {
  const sides = [x + gap, x - gap - width];
  return x + gap + width > edge ? sides.reverse() : sides;
}

/**
 * Where the label of a marker may be: beside it, else below or above. That of a chosen one may also be moved clear of the
 * controls that cover the map.
 */
export function listPositions(
  at: Point,
  width: number,
  gap: number,
  { width: edge }: Size,
  covered: readonly Box[] = [],
): readonly { readonly left: number; readonly middle: number }[] {
  const centred = Math.min(Math.max(at.x - width / 2, 0), Math.max(edge - width, 0));
  const step = gap + LABEL_HEIGHT / 2;
  return [
    ...listSides(at.x, width, gap, edge).map((left) => ({ left, middle: at.y })),
    { left: centred, middle: at.y + step },
    { left: centred, middle: at.y - step },
    ...covered.flatMap(({ left, right, bottom }) => [
      { left: left - width - gap, middle: at.y },
      { left: right + gap, middle: at.y },
      { left: centred, middle: bottom + step },
    ]),
  ];
}
