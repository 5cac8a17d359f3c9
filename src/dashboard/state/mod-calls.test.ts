import { describe, expect, test } from "bun:test";
import type { EventResource } from "../../core/wire/event.ts";
import type { ModCall } from "../../core/wire/server-info.ts";
import {
  CALL_AGE_MAX_MS,
  CALLS_MAX,
  findCallTime,
  groupCalls as groupRemembered,
  isCallEvent,
  keyOfCall,
  keyOfCallEvent,
  listAnswerBounds,
  type RememberedCalls,
  rememberCalls,
  toCall,
} from "./mod-calls.ts";

const T0 = 1_800_000_000;
const NOW = T0 * 1000 + 60_000;
const NONE = new Map<string, number>();
const NO_CALLS: RememberedCalls = new Map();

const groupCalls = (calls: readonly ModCall[], seen: ReadonlyMap<string, unknown>) =>
  groupRemembered(rememberCalls(NO_CALLS, calls, NOW), seen, NOW);

function call(caller: string, secondsLater: number, moderator: string | null = null): ModCall {
  return { Caller: caller, Moderator: moderator, Timestamp: T0 + secondsLater };
}

function event(
  type: EventResource["type"],
  data: Record<string, unknown>,
  more: Partial<EventResource> = {},
): EventResource {
  return { id: "c1", type, at: 0, seen_at: 0, source: "log", backfill: false, data, ...more };
}

const namesOf = (calls: readonly ModCall[]) => calls.map(({ Caller }) => Caller);

describe("the order of calls", () => {
  test("those that wait come first with the longest wait on top, then the seen ones, then the answered ones, newest first", () => {
    const calls = [
      call("Young:1", 50),
      call("AnsweredOld:2", 5, "Mia:9"),
      call("Seen:3", 1),
      call("Old:4", 10),
      call("AnsweredNew:5", 40, "Mia:9"),
      call("SeenLater:6", 2),
    ];
    const seen = new Map(
      calls.filter((each) => each.Caller?.startsWith("Seen")).map((c) => [keyOfCall(c), 1]),
    );
    const groups = groupCalls(calls, seen);
    expect(namesOf(groups.waiting)).toEqual(["Old:4", "Young:1"]);
    expect(namesOf(groups.seen)).toEqual(["Seen:3", "SeenLater:6"]);
    expect(namesOf(groups.answered)).toEqual(["AnsweredNew:5", "AnsweredOld:2"]);
  });

  test("a call without a usable time still waits, below those with one", () => {
    const broken = [{ Caller: "None:1" }, { Caller: "Huge:2", Timestamp: 1e300 }, call("Known:3", 0)];
    expect(namesOf(groupCalls(broken, NONE).waiting)).toEqual(["Known:3", "None:1", "Huge:2"]);
    expect(broken.map(findCallTime)).toEqual([undefined, undefined, T0 * 1000]);
  });

  test("a seen mark is for one call: another call of the same player waits", () => {
    const [first, second] = [call("Ann:1", 0), call("Ann:1", 60)];
    const groups = groupCalls([first, second], new Map([[keyOfCall(first), 1]]));
    expect(groups.waiting).toEqual([second]);
    expect(groups.seen).toEqual([first]);
  });
});

describe("the key of a call", () => {
  test("is that of its events, and outlives a new name of the player", () => {
    expect(keyOfCallEvent(event("modcall.opened", { ...call("Ann:1", 0) }))).toBe(
      keyOfCall(call("Ann:1", 0)),
    );
    expect(keyOfCall(call("Renamed:1", 0))).toBe(keyOfCall(call("Ann:1", 0)));
  });

  test("stays short however long a name or an id is", () => {
    for (const caller of ["x".repeat(100_000), `Ann:${"1".repeat(100_000)}`])
      expect(keyOfCall(call(caller, 0)).length).toBeLessThan(100);
  });
});

