// Whose request is this? Finds the key behind the Authorization header, or says why there is none.
import { type ApiKey, isExpired } from "../core/api-key.ts";
import { parseBearer } from "../core/bearer.ts";
import { ERRORS, type Refusal, refuse } from "../core/errors.ts";
import type { MaybePromise, Store } from "../core/ports.ts";
import { hashToken, isWellFormedToken } from "../core/token.ts";
import { chain } from "./chain.ts";

const CHALLENGE = { "WWW-Authenticate": "Bearer" };
export const MISSING_TOKEN: Refusal = refuse(ERRORS.missingToken, undefined, CHALLENGE);
export const INVALID_TOKEN: Refusal = refuse(ERRORS.invalidToken, undefined, CHALLENGE);

const KNOWN_HEADERS_MAX = 10_000;
const START_OVER_MS = 60_000;
/** "Bearer" and a token, with a space or two between them; longer spellings are taken but not remembered. */
const KNOWN_HEADER_LENGTH_MAX = 64;

export type Authenticate = {
  (header: string | null, now: number): MaybePromise<ApiKey | Refusal>;
  /** How many headers are remembered, for those who watch. */
  readonly size: () => number;
  readonly max: number;
};

/**
 * Remembers the hashes of headers that led to a key, so that a caller's next request is neither parsed nor hashed
 * again. Invented tokens never get in. When the memory is full it starts over, but not all the time: with more callers
 * than it holds, most would be put in only to be thrown out.
 */
export function createAuthenticator(store: Pick<Store, "findKey">): Authenticate {
  const known = new Map<string, string>();
  let startedOverAt = 0;

  function authenticate(header: string | null, now: number): MaybePromise<ApiKey | Refusal> {
    if (header === null) return MISSING_TOKEN;
    const knownHash = known.get(header);
    if (knownHash !== undefined) return chain(store.findKey(knownHash, now), (key) => toCaller(key, now));
    const bearer = parseBearer(header);
    if (bearer.kind === "missing") return MISSING_TOKEN;
    if (bearer.kind === "malformed" || !isWellFormedToken(bearer.token)) return INVALID_TOKEN;
    const tokenHash = hashToken(bearer.token);
    return chain(store.findKey(tokenHash, now), (key) => {
      if (key && header.length <= KNOWN_HEADER_LENGTH_MAX) {
        remember(header, tokenHash, now);
      }
      return toCaller(key, now);
    });
  }

  function remember(header: string, tokenHash: string, now: number): void {
    if (known.size >= KNOWN_HEADERS_MAX) {
      if (Math.abs(now - startedOverAt) < START_OVER_MS) return;
      startedOverAt = now;
      known.clear();
    }
    known.set(header, tokenHash);
  }

  return Object.assign(authenticate, { size: () => known.size, max: KNOWN_HEADERS_MAX });
}

function toCaller(key: ApiKey | undefined, now: number): ApiKey | Refusal {
  return key && !isExpired(key, now) ? key : INVALID_TOKEN;
}
