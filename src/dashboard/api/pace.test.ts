import { describe, expect, test } from "bun:test";
import { ERRORS } from "../../core/errors.ts";
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

function describe503(): ApiError {
  const failure = bad(NOW, { ...ERRORS.unavailable, retryAfter: 30 });
  if (failure.ok) throw new Error("not a failure");
  return failure.error;
}

describe("the pace of the page", () => {
  test("is the requested interval while enough of the limit is left", () => {
    const pace = new Pace();
    pace.observe(good(NOW, { limit: 120, remaining: 100, resetAt: NOW + 50_000 }));
    const delay = pace.delayMs(INTERVAL_MS, NOW);
    expect(delay).toBeGreaterThanOrEqual(INTERVAL_MS);
    expect(delay).toBeLessThanOrEqual(INTERVAL_MS * 1.1);
  });

  test("slows down when others use up the limit, and waits for the next window when it is nearly used up", () => {
    const pace = new Pace();
    pace.observe(good(NOW, { limit: 120, remaining: 50, resetAt: NOW + 50_000 }));
    expect(pace.delayMs(INTERVAL_MS, NOW)).toBeGreaterThanOrEqual(2 * INTERVAL_MS);
    expect(pace.isSlowed(NOW)).toBe(true);
    pace.observe(good(NOW, { limit: 120, remaining: 10, resetAt: NOW + 50_000 }));
    expect(pace.delayMs(INTERVAL_MS, NOW)).toBeGreaterThanOrEqual(50_000);
  });

  test("never uses more than half of the limit within a minute", () => {
    const pace = new Pace();
    let now = NOW;
    let sent = 0;
    while (now < NOW + 60_000) {
      if (pace.mayPoll(now)) {
        pace.observe(good(now, { limit: 120, remaining: 119, resetAt: NOW + 60_000 }));
        sent++;
      }
      now += 100;
    }
    expect(sent).toBe(60);
    expect(pace.mayPoll(NOW + 60_000)).toBe(true);
  });

  test("allows no poll before a Retry-After is over", () => {
    const pace = new Pace();
    pace.observe(bad(NOW, { code: 5100, status: 429, retryAfter: 300 }));
    expect(pace.mayPoll(NOW + 299_999)).toBe(false);
    expect(pace.delayMs(INTERVAL_MS, NOW)).toBeGreaterThanOrEqual(300_000);
    expect(pace.mayPoll(NOW + 300_000)).toBe(true);
  });

  test("lets the user refresh every few seconds during a block, within the share of the page", () => {
    const pace = new Pace();
    pace.observe(bad(NOW, { code: 5100, status: 429, retryAfter: 300 }));
    expect(pace.mayRefresh(NOW + 2_999)).toBe(false);
    expect(pace.mayRefresh(NOW + 3_000)).toBe(true);
    pace.observe(bad(NOW + 3_000, { code: 5100, status: 429, retryAfter: 297 }));
    expect(pace.mayRefresh(NOW + 4_000)).toBe(false);
    expect(pace.mayPoll(NOW + 60_000)).toBe(false);
  });

  test("does not let the user refresh before a used up limit is reset", () => {
    const pace = new Pace();
    pace.observe(bad(NOW, { code: 5016, status: 429, retryAfter: 30 }));
    expect(pace.mayRefresh(NOW + 29_999)).toBe(false);
    expect(pace.mayRefresh(NOW + 30_000)).toBe(true);
  });

  test.each([
    ["a good answer", good(NOW + 10_000)],
    ["another refusal", bad(NOW + 10_000, { code: 5019, status: 400 })],
  ])("drops the Retry-After of a block as soon as %s shows that the block was lifted", (_, outcome) => {
    const pace = new Pace();
    pace.observe(bad(NOW, { code: 5100, status: 429, retryAfter: 300 }));
    pace.observe(bad(NOW + 5_000, {}));
    expect(pace.mayPoll(NOW + 6_000)).toBe(false);
    pace.observe(outcome);
    expect(pace.mayPoll(NOW + 10_000)).toBe(true);
    expect(pace.delayMs(INTERVAL_MS, NOW + 10_000)).toBeLessThanOrEqual(INTERVAL_MS * 1.1);
  });

  test("calls the listener once when Gatehouse is reachable again, and when a block is over", () => {
    const pace = new Pace();
    let calls = 0;
    const remove = pace.onRecovery(() => calls++);
    pace.observe(good(NOW));
    pace.observe(bad(NOW, {}));
    pace.observe(bad(NOW, {}));
    expect(calls).toBe(0);
    pace.observe(good(NOW));
    pace.observe(good(NOW));
    expect(calls).toBe(1);
    pace.observe(bad(NOW, { code: 5100, status: 429, retryAfter: 300 }));
    pace.observe(bad(NOW, { code: 5100, status: 429, retryAfter: 300 }));
    expect(calls).toBe(1);
    pace.observe(good(NOW));
    expect(calls).toBe(2);
    remove();
    pace.observe(bad(NOW, {}));
    pace.observe(good(NOW));
    expect(calls).toBe(2);
  });

  test("backs off up to ten seconds while Gatehouse is unreachable", () => {
    const pace = new Pace();
    for (let tries = 0; tries < 10; tries++) pace.observe(bad(NOW + tries, {}));
    const delay = pace.delayMs(INTERVAL_MS, NOW + 10);
    expect(delay).toBeGreaterThanOrEqual(10_000);
    expect(delay).toBeLessThanOrEqual(11_000);
    expect(pace.delayMs(30_000, NOW + 10)).toBeGreaterThanOrEqual(30_000);
    pace.observe(good(NOW + 20));
    expect(pace.delayMs(INTERVAL_MS, NOW + 20)).toBeLessThanOrEqual(INTERVAL_MS * 1.1);
  });

  test("lets an event cause a request after a second, and later on a busy server", () => {
    const pace = new Pace();
    pace.observe(good(NOW, { limit: 120, remaining: 119, resetAt: NOW + 60_000 }));
    expect(pace.eventSpacingMs(INTERVAL_MS, NOW)).toBe(1_000);
    for (let count = 0; count < 30; count++) pace.observe(good(NOW));
    expect(pace.eventSpacingMs(INTERVAL_MS, NOW)).toBe(2_500);
    pace.observe(good(NOW, { limit: 120, remaining: 50, resetAt: NOW + 60_000 }));
    expect(pace.eventSpacingMs(INTERVAL_MS, NOW)).toBe(INTERVAL_MS);
  });

  test("counts the opening of a stream, but is not slowed by a stream that is not to be had", () => {
    const pace = new Pace();
    const limit = { limit: 120, remaining: 90, resetAt: NOW + 60_000 };
    pace.observeStream({ ok: false, error: describe503(), receivedAt: NOW, limit });
    expect(pace.limit).toEqual(limit);
    expect(pace.mayPoll(NOW)).toBe(true);
    const blocked = bad(NOW, { code: ERRORS.spamBlocked.code, status: 429, retryAfter: 300 });
    if (!blocked.ok) pace.observeStream(blocked);
    expect(pace.mayPoll(NOW)).toBe(false);
  });
});
