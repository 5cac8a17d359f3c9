// Finds free places for labels, so that no label is drawn over another one.

export const LABELS_MAX = 120;
const LABEL_HEIGHT = 15;
const LABEL_MARGIN = 2;

export class LabelLayout {
  /** Left, top, right and bottom of each label so far. */
  readonly #boxes = new Float64Array(LABELS_MAX * 4);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  clear(): void {
    this.#count = 0;
  }

  /** Takes the place for a label unless another one has it or the layout is full. Forced labels may overlap others. */
  reserve(x: number, middle: number, width: number, isForced: boolean): boolean {
    if (this.#count === LABELS_MAX) return false;
    const [left, right] = [x - LABEL_MARGIN, x + width + LABEL_MARGIN];
    const [top, bottom] = [middle - LABEL_HEIGHT / 2, middle + LABEL_HEIGHT / 2];
    if (!isForced && !this.#isFree(left, top, right, bottom)) return false;
    this.#boxes.set([left, top, right, bottom], this.#count * 4);
    this.#count += 1;
    return true;
  }

  #isFree(left: number, top: number, right: number, bottom: number): boolean {
    const boxes = this.#boxes;
    for (let at = 0; at < this.#count * 4; at += 4) {
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
