// What two readings say happened: every entry once, gaps where something may be missing, and honest comparisons.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../../../test/fake-game-api.ts";
import { spelledInteger } from "../../../test/integer-spellings.ts";
import { parseExactJson } from "../exact-json.ts";
import { judgeCalls } from "./judge-calls.ts";
import { type JudgeContext, judgeReading } from "./judge-reading.ts";
import { type Failure, judgeFailure } from "./judge-state.ts";
import { NOTHING_KNOWN, type ServerMemory } from "./memory.ts";
import type { NewEvent } from "./new-event.ts";
import { type GameReading, identifyReading, listIdentities, readOffline } from "./reading.ts";

const T0 = 1_800_000_000_000;
const S0 = T0 / 1000;
type Sections = Record<string, unknown>;

/** A server that is judged reading by reading, as a recorder would. */
class Watched {
  memory: ServerMemory = NOTHING_KNOWN;
  readonly recorded = new Set<string>();

  read(at: number, sections: Sections, changes: Partial<GameReading> & Partial<JudgeContext> = {}): NewEvent[] {
    const { gameServer = "a", settings = BASE_INFO, ...context } = changes;
    return this.judge({ at, gameServer, settings, sections, offline: null }, context);
  }

  offline(at: number): NewEvent[] {
    return this.judge(readOffline(at, "a", { code: 3002, message: "offline" }), {});
  }

  fail(at: number, failure: Failure = { code: 1001, message: "down" }): NewEvent[] {
    const { events, memory } = judgeFailure(this.memory, { at, failure, isWatched: true, intervalMs: 5_000 });
    this.memory = memory;
    return [...events];
  }

  judge(reading: GameReading, context: Partial<JudgeContext>): NewEvent[] {
    const identified = identifyReading(this.memory, reading, (text) => text);
    const known = new Set(listIdentities(identified).filter((identity) => this.recorded.has(identity)));
    const { events, memory } = judgeReading(this.memory, identified, {
      now: reading.at,
      isWatched: true,
      intervalMs: 5_000,
      lostSince: null,
      isKnown: (identity) => known.has(identity),
      findCommand: () => undefined,
      ...context,
    });
    this.memory = memory;
    for (const { identity } of events) {
      if (identity === null) continue;
      if (this.recorded.has(identity)) throw new Error(`told twice: ${identity}`);
      this.recorded.add(identity);
    }
    return [...events];
  }
}

function afterFirst(sections: Sections = {}): Watched {
  const server = new Watched();
  server.read(T0, { JoinLogs: [], KillLogs: [], CommandLogs: [], ModCalls: [], ...sections });
  return server;
}

const types = (events: readonly NewEvent[]) => events.map(({ type }) => type);
const kill = (second: number, name = "B:2") => ({ Killed: name, Timestamp: S0 + second, Killer: "A:1" });
const join = (second: number, player = "A:1") => ({ Join: true, Timestamp: S0 + second, Player: player });
const modCall = (second: number, moderator: string | null = null) => {
  return { Caller: "C:3", Moderator: moderator, Timestamp: S0 + second };
};
const player = (changes: Sections = {}) => ({ ...ALL_SECTIONS_INFO.Players[0], ...changes });

