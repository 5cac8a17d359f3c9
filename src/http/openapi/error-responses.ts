// The error responses of an operation: one per status, with every error that can have that status.
import { ERRORS } from "../../core/errors.ts";
import { LIMIT_PER_WINDOW } from "../../core/keys/rate-limit.ts";
import { type ErrorFields, type ErrorName, schemaOfError } from "../../core/wire/error.ts";
import type { Examples, Operation } from "../operation.ts";
import type { Schemas } from "./components.ts";
import { ERROR_GUIDE } from "./error-guide.ts";
import { type HeaderName, LIMIT_HEADER_NAMES } from "./headers.ts";

const resetAt = 1_794_722_374_688;

const FIELDS: Omit<ErrorFields, "gameApi"> = {
  forbidden: { details: { reason: "address", seen: "203.0.113.7" } },
  versionForbidden: { details: { versions: ["v1"] } },
  sectionForbidden: { details: { sections: ["Staff"] } },
  queueFull: { retry_after: 5 },
  rateLimited: {
    retry_after: 17,
    details: { limit: LIMIT_PER_WINDOW, count: LIMIT_PER_WINDOW + 1, excess: 1, reset_at: resetAt },
  },
  addressLimited: { retry_after: 17 },
  internal: { request_id: "req_k3v9qa1f" },
  spamBlocked: { blocked_until: resetAt + 240_000, retry_after: 300 },
  invalidRequest: { details: { limit: "must be a whole number from 1 to 200" } },
  conflict: { details: { command_id: "no longer waits" } },
  upgradeRequired: { details: { Upgrade: "must be websocket" } },
  unavailable: { retry_after: 1 },
  tooManyAttempts: { retry_after: 42 },
  cursorExpired: { oldest: "AAAAAAABiQxvK2m3x5XmQm1c" },
  tooManyStreams: { retry_after: 5 },
  notConfigured: {},
};

const GAME_API_EXAMPLES: Examples = {
  offline: example("The server is offline", { upstream_code: 3002, upstream_message: "The server is offline." }),
  limited: example("The game API's own limit is reached; there is a Retry-After header", {
    upstream_code: 4001,
    upstream_message: "The game API has limited us.",
  }),
  silent: example("The game API gave no usable answer", {
    upstream_code: 0,
    upstream_message: "The game API did not answer in time.",
  }),
};

export function examplesOfError(name: ErrorName): Examples {
  if (name === "gameApi") return GAME_API_EXAMPLES;
  const { code, message } = ERRORS[name];
  const fields = name in FIELDS ? FIELDS[name as keyof typeof FIELDS] : {};
  return { [name]: { summary: ERROR_GUIDE[name].when, value: { code, message, ...fields } } };
}

function example(summary: string, fields: ErrorFields["gameApi"]) {
  const { code, message } = ERRORS.gameApi;
  return { summary, value: { code, message, ...fields } };
}

export type ErrorResponse = {
  /** Equal responses have equal names. */
  readonly name: string;
  readonly description: string;
  readonly headers: readonly HeaderName[];
  readonly schema: unknown;
  readonly examples: Examples;
};

/** Answered before the request is counted. */
const NEVER_COUNTED: ReadonlySet<ErrorName> = new Set([
  "missingToken",
  "invalidToken",
  "spamBlocked",
  "upgradeRequired",
]);
/** Answered before or after the request is counted. */
const SOMETIMES_COUNTED: ReadonlySet<ErrorName> = new Set(["internal", "unavailable"]);
const WITH_RETRY_AFTER: ReadonlySet<ErrorName> = new Set([
  "queueFull",
  "rateLimited",
  "addressLimited",
  "spamBlocked",
  "unavailable",
  "tooManyAttempts",
  "tooManyStreams",
]);

export function groupErrors(errors: readonly ErrorName[]): Map<number, ErrorName[]> {
  const groups = new Map<number, ErrorName[]>();
  for (const name of errors) {
    const { status } = ERRORS[name];
    groups.set(status, [...(groups.get(status) ?? []), name]);
  }
  return groups;
}

export function describeErrors(
  status: number,
  errors: readonly ErrorName[],
  isCounted: Operation["isCounted"],
  schemas: Schemas,
): ErrorResponse {
  const sorted = errors.toSorted((a, b) => ERRORS[a].code - ERRORS[b].code);
  const limit = isCounted ? limitHeaders(sorted, isCounted === "ofKeys") : [];
  const choices = sorted.map((name) => schemas.refer(schemaOfError(name)));
  return {
    name: nameOf(sorted, limit.length > 0 && isCounted),
    description: sorted.map((name) => `**${ERRORS[name].code}**: ${ERROR_GUIDE[name].when}`).join("\n\n"),
    headers: [
      "RequestIdSometimes",
      "CacheControl",
      ...(status === 401 ? (["Authenticate"] as const) : []),
      ...(status === 426 ? (["Upgrade"] as const) : []),
      ...retryHeaders(sorted),
      ...limit,
    ],
    schema: choices.length === 1 ? choices[0] : { oneOf: choices },
    examples: Object.assign({}, ...sorted.map(examplesOfError)),
  };
}

function limitHeaders(errors: readonly ErrorName[], isSometimes: boolean): HeaderName[] {
  if (errors.every((name) => NEVER_COUNTED.has(name))) return [];
  const isAlways = !isSometimes && !errors.some((name) => NEVER_COUNTED.has(name) || SOMETIMES_COUNTED.has(name));
  if (isAlways) return LIMIT_HEADER_NAMES;
  return LIMIT_HEADER_NAMES.map((name) => `${name}Sometimes` as const);
}

function retryHeaders(errors: readonly ErrorName[]): HeaderName[] {
  if (errors.every((name) => WITH_RETRY_AFTER.has(name))) return ["RetryAfter"];
  return errors.includes("gameApi") ? ["RetryAfterSometimes"] : [];
}

function nameOf(errors: readonly ErrorName[], isCounted: Operation["isCounted"]): string {
  const words = errors.map((name) => (name[0] ?? "").toUpperCase() + name.slice(1));
  return `${words.join("Or")}${isCounted ? "Counted" : ""}${isCounted === "ofKeys" ? "OfKeys" : ""}`;
}
