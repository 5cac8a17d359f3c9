// What callers get when there is no new reading: a stale one that is not too old, or a refusal with the reason.
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import { secondsUntil } from "../../core/keys/rate-limit.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { isCallDue, isOpen } from "../../core/readings/breaker.ts";
import { ABOUT_SERVER_CODES, BREAKER_CODES, RATE_LIMITED } from "../../core/readings/upstream-codes.ts";
import type { ErrorFields } from "../../core/wire/error.ts";
import type { RelayMeter } from "../meters.ts";
import type { BudgetKeeper } from "./budget-keeper.ts";
import { FOREVER, isYounger, type Reading, type ServerStatus } from "./server-status.ts";

const BUDGET_MESSAGE = "The game API's request budget is used up for the moment.";
export const PAUSE_MESSAGE = "The game API has limited our requests for the moment.";

export type FallbackSettings = { readonly freshMs: number; readonly staleMs: number };

export class Fallback {
  constructor(
    private readonly settings: FallbackSettings,
    private readonly keeper: Pick<BudgetKeeper, "msPaused">,
    private readonly meter: Pick<RelayMeter, "staleHits">,
  ) {}

  /** Prefers a reading within GATEHOUSE_STALE_MS to a failure, unless the failure is about the server itself. */
  answerFailure(status: ServerStatus, failure: UpstreamFailure, now: number): Reading | Refusal {
    const stale = ABOUT_SERVER_CODES.has(failure.code) ? undefined : this.#findStale(status, now);
    if (stale) return stale;
    const waitMs = findWaitMs(status, failure, now);
    return refuseUpstream(failure.code, failure.message, waitMs === undefined ? undefined : retryAfter(waitMs));
  }

  /** `failure` must be the server's own, because its message may name the server. */
  answerRateLimit(status: ServerStatus, waitMs: number, now: number, failure?: UpstreamFailure): Reading | Refusal {
    const stale = this.#findStale(status, now);
    if (stale) return stale;
    const reason = failure?.message ?? (this.keeper.msPaused(now) > 0 ? PAUSE_MESSAGE : BUDGET_MESSAGE);
    return refuseUpstream(failure?.code ?? RATE_LIMITED, reason, retryAfter(waitMs));
  }

  #findStale({ hit }: ServerStatus, now: number): Reading | undefined {
    const { freshMs, staleMs } = this.settings;
    if (!hit || staleMs === 0) return undefined;
    if (!isYounger(hit.snapshot.fetchedAt, freshMs + staleMs, now)) return undefined;
    this.meter.staleHits++;
    return hit;
  }
}

/** How long this failure is answered without a call; undefined when the next request may call, or none will. */
function findWaitMs(status: ServerStatus, failure: UpstreamFailure, now: number): number | undefined {
  const { remembered, breaker } = status;
  // By code, because another instance's failure is a copy.
  if (remembered?.failure.code === failure.code && remembered.forMs !== FOREVER) {
    return remembered.at + remembered.forMs - now;
  }
  if (!isOpen(breaker) || !BREAKER_CODES.has(failure.code)) return undefined;
  // Once the probe is due, its answer decides.
  return isCallDue(breaker, now) ? 0 : breaker.openUntil - now;
}

/** At least a second. */
function retryAfter(waitMs: number): Record<string, string> {
  return { "Retry-After": String(secondsUntil(waitMs, 0)) };
}

function refuseUpstream(code: number, message: string, headers?: Record<string, string>): Refusal {
  const fields: ErrorFields["gameApi"] = { upstream_code: code, upstream_message: message };
  return refuse(ERRORS.gameApi, fields, headers);
}
