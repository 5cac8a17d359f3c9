// Repeatable chance: a small seeded generator and the hash that turns text into seeds.
// Nothing in the simulated world may draw chance from anywhere else.

/** A well-mixed 32-bit number from any texts and numbers; the same parts always give the same number. */
export function hashOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    const text = `${part}\u0000`;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Mulberry32: one 32-bit word of state is plenty for a town. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A fraction from 0 up to, never reaching, 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** A whole number, both ends included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1));
  }

  isLucky(probability: number): boolean {
    return this.fraction() < probability;
  }

  find<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.fraction() * items.length)];
  }

  /** Like find, for lists that are known to hold something. */
  pick<T>(items: readonly T[]): T {
    const item = this.find(items);
    if (item === undefined) throw new RangeError("cannot pick from an empty list");
    return item;
  }
}