describe("log lists", () => {
  test("a command tells whom it was aimed at, by the players of the reading before", () => {
    const [a, b] = [player({ Player: "Ann:1" }), player({ Player: "Bob:2" })];
    const command = (second: number, text: string) => ({ Player: "M:9", Timestamp: S0 + second, Command: text });
    const server = afterFirst({ Players: [a] });
    const [kick] = server.read(T0 + 5_000, { Players: [b], CommandLogs: [command(1, ":kick ann,bob rude")] });
    expect(kick).toMatchObject({ meta: '{"targets":["Ann:1"]}', players: ["9", "1"] });
    const later = server.read(T0 + 10_000, {
      Players: [],
      CommandLogs: [command(2, ":jail 2"), command(3, ":h Bob"), command(1, ":kick ann,bob rude")],
    });
    expect(later.map(({ meta }) => meta)).toEqual(['{"targets":["Bob:2"]}', null]);
    const first = new Watched().read(T0, { Players: [a], CommandLogs: [command(1, ":kick ann")] });
    expect(first.map(({ meta, players }) => [meta, players])).toEqual([[null, ["9"]]]);
  });

  test("an empty name of a moderator is no answer", () => {
    const server = afterFirst();
    expect(types(server.read(T0 + 5_000, { ModCalls: [modCall(1, "")] }))).toEqual(["modcall.opened"]);
    expect(types(server.read(T0 + 10_000, { ModCalls: [modCall(1, "M:9")] }))).toEqual(["modcall.answered"]);
  });

  test("two equal kills in one second are two events, and a hundred readings of them tell nothing more", () => {
    const server = afterFirst();
    expect(types(server.read(T0 + 5_000, { KillLogs: [kill(1), kill(1)] }))).toEqual([
      "player.killed",
      "player.killed",
    ]);
    for (let n = 2; n < 102; n++) expect(server.read(T0 + n * 5_000, { KillLogs: [kill(1), kill(1)] })).toEqual([]);
    expect(types(server.read(T0 + 600_000, { KillLogs: [kill(1), kill(1), kill(1)] }))).toContain("player.killed");
  });

  test("an entry keeps the game's own fields and numbers, and its own time", () => {
    const server = afterFirst();
    const id = JSON.rawJSON("12345678901234567890");
    const [event] = server.read(T0 + 5_000, { KillLogs: [{ ...kill(1), Extra: id }] });
    expect(event).toMatchObject({
      at: T0 + 1_000,
      seenAt: T0 + 5_000,
      source: "log",
      isBackfill: false,
      players: ["2", "1"],
    });
    expect(event?.data).toBe(`{"Killed":"B:2","Timestamp":${S0 + 1},"Killer":"A:1","Extra":12345678901234567890}`);
  });

  test("a time that is missing or absurd is the time of the reading", () => {
    const server = afterFirst();
    const events = server.read(T0 + 5_000, {
      KillLogs: [{ Killed: "B:2" }, { ...kill(0), Timestamp: -5 }, { ...kill(0), Timestamp: 1e300 }],
    });
    expect(events.map(({ at }) => at)).toEqual([T0 + 5_000, T0 + 5_000, T0 + 5_000]);
  });

  test("events of a reading are in the order of their time, then of the table", () => {
    const server = afterFirst();
    const sections = {
      KillLogs: [kill(3), kill(2)],
      JoinLogs: [join(3, "Z:9"), join(1)],
      ModCalls: [modCall(2)],
    };
    expect(types(server.read(T0 + 5_000, sections))).toEqual([
      "player.joined",
      "player.killed",
      "modcall.opened",
      "player.joined",
      "player.killed",
    ]);
  });

  test("the first reading is backfill, and nothing after it", () => {
    const server = new Watched();
    const first = server.read(T0, { JoinLogs: [join(-5), join(-9)], Vehicles: [{ Name: "X" }] });
    expect(first.map(({ type, isBackfill }) => [type, isBackfill])).toEqual([
      ["player.joined", true],
      ["player.joined", true],
    ]);
    expect(server.read(T0 + 5_000, { JoinLogs: [join(1), join(-5)] })).toMatchObject([{ isBackfill: false }]);
  });

  test("a server that was offline at first: older entries are backfill, later ones are not", () => {
    const server = new Watched();
    expect(server.offline(T0)).toEqual([]);
    const events = server.read(T0 + 30_000, { JoinLogs: [join(20), join(-500)] });
    expect(events.map(({ type, isBackfill }) => [type, isBackfill])).toEqual([
      ["player.joined", true],
      ["player.joined", false],
      ["server.online", false],
    ]);
  });

  test("lists that are cut short, empty or in another order tell nothing again and make no gap", () => {
    const server = afterFirst({ KillLogs: [kill(-1), kill(-2), kill(-3)] });
    expect(server.read(T0 + 5_000, { KillLogs: [kill(-3)] })).toEqual([]);
    expect(server.read(T0 + 10_000, { KillLogs: [] })).toEqual([]);
    expect(server.read(T0 + 15_000, { KillLogs: [kill(-3), kill(-1), kill(-2)] })).toEqual([]);
  });

  test("a list without any known entry makes a gap from the newest known to the oldest shown", () => {
    const server = afterFirst({ KillLogs: [kill(-1), kill(-2)] });
    const events = server.read(T0 + 5_000, { KillLogs: [kill(4), kill(3)] });
    expect(types(events)).toEqual(["gap", "player.killed", "player.killed"]);
    expect(JSON.parse(events[0]?.data ?? "")).toEqual({
      section: "KillLogs",
      reason: "no_overlap",
      from: T0 - 1_000,
      to: T0 + 3_000,
    });
  });

  test("a list that was empty before a long silence may have missed entries", () => {
    const short = afterFirst();
    expect(types(short.read(T0 + 60_000, { KillLogs: [kill(50)] }))).toEqual(["player.killed"]);
    const long = afterFirst();
    const events = long.read(T0 + 60_001, { KillLogs: [kill(50)] });
    expect(events.map(({ data }) => JSON.parse(data)).slice(0, 2)).toEqual([
      { section: "*", reason: "not_watched", from: T0, to: T0 + 60_001 },
      { section: "KillLogs", reason: "no_overlap", from: T0, to: T0 + 50_000 },
    ]);
  });

  test("an outage with overlap loses no entry, and says so by having no gap of the list", () => {
    const server = afterFirst({ KillLogs: [kill(-1)] });
    const events = server.read(T0 + 300_000, { KillLogs: [kill(200), kill(100), kill(-1)] });
    expect(types(events)).toEqual(["gap", "player.killed", "player.killed"]);
    expect(JSON.parse(events[0]?.data ?? "")).toMatchObject({ section: "*", reason: "not_watched" });
  });

  test("a late reading adds its entries and compares nothing", () => {
    const server = afterFirst({ KillLogs: [kill(-9)], Players: [player({ Team: "Police" })] });
    server.read(T0 + 10_000, { KillLogs: [kill(9), kill(-9)], Players: [player({ Team: "Fire" })] });
    const late = server.read(
      T0 + 5_000,
      { KillLogs: [kill(4)], Players: [player({ Team: "Sheriff" })] },
      { now: T0 + 10_000 },
    );
    expect(types(late)).toEqual(["player.killed"]);
    expect(server.read(T0 + 15_000, { Players: [player({ Team: "Fire" })] })).toEqual([]);
  });

  test("after the clock was set back, readings are judged as usual", () => {
    const server = afterFirst({ Players: [player({ Team: "Police" })] });
    expect(types(server.read(T0 - 3_600_000, { Players: [player({ Team: "Fire" })] }))).toEqual(["player.changed"]);
  });

  test("after the clock was set back, a list without any known entry makes a gap", () => {
    const server = afterFirst({ KillLogs: [kill(-1)], ModCalls: [modCall(-1)] });
    const at = T0 - 3_600_000;
    server.read(at, { KillLogs: [kill(-1)], ModCalls: [modCall(-1)] });
    const events = server.read(at + 5_000, { KillLogs: [kill(9)], ModCalls: [modCall(-1, "D:4")] });
    expect(types(events)).toEqual(["gap", "modcall.answered", "player.killed"]);
    expect(events[1]?.meta).toBe(JSON.stringify({ answered_between: [at, at + 5_000] }));
  });

  test("a reading that the archive dropped makes a gap with that reason", () => {
    const server = afterFirst({ KillLogs: [kill(-1)] });
    const events = server.read(T0 + 20_000, { KillLogs: [kill(15)] }, { lostSince: T0 + 5_000 });
    expect(events.filter(({ type }) => type === "gap").map(({ data }) => JSON.parse(data))).toEqual([
      { section: "*", reason: "archive", from: T0, to: T0 + 20_000 },
      { section: "KillLogs", reason: "archive", from: T0 - 1_000, to: T0 + 15_000 },
    ]);
  });

  test("one of our own commands is named", () => {
    const server = afterFirst();
    const entry = { Player: "Remote Server", Timestamp: S0 + 1, Command: ":h hi" };
    const sentBy = { kind: "person", id: "per_1", name: "Alex", playerId: "7" } as const;
    const findCommand = () => ({ commandId: "cmd_1", sentBy });
    const [event] = server.read(T0 + 5_000, { CommandLogs: [entry] }, { findCommand });
    expect(event).toMatchObject({ type: "command.used", staff: "Alex:7" });
    const sent_by = { kind: "person", id: "per_1", name: "Alex" };
    expect(JSON.parse(event?.meta ?? "")).toEqual({ command_id: "cmd_1", sent_by });
  });
});

