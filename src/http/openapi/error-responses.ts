// The error responses of an operation: one per status, with every error that can have that status.
import { ERRORS } from "../../core/errors.ts";
import { type ErrorName, schemaOfError } from "../../core/wire/error.ts";
import type { Schemas } from "./components.ts";
import { examplesOfError } from "./error-examples.ts";
import { ERROR_GUIDE } from "./error-guide.ts";
import { type HeaderName, LIMIT_HEADER_NAMES } from "./headers.ts";
import type { Examples } from "./operation.ts";

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
  isCounted: boolean,
  schemas: Schemas,
): ErrorResponse {
  const sorted = errors.toSorted((a, b) => ERRORS[a].code - ERRORS[b].code);
  const limit = isCounted ? limitHeaders(sorted) : [];
  const choices = sorted.map((name) => schemas.refer(schemaOfError(name)));
  return {
    name: nameOf(sorted, limit.length > 0),
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

function limitHeaders(errors: readonly ErrorName[]): HeaderName[] {
  if (errors.every((name) => NEVER_COUNTED.has(name))) return [];
  const isAlways = !errors.some((name) => NEVER_COUNTED.has(name) || SOMETIMES_COUNTED.has(name));
  if (isAlways) return LIMIT_HEADER_NAMES;
  return LIMIT_HEADER_NAMES.map((name) => `${name}Sometimes` as const);
}

function retryHeaders(errors: readonly ErrorName[]): HeaderName[] {
  if (errors.every((name) => WITH_RETRY_AFTER.has(name))) return ["RetryAfter"];
  return errors.includes("gameApi") ? ["RetryAfterSometimes"] : [];
}

function nameOf(errors: readonly ErrorName[], isCounted: boolean): string {
  const words = errors.map((name) => (name[0] ?? "").toUpperCase() + name.slice(1));
  return `${words.join("Or")}${isCounted ? "Counted" : ""}`;
}
