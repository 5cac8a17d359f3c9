// Every key that can be used, in memory: the way of a request waits for no store to find it.
import type { ApiKey } from "../core/api-key.ts";
import type { KeptToken } from "../core/ports.ts";

/** More keys in use than this, and memory starts over: those that are used come back by themselves. */
export const KEYS_MAX = 500_000;

/** Finds keys by the hash of a token. A rotated-away token stays in `#inGrace` until its time is up. */
export class KeyDirectory {
  readonly #max: number;
  readonly #byToken = new Map<string, ApiKey>();
  readonly #inGrace = new Map<string, { readonly key: ApiKey; readonly validUntil: number }>();

  /** Without a maximum for a store that cannot read a key again at any time. */
  constructor(max = Number.POSITIVE_INFINITY) {
    this.#max = max;
  }

  find(tokenHash: string, now: number): ApiKey | undefined {
    return this.#byToken.get(tokenHash) ?? this.#findInGrace(tokenHash, now);
  }

  /** Adds the key, or replaces what was known of it, for every token that leads to it. */
  set(key: ApiKey, tokens: readonly KeptToken[]): void {
    if (this.#byToken.size >= this.#max) this.#byToken.clear();
    for (const { tokenHash, validUntil } of tokens) {
      this.delete(tokenHash);
      if (validUntil === null) this.#byToken.set(tokenHash, key);
      else this.#inGrace.set(tokenHash, { key, validUntil });
    }
  }

  delete(tokenHash: string): void {
    this.#byToken.delete(tokenHash);
    this.#inGrace.delete(tokenHash);
  }

  #findInGrace(tokenHash: string, now: number): ApiKey | undefined {
    const grace = this.#inGrace.get(tokenHash);
    if (!grace) return undefined;
    if (now < grace.validUntil) return grace.key;
    this.#inGrace.delete(tokenHash);
    return undefined;
  }
}
