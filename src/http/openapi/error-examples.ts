// Example bodies of errors. Codes and messages come from the table of errors; only further fields are written here.
import { ERRORS } from "../../core/errors.ts";
import { LIMIT_PER_WINDOW } from "../../core/rate-limit.ts";
import type { ErrorFields, ErrorName } from "../../core/wire/error.ts";
import { ERROR_GUIDE } from "./error-guide.ts";
import type { Examples } from "./operation.ts";

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
};

const GAME_API_EXAMPLES: Examples = {
  offline: example("The server is offline", {
    upstream_code: 3002,
    upstream_message: "The server is offline.",
  }),
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
