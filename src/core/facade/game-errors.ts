// The table of errors in the game API's form: what each of our refusals is for a client of the game API. The statuses are
// chosen so that a client that sends again on 429 and 5xx never repeats what the game may have run.
import type { Command } from "../commands/command.ts";
import { ERRORS, type Refusal, refuse } from "../errors.ts";
import { LIMIT_BUCKET, LIMIT_PER_WINDOW } from "../keys/rate-limit.ts";
import { BAD_KEY_CODES, BREAKER_CODES, NO_CODE, RATE_LIMITED } from "../readings/upstream-codes.ts";

/** `headers` are those that the error itself needs, beside those of a counted answer. */
export type GameError = {
  readonly status: number;
  readonly body: { readonly code: number; readonly message: string } & Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
};

/** `queued`: the game has not got the command yet, and may still refuse it. */
export type CommandSuccess = {
  readonly status: 200;
  readonly body: { readonly message: string; readonly commandId: string; readonly queued?: true };
};

type Row = { readonly status: number; readonly code: number; readonly message: string };

/** Of the headers of our own refusals. */
const KEPT_HEADERS: ReadonlySet<string> = new Set(["Retry-After", "Connection"]);
/** For a rate limit of the game API that does not say when to ask again. */
const RETRY_AFTER_DEFAULT = 5;

const NO_KEY: Row = { status: 403, code: 2000, message: "You did not provide a server-key." };
const BAD_FORM: Row = { status: 403, code: 2001, message: "You provided an incorrectly formatted server-key." };
const UNKNOWN_KEY: Row = { status: 403, code: 2002, message: "You provided an invalid (or expired) server-key." };
const RESTRICTED: Row = { status: 403, code: 9998, message: "The resource you are accessing is restricted." };
const LIMITED: Row = { status: 429, code: RATE_LIMITED, message: "You are being rate limited." };
const BAD_COMMAND: Row = {
  status: 400,
  code: 3001,
  message: "You did not provide a valid command in the request body.",
};
const INTERNAL: Row = { status: 500, code: 1002, message: "An internal system error occurred." };

/** By our own code. What is not here cannot happen on a façade route, and is an internal error. */
const ROWS: ReadonlyMap<number, Row> = new Map([
  [ERRORS.missingToken.code, NO_KEY],
  [ERRORS.invalidToken.code, UNKNOWN_KEY],
  [ERRORS.forbidden.code, RESTRICTED],
  [ERRORS.versionForbidden.code, RESTRICTED],
  [ERRORS.sectionForbidden.code, RESTRICTED],
  [ERRORS.queueFull.code, LIMITED],
  [ERRORS.rateLimited.code, LIMITED],
  [ERRORS.spamBlocked.code, LIMITED],
  [ERRORS.missingCommand.code, BAD_COMMAND],
  [ERRORS.invalidJson.code, BAD_COMMAND],
  [ERRORS.invalidRequest.code, BAD_COMMAND],
  [ERRORS.payloadTooLarge.code, BAD_COMMAND],
  [ERRORS.unsupportedMediaType.code, BAD_COMMAND],
  [ERRORS.unavailable.code, INTERNAL],
  [ERRORS.internal.code, INTERNAL],
]);

/** The status with which the game API sends each of its codes. */
const STATUS_OF_CODE: ReadonlyMap<number, number> = new Map([
  [NO_CODE, 500],
  [1001, 500],
  [1002, 500],
  [3001, 400],
  [3002, 422],
  [4000, 403],
  [4002, 403],
  [4003, 403],
  [9998, 403],
  [9999, 403],
]);
/** Codes that we do not know. No client sends again after it. */
const STATUS_OF_OTHER_CODES = 400;
const STATUS_UNKNOWN_OUTCOME = 422;
/** For a command that waits too: prc.api-py sends a command again after any other message. */
const SUCCESS = "Success";
const UNKNOWN_OUTCOME = 1001;

/** The refusal of a `server-key` that is neither a token nor of the form of a server key. */
export const MALFORMED_KEY: Refusal = refuse(ERRORS.invalidToken);

