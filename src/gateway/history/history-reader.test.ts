import { describe, expect, test } from "bun:test";
import { NO_KINDS } from "../../core/history/command-kinds.ts";
import type { Counts } from "../../core/history/counts.ts";
import { openTimeZone } from "../../core/history/time-zone.ts";
import type {
  HistoryStore,
  KeptSession,
  OpenHistory,
  Period,
  Presence,
  SessionsRequest,
  StaffFacts,
} from "../../core/ports/history.ts";
import { HistoryReader } from "./history-reader.ts";

const MINUTE = 60_000;
/** A Monday, 08:00 UTC. */
const AT = Date.parse("2026-06-01T08:00Z");
const RIGHTS = { players: true, queue: true };

function makeCounts(at: number, knownMs: number, players: number): Counts {
  const none = { queueMax: null, staffMax: null, teamKnownMs: 0, teamMs: {} };
  return { at, knownMs, playerMs: players * knownMs, min: players, max: players, ...none };
}

type State = {
  readonly counts: readonly Counts[];
  readonly sessions: readonly KeptSession[];
  readonly open: OpenHistory;
};

const EMPTY: State = {
  counts: [],
  sessions: [],
  open: { counts: { minute: null, last: null }, sessions: new Map(), seenAt: null },
};

/** What the archive has, in each state that it is in one after the other: each look at the open history goes to the next. */
class FakeStore implements HistoryStore {
  gaps: readonly Period[] = [];
  facts: StaffFacts = { members: [], listed: new Map() };
  /** Who was asked for as staff. */
  readonly also: (readonly string[])[] = [];

  constructor(readonly states: State[]) {}

  get state(): State {
    return this.states[0] ?? EMPTY;
  }

  async readOpenHistory() {
    const { open } = this.state;
    if (this.states.length > 1) this.states.shift();
    return open;
  }
  async isInGap(_serverId: string, at: number) {
    return this.gaps.some(({ from, to }) => at > from && at < to);
  }
  async readCounts(_serverId: string, _resolution: string, { from, to }: Period) {
    return this.state.counts.filter(({ at }) => at >= from && at < to);
  }
  async listSessions(request: SessionsRequest) {
    const { player, limit, after } = request;
    return this.state.sessions
      .filter((session) => player === undefined || session.player === player)
      .filter(({ joinedAt }) => !after || joinedAt < after.joinedAt)
      .slice(0, limit);
  }
  async sumPresence(
    _serverId: string,
    _period: Period,
    open: readonly Presence[],
    { offset, limit }: { offset: number; limit: number },
  ) {
    const ended = this.state.sessions.map(({ player, name, joinedAt, leftAt }) => {
      return { player, name, ms: (leftAt ?? 0) - joinedAt, sessions: 1 };
    });
    return [...open, ...ended].slice(offset, offset + limit);
  }
  async readStaff(_serverId: string, _period: Period, also: readonly string[]) {
    this.also.push(also);
    return this.facts;
  }
}

const readingAt = (at: number, players: number) => {
  const now = { players, queue: null, staff: null, teams: null };
  return { at, until: at + MINUTE, now };
};
const question = { serverId: "srv_a", period: { from: AT, to: AT + 5 * MINUTE }, now: AT + 80_000 };

const SESSION = {
  name: "A",
  joinedAt: AT,
  isLogged: true,
  wasStaff: true,
  team: null,
  stays: [],
  absence: null,
};
const OPEN: OpenHistory = {
  counts: { minute: makeCounts(AT, 30_000, 4), last: readingAt(AT + 30_000, 4) },
  sessions: new Map([["1", SESSION]]),
  seenAt: AT + 30_000,
};
const BEFORE: State = { ...EMPTY, open: OPEN };
/** After a reading that ended the minute and the session. */
const AFTER: State = {
  counts: [makeCounts(AT, MINUTE, 4)],
  sessions: [
    {
      number: 1,
      player: "1",
      name: "A",
      joinedAt: AT,
      leftAt: AT + 70_000,
      ended: "log",
      wasStaff: true,
      stays: [],
    },
  ],
  open: {
    counts: { minute: makeCounts(AT + MINUTE, 10_000, 4), last: readingAt(AT + 70_000, 2) },
    sessions: new Map(),
    seenAt: AT + 70_000,
  },
};

