// What readings say about who was there, for how long, and what staff did.
import { describe, expect, test } from "bun:test";
import { JudgedServer, logEntry, shownPlayer, HISTORY_T0 as T0 } from "../../../test/judged-server.ts";
import { forgetInMemory } from "../events/forget-memory.ts";
import type { GameReading } from "../events/reading.ts";
import { OPEN_SESSIONS_MAX, STAYS_MAX } from "./sessions.ts";

const ANN = "Ann:1";
const BOB = "Bob:2";
const at = (second: number) => T0 + second * 1_000;

/** Reads seconds after the start: who is shown, and the join log as pairs of second and `+` or `-` with the name. */
class Stage extends JudgedServer {
  see(second: number, players: readonly string[] | undefined, log: readonly string[] | undefined): void {
    const Players = players?.map((player) => shownPlayer(player));
    this.read(at(second), { ...(Players ? { Players } : {}), ...(log ? { JoinLogs: parseLog(log) } : {}) });
  }

  /** `player joined-left how`, in seconds; open ones without an end. */
  get told(): string[] {
    const second = (time: number) => (time - T0) / 1000;
    const ended = this.sessions.map((session) => {
      return `${session.name} ${second(session.joinedAt)}-${second(session.leftAt)} ${session.ended}`;
    });
    const open = Array.from(this.memory.sessions.values(), ({ name, joinedAt }) => `${name} ${second(joinedAt)}-`);
    return [...ended, ...open];
  }

  teamsOf(player: string): string[] {
    const stays = this.sessions.find((session) => session.player === player)?.stays ?? [];
    return stays.map(({ team, from, to }) => `${team} ${(from - T0) / 1000}-${(to - T0) / 1000}`);
  }
}

/** `+3 Ann:1` and `-8 Ann:1`, oldest first; the game shows the newest first. */
function parseLog(log: readonly string[]): Record<string, unknown>[] {
  return log
    .map((text) => {
      const [, sign, second, player] = /^([+-])(\d+) (.*)$/.exec(text) ?? [];
      return logEntry(Number(second), player ?? "", sign === "+");
    })
    .toReversed();
}

/** The first reading was made at second 0 and showed nobody. */
function start(log: readonly string[] = ["+0 Old:9", "-0 Old:9"]): Stage {
  const stage = new Stage();
  stage.see(0, [], log);
  stage.sessions.length = 0;
  return stage;
}
const OLD = ["+0 Old:9", "-0 Old:9"];

