// What the game's webhooks say, and what becomes of bodies that say something else.
import { describe, expect, test } from "bun:test";
import { type HookBody, isToldCall, parseHookBody, UNKNOWN_DATA_MAX } from "./game-hook.ts";

const COMMAND = {
  event: "CustomCommand",
  timestamp: 1_775_518_795,
  origin: "913430532",
  data: { command: "logging", argument: "This is a custom command." },
};
const CALL = {
  players: [],
  caller: 913430532,
  description: "hekp me",
  callNumber: 136,
  team: "Fire",
  position: [2358.7, 1180.1],
  positionDescriptor: "rta",
  startedAt: 1_775_442_933,
};
const STARTED = { event: "EmergencyCallStarted", timestamp: 1_775_442_933, origin: "server", data: CALL };

const parse = (...events: unknown[]): HookBody => parseHookBody(JSON.stringify({ server: "abc", events }));
const parseOne = (event: unknown) => parse(event).events[0];
/** `data` of the only event, which is no call. */
const dataOf = (event: unknown): unknown => {
  const told = parseOne(event);
  if (!told || isToldCall(told)) throw new Error("not an event of its own");
  return [told.type, JSON.parse(told.data)];
};

test("the probe of the game is counted and tells nothing", () => {
  const probe = { event: "WebhookProbe", timestamp: 1_775_444_267, origin: "global", data: {} };
  const body = parseHookBody(JSON.stringify({ server: "global", events: [probe] }));
  expect(body).toEqual({ server: "global", events: [], probes: 1, dropped: 0 });
});

describe("a custom command", () => {
  test("has the command, its argument and the player's id as text, at the game's own time", () => {
    expect(parseOne(COMMAND)).toEqual({
      type: "custom.command",
      at: 1_775_518_795_000,
      data: '{"Command":"logging","Argument":"This is a custom command.","Player":"913430532"}',
      players: ["913430532"],
    });
  });

  test.each([
    ["no argument", { data: { command: "panic" } }, { Command: "panic", Argument: "" }],
    ["null as argument", { data: { command: "panic", argument: null } }, { Command: "panic", Argument: "" }],
    ["a semicolon", { data: { command: "; panic", argument: "" } }, { Command: "panic", Argument: "" }],
  ])("with %s", (_, changes, expected) => {
    const data = { ...expected, Player: "913430532" };
    expect(dataOf({ ...COMMAND, ...changes })).toEqual(["custom.command", data]);
  });

  test("with an id that no double can hold keeps every digit", () => {
    const text = JSON.stringify({ server: "abc", events: [{ ...COMMAND, origin: 0 }] });
    const { events } = parseHookBody(text.replace('"origin":0', '"origin":12345678901234567890'));
    expect(events).toMatchObject([{ players: ["12345678901234567890"] }]);
  });
});

describe("an emergency call", () => {
  test("has the names and the order of a read", () => {
    expect(parseOne(STARTED)).toEqual({
      isEnd: false,
      at: 1_775_442_933_000,
      team: '"Fire"',
      number: "136",
      startedAt: "1775442933",
      fields: {
        Team: '"Fire"',
        Caller: "913430532",
        Players: "[]",
        Position: "[2358.7,1180.1]",
        StartedAt: "1775442933",
        CallNumber: "136",
        Description: '"hekp me"',
        PositionDescriptor: '"rta"',
      },
    });
    expect(parseOne({ ...STARTED, event: "EmergencyCallEnded" })).toMatchObject({ isEnd: true });
  });

  test("leaves out what is null or no such value, as a read does", () => {
    const odd = { ...CALL, caller: null, description: null, players: ["x"], position: [1], extra: 1 };
    const told = parseOne({ ...STARTED, data: odd });
    if (!told || !isToldCall(told)) throw new Error("no call");
    const names = ["Team", "StartedAt", "CallNumber", "PositionDescriptor"];
    expect(Object.keys(told.fields)).toEqual(names);
  });

  test("keeps integers that no double can hold", () => {
    const text = JSON.stringify({ server: "abc", events: [STARTED] });
    const { events } = parseHookBody(text.replace("913430532", "12345678901234567890"));
    expect(events).toMatchObject([{ fields: { Caller: "12345678901234567890" } }]);
  });

  test("whose number was written as 136.0 is the call 136", () => {
    const text = JSON.stringify({ server: "abc", events: [STARTED] }).replace(":136,", ":136.0,");
    expect(parseHookBody(text).events).toMatchObject([{ number: "136", fields: { CallNumber: "136" } }]);
    const long = text.replace(":136.0,", ":9007199254740993.0,");
    expect(parseHookBody(long).events).toMatchObject([{ number: "9007199254740993" }]);
  });
});