/** `resetAt` is the end of the caller's window, null when the request did not count. */
export function toGameError(refusal: Refusal, resetAt: number | null, now: number): GameError {
  const { refused } = refusal;
  if (refused.code === ERRORS.gameApi.code) return toUpstreamError(refusal, now);
  const row = refusal === MALFORMED_KEY ? BAD_FORM : (ROWS.get(refused.code) ?? INTERNAL);
  if (row === LIMITED) {
    return toLimitError(row.message, refusal, refused.code === ERRORS.rateLimited.code ? resetAt : null, now);
  }
  const reason = row === RESTRICTED ? findReason(refusal) : undefined;
  const message = reason === undefined ? row.message : `${row.message} (${reason})`;
  return { status: row.status, body: { code: row.code, message }, headers: pickHeaders(refusal) };
}

/** What the caller of a command is told. `command` is undefined when its state could not be read: it is accepted all the same. */
export function toCommandAnswer(commandId: string, command: Command | undefined): CommandSuccess | GameError {
  const status = command?.status;
  if (status === "sent") return { status: 200, body: { message: SUCCESS, commandId } };
  if (status === "unknown") {
    return toUncertain(command?.upstreamMessage ?? "Whether the game ran the command is not known.", { commandId });
  }
  if (status === "expired" || status === "cancelled") {
    return toUncertain(`The command was not sent: it is ${status}.`, { commandId });
  }
  if (status !== "failed") return { status: 200, body: { message: SUCCESS, commandId, queued: true } };
  const { upstreamCode, upstreamMessage } = command ?? {};
  const message = upstreamMessage ?? INTERNAL.message;
  if (upstreamCode === null || upstreamCode === undefined || BAD_KEY_CODES.has(upstreamCode)) {
    return { status: INTERNAL.status, body: { code: INTERNAL.code, message: INTERNAL.message }, headers: {} };
  }
  // The game may have run it, so that no client may send it again.
  if (BREAKER_CODES.has(upstreamCode)) return toUncertain(message, { commandId });
  return { status: statusOf(upstreamCode), body: { code: upstreamCode, message }, headers: {} };
}

export function statusOf(code: number): number {
  return STATUS_OF_CODE.get(code) ?? STATUS_OF_OTHER_CODES;
}

function toUncertain(message: string, fields: Readonly<Record<string, unknown>>): GameError {
  return { status: STATUS_UNKNOWN_OUTCOME, body: { code: UNKNOWN_OUTCOME, message, ...fields }, headers: {} };
}

function toUpstreamError(refusal: Refusal, now: number): GameError {
  const code = Number(refusal.fields?.upstream_code ?? NO_CODE);
  const message = String(refusal.fields?.upstream_message ?? "");
  const headers = pickHeaders(refusal);
  // Clients give up their own key for ever when they see these codes.
  if (BAD_KEY_CODES.has(code)) {
    return { status: INTERNAL.status, body: { code: INTERNAL.code, message: INTERNAL.message }, headers };
  }
  if (code === RATE_LIMITED) return toLimitError(message, refusal, null, now);
  return { status: statusOf(code), body: { code, message }, headers };
}

function toLimitError(message: string, refusal: Refusal, resetAt: number | null, now: number): GameError {
  const told = Number(refusal.fields?.retry_after ?? refusal.headers?.["Retry-After"] ?? RETRY_AFTER_DEFAULT);
  const seconds = Number.isFinite(told) ? Math.max(1, Math.ceil(told)) : RETRY_AFTER_DEFAULT;
  const until = resetAt ?? refusal.fields?.blocked_until;
  const end = typeof until === "number" ? until : now + seconds * 1000;
  return {
    status: LIMITED.status,
    body: { code: LIMITED.code, message, retry_after: seconds, bucket: LIMIT_BUCKET },
    headers: {
      "Retry-After": String(seconds),
      "X-RateLimit-Limit": String(LIMIT_PER_WINDOW),
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": String(Math.ceil(end / 1000)),
      "X-RateLimit-Bucket": LIMIT_BUCKET,
    },
  };
}

/** `Connection` too: it closes a connection on which the rest of a body would be taken for the next request. */
function pickHeaders({ headers = {} }: Refusal): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => KEPT_HEADERS.has(name)));
}

/** Why a key may not do this, from the details that our own API would send. */
function findReason({ fields }: Refusal): string | undefined {
  const details = fields?.details as Readonly<Record<string, unknown>> | undefined;
  if (details?.reason !== undefined) {
    return details.seen === undefined ? String(details.reason) : `${details.reason}: ${details.seen}`;
  }
  if (Array.isArray(details?.sections)) return details.sections.join(", ");
  return Array.isArray(details?.versions) ? "version v2" : undefined;
}
