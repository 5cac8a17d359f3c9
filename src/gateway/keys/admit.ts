// Checks the request limit of a key, and turns the verdict into rate-limit headers or a refusal.
import { ERRORS, type Refusal, refuse, refuseFor } from "../../core/errors.ts";
import { LIMIT_PER_WINDOW, secondsUntil, type Verdict } from "../../core/keys/rate-limit.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { LimitStore } from "../../core/ports/limits.ts";
import type { ErrorFields } from "../../core/wire/error.ts";
import type { CountedKey } from "./counted-key.ts";

/** The rate-limit headers of a counted answer. */
export type LimitReport = { readonly remaining: number; readonly resetAt: number };

/** `report` is null for requests that do not count. */
export type Admission = { readonly report: LimitReport | null; readonly refusal: Refusal | null };

const NOT_COUNTED: Admission = { report: null, refusal: null };

export function admit(
  limits: Pick<LimitStore, "judge">,
  key: CountedKey,
  now: number,
  isCounted: boolean,
): MaybePromise<Admission> {
  const verdict = limits.judge(key, now, isCounted, key.limitHandle);
  return verdict instanceof Promise ? verdict.then(toAdmission) : toAdmission(verdict);
}

function toAdmission(verdict: Verdict): Admission {
  const { count, resetAt, blockedUntil } = verdict.state;
  switch (verdict.outcome) {
    case "uncounted":
      return NOT_COUNTED;
    case "admitted":
      return { report: { remaining: LIMIT_PER_WINDOW - count, resetAt }, refusal: null };
    case "limited":
      return { report: { remaining: 0, resetAt }, refusal: refuseLimited(count, resetAt, verdict.now) };
    case "blocked":
      return { report: null, refusal: refuseBlocked(blockedUntil, verdict.now) };
  }
}

function refuseLimited(count: number, resetAt: number, now: number): Refusal {
  const details = { limit: LIMIT_PER_WINDOW, count, excess: count - LIMIT_PER_WINDOW, reset_at: resetAt };
  return refuseFor(ERRORS.rateLimited, secondsUntil(resetAt, now), { details });
}

function refuseBlocked(blockedUntil: number, now: number): Refusal {
  const seconds = secondsUntil(blockedUntil, now);
  const fields: ErrorFields["spamBlocked"] = { blocked_until: blockedUntil, retry_after: seconds };
  return refuse(ERRORS.spamBlocked, fields, { "Retry-After": String(seconds) });
}
