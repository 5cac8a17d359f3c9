// Finds the key of an Authorization header, or refuses the request.
import { type ApiKey, isExpired } from "../../core/api-key.ts";
import { parseBearer } from "../../core/bearer.ts";
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { KeyStore } from "../../core/ports/keys.ts";
import type { LimitStore } from "../../core/ports/limits.ts";
import { hashToken, isWellFormedToken, TOKEN_LENGTH } from "../../core/token.ts";
import { type CountedKey, toCountedKey } from "./counted-key.ts";

const CHALLENGE = { "WWW-Authenticate": "Bearer" };
export const MISSING_TOKEN: Refusal = refuse(ERRORS.missingToken, undefined, CHALLENGE);
export const INVALID_TOKEN: Refusal = refuse(ERRORS.invalidToken, undefined, CHALLENGE);

const CACHED_MAX = 500_000;
const CLEAR_EVERY_MS = 60_000;
/** "Bearer", a space, a token. Other spellings are accepted but not cached. */
const CACHED_LENGTH = "Bearer ".length + TOKEN_LENGTH;

type KeyLookup = Pick<KeyStore, "find" | "findNew" | "version">;
type LimitHandles = Pick<LimitStore, "openHandle">;

/**
 * Caches the key of each header, so that the next request needs no parsing, hashing or lookup. Any change to a key
 * clears the cache. Invalid tokens are never cached. A full cache is cleared at most once a minute: with more callers
 * than it holds, clearing more often would only cost time.
 */
export class Authenticator {
  readonly max: number;
  readonly #keys: KeyLookup;
  readonly #limits: LimitHandles;
  readonly #cache = new Map<string, CountedKey>();
  #cachedVersion: number;
  #clearedAt = 0;

  constructor(keys: KeyLookup, limits: LimitHandles, max = CACHED_MAX) {
    this.#keys = keys;
    this.#limits = limits;
    this.max = max;
    this.#cachedVersion = keys.version;
  }

  get size(): number {
    return this.#cache.size;
  }

  /** Synchronous, unless the token is unknown and another instance may have just created it. */
  authenticate(header: string | null, now: number): MaybePromise<CountedKey | Refusal> {
    if (header === null) return MISSING_TOKEN;
    if (this.#cachedVersion !== this.#keys.version) {
      this.#cachedVersion = this.#keys.version;
      this.#cache.clear();
    }
    const key = this.#cache.get(header);
    if (key) return isExpired(key, now) ? INVALID_TOKEN : key;
    return this.#lookUp(header, now);
  }

  #lookUp(header: string, now: number): MaybePromise<CountedKey | Refusal> {
    const bearer = parseBearer(header);
    if (bearer.kind === "missing") return MISSING_TOKEN;
    if (bearer.kind === "malformed" || !isWellFormedToken(bearer.token)) return INVALID_TOKEN;
    const tokenHash = hashToken(bearer.token);
    const key = this.#keys.find(tokenHash, now) ?? this.#keys.findNew(tokenHash, now);
    if (!(key instanceof Promise)) return this.#startCounting(header, key, now);
    // Looked up again: a key that was revoked since it was found must not get into the cache.
    return key.then((found) => this.#startCounting(header, found && this.#keys.find(tokenHash, now), now));
  }

  #startCounting(header: string, key: ApiKey | undefined, now: number): CountedKey | Refusal {
    if (!key) return INVALID_TOKEN;
    const counted = toCountedKey(key, this.#limits.openHandle(key.keyId));
    if (header.length === CACHED_LENGTH) this.#addToCache(header, counted, now);
    return counted;
  }

  #addToCache(header: string, key: CountedKey, now: number): void {
    if (this.#cache.size >= this.max) {
      if (Math.abs(now - this.#clearedAt) < CLEAR_EVERY_MS) return;
      this.#clearedAt = now;
      this.#cache.clear();
    }
    this.#cache.set(header, key);
  }
}
