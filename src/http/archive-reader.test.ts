// Readers of the archive are judged again after it was read: keys for the purpose they were admitted for, operators by the server.
import { expect, test } from "bun:test";
import { type ApiKey, DEFAULT_RIGHTS } from "../core/api-key.ts";
import { ERRORS, isRefusal, type Refusal, refuse } from "../core/errors.ts";
import type { GameServer } from "../core/game-server.ts";
import { NOT_FOUND } from "../core/refuse-field.ts";
import { ALL_SECTIONS, toSectionSet } from "../core/sections.ts";
import { findOperatorReader, toArchiveReader } from "./archive-reader.ts";
import { Call, type Connection } from "./call.ts";
import { type Purpose, READING_MAP } from "./caller-steps.ts";

const NOW = 1_800_000_000_000;
const CONNECTION: Connection = { requestIP: () => null, timeout() {} };
const SERVER: GameServer = {
  ...{ serverId: "srv_1", name: "Town", community: null },
  ...{ createdAt: 0, keyRevision: 1, isSimulated: false, isWatched: true, publicStatus: null },
};
const { ipAllow: _, ...rights } = DEFAULT_RIGHTS;

function makeKey(sections: number): ApiKey {
  const grant = { ...rights, sections, allowedFrom: null, isSuspended: false };
  return { keyId: "key_1", serverId: "srv_1", grant, expiresAt: null };
}

function setUp() {
  const target = { path: "", query: "", params: { id: "srv_1" }, routeName: "", sections: 0 };
  const call = new Call(new Request("http://127.0.0.1/"), target, CONNECTION, NOW);
  const asked: unknown[] = [];
  const state: { judged: ApiKey | Refusal; server: GameServer | undefined } = {
    judged: makeKey(ALL_SECTIONS),
    server: SERVER,
  };
  const parts = {
    servers: { find: () => state.server },
    callerSteps: {
      async recheck(...args: [Call, Purpose, number]) {
        asked.push(args);
        return state.judged;
      },
    },
    clock: () => NOW + 5,
  };
  return { call, asked, state, parts };
}

test("a caller is judged again for the same purpose, at the time of the second look", async () => {
  const { call, asked, state, parts } = setUp();
  const key = makeKey(ALL_SECTIONS);
  const reader = toArchiveReader(parts, call, READING_MAP, { key, server: SERVER, report: null });
  expect(reader).toMatchObject({ serverId: "srv_1", keyId: "key_1", sections: ALL_SECTIONS });
  expect(await reader.recheck()).toBe(ALL_SECTIONS);
  expect(asked).toEqual([[call, READING_MAP, NOW + 5]]);
  const players = toSectionSet(["Players"]);
  state.judged = makeKey(players);
  expect(await reader.recheck()).toBe(players);
  const refusal = refuse(ERRORS.invalidToken);
  state.judged = refusal;
  expect(await reader.recheck()).toBe(refusal);
});

test("an operator reads everything, for as long as the server exists", async () => {
  const { call, asked, state, parts } = setUp();
  const reader = findOperatorReader(parts, call);
  if (isRefusal(reader)) throw new Error("the server exists");
  expect(reader).toMatchObject({ serverId: "srv_1", keyId: undefined, sections: ALL_SECTIONS, report: null });
  expect(await reader.recheck()).toBe(ALL_SECTIONS);
  state.server = undefined;
  expect(await reader.recheck()).toBe(NOT_FOUND);
  expect(findOperatorReader(parts, call)).toBe(NOT_FOUND);
  expect(asked).toEqual([]);
});
