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

/**
 * Hashes of Authorization headers that led to a key, so that a caller's next request is neither parsed nor hashed
 * again. Invented tokens never get in; when it is full it starts over.
 */
export const KNOWN_HEADERS_MAX = 10_000;
const knownHeaders = new Map<string, string>();

export function countKnownHeaders(): number {
  return knownHeaders.size;
}

export function authenticate(
  store: Pick<Store, "findKey">,
  header: string | null,
  now: number,
): MaybePromise<ApiKey | Refusal> {
  const known = header === null ? undefined : knownHeaders.get(header);
  if (known !== undefined) return chain(store.findKey(known, now), (key) => toCaller(key, now));
  const bearer = parseBearer(header);
  if (bearer.kind === "missing") return MISSING_TOKEN;
  if (bearer.kind === "malformed" || !isWellFormedToken(bearer.token)) return INVALID_TOKEN;
  const tokenHash = hashToken(bearer.token);
  return chain(store.findKey(tokenHash, now), (key) => {
    if (key && header !== null) {
      if (knownHeaders.size >= KNOWN_HEADERS_MAX) knownHeaders.clear();
      knownHeaders.set(header, tokenHash);
    }
    return toCaller(key, now);
  });
}

function toCaller(key: ApiKey | undefined, now: number): ApiKey | Refusal {
  return key && !isExpired(key, now) ? key : INVALID_TOKEN;
}