describe("calls for a moderator", () => {
  test("an answer is told once, between the last reading without it and the first with it", () => {
    const server = afterFirst();
    server.read(T0 + 5_000, { ModCalls: [modCall(2)] });
    server.read(T0 + 10_000, { ModCalls: [modCall(2)] });
    const events = server.read(T0 + 15_000, { ModCalls: [modCall(2, "M:7")] });
    expect(events).toMatchObject([
      {
        type: "modcall.answered",
        at: T0 + 15_000,
        meta: `{"answered_between":[${T0 + 10_000},${T0 + 15_000}]}`,
        players: ["3", "7"],
      },
    ]);
    expect(server.read(T0 + 20_000, { ModCalls: [modCall(2, "M:7")] })).toEqual([]);
    expect(server.read(T0 + 25_000, { ModCalls: [modCall(2, "N:8")] })).toEqual([]);
  });

  test("a call that is first seen answered is opened and answered", () => {
    const server = afterFirst();
    const events = server.read(T0 + 5_000, { ModCalls: [modCall(2, "M:7")] });
    expect(types(events)).toEqual(["modcall.opened", "modcall.answered"]);
    expect(events[1]?.meta).toBe(`{"answered_between":[${T0 + 2_000},${T0 + 5_000}]}`);
  });

  test("a call that a short list left out keeps the time it was last seen open", () => {
    const server = afterFirst();
    server.read(T0 + 5_000, { ModCalls: [modCall(2)] });
    server.read(T0 + 10_000, { ModCalls: [] });
    const [event] = server.read(T0 + 15_000, { ModCalls: [modCall(2, "M:7")] });
    expect(event?.meta).toBe(`{"answered_between":[${T0 + 5_000},${T0 + 15_000}]}`);
  });

  test("of two equal calls each answer is told", () => {
    const server = afterFirst();
    expect(types(server.read(T0 + 5_000, { ModCalls: [modCall(2), modCall(2)] }))).toHaveLength(2);
    expect(types(server.read(T0 + 10_000, { ModCalls: [modCall(2), modCall(2, "M:7")] }))).toEqual([
      "modcall.answered",
    ]);
    expect(types(server.read(T0 + 15_000, { ModCalls: [modCall(2, "N:8"), modCall(2, "M:7")] }))).toEqual([
      "modcall.answered",
    ]);
  });
});

