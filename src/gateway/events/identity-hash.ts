// The keyed hash of identities. Its key is derived from the operator's secret and is not in the archive, so that whoever has
// the archive alone cannot tell whom a forgotten entry was about.
import { createHmac, hkdfSync } from "node:crypto";
import type { HashIdentity } from "../../core/events/reading.ts";
import type { Clock } from "../../core/ports/clock.ts";

const HASH_BYTES = 16;
/** Entries of log lists come again with every reading, so their hashes are kept: at most twice this many. */
const CACHED_MAX = 50_000;
/** A hash that was not asked for in this time is forgotten within as long again: its entry left the list. */
export const CACHED_MS = 60_000;

export function createIdentityHash(secret: string, clock: Clock): HashIdentity {
  const key = new Uint8Array(hkdfSync("sha256", secret, "gatehouse", "identities.v1", 32));
  return new HashCache((text) => hashText(key, text), clock).get;
}

/** Two generations: what is asked for again moves to the recent one, and the older one is forgotten as a whole. */
export class HashCache {
  readonly #hash: HashIdentity;
  readonly #clock: Clock;
  #recent = new Map<string, string>();
  #older = new Map<string, string>();
  #begunAt: number;

  constructor(hash: HashIdentity, clock: Clock) {
    this.#hash = hash;
    this.#clock = clock;
    this.#begunAt = clock();
  }

  readonly get = (text: string): string => {
    // The clock may be set back.
    const isOld = Math.abs(this.#clock() - this.#begunAt) >= CACHED_MS;
    if (isOld || this.#recent.size >= CACHED_MAX) {
      [this.#older, this.#recent] = [this.#recent, new Map()];
      this.#begunAt = this.#clock();
    }
    const cached = this.#recent.get(text);
    if (cached !== undefined) return cached;
    const hash = this.#older.get(text) ?? this.#hash(text);
    this.#recent.set(text, hash);
    return hash;
  };
}

function hashText(key: Uint8Array, text: string): string {
  const digest = createHmac("sha256", key).update(text).digest();
  return digest.subarray(0, HASH_BYTES).toString("base64url");
}
