// Every key that can be used, in memory: the way of a request never touches the database for it.
import type { ApiKey } from "../../core/api-key.ts";

/** Finds keys by the hash of a token. A rotated-away token stays in `#inGrace` until its time is up. */
export class KeyDirectory {
  readonly #byToken = new Map<string, ApiKey>();
  readonly #inGrace = new Map<string, { readonly keyId: string; readonly validUntil: number }>();
  readonly #tokenOf = new Map<string, string>();

  find(tokenHash: string, now: number): ApiKey | undefined {
    return this.#byToken.get(tokenHash) ?? this.#findInGrace(tokenHash, now);
  }

  /** Adds the key, or replaces what was known of it. */
  set(key: ApiKey, tokenHash: string): void {
    const old = this.#tokenOf.get(key.keyId);
    if (old !== undefined && old !== tokenHash) this.#byToken.delete(old);
    this.#tokenOf.set(key.keyId, tokenHash);
    this.#byToken.set(tokenHash, key);
  }

  /** Replaces the key, whatever its token. */
  update(key: ApiKey): void {
    const tokenHash = this.#tokenOf.get(key.keyId);
    if (tokenHash !== undefined) this.#byToken.set(tokenHash, key);
  }

  allowGrace(tokenHash: string, keyId: string, validUntil: number): void {
    this.#inGrace.set(tokenHash, { keyId, validUntil });
  }

  /** Forgets tokens, wherever they are. */
  deleteTokens(tokenHashes: readonly string[]): void {
    for (const tokenHash of tokenHashes) {
      const key = this.#byToken.get(tokenHash);
      if (key) this.#tokenOf.delete(key.keyId);
      this.#byToken.delete(tokenHash);
      this.#inGrace.delete(tokenHash);
    }
  }

  tokenOf(keyId: string): string | undefined {
    return this.#tokenOf.get(keyId);
  }

  #findInGrace(tokenHash: string, now: number): ApiKey | undefined {
    const grace = this.#inGrace.get(tokenHash);
    if (!grace) return undefined;
    if (now >= grace.validUntil) {
      this.#inGrace.delete(tokenHash);
      return undefined;
    }
    const current = this.#tokenOf.get(grace.keyId);
    return current === undefined ? undefined : this.#byToken.get(current);
  }
}
