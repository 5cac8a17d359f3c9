// What operators are told about a server, from readings of this instance and of others.
import { beforeEach, describe, expect, test } from "bun:test";
import { bad, openRelay, read, resetStage, server, stage } from "../../../test/relay-stage.ts";
import type { SharedNews } from "../../core/ports/relay-share.ts";
import { CLOSED_BREAKER } from "../../core/readings/breaker.ts";
import { OFFLINE } from "../../core/readings/upstream-codes.ts";
import { SECTIONS, type Section } from "../../core/sections.ts";
import { GlobalKey, ServerStatuses } from "./server-statuses.ts";

const NOW = 1_800_000_000_000;
const REFUSED = { code: 1001, message: "no answer", isRateLimit: false };
const partsWith = (players: string, sections: Partial<Record<Section, string>> = {}) => ({
  ...{ base: `{"Name":"\\"CurrentPlayers\\":9","CurrentPlayers":${players},"MaxPlayers":40` },
  ...{ sections: SECTIONS.map((name) => sections[name] ?? "[]"), misfits: 0 },
});
const COUNTS = { players: 7, playersMax: 40, queue: 0, openModCalls: 0, openCalls: 0 };

beforeEach(resetStage);

describe("of a reading of another instance", () => {
  const open = () => new ServerStatuses(2_000, new GlobalKey({ isUsed: false }), undefined, NOW);
  const shared = { keyRevision: 1, remembered: null, breaker: CLOSED_BREAKER, breakerFailure: null };
  const newsOf = (change: Partial<SharedNews>): SharedNews => ({
    version: 1,
    status: { ...shared, lastFailure: null, lastCallAt: NOW },
    reading: { parts: partsWith("7"), fetchedAt: NOW, keyRevision: 1 },
    ...change,
  });

  test("state, players and time are known without a reading of our own", () => {
    const statuses = open();
    statuses.learnNews(statuses.of(server(), NOW), newsOf({}), NOW);
    expect(statuses.summarize(server())).toEqual({
      ...{ state: "online", counts: COUNTS, lastReadAt: NOW, lastError: null },
    });
    expect(statuses.summarize(server("a", 2)).state).toBe("not_asked");
  });

  test("so is its failure, with the players of the reading before", () => {
    const statuses = open();
    const lastFailure = { failure: REFUSED, at: NOW + 1 };
    const status = { ...shared, lastFailure, lastCallAt: NOW + 1 };
    statuses.learnNews(statuses.of(server(), NOW), newsOf({ status }), NOW + 1);
    expect(statuses.summarize(server())).toEqual({
      ...{ state: "unreachable", counts: COUNTS, lastReadAt: NOW, lastError: lastFailure },
    });
  });

  test("one that is not fresh any more is never served, and its time is told", () => {
    for (const ageMs of [1_999, 2_000, 60_000]) {
      const statuses = open();
      const status = statuses.of(server(), NOW);
      statuses.learnNews(status, newsOf({}), NOW + ageMs);
      expect(status.hit !== undefined).toBe(ageMs < 2_000);
      expect(statuses.summarize(server())).toMatchObject({ state: "online", lastReadAt: NOW });
    }
  });

  test("one for another key of the server says nothing", () => {
    const statuses = open();
    const status = { ...shared, keyRevision: 2, lastFailure: { failure: REFUSED, at: NOW }, lastCallAt: NOW };
    const reading = { parts: partsWith("7"), fetchedAt: NOW, keyRevision: 2 };
    statuses.learnNews(statuses.of(server(), NOW), newsOf({ status, reading }), NOW);
    expect(statuses.summarize(server()).state).toBe("not_asked");
  });
});

test("a refused global key is the state of every server", async () => {
  stage.relay = openRelay({ hasGlobalKey: true });
  stage.answerCall = () => bad(2003);
  await read(server("a"));
  const lastError = { failure: { code: 2003, message: "said 2003", isRateLimit: false }, at: stage.now };
  for (const name of ["a", "b"]) {
    expect(stage.relay.summarize(server(name))).toMatchObject({ state: "key_refused", lastError });
  }
});

test("a number of players that cannot be told exactly is null", async () => {
  for (const [written, players] of [
    ...[["12", 12] as const, ["1e1", 10] as const, ["1.0", 1] as const, ["9007199254740993", null] as const],
  ]) {
    resetStage();
    const hint = { limit: null, remaining: null, resetAt: null, retryAfterMs: null };
    stage.answerCall = () => ({ hint, parts: partsWith(written), content: { settings: {}, sections: {} } });
    await read();
    expect(stage.relay.summarize(server()).counts.players).toBe(players);
  }
});

test("queue, calls for a moderator that wait and emergency calls are counted, and are 0 once it is offline", async () => {
  const hint = { limit: null, remaining: null, resetAt: null, retryAfterMs: null };
  const parts = partsWith("40", {
    Queue: "[90071992547409931,2,3]",
    Players: `[{"Player":"A:1"},{"Player":"Renamed:2"},{"Player":"E:5"}]`,
    // Of these somebody has come to one, one caller has left, and one call is an hour old.
    ModCalls: `[{"Caller":"A:1","Moderator":null},{"Caller":"B:2"},{"Caller":"\\"Moderator\\":C","Moderator":"D:4"},
      {"Caller":"Gone:3"},{"Caller":"E:5","Timestamp":${stage.now / 1000 - 3_600}}]`,
    EmergencyCalls: `[{"Team":"Police","Players":[1,2]}]`,
  });
  stage.answerCall = () => ({ hint, parts, content: { settings: {}, sections: {} } });
  await read();
  const counts = { players: 40, playersMax: 40, queue: 3, openModCalls: 2, openCalls: 1 };
  expect(stage.relay.summarize(server()).counts).toEqual(counts);
  stage.now += 60_000;
  stage.answerCall = () => bad(OFFLINE);
  await read();
  const nobody = { players: 0, playersMax: 40, queue: 0, openModCalls: 0, openCalls: 0 };
  expect(stage.relay.summarize(server()).counts).toEqual(nobody);
});

test("a deleted server is forgotten", async () => {
  await read();
  expect(stage.relay.summarize(server()).state).toBe("online");
  stage.relay.forgetDeleted(() => false);
  expect(stage.relay.summarize(server()).state).toBe("not_asked");
});
