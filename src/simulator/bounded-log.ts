// A log that keeps only its newest entries, as the game API does.

export class BoundedLog<T> {
  /** Oldest first, so that adding is cheap however large the log is. */
  #entries: T[] = [];
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  add(entry: T): void {
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.#sizeMax) this.#entries = this.#entries.slice(-this.#sizeMax);
  }

  /** Newest first, as the game API lists them. */
  newest(count = this.#sizeMax): readonly T[] {
    const shown = Math.min(count, this.#sizeMax, this.#entries.length);
    return this.#entries.slice(this.#entries.length - shown).reverse();
  }

  clear(): void {
    this.#entries = [];
  }
}
