// Is this the operator? Compares a bearer token with the master key, or another operator's secret, in constant time.
import { createHash, timingSafeEqual } from "node:crypto";
import { parseBearer } from "../core/bearer.ts";
import { ERRORS, type Refusal, refuse } from "../core/errors.ts";
import { MISSING_TOKEN } from "./authenticate.ts";

const WRONG_KEY: Refusal = refuse(ERRORS.invalidMasterKey, undefined, { "WWW-Authenticate": "Bearer" });

export type CheckOperator = (header: string | null) => Refusal | undefined;

/** Only hashes are kept and compared, so neither content nor length shows in the time it takes. */
export function createOperatorCheck(secrets: readonly (string | undefined)[]): CheckOperator {
  const hashes = secrets.filter((secret) => secret !== undefined).map(sha256);
  return (header) => {
    const bearer = parseBearer(header);
    if (bearer.kind === "missing") return MISSING_TOKEN;
    if (bearer.kind === "malformed") return WRONG_KEY;
    const given = sha256(bearer.token);
    let isRight = false;
    for (const hash of hashes) isRight = timingSafeEqual(hash, given) || isRight;
    return isRight ? undefined : WRONG_KEY;
  };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