describe("compared sections", () => {
  test("a section that is missing is not an empty one", () => {
    const server = afterFirst({ Vehicles: [{ Name: "Bus" }], Queue: [1], Staff: { Admins: { "5": "E" } } });
    expect(server.read(T0 + 5_000, {})).toEqual([]);
    expect(types(server.read(T0 + 10_000, { Vehicles: [], Queue: [], Staff: { Admins: {} } }))).toEqual([
      "vehicle.removed",
      "staff.removed",
      "queue.changed",
    ]);
  });

  test("a changed player is told with what was before, and without the place", () => {
    const server = afterFirst({ Players: [player({ Team: "Civilian", Callsign: null, WantedStars: 0 })] });
    const [event] = server.read(T0 + 5_000, { Players: [player({ Team: "Police", Callsign: "1A" })] });
    expect(event?.type).toBe("player.changed");
    expect(JSON.parse(event?.meta ?? "")).toEqual({ before: { Team: "Civilian", Callsign: null } });
    expect(JSON.parse(event?.data ?? "")).not.toHaveProperty("Location");
    expect(event?.players).toEqual(["123"]);
  });

  test("a player who is listed twice is compared once", () => {
    const twice = [player({ Team: "Police" }), player({ Team: "Fire" })];
    const server = afterFirst({ Players: twice });
    expect(server.read(T0 + 5_000, { Players: twice })).toEqual([]);
    expect(server.read(T0 + 10_000, { Players: twice })).toEqual([]);
  });

  test("a move, or a callsign that is null, empty or missing by turns, is no change", () => {
    const { Callsign: _, ...bare } = player();
    const server = afterFirst({ Players: [player({ Callsign: null })] });
    expect(server.read(T0 + 5_000, { Players: [player({ Callsign: "", Location: {} })] })).toEqual([]);
    expect(server.read(T0 + 10_000, { Players: [bare] })).toEqual([]);
  });

  test("vehicles are counted, and a repaint is removed and spawned", () => {
    const bus = { Name: "Bus", Owner: "A", Texture: null, ColorName: "Red" };
    const server = afterFirst({ Vehicles: [bus, bus] });
    expect(types(server.read(T0 + 5_000, { Vehicles: [bus, bus, bus] }))).toEqual(["vehicle.spawned"]);
    expect(server.read(T0 + 10_000, { Vehicles: [bus, { ...bus, Texture: "" }, bus] })).toEqual([]);
    const events = server.read(T0 + 15_000, { Vehicles: [bus, bus, { ...bus, ColorName: "Blue" }] });
    expect(types(events)).toEqual(["vehicle.spawned", "vehicle.removed"]);
  });

  test("staff by role and id", () => {
    const server = afterFirst({ Staff: { Admins: { "5": "E" }, Mods: {}, Helpers: {} } });
    const events = server.read(T0 + 5_000, { Staff: { Admins: {}, Mods: { "5": "E" }, Helpers: {} } });
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ["staff.added", '{"Role":"Mods","UserId":"5","Name":"E"}'],
      ["staff.removed", '{"Role":"Admins","UserId":"5","Name":"E"}'],
    ]);
  });

  test("a role of staff that is missing is not an empty one, and is compared when it is back", () => {
    const server = afterFirst({ Staff: { Admins: { "5": "E" }, Mods: { "2": "Mo", "3": "Ma" } } });
    expect(server.read(T0 + 5_000, { Staff: { Admins: { "5": "E" } } })).toEqual([]);
    expect(server.read(T0 + 10_000, { Staff: {} })).toEqual([]);
    const back = { Admins: { "5": "E" }, Mods: { "2": "Mo" }, Helpers: { "7": "H" } };
    // The helpers are shown for the first time, so they are only noted.
    expect(server.read(T0 + 15_000, { Staff: back })).toMatchObject([
      { type: "staff.removed", data: '{"Role":"Mods","UserId":"3","Name":"Ma"}' },
    ]);
    expect(types(server.read(T0 + 20_000, { Staff: { ...back, Helpers: {} } }))).toEqual(["staff.removed"]);
  });

  test("the queue and the settings tell what was before, with exact numbers", () => {
    const big = JSON.rawJSON("12345678901234567890");
    const server = afterFirst({ Queue: [big] });
    const events = server.read(
      T0 + 5_000,
      { Queue: [big, 2] },
      { settings: { ...BASE_INFO, MaxPlayers: 41, CurrentPlayers: 12 } },
    );
    expect(events.map(({ data, meta }) => [data, meta])).toEqual([
      ['{"Queue":[12345678901234567890,2]}', '{"before":[12345678901234567890]}'],
      [expect.stringContaining('"MaxPlayers":41'), `{"before":{"MaxPlayers":${BASE_INFO.MaxPlayers}}}`],
    ]);
    expect(Object.keys(JSON.parse(events[1]?.data ?? ""))).toHaveLength(7);
    expect(server.read(T0 + 10_000, {}, { settings: { ...BASE_INFO, MaxPlayers: 41, CurrentPlayers: 1 } })).toEqual([]);
  });
});

