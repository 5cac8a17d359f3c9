import { describe, expect, test } from "bun:test";
import { HISTORY_T0 as T0 } from "../../../test/judged-server.ts";
import { type CountMemory, type CountNow, type Counts, NOTHING_COUNTED } from "./counts.ts";
import { addCounts, judgeCounts, listOpenMinutes, rollUp, TEAMS_MAX } from "./join-counts.ts";

const show = (players: number, changes: Partial<CountNow> = {}): CountNow => {
  return { players, queue: null, staff: null, teams: {}, ...changes };
};

/** Readings as [second, count]; each is valid for 60 s. */
function count(readings: readonly (readonly [number, CountNow])[], given: CountMemory = NOTHING_COUNTED) {
  const minutes: Counts[] = [];
  let memory = given;
  for (const [second, now] of readings) {
    const judged = judgeCounts(memory, now, T0 + second * 1_000, 60_000);
    minutes.push(...judged.minutes);
    memory = judged.memory;
  }
  return { minutes, memory };
}

const brief = (counts: readonly Counts[]) => {
  return counts.map(({ at, knownMs, playerMs, min, max }) => {
    return [(at - T0) / 1000, knownMs / 1000, playerMs / 1000, min, max];
  });
};

describe("a reading", () => {
  test("is valid until the next one, over the end of a minute", () => {
    const { minutes, memory } = count([
      [0, show(10)],
      [50, show(4)],
      [70, show(1)],
    ]);
    expect(brief(minutes)).toEqual([[0, 60, 10 * 50 + 4 * 10, 4, 10]]);
    expect(brief(listOpenMinutes(memory, T0 + 90_000))).toEqual([[60, 30, 4 * 10 + 20, 1, 4]]);
  });

  test("is valid for as long as it may and no longer: a time without readings is unknown, not zero", () => {
    const { minutes } = count([
      [30, show(10)],
      [300, show(2)],
    ]);
    expect(brief(minutes)).toEqual([
      [0, 30, 300, 10, 10],
      [60, 30, 300, 10, 10],
    ]);
  });

  test("is seen at once, before any other has come", () => {
    const { memory } = count([[30, show(3)]]);
    expect(brief(listOpenMinutes(memory, T0 + 30_000))).toEqual([[0, 0.001, 0.003, 3, 3]]);
    expect(brief(listOpenMinutes(memory, T0 + 3_600_000))).toEqual([
      [0, 30, 90, 3, 3],
      [60, 30, 90, 3, 3],
    ]);
  });

  test("after the clock was set back counts nothing negative, and minutes go on from there", () => {
    const { minutes, memory } = count([
      [600, show(5)],
      [610, show(5)],
      [0, show(2)],
      [60, show(2)],
    ]);
    expect(brief(minutes)).toEqual([
      [600, 10, 50, 5, 5],
      [0, 60, 120, 2, 2],
    ]);
    expect(memory.minute).toBeNull();
  });

  test("tells the longest queue, the most staff and the time in each team", () => {
    const { minutes } = count([
      [0, show(2, { queue: 3, staff: 1, teams: { Police: 1, ["__proto__"]: 1 } })],
      [20, show(3, { queue: null, staff: 2, teams: { Police: 3 } })],
      [60, show(0, { queue: 9, staff: 9 })],
    ]);
    expect(minutes).toHaveLength(1);
    expect(minutes[0]).toMatchObject({ queueMax: 3, staffMax: 2 });
    const teams = new Map(Object.entries(minutes[0]?.teamMs ?? {}));
    expect(teams).toEqual(
      new Map([
        ["Police", 140_000],
        ["__proto__", 20_000],
      ]),
    );
  });
});

test("a reading without players adds nothing to the teams, and none to the time in which they were known", () => {
  const { minutes } = count([
    [0, show(4, { teams: { Police: 4 } })],
    [15, show(4, { teams: null })],
    [70, show(4, { teams: null })],
    [120, show(4)],
  ]);
  expect(minutes.map(({ knownMs, teamKnownMs, teamMs }) => [knownMs, teamKnownMs, teamMs])).toEqual([
    [60_000, 15_000, { Police: 60_000 }],
    [60_000, 0, {}],
  ]);
});

describe("counts together", () => {
  const sample = (at: number, players: number, teams: Record<string, number> = {}): Counts => {
    const [minute] = count([
      [at, show(players, { teams })],
      [at + 60, show(0)],
    ]).minutes;
    if (!minute) throw new Error("no minute");
    return minute;
  };

  test("what is unknown in one is told by the other", () => {
    const sum = addCounts(sample(0, 1), { ...sample(60, 9), queueMax: 4 });
    expect([sum.queueMax, sum.staffMax, sum.knownMs]).toEqual([4, null, 120_000]);
  });

  test("minutes roll up to longer times that begin at whole ones of UTC", () => {
    const minutes = [sample(240, 8), sample(0, 2), sample(300, 5)];
    expect(brief(rollUp(minutes, "5m"))).toEqual([
      [0, 120, 600, 2, 8],
      [300, 60, 300, 5, 5],
    ]);
    const [day] = rollUp(minutes, "1d");
    expect(day?.at).toBe(T0 - (T0 % 86_400_000));
    expect(day?.playerMs).toBe(900_000);
  });

  test("made-up teams do not grow without end", () => {
    let sum = sample(0, 0, { Police: 1 });
    for (let n = 0; n < 3 * TEAMS_MAX; n++) sum = addCounts(sum, sample(0, 0, { [`Team ${n}`]: 1, Police: 1 }));
    expect(Object.keys(sum.teamMs)).toHaveLength(TEAMS_MAX);
    expect(sum.teamMs.Police).toBe((3 * TEAMS_MAX + 1) * 60_000);
  });
});
