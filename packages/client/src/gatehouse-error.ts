// The one error that the client throws. Only the caller's own mistakes, such as a bad option, are TypeErrors.

const SPAM_BLOCKED = 5100;
const OBSOLETE = 5018;
const IN_FLIGHT = 5105;
/** A longer wait than this is for the caller to decide. */
const WAIT_MAX_SECONDS = 60;
/** Of `details`, in the text of an error. */
const DETAILS_CHARS_MAX = 500;

export type ErrorFields = {
  readonly code?: number;
  readonly status?: number;
  readonly retryAfter?: number | undefined;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
};

export class GatehouseError extends Error {
  override readonly name = "GatehouseError";
  /** The error code of Gatehouse (docs/errors.md); 0 when the answer had none, or there was no answer. */
  readonly code: number;
  /** The HTTP status; 0 when there was no whole answer. */
  readonly status: number;
  /** Seconds after which asking again makes sense; undefined when Gatehouse did not say. */
  readonly retryAfter: number | undefined;
  /** The whole body of the error, as it came. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Only of a command that may or may not be queued: send it again with this key, and it is queued once. */
  idempotencyKey: string | undefined;

  constructor(message: string, { code = 0, status = 0, retryAfter, body = {}, cause }: ErrorFields = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
    this.body = body;
  }

  /** What is wrong, field by field, where Gatehouse says so. */
  get details(): Readonly<Record<string, unknown>> | undefined {
    const { details } = this.body;
    return isObject(details) ? details : undefined;
  }

  /** The game API's own code, of a 5019. */
  get upstreamCode(): number | undefined {
    const { upstream_code } = this.body;
    return typeof upstream_code === "number" ? upstream_code : undefined;
  }

  /** What the game API said, of a 5019. */
  get upstreamMessage(): string | undefined {
    const { upstream_message } = this.body;
    return typeof upstream_message === "string" ? upstream_message : undefined;
  }
}

/** `body` is the parsed answer, whatever it is. */
export function toGatehouseError(status: number, headers: Headers, body: unknown): GatehouseError {
  const fields = isObject(body) ? body : {};
  const { code, message, upstream_message, retry_after, details } = fields;
  const known = typeof code === "number" ? code : 0;
  const words = typeof message === "string" ? message : "this is no answer of Gatehouse";
  const seconds = typeof retry_after === "number" ? retry_after : readSeconds(headers.get("Retry-After"));
  const codes = known === 0 ? `HTTP ${status}` : `${known}, HTTP ${status}`;
  const reasons = [typeof upstream_message === "string" ? upstream_message : "", writeDetails(details)];
  const why = reasons.filter((text) => text !== "").join("; ");
  return new GatehouseError(`${words}${why === "" ? "" : `: ${why}`} (${codes})`, {
    code: known,
    status,
    retryAfter: seconds,
    body: fields,
  });
}

/** The seconds to wait after a 429; undefined for what is not waited for, such as a block. */
export function findLimitWait(error: unknown): number | undefined {
  if (!(error instanceof GatehouseError) || error.status !== 429 || error.code === SPAM_BLOCKED) return undefined;
  const { retryAfter } = error;
  return retryAfter !== undefined && retryAfter <= WAIT_MAX_SECONDS ? retryAfter : undefined;
}

/** Whether the same request may succeed soon: no answer came, or Gatehouse or a proxy before it is not ready. */
export function isOutage(error: unknown): error is GatehouseError {
  if (!(error instanceof GatehouseError)) return false;
  const { status, code } = error;
  return status === 0 || (status >= 500 && status !== 501 && code !== OBSOLETE);
}

/** Whether an earlier request with the same idempotency key is not answered yet. */
export function isInFlight(error: unknown): error is GatehouseError {
  return error instanceof GatehouseError && error.code === IN_FLIGHT && error.status === 409;
}

/** How long to wait before the next try: the backoff, or longer when the error says so. */
export function chooseBackoffMs(error: unknown, backoffMs: number): number {
  const seconds = error instanceof GatehouseError ? (error.retryAfter ?? 0) : 0;
  return Math.max(backoffMs, Math.min(seconds, WAIT_MAX_SECONDS) * 1000);
}

/** Whether Gatehouse may have acted, although it did not say so: no answer came, or one that is not its own. */
export function isOpen(error: unknown): error is GatehouseError {
  return isOutage(error) || isInFlight(error) || (error instanceof GatehouseError && error.status < 300);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function writeDetails(details: unknown): string {
  if (!isObject(details)) return "";
  const text = Object.entries(details).map(([field, value]) => `${field}: ${writeDetail(value)}`);
  return Array.from(text.join(", ")).slice(0, DETAILS_CHARS_MAX).join("");
}

function writeDetail(value: unknown): string {
  if (typeof value === "string") return value;
  const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
  return isList
    ? value.join(", ")
    : JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each));
}

/** `Retry-After` may be a date too, which Gatehouse never sends. */
function readSeconds(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