describe("emergency calls", () => {
  const call = (changes: Sections = {}) => ({ ...ALL_SECTIONS_INFO.EmergencyCalls[0], ...changes });

  test("open at the first reading: backfill", () => {
    expect(new Watched().read(T0, { EmergencyCalls: [call()] })).toMatchObject([
      { type: "call.opened", isBackfill: true, at: 1774216563_000, source: "diff" },
    ]);
  });

  test("closed after two readings in a row without it, and never opened again", () => {
    const server = afterFirst({ EmergencyCalls: [] });
    expect(types(server.read(T0 + 5_000, { EmergencyCalls: [call()] }))).toEqual(["call.opened"]);
    expect(server.read(T0 + 10_000, { EmergencyCalls: [] })).toEqual([]);
    expect(server.read(T0 + 15_000, { EmergencyCalls: [call()] })).toEqual([]);
    expect(server.read(T0 + 20_000, { EmergencyCalls: [] })).toEqual([]);
    expect(server.read(T0 + 22_000, {})).toEqual([]);
    expect(types(server.read(T0 + 25_000, { EmergencyCalls: [] }))).toEqual(["call.closed"]);
    expect(server.read(T0 + 30_000, { EmergencyCalls: [call()] })).toEqual([]);
  });

  test("a change names its fields; a field that is left out keeps its last value", () => {
    const server = afterFirst({ EmergencyCalls: [call()] });
    const [event] = server.read(T0 + 5_000, { EmergencyCalls: [call({ Players: [7, 8, 9] })] });
    expect(event).toMatchObject({ type: "call.changed", meta: '{"changed":["Players"]}' });
    const { Description: _, ...silent } = call({ Players: [7, 8, 9] });
    expect(server.read(T0 + 10_000, { EmergencyCalls: [silent] })).toEqual([]);
    server.read(T0 + 15_000, { EmergencyCalls: [] });
    const [closed] = server.read(T0 + 20_000, { EmergencyCalls: [] });
    expect(JSON.parse(closed?.data ?? "")).toEqual(call({ Players: [7, 8, 9] }));
  });

  test("many of them, in another order, are compared with few looks at each", () => {
    let looks = 0;
    const number = (n: number) => ({
      toJSON() {
        looks++;
        return n;
      },
    });
    const calls = Array.from({ length: 1_000 }, (_, n) => call({ CallNumber: number(n) }));
    const server = afterFirst({ EmergencyCalls: calls });
    looks = 0;
    expect(server.read(T0 + 5_000, { EmergencyCalls: calls.toReversed() })).toEqual([]);
    expect(looks).toBeLessThan(10_000);
  });

  test("many with the same number are compared with few looks at each", () => {
    let looks = 0;
    const known = Array.from({ length: 1_000 }, (_, n) => ({
      get team() {
        looks++;
        return `"Team ${n}"`;
      },
      number: "1",
      startedAt: "1774216563",
      fields: {},
      missed: 0,
      isShown: true,
      openedAt: T0,
    }));
    const shown = known.map((_, n) => ({
      element: call({ Team: `Other ${n}`, CallNumber: 1, StartedAt: 1774216563 }),
      identity: `call ${n}`,
    }));
    const reading = { at: T0, gameServer: "Town", settings: null, sections: {}, offline: null };
    const memory = { calls: known, closedCalls: [], firstReadingAt: T0 };
    expect(judgeCalls(reading, shown, memory, () => false).events).toHaveLength(1_000);
    expect(looks).toBeLessThan(10_000);
  });

  test("the same number in another team or at another time is another call", () => {
    const server = afterFirst({ EmergencyCalls: [call()] });
    const shown = [call(), call({ Team: "Fire" }), call({ StartedAt: 5 }), call({ Team: "Fire" })];
    expect(types(server.read(T0 + 5_000, { EmergencyCalls: shown }))).toEqual(["call.opened", "call.opened"]);
  });
});

