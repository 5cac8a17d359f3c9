import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { RedisClock } from "./redis-clock.ts";

const NOW = 1_800_000_000_000;
const REPLY_DEADLINE_MS = 550;
/** Of a script that is sent at NOW, when Redis's clock is known exactly. */
const SCRIPT_DEADLINE_MS = 450;

beforeEach(() => setSystemTime(NOW));
afterEach(() => setSystemTime());

/** A clock that has measured a Redis whose clock is a minute ahead, with a reply that took 2 ms. */
function start() {
  const clock = new RedisClock(REPLY_DEADLINE_MS, undefined);
  clock.learn(NOW + 60_000 - 1, NOW - 2, NOW);
  return clock;
}

/** How long after Redis's time at NOW a script may act. */
const leftMs = (clock: RedisClock, aheadMs = 60_000) => Number(clock.times()[1]) - (NOW + aheadMs);

describe("the estimate of Redis's clock", () => {
  test("stays good when this process reads replies late, so that its scripts are not too late", () => {
    const clock = start();
    for (let i = 0; i < 5; i++) clock.learn(NOW + 60_000 - 2_000, NOW - 2_000, NOW);
    expect(leftMs(clock)).toBeWithin(SCRIPT_DEADLINE_MS - 10, SCRIPT_DEADLINE_MS + 1);
    expect(clock.now()).toBeWithin(NOW + 60_000 - 10, NOW + 60_000 + 10);
  });

  test("is a safe one after the first reply, however late it was read", () => {
    const clock = new RedisClock(REPLY_DEADLINE_MS, undefined);
    clock.learn(NOW + 60_000 - 300, NOW - 300, NOW);
    expect(leftMs(clock)).toBe(SCRIPT_DEADLINE_MS - 300);
    clock.learn(NOW + 60_000, NOW - 1, NOW);
    expect(leftMs(clock)).toBe(SCRIPT_DEADLINE_MS);
  });

  test.each([-3_600_000, -50, 50, 3_600_000])("follows a clock that was set by %d ms at once", (stepMs) => {
    const clock = start();
    clock.learn(NOW + 60_000 + stepMs, NOW - 2, NOW);
    expect(leftMs(clock, 60_000 + stepMs)).toBe(SCRIPT_DEADLINE_MS);
  });

  test("follows a clock that drifts", () => {
    const clock = start();
    for (let aheadMs = 60_000; aheadMs < 60_500; aheadMs += 0.5) {
      clock.learn(Math.floor(NOW + aheadMs), NOW - 2, NOW);
      expect(leftMs(clock, aheadMs)).toBeWithin(SCRIPT_DEADLINE_MS - 10, SCRIPT_DEADLINE_MS + 1);
    }
  });
});
