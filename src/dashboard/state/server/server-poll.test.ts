import { describe, expect, test } from "bun:test";
import type { EventType } from "../../../core/events/event-types.ts";
import { SECTIONS, type Section } from "../../../core/sections.ts";
import { createCallerApi } from "../../api/caller.ts";
import { parseExactJson } from "../../api/exact-json.ts";
import { Pace } from "../../api/pace.ts";
import type { ApiCallOptions, Outcome } from "../../api/request.ts";
import { HISTORY_POINTS_MAX, SAME_READING_MS, ServerHistory } from "./server-history.ts";
import { judgeAge, LIVE_POLL_INTERVAL_MS, ServerPoll, STALE_AFTER_MS } from "./server-poll.ts";

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

/** The poll starts with `rights.allowed`, or all sections; `rights.now` answers when it reads the key again. */
function startPoll(
  answer: (sections: string[], options: ApiCallOptions) => Outcome<unknown>,
  rights: { allowed?: readonly Section[]; now?: () => Outcome<unknown> } = {},
) {
  const requests: string[] = [];
  const api = createCallerApi(async <T>(path: string, options: ApiCallOptions = {}) => {
    const sections = Object.keys(options.query ?? {});
    const isForKey = path.endsWith("/key");
    requests.push(isForKey ? "the key" : sections.join());
    return (isForKey ? rights.now?.() : answer(sections, options)) as Outcome<T>;
  });
  return { poll: new ServerPoll(api, new Pace(), rights.allowed ?? SECTIONS), requests };
}

function keyWith(sections: readonly Section[]): Outcome<unknown> {
  return { ok: true, status: 200, value: { sections }, etag: null, ageMs: 0, receivedAt: NOW, limit: undefined };
}

function stateWith(sections: readonly string[]): Outcome<unknown> {
  const value = { Name: "x", CurrentPlayers: 3, ...Object.fromEntries(sections.map((name) => [name, []])) };
  return { ok: true, status: 200, value, etag: '"e"', ageMs: 2_000, receivedAt: NOW, limit: undefined };
}