describe("an integer in another spelling", () => {
  /** Every integer of a reading that is part of an identity or compared. */
  const readingOf = (n: unknown) => ({
    JoinLogs: [{ ...join(0), Timestamp: n }],
    KillLogs: [
      { ...kill(0), Timestamp: n },
      { ...kill(0), Timestamp: n },
    ],
    CommandLogs: [{ Player: "A:1", Timestamp: n, Command: ":h 7.0" }],
    ModCalls: [{ ...modCall(0), Timestamp: n }],
    EmergencyCalls: [{ Team: "Fire", Caller: n, Players: [n, n], Position: [n, 1.5], StartedAt: n, CallNumber: n }],
    Players: [player({ WantedStars: n })],
    Vehicles: [{ Name: "Bus", New: n }],
    Queue: [n, n],
  });
  const settingsOf = (n: unknown) => ({
    settings: { ...BASE_INFO, OwnerId: n, CoOwnerIds: [n], MaxPlayers: n },
  });

  test("is the same entry, the same call and no change", () => {
    fc.assert(
      fc.property(spelledInteger, fc.boolean(), ({ plain, spelled }, isSpelledFirst) => {
        const numbers = [parseExactJson(plain), parseExactJson(spelled)];
        const [first, second] = isSpelledFirst ? numbers.reverse() : numbers;
        const server = new Watched();
        expect(server.read(T0, readingOf(first), settingsOf(first))).toHaveLength(6);
        expect(server.read(T0 + 5_000, readingOf(second), settingsOf(second))).toEqual([]);
        expect(server.read(T0 + 10_000, readingOf(first), settingsOf(first))).toEqual([]);
      }),
    );
  });

  test("is told as it came", () => {
    const server = afterFirst({ Queue: [1], EmergencyCalls: [] });
    const seven = JSON.rawJSON("7.0");
    const call = { Team: "Fire", CallNumber: seven };
    expect(server.read(T0 + 5_000, { Queue: [seven], EmergencyCalls: [call] })).toMatchObject([
      { type: "call.opened", data: '{"Team":"Fire","CallNumber":7.0}' },
      { type: "queue.changed", data: '{"Queue":[7.0]}' },
    ]);
  });

  test("leaves the identities of plain integers as they were stored", () => {
    const server = afterFirst({ EmergencyCalls: [] });
    const shown = { Team: "Fire", CallNumber: 7, StartedAt: JSON.rawJSON("12345678901234567890") };
    const events = server.read(T0 + 5_000, { JoinLogs: [join(1)], EmergencyCalls: [shown] });
    expect(events.map(({ identity }) => identity)).toEqual([
      `0\nJoinLogs\ntrue\n${S0 + 1}\n"A:1"\n1`,
      '0\nEmergencyCalls\n"Fire"\n7\n12345678901234567890',
    ]);
  });
});

