// What counts of the notes about the game API after a restart.
import { expect, test } from "bun:test";
import {
  identifyUpstream,
  LIFTED_AT,
  PAUSE,
  parseNotes,
  REFUSED_GLOBAL_KEY,
  REFUSED_KEYS,
  writeNote,
} from "./upstream-notes.ts";

const IDENTITY = identifyUpstream("https://api.example", "global");
const FAILURE = { code: 2002, message: "No.", isRateLimit: false };
const PAUSED = { pausedUntil: 1_060_000, pauseMs: 60_000, isPauseNamed: true };
const REFUSED = { serverId: "srv_1", keyRevision: 2, failure: FAILURE };

function parse(changes: Readonly<Record<string, string>> = {}, identity = IDENTITY) {
  const settings: Readonly<Record<string, string>> = {
    [PAUSE]: writeNote(IDENTITY, PAUSED),
    [REFUSED_KEYS]: writeNote(IDENTITY, [REFUSED]),
    [REFUSED_GLOBAL_KEY]: writeNote(IDENTITY, FAILURE),
    ...changes,
  };
  return parseNotes(
    (name) => settings[name],
    (serverId) => (serverId === "srv_1" ? 2 : undefined),
    identity,
  );
}

test("what was noted is read back, and nothing when nothing was noted", () => {
  expect(parse()).toEqual({ pause: PAUSED, liftedAt: 0, refusedKeys: [REFUSED], globalKeyFailure: FAILURE });
  const none = { pause: undefined, liftedAt: 0, refusedKeys: [], globalKeyFailure: null };
  expect(
    parseNotes(
      () => undefined,
      () => 1,
      IDENTITY,
    ),
  ).toEqual(none);
});

test.each([
  ["game API", identifyUpstream("https://other.example", "global")],
  ["global key", identifyUpstream("https://api.example", undefined)],
])("notes of another %s do not count", (_, identity) => {
  expect(parse({}, identity)).toEqual({
    pause: undefined,
    liftedAt: 0,
    refusedKeys: [],
    globalKeyFailure: null,
  });
});

test("keys that were replaced and servers that were deleted since do not count", () => {
  const others = [
    { ...REFUSED, keyRevision: 1 },
    { ...REFUSED, serverId: "srv_2" },
  ];
  const { refusedKeys } = parse({ [REFUSED_KEYS]: writeNote(IDENTITY, [...others, REFUSED]) });
  expect(refusedKeys).toEqual([REFUSED]);
});

test("a pause counts only if it began after the last one was lifted", () => {
  expect(parse({ [LIFTED_AT]: "999999" }).pause).toEqual(PAUSED);
  expect(parse({ [LIFTED_AT]: "1000000" }).pause).toBeUndefined();
});
