// Finds the key of an Authorization header, or refuses the request. A header has the token of a key, or the session token of a
// device that is signed in with the key.
import { type ApiKey, isExpired } from "../../core/api-key.ts";
import { parseBearer } from "../../core/bearer.ts";
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { DeviceStore } from "../../core/ports/devices.ts";
import type { KeyStore } from "../../core/ports/keys.ts";
import type { LimitStore } from "../../core/ports/limits.ts";
import { hashToken, isWellFormedToken, TOKEN_LENGTH } from "../../core/token.ts";
import { type CountedKey, toCountedKey } from "./counted-key.ts";
import { type OpenedToken, SESSION_TOKEN_PREFIX, type SessionTokens } from "./session-tokens.ts";

const CHALLENGE = { "WWW-Authenticate": "Bearer" };
export const MISSING_TOKEN: Refusal = refuse(ERRORS.missingToken, undefined, CHALLENGE);
export const INVALID_TOKEN: Refusal = refuse(ERRORS.invalidToken, undefined, CHALLENGE);

const CACHED_MAX = 500_000;
const CLEAR_EVERY_MS = 60_000;
/** "Bearer", a space, a token. Other spellings are accepted but not cached. */
const CACHED_LENGTH = "Bearer ".length + TOKEN_LENGTH;

/** Sessions are few, and each is looked up again after a quarter of an hour. */
const SESSIONS_MAX = 10_000;

type KeyLookup = Pick<KeyStore, "find" | "findNew" | "version">;
type LimitHandles = Pick<LimitStore, "openHandle">;

export type SessionLookup = {
  readonly tokens: SessionTokens;
  readonly devices: Pick<DeviceStore, "find" | "findNew">;
};

type Session = { readonly key: CountedKey; readonly expiresAt: number };

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
  readonly #sessionLookup: SessionLookup | undefined;
  /** Apart from the keys: a session ends before its key does. */
  readonly #sessions = new Map<string, Session>();
  #cachedVersion: number;
  #clearedAt = 0;

  /** Without a `sessionLookup` there are no session tokens. */
  constructor(keys: KeyLookup, limits: LimitHandles, sessionLookup?: SessionLookup, max = CACHED_MAX) {
    this.#keys = keys;
    this.#limits = limits;
    this.#sessionLookup = sessionLookup;
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

  /** Synchronous, unless the token is unknown and another instance may have just created it. */
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
    const key = this.#keys.find(tokenHash, now) ?? this.#keys.findNew(tokenHash, now);
    if (!(key instanceof Promise)) return this.#startCounting(header, key, now);
    // Looked up again: a key that was revoked since it was found must not get into the cache.
    return key.then((found) => this.#startCounting(header, found && this.#keys.find(tokenHash, now), now));
  }

  #authenticateSession(token: string, now: number): MaybePromise<CountedKey | Refusal> {
    const cached = this.#sessions.get(token);
    if (cached) return cached.expiresAt <= now || isExpired(cached.key, now) ? INVALID_TOKEN : cached.key;
    const lookup = this.#sessionLookup;
    const opened = lookup?.tokens.open(token, now);
    if (!lookup || !opened) return INVALID_TOKEN;
    const { deviceId } = opened;
    const device = lookup.devices.find(deviceId, now) ?? lookup.devices.findNew(deviceId, now);
    if (!(device instanceof Promise)) return this.#startSession(token, opened, now);
    return device.then(() => this.#startSession(token, opened, now));
  }

  /** Looks the device up again: one that was ended since it was found must not get into the cache. */
  #startSession(token: string, { deviceId, expiresAt }: OpenedToken, now: number): CountedKey | Refusal {
    const device = this.#sessionLookup?.devices.find(deviceId, now);
    if (!device) return INVALID_TOKEN;
    const key = toCountedKey(device.key, this.#limits.openHandle(device.key.keyId));
    if (this.#sessions.size >= SESSIONS_MAX) this.#sessions.clear();
    this.#sessions.set(token, { key, expiresAt: Math.min(expiresAt, device.expiresAt) });
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
