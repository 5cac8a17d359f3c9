// Answers of the admin API: one resource, or nothing to show.
import { isRefusal, type Refusal } from "../../core/errors.ts";
import { answerJson, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { NO_SNIFFING } from "../page-headers.ts";

export function answerOutcome<T extends object>(
  call: Call,
  outcome: T | Refusal,
  describe: (outcome: T) => unknown,
  status = 200,
): Response {
  return isRefusal(outcome) ? answerRefusal(call, outcome) : answerJson(describe(outcome), status);
}

/** 204, or the refusal. */
export function answerDone(call: Call, refusal: Refusal | undefined): Response {
  if (refusal) return answerRefusal(call, refusal);
  return new Response(null, { status: 204, headers: { "Cache-Control": "no-store", ...NO_SNIFFING } });
}
