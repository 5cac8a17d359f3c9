// A grid of cells over the screen that finds the nearest marker without comparing all of them. It is filled again in each
// frame and reuses its arrays.

const CELL = 32;

export class ScreenGrid {
  /** The number of markers that the last search compared; for tests. */
  compared = 0;
  #columns = 1;
  #rows = 1;
  #heads = new Int32Array(1);
  #next = new Int32Array(0);
  #xs = new Float64Array(0);
  #ys = new Float64Array(0);

  clear(width: number, height: number, count: number): void {
    this.#columns = Math.max(1, Math.ceil(width / CELL));
    this.#rows = Math.max(1, Math.ceil(height / CELL));
    const cells = this.#columns * this.#rows;
    if (this.#heads.length < cells) this.#heads = new Int32Array(cells);
    this.#heads.fill(-1);
    if (this.#next.length < count) {
      this.#next = new Int32Array(count);
      this.#xs = new Float64Array(count);
      this.#ys = new Float64Array(count);
    }
  }

  /** Ignores markers outside of the screen. */
  add(index: number, x: number, y: number): void {
    const column = Math.floor(x / CELL);
    const row = Math.floor(y / CELL);
    if (column < 0 || row < 0 || column >= this.#columns || row >= this.#rows) return;
    const cell = row * this.#columns + column;
    this.#xs[index] = x;
    this.#ys[index] = y;
    this.#next[index] = this.#heads[cell] ?? -1;
    this.#heads[cell] = index;
  }

  /** Whether the middle of no marker is in this part of the screen. */
  isEmpty(left: number, top: number, right: number, bottom: number): boolean {
    const lastRow = Math.min(this.#rows - 1, Math.floor(bottom / CELL));
    const lastColumn = Math.min(this.#columns - 1, Math.floor(right / CELL));
    for (let row = Math.max(0, Math.floor(top / CELL)); row <= lastRow; row += 1) {
      for (let column = Math.max(0, Math.floor(left / CELL)); column <= lastColumn; column += 1) {
        let index = this.#heads[row * this.#columns + column] ?? -1;
        for (; index >= 0; index = this.#next[index] ?? -1) {
          const [x, y] = [this.#xs[index] ?? 0, this.#ys[index] ?? 0];
          if (x > left && x < right && y > top && y < bottom) return false;
        }
      }
    }
    return true;
  }

  /** The index of the nearest marker within `reach`; of two at the same position, the one that was drawn later. */
  findNearest(x: number, y: number, reach: number): number | undefined {
    let best: number | undefined;
    let bestSquare = reach * reach;
    this.compared = 0;
    const lastRow = Math.min(this.#rows - 1, Math.floor((y + reach) / CELL));
    const lastColumn = Math.min(this.#columns - 1, Math.floor((x + reach) / CELL));
    for (let row = Math.max(0, Math.floor((y - reach) / CELL)); row <= lastRow; row += 1) {
      for (let column = Math.max(0, Math.floor((x - reach) / CELL)); column <= lastColumn; column += 1) {
        let index = this.#heads[row * this.#columns + column] ?? -1;
        for (; index >= 0; index = this.#next[index] ?? -1) {
          this.compared += 1;
          const dx = (this.#xs[index] ?? 0) - x;
          const dy = (this.#ys[index] ?? 0) - y;
          const square = dx * dx + dy * dy;
          if (square < bestSquare || (square === bestSquare && index > (best ?? -1))) {
            best = index;
            bestSquare = square;
          }
        }
      }
    }
    return best;
  }
}
