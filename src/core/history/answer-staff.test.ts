import { describe, expect, test } from "bun:test";
import { repeat } from "../../../test/long.ts";
import type { StaffFacts } from "../ports/history.ts";
import type { CurrentSession } from "./answer-sessions.ts";
import { answerStaff, findMedianBounds, listOnlyNowStaff } from "./answer-staff.ts";
import type { StaffAct } from "./history.ts";
import type { Session } from "./sessions.ts";

const AT = 1_800_000_000_000;
const PERIOD = { from: AT, to: AT + 100_000 };

function makeSession(player: string, from: number, to: number, changes: Partial<Session> = {}): Session {
  const stays = [{ team: "Police", from: AT + from, to: AT + to }];
  const rest = { name: `N${player}`, ended: "log", wasStaff: true, stays } as const;
  return { player, joinedAt: AT + from, leftAt: AT + to, ...rest, ...changes };
}

function makeAct(
  player: string,
  at: number,
  waited: StaffAct["waited"] = null,
  name = `N${player}`,
): StaffAct {
  return { player, name, at: AT + at, waited };
}

function makeFacts(facts: Partial<StaffFacts>): StaffFacts {
  return { sessions: [], acts: [], listed: new Map(), ...facts };
}

describe("answerStaff", () => {
  test("has everybody who is listed, was staff, used a command or answered a call, longest presence first", () => {
    const facts = makeFacts({
      sessions: [
        makeSession("1", -50_000, 20_500),
        makeSession("1", 90_000, 150_000),
        makeSession("2", 0, 60_000, { wasStaff: false }),
        makeSession("3", 10_000, 30_000, { wasStaff: false }),
        makeSession("5", 0, 90_000, { wasStaff: false }),
        makeSession("6", -90_000, -10_000),
      ],
      acts: [makeAct("3", 10), makeAct("3", 20), makeAct("4", 30, [1_000, 4_000]), makeAct("9", 100_000)],
      listed: new Map([
        ["2", "Two"],
        ["8", "Eight"],
      ]),
    });
    expect(
      answerStaff(PERIOD, facts, []).map(({ player, seconds, teams }) => [player, seconds, teams]),
    ).toEqual([
      ["N2:2", 60, { Police: 60 }],
      ["N1:1", 30, { Police: 30 }],
      ["N3:3", 20, { Police: 20 }],
      ["N4:4", 0, {}],
      ["Eight:8", 0, {}],
    ]);
    const [, , third, fourth] = answerStaff(PERIOD, facts, []);
    expect(third).toMatchObject({ commands: 2, modcalls_answered: 0, median_between: null });
    expect(fourth).toMatchObject({ commands: 0, modcalls_answered: 1, median_between: [1, 4] });
  });

  test("takes open sessions along, and the newest name", () => {
    const current: CurrentSession = {
      ...makeSession("1", 50_000, 0),
      leftAt: null,
      ended: null,
      until: AT + 70_000,
    };
    const facts = makeFacts({
      sessions: [makeSession("1", 0, 10_000, { name: "Old" })],
      acts: [makeAct("1", 5_000, null, "Older")],
    });
    expect(answerStaff(PERIOD, facts, [{ ...current, name: "New" }])).toMatchObject([
      { player: "New:1", seconds: 30, commands: 1 },
    ]);
    expect(listOnlyNowStaff(facts, [current])).toEqual([]);
    expect(listOnlyNowStaff(makeFacts({}), [current])).toEqual(["1"]);
    expect(listOnlyNowStaff(makeFacts({}), [{ ...current, wasStaff: false }])).toEqual([]);
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
