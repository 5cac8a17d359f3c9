import { describe, expect, test } from "bun:test";
import { HOUR_MS } from "../../core/durations.ts";
import {
  formatMoment,
  formatRelativeTime,
  formatShortTime,
  parseDuration,
  parseMoment,
  parsePastMoment,
} from "./times.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");

describe("a duration", () => {
  test.each([
    ["45s", 45_000],
    ["90m", 90 * 60_000],
    ["12h", 12 * HOUR_MS],
    ["30d", 30 * 24 * HOUR_MS],
    [" 2w ", 14 * 24 * HOUR_MS],
    ["0s", 0],
  ])("%p is understood", (text, durationMs) => {
    expect(parseDuration(text)).toBe(durationMs);
  });

  test.each(["", "d", "30", "-1d", "1.5h", "1y", "1 d", "1d12h", "9999999999d", "30D"])("%p is none", (text) =>
    expect(parseDuration(text)).toBeUndefined(),
  );
});

describe("a moment", () => {
  test("a duration counts from now", () => {
    expect(parseMoment("12h", NOW)).toBe(NOW + 12 * HOUR_MS);
  });

  test("epoch milliseconds are taken as they are", () => {
    expect(parseMoment("1800000000000", NOW)).toBe(1_800_000_000_000);
  });

  test("a date with a zone means that zone", () => {
    expect(parseMoment("2027-01-01T00:00:00Z", NOW)).toBe(Date.UTC(2027, 0, 1));
    expect(parseMoment("2027-01-01T02:00+02:00", NOW)).toBe(Date.UTC(2027, 0, 1));
    expect(parseMoment("2027-01-01 02:00+0200", NOW)).toBe(Date.UTC(2027, 0, 1));
  });

  test("a date without a zone is local, a day begins at its midnight", () => {
    expect(parseMoment("2027-01-01", NOW)).toBe(new Date(2027, 0, 1).getTime());
    expect(parseMoment("2027-01-01 18:30", NOW)).toBe(new Date(2027, 0, 1, 18, 30).getTime());
  });

  test.each([
    "",
    "tomorrow",
    "2027",
    "2027-13-01",
    "2027-02-30",
    "2027-01-00",
    "2027-01-01T25:00",
    "01.02.2027",
    "99999999999999999",
    "9999999999999999",
    "Jan 1 2027",
  ])("%p is none", (text) => expect(parseMoment(text, NOW)).toBeUndefined());

  test("a formatted time can be parsed again", () => {
    expect(parseMoment(formatMoment(NOW), NOW)).toBe(NOW);
  });

  test("a formatted time has its zone", () => {
    expect(formatMoment(NOW)).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/);
  });

  test.each([
    [0, "now"],
    [-1_000, "1s ago"],
    [80_000, "in 1m"],
    [30 * 24 * HOUR_MS, "in 30d"],
    [-5 * HOUR_MS, "5h ago"],
  ])("in a table, %p ms from now is %p", (distanceMs, words) => {
    expect(formatShortTime(NOW + distanceMs, NOW)).toBe(words);
  });

  test.each([
    [0, "now"],
    [-500, "now"],
    [-1_000, "1 second ago"],
    [80_000, "in 1 minute"],
    [30 * 24 * HOUR_MS - 5, "in 30 days"],
    [-5 * HOUR_MS, "5 hours ago"],
    [30 * HOUR_MS, "in 30 hours"],
    [50 * HOUR_MS, "in 2 days"],
    [-400 * 24 * HOUR_MS, "400 days ago"],
  ])("%p ms from now is %p", (distanceMs, words) => {
    expect(formatRelativeTime(NOW + distanceMs, NOW)).toBe(words);
  });
});

test("a time in the past: a duration is before now", () => {
  const now = 1_800_000_000_000;
  expect(parsePastMoment("7d", now)).toBe(now - 7 * 86_400_000);
  expect(parsePastMoment("now", now)).toBe(now);
  expect(parsePastMoment("2026-11-15T00:00Z", now)).toBe(Date.parse("2026-11-15T00:00Z"));
  expect(parsePastMoment("yesterday", now)).toBeUndefined();
});
