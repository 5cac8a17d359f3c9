// A repeated event is logged once per interval, with the number of events in between.
import { expect, test } from "bun:test";
import { createThrottle } from "./throttle.ts";

test("the first event is logged, the next ones are counted until the interval is over", () => {
  const throttle = createThrottle(1_000);
  const logged: number[] = [];
  for (let i = 0; i < 500; i++) throttle(1_000_000 + i, (unlogged) => logged.push(unlogged));
  throttle(1_001_000, (unlogged) => logged.push(unlogged));
  expect(logged).toEqual([0, 499]);
});

test("a clock that is set back does not stop the logging", () => {
  const throttle = createThrottle(1_000);
  let logged = 0;
  throttle(5_000_000, () => logged++);
  throttle(1_000_000, () => logged++);
  expect(logged).toBe(2);
});
