// A Bloom filter with one hash function over the token hashes: refuses most unknown tokens without reading the disk. It has
// a fixed size. With 100,000 tokens about one unknown token in eighty passes. Deleted tokens stay in it until the next start.

const BITS = 2 ** 23;

export class TokenFilter {
  readonly #bytes = new Uint8Array(BITS / 8);

  add(tokenHash: string): void {
    const bit = bitOf(tokenHash);
    this.#bytes[bit >>> 3] = (this.#bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  /** False means that the token was certainly not added. */
  mayContain(tokenHash: string): boolean {
    const bit = bitOf(tokenHash);
    return ((this.#bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }
}

function bitOf(tokenHash: string): number {
  return Bun.hash.crc32(tokenHash) % BITS;
}
