// A call that comes by webhook and by readings is one call: opened once, closed once, never opened again.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../../../test/fake-game-api.ts";
import { repeat } from "../../../test/long.ts";
import { type GameHook, parseHookBody } from "./game-hook.ts";
import { CLOSED_CALLS_MAX, CLOSED_KEPT_MS, judgeUnshownCalls, UNSHOWN_CALLS_MAX } from "./judge-calls.ts";
import { judgeHook } from "./judge-hook.ts";
import { judgeReading } from "./judge-reading.ts";
import { NOTHING_KNOWN, type ServerMemory } from "./memory.ts";
import { parseMemory, writeChangedParts } from "./memory-text.ts";
import type { NewEvent } from "./new-event.ts";
import { identifyHook, identifyReading, readOffline } from "./reading.ts";

const T0 = 1_800_000_000_000;
const S0 = T0 / 1000;
type Fields = Record<string, unknown>;

const shown = (changes: Fields = {}) => {
  return { ...ALL_SECTIONS_INFO.EmergencyCalls[0], StartedAt: S0, ...changes };
};
const told = (changes: Fields = {}) => ({
  players: [1, 2],
  caller: 168,
  description: "Fire",
  callNumber: 400,
  team: "Police",
  position: [-654.6, 666.5],
  positionDescriptor: "Near the bank",
  startedAt: S0,
  ...changes,
});

/** A server that is judged input by input, as a recorder would. What is remembered goes through its text. */
class Told {
  memory: ServerMemory = NOTHING_KNOWN;
  readonly recorded = new Set<string>();
  #hooks = 0;

  read(at: number, calls: readonly unknown[] | undefined, gameServer = "a"): NewEvent[] {
    const sections = calls ? { EmergencyCalls: calls } : {};
    return this.#judgeReading({ at, gameServer, settings: BASE_INFO, sections, offline: null });
  }

  offline(at: number): NewEvent[] {
    return this.#judgeReading(readOffline(at, "a", { code: 3002, message: "offline" }));
  }

  start(at: number, changes: Fields = {}): NewEvent[] {
    return this.hook(at, { event: "EmergencyCallStarted", data: told(changes) });
  }

  end(at: number, changes: Fields = {}): NewEvent[] {
    return this.hook(at, { event: "EmergencyCallEnded", data: told(changes) });
  }

  hook(at: number, event: Fields, gameServer = "a", signature = `${++this.#hooks}`): NewEvent[] {
    const timestamp = Math.floor(at / 1000) - 2;
    const body = parseHookBody(JSON.stringify({ server: gameServer, events: [{ timestamp, origin: "1", ...event }] }));
    const hook: GameHook = { gameServer, signature, seenAt: at, events: body.events };
    const identified = identifyHook(this.memory, hook, (text) => text);
    const judged = judgeHook(this.memory, identified, (identity) => this.recorded.has(identity));
    return this.#keep(judged);
  }

  pass(at: number): NewEvent[] {
    const { events, memory } = judgeUnshownCalls(this.memory, at);
    return this.#keep({ events, memory: { ...this.memory, ...memory } });
  }

  #judgeReading(reading: Parameters<typeof identifyReading>[1]): NewEvent[] {
    const identified = identifyReading(this.memory, reading, (text) => text);
    const context = { now: reading.at, isWatched: true, intervalMs: 5_000, lostSince: null };
    const isKnown = (identity: string) => this.recorded.has(identity);
    const judged = judgeReading(this.memory, identified, {
      ...context,
      isKnown,
      findCommand: () => undefined,
    });
    return this.#keep(judged);
  }

  #keep({ events, memory }: { events: readonly NewEvent[]; memory: ServerMemory }): NewEvent[] {
    this.memory = parseMemory(writeChangedParts(NOTHING_KNOWN, memory));
    for (const { identity } of events) {
      if (identity !== null && this.recorded.has(identity)) throw new Error(`told twice: ${identity}`);
      if (identity !== null) this.recorded.add(identity);
    }
    return [...events];
  }
}

