import { describe, expect, test } from "bun:test";
import { ERRORS } from "../../../core/errors.ts";
import { type ApiError, UNREACHABLE } from "../../api/request.ts";
import { backoffMs, refusalBackoffMs } from "./live-stream.ts";

const least = () => 0;
const most = () => 1;

function refusal(error: { readonly code: number; readonly status: number }, retryAfter?: number): ApiError {
  return { ...error, retryAfter } as ApiError;
}

describe("the backoff of a stream", () => {
  test("begins short, doubles, and ends at half a minute", () => {
    const longest = [1, 2, 3, 4, 5, 6, 100].map((failures) => backoffMs(failures, most));
    expect(longest).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  test("has jitter, so that pages do not come back together", () => {
    expect(backoffMs(3, least)).toBe(4_000);
    expect(backoffMs(3, () => 0.5)).toBe(6_000);
  });

  test("tries an outage again soon, and too many streams seldom", () => {
    expect(refusalBackoffMs(refusal({ code: UNREACHABLE, status: 0 }), 1, most)).toBe(2_000);
    expect(refusalBackoffMs(refusal(ERRORS.unavailable), 2, most)).toBe(4_000);
    expect(refusalBackoffMs(refusal(ERRORS.tooManyStreams), 1, most)).toBe(60_000);
    expect(refusalBackoffMs(refusal(ERRORS.forbidden), 1, most)).toBe(60_000);
  });

  test("waits as long as Gatehouse says", () => {
    expect(refusalBackoffMs(refusal(ERRORS.unavailable, 25), 1, least)).toBe(25_000);
    expect(refusalBackoffMs(refusal(ERRORS.spamBlocked, 300), 1, least)).toBe(300_000);
  });

  test("has no end where there is no stream: without an archive, and for a key that does not work", () => {
    for (const error of [ERRORS.notConfigured, ERRORS.invalidToken, ERRORS.missingToken]) {
      expect(refusalBackoffMs(refusal(error), 1, least)).toBeUndefined();
    }
  });
});
