// The rules of the game API: keys, limits, error codes and body forms. Without sockets, with a fake clock.
import { beforeEach, describe, expect, test } from "bun:test";
import type { Answer } from "./error-answers.ts";
import { type GameCall, Protocol, type ProtocolRules } from "./protocol.ts";
import { chooseQuirks } from "./quirks.ts";
import { TOWNS_MAX, TownRegistry } from "./town-registry.ts";

const START_MS = 1_800_000_000_000;
let nowMs = START_MS;
beforeEach(() => {
  nowMs = START_MS;
});

function open(changes: Partial<ProtocolRules> = {}, playersWanted = 4): Protocol {
  const towns = new TownRegistry({ seed: 1, playersWanted, maxPlayers: 4, speed: 1, logWindow: 50 });
  const quirks = chooseQuirks(false);
  return new Protocol({
    seed: 1,
    towns,
    quirks,
    readLimit: 35,
    commandIntervalMs: 5000,
    clock: () => nowMs,
    ...changes,
  });
}

const READ: GameCall = {
  kind: "read",
  query: "",
  serverKey: "abc-town",
  globalKey: "",
  source: "10.0.0.1",
  body: "",
};
const commandCall = (text: unknown, serverKey = "abc-town"): GameCall => ({
  ...{ ...READ, kind: "command", serverKey },
  body: JSON.stringify({ command: text }),
});
const bodyOf = (answer: Answer) => JSON.parse(answer.body);

describe("keys", () => {
  test.each([
    ["", 403, 2000],
    ["nohyphen", 403, 2001],
    ["two-hyphens-here", 403, 2001],
    ["späce-town", 403, 2001],
    ["-", 403, 2001],
    [`${"a".repeat(300)}-town`, 403, 2001],
    ["invalid-town", 403, 2002],
    ["banned-town", 403, 2004],
    ["offline-town", 422, 3002],
  ])("server key %p is answered with %i and code %i", (serverKey, status, code) => {
    for (const kind of ["read", "command"] as const) {
      const answer = open().answer({ ...READ, kind, serverKey, body: '{"command":":h hi"}' });
      expect([answer.status, answer.code, bodyOf(answer).code]).toEqual([status, code, code]);
    }
  });

  test("a bad global key is 403 with 2003, a good one passes", () => {
    expect(open().answer({ ...READ, globalKey: "invalid" })).toMatchObject({ status: 403, code: 2003 });
    expect(open().answer({ ...READ, globalKey: "myapplication" }).status).toBe(200);
  });

  test("the part of the key after the hyphen decides the town", () => {
    const protocol = open();
    const players = (serverKey: string) => protocol.answer({ ...READ, serverKey, query: "Players=true" }).body;
    expect(players("abc-town")).toBe(players("xyz-town"));
    expect(players("abc-town")).not.toBe(players("abc-other"));
  });

  test("without players every server is offline, for reads and for commands", () => {
    const protocol = open({}, 0);
    expect(protocol.answer(READ)).toMatchObject({ status: 422, code: 3002 });
    expect(protocol.answer(commandCall(":h hi"))).toMatchObject({ status: 422, code: 3002 });
  });

  test("no more than TOWNS_MAX towns are kept", () => {
    const towns = new TownRegistry({ seed: 1, playersWanted: 1, maxPlayers: 1, speed: 1, logWindow: 50 });
    const first = towns.getCurrent("first", nowMs);
    for (let i = 0; i < TOWNS_MAX - 1; i++) towns.getCurrent(`t${i}`, nowMs);
    expect(towns.getCurrent("first", nowMs)).toBe(first);
    towns.getCurrent("one-more", nowMs);
    expect(towns.size).toBe(TOWNS_MAX);
    expect(towns.getCurrent("first", nowMs)).toBe(first);
  });
});