describe("the past and the present together", () => {
  test("the minute that is not over is there after the first reading", async () => {
    const { points } = await new HistoryReader(new FakeStore([BEFORE])).readPlayers(question, "1m", RIGHTS);
    expect(points.map(({ known, avg }) => [known, avg])).toEqual([
      [1, 4],
      [0.3333, 4],
      [0, null],
      [0, null],
      [0, null],
    ]);
  });

  test("a minute that ends while the question is answered counts once", async () => {
    const store = new FakeStore([BEFORE, AFTER]);
    const { points } = await new HistoryReader(store).readPlayers(question, "5m", RIGHTS);
    // 60 s and 10 s of four players, 10 s of two.
    expect(points).toMatchObject([{ known: 0.2667, min: 2, avg: 3.75, max: 4 }]);
  });

  test("a session that ends while the question is answered is listed and counted once", async () => {
    const page = { ...question, place: undefined, limit: 10 };
    const sessions = await new HistoryReader(new FakeStore([BEFORE, AFTER])).listSessions(page, undefined);
    expect(sessions).toMatchObject({ items: [{ id: "1", seconds: 70, ended: "log" }], next: null });
    const playtime = await new HistoryReader(new FakeStore([BEFORE, AFTER])).listPlaytime({
      ...page,
      place: undefined,
    });
    expect(playtime).toEqual({
      items: [{ player: "A:1", id: "1", seconds: 70, sessions: 1 }],
      next: null,
    });
  });

  test("a server that is read again and again is answered all the same", async () => {
    const store = new FakeStore([BEFORE, AFTER, BEFORE, AFTER, BEFORE, AFTER]);
    const { points } = await new HistoryReader(store).readPlayers(question, "1m", RIGHTS);
    expect(points).toHaveLength(5);
    expect(store.states.length).toBeGreaterThan(2);
  });
});

describe("who was there at a moment is known", () => {
  const isKnown = async (at: number, changes: Partial<State> = {}, gaps: readonly Period[] = []) => {
    const store = new FakeStore([{ ...AFTER, ...changes }]);
    store.gaps = gaps;
    return (await new HistoryReader(store).readPresent("srv_a", at, AT + 10 * MINUTE)).known;
  };

  test("where most of the minute is", async () => {
    const none = { sessions: [] };
    expect(await isKnown(AT + 10_000, { ...none, counts: [makeCounts(AT, 30_000, 0)] })).toBe(true);
    expect(await isKnown(AT + 10_000, { ...none, counts: [makeCounts(AT, 29_000, 0)] })).toBe(false);
    expect(await isKnown(AT - MINUTE)).toBe(false);
  });

  test("and where a part of it is, while somebody was there", async () => {
    expect(await isKnown(AT + 10_000, { counts: [makeCounts(AT, 10_000, 1)] })).toBe(true);
    expect(await isKnown(AT + 10_000, { counts: [] })).toBe(false);
  });

  test("but not within a gap, nor when the newest reading is valid no more", async () => {
    const gaps = [{ from: AT + 10_000, to: AT + 20_000 }];
    const at = [10_000, 15_000, 20_000].map((ms) => isKnown(AT + ms, {}, gaps));
    expect(await Promise.all(at)).toEqual([true, false, true]);
    const validUntil = AT + 70_000 + MINUTE;
    expect([await isKnown(validUntil), await isKnown(validUntil + 1)]).toEqual([true, false]);
  });

  test("but not of a moment to come, though a reading is valid until then", async () => {
    const reader = new HistoryReader(new FakeStore([AFTER]));
    const { last } = AFTER.open.counts;
    const [now, until] = [last?.at ?? 0, last?.until ?? 0];
    expect([(await reader.readPresent("srv_a", now, now)).known, until > now]).toEqual([true, true]);
    expect((await reader.readPresent("srv_a", until, now)).known).toBe(false);
  });
});

test("peaks have the open minutes of the period, and no others", async () => {
  const reader = new HistoryReader(new FakeStore([BEFORE]));
  const zone = openTimeZone("UTC");
  if (!zone) throw new Error("no UTC");
  const known = async (period: Period) => {
    const { table } = await reader.readPeaks({ ...question, period }, zone);
    return table.flatMap((row, day) => row.flatMap((value, hour) => (value === null ? [] : [[day, hour, value]])));
  };
  expect(await known(question.period)).toEqual([[0, 8, 4]]);
  expect(await known({ from: AT - 60 * MINUTE, to: AT })).toEqual([]);
});

test("a list goes on where its page ended, and says when it is over", async () => {
  const reader = new HistoryReader(new FakeStore([{ ...AFTER, open: { ...OPEN, counts: AFTER.open.counts } }]));
  const asked = { ...question, limit: 1 };
  const first = await reader.listSessions({ ...asked, place: undefined }, undefined);
  expect(first.next).toEqual({ joinedAt: AT, number: undefined, player: "1" });
  expect((await reader.listPlaytime({ ...asked, place: undefined })).next).toBe(1);
  expect((await reader.listPlaytime({ ...asked, place: 1 })).next).toBeNull();
});

test("somebody who is staff only by an open session is asked for, and the session is added", async () => {
  const store = new FakeStore([{ ...AFTER, open: OPEN }]);
  const member = {
    player: "1",
    name: "Old",
    ms: 70_000,
    teamMs: {},
    commands: 0,
    byKind: NO_KINDS,
    role: null,
    waits: [],
  };
  store.facts = { members: [member], listed: new Map() };
  const { items } = await new HistoryReader(store).listStaff({ ...question, place: undefined, limit: 10 });
  expect(store.also).toEqual([["1"]]);
  expect(items).toMatchObject([{ player: "A:1", seconds: 150 }]);
});
