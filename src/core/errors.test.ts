// The table of errors, written out a second time: clients rely on these codes, statuses and messages.
import { describe, expect, test } from "bun:test";
import { ERRORS, type ErrorRow, isRefusal, refuse } from "./errors.ts";

/** Code, HTTP status, message: first those of the specification, then our own. */
const TABLE: [number, number, string][] = [
  [5006, 401, "invalid_master_key"],
  [5007, 401, "missing_token"],
  [5008, 401, "invalid_token"],
  [5009, 403, "forbidden"],
  [5010, 403, "api_version_forbidden"],
  [5011, 403, "query_param_forbidden"],
  [5016, 429, "rate_limit_exceeded"],
  // The public status counts addresses, not keys.
  [5016, 429, "rate_limit_exceeded"],
  [5018, 500, "Endpoint устарел. Используйте более новую версию API."],
  [5019, 400, "game_api_error"],
  [5005, 400, "missing_command"],
  [5015, 429, "command_queue_full"],
  [5017, 500, "internal_error"],
  [5020, 404, "not_found"],
  [5034, 400, "invalid_json"],
  [5100, 429, "spam_blocked"],
  [5101, 405, "method_not_allowed"],
  [5102, 413, "payload_too_large"],
  [5103, 415, "unsupported_media_type"],
  [5104, 400, "invalid_request"],
  // Cancelling a command that no longer waits: 409/5104.
  [5104, 409, "invalid_request"],
  // A request for a WebSocket that asks for no upgrade.
  [5104, 426, "invalid_request"],
  [5105, 409, "idempotency_conflict"],
  [5105, 422, "idempotency_conflict"],
  [5106, 503, "unavailable"],
  [5107, 429, "too_many_attempts"],
  [5108, 410, "cursor_expired"],
  [5109, 429, "too_many_streams"],
  [5110, 501, "not_configured"],
  [5111, 401, "invalid_signature"],
];

const ROWS: readonly ErrorRow[] = Object.values(ERRORS);

describe("the table of errors", () => {
  test.each(TABLE)("%p is HTTP %p %p", (code, status, message) => {
    expect(ROWS).toContainEqual({ code, status, message });
  });

  test("has no row beyond these", () => {
    const rows = ROWS.map(({ code, status, message }) => [code, status, message]);
    expect(rows.sort()).toEqual([...TABLE].sort());
  });
});

describe("a refusal", () => {
  test("carries its row, its fields and its headers", () => {
    expect(refuse(ERRORS.unavailable, { retry_after: 1 }, { "Retry-After": "1" })).toEqual({
      refused: ERRORS.unavailable,
      fields: { retry_after: 1 },
      headers: { "Retry-After": "1" },
    });
  });

  test("is recognised by isRefusal, and nothing else is", () => {
    expect(isRefusal(refuse(ERRORS.notFound))).toBe(true);
    expect(isRefusal({ keyId: "key_1" })).toBe(false);
  });
});
