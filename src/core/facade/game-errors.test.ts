import { describe, expect, test } from "bun:test";
import type { Command } from "../commands/command.ts";
import { ERRORS, refuse } from "../errors.ts";
import { MALFORMED_KEY, statusOf, toCommandAnswer, toGameError } from "./game-errors.ts";

const NOW = 1_800_000_000_500;

function upstream(code: number, headers?: Record<string, string>) {
  return refuse(ERRORS.gameApi, { upstream_code: code, upstream_message: "said" }, headers);
}

describe("a refusal in the game API's form", () => {
  test.each([
    ["missingToken", 403, 2000],
    ["invalidToken", 403, 2002],
    ["forbidden", 403, 9998],
    ["versionForbidden", 403, 9998],
    ["sectionForbidden", 403, 9998],
    ["missingCommand", 400, 3001],
    ["invalidJson", 400, 3001],
    ["invalidRequest", 400, 3001],
    ["payloadTooLarge", 400, 3001],
    ["unsupportedMediaType", 400, 3001],
    ["unavailable", 500, 1002],
    ["internal", 500, 1002],
  ] as const)("%s is %d with %d", (name, status, code) => {
    const error = toGameError(refuse(ERRORS[name]), null, NOW);
    expect(error).toEqual({ status, body: { code, message: expect.stringMatching(/\.$/) }, headers: {} });
  });

  test("a refusal that closes its connection still does: the rest of a body must not become a request", () => {
    const headers = { Connection: "close", "Retry-After": "1" };
    const large = refuse(ERRORS.payloadTooLarge, undefined, { ...headers, Allow: "GET" });
    expect(toGameError(large, null, NOW)).toMatchObject({ status: 400, headers });
    expect(toGameError(large, null, NOW).headers).not.toHaveProperty("Allow");
  });

  test("a key of the wrong form is 2001", () => {
    expect(toGameError(MALFORMED_KEY, null, NOW)).toMatchObject({ status: 403, body: { code: 2001 } });
  });

  test("a restricted resource names the reason", () => {
    const address = refuse(ERRORS.forbidden, { details: { reason: "address", seen: "192.0.2.1" } });
    expect(toGameError(address, null, NOW).body.message).toEndWith("(address: 192.0.2.1)");
    const sections = refuse(ERRORS.sectionForbidden, { details: { sections: ["Staff"] } });
    expect(toGameError(sections, null, NOW).body.message).toEndWith("(Staff)");
  });

  test.each([
    ["5016", refuse(ERRORS.rateLimited, { retry_after: 17 }, { "Retry-After": "17" }), NOW + 16_200, 17],
    ["5100", refuse(ERRORS.spamBlocked, { retry_after: 300 }, { "Retry-After": "300" }), null, 300],
    ["5015", refuse(ERRORS.queueFull, { retry_after: 5 }, { "Retry-After": "5" }), null, 5],
    ["a limit of the game API", upstream(4001, { "Retry-After": "3" }), NOW + 9_000, 3],
    ["a limit of the game API without a time", upstream(4001), NOW + 9_000, 5],
  ])("%s is 4001 with all headers of a limit, and nothing remains", (_, refusal, resetAt, seconds) => {
    const { status, body, headers } = toGameError(refusal, resetAt, NOW);
    expect(status).toBe(429);
    expect(body).toEqual({
      code: 4001,
      message: expect.any(String),
      retry_after: seconds,
      bucket: "server",
    });
    expect(headers).toEqual({
      "Retry-After": String(seconds),
      "X-RateLimit-Limit": "120",
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": String(Math.ceil((NOW + seconds * 1000) / 1000) - (resetAt === NOW + 16_200 ? 1 : 0)),
      "X-RateLimit-Bucket": "server",
    });
  });

  test("a block ends at the same second, whenever it is asked", () => {
    const blocked_until = Math.ceil(NOW / 1000) * 1000 + 7;
    const resets = [0, 400, 999].map((passed) => {
      const refusal = refuse(ERRORS.spamBlocked, { blocked_until, retry_after: 1 });
      return toGameError(refusal, null, NOW + passed).headers["X-RateLimit-Reset"];
    });
    expect(new Set(resets)).toEqual(new Set([String(Math.ceil(blocked_until / 1000))]));
  });

  test.each([
    [0, 500],
    [1001, 500],
    [1002, 500],
    [3001, 400],
    [3002, 422],
    [4000, 403],
    [4002, 403],
    [4003, 403],
    [9998, 403],
    [9999, 403],
    [7777, 400],
  ])("%d of the game API keeps its code, with %d", (code, status) => {
    const error = toGameError(upstream(code, { "Retry-After": "2" }), null, NOW);
    expect(error).toEqual({ status, body: { code, message: "said" }, headers: { "Retry-After": "2" } });
    expect(statusOf(code)).toBe(status);
  });

  test.each([2000, 2001, 2002, 2003, 2004])("%d of the game API is about our key, so clients never see it", (code) => {
    const error = toGameError(upstream(code), null, NOW);
    expect(error).toMatchObject({ status: 500, body: { code: 1002 } });
    expect(error.body.message).not.toContain("said");
  });
});

describe("the answer to a command", () => {
  const answer = (status: Command["status"], upstreamCode: number | null = null) => {
    const ended = { status, upstreamCode, upstreamMessage: upstreamCode === null ? null : "said" };
    return toCommandAnswer("cmd_1", ended as Command);
  };

  const SUCCESS = { message: "Success", commandId: "cmd_1" };

  test("is success when it is sent", () => {
    expect(answer("sent")).toEqual({ status: 200, body: SUCCESS });
  });

  test.each(["queued", "sending"] as const)("is success that says queued when it is %s", (status) => {
    expect(answer(status)).toEqual({ status: 200, body: { ...SUCCESS, queued: true } });
  });

  test("says queued when its state cannot be read: it was accepted, and nobody knows more", () => {
    expect(toCommandAnswer("cmd_1", undefined)).toEqual({ status: 200, body: { ...SUCCESS, queued: true } });
  });

  test.each([
    [3001, 400],
    [3002, 422],
    [4002, 403],
    [7777, 400],
  ])("refused with %d is %d with that code", (code, status) => {
    expect(answer("failed", code)).toEqual({ status, body: { code, message: "said" }, headers: {} });
  });

  test("refused because of our own key is 1002", () => {
    expect(answer("failed", 2002)).toMatchObject({ status: 500, body: { code: 1002 } });
  });

  test.each([
    ["unknown", null],
    ["unknown", 1001],
    ["failed", 1001],
    ["failed", 0],
    ["expired", null],
    ["cancelled", null],
  ] as const)("%s with %p has a status after which no client sends again", (status, code) => {
    expect(answer(status, code)).toMatchObject({ status: 422, body: { code: 1001, commandId: "cmd_1" } });
  });
});
