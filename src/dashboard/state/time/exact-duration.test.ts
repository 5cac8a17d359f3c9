import { expect, test } from "bun:test";
import { splitDuration } from "./use-format.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function write(ms: number, round?: "down" | "up"): string {
  const { unit, ...parts } = splitDuration(ms, round);
  return `${unit} ${Object.values(parts).join(":")}`;
}

test("a duration is shown to the second for an hour, to the minute for a day, then to the hour", () => {
  expect(
    [-5, 0, 59_999, MINUTE, 4 * MINUTE + 5_999, HOUR - 1, HOUR, DAY - 1, DAY + 3 * HOUR].map((ms) => write(ms)),
  ).toEqual([
    "seconds 0",
    "seconds 0",
    "seconds 59",
    "minutes 1:00",
    "minutes 4:05",
    "minutes 59:59",
    "hours 1:00",
    "hours 23:59",
    "days 1:3",
  ]);
});

test("an upper bound is never shown as less than it is", () => {
  expect([1, 59_001, HOUR - 1, HOUR + 1, DAY - 1, DAY + 1].map((ms) => write(ms, "up"))).toEqual([
    "seconds 1",
    "minutes 1:00",
    "hours 1:00",
    "hours 1:01",
    "days 1:0",
    "days 1:1",
  ]);
});
