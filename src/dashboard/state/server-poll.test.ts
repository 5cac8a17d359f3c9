import { describe, expect, test } from "bun:test";
import { SECTIONS, type Section } from "../../core/sections.ts";
import { createCallerApi } from "../api/caller.ts";
import { parseExactJson } from "../api/exact-json.ts";
import { Pace } from "../api/pace.ts";
import type { AskOptions, Outcome } from "../api/request.ts";
import { HISTORY_POINTS_MAX, ServerHistory } from "./server-history.ts";
import { judgeAge, ServerPoll, STALE_AFTER_MS } from "./server-poll.ts";

const NOW = 1_800_000_000_000;

function refusal(code: number, more: object = {}): Outcome<never> {
  const error = {
    code,
    status: 400,
    message: "refused",
    upstreamCode: undefined,
    upstreamMessage: undefined,
    retryAfter: undefined,
    details: undefined,
    ...more,
  };
  return { ok: false, error, receivedAt: NOW, limit: undefined };
}

/** `rights` is what the key may read now; the poll begins with all sections, or with `allowed`. */
function startPoll(
  answer: (sections: string[], options: AskOptions) => Outcome<unknown>,
  rights: { allowed?: readonly Section[]; now?: () => Outcome<unknown> } = {},
) {
  const asked: string[] = [];
  const api = createCallerApi(async <T>(path: string, options: AskOptions = {}) => {
    const sections = Object.keys(options.query ?? {});
    const isAboutKey = path.endsWith("/key");
    asked.push(isAboutKey ? "the key" : sections.join());
    return (isAboutKey ? rights.now?.() : answer(sections, options)) as Outcome<T>;
  });
  return { poll: new ServerPoll(api, new Pace(), rights.allowed ?? SECTIONS), asked };
}

function keyWith(sections: readonly Section[]): Outcome<unknown> {
  return {
    ok: true,
    status: 200,
    value: { sections },
    etag: null,
    ageMs: 0,
    receivedAt: NOW,
    limit: undefined,
  };
}

function stateWith(sections: readonly string[]): Outcome<unknown> {
  const value = { Name: "x", CurrentPlayers: 3, ...Object.fromEntries(sections.map((name) => [name, []])) };
  return { ok: true, status: 200, value, etag: '"e"', ageMs: 2_000, receivedAt: NOW, limit: undefined };
}

