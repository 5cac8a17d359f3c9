// How answers look on the wire: bodies, headers, and the one way from a refusal to a response.
import { ERRORS, type ErrorRow, type Refusal } from "../core/errors.ts";
import { LIMIT_PER_WINDOW } from "../core/rate-limit.ts";
import type { LimitReport } from "../gateway/admit.ts";
import type { Call } from "./call.ts";

const encoder = new TextEncoder();
export const LIMIT_TEXT = String(LIMIT_PER_WINDOW);

/** Errors without fields are the ones that floods get, so their bytes are made once. */
const PLAIN_BODIES: ReadonlyMap<ErrorRow, Uint8Array<ArrayBuffer>> = new Map(
  Object.values(ERRORS).map((row) => [
    row,
    encoder.encode(JSON.stringify({ code: row.code, message: row.message })),
  ]),
);

export const LIMIT_BUCKET = "server";

export function answerRefusal(call: Call, refusal: Refusal, report: LimitReport | null = null): Response {
  const { refused, fields, headers } = refusal;
  call.code = refused.code;
  return new Response(errorBody(refused, fields), {
    status: refused.status,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Request-Id": call.id,
      ...(report && limitHeaders(report)),
      ...headers,
    },
  });
}

export function answerJson(value: unknown, status = 200, report: LimitReport | null = null): Response {
  const headers = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    ...(report && limitHeaders(report)),
  };
  return new Response(JSON.stringify(value), { status, headers });
}

/** Seconds, not milliseconds: clients in the field sleep until the number they read here. */
export function toResetSeconds(resetAt: number): string {
  return String(Math.ceil(resetAt / 1000));
}

function limitHeaders(report: LimitReport) {
  return {
    "X-RateLimit-Limit": LIMIT_TEXT,
    "X-RateLimit-Remaining": String(report.remaining),
    "X-RateLimit-Reset": toResetSeconds(report.resetAt),
    "X-RateLimit-Bucket": LIMIT_BUCKET,
  };
}

function errorBody(row: ErrorRow, fields: Refusal["fields"]): Uint8Array<ArrayBuffer> | string {
  const plain = fields === undefined ? PLAIN_BODIES.get(row) : undefined;
  return plain ?? JSON.stringify({ code: row.code, message: row.message, ...fields });
}