function afterFirst(): Told {
  const server = new Told();
  server.read(T0, []);
  return server;
}

const types = (events: readonly NewEvent[]) => events.map(({ type }) => type);

describe("a call that a webhook opens", () => {
  test("is told with the names of a read, at the webhook's time", () => {
    const [event] = afterFirst().start(T0 + 2_000);
    expect(event).toMatchObject({
      type: "call.opened",
      source: "webhook",
      at: T0,
      seenAt: T0 + 2_000,
      isBackfill: false,
    });
    expect(JSON.parse(event?.data ?? "")).toEqual(shown());
  });

  test("and that a reading then shows is no further event", () => {
    const server = afterFirst();
    server.start(T0 + 2_000);
    expect(server.read(T0 + 5_000, [shown()])).toEqual([]);
    expect(server.start(T0 + 6_000)).toEqual([]);
    expect(server.read(T0 + 10_000, [shown()])).toEqual([]);
    expect(server.read(T0 + 15_000, [])).toEqual([]);
    expect(types(server.read(T0 + 20_000, []))).toEqual(["call.closed"]);
  });

  test("and that a reading then shows with other spellings of its integers is no further event", () => {
    const server = afterFirst();
    server.start(T0 + 2_000);
    const spelled = shown({
      CallNumber: JSON.rawJSON("400.0"),
      StartedAt: JSON.rawJSON(`${S0}.0`),
      Caller: JSON.rawJSON("1.68e2"),
      Players: [JSON.rawJSON("1.0"), 2],
    });
    expect(server.read(T0 + 5_000, [spelled])).toEqual([]);
    expect(types(server.end(T0 + 6_000))).toEqual(["call.closed"]);
    expect(server.read(T0 + 10_000, [spelled])).toEqual([]);
  });

  test("and that a reading shows otherwise has changed", () => {
    const server = afterFirst();
    server.start(T0 + 2_000, { players: [], description: null });
    expect(server.read(T0 + 5_000, [shown()])).toMatchObject([
      { type: "call.changed", source: "diff", meta: '{"changed":["Players","Description"]}' },
    ]);
  });

  test("that no reading shows is closed after 60 s, by a reading or without one", () => {
    for (const isRead of [true, false]) {
      const server = afterFirst();
      server.start(T0 + 2_000);
      const look = (at: number) => (isRead ? server.read(at, []) : server.pass(at));
      expect(look(T0 + 31_000)).toEqual([]);
      expect(look(T0 + 61_999)).toEqual([]);
      expect(types(look(T0 + 62_000))).toEqual(["call.closed"]);
      expect(server.start(T0 + 63_000)).toEqual([]);
      // After a minute without a reading there is a gap, but never a second opening.
      expect(types(server.read(T0 + 64_000, [shown()]))).toEqual(isRead ? [] : ["gap"]);
    }
  });

  test("is closed so by a reading without the section, and by one of an offline server", () => {
    const server = afterFirst();
    server.start(T0 + 2_000);
    expect(server.read(T0 + 5_000, undefined)).toEqual([]);
    expect(types(server.read(T0 + 62_000, undefined))).toEqual(["call.closed"]);
    server.start(T0 + 63_000, { callNumber: 401 });
    expect(types(server.offline(T0 + 64_000))).toEqual(["server.offline"]);
    expect(types(server.offline(T0 + 123_000))).toEqual(["call.closed"]);
  });

  test("before the first reading is no backfill, and the others of that reading are", () => {
    const server = new Told();
    expect(server.start(T0)).toMatchObject([{ isBackfill: false }]);
    const other = shown({ CallNumber: 7 });
    expect(server.read(T0 + 5_000, [shown(), other])).toMatchObject([
      { type: "call.opened", isBackfill: true, data: JSON.stringify(other) },
    ]);
  });

  test("of another team, number or time is another call", () => {
    const server = afterFirst();
    server.read(T0 + 5_000, [shown()]);
    for (const changes of [{ team: "Fire" }, { callNumber: 401 }, { startedAt: S0 + 1 }]) {
      expect(types(server.start(T0 + 6_000, changes))).toEqual(["call.opened"]);
    }
    expect(server.start(T0 + 6_000)).toEqual([]);
  });
});