describe("a session", () => {
  test("lasts from the entry that tells the joining to the one that tells the leaving", () => {
    const stage = start();
    stage.see(5, [ANN], [...OLD, "+3 Ann:1"]);
    stage.see(10, [], [...OLD, "+3 Ann:1", "-8 Ann:1"]);
    expect(stage.told).toEqual(["Ann 3-8 log"]);
  });

  test("that began and ended between two readings is told", () => {
    const stage = start();
    stage.see(5, [], [...OLD, "+2 Ann:1", "-4 Ann:1", "+4 Ann:1", "-4 Ann:1"]);
    expect(stage.told).toEqual(["Ann 2-4 log", "Ann 4-4 log"]);
  });

  test("of somebody who leaves and comes back within a second are two, in the game's order", () => {
    const stage = start();
    stage.see(5, [ANN], [...OLD, "+2 Ann:1"]);
    stage.see(10, [ANN], [...OLD, "+2 Ann:1", "-7 Ann:1", "+7 Ann:1"]);
    expect(stage.told).toEqual(["Ann 2-7 log", "Ann 7-"]);
  });

  test("of a player who is only shown begins with the reading", () => {
    const stage = start();
    stage.see(5, [ANN], OLD);
    expect(stage.told).toEqual(["Ann 5-"]);
  });

  test("that began with a reading gets the time of a later entry, if that is earlier", () => {
    const stage = start();
    stage.see(5, [ANN], OLD);
    stage.see(10, [ANN], [...OLD, "+4 Ann:1"]);
    expect(stage.told).toEqual(["Ann 4-"]);
  });

  test("does not begin before the player's session before it has ended", () => {
    const stage = start();
    stage.see(5, [ANN], OLD);
    stage.see(100, [ANN], ["-98 Zed:5"]);
    expect(stage.told).toEqual(["Ann 5-5 gap", "Ann 100-"]);
    // The game's clock is behind.
    stage.see(105, [ANN], ["-98 Zed:5", "+99 Ann:1"]);
    expect(stage.told).toEqual(["Ann 5-5 gap", "Ann 99-"]);
    const other = start();
    other.see(5, [ANN], OLD);
    other.see(100, [ANN], ["-1 Zed:5"]);
    other.see(105, [ANN], ["-1 Zed:5", "+3 Ann:1"]);
    expect(other.told).toEqual(["Ann 5-5 gap", "Ann 5-"]);
  });

  test("ends without an entry when the player joins again, at the last time that the player was known to be there", () => {
    const stage = start();
    stage.see(5, [ANN], [...OLD, "+3 Ann:1"]);
    stage.see(10, [ANN], [...OLD, "+3 Ann:1"]);
    stage.see(15, [ANN], [...OLD, "+3 Ann:1", "+14 Ann:1"]);
    expect(stage.told).toEqual(["Ann 3-10 vanished", "Ann 14-"]);
  });

  test("ends without an entry after two readings in a row without the player, at the last one with", () => {
    const stage = start();
    stage.see(5, [ANN, BOB], OLD);
    stage.see(10, [BOB], OLD);
    stage.see(15, [ANN], OLD);
    stage.see(20, [], OLD);
    expect(stage.told).toEqual(["Bob 5-10 vanished", "Ann 5-"]);
    stage.see(25, [], OLD);
    expect(stage.told).toEqual(["Bob 5-10 vanished", "Ann 5-15 vanished"]);
  });

  test("goes on over readings without players or without the join log, which tell nothing about absence", () => {
    const stage = start();
    stage.see(5, [ANN], OLD);
    stage.see(10, undefined, OLD);
    stage.see(15, [], undefined);
    stage.see(20, [], undefined);
    stage.see(25, [], OLD);
    expect(stage.told).toEqual(["Ann 5-"]);
    stage.see(30, [], OLD);
    expect(stage.told).toEqual(["Ann 5-5 vanished"]);
  });

  test("ends by entries of a reading without players", () => {
    const stage = start();
    stage.see(5, [ANN], OLD);
    stage.see(10, undefined, [...OLD, "-8 Ann:1", "+9 Bob:2"]);
    expect(stage.told).toEqual(["Ann 5-8 log", "Bob 9-"]);
  });

  test("ends when the server is offline for two readings", () => {
    const stage = start();
    stage.see(5, [ANN], OLD);
    stage.offline(at(10));
    stage.offline(at(40));
    expect(stage.told).toEqual(["Ann 5-5 vanished"]);
  });

  test("is not begun again by a reading whose players are older than its log", () => {
    const stage = start();
    stage.see(5, [ANN], [...OLD, "+3 Ann:1"]);
    stage.see(10, [ANN], [...OLD, "+3 Ann:1", "-9 Ann:1"]);
    expect(stage.told).toEqual(["Ann 3-9 log"]);
    stage.see(15, [], [...OLD, "+3 Ann:1", "-9 Ann:1"]);
    expect(stage.told).toEqual(["Ann 3-9 log"]);
  });

  test("is never shorter than nothing, whatever the clocks say", () => {
    const stage = start();
    stage.see(700, [ANN], ["+690 Ann:1"]);
    stage.see(600, [ANN, BOB], ["+690 Ann:1"]);
    stage.see(605, [], ["+690 Ann:1", "-604 Bob:2"]);
    stage.see(610, [], ["+690 Ann:1", "-604 Bob:2"]);
    for (const { joinedAt, leftAt, stays } of stage.sessions) {
      expect(leftAt).toBeGreaterThanOrEqual(joinedAt);
      for (const stay of stays) expect(stay.to).toBeGreaterThan(stay.from);
    }
    expect(stage.told).toEqual(["Bob 600-604 log", "Ann 690-690 vanished"]);
  });
});