describe("what is remembered of calls", () => {
  const many = Array.from({ length: 14 }, (_, index) => call(`Player${index}:${index + 1}`, index));
  const waitingOf = (calls: RememberedCalls, now = NOW) => groupRemembered(calls, NONE, now).waiting;

  test("a list that the game has shortened changes nothing, so the number of calls is steady", () => {
    let calls = rememberCalls(NO_CALLS, many, NOW);
    for (const listed of [many.slice(8), [], many.slice(3, 9), many]) {
      calls = rememberCalls(calls, listed, NOW);
      expect(waitingOf(calls)).toEqual(many);
    }
  });

  test("a new call is added once, an answer ends the wait, told by the game's list or by an event", () => {
    const opened = event("modcall.opened", { ...call("Bob:2", 5) });
    const answered = event("modcall.answered", { ...call("Ann:1", 0, "Mia:9") });
    let calls = rememberCalls(NO_CALLS, [call("Ann:1", 0)], NOW);
    for (const { data } of [opened, opened, answered]) calls = rememberCalls(calls, [toCall(data)], NOW);
    const groups = groupRemembered(calls, NONE, NOW);
    expect(namesOf(groups.waiting)).toEqual(["Bob:2"]);
    expect(groups.answered).toEqual([call("Ann:1", 0, "Mia:9")]);
    calls = rememberCalls(calls, [call("Bob:2", 5, "Mia:9")], NOW);
    expect(waitingOf(calls)).toEqual([]);
  });

  test("nothing new leaves the calls themselves, and what was read before an answer does not undo it", () => {
    const open = rememberCalls(NO_CALLS, [call("Ann:1", 0)], NOW);
    expect(rememberCalls(open, [], NOW)).toBe(open);
    expect(rememberCalls(open, [call("Ann:1", 0)], NOW)).toBe(open);
    const done = rememberCalls(open, [call("Ann:1", 0, "Mia:9")], NOW);
    expect(rememberCalls(done, [call("Ann:1", 0)], NOW)).toBe(done);
    expect(rememberCalls(done, [call("Ann:1", 0, "Zoe:8")], NOW)).toBe(done);
  });

  test("a call waits for an hour at most, whether the game still lists it or not", () => {
    const old = T0 * 1000 + CALL_AGE_MAX_MS;
    const calls = rememberCalls(
      NO_CALLS,
      [call("Old:1", 0), call("New:2", 1), { Caller: "Timeless:3" }],
      NOW,
    );
    expect(namesOf(waitingOf(calls, old - 1))).toEqual(["Old:1", "New:2", "Timeless:3"]);
    expect(namesOf(waitingOf(calls, old))).toEqual(["New:2", "Timeless:3"]);
    expect(waitingOf(rememberCalls(calls, [call("Old:1", 0)], old), NOW + CALL_AGE_MAX_MS)).toEqual([]);
  });

  test("the newest are kept, and a list with too many older ones is not new again and again", () => {
    const flood = Array.from({ length: CALLS_MAX + 50 }, (_, index) => call(`P${index}:${index + 1}`, index));
    const calls = rememberCalls(NO_CALLS, flood, NOW);
    expect(calls.size).toBe(CALLS_MAX);
    expect(calls.has(keyOfCall(call("P549:550", 549)))).toBe(true);
    expect(rememberCalls(calls, flood, NOW)).toBe(calls);
  });

  test("fields of the wrong type do not get into it", () => {
    expect(toCall({ Caller: 7, Moderator: {}, Timestamp: "now" })).toEqual({ Moderator: null });
  });

  test("events of other kinds, and what was there before the first reading, do not count", () => {
    const isCall = (type: EventResource["type"], backfill = false) => isCallEvent({ type, backfill });
    expect([isCall("modcall.opened"), isCall("modcall.answered")]).toEqual([true, true]);
    expect([isCall("modcall.opened", true), isCall("call.opened"), isCall("gap")]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe("how long an answer took", () => {
  const done = { ...call("Ann:1", 0, "Mia:9") };

  test("is between the last reading without an answer and the first with one", () => {
    const meta = { answered_between: [T0 * 1000 + 60_000, T0 * 1000 + 65_000] };
    const bounds = listAnswerBounds([event("modcall.answered", done, { meta })]);
    expect(bounds.get(keyOfCall(done))).toEqual({ fromMs: 60_000, toMs: 65_000 });
  });

  test("is never negative", () => {
    const meta = { answered_between: [T0 * 1000 - 900, T0 * 1000 - 100] };
    const bounds = listAnswerBounds([event("modcall.answered", done, { meta })]);
    expect(bounds.get(keyOfCall(done))).toEqual({ fromMs: 0, toMs: 0 });
  });

  test("is unknown when the event does not say it", () => {
    const broken = [undefined, {}, { answered_between: 7 }, { answered_between: ["a", null] }];
    const events = broken.map((meta) => event("modcall.answered", done, meta && { meta }));
    const meta = { answered_between: [1, 2] };
    const timeless = event("modcall.answered", { Caller: "Ann:1" }, { meta });
    expect(listAnswerBounds([...events, timeless, event("modcall.opened", done, { meta })]).size).toBe(0);
  });
});
