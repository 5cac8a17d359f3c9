// Parsing a refusal of the game API: its code, its message, and when to retry.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseFailure, parseLimitHint } from "./parse-failure.ts";

const NOW = 1_800_000_000_000;

describe("the three body forms", () => {
  test("{code, message}", () => {
    const text = '{"code":2002,"message":"Invalid or expired server key"}';
    expect(parseFailure(403, text)).toEqual({
      code: 2002,
      message: "Invalid or expired server key",
      isRateLimit: false,
    });
  });
  test("{error, code}", () => {
    expect(parseFailure(422, '{"error":"Server is offline","code":3002}')).toEqual({
      code: 3002,
      message: "Server is offline",
      isRateLimit: false,
    });
  });
  test("{message, commandId}", () => {
    expect(parseFailure(500, '{"message":"Something broke","commandId":"c1"}')).toEqual({
      code: 0,
      message: "Something broke",
      isRateLimit: false,
    });
  });
  test.each([0, 1001, 1002, 2000, 2001, 2002, 2003, 2004, 3001, 3002, 4000, 4001, 4002, 4003, 9998, 9999])(
    "code %p is reported as it is",
    (code) => {
      expect(parseFailure(400, JSON.stringify({ code, message: "m" })).code).toBe(code);
    },
  );
});

describe("an answer without a code", () => {
  test.each([
    ["a body without one", '{"message":"Too many requests"}'],
    ["an empty body", ""],
    ["HTML", "<html>429</html>"],
    ["an array", "[4001]"],
    ["null", "null"],
  ])("is 4001 when its status is 429: %s", (_, text) => {
    expect(parseFailure(429, text)).toMatchObject({ code: 4001, isRateLimit: true });
  });

  test.each(["", "<html>", "[]", "null", '"x"', "{", '{"message":"m"}'])("is 0 for any other status: %p", (text) => {
    expect(parseFailure(502, text).code).toBe(0);
  });

  test.each(["1.5", "-1", "1e9", '"2002"', "null", "true", "{}", "[2002]", "1e400"])(
    "a code that is %s is no code",
    (code) => {
      expect(parseFailure(500, `{"code":${code},"message":"m"}`)).toEqual({
        code: 0,
        message: "m",
        isRateLimit: false,
      });
    },
  );

  test.each(["", "<html>", "[]", '{"code":1001}', '{"message":""}', '{"message":{"x":1}}', '{"message":7}'])(
    "a plain sentence stands in for a message that is not there: %p",
    (text) => {
      expect(parseFailure(500, text).message).toMatch(/^[A-Z].+\.$/);
    },
  );
});

const hint = (headers: Record<string, string>, text = "") => parseLimitHint(new Headers(headers), text, NOW);

describe("when to come back", () => {
  test("Retry-After in seconds", () => {
    expect(hint({ "Retry-After": "7" }).retryAfterMs).toBe(7_000);
    expect(hint({ "retry-after": "0.25" }).retryAfterMs).toBe(250);
  });
  test("of two Retry-After headers the longer one", () => {
    expect(hint({ "Retry-After": "7, 9" }).retryAfterMs).toBe(9_000);
    expect(hint({ "Retry-After": "3600, 3600" }).retryAfterMs).toBe(3_600_000);
    expect(hint({ "Retry-After": "7, soon" }).retryAfterMs).toBeNull();
  });
  test("Retry-After as an HTTP date", () => {
    expect(hint({ "Retry-After": new Date(NOW + 90_000).toUTCString() }).retryAfterMs).toBe(90_000);
  });
  test("an HTTP date that is past is as none, never a negative time", () => {
    expect(hint({ "Retry-After": new Date(NOW - 90_000).toUTCString() }).retryAfterMs).toBe(null);
  });
  test("Retry-After comes before the body's retry_after", () => {
    expect(hint({ "Retry-After": "7" }, '{"retry_after":3}').retryAfterMs).toBe(7_000);
  });
  test("the body's retry_after, in seconds and fractions of them", () => {
    expect(hint({}, '{"retry_after":3}').retryAfterMs).toBe(3_000);
    expect(hint({}, '{"retry_after":0.7}').retryAfterMs).toBe(700);
  });
  test.each(["soon", "", "-5", "abc123", "0", new Date(NOW - 90_000).toUTCString()])(
    "a Retry-After of %p is as none: the body's time counts",
    (value) => {
      expect(hint({ "Retry-After": value }, '{"retry_after":3}').retryAfterMs).toBe(3_000);
    },
  );
  test.each(["-1", "0", "null", '"soon"', "{}", "true"])("a retry_after of %s in the body is as none", (value) => {
    expect(hint({}, `{"retry_after":${value}}`).retryAfterMs).toBeNull();
  });
  test("a missing header is null", () => {
    expect(hint({}, "<html>")).toEqual({ limit: null, remaining: null, resetAt: null, retryAfterMs: null });
  });
});

describe("the limit", () => {
  test("X-RateLimit-Limit, -Remaining and -Reset, which is in epoch seconds", () => {
    const headers = {
      "X-RateLimit-Limit": "35",
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": "1800000042",
    };
    expect(hint(headers)).toEqual({
      limit: 35,
      remaining: 0,
      resetAt: 1_800_000_042_000,
      retryAfterMs: null,
    });
  });
  test.each(["", "many", "-1", "NaN", "Infinity", "1e3x", "35, 35"])("a header of %p says nothing", (value) => {
    expect(hint({ "X-RateLimit-Limit": value, "X-RateLimit-Remaining": value, "X-RateLimit-Reset": value })).toEqual({
      limit: null,
      remaining: null,
      resetAt: null,
      retryAfterMs: null,
    });
  });
});

test("any body and any headers are read without throwing, into whole codes and times that are not negative", () => {
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({ code: fc.jsonValue(), message: fc.jsonValue(), retry_after: fc.jsonValue() })
      .map((body) => JSON.stringify(body)),
  );
  const header = fc.stringMatching(/^[ -~]{0,30}$/);
  fc.assert(
    fc.property(fc.integer({ min: 201, max: 599 }), text, header, (status, body, value) => {
      const { code, message } = parseFailure(status, body);
      expect(Number.isInteger(code) && code >= 0).toBe(true);
      expect(message.length).toBeGreaterThan(0);
      const { retryAfterMs } = hint({ "Retry-After": value }, body);
      expect(retryAfterMs === null || retryAfterMs >= 0).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

describe("a game API whose clock differs from ours", () => {
  const hintOf = (dateAheadMs: number) => {
    const date = new Date(NOW + dateAheadMs).toUTCString();
    const reset = String((NOW + dateAheadMs) / 1000 + 40);
    return parseLimitHint(new Headers({ date, "x-ratelimit-reset": reset }), "", NOW).resetAt;
  };

  test.each([3_600_000, -3_600_000, 86_400_000])("by %p ms: its times are read by its own clock", (aheadMs) => {
    expect(hintOf(aheadMs)).toBe(NOW + 40_000);
  });

  test("by a second or two: its times are taken as they are", () => {
    expect(hintOf(2_000)).toBe(NOW + 42_000);
  });
});
