// The server keys that were used for calls, so that one server's key is also found in answers about another server. Only
// hashes are held, and only of the latest keys.
import { splitSecret } from "./secret-patterns.ts";

/** Far more servers than one budget of calls can serve. */
export const KNOWN_KEYS_MAX = 10_000;

export class KnownKeys {
  /** The hashes of a key and of its long parts, by the hash of the key. */
  readonly #hashesByKey = new Map<number | bigint, readonly (number | bigint)[]>();
  /** The lengths of all keys and parts that were ever added: most texts have another one, and need no hash. */
  readonly #lengths = new Set<number>();
  readonly #hashes = new Set<number | bigint>();

  add(serverKey: string): void {
    const hash = hashText(serverKey);
    if (this.#hashesByKey.has(hash)) return;
    const parts = splitSecret(serverKey);
    const hashes = parts.map(hashText);
    for (const { length } of parts) this.#lengths.add(length);
    this.#hashesByKey.set(hash, hashes);
    for (const one of hashes) this.#hashes.add(one);
    if (this.#hashesByKey.size > KNOWN_KEYS_MAX) this.#dropOldest();
  }

  /** Whether the text is a key or a long part of one, in either case. */
  has(text: string): boolean {
    return this.#lengths.has(text.length) && this.#hashes.has(hashText(text));
  }

  #dropOldest(): void {
    const oldest = this.#hashesByKey.entries().next();
    if (oldest.done) return;
    const [hash, hashes] = oldest.value;
    this.#hashesByKey.delete(hash);
    for (const one of hashes) this.#hashes.delete(one);
  }
}

function hashText(text: string): number | bigint {
  return Bun.hash(text.toLowerCase());
}