describe("the state", () => {
  test("offline empties the server and makes no gap; online is told after it", () => {
    const server = afterFirst({ Vehicles: [{ Name: "Bus" }], Staff: { Admins: { "5": "E" } } });
    expect(types(server.offline(T0 + 5_000))).toEqual(["vehicle.removed", "server.offline"]);
    for (let n = 1; n < 10; n++) expect(server.offline(T0 + 5_000 + n * 30_000)).toEqual([]);
    const events = server.read(T0 + 300_000, { Staff: { Admins: { "5": "E" } } });
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ["server.online", '{"upstream_code":null,"upstream_message":null}'],
    ]);
  });

  test("unreachable is told once, half a minute after the first failure, and online after it", () => {
    const server = afterFirst();
    expect(server.fail(T0 + 5_000)).toEqual([]);
    expect(server.fail(T0 + 34_999)).toEqual([]);
    expect(server.fail(T0 + 35_000)).toMatchObject([
      { type: "server.unreachable", data: '{"upstream_code":1001,"upstream_message":"down"}' },
    ]);
    expect(server.fail(T0 + 50_000)).toEqual([]);
    expect(types(server.read(T0 + 55_000, {}))).toEqual(["server.online"]);
    expect(server.fail(T0 + 60_000)).toEqual([]);
  });

  test("unreachable is told half a minute after the clock was set back", () => {
    const server = afterFirst();
    server.fail(T0 + 5_000);
    expect(server.fail(T0 - 3_600_000)).toEqual([]);
    expect(types(server.fail(T0 - 3_600_000 + 30_000))).toEqual(["server.unreachable"]);
  });

  test("a server that never answered becomes unreachable", () => {
    const server = new Watched();
    server.fail(T0);
    expect(types(server.fail(T0 + 30_000))).toEqual(["server.unreachable"]);
  });
});

describe("another game server behind a new key", () => {
  test("a gap, then backfill, and equal entries of the two are told apart", () => {
    const server = afterFirst({ KillLogs: [kill(-1)], Vehicles: [{ Name: "Bus" }] });
    const events = server.read(T0 + 5_000, { KillLogs: [kill(-1)], Vehicles: [] }, { gameServer: "b" });
    expect(events.map(({ type, isBackfill }) => [type, isBackfill])).toEqual([
      ["gap", false],
      ["player.killed", true],
    ]);
    expect(JSON.parse(events[0]?.data ?? "")).toEqual({
      section: "*",
      reason: "server_replaced",
      from: T0,
      to: T0 + 5_000,
    });
  });

  test("a late reading of the old one changes nothing", () => {
    const server = afterFirst();
    server.read(T0 + 10_000, {}, { gameServer: "b" });
    const late = { gameServer: "a", now: T0 + 10_000 };
    expect(server.read(T0 + 5_000, { KillLogs: [kill(1)] }, late)).toEqual([]);
    expect(server.read(T0 + 15_000, {}, { gameServer: "b" })).toEqual([]);
  });
});
