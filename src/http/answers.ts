// Builds responses: bodies, headers, and the only conversion of a refusal into a response.
import { ERRORS, type ErrorRow, type Refusal, refuse, refuseFor } from "../core/errors.ts";
import { LIMIT_BUCKET, LIMIT_PER_WINDOW } from "../core/keys/rate-limit.ts";
import type { LimitReport } from "../gateway/keys/admit.ts";
import type { Call } from "./call.ts";
import { NO_SNIFFING } from "./web/page-headers.ts";

const encoder = new TextEncoder();
export const LIMIT_TEXT = String(LIMIT_PER_WINDOW);

export const STORE_UNAVAILABLE = refuseFor(ERRORS.unavailable, 1);
/** For what needs an archive, while there is none. */
export const NOT_CONFIGURED = refuse(ERRORS.notConfigured);

/** Copied for every answer: that is cheaper than building headers from a list. */
const PLAIN = new Headers({ "Content-Type": "application/json", "Cache-Control": "no-store", ...NO_SNIFFING });
const COUNTED = new Headers(PLAIN);
COUNTED.set("X-RateLimit-Limit", LIMIT_TEXT);
COUNTED.set("X-RateLimit-Bucket", LIMIT_BUCKET);
/** The default, because in a flood most of these answers refuse a key that is over its limit. */
COUNTED.set("X-RateLimit-Remaining", "0");

export function answerRefusal(call: Call, refusal: Refusal, report: LimitReport | null = null): Response {
  const { refused, fields, headers } = refusal;
  call.code = refused.code;
  if (call.form) return call.form.answerRefusal(call, refusal, report);
  const response = respond(errorBody(refused, fields), refused.status, report);
  for (const name in headers) response.headers.set(name, headers[name] ?? "");
  return response;
}

/** For a request that was counted before: an answer about the token itself never has the headers of the limit. */
export function answerLateRefusal(call: Call, refusal: Refusal, report: LimitReport | null): Response {
  const isAboutToken = refusal.refused.status === ERRORS.invalidToken.status;
  return answerRefusal(call, refusal, isAboutToken ? null : report);
}

export function answerJson(value: unknown, status = 200, report: LimitReport | null = null): Response {
  return respond(JSON.stringify(value), status, report);
}

/** There is nothing to show. */
export function answerDone(report: LimitReport | null = null): Response {
  const response = respond(null, 204, report);
  response.headers.delete("Content-Type");
  return response;
}

export function respond(
  body: Uint8Array<ArrayBuffer> | Blob | ReadableStream | string | null,
  status: number,
  report: LimitReport | null,
): Response {
  const response = new Response(body, { status, headers: report ? COUNTED : PLAIN });
  if (report) {
    if (report.remaining > 0) response.headers.set("X-RateLimit-Remaining", String(report.remaining));
    response.headers.set("X-RateLimit-Reset", toResetSeconds(report.resetAt));
  }
  return response;
}

/** For an answer that knows nothing of the limit. */
export function addLimit(response: Response, report: LimitReport | null): Response {
  if (!report) return response;
  for (const [name, value] of respond(null, response.status, report).headers)
    if (name.startsWith("x-ratelimit-")) response.headers.set(name, value);
  return response;
}

/** In seconds, because existing clients sleep until this number of seconds. */
export function toResetSeconds(resetAt: number): string {
  return String(Math.ceil(resetAt / 1000));
}

type ErrorText = { readonly whole: Uint8Array<ArrayBuffer>; readonly beginning: string };

/** Serialised once, because floods get errors: the whole body without fields, and the beginning of one with fields. */
const ERROR_TEXTS: ReadonlyMap<ErrorRow, ErrorText> = new Map(
  Object.values(ERRORS).map((row) => [row, writeErrorText(row)]),
);

function errorBody(row: ErrorRow, fields: Refusal["fields"]): Uint8Array<ArrayBuffer> | string {
  const { whole, beginning } = ERROR_TEXTS.get(row) ?? writeErrorText(row);
  const more = fields ? JSON.stringify(fields) : "{}";
  return more === "{}" ? whole : beginning + more.slice(1);
}

function writeErrorText(row: ErrorRow): ErrorText {
  const plain = JSON.stringify({ code: row.code, message: row.message });
  return { whole: encoder.encode(plain), beginning: `${plain.slice(0, -1)},` };
}