describe("after a time without readings", () => {
  test("one who is absent and has no entry has ended at the last reading that showed the player, as a gap", () => {
    const stage = start();
    stage.see(5, [ANN, BOB], OLD);
    stage.see(100, [BOB], OLD);
    expect(stage.told).toEqual(["Ann 5-5 gap", "Bob 5-"]);
  });

  test("one who has an entry has ended by it", () => {
    const stage = start();
    stage.see(5, [ANN], OLD);
    stage.see(100, [], [...OLD, "-60 Ann:1", "+61 Bob:2", "-70 Bob:2"]);
    expect(stage.told).toEqual(["Ann 5-60 log", "Bob 61-70 log"]);
  });

  test("with entries that were missed, one who is there begins anew", () => {
    const stage = start();
    stage.see(5, [ANN, BOB], OLD);
    stage.see(100, [ANN, BOB], ["+90 Bob:2"]);
    expect(stage.told).toEqual(["Ann 5-5 gap", "Bob 5-5 gap", "Bob 90-", "Ann 100-"]);
  });

  test("a leaving after entries that were missed is not taken for the end of the session before", () => {
    const stage = start();
    stage.see(5, [ANN], OLD);
    stage.see(100, [], ["-90 Ann:1"]);
    expect(stage.told).toEqual(["Ann 5-5 gap"]);
  });

  test("readings that could not be kept are a time without readings", () => {
    const stage = start();
    stage.see(5, [ANN, BOB], OLD);
    const sections = { Players: [shownPlayer(BOB)], JoinLogs: parseLog(OLD) };
    stage.read(at(15), sections, { lostSince: at(10) });
    expect(stage.told).toEqual(["Ann 5-5 gap", "Bob 5-"]);
  });

  test("entries that were missed between two readings end those who are absent, and nobody who is there", () => {
    const stage = start();
    stage.see(5, [ANN, BOB], OLD);
    stage.see(10, [BOB], ["+9 Zed:3"]);
    expect(stage.told).toEqual(["Ann 5-5 gap", "Bob 5-", "Zed 9-"]);
  });
});

test("another game server ends all sessions as a gap", () => {
  const stage = start();
  stage.see(5, [ANN], OLD);
  stage.read(at(10), { Players: [shownPlayer(ANN)], JoinLogs: [] }, { gameServer: "other" });
  expect(stage.told).toEqual(["Ann 5-5 gap", "Ann 10-"]);
});

describe("the first reading", () => {
  test("makes sessions of the pairs that its log has, and goes on with those who are there", () => {
    const stage = new Stage();
    stage.see(50, [ANN], ["-1 Zed:3", "+2 Bob:2", "-9 Bob:2", "+10 Ann:1", "+20 Cat:4"]);
    expect(stage.told).toEqual(["Bob 2-9 log", "Ann 10-", "Cat 20-"]);
    stage.see(55, [ANN], ["-1 Zed:3", "+2 Bob:2", "-9 Bob:2", "+10 Ann:1", "+20 Cat:4"]);
    expect(stage.told).toEqual(["Bob 2-9 log", "Cat 20-20 vanished", "Ann 10-"]);
  });
});

describe("a reading that came late", () => {
  test("tells by its entries only", () => {
    const stage = start();
    stage.see(10, [ANN], undefined);
    const JoinLogs = parseLog([...OLD, "+4 Ann:1", "+5 Bob:2"]);
    stage.judge({ ...reading(8), sections: { Players: [shownPlayer("Cat:3")], JoinLogs } }, { now: at(10) });
    expect(stage.told).toEqual(["Ann 4-", "Bob 5-"]);
    expect(stage.memory.counts.last?.at).toBe(at(10));
  });

  test("and shows entries that newer ones have left out makes no session a second time", () => {
    const stage = start();
    stage.see(5, [ANN], OLD);
    stage.see(10, [], [...OLD, "+9 Bob:2"]);
    stage.see(15, [], [...OLD, "+9 Bob:2", "-12 Bob:2"]);
    expect(stage.told).toEqual(["Bob 9-12 log", "Ann 5-5 vanished"]);
    stage.see(20, [], [...OLD, "+4 Ann:1", "-7 Ann:1", "+9 Bob:2", "-12 Bob:2"]);
    expect(stage.told).toEqual(["Bob 9-12 log", "Ann 5-5 vanished"]);
  });

  function reading(second: number): Omit<GameReading, "sections"> {
    return { at: at(second), gameServer: "g", settings: null, offline: null };
  }
});