describe("a call whose end a webhook tells", () => {
  test("is closed at once with what is known last, and not opened again while readings still show it", () => {
    const server = afterFirst();
    server.read(T0 + 5_000, [shown()]);
    const [event, ...more] = server.end(T0 + 7_000, { players: [1, 2, 3] });
    expect(event).toMatchObject({ type: "call.closed", source: "webhook", at: T0 + 5_000 });
    expect(JSON.parse(event?.data ?? "")).toEqual(shown({ Players: [1, 2, 3] }));
    expect(more).toEqual([]);
    for (let n = 2; n < 400; n++) expect(server.read(T0 + n * 5_000, [shown()])).toEqual([]);
    expect(server.read(T0 + CLOSED_KEPT_MS * 4, [])).toMatchObject([{ type: "gap" }]);
    expect(server.memory.closedCalls).toEqual([]);
    expect(server.read(T0 + CLOSED_KEPT_MS * 4 + 5_000, [shown()])).toEqual([]);
  });

  test("and that readings have closed before, or a webhook, is not closed again", () => {
    const server = afterFirst();
    server.read(T0 + 5_000, [shown()]);
    server.read(T0 + 10_000, []);
    expect(types(server.read(T0 + 15_000, []))).toEqual(["call.closed"]);
    expect(server.end(T0 + 16_000)).toEqual([]);
    expect(server.end(T0 + 17_000, { team: "ALL" })).toEqual([]);
  });

  test("before its start is closed once, and the late start opens nothing", () => {
    const server = afterFirst();
    expect(types(server.end(T0 + 2_000))).toEqual(["call.closed"]);
    expect(server.start(T0 + 3_000)).toEqual([]);
    expect(server.read(T0 + 5_000, [shown()])).toEqual([]);
    expect(server.end(T0 + 6_000)).toEqual([]);
  });
});

describe("a call for all teams", () => {
  test("is the one that a reading shows with a team, and both ends are its end", () => {
    for (const team of ["ALL", "Police"]) {
      const server = afterFirst();
      expect(types(server.start(T0 + 2_000, { team: "ALL" }))).toEqual(["call.opened"]);
      expect(server.read(T0 + 5_000, [shown()])).toEqual([]);
      const [closed] = server.end(T0 + 6_000, { team });
      expect(closed?.type).toBe("call.closed");
      expect(JSON.parse(closed?.data ?? "").Team).toBe("Police");
      expect(server.read(T0 + 10_000, [shown()])).toEqual([]);
      expect(server.start(T0 + 11_000)).toEqual([]);
    }
  });

  test("is one call, also when readings show it once for each team", () => {
    const server = afterFirst();
    server.start(T0 + 2_000, { team: "ALL" });
    const each = [shown(), shown({ Team: "Fire" })];
    expect(server.read(T0 + 5_000, each)).toEqual([]);
    expect(server.read(T0 + 10_000, each)).toEqual([]);
    expect(types(server.end(T0 + 11_000, { team: "ALL" }))).toEqual(["call.closed"]);
    expect(server.read(T0 + 15_000, each)).toEqual([]);
  });

  test("that a reading has shown before tells nothing", () => {
    const server = afterFirst();
    server.read(T0 + 5_000, [shown()]);
    expect(server.start(T0 + 6_000, { team: "ALL" })).toEqual([]);
    expect(types(server.end(T0 + 7_000, { team: "ALL" }))).toEqual(["call.closed"]);
  });
});

