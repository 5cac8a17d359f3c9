// Finds the key of an Authorization header, or refuses the request. A header has the token of a key, or the session token of a
// person, who then acts as a key.
import { ERRORS, isRefusal, type Refusal, refuse } from "../../core/errors.ts";
import { type ApiKey, isExpired } from "../../core/keys/api-key.ts";
import { parseBearer } from "../../core/keys/bearer.ts";
import { hashToken, isWellFormedToken, TOKEN_LENGTH } from "../../core/keys/token.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { KeyStore } from "../../core/ports/keys.ts";
import type { LimitStore } from "../../core/ports/limits.ts";
import { SESSION_TOKEN_PREFIX } from "../people/session-tokens.ts";
import { type CountedKey, toCountedKey } from "./counted-key.ts";

const CHALLENGE = { "WWW-Authenticate": "Bearer" };
export const MISSING_TOKEN: Refusal = refuse(ERRORS.missingToken, undefined, CHALLENGE);
export const INVALID_TOKEN: Refusal = refuse(ERRORS.invalidToken, undefined, CHALLENGE);

const CACHED_MAX = 500_000;
const CLEAR_EVERY_MS = 60_000;
/** "Bearer", a space, a token. Other spellings are accepted but not cached. */
const CACHED_LENGTH = "Bearer ".length + TOKEN_LENGTH;

/** Sessions are few, and each is looked up again after a quarter of an hour. */
const SESSIONS_MAX = 10_000;

type KeyLookup = Pick<KeyStore, "find" | "version">;
type LimitHandles = Pick<LimitStore, "openHandle">;

/** The people who are signed in. */
export type PersonLookup = {
  /** The person behind a session token as a caller, who expires with the token. */
  findCaller(token: string, now: number): Promise<ApiKey | Refusal>;
};

/**
 * Caches the key of each header, so that the next request needs no parsing, hashing or lookup. Any change to a key
 * clears the cache, and so does any change to a person, a role or a session. Invalid tokens are never cached. A full cache is cleared at most once a minute: with more callers
 * than it holds, clearing more often would only cost time.
 */
export class Authenticator {
  readonly max: number;
  readonly #keys: KeyLookup;
  readonly #limits: LimitHandles;
  readonly #cache = new Map<string, CountedKey>();
  readonly #people: PersonLookup | undefined;
  /** Apart from the keys: session tokens are replaced all the time. */
  readonly #sessions = new Map<string, CountedKey>();
  #cachedVersion: number;
  #clearedAt = 0;

  /** Without `people` there are no session tokens. */
  constructor(keys: KeyLookup, limits: LimitHandles, people?: PersonLookup, max = CACHED_MAX) {
    this.#keys = keys;
    this.#limits = limits;
    this.#people = people;
    this.max = max;
    this.#cachedVersion = keys.version;
  }

  get size(): number {
    return this.#cache.size;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  readonly sessionsMax = SESSIONS_MAX;

  /** Synchronous for a key in use. */
  authenticate(header: string | null, now: number): MaybePromise<CountedKey | Refusal> {
    if (header === null) return MISSING_TOKEN;
    if (this.#cachedVersion !== this.#keys.version) {
      this.#cachedVersion = this.#keys.version;
      this.#cache.clear();
      this.#sessions.clear();
    }
    const key = this.#cache.get(header);
    if (key) return isExpired(key, now) ? INVALID_TOKEN : key;
    return this.#lookUp(header, now);
  }

  #lookUp(header: string, now: number): MaybePromise<CountedKey | Refusal> {
    const bearer = parseBearer(header);
    if (bearer.kind === "missing") return MISSING_TOKEN;
    if (bearer.kind === "malformed") return INVALID_TOKEN;
    if (bearer.token.startsWith(SESSION_TOKEN_PREFIX)) return this.#authenticateSession(bearer.token, now);
    if (!isWellFormedToken(bearer.token)) return INVALID_TOKEN;
    const tokenHash = hashToken(bearer.token);
    const { version } = this.#keys;
    const key = this.#keys.find(tokenHash, now);
    return key instanceof Promise
      ? this.#startCountingLater(header, tokenHash, key, version, now)
      : this.#startCounting(header, key, now);
  }

  /** Looks the key up again when a key has changed meanwhile: one that was revoked must not get into the cache. */
  async #startCountingLater(
    header: string,
    tokenHash: string,
    lookup: Promise<ApiKey | undefined>,
    lookupVersion: number,
    now: number,
  ): Promise<CountedKey | Refusal> {
    let version = lookupVersion;
    let key = await lookup;
    while (version !== this.#keys.version) {
      version = this.#keys.version;
      key = await this.#keys.find(tokenHash, now);
    }
    return this.#startCounting(header, key, now);
  }

  #authenticateSession(token: string, now: number): MaybePromise<CountedKey | Refusal> {
    const cached = this.#sessions.get(token);
    if (cached) return isExpired(cached, now) ? INVALID_TOKEN : cached;
    return this.#people ? this.#startSession(this.#people, token, now) : INVALID_TOKEN;
  }

  /** Looks the person up again when something has changed meanwhile: one who was signed out must not get into the cache. */
  async #startSession(people: PersonLookup, token: string, now: number): Promise<CountedKey | Refusal> {
    let version: number;
    let caller: ApiKey | Refusal;
    do {
      version = this.#keys.version;
      caller = await people.findCaller(token, now);
    } while (version !== this.#keys.version);
    if (isRefusal(caller)) return caller;
    const key = toCountedKey(caller, this.#limits.openHandle(caller.keyId));
    if (this.#sessions.size >= SESSIONS_MAX) this.#sessions.clear();
    this.#sessions.set(token, key);
    return key;
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
