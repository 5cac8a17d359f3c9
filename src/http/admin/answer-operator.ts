// Answers of the admin API: one resource, one page of a list, or nothing to show.
import { isRefusal, type Refusal } from "../../core/errors.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import { answerJson, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { NO_SNIFFING } from "../page-headers.ts";
import { describePage, parsePage, queryOf } from "../parse-request.ts";

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

/** The page that the query names. */
export async function answerPage<T>(
  call: Call,
  read: (page: PageRequest) => Promise<Page<T>>,
  describe: (item: T) => unknown,
): Promise<Response> {
  const name = call.target.routeName;
  const request = parsePage(name, queryOf(call));
  if (isRefusal(request)) return answerRefusal(call, request);
  return answerJson(describePage(name, await read(request), describe));
}
