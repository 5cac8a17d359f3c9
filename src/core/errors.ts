// The table of errors: code, HTTP status and message. Every refusal uses a row of it.

export type ErrorRow = { readonly code: number; readonly status: number; readonly message: string };

export const ERRORS = {
  missingCommand: { code: 5005, status: 400, message: "missing_command" },
  invalidMasterKey: { code: 5006, status: 401, message: "invalid_master_key" },
  missingToken: { code: 5007, status: 401, message: "missing_token" },
  invalidToken: { code: 5008, status: 401, message: "invalid_token" },
  forbidden: { code: 5009, status: 403, message: "forbidden" },
  versionForbidden: { code: 5010, status: 403, message: "api_version_forbidden" },
  sectionForbidden: { code: 5011, status: 403, message: "query_param_forbidden" },
  queueFull: { code: 5015, status: 429, message: "command_queue_full" },
  rateLimited: { code: 5016, status: 429, message: "rate_limit_exceeded" },
  addressLimited: { code: 5016, status: 429, message: "rate_limit_exceeded" },
  internal: { code: 5017, status: 500, message: "internal_error" },
  obsolete: { code: 5018, status: 500, message: "Endpoint устарел. Используйте более новую версию API." },
  gameApi: { code: 5019, status: 400, message: "game_api_error" },
  notFound: { code: 5020, status: 404, message: "not_found" },
  invalidJson: { code: 5034, status: 400, message: "invalid_json" },
  spamBlocked: { code: 5100, status: 429, message: "spam_blocked" },
  methodNotAllowed: { code: 5101, status: 405, message: "method_not_allowed" },
  payloadTooLarge: { code: 5102, status: 413, message: "payload_too_large" },
  unsupportedMediaType: { code: 5103, status: 415, message: "unsupported_media_type" },
  invalidRequest: { code: 5104, status: 400, message: "invalid_request" },
  conflict: { code: 5104, status: 409, message: "invalid_request" },
  upgradeRequired: { code: 5104, status: 426, message: "invalid_request" },
  idempotencyInFlight: { code: 5105, status: 409, message: "idempotency_conflict" },
  idempotencyMismatch: { code: 5105, status: 422, message: "idempotency_conflict" },
  unavailable: { code: 5106, status: 503, message: "unavailable" },
  tooManyAttempts: { code: 5107, status: 429, message: "too_many_attempts" },
  cursorExpired: { code: 5108, status: 410, message: "cursor_expired" },
  tooManyStreams: { code: 5109, status: 429, message: "too_many_streams" },
  notConfigured: { code: 5110, status: 501, message: "not_configured" },
  invalidSignature: { code: 5111, status: 401, message: "invalid_signature" },
} as const satisfies Record<string, ErrorRow>;

/** A refusal is returned, never thrown. `fields` are sent in the body beside code and message. */
export type Refusal = {
  readonly refused: ErrorRow;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
};

export function refuse(
  refused: ErrorRow,
  fields?: Readonly<Record<string, unknown>>,
  headers?: Readonly<Record<string, string>>,
): Refusal {
  return { refused, fields, headers };
}

/** Names the seconds after which another try makes sense, in the body and in `Retry-After`. */
export function refuseFor(refused: ErrorRow, seconds: number, fields?: Refusal["fields"]): Refusal {
  return refuse(refused, { retry_after: seconds, ...fields }, { "Retry-After": String(seconds) });
}

export function isRefusal(outcome: object): outcome is Refusal {
  return "refused" in outcome;
}

/** Thrown by a store that cannot be read or written now (disk full, locked, connection lost). The caller gets 5106. */
export class StoreUnavailable extends Error {
  override name = "StoreUnavailable";
}

/** Thrown by an archive that cannot be read or written now. Reads and commands do not need it. */
export class ArchiveUnavailable extends StoreUnavailable {
  override name = "ArchiveUnavailable";
}

/** Thrown when Gatehouse must not start. `main` prints the message and exits with `exitCode`. */
export class StartRefused extends Error {
  override name = "StartRefused";
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
  }
}

/** Thrown when something needed for the start is not available yet; starting may succeed later. */
export class NotReadyToStart extends StartRefused {
  override name = "NotReadyToStart";
}

export const NOT_FOUND: Refusal = refuse(ERRORS.notFound);

/** Why a field is refused: a sentence, and for programs that say it in another language a code and its value. */
export type FieldReason = { readonly code: string; readonly text: string; readonly position?: number };

export const NO_SERVER: FieldReason = { code: "no_server", text: "there is no such server" };
export const REVOKED: FieldReason = { code: "revoked", text: "is revoked, and stays so" };

export function refuseField(
  field: string,
  reason: string | FieldReason,
  row: ErrorRow = ERRORS.invalidRequest,
): Refusal {
  return refuseFields({ [field]: reason }, row);
}

export function refuseFields(
  fields: Readonly<Record<string, string | FieldReason>>,
  row: ErrorRow = ERRORS.invalidRequest,
): Refusal {
  const entries = Object.entries(fields);
  // Not by assignment: a field of a request may be called __proto__.
  const details = Object.fromEntries(entries.map(([name, reason]) => [name, toText(reason)]));
  const coded = entries.flatMap(([name, reason]) => {
    if (typeof reason === "string") return [];
    const { text: _, ...code } = reason;
    return [[name, code] as const];
  });
  return refuse(row, { details, ...(coded.length > 0 && { reasons: Object.fromEntries(coded) }) });
}

function toText(reason: string | FieldReason): string {
  return typeof reason === "string" ? reason : reason.text;
}
