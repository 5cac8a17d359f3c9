import { describe, expect, test } from "bun:test";
import type { CountMemory, Counts } from "./counts.ts";
import { addCounts, listOpenMinutes } from "./join-counts.ts";

const MINUTE = 60_000;
const AT = 30_000_000 * MINUTE;

function makeCounts(changes: Partial<Counts> = {}): Counts {
  return {
    at: AT,
    knownMs: 1_000,
    playerMs: 5_000,
    min: 5,
    max: 5,
    queueMax: null,
    staffMax: null,
    teamKnownMs: 0,
    teamMs: {},
    ...changes,
  };
}

describe("addCounts", () => {
  test("adds sums, keeps the extremes, and what one does not know comes from the other", () => {
    const a = makeCounts({ min: 2, max: 5, queueMax: 3, teamKnownMs: 10, teamMs: { Police: 10 } });
    const teams = { teamKnownMs: 5, teamMs: { Police: 5, Fire: 7 } };
    const b = makeCounts({ at: AT + 1, min: 4, max: 9, staffMax: 1, ...teams });
    expect(addCounts(a, b)).toEqual({
      at: AT,
      knownMs: 2_000,
      playerMs: 10_000,
      min: 2,
      max: 9,
      queueMax: 3,
      staffMax: 1,
      teamKnownMs: 15,
      teamMs: { Police: 15, Fire: 7 },
    });
  });

  test("a team may have any name", () => {
    const teamMs = JSON.parse('{"__proto__": 3, "constructor": 4}') as Record<string, number>;
    const { teamMs: sum } = addCounts(makeCounts(), addCounts(makeCounts({ teamMs }), makeCounts({ teamMs })));
    expect(JSON.stringify(sum)).toBe('{"__proto__":6,"constructor":8}');
  });
});

describe("listOpenMinutes", () => {
  const now = { players: 4, queue: 1, staff: null, teams: { Police: 2 } };
  const last = { at: AT + 50_000, until: AT + 110_000, now };

  test("the last reading is valid into the next minute, not longer than it may", () => {
    const minute = makeCounts({ knownMs: 20_000, playerMs: 20_000, min: 1, max: 1 });
    const memory: CountMemory = { minute, last };
    expect(listOpenMinutes(memory, AT + 80_000)).toEqual([
      {
        at: AT,
        knownMs: 30_000,
        playerMs: 60_000,
        min: 1,
        max: 4,
        queueMax: 1,
        staffMax: null,
        teamKnownMs: 10_000,
        teamMs: { Police: 20_000 },
      },
      {
        at: AT + MINUTE,
        knownMs: 20_000,
        playerMs: 80_000,
        min: 4,
        max: 4,
        queueMax: 1,
        staffMax: null,
        teamKnownMs: 20_000,
        teamMs: { Police: 40_000 },
      },
    ]);
    const knownMs = (at: number) => listOpenMinutes(memory, at).map((one) => one.knownMs);
    expect(knownMs(AT + 9 * MINUTE)).toEqual([30_000, 50_000]);
    // A clock that was set back adds no more than the moment of the reading.
    expect(knownMs(AT)).toEqual([20_001]);
  });

  test("without a reading there is nothing; a reading is there at once", () => {
    expect(listOpenMinutes({ minute: null, last: null }, AT)).toEqual([]);
    expect(listOpenMinutes({ minute: null, last }, last.at)).toMatchObject([{ at: AT, knownMs: 1, max: 4 }]);
  });
});