describe("the poll of the page", () => {
  test("asks for what the open views want and what the plots need, and for nothing else", async () => {
    const { poll, asked } = startPoll(stateWith);
    const wish = Symbol();
    expect(poll.want(wish, ["Vehicles"])).toBe(true);
    await poll.read();
    expect(poll.want(Symbol(), ["Vehicles"])).toBe(false);
    poll.wantNoMore(wish);
    expect(asked).toEqual(["JoinLogs,Queue,Vehicles"]);
  });

  test("asks once more, at once, for a view that has come while it was asking", async () => {
    const { poll, asked } = startPoll((sections) => {
      if (!sections.includes("Players")) poll.want(Symbol(), ["Players"]);
      return stateWith(sections);
    });
    expect((await poll.read()).state).toHaveProperty("Players");
    expect(asked).toEqual(["JoinLogs,Queue", "Players,JoinLogs,Queue"]);
  });

  const ALL_BUT_PLAYERS = SECTIONS.filter((name) => name !== "Players");
  const refusePlayers = (sections: string[]) =>
    sections.includes("Players") ? refusal(5011) : stateWith(sections);

  test("never asks for a section that the key may not read, and says which", async () => {
    const { poll, asked } = startPoll(refusePlayers, { allowed: ALL_BUT_PLAYERS });
    expect(poll.want(Symbol(), ["Players"])).toBe(false);
    poll.want(Symbol(), ["Players", "Staff"]);
    const reading = await poll.read();
    expect(reading).toMatchObject({ condition: "ok", forbidden: ["Players"], state: { Staff: [] } });
    expect(asked).toEqual(["Staff,JoinLogs,Queue"]);
  });

  test("with a key for no section at all, asks for the server itself", async () => {
    const { poll, asked } = startPoll(stateWith, { allowed: [] });
    poll.want(Symbol(), ["Players"]);
    expect(await poll.read()).toMatchObject({ condition: "ok", forbidden: [...SECTIONS] });
    expect(asked).toEqual([""]);
  });

  test("a right that is taken away meanwhile costs one refusal, and is done without", async () => {
    const { poll, asked } = startPoll(refusePlayers, { now: () => keyWith(ALL_BUT_PLAYERS) });
    poll.want(Symbol(), ["Players", "Staff"]);
    const reading = await poll.read();
    expect(reading).toMatchObject({ condition: "ok", forbidden: ["Players"], state: { Staff: [] } });
    await poll.read();
    expect(asked).toEqual([
      "Players,Staff,JoinLogs,Queue",
      "the key",
      "Staff,JoinLogs,Queue",
      "Staff,JoinLogs,Queue",
    ]);
  });

  test("while it cannot learn the new rights it says that it was refused, and does not insist", async () => {
    const { poll, asked } = startPoll(refusePlayers, { now: () => refusal(5016) });
    poll.want(Symbol(), ["Players"]);
    expect(await poll.read()).toMatchObject({ condition: "refused", error: { code: 5011 } });
    expect(asked).toEqual(["Players,JoinLogs,Queue", "the key"]);
  });

  test("sends the ETag of the same sections and takes a 304 as the same state, with its new age", async () => {
    const { poll } = startPoll((sections, { headers }) => {
      if (headers?.["If-None-Match"] !== '"e"') return stateWith(sections);
      return { ...stateWith([]), status: 304, value: undefined, ageMs: 0 } as Outcome<unknown>;
    });
    const first = await poll.read();
    const second = await poll.read();
    expect(second.state).toBe(first.state as NonNullable<typeof first.state>);
    expect([first.dataAt, second.dataAt]).toEqual([NOW - 2_000, NOW]);
  });

  test.each([
    [5019, { upstreamCode: 3002 }, "offline"],
    [5019, { upstreamCode: 1001 }, "game-error"],
    [5016, {}, "limited"],
    [5100, {}, "blocked"],
    [5009, {}, "refused"],
    [0, {}, "unreachable"],
    [5106, {}, "unreachable"],
  ] as const)("keeps the last state through %p %p, which is %p", async (code, more, condition) => {
    let isGood = true;
    const { poll } = startPoll((sections) => (isGood ? stateWith(sections) : refusal(code, more)));
    const { state } = await poll.read();
    isGood = false;
    expect(await poll.read()).toMatchObject({ condition, state: state ?? {}, error: { code } });
  });

  test("says when it tries again to reach Gatehouse", async () => {
    const { poll } = startPoll(() => refusal(0));
    const { retryAt, delayMs } = await poll.read();
    expect(retryAt).toBe(NOW + delayMs);
    expect((await startPoll(stateWith).poll.read()).retryAt).toBeUndefined();
  });

  test("a good reading is stale once it is older than three polls", async () => {
    const { poll } = startPoll(stateWith);
    const reading = await poll.read();
    expect(judgeAge(reading, NOW - 2_000 + STALE_AFTER_MS)).toBe("ok");
    expect(judgeAge(reading, NOW - 2_000 + STALE_AFTER_MS + 1)).toBe("stale");
  });
});

describe("the history of the page", () => {
  const base = { CurrentPlayers: 1, Queue: [1, 2] } as unknown as Parameters<ServerHistory["note"]>[0];

  test("counts joins and leaves that are new since the reading before", () => {
    const history = new ServerHistory();
    const old = { Join: true, Timestamp: 1, Player: "a:1" };
    history.note({ ...base, JoinLogs: [old] }, 1);
    const left = { Join: false, Timestamp: 2, Player: "a:1" };
    history.note({ ...base, JoinLogs: [left, old, { Join: true, Timestamp: 2, Player: "b:2" }] }, 2);
    expect(history.points).toEqual([
      { at: 1, players: 1, queue: 2, joins: 0, leaves: 0 },
      { at: 2, players: 1, queue: 2, joins: 1, leaves: 1 },
    ]);
  });

  test("holds a bounded number of points and drops the oldest", () => {
    const history = new ServerHistory();
    for (let at = 1; at <= HISTORY_POINTS_MAX + 5; at++) history.note(base, at);
    expect(history.points.length).toBe(HISTORY_POINTS_MAX);
    expect(history.points[0]?.at).toBe(6);
  });
});

test("ids beyond the precision of numbers keep their digits", () => {
  expect(parseExactJson('{"a": 12345678901234567890, "b": 42, "c": 1.5}')).toEqual({
    a: "12345678901234567890",
    b: 42,
    c: 1.5,
  });
});
