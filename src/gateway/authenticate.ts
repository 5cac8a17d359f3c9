// Whose request is this? Finds the key behind the Authorization header, or says why there is none.
import { isExpired } from "../core/api-key.ts";
import { parseBearer } from "../core/bearer.ts";
import { ERRORS, type Refusal, refuse } from "../core/errors.ts";
import type { Store } from "../core/ports.ts";
import { hashToken, isWellFormedToken, TOKEN_LENGTH } from "../core/token.ts";
import { type Account, openAccount } from "./usage-meter.ts";

const CHALLENGE = { "WWW-Authenticate": "Bearer" };
export const MISSING_TOKEN: Refusal = refuse(ERRORS.missingToken, undefined, CHALLENGE);
export const INVALID_TOKEN: Refusal = refuse(ERRORS.invalidToken, undefined, CHALLENGE);

/** More callers than this, and memory starts over: those that still come are found again. */
const KNOWN_MAX = 500_000;
const START_OVER_MS = 60_000;
/** "Bearer", a space, a token. Other spellings are taken but not remembered. */
const KNOWN_LENGTH = "Bearer ".length + TOKEN_LENGTH;

export type Authenticate = {
  (header: string | null, now: number): Account | Refusal;
  /** How many headers are remembered, for those who watch. */
  readonly size: () => number;
  readonly max: number;
};

/**
 * Remembers the accounts that headers led to, so that a caller's next request is neither parsed nor hashed nor looked up
 * again; after any change to a key everything is looked up anew. Invented tokens never get in. When the memory is full it
 * starts over, but not all the time: with more callers than it holds, most would be put in only to be thrown out.
 */
export function createAuthenticator(
  store: Pick<Store, "findKey" | "keysVersion">,
  max = KNOWN_MAX,
): Authenticate {
  const known = new Map<string, Account>();
  let knownVersion = store.keysVersion;
  let startedOverAt = 0;

  function authenticate(header: string | null, now: number): Account | Refusal {
    if (header === null) return MISSING_TOKEN;
    if (knownVersion !== store.keysVersion) {
      knownVersion = store.keysVersion;
      known.clear();
    }
    const account = known.get(header);
    if (account) return isExpired(account, now) ? INVALID_TOKEN : account;
    return identify(header, now);
  }

  function identify(header: string, now: number): Account | Refusal {
    const bearer = parseBearer(header);
    if (bearer.kind === "missing") return MISSING_TOKEN;
    if (bearer.kind === "malformed" || !isWellFormedToken(bearer.token)) return INVALID_TOKEN;
    const key = store.findKey(hashToken(bearer.token), now);
    if (!key) return INVALID_TOKEN;
    const account = openAccount(key);
    if (header.length === KNOWN_LENGTH) remember(header, account, now);
    return account;
  }

  function remember(header: string, account: Account, now: number): void {
    if (known.size >= max) {
      if (Math.abs(now - startedOverAt) < START_OVER_MS) return;
      startedOverAt = now;
      known.clear();
    }
    known.set(header, account);
  }

  return Object.assign(authenticate, { size: () => known.size, max });
}
