// Remembers of every token's hash one bit out of eight million: enough to turn invented tokens away without a look at the
// disk. A bit that is set says "perhaps", one that is not says "no". Of a hundred thousand keys' invented neighbours one in
// eighty gets through to the disk; bits of tokens that are gone stay until the next start. Never larger, however many keys.

const BITS = 2 ** 23;

export class TokenMarks {
  readonly #bytes = new Uint8Array(BITS / 8);

  add(tokenHash: string): void {
    const bit = bitOf(tokenHash);
    this.#bytes[bit >>> 3] = (this.#bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  mayHave(tokenHash: string): boolean {
    const bit = bitOf(tokenHash);
    return ((this.#bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }
}

function bitOf(tokenHash: string): number {
  return Bun.hash.crc32(tokenHash) % BITS;
}
