import { describe, expect, test } from "bun:test";
import { repeat } from "../../../test/long.ts";
import type { StaffSum } from "../ports/history.ts";
import type { CurrentSession } from "./answer-sessions.ts";
import { answerStaff, findMedianBounds, listStaffNow } from "./answer-staff.ts";
import { NO_KINDS } from "./command-kinds.ts";

const AT = 1_800_000_000_000;
const PERIOD = { from: AT, to: AT + 100_000 };

function makeMember(player: string, ms: number, changes: Partial<StaffSum> = {}): StaffSum {
  return {
    player,
    name: `N${player}`,
    ms,
    teamMs: { Police: ms },
    commands: 0,
    byKind: NO_KINDS,
    role: null,
    waits: [],
    ...changes,
  };
}

function makeCurrent(player: string, from: number, until: number): CurrentSession {
  const stays = [{ team: "Fire", from: AT + from, to: AT + until }];
  const rest = { name: "New", leftAt: null, ended: null, wasStaff: true, stays };
  return { player, joinedAt: AT + from, until: AT + until, ...rest };
}

describe("answerStaff", () => {
  test("has everybody that the archive names, longest presence first, then by id", () => {
    const members = [
      makeMember("10", 20_500),
      makeMember("2", 60_999),
      makeMember("9", 20_500, { commands: 2, byKind: { ...NO_KINDS, kick: 2 }, role: "Mods", waits: [[1_000, 4_000]] }),
      makeMember("1", 0, { teamMs: {} }),
    ];
    const answer = answerStaff(PERIOD, { members, listed: new Map() }, []);
    expect(answer.map(({ player, seconds, teams }) => [player, seconds, teams])).toEqual([
      ["N2:2", 60, { Police: 60 }],
      ["N9:9", 20, { Police: 20 }],
      ["N10:10", 20, { Police: 20 }],
      ["N1:1", 0, {}],
    ]);
    expect(answer[1]).toMatchObject({ role: "Mods", commands: 2, modcalls_answered: 1, median_between: [1, 4] });
    expect(answer[1]?.commands_by_kind).toEqual({ ...NO_KINDS, kick: 2 });
    expect(answer[0]).toMatchObject({ commands: 0, modcalls_answered: 0, median_between: null });
  });

  test("adds open sessions as far as they are in the period, with their name", () => {
    const members = [makeMember("1", 10_000), makeMember("2", 20_000)];
    const current = [makeCurrent("1", -50_000, 30_000), makeCurrent("3", 0, 90_000)];
    const answer = answerStaff(PERIOD, { members, listed: new Map() }, current);
    expect(answer).toMatchObject([
      { player: "New:1", seconds: 40, teams: { Police: 10, Fire: 30 } },
      { player: "N2:2", seconds: 20, teams: { Police: 20 } },
    ]);
    expect(answer).toHaveLength(2);
  });

  test("those who are staff by an open session of the period are asked for", () => {
    const current = [
      makeCurrent("1", 0, 10),
      { ...makeCurrent("2", 0, 10), wasStaff: false },
      makeCurrent("3", -20, -10),
    ];
    expect(listStaffNow(current, PERIOD)).toEqual(["1"]);
  });
});

describe("findMedianBounds", () => {
  test("is null without answers, and the bounds themselves for one", () => {
    expect(findMedianBounds([])).toBeNull();
    expect(findMedianBounds([[1_500, 2_500]])).toEqual([1, 3]);
    expect(
      findMedianBounds([
        [0, 10_000],
        [4_000, 5_000],
      ]),
    ).toEqual([2, 8]);
  });

  test("the true median is always between them", () => {
    for (let run = 0; run < repeat({ usual: 300, long: 20_000 }); run++) {
      const waits = Array.from({ length: 1 + (run % 9) }, () => Math.floor(Math.random() * 60_000));
      const bounds = waits.map((ms): [number, number] => [
        Math.max(0, ms - Math.floor(Math.random() * 9_000)),
        ms + Math.floor(Math.random() * 9_000),
      ]);
      const sorted = waits.toSorted((a, b) => a - b);
      const middle = sorted.length / 2;
      const median = ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2 / 1_000;
      const [low, high] = findMedianBounds(bounds) ?? [Number.NaN, Number.NaN];
      expect(low).toBeLessThanOrEqual(median);
      expect(high).toBeGreaterThanOrEqual(median);
    }
  });
});
