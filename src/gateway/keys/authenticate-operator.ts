// Is this the operator? Compares a bearer token with the master key, or another operator's secret, in constant time, and
// sends away addresses that go on guessing.
import { createHash, timingSafeEqual } from "node:crypto";
import { type Attempts, judgeAttempt } from "../../core/attempt-limit.ts";
import { parseBearer } from "../../core/bearer.ts";
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import { secondsUntil } from "../../core/rate-limit.ts";
import type { ErrorFields } from "../../core/wire/error.ts";
import { MISSING_TOKEN } from "./authenticate.ts";

const WRONG_KEY: Refusal = refuse(ERRORS.invalidMasterKey, undefined, { "WWW-Authenticate": "Bearer" });
export const GUESSING_ADDRESSES_MAX = 10_000;
const FINGERPRINT_LENGTH = 8;

export type CheckOperator = (header: string | null) => Refusal | undefined;

/** Only hashes are kept and compared, so neither content nor length shows in the time it takes. */
export class OperatorCheck {
  readonly #hashes: readonly Buffer[];

  /** Each of the secrets is accepted; one that is undefined accepts nobody. */
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

/** Remembers wrong tries by address; when too many addresses guess, the one that began first is forgotten. */
export class GuessLimit {
  readonly #guesses = new Map<string, Attempts>();

  get size(): number {
    return this.#guesses.size;
  }

  /** What a wrong key is answered: the plain refusal, or that there were too many. */
  judge(refusal: Refusal, address: string, now: number): Refusal {
    // A missing key is no try.
    if (refusal.refused !== ERRORS.invalidMasterKey) return refusal;
    const { attempts, allowedFrom } = judgeAttempt(this.#guesses.get(address) ?? [], now);
    const [oldest] = this.#guesses.keys();
    if (this.#guesses.size >= GUESSING_ADDRESSES_MAX && oldest !== undefined) this.#guesses.delete(oldest);
    if (attempts.length === 1) this.#guesses.delete(address);
    this.#guesses.set(address, attempts);
    if (allowedFrom <= now) return refusal;
    const seconds = secondsUntil(allowedFrom, now);
    const fields: ErrorFields["tooManyAttempts"] = { retry_after: seconds };
    return refuse(ERRORS.tooManyAttempts, fields, { "Retry-After": String(seconds) });
  }
}

/** Tells master keys apart in the audit log. Too short to guess a key by, and of no use for anything else. */
export function fingerprintOf(masterKey: string): string {
  return sha256(`fingerprint:${masterKey}`).toString("hex").slice(0, FINGERPRINT_LENGTH);
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
