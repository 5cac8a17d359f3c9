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

  test("lets a reader ask inside a block every few seconds, within the share of the page", () => {
    const pace = new Pace();
    pace.note(bad(NOW, { code: 5100, status: 429, retryAfter: 300 }));
    expect(pace.mayInsist(NOW + 2_999)).toBe(false);
    expect(pace.mayInsist(NOW + 3_000)).toBe(true);
    pace.note(bad(NOW + 3_000, { code: 5100, status: 429, retryAfter: 297 }));
    expect(pace.mayInsist(NOW + 4_000)).toBe(false);
    expect(pace.mayAsk(NOW + 60_000)).toBe(false);
  });

  test("does not let a reader ask before a used up limit is back", () => {
    const pace = new Pace();
    pace.note(bad(NOW, { code: 5016, status: 429, retryAfter: 30 }));
    expect(pace.mayInsist(NOW + 29_999)).toBe(false);
    expect(pace.mayInsist(NOW + 30_000)).toBe(true);
  });

  test.each([
    ["a good answer", good(NOW + 10_000)],
    ["another refusal", bad(NOW + 10_000, { code: 5019, status: 400 })],
  ])("forgets the time of a block as soon as %s shows that it was lifted", (_, outcome) => {
    const pace = new Pace();
    pace.note(bad(NOW, { code: 5100, status: 429, retryAfter: 300 }));
    pace.note(bad(NOW + 5_000, {}));
    expect(pace.mayAsk(NOW + 6_000)).toBe(false);
    pace.note(outcome);
    expect(pace.mayAsk(NOW + 10_000)).toBe(true);
    expect(pace.delayMs(INTERVAL_MS, NOW + 10_000)).toBeLessThanOrEqual(INTERVAL_MS * 1.1);
  });

  test("tells once when Gatehouse is reached again, and when a block is over", () => {
    const pace = new Pace();
    let told = 0;
    const end = pace.onRecovery(() => told++);
    pace.note(good(NOW));
    pace.note(bad(NOW, {}));
    pace.note(bad(NOW, {}));
    expect(told).toBe(0);
    pace.note(good(NOW));
    pace.note(good(NOW));
    expect(told).toBe(1);
    pace.note(bad(NOW, { code: 5100, status: 429, retryAfter: 300 }));
    pace.note(bad(NOW, { code: 5100, status: 429, retryAfter: 300 }));
    expect(told).toBe(1);
    pace.note(good(NOW));
    expect(told).toBe(2);
    end();
    pace.note(bad(NOW, {}));
    pace.note(good(NOW));
    expect(told).toBe(2);
  });

  test("backs off from a server that cannot be reached, up to ten seconds", () => {
    const pace = new Pace();
    for (let tries = 0; tries < 10; tries++) pace.note(bad(NOW + tries, {}));
    const delay = pace.delayMs(INTERVAL_MS, NOW + 10);
    expect(delay).toBeGreaterThanOrEqual(10_000);
    expect(delay).toBeLessThanOrEqual(11_000);
    expect(pace.delayMs(30_000, NOW + 10)).toBeGreaterThanOrEqual(30_000);
    pace.note(good(NOW + 20));
    expect(pace.delayMs(INTERVAL_MS, NOW + 20)).toBeLessThanOrEqual(INTERVAL_MS * 1.1);
  });
});
