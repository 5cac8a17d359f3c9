import { describe, expect, test } from "bun:test";
import { answerPlayers, chooseResolution, countPoints } from "./answer-players.ts";
import type { Counts, Resolution } from "./counts.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Not the beginning of an hour. */
const NOW = 20_000 * DAY + 7 * HOUR + 33 * MINUTE + 1_234;
const ALL = { players: true, queue: true };

function makeCounts(at: number, changes: Partial<Counts> = {}): Counts {
  return {
    at,
    knownMs: MINUTE,
    playerMs: 6 * MINUTE,
    min: 5,
    max: 7,
    queueMax: 2,
    staffMax: 1,
    teamKnownMs: MINUTE,
    teamMs: { Police: MINUTE / 2 },
    ...changes,
  };
}

describe("chooseResolution", () => {
  test("is the finest with at most 1,000 points that is still kept where the period begins", () => {
    const choose = (fromAgo: number, length = fromAgo) =>
      chooseResolution({ from: NOW - fromAgo, to: NOW - fromAgo + length }, NOW);
    expect(choose(HOUR)).toBe("1m");
    expect(choose(16 * HOUR)).toBe("1m");
    expect(choose(17 * HOUR)).toBe("5m");
    expect(choose(DAY)).toBe("5m");
    expect(choose(7 * DAY)).toBe("1h");
    expect(choose(400 * DAY)).toBe("1d");
    expect(choose(7 * DAY, HOUR)).toBe("1m");
    expect(choose(7 * DAY + 1, HOUR)).toBe("5m");
    expect(choose(60 * DAY + 1, HOUR)).toBe("1h");
    expect(choose(730 * DAY + 1, HOUR)).toBe("1d");
  });

  test("a period that touches one point more counts it", () => {
    const whole = 20_000 * DAY;
    expect(countPoints({ from: whole, to: whole + 1_000 * MINUTE }, "1m")).toBe(1_000);
    expect(countPoints({ from: whole + 1, to: whole + 1_000 * MINUTE + 1 }, "1m")).toBe(1_001);
    expect(chooseResolution({ from: whole + 1, to: whole + 1_000 * MINUTE + 1 }, whole)).toBe("5m");
  });
});

describe("answerPlayers", () => {
  const from = 20_000 * DAY;
  const period = { from: from + 1, to: from + 4 * MINUTE + 1 };

  test("has a point for every time that the period touches, and null where nothing is known", () => {
    const counts = [
      makeCounts(from - MINUTE),
      makeCounts(from + MINUTE),
      makeCounts(from + 2 * MINUTE, { knownMs: 0, playerMs: 0, min: 0, max: 0 }),
      makeCounts(from + 5 * MINUTE),
    ];
    const { resolution, points } = answerPlayers(period, "1m", counts, ALL);
    expect(resolution).toBe("1m");
    expect(points.map(({ at, known }) => [at - from, known])).toEqual([
      [0, 0],
      [MINUTE, 1],
      [2 * MINUTE, 0],
      [3 * MINUTE, 0],
      [4 * MINUTE, 0],
    ]);
    const unknown = {
      known: 0,
      min: null,
      avg: null,
      max: null,
      queue_max: null,
      staff_max: null,
      teams: null,
    };
    expect(points[0]).toEqual({ at: from, ...unknown });
    expect(points[2]).toEqual({ at: from + 2 * MINUTE, ...unknown });
    expect(points[1]).toEqual({
      at: from + MINUTE,
      known: 1,
      min: 5,
      avg: 6,
      max: 7,
      queue_max: 2,
      staff_max: 1,
      teams: { Police: 0.5 },
    });
  });

  test("an empty server is known and zero", () => {
    const empty = makeCounts(from, { playerMs: 0, min: 0, max: 0, teamMs: {} });
    const [point] = answerPlayers({ from, to: from + 1 }, "1m", [empty], ALL).points;
    expect(point).toMatchObject({ known: 1, min: 0, avg: 0, max: 0, teams: {} });
  });

  test("teams are averages over the time in which they were known, and null when they never were", () => {
    const counts = [
      makeCounts(from, { teamKnownMs: 15_000, teamMs: { Police: 60_000 } }),
      makeCounts(from + MINUTE, { staffMax: null, teamKnownMs: 0, teamMs: {} }),
    ];
    const answer = (resolution: Resolution) =>
      answerPlayers({ from, to: from + 2 * MINUTE }, resolution, counts, ALL).points;
    expect(answer("1m").map(({ known, teams }) => [known, teams])).toEqual([
      [1, { Police: 4 }],
      [1, null],
    ]);
    expect(answer("5m")).toMatchObject([{ known: 0.4, avg: 6, teams: { Police: 4 } }]);
  });

  test("minutes that are not written yet become part of their point; averages are over the known time", () => {
    const counts = [
      makeCounts(from, { knownMs: 100_000, playerMs: 300_000 }),
      makeCounts(from + 3 * MINUTE, { knownMs: 50_000, playerMs: 500_000, min: 10, max: 10 }),
    ];
    const [point, ...others] = answerPlayers({ from, to: from + 1 }, "5m", counts, ALL).points;
    expect(others).toEqual([]);
    expect(point).toMatchObject({ at: from, known: 0.5, min: 5, avg: 5.33, max: 10 });
  });

  test("what a key may not see is not there at all, known or not", () => {
    const fields = (rights: typeof ALL) =>
      answerPlayers({ from, to: from + 2 * MINUTE }, "1m", [makeCounts(from)], rights).points.map((point) =>
        Object.keys(point).slice(5),
      );
    expect(fields(ALL)).toEqual([
      ["queue_max", "staff_max", "teams"],
      ["queue_max", "staff_max", "teams"],
    ]);
    expect(fields({ players: false, queue: true })).toEqual([["queue_max"], ["queue_max"]]);
    expect(fields({ players: true, queue: false })).toEqual([
      ["staff_max", "teams"],
      ["staff_max", "teams"],
    ]);
    expect(fields({ players: false, queue: false })).toEqual([[], []]);
  });
});
