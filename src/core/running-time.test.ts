import { expect, test } from "bun:test";
import { checkEveryMs, RunningTime } from "./running-time.ts";

test("the running time goes on with the clock while it is asked regularly, also somewhat late", () => {
  const running = new RunningTime(1_000, 100);
  for (let now = 1_100; now <= 6_000; now += 100) expect(running.at(now)).toBe(now - 1_000);
  expect(running.at(6_180)).toBe(5_180);
});

test("a time in which nobody could ask counts as two checks, however long it was", () => {
  const running = new RunningTime(0, 100);
  expect(running.at(3_600_000)).toBe(200);
  expect(running.at(3_600_100)).toBe(300);
});

test.each([1, 9, 10, 500, 5_000, 2 ** 31])("one such time does not end a deadline of %d ms by itself", (ms) => {
  const everyMs = checkEveryMs(ms);
  expect(everyMs).toBeWithin(1, 101);
  const ranMs = new RunningTime(0, everyMs).at(3_600_000);
  expect(ranMs).toBeLessThanOrEqual(Math.max(2, ms / 5));
});
