import { describe, expect, test } from "bun:test";
import { Pace } from "./pace.ts";
import type { ApiError, LimitLeft, Outcome } from "./request.ts";

const INTERVAL_MS = 5_000;
const NOW = 1_800_000_000_000;

function good(receivedAt: number, limit?: LimitLeft): Outcome<unknown> {
  return { ok: true, status: 200, value: {}, etag: null, ageMs: 0, receivedAt, limit };
}

function bad(receivedAt: number, error: Partial<ApiError>): Outcome<unknown> {
  const whole: ApiError = {
    code: 0,
    status: 0,
    message: "",
    upstreamCode: undefined,
    upstreamMessage: undefined,
    retryAfter: undefined,
    details: undefined,
    ...error,
  };
  return { ok: false, error: whole, receivedAt, limit: undefined };
}

describe("the pace of the page", () => {
  test("is the wished one while the limit is ample", () => {
    const pace = new Pace();
    pace.note(good(NOW, { limit: 120, remaining: 100, resetAt: NOW + 50_000 }));
    const delay = pace.delayMs(INTERVAL_MS, NOW);
    expect(delay).toBeGreaterThanOrEqual(INTERVAL_MS);
    expect(delay).toBeLessThanOrEqual(INTERVAL_MS * 1.1);
  });

  test("slows down when others use up the limit, and waits for the new window when it is nearly gone", () => {
    const pace = new Pace();
    pace.note(good(NOW, { limit: 120, remaining: 50, resetAt: NOW + 50_000 }));
    expect(pace.delayMs(INTERVAL_MS, NOW)).toBeGreaterThanOrEqual(2 * INTERVAL_MS);
    expect(pace.isSlowed(NOW)).toBe(true);
    pace.note(good(NOW, { limit: 120, remaining: 10, resetAt: NOW + 50_000 }));
    expect(pace.delayMs(INTERVAL_MS, NOW)).toBeGreaterThanOrEqual(50_000);
  });

  test("never spends more than half of the limit within a minute", () => {
    const pace = new Pace();
    let now = NOW;
    let asked = 0;
    while (now < NOW + 60_000) {
      if (pace.mayAsk(now)) {
        pace.note(good(now, { limit: 120, remaining: 119, resetAt: NOW + 60_000 }));
        asked++;
      }
      now += 100;
    }
    expect(asked).toBe(60);
    expect(pace.mayAsk(NOW + 60_000)).toBe(true);
  });

  test("asks nothing before the time that Gatehouse named", () => {
    const pace = new Pace();
    pace.note(bad(NOW, { code: 5100, status: 429, retryAfter: 300 }));
    expect(pace.mayAsk(NOW + 299_999)).toBe(false);
    expect(pace.delayMs(INTERVAL_MS, NOW)).toBeGreaterThanOrEqual(300_000);
    expect(pace.mayAsk(NOW + 300_000)).toBe(true);
  });

  test("backs off from a server that cannot be reached, up to a minute", () => {
    const pace = new Pace();
    for (let tries = 0; tries < 10; tries++) pace.note(bad(NOW + tries, {}));
    const delay = pace.delayMs(INTERVAL_MS, NOW + 10);
    expect(delay).toBeGreaterThanOrEqual(60_000);
    expect(delay).toBeLessThanOrEqual(61_000);
    pace.note(good(NOW + 20));
    expect(pace.delayMs(INTERVAL_MS, NOW + 20)).toBeLessThanOrEqual(INTERVAL_MS * 1.1);
  });
});
