// A log that keeps only its newest entries, newest first, as the game API returns its logs.

export class BoundedLog<T> {
  readonly #entries: T[] = [];
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  add(entry: T): void {
    this.#entries.unshift(entry);
    if (this.#entries.length > this.#sizeMax) this.#entries.pop();
  }

  /** Newest first. */
  newest(count = this.#sizeMax): readonly T[] {
    return this.#entries.slice(0, count);
  }
}
