// Authenticates the operator: compares a bearer token with the master key, or with the metrics token, in constant time, and
// limits how many wrong keys an address may try.
import { createHash, timingSafeEqual } from "node:crypto";
import { ERRORS, type ErrorRow, type Refusal, refuse, refuseFor } from "../../core/errors.ts";
import { AttemptCounter, WRONG_SECRETS } from "../../core/keys/attempt-limit.ts";
import { parseBearer } from "../../core/keys/bearer.ts";
import { MISSING_TOKEN } from "./authenticate.ts";

export const WRONG_KEY: Refusal = refuse(ERRORS.invalidMasterKey, undefined, { "WWW-Authenticate": "Bearer" });
export const GUESSING_ADDRESSES_MAX = 10_000;
const FINGERPRINT_LENGTH = 8;

/** Compares hashes, so that the time it takes reveals neither the content nor the length of a secret. */
export class OperatorCheck {
  readonly #hashes: readonly Buffer[];

  /** Accepts any of the secrets. Undefined ones are ignored. */
  constructor(secrets: readonly (string | undefined)[]) {
    this.#hashes = secrets.filter((secret) => secret !== undefined).map(sha256);
  }

  /** Undefined when the header has one of the secrets. */
  check(header: string | null): Refusal | undefined {
    const bearer = parseBearer(header);
    if (bearer.kind === "missing") return MISSING_TOKEN;
    if (bearer.kind === "malformed") return WRONG_KEY;
    const given = sha256(bearer.token);
    let isRight = false;
    for (const hash of this.#hashes) isRight = timingSafeEqual(hash, given) || isRight;
    return isRight ? undefined : WRONG_KEY;
  }
}

/** Counts wrong secrets of one kind by address. */
export class GuessLimit {
  readonly #guesses = new AttemptCounter(WRONG_SECRETS, GUESSING_ADDRESSES_MAX);

  /** `wrong` is the error of a wrong secret. */
  constructor(private readonly wrong: ErrorRow = ERRORS.invalidMasterKey) {}

  get size(): number {
    return this.#guesses.size;
  }

  /** Returns the refusal, or `tooManyAttempts` when the address has tried too many wrong secrets. */
  judge(refusal: Refusal, address: string, now: number): Refusal {
    // A request without a secret is not a guess.
    if (refusal.refused !== this.wrong) return refusal;
    const seconds = this.#guesses.count(address, now);
    return seconds === undefined ? refusal : refuseAttempt(seconds);
  }
}

/** Refuses an attempt because there were too many. The next one is allowed after so many seconds. */
export function refuseAttempt(seconds: number): Refusal {
  return refuseFor(ERRORS.tooManyAttempts, seconds);
}

/** Identifies a master key in the audit log. Too short to find the key from it. */
export function fingerprintOf(masterKey: string): string {
  return sha256(`fingerprint:${masterKey}`).toString("hex").slice(0, FINGERPRINT_LENGTH);
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