describe("the time in a team", () => {
  const show = (stage: Stage, second: number, team: string | undefined, log = OLD) => {
    const Players = team === undefined ? [] : [shownPlayer(ANN, team)];
    stage.read(at(second), { Players, JoinLogs: parseLog(log) });
  };

  test("lasts from the reading that showed it to the one that showed another, or to the end", () => {
    const stage = start();
    show(stage, 5, "Police", [...OLD, "+2 Ann:1"]);
    show(stage, 10, "Police", [...OLD, "+2 Ann:1"]);
    show(stage, 15, "Sheriff", [...OLD, "+2 Ann:1"]);
    show(stage, 20, undefined, [...OLD, "+2 Ann:1", "-18 Ann:1"]);
    expect(stage.teamsOf("1")).toEqual(["Police 5-15", "Sheriff 15-18"]);
  });

  test("has no time for which no reading is valid", () => {
    const stage = start();
    show(stage, 5, "Police");
    show(stage, 10, "Police");
    show(stage, 100, "Police");
    show(stage, 300, undefined, [...OLD, "-290 Ann:1"]);
    expect(stage.told).toEqual(["Ann 5-290 log"]);
    expect(stage.teamsOf("1")).toEqual(["Police 5-70", "Police 100-160"]);
  });

  test("has as many stays as are remembered, the newest", () => {
    const stage = start();
    for (let n = 0; n < STAYS_MAX + 50; n++) show(stage, 5 + n * 5, n % 2 === 0 ? "Police" : "Sheriff");
    const last = 5 + (STAYS_MAX + 50) * 5;
    show(stage, last, undefined, [...OLD, `-${last - 1} Ann:1`]);
    expect(stage.teamsOf("1")).toHaveLength(STAYS_MAX);
    expect(stage.teamsOf("1").at(-1)).toBe(`Sheriff ${last - 5}-${last - 1}`);
  });
});

test("staff is who had a permission above Normal at any time of the session", () => {
  const stage = start();
  const show = (second: number, permission: string | undefined) => {
    const { Permission: _, ...unknown } = shownPlayer(BOB);
    const Players = [shownPlayer(ANN, "Police", permission), unknown];
    stage.read(at(second), { Players, JoinLogs: parseLog(OLD) });
  };
  show(5, "Normal");
  expect(stage.memory.counts.last?.now.staff).toBe(0);
  show(10, "Server Helper");
  expect(stage.memory.counts.last?.now.staff).toBe(1);
  show(15, "Normal");
  stage.see(20, [], [...OLD, "-18 Ann:1", "-18 Bob:2"]);
  expect(stage.sessions.map(({ name, wasStaff }) => [name, wasStaff])).toEqual([
    ["Ann", true],
    ["Bob", false],
  ]);
});

test("readings that show nothing new write no session", () => {
  const stage = start();
  stage.see(5, [ANN], OLD);
  expect(stage.changed).toContain("sessions");
  for (const second of [10, 15, 20]) {
    stage.see(second, [ANN], OLD);
    expect(stage.changed).toContain("counts");
    expect(stage.changed).not.toContain("sessions");
  }
});

test("more sessions than may be open do not grow without end, and room comes from those who are not shown", () => {
  const stage = start();
  const joins = Array.from({ length: OPEN_SESSIONS_MAX }, (_, n) => `+2 P:${n + 100}`);
  stage.see(5, undefined, [...OLD, ...joins]);
  stage.see(10, [ANN], [...OLD, ...joins, "+9 Ann:1"]);
  expect(stage.memory.sessions.size).toBe(OPEN_SESSIONS_MAX);
  expect(stage.memory.sessions.has("1")).toBe(true);
  expect(stage.told[0]).toBe("P 2-2 gap");
});

