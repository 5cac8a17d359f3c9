// Finds free places for labels, so that no label lies over another one, under a button or across the edge of the map.
import type { Size } from "./viewport.ts";

export type Box = {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
};

/** The most labels of one frame. */
export const LABELS_MAX = 180;
/** The most controls over the map that are kept free. */
const COVERED_MAX = 8;
const LABEL_HEIGHT = 15;
const LABEL_MARGIN = 2;

export class LabelLayout {
  /** Left, top, right and bottom of each control and of each label so far. */
  readonly #boxes = new Float64Array((COVERED_MAX + LABELS_MAX) * 4);
  #size: Size = { width: 0, height: 0 };
  #coveredCount = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count === LABELS_MAX;
  }

  /** Begins a new frame. No label is placed under the `covered` parts of the map. */
  clear(size: Size, covered: readonly Box[]): void {
    this.#size = size;
    this.#count = 0;
    this.#coveredCount = Math.min(covered.length, COVERED_MAX);
    for (const [index, { left, top, right, bottom }] of covered.slice(0, COVERED_MAX).entries()) {
      this.#boxes.set([left, top, right, bottom], index * 4);
    }
  }

  /** Takes the place for a line of text that starts at `left`. Returns false when the place is not free. */
  reserve(left: number, middle: number, width: number): boolean {
    return this.#take(left, middle - LABEL_HEIGHT / 2, left + width, middle + LABEL_HEIGHT / 2);
  }

  /** The same for a text around a point. An upright text reads from the bottom to the top. */
  reserveAround(x: number, y: number, width: number, isUpright: boolean): boolean {
    const [halfWidth, halfHeight] = isUpright ? [LABEL_HEIGHT / 2, width / 2] : [width / 2, LABEL_HEIGHT / 2];
    return this.#take(x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight);
  }

  #take(left: number, top: number, right: number, bottom: number): boolean {
    const { width, height } = this.#size;
    if (this.isFull || left < 0 || top < 0 || right > width || bottom > height) return false;
    const [from, to] = [left - LABEL_MARGIN, right + LABEL_MARGIN];
    if (!this.#isFree(from, top, to, bottom)) return false;
    this.#boxes.set([from, top, to, bottom], (this.#coveredCount + this.#count) * 4);
    this.#count += 1;
    return true;
  }

  #isFree(left: number, top: number, right: number, bottom: number): boolean {
    const boxes = this.#boxes;
    for (let at = 0; at < (this.#coveredCount + this.#count) * 4; at += 4) {
      const isApart =
        left > (boxes[at + 2] ?? 0) ||
        right < (boxes[at] ?? 0) ||
        top > (boxes[at + 3] ?? 0) ||
        bottom < (boxes[at + 1] ?? 0);
      if (!isApart) return false;
    }
    return true;
  }
}

/** Where the label of a chosen marker may be: beside it, else below, above, or moved clear of the control over it. */
export function listChosenPlaces(
  at: { readonly x: number; readonly y: number },
  width: number,
  gap: number,
  { width: edge }: Size,
  covered: readonly Box[],
): readonly { readonly left: number; readonly middle: number }[] {
  const sides = [at.x + gap, at.x - gap - width];
  if (at.x + gap + width > edge) sides.reverse();
  const centred = Math.min(Math.max(at.x - width / 2, 0), Math.max(edge - width, 0));
  const step = gap + LABEL_HEIGHT / 2;
  return [
    ...sides.map((left) => ({ left, middle: at.y })),
    { left: centred, middle: at.y + step },
    { left: centred, middle: at.y - step },
    ...covered.flatMap(({ left, right, bottom }) => [
      { left: left - width - gap, middle: at.y },
      { left: right + gap, middle: at.y },
      { left: centred, middle: bottom + step },
    ]),
  ];
}