describe("the read limit", () => {
  test("is shared by all server keys of one address, sent in headers, and reset after a minute", () => {
    const protocol = open();
    for (let i = 0; i < 35; i++) {
      const { status, headers } = protocol.answer({ ...READ, serverKey: `abc-town${i % 3}` });
      expect([status, headers["X-RateLimit-Remaining"]]).toEqual([200, String(34 - i)]);
    }
    nowMs += 10_500;
    const refused = protocol.answer(READ);
    expect(refused.status).toBe(429);
    expect(bodyOf(refused)).toEqual({
      message: "You are being rate limited!",
      retry_after: 50,
      bucket: "unauthenticated-global",
      code: 4001,
    });
    expect(refused.headers).toMatchObject({
      "X-RateLimit-Bucket": "unauthenticated-global",
      "X-RateLimit-Limit": "35",
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": String((START_MS + 60_000) / 1000),
      "Retry-After": "50",
    });
    expect(protocol.answer({ ...READ, source: "10.0.0.2" }).status).toBe(200);
    nowMs = START_MS + 60_000;
    expect(protocol.answer(READ).status).toBe(200);
  });

  test("is ten times as large, and separate, for an application with a global key", () => {
    const protocol = open({ readLimit: 2 });
    const statuses = Array.from({ length: 21 }, () => protocol.answer({ ...READ, globalKey: "app" }).status);
    expect(statuses.filter((status) => status === 200).length).toBe(20);
    expect(protocol.answer(READ).status).toBe(200);
  });

  test("of 0 means no limit and no rate-limit headers", () => {
    const protocol = open({ readLimit: 0 });
    for (let i = 0; i < 200; i++) expect(protocol.answer(READ).status).toBe(200);
    expect(Object.keys(protocol.answer(READ).headers)).toEqual(["Content-Type"]);
  });

  test("does not count calls with a bad key", () => {
    const protocol = open({ readLimit: 1 });
    for (let i = 0; i < 5; i++) protocol.answer({ ...READ, serverKey: "invalid-town" });
    expect(protocol.answer(READ).status).toBe(200);
  });
});

describe("commands", () => {
  test("each server accepts one in five seconds, in a bucket named after its key", () => {
    const protocol = open();
    const first = protocol.answer(commandCall(":h one"));
    expect([first.status, first.headers["X-RateLimit-Bucket"]]).toEqual([200, "command-abc-town"]);
    nowMs += 4999;
    expect(protocol.answer(commandCall(":h two"))).toMatchObject({ status: 429, code: 4001 });
    expect(protocol.answer(commandCall(":h other", "abc-other")).status).toBe(200);
    nowMs += 1;
    expect(protocol.answer(commandCall(":h three")).status).toBe(200);
  });

  test("an interval of 0 means no limit", () => {
    const protocol = open({ commandIntervalMs: 0 });
    for (let i = 0; i < 20; i++) expect(protocol.answer(commandCall(":h again")).status).toBe(200);
  });

  test("appear in CommandLogs, newest first", () => {
    const protocol = open({ quirks: chooseQuirks(true) });
    protocol.answer(commandCall(":h seen"));
    const { CommandLogs } = bodyOf(protocol.answer({ ...READ, query: "CommandLogs=true" }));
    expect(CommandLogs[0]).toEqual({
      Player: "Remote Server",
      Timestamp: START_MS / 1000,
      Command: ":h seen",
    });
  });

  test.each([
    [":nosuchword", 400, 3001],
    ["no colon", 400, 3001],
    [7, 400, 3001],
    [`:h ${"x".repeat(998)}`, 400, 3001],
    [":shutdown", 403, 4002],
  ])("%p is answered with %i and code %i", (text, status, code) => {
    expect(open().answer(commandCall(text))).toMatchObject({ status, code });
  });

  test.each(["", "not json", "null", "[]", '"text"', "{}"])("body %p is 400 with 3001", (body) => {
    expect(open().answer({ ...commandCall(""), body })).toMatchObject({ status: 400, code: 3001 });
  });

  test("a command of exactly 1,000 characters is accepted", () => {
    expect(open().answer(commandCall(`:h ${"x".repeat(997)}`)).status).toBe(200);
  });

  test("the quirk that adds a commandId affects some answers, and none when it is off", () => {
    const answersWith = (isOn: boolean) => {
      const protocol = open({ commandIntervalMs: 0, quirks: chooseQuirks(isOn) });
      return Array.from({ length: 20 }, () => bodyOf(protocol.answer(commandCall(":h hi"))));
    };
    const withId = answersWith(true).filter((answer) => "commandId" in answer);
    expect(withId.length).toBeGreaterThan(0);
    expect(withId.length).toBeLessThan(20);
    expect(answersWith(false)).toEqual(Array(20).fill({ message: "Success" }));
  });
});

describe("quirks of the protocol", () => {
  test("a repeated parameter is 400 with the quirk and ignored without", () => {
    const call = { ...READ, query: "Players=true&Players=true" };
    expect(open({ quirks: chooseQuirks(true) }).answer(call).status).toBe(400);
    expect(open().answer(call).status).toBe(200);
  });

  test("some errors have the form {error, code}, always the same ones, and none when the quirk is off", () => {
    const formsWith = (isOn: boolean) =>
      Array.from({ length: 40 }, (_, i) =>
        Object.keys(bodyOf(open({ quirks: chooseQuirks(isOn) }).answer({ ...READ, serverKey: `invalid-${i}` }))).join(),
      );
    expect(new Set(formsWith(true))).toEqual(new Set(["code,message", "error,code"]));
    expect(formsWith(true)).toEqual(formsWith(true));
    expect(new Set(formsWith(false))).toEqual(new Set(["code,message"]));
  });
});