test("a player who is forgotten leaves nothing in the memory, and the session ends as nobody's", () => {
  const stage = start();
  stage.see(5, [ANN], OLD);
  const known = stage.memory;
  expect(forgetInMemory(known, { id: "2", names: ["Bob"] }).sessions).toBe(known.sessions);
  stage.memory = forgetInMemory(known, { id: "1", names: ["Ann"] });
  expect(JSON.stringify([...stage.memory.sessions])).not.toContain("Ann");
  stage.see(10, [], OLD);
  stage.see(15, [], OLD);
  expect(stage.sessions).toMatchObject([{ player: "0", name: "deleted", joinedAt: at(5), leftAt: at(5) }]);
});

describe("counts", () => {
  test("are the game's own number, or else the players that it shows; offline is none", () => {
    const stage = start();
    const Players = [shownPlayer(ANN, "Police"), shownPlayer(BOB, "")];
    const now = () => stage.memory.counts.last?.now;
    stage.read(at(5), { Players, Queue: [1, 2, 3] }, { settings: { CurrentPlayers: 7 } });
    expect(now()).toEqual({ players: 7, queue: 3, staff: 0, teams: { Police: 1 } });
    stage.read(at(10), { Players }, { settings: { CurrentPlayers: "many" } });
    expect(now()).toEqual({ players: 2, queue: null, staff: 0, teams: { Police: 1 } });
    stage.read(at(15), {}, { settings: { CurrentPlayers: 4 } });
    expect(now()).toEqual({ players: 4, queue: null, staff: null, teams: null });
    stage.read(at(20), {}, { settings: {} });
    expect(stage.memory.counts.last?.at).toBe(at(15));
    stage.offline(at(25));
    expect(now()).toEqual({ players: 0, queue: 0, staff: 0, teams: {} });
  });

  test("are not touched by a reading that failed", () => {
    const stage = start();
    const { counts } = stage.memory;
    stage.fail(at(5));
    expect(stage.memory.counts).toBe(counts);
  });
});

describe("what staff did", () => {
  const command = (second: number | undefined, player: string) => {
    return {
      Player: player,
      Command: ":h",
      ...(second === undefined ? {} : { Timestamp: T0 / 1000 + second }),
    };
  };
  const call = (second: number, moderator: string | null) => {
    return { Caller: "Bob:2", Moderator: moderator, Timestamp: T0 / 1000 + second };
  };

  test("is each command once, but none that came through the game's API", () => {
    const stage = start();
    const CommandLogs = [command(3, ANN), command(3, ANN), command(4, "Remote Server"), command(4, "Remote Server:0")];
    stage.read(at(5), { CommandLogs });
    stage.read(at(10), { CommandLogs });
    expect(stage.acts).toMatchObject([
      { player: "1", name: "Ann", at: at(3), waited: null },
      { player: "1", name: "Ann", at: at(3), waited: null },
    ]);
    expect(new Set(stage.acts.map(({ identity }) => identity)).size).toBe(2);
  });

  test("is each answer to a call, with how long the caller waited at least and at most", () => {
    const stage = start();
    stage.read(at(5), { ModCalls: [call(2, null)] });
    stage.read(at(10), { ModCalls: [call(2, null)] });
    stage.read(at(15), { ModCalls: [call(12, "Cat:3"), call(2, ANN)] });
    expect(stage.acts).toMatchObject([
      { player: "1", name: "Ann", at: at(15), waited: [8_000, 13_000] },
      { player: "3", name: "Cat", at: at(15), waited: [0, 3_000] },
    ]);
  });

  test("before the first reading counts where its time is known", () => {
    const stage = new Stage();
    const CommandLogs = [command(3, ANN), command(undefined, BOB)];
    stage.read(at(5), { CommandLogs, ModCalls: [call(2, "Cat:3")] });
    expect(stage.acts).toMatchObject([{ player: "1", at: at(3) }]);
  });
});