describe("ceilings", () => {
  test("with too many calls that only webhooks have told of, the oldest is closed", () => {
    const server = afterFirst();
    for (let n = 0; n < UNSHOWN_CALLS_MAX; n++) {
      expect(types(server.start(T0 + 2_000, { callNumber: n }))).toEqual(["call.opened"]);
    }
    const events = server.start(T0 + 3_000, { callNumber: UNSHOWN_CALLS_MAX });
    expect(types(events).toSorted()).toEqual(["call.closed", "call.opened"]);
    expect(server.memory.calls).toHaveLength(UNSHOWN_CALLS_MAX);
  });

  test("the newest closed calls are remembered", () => {
    const server = afterFirst();
    for (let n = 0; n <= CLOSED_CALLS_MAX; n++) server.end(T0 + 2_000, { callNumber: n });
    expect(server.memory.closedCalls).toHaveLength(CLOSED_CALLS_MAX);
    expect(server.start(T0 + 3_000, { callNumber: 0 })).toEqual([]);
  });
});

test("a custom command is recorded once for each signature, also over another game server", () => {
  const server = afterFirst();
  const command = { event: "CustomCommand", data: { command: "panic" } };
  expect(server.hook(T0 + 1_000, command, "a", "sig")).toMatchObject([
    { type: "custom.command", source: "webhook", at: T0 - 1_000, seenAt: T0 + 1_000, players: ["1"] },
  ]);
  expect(server.hook(T0 + 1_000, command, "a", "sig")).toEqual([]);
  expect(types(server.hook(T0 + 1_000, command, "a", "other"))).toEqual(["custom.command"]);
  server.read(T0 + 5_000, [], "b");
  expect(server.hook(T0 + 6_000, command, "b", "sig")).toEqual([]);
});

test("a webhook of another game server comes after a gap, and the first reading of it is backfill", () => {
  const server = afterFirst();
  server.read(T0 + 5_000, [shown()]);
  const command = { event: "CustomCommand", data: { command: "panic" } };
  expect(types(server.hook(T0 + 6_000, command, "b"))).toEqual(["gap", "custom.command"]);
  expect(server.read(T0 + 10_000, [shown()], "b")).toMatchObject([{ type: "call.opened", isBackfill: true }]);
});

test("whatever the order of webhooks and readings: opened once at most, closed once, and never opened after", () => {
  const step = fc.record({
    kind: fc.constantFrom("start", "end", "read", "read", "pass", "long"),
    call: fc.integer({ min: 0, max: 2 }),
    team: fc.constantFrom("Police", "ALL"),
    shows: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 3 }),
  });
  const runs = fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
    const server = afterFirst();
    const state = new Map<number, string>();
    let now = T0;
    const check = (events: readonly NewEvent[]) => {
      for (const { type, data } of events) {
        if (!type.startsWith("call.")) continue;
        const number = JSON.parse(data).CallNumber as number;
        const before = state.get(number);
        if (type === "call.opened") expect(before).toBeUndefined();
        else expect(before).not.toBe("call.closed");
        if (type === "call.changed") expect(before).toBeDefined();
        state.set(number, type === "call.changed" ? "call.opened" : type);
      }
    };
    for (const { kind, call, team, shows } of steps) {
      now += kind === "long" ? 29_000 : 2_000;
      if (kind === "start") check(server.start(now, { callNumber: call, team }));
      else if (kind === "end") check(server.end(now, { callNumber: call, team }));
      else if (kind === "read")
        check(
          server.read(
            now,
            shows.map((n) => shown({ CallNumber: n })),
          ),
        );
      else check(server.pass(now));
    }
    // Everything ends when nothing is shown any more.
    for (let n = 1; n <= 20; n++) check(server.read(now + n * 5_000, []));
    for (const type of state.values()) expect(type).toBe("call.closed");
  });
  fc.assert(runs, { numRuns: repeat({ usual: 200, long: 20_000 }) });
});
