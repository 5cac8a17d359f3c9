// Readers of the archive are judged again after it was read: keys for the purpose they were admitted for, operators by the server.
import { expect, test } from "bun:test";
import { ERRORS, isRefusal, NOT_FOUND, type Refusal, refuse } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import { type ApiKey, DEFAULT_RIGHTS, READS_ALL, ROLE_FORBIDDEN } from "../../core/keys/api-key.ts";
import { OPERATOR_AUTHORITY } from "../../core/people/authority.ts";
import { ALL_SECTIONS, toSectionSet } from "../../core/sections.ts";
import { Call, type Connection } from "../call.ts";
import { type Purpose, READING_MAP } from "../steps/caller-steps.ts";
import { findOperatorReader, toArchiveReader } from "./archive-reader.ts";

const NOW = 1_800_000_000_000;
const CONNECTION: Connection = { requestIP: () => null, timeout() {} };
const SERVER: GameServer = {
  ...{ serverId: "srv_1", name: "Town", community: null },
  ...{ createdAt: 0, keyRevision: 1, isSimulated: false, isWatched: true, publicStatus: null, ownersSignIn: false },
};
const { ipAllow: _, ...rights } = DEFAULT_RIGHTS;

function makeKey(sections: number): ApiKey {
  const grant = { ...rights, sections, may: 0, allowedFrom: null, isSuspended: false };
  return { keyId: "key_1", serverId: "srv_1", label: "bot", grant, expiresAt: null, person: null };
}

function setUp() {
  const target = { path: "", query: "", params: { id: "srv_1" }, routeName: "", sections: 0 };
  const call = new Call(new Request("http://127.0.0.1/"), target, CONNECTION, () => NOW);
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
  expect(reader).toMatchObject({ serverId: "srv_1", keyId: "key_1", rights: key.grant });
  expect(await reader.recheck()).toMatchObject(READS_ALL);
  expect(asked).toEqual([[call, READING_MAP, NOW + 5]]);
  const players = toSectionSet(["Players"]);
  state.judged = makeKey(players);
  expect(await reader.recheck()).toMatchObject({ sections: players });
  const refusal = refuse(ERRORS.invalidToken);
  state.judged = refusal;
  expect(await reader.recheck()).toBe(refusal);
});

test("an operator reads everything, for as long as the server exists and they are one", async () => {
  const { call, asked, state, parts } = setUp();
  let right: typeof OPERATOR_AUTHORITY | typeof ROLE_FORBIDDEN = OPERATOR_AUTHORITY;
  const caller = { recheck: () => right };
  const reader = findOperatorReader(parts, call, caller);
  if (isRefusal(reader)) throw new Error("the server exists");
  expect(reader).toMatchObject({ serverId: "srv_1", keyId: undefined, rights: READS_ALL, report: null });
  expect(await reader.recheck()).toBe(READS_ALL);
  right = ROLE_FORBIDDEN;
  expect(await reader.recheck()).toBe(ROLE_FORBIDDEN);
  right = OPERATOR_AUTHORITY;
  state.server = undefined;
  expect(await reader.recheck()).toBe(NOT_FOUND);
  expect(findOperatorReader(parts, call, caller)).toBe(NOT_FOUND);
  expect(asked).toEqual([]);
});
