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

export function authenticate(
  store: Pick<Store, "findKey">,
  header: string | null,
  now: number,
): MaybePromise<ApiKey | Refusal> {
  const bearer = parseBearer(header);
  if (bearer.kind === "missing") return MISSING_TOKEN;
  if (bearer.kind === "malformed" || !isWellFormedToken(bearer.token)) return INVALID_TOKEN;
  return chain(store.findKey(hashToken(bearer.token), now), (key) => {
    return key && !isExpired(key, now) ? key : INVALID_TOKEN;
  });
}
