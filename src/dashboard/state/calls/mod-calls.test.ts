import { describe, expect, test } from "bun:test";
import type { EventResource } from "../../../core/wire/event.ts";
import type { ModCallResource } from "../../../core/wire/players.ts";
import {
  CALL_AGE_MAX_MS,
  groupCalls,
  isAboutCalls,
  listAnswered,
  listAnsweredNow,
  pickCalls,
  readGameList,
} from "./mod-calls.ts";

const NOW = 1_800_000_000_000;
const MIA = { kind: "person", id: "per_1", name: "Mia" } as const;

function call(id: string, more: Partial<ModCallResource> = {}): ModCallResource {
  return {
    id,
    caller: `${id}:1`,
    opened_at: NOW - 60_000,
    state: "waiting",
    is_here: true,
    position: null,
    answered_by: null,
    answered_at: null,
    claimed_by: null,
    claimed_at: null,
    ...more,
  };
}

const claimed = (id: string, more: Partial<ModCallResource> = {}) =>
  call(id, { state: "claimed", claimed_by: MIA, claimed_at: NOW, ...more });

const idsOf = (calls: readonly ModCallResource[]) => calls.map(({ id }) => id);

describe("the calls that are shown", () => {
  test("only calls that wait, are nobody's and have their caller there are counted", () => {
    const calls = [call("here"), claimed("claimed"), call("away", { is_here: false }), call("gone", { state: "left" })];
    const groups = groupCalls(calls, NOW);
    expect(groups.waiting).toBe(1);
    expect(idsOf(groups.open)).toEqual(["here", "claimed", "away"]);
    expect(idsOf(groups.left)).toEqual(["gone"]);
  });

  test("the newest is that of the counted ones, wherever it stands", () => {
    const calls = [
      call("old", { opened_at: NOW - 9_000 }),
      call("new", { opened_at: NOW - 5_000 }),
      claimed("claimed", { opened_at: NOW - 1_000 }),
      call("away", { opened_at: NOW, is_here: false }),
    ];
    expect(groupCalls(calls, NOW).newest).toBe("new");
    expect(groupCalls([claimed("claimed")], NOW).newest).toBeUndefined();
  });

  test("a call is over after an hour, also when no reading has said so yet", () => {
    const calls = [call("old", { opened_at: NOW - CALL_AGE_MAX_MS + 1 }), call("left", { state: "left" })];
    expect(groupCalls(calls, NOW)).toMatchObject({ waiting: 1 });
    expect(groupCalls(calls, NOW + CALL_AGE_MAX_MS)).toEqual({ open: [], left: [], waiting: 0, newest: undefined });
  });

  test("a short list always has the newest call, though the longest wait comes first", () => {
    const calls = Array.from({ length: 6 }, (_, index) => call(`c${index}`, { opened_at: NOW - 60_000 + index }));
    const groups = groupCalls(calls, NOW);
    expect(idsOf(pickCalls(groups, 4))).toEqual(["c0", "c1", "c2", "c5"]);
    expect(pickCalls(groups, 6)).toBe(groups.open);
    const noneWaits = groupCalls(
      calls.map(({ id }) => claimed(id)),
      NOW,
    );
    expect(idsOf(pickCalls(noneWaits, 2))).toEqual(["c0", "c1"]);
  });
});

describe("the game's own list, where Gatehouse has none", () => {
  const seconds = NOW / 1000;
  const listed = [
    { Caller: "Young:1", Moderator: null, Timestamp: seconds - 5 },
    { Caller: "Gone:2", Moderator: null, Timestamp: seconds - 50 },
    { Caller: "Done:3", Moderator: "Mia:9", Timestamp: seconds - 60 },
    { Caller: "Old:4", Moderator: null, Timestamp: seconds - 40 },
    { Caller: "Huge:5", Timestamp: 1e300 },
  ];
  const players = [{ Player: "Renamed:1" }, { Player: "Old:4", Location: { LocationX: 1 } }, { Player: "Huge:5" }];

  test("has callers who are there first, and those who are not have left", () => {
    const groups = groupCalls(readGameList(listed, players, NOW), NOW);
    expect(groups.open.map(({ caller, position }) => [caller, position])).toEqual([
      ["Old:4", { LocationX: 1 }],
      ["Young:1", null],
      ["Huge:5", null],
    ]);
    expect(groups.left.map(({ caller }) => caller)).toEqual(["Gone:2"]);
    expect(groups.waiting).toBe(3);
  });

  test("counts everybody as there for a key that may not read players", () => {
    expect(groupCalls(readGameList(listed, undefined, NOW), NOW).waiting).toBe(4);
  });

  test("its answered calls have no known time of the answer", () => {
    expect(listAnsweredNow(listed)).toEqual([expect.objectContaining({ call: listed[2], bounds: undefined })]);
  });
});

test("the list is read again after what may change it, and after nothing else", () => {
  const isAbout = (type: EventResource["type"]) => isAboutCalls({ type });
  expect(
    ["modcall.opened", "modcall.claimed", "modcall.released", "player.left"].map((t) => isAbout(t as "gap")),
  ).toEqual([true, true, true, true]);
  expect([isAbout("player.killed"), isAbout("call.opened"), isAbout("gap")]).toEqual([false, false, false]);
});

describe("how long an answer took", () => {
  const done = { Caller: "Ann:1", Moderator: "Mia:9", Timestamp: NOW / 1000 };
  const answered = (data: Record<string, unknown>, meta?: Record<string, unknown>, type = "modcall.answered") =>
    ({ id: "e1", type, at: NOW, seen_at: NOW, source: "log", backfill: false, data, meta }) as unknown as EventResource;
  const boundsOf = (...events: EventResource[]) => listAnswered(events).map(({ bounds }) => bounds);

  test("is between the last reading without an answer and the first with one, and never negative", () => {
    expect(boundsOf(answered(done, { answered_between: [NOW + 60_000, NOW + 65_000] }))).toEqual([
      { fromMs: 60_000, toMs: 65_000 },
    ]);
    expect(boundsOf(answered(done, { answered_between: [NOW - 900, NOW - 100] }))).toEqual([{ fromMs: 0, toMs: 0 }]);
  });

  test("is unknown when the event does not say it", () => {
    const metas = [undefined, {}, { answered_between: 7 }, { answered_between: ["a", null] }];
    expect(boundsOf(...metas.map((meta) => answered(done, meta)))).toEqual(metas.map(() => undefined));
    expect(boundsOf(answered({ Caller: 7, Timestamp: "now" }, { answered_between: [1, 2] }))).toEqual([undefined]);
    expect(listAnswered([answered(done, {}, "modcall.opened")])).toEqual([]);
  });
});
