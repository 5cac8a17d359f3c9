// The faults that replace the content of the answer.

import { type Answer, answerError, answerJson, type ErrorForm } from "./error-answers.ts";
import type { Fault } from "./fault-list.ts";

const PROXY_PAGE =
  "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>" +
  "<body><center><h1>502 Bad Gateway</h1></center><hr><center>edge</center></body></html>\n";

/** The answer that replaces the normal one; undefined for faults that do not replace it. */
export function findFaultAnswer(fault: Fault, nowMs: number): Answer | undefined {
  switch (fault.kind) {
    case "code":
      return answerError(fault.findNumber("code") ?? 0, {
        status: fault.findNumber("status"),
        message: fault.findText("message"),
        form: fault.findText("form") as ErrorForm | undefined,
      });
    case "not-json":
      return {
        status: 200,
        headers: { "Content-Type": "application/json" },
        body: '{"Name": "Willow Bay", Oops',
      };
    case "html-502":
      return { status: 502, headers: { "Content-Type": "text/html" }, body: PROXY_PAGE };
    case "redirect": {
      const headers = { Location: fault.findText("to") ?? "", "Content-Type": "text/plain" };
      return { status: fault.findNumber("status") ?? 302, headers, body: "Moved\n" };
    }
    case "rate-limit":
      return answerFakeRateLimit(fault, nowMs);
    default:
      return undefined;
  }
}

function answerFakeRateLimit(fault: Fault, nowMs: number): Answer {
  const retryAfter = fault.findNumber("retry_after") ?? 0;
  const headers: Record<string, string> = {};
  if (fault.isSet("headers")) {
    headers["X-RateLimit-Bucket"] = "unauthenticated-global";
    headers["X-RateLimit-Limit"] = "35";
    headers["X-RateLimit-Remaining"] = "0";
    headers["X-RateLimit-Reset"] = String(Math.ceil(nowMs / 1000 + retryAfter));
    if (fault.isSet("retry_header")) headers["Retry-After"] = String(Math.ceil(retryAfter));
  }
  const body: Record<string, unknown> = {
    message: "You are being rate limited!",
    bucket: "unauthenticated-global",
  };
  if (fault.isSet("retry_body")) body.retry_after = retryAfter;
  if (fault.isSet("with_code")) body.code = 4001;
  return { ...answerJson(429, body, headers), code: 4001 };
}
