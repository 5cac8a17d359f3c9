// The states of calls for a moderator, and claims, against a model that is told everything.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MINUTE_MS } from "../durations.ts";
import type { OpenSession } from "../history/sessions.ts";
import type { Who } from "../people/who.ts";
import type { OpenHistory } from "../ports/history.ts";
import {
  compareCalls,
  EXPIRED_AFTER_MS,
  findWhereabouts,
  judgeClaim,
  LEFT_AFTER_MS,
  type ModCall,
  type PlacedCall,
  stateOfCall,
} from "./mod-calls.ts";

const T0 = 1_800_000_000_000;
const MIA: Who = { kind: "person", id: "per_1", name: "Mia" };
const BOT: Who = { kind: "key", id: "per_1", name: "Bot" };
const CALL: ModCall = {
  callId: "c",
  player: "1",
  openedAt: T0,
  data: "{}",
  answeredBy: null,
  answeredAt: null,
  claimedBy: null,
  claimedAt: null,
};

function sessionOf(absence: OpenSession["absence"] = null): OpenSession {
  return { name: "A", joinedAt: T0 - 5_000, isLogged: true, wasStaff: false, team: null, stays: [], absence };
}

function openOf(session: OpenSession | undefined, seenAt: number | null): OpenHistory {
  const now = { players: 1, queue: null, staff: null, teams: null };
  const last = seenAt === null ? null : { at: seenAt, until: seenAt + MINUTE_MS, now };
  return { counts: { minute: null, last }, sessions: new Map(session ? [["1", session]] : []), seenAt };
}

describe("where a caller is", () => {
  test("is here while a valid reading shows it, and unknown before any reading", () => {
    expect(findWhereabouts(CALL, openOf(undefined, null), null, T0)).toEqual({ isHere: false, leftAt: null });
    expect(findWhereabouts(CALL, openOf(sessionOf(), T0), null, T0 + MINUTE_MS)).toEqual({
      isHere: true,
      leftAt: null,
    });
    // Nobody has looked since, so nobody knows that the caller left.
    const late = findWhereabouts(CALL, openOf(sessionOf(), T0), null, T0 + MINUTE_MS + 1);
    expect(late).toEqual({ isHere: false, leftAt: null });
  });

  test("left when it was last seen, at the earliest when it called", () => {
    const absent = sessionOf({ readings: 1, seenUntil: T0 + 7 });
    expect(findWhereabouts(CALL, openOf(absent, T0 + 9), null, T0 + 9).leftAt).toBe(T0 + 7);
    expect(findWhereabouts(CALL, openOf(undefined, T0), T0 + 5, T0 + 9).leftAt).toBe(T0 + 5);
    expect(findWhereabouts(CALL, openOf(undefined, T0), T0 - 5, T0 + 9).leftAt).toBe(T0);
    expect(findWhereabouts(CALL, openOf(undefined, T0), null, T0 + 9).leftAt).toBe(T0);
  });
});

test("a claim is by kind and id: a key with the id of a person is somebody else", () => {
  const call = { ...CALL, isHere: true, leftAt: null, claimedBy: MIA };
  const request = { action: "claim", mayReleaseAny: false, now: T0 } as const;
  expect(judgeClaim(call, { ...request, who: BOT })).toEqual({ refused: "claimed" });
  expect(judgeClaim(call, { ...request, who: { ...MIA, name: "Renamed" } })).toEqual({ claimedBy: MIA, events: [] });
});

/** What can happen to a call. Times are seconds after it was opened. */
const step = fc.record({
  after: fc.integer({ min: 0, max: 500 }),
  what: fc.constantFrom("claim", "take", "release", "releaseAny", "leave", "join", "answer", "look"),
  who: fc.constantFrom(MIA, BOT),
});

test("over any course of things, the state is that of the model, and events tell every change of the claim", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let call: PlacedCall = { ...CALL, isHere: true, leftAt: null };
      let now = T0;
      // What the model remembers.
      let goneAt: number | null = null;
      let isAnswered = false;
      let owner: Who | null = null;
      let told: Who | null = null;
      for (const { after, what, who } of steps) {
        now += after * 1_000;
        if (what === "leave") goneAt ??= now;
        if (what === "join") goneAt = null;
        if (what === "answer") isAnswered = true;
        const session = goneAt === null ? sessionOf() : undefined;
        call = {
          ...call,
          answeredAt: isAnswered ? (call.answeredAt ?? now) : null,
          ...findWhereabouts(call, openOf(session, now), goneAt, now),
        };
        const isOver = isAnswered || now - T0 >= EXPIRED_AFTER_MS;
        const isGone = goneAt !== null && now - goneAt >= LEFT_AFTER_MS;
        const expected = isAnswered ? "answered" : isOver ? "expired" : isGone ? "left" : owner ? "claimed" : "waiting";
        expect(stateOfCall(call, now)).toBe(expected);
        if (what === "leave" || what === "join" || what === "answer" || what === "look") continue;
        const isRelease = what === "release" || what === "releaseAny";
        const action = isRelease ? "release" : what;
        const judged = judgeClaim(call, { action, who, mayReleaseAny: what === "releaseAny", now });
        if ("refused" in judged) {
          const reason = isRelease ? "not_own" : isOver || isGone ? "state" : "claimed";
          expect(judged.refused).toBe(reason);
          expect(isRelease ? owner !== null && owner !== who : isOver || isGone || owner !== who).toBe(true);
          continue;
        }
        expect(what === "release" && owner !== null && owner !== who).toBe(false);
        for (const event of judged.events) told = event === "modcall.claimed" ? who : null;
        if (isRelease && !isOver) owner = null;
        if (!isRelease) owner = who;
        expect([judged.claimedBy, told]).toEqual([owner, owner]);
        call = { ...call, claimedBy: judged.claimedBy };
      }
    }),
    { numRuns: 500 },
  );
});

test("callers who are there come first, then the oldest call", () => {
  const place = (callId: string, isHere: boolean, openedAt: number) => ({
    ...CALL,
    callId,
    isHere,
    openedAt,
    leftAt: null,
  });
  const calls = [
    place("a", false, 1),
    place("b", true, 3),
    place("c", true, 2),
    place("d", false, 0),
    place("e", true, 2),
  ];
  expect(calls.toSorted(compareCalls).map(({ callId }) => callId)).toEqual(["c", "e", "b", "d", "a"]);
});
