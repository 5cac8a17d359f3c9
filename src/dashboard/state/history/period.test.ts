import { expect, test } from "bun:test";
import { HOUR_MS } from "../../../core/durations.ts";
import {
  isOver,
  nameChoice,
  type Period,
  type PeriodProblem,
  parseMinute,
  resolvePeriod,
  toPart,
  writeDay,
  writeMinute,
} from "./period.ts";

const NOW = new Date(2026, 10, 16, 15, 30).getTime();
const dates = (first: string, last: string) => resolvePeriod({ name: "dates", first, last }, NOW);

test("a named period ends now, and today begins at midnight", () => {
  expect(resolvePeriod({ name: "today" }, NOW)).toEqual({ from: new Date(2026, 10, 16).getTime(), to: NOW });
  expect(resolvePeriod({ name: "week" }, NOW)).toEqual({ from: NOW - 7 * 24 * HOUR_MS, to: NOW });
});

test("dates are whole days, both inclusive, and never later than now", () => {
  expect(dates("2026-11-01", "2026-11-02")).toEqual({
    from: new Date(2026, 10, 1).getTime(),
    to: new Date(2026, 10, 3).getTime(),
  });
  expect(dates("2026-11-16", "2026-11-30")).toEqual({ from: new Date(2026, 10, 16).getTime(), to: NOW });
});

test("only dates that ended before today are over", () => {
  const isOverNow = (period: Period | PeriodProblem) => typeof period !== "string" && isOver(period, NOW);
  expect(isOverNow(dates("2026-11-01", "2026-11-15"))).toBe(true);
  expect(isOverNow(dates("2026-11-01", "2026-11-16"))).toBe(false);
  expect(isOverNow(resolvePeriod({ name: "week" }, NOW))).toBe(false);
});

test("dates that mean no period say why", () => {
  expect(dates("", "2026-11-02")).toBe("missing");
  expect(dates("2026-02-30", "2026-03-02")).toBe("missing");
  expect(dates("2026-11-02", "2026-11-01")).toBe("order");
  expect(dates("2026-11-17", "2026-11-18")).toBe("future");
  expect(dates("2025-01-01", "2026-11-01")).toBe("tooLong");
});

test("a day is written as it is read, and choices are told apart by their names", () => {
  expect(writeDay(NOW)).toBe("2026-11-16");
  expect(nameChoice({ name: "dates", first: "a", last: "b" })).not.toBe(
    nameChoice({ name: "dates", first: "a", last: "c" }),
  );
});

test("a part that was dragged is of whole minutes, ends now at the latest, and is not too short", () => {
  const at = (minutes: number, seconds = 0) => new Date(2026, 10, 16, 15, minutes, seconds).getTime();
  expect(toPart(at(3, 20), at(12, 10), NOW)).toEqual({ from: at(3), to: at(13) });
  expect(toPart(at(20, 40), at(45), NOW)).toEqual({ from: at(20), to: NOW });
  expect(toPart(at(3), at(6), NOW)).toBeUndefined();
  expect(toPart(at(28), at(50), NOW)).toBeUndefined();
  expect(nameChoice({ name: "part", from: 1, to: 2 })).not.toBe(nameChoice({ name: "part", from: 1, to: 3 }));
});

test("a minute is written as fields have it, and one that is none or to come is refused", () => {
  expect(writeMinute(NOW + 59_999)).toBe("2026-11-16T15:30");
  expect(parseMinute("2026-11-15T21:05", NOW)).toBe(new Date(2026, 10, 15, 21, 5).getTime());
  expect(parseMinute("2026-11-15T21:05:30", NOW)).toBe(new Date(2026, 10, 15, 21, 5).getTime());
  for (const text of ["", "2026-11-16", "2026-02-30T10:00", "2026-11-16T15:31"])
    expect(parseMinute(text, NOW)).toBeUndefined();
});
