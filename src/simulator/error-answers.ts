// The game API's error answers: codes, HTTP statuses, messages and body forms, and the faults that replace an answer.
import type { Fault } from "./fault-kinds.ts";
import type { Quirks } from "./quirks.ts";

export type Answer = { status: number; headers: Record<string, string>; body: string; code?: number };

const JSON_HEADERS = { "Content-Type": "application/json; charset=utf-8" };

const ERRORS: ReadonlyMap<number, readonly [status: number, message: string]> = new Map([
  [0, [500, "Unknown error occurred."]],
  [1001, [500, "An error occurred communicating with the game server."]],
  [1002, [500, "An internal system error occurred."]],
  [2000, [403, "No server-key was provided."]],
  [2001, [403, "An incorrectly formatted server-key was provided."]],
  [2002, [403, "An invalid or expired server-key was provided."]],
  [2003, [403, "An invalid global API key was provided."]],
  [2004, [403, "This server-key is banned from the API."]],
  [3001, [400, "A valid command was not provided in the request body."]],
  [3002, [422, "The server is currently offline (has no players)."]],
  [4000, [403, "This source is not authorized to run commands."]],
  [4001, [429, "You are being rate limited!"]],
  [4002, [403, "The command is restricted."]],
  [4003, [403, "The message contains prohibited text."]],
  [9998, [403, "The resource is restricted."]],
  [9999, [500, "The module running on the in-game server is out of date."]],
]);

export function answerJson(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: JSON.stringify(value) };
}

/** The shape of the body: {code, message}, {error, code}, or {message, commandId} without a code. */
export type ErrorForm = "message" | "error" | "command-id";
export type ErrorOverrides = {
  status?: number | undefined;
  message?: string | undefined;
  form?: ErrorForm | undefined;
};

export function answerError(code: number, overrides: ErrorOverrides = {}): Answer {
  const [usualStatus, usualMessage] = ERRORS.get(code) ?? [500, "Unknown error occurred."];
  const status = overrides.status ?? usualStatus;
  const message = overrides.message ?? usualMessage;
  return { ...answerJson(status, bodyOf(code, message, overrides.form ?? "message")), code };
}

function bodyOf(code: number, message: string, form: ErrorForm): Record<string, unknown> {
  if (form === "error") return { error: message, code };
  if (form === "command-id") return { message, commandId: "00000000-0000-4000-8000-000000000000" };
  return { code, message };
}

/** The body form of this error for this server, which follows from the seed. */
export function chooseErrorForm(quirks: Quirks, seed: number, serverId: string, code: number): ErrorForm {
  return quirks.affects("errorInsteadOfMessage", 4, seed, serverId, code) ? "error" : "message";
}

const PROXY_PAGE =
  "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>" +
  "<body><center><h1>502 Bad Gateway</h1></center><hr><center>edge</center></body></html>\n";

/** The answer that replaces the normal one; undefined for faults that do not replace it. */
export function findFaultAnswer(fault: Fault, nowMs: number): Answer | undefined {
  const { kind, settings } = fault;
  switch (kind) {
    case "code":
      return answerError(Number(settings.code), settings as ErrorOverrides);
    case "not-json":
      return { status: 200, headers: { "Content-Type": "application/json" }, body: '{"Name": "Willow Bay", Oops' };
    case "html-502":
      return { status: 502, headers: { "Content-Type": "text/html" }, body: PROXY_PAGE };
    case "redirect": {
      const headers = { Location: String(settings.to), "Content-Type": "text/plain" };
      return { status: Number(settings.status), headers, body: "Moved\n" };
    }
    case "rate-limit":
      return answerFakeRateLimit(settings, nowMs);
    default:
      return undefined;
  }
}

function answerFakeRateLimit(settings: Fault["settings"], nowMs: number): Answer {
  const retryAfter = Number(settings.retry_after);
  const headers: Record<string, string> = {};
  if (settings.headers) {
    headers["X-RateLimit-Bucket"] = "unauthenticated-global";
    headers["X-RateLimit-Limit"] = "35";
    headers["X-RateLimit-Remaining"] = "0";
    headers["X-RateLimit-Reset"] = String(Math.ceil(nowMs / 1000 + retryAfter));
    if (settings.retry_header) headers["Retry-After"] = String(Math.ceil(retryAfter));
  }
  const body: Record<string, unknown> = { message: "You are being rate limited!", bucket: "unauthenticated-global" };
  if (settings.retry_body) body.retry_after = retryAfter;
  if (settings.with_code) body.code = 4001;
  return { ...answerJson(429, body, headers), code: 4001 };
}
