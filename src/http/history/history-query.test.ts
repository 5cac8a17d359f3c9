import { describe, expect, test } from "bun:test";
import { isRefusal } from "../../core/errors.ts";
import {
  parseCountsQuery,
  parsePeaksQuery,
  parseRankingQuery,
  parseSessionsQuery,
  writePlace,
  writeSessionPlace,
} from "./history-query.ts";

const DAY = 86_400_000;
const NOW = 20_000 * DAY + 1_234;

const counts = (query: string) => parseCountsQuery(new URLSearchParams(query), NOW);
const peaks = (query: string) => parsePeaksQuery(new URLSearchParams(query), NOW);
/** A cursor is the text that it was made from. */
const sessions = (query: string) => parseSessionsQuery(new URLSearchParams(query), NOW, (cursor) => cursor);
const ranking = (query: string) => parseRankingQuery(new URLSearchParams(query), NOW, (cursor) => cursor);

function faultsOf(parsed: object): unknown {
  return isRefusal(parsed) ? parsed.fields?.details : undefined;
}

describe("the period", () => {
  test("is the last 24 hours by default, or a day before its end, or up to now", () => {
    expect(counts("")).toMatchObject({ period: { from: NOW - DAY, to: NOW } });
    expect(counts("to=1000000000000")).toMatchObject({ period: { from: 1e12 - DAY, to: 1e12 } });
    expect(counts(`from=${NOW - 5}`)).toMatchObject({ period: { from: NOW - 5, to: NOW } });
    expect(counts("to=5")).toMatchObject({ period: { from: 0, to: 5 } });
    expect(counts(`from=${NOW}&to=${NOW + DAY}`)).toMatchObject({ period: { from: NOW, to: NOW + DAY } });
  });

  test("begins before it ends, and has at most 400 days", () => {
    expect(faultsOf(counts("from=5&to=5"))).toEqual({ from: "must be before to" });
    expect(faultsOf(counts(`from=${NOW}`))).toEqual({ from: "must be before now" });
    expect(counts(`from=${NOW - 400 * DAY}`)).toMatchObject({ resolution: "1d" });
    expect(faultsOf(counts(`from=${NOW - 400 * DAY - 1}`))).toEqual({ from: "must be at most 400 days before to" });
  });

  test("is told in epoch milliseconds, each end once", () => {
    for (const text of ["", "x", "-1", "1.5", "1e3", "2026-01-01", "9999999999999999"])
      expect(faultsOf(counts(`from=${text}`))).toEqual({ from: "must be a time in epoch milliseconds" });
    expect(faultsOf(sessions("from=1&from=2&to=x"))).toEqual({
      from: "is given twice",
      to: "must be a time in epoch milliseconds",
    });
  });
});

describe("resolution and time zone", () => {
  test("a named resolution is taken, unless it would give too many points", () => {
    expect(counts("resolution=1h")).toMatchObject({ resolution: "1h" });
    expect(counts("")).toMatchObject({ resolution: "5m" });
    expect(faultsOf(counts("resolution=1m"))).toEqual({
      resolution: "would give more than 1000 points; leave it out, or ask for less time",
    });
    expect(faultsOf(counts("resolution=2h"))).toEqual({ resolution: "must be one of 1m, 5m, 1h, 1d" });
    expect(faultsOf(counts("resolution=1h&resolution=1h"))).toEqual({ resolution: "is given twice" });
  });

  test("an unknown zone is refused", () => {
    expect(peaks("")).toMatchObject({ zone: { name: "UTC" } });
    expect(peaks("tz=Europe/Berlin")).toMatchObject({ zone: { name: "Europe/Berlin" } });
    expect(peaks("tz=%2B05:30")).toMatchObject({ zone: { name: "+05:30" } });
    for (const query of ["tz=", "tz=Nowhere", "tz=%00", "tz=UTC&tz=UTC"])
      expect(Object.keys(faultsOf(peaks(query)) ?? {})).toEqual(["tz"]);
  });
});

describe("pages", () => {
  test("every fault is named at once", () => {
    expect(Object.keys(faultsOf(sessions("limit=501&cursor=x&player=A&from=x")) ?? {}).toSorted()).toEqual([
      "cursor",
      "from",
      "limit",
      "player",
    ]);
    for (const limit of ["0", "501", "-1", "x", "1000", ""])
      expect(Object.keys(faultsOf(ranking(`limit=${limit}`)) ?? {})).toEqual(["limit"]);
    expect(ranking("limit=500")).toMatchObject({ limit: 500, place: undefined });
    expect(sessions("player=42")).toMatchObject({ limit: 100, player: "42" });
  });

  test("a cursor knows its place and its period, also when the query says another", () => {
    const period = { from: 5, to: 9 };
    for (const place of [
      { joinedAt: 7, number: 3, player: "54" },
      { joinedAt: 7, number: undefined, player: "54" },
    ]) {
      const cursor = encodeURIComponent(writePlace(period, writeSessionPlace(place)));
      expect(sessions(`cursor=${cursor}&from=100&to=200`)).toMatchObject({ period, place });
    }
    const cursor = encodeURIComponent(writePlace(period, "200"));
    expect(ranking(`cursor=${cursor}`)).toMatchObject({ period, place: 200 });
    for (const wrong of ["", "x", "5 9", "5 9 x", "5 9 1 2", "a 9 1"])
      expect(Object.keys(faultsOf(ranking(`cursor=${encodeURIComponent(wrong)}`)) ?? {})).toEqual(["cursor"]);
    expect(Object.keys(faultsOf(ranking(`cursor=${cursor}&cursor=${cursor}`)) ?? {})).toEqual(["cursor"]);
  });
});
