import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { DatabaseClock } from "./database-clock.ts";

const NOW = 1_800_000_000_000;
const AHEAD_MS = 60_000;

beforeEach(() => setSystemTime(NOW));
afterEach(() => setSystemTime());

/** A clock that has measured a database whose clock is a minute ahead, with a reply that took 2 ms. */
function start() {
  const clock = new DatabaseClock();
  clock.learn(NOW + AHEAD_MS - 1, NOW - 2, NOW);
  return clock;
}

describe("the estimate of the database's clock", () => {
  test("is the local clock until something was measured", () => {
    expect(new DatabaseClock().now()).toBe(NOW);
  });

  test("stays good when this process reads replies late", () => {
    const clock = start();
    for (let i = 0; i < 5; i++) clock.learn(NOW + AHEAD_MS - 2_000, NOW - 2_000, NOW);
    expect(clock.now()).toBeWithin(NOW + AHEAD_MS - 10, NOW + AHEAD_MS + 10);
  });

  test("says how far the local clock is off for certain, however late a reply is read", () => {
    expect(new DatabaseClock().offsetMs).toBe(0);
    expect(start().offsetMs).toBe(1 - AHEAD_MS);
    const clock = new DatabaseClock();
    clock.learn(NOW - AHEAD_MS, NOW - 2, NOW);
    expect(clock.offsetMs).toBe(AHEAD_MS - 2);
    const late = new DatabaseClock();
    late.learn(NOW - 10_000, NOW - 20_000, NOW);
    expect(late.offsetMs).toBe(0);
  });

  test.each([-3_600_000, -50, 50, 3_600_000])("follows a clock that was set by %d ms at once", (stepMs) => {
    const clock = start();
    clock.learn(NOW + AHEAD_MS + stepMs, NOW - 2, NOW);
    expect(clock.now()).toBeWithin(NOW + AHEAD_MS + stepMs - 3, NOW + AHEAD_MS + stepMs + 3);
  });

  test("follows a clock that drifts", () => {
    const clock = start();
    for (let aheadMs = AHEAD_MS; aheadMs < AHEAD_MS + 500; aheadMs += 0.5) {
      clock.learn(Math.floor(NOW + aheadMs), NOW - 2, NOW);
      expect(clock.now()).toBeWithin(Math.floor(NOW + aheadMs) - 10, NOW + aheadMs + 10);
    }
  });
});
