// Repeatable random numbers: a seeded generator, and the hash that makes seeds from text. The simulation uses no other
// source of randomness.

/** A 32-bit hash of texts and numbers. */
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

/** The Mulberry32 generator. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to 1, 1 excluded. */
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

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** A random item; undefined when there is none. */
  find<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.fraction() * items.length)];
  }

  /** Like find, for lists that are never empty. */
  pick<T>(items: readonly T[]): T {
    const item = this.find(items);
    if (item === undefined) throw new RangeError("cannot pick from an empty list");
    return item;
  }
}