describe("a kind that is not known", () => {
  test("is kept with its data, exactly", () => {
    const text = '{"server":"abc","events":[{"event":"New","timestamp":1,"data":{"n":12345678901234567890}}]}';
    expect(parseHookBody(text).events).toEqual([
      {
        type: "custom.unknown",
        at: 1_000,
        data: '{"Event":"New","Data":{"n":12345678901234567890}}',
        players: [],
      },
    ]);
    expect(dataOf({ event: "New" })).toEqual(["custom.unknown", { Event: "New", Data: null }]);
  });

  test("with more than 4 KiB of data keeps the first 4,096 characters of their JSON text, as a string", () => {
    const fitting = "x".repeat(UNKNOWN_DATA_MAX - 2);
    expect(dataOf({ event: "New", data: fitting })).toEqual(["custom.unknown", { Event: "New", Data: fitting }]);
    const data = { text: "y".repeat(60_000) };
    const cut = JSON.stringify(data).slice(0, UNKNOWN_DATA_MAX);
    expect(dataOf({ event: "New", data })).toEqual(["custom.unknown", { Event: "New", Data: cut }]);
    // Bytes decide, characters are kept, and no character is cut in half.
    const cyrillic = "Ж".repeat(3_000);
    expect(dataOf({ event: "New", data: cyrillic })).toEqual([
      "custom.unknown",
      { Event: "New", Data: JSON.stringify(cyrillic) },
    ]);
    const Data = `"${"🚓".repeat(UNKNOWN_DATA_MAX - 1)}`;
    expect(dataOf({ event: "New", data: "🚓".repeat(9_000) })).toEqual(["custom.unknown", { Event: "New", Data }]);
  });
});

test("a body tells everything that it has room for", () => {
  const body = parse(...Array.from({ length: 5_000 }, () => COMMAND));
  expect([body.events.length, body.dropped]).toEqual([5_000, 0]);
  const argument = "x".repeat(60_000);
  expect(dataOf({ ...COMMAND, data: { command: "a", argument } })).toMatchObject([
    "custom.command",
    { Argument: argument },
  ]);
  const event = "New".repeat(10_000);
  expect(dataOf({ event })).toMatchObject(["custom.unknown", { Event: event }]);
});

describe("what has a broken shape", () => {
  test.each([
    ["a command that is a number", { ...COMMAND, data: { command: 1 } }],
    ["a command without a name", { ...COMMAND, data: { command: ";" } }],
    ["a command of nobody", { ...COMMAND, origin: "server" }],
    ["a command without data", { ...COMMAND, data: null }],
    ["a command with an argument that is a list", { ...COMMAND, data: { command: "a", argument: [] } }],
    ["a call without a number", { ...STARTED, data: { ...CALL, callNumber: null } }],
    ["a call with half a number", { ...STARTED, data: { ...CALL, callNumber: 1.5 } }],
    ["a call without a team", { ...STARTED, data: { ...CALL, team: 7 } }],
    ["a call that began at no time", { ...STARTED, data: { ...CALL, startedAt: 1e300 } }],
    ["a call that is a list", { ...STARTED, data: [] }],
  ])("%s is kept as an unknown event", (_, event) => {
    const Data = JSON.stringify(event.data).length > UNKNOWN_DATA_MAX ? expect.any(String) : event.data;
    expect(dataOf(event)).toEqual(["custom.unknown", { Event: event.event, Data }]);
  });

  test("what is no event at all is dropped and counted, and the others are kept", () => {
    const body = parse(null, 1, "x", [], {}, { event: 7 }, { event: null }, COMMAND);
    expect(body).toMatchObject({ dropped: 7, events: [{ type: "custom.command" }] });
  });

  test("a time that is none is left out", () => {
    for (const timestamp of [null, "soon", -1, 1e300, {}, undefined]) {
      expect(parseOne({ ...COMMAND, timestamp })).toMatchObject({ at: null });
    }
  });

  test("a body that is no webhook says nothing", () => {
    for (const text of ["[]", "null", "7", '"x"', "{}", '{"server":1,"events":{}}']) {
      expect(parseHookBody(text)).toEqual({ server: null, events: [], probes: 0, dropped: 0 });
    }
  });

  test("no JSON, or JSON that is nested too deeply, is an error that can be caught, at once", () => {
    for (const number of ["", "1.0"]) {
      for (const depth of [200, 30_000]) {
        const text = `{"server":"abc","events":${"[".repeat(depth)}${number}${"]".repeat(depth)}}`;
        expect(() => parseHookBody(text)).toThrow(RangeError);
      }
    }
    expect(() => parseHookBody("{")).toThrow(SyntaxError);
  });

  test("__proto__ is a name like any other", () => {
    const text = '{"server":"abc","events":[{"event":"New","data":{"__proto__":{"x":1}}}]}';
    expect(parseHookBody(text).events).toMatchObject([{ data: '{"Event":"New","Data":{"__proto__":{"x":1}}}' }]);
  });
});