describe("the poll of the page", () => {
  test("reads the sections that the open views and the plots need, and no others", async () => {
    const { poll, requests } = startPoll(stateWith);
    const subscriber = Symbol();
    expect(poll.subscribe(subscriber, ["Vehicles"])).toBe(true);
    await poll.read();
    expect(poll.subscribe(Symbol(), ["Vehicles"])).toBe(false);
    poll.unsubscribe(subscriber);
    expect(requests).toEqual(["JoinLogs,Queue,Vehicles"]);
  });

  test("polls again at once for a view that was opened during the request", async () => {
    const { poll, requests } = startPoll((sections) => {
      if (!sections.includes("Players")) poll.subscribe(Symbol(), ["Players"]);
      return stateWith(sections);
    });
    expect((await poll.read()).state).toHaveProperty("Players");
    expect(requests).toEqual(["JoinLogs,Queue", "Players,JoinLogs,Queue"]);
  });

  const ALL_BUT_PLAYERS = SECTIONS.filter((name) => name !== "Players");
  const refusePlayers = (sections: string[]) => (sections.includes("Players") ? refusal(5011) : stateWith(sections));

  test("never reads a section that the key may not read, and names those sections", async () => {
    const { poll, requests } = startPoll(refusePlayers, { allowed: ALL_BUT_PLAYERS });
    expect(poll.subscribe(Symbol(), ["Players"])).toBe(false);
    poll.subscribe(Symbol(), ["Players", "Staff"]);
    const reading = await poll.read();
    expect(reading).toMatchObject({ condition: "ok", forbidden: ["Players"], state: { Staff: [] } });
    expect(requests).toEqual(["Staff,JoinLogs,Queue"]);
  });

  test("reads the server without sections when the key may read none", async () => {
    const { poll, requests } = startPoll(stateWith, { allowed: [] });
    poll.subscribe(Symbol(), ["Players"]);
    expect(await poll.read()).toMatchObject({ condition: "ok", forbidden: [...SECTIONS] });
    expect(requests).toEqual([""]);
  });

  test("goes on without a section that the operator removes from the key, after one refusal", async () => {
    const { poll, requests } = startPoll(refusePlayers, { now: () => keyWith(ALL_BUT_PLAYERS) });
    poll.subscribe(Symbol(), ["Players", "Staff"]);
    const reading = await poll.read();
    expect(reading).toMatchObject({ condition: "ok", forbidden: ["Players"], state: { Staff: [] } });
    await poll.read();
    expect(requests).toEqual([
      "Players,Staff,JoinLogs,Queue",
      "the key",
      "Staff,JoinLogs,Queue",
      "Staff,JoinLogs,Queue",
    ]);
  });

  test("reports the refusal and does not retry while it cannot read the new rights", async () => {
    const { poll, requests } = startPoll(refusePlayers, { now: () => refusal(5016) });
    poll.subscribe(Symbol(), ["Players"]);
    expect(await poll.read()).toMatchObject({ condition: "refused", error: { code: 5011 } });
    expect(requests).toEqual(["Players,JoinLogs,Queue", "the key"]);
  });

  test("sends the ETag of the same sections, and after a 304 keeps the state with the new age", async () => {
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
  ] as const)("keeps the last state through %p %p, as the condition %p", async (code, more, condition) => {
    let isGood = true;
    const { poll } = startPoll((sections) => (isGood ? stateWith(sections) : refusal(code, more)));
    const { state } = await poll.read();
    isGood = false;
    expect(await poll.read()).toMatchObject({ condition, state: state ?? {}, error: { code } });
  });

  test("reports when it tries to reach Gatehouse again", async () => {
    const { poll } = startPoll(() => refusal(0));
    const { retryAt, delayMs } = await poll.read();
    expect(retryAt).toBe(NOW + delayMs);
    expect((await startPoll(stateWith).poll.read()).retryAt).toBeUndefined();
  });

  test("is slower while a stream tells of events, but not for positions and not after a failure", async () => {
    let isFailing = false;
    const { poll } = startPoll((sections) => (isFailing ? refusal(5106) : stateWith(sections)));
    poll.setLive(true);
    const reading = await poll.read();
    expect(reading.delayMs).toBeGreaterThanOrEqual(LIVE_POLL_INTERVAL_MS);
    expect(judgeAge(reading, NOW - 2_000 + 3 * LIVE_POLL_INTERVAL_MS)).toBe("ok");
    const map = Symbol();
    poll.subscribe(map, ["Players"], true);
    expect((await poll.read()).delayMs).toBeLessThan(LIVE_POLL_INTERVAL_MS);
    poll.unsubscribe(map);
    expect((await poll.read()).delayMs).toBeGreaterThanOrEqual(LIVE_POLL_INTERVAL_MS);
    isFailing = true;
    expect((await poll.read()).delayMs).toBeLessThan(LIVE_POLL_INTERVAL_MS);
    isFailing = false;
    poll.setLive(false);
    expect((await poll.read()).delayMs).toBeLessThan(LIVE_POLL_INTERVAL_MS);
  });

  test("is concerned by events about what it reads, and by those about the whole server", async () => {
    const { poll } = startPoll(stateWith);
    await poll.read();
    const isConcernedBy = (type: EventType) => poll.isConcernedBy({ type });
    expect(isConcernedBy("player.joined")).toBe(true);
    expect(isConcernedBy("server.online")).toBe(true);
    expect(isConcernedBy("vehicle.spawned")).toBe(false);
    poll.subscribe(Symbol(), ["Vehicles"]);
    await poll.read();
    expect(isConcernedBy("vehicle.spawned")).toBe(true);
    const few = startPoll(stateWith, { allowed: [] });
    await few.poll.read();
    expect(few.poll.isConcernedBy({ type: "server.offline" })).toBe(true);
  });

  test("calls a good reading stale once it is older than three polls", async () => {
    const { poll } = startPoll(stateWith);
    const reading = await poll.read();
    expect(judgeAge(reading, NOW - 2_000 + STALE_AFTER_MS)).toBe("ok");
    expect(judgeAge(reading, NOW - 2_000 + STALE_AFTER_MS + 1)).toBe("stale");
  });
});

describe("the history of the page", () => {
  const base = { CurrentPlayers: 1, Queue: [1, 2] } as unknown as Parameters<ServerHistory["record"]>[0];

  test("counts joins and leaves since the previous reading", () => {
    const history = new ServerHistory();
    const old = { Join: true, Timestamp: 1, Player: "a:1" };
    history.record({ ...base, JoinLogs: [old] }, 1);
    const left = { Join: false, Timestamp: 2, Player: "a:1" };
    history.record({ ...base, JoinLogs: [left, old, { Join: true, Timestamp: 2, Player: "b:2" }] }, 2);
    expect(history.points).toEqual([
      { at: 1, players: 1, queue: 2, joins: 0, leaves: 0 },
      { at: 2, players: 1, queue: 2, joins: 1, leaves: 1 },
    ]);
  });

  test("holds a bounded number of points and drops the oldest", () => {
    const history = new ServerHistory();
    for (let at = 1; at <= HISTORY_POINTS_MAX + 5; at++) history.record({ ...base }, at);
    expect(history.points.length).toBe(HISTORY_POINTS_MAX);
    expect(history.points[0]?.at).toBe(6);
  });

  test("has one point for a reading that was asked for twice", () => {
    const history = new ServerHistory();
    history.record(base, NOW);
    history.record(base, NOW + SAME_READING_MS - 1);
    history.record(base, NOW + SAME_READING_MS);
    expect(history.points.map(({ at }) => at)).toEqual([NOW, NOW + SAME_READING_MS]);
  });
});

test("ids that are too large for a number keep their digits", () => {
  expect(parseExactJson('{"a": 12345678901234567890, "b": 42, "c": 1.5}')).toEqual({
    a: "12345678901234567890",
    b: 42,
    c: 1.5,
  });
});
