import { expect, test } from "bun:test";
import { FakeTimers } from "../../../../test/fake-timers.ts";
import { Throttle } from "./throttle.ts";

test("a throttle runs at once, then at most once within its time, and forgets nothing", () => {
  const timers = new FakeTimers();
  const runs: number[] = [];
  const throttle = new Throttle(
    () => runs.push(timers.now),
    () => 1_000,
    timers.set,
  );
  throttle.ask();
  timers.advance(300);
  throttle.ask();
  throttle.ask();
  timers.advance(5_000);
  expect(runs).toEqual([0, 1_000]);
  throttle.ask();
  expect(runs).toEqual([0, 1_000, 5_300]);
});

test("an action may ask for itself again, and a cancelled throttle does nothing more", () => {
  const timers = new FakeTimers();
  let runs = 0;
  const throttle = new Throttle(
    () => {
      runs++;
      throttle.ask();
    },
    () => 1_000,
    timers.set,
  );
  throttle.ask();
  expect(runs).toBe(1);
  timers.advance(2_000);
  expect(runs).toBe(3);
  throttle.cancel();
  timers.advance(5_000);
  expect(runs).toBe(3);
});
