import { describe, expect, test } from "bun:test";
import type { KeptSession, OpenHistory } from "../ports/history.ts";
import {
  compareIds,
  describeSession,
  isAfterPlace,
  joinSessions,
  listCurrentSessions,
  type SessionPosition,
  toOpenPresence,
  touches,
} from "./answer-sessions.ts";
import { NOTHING_COUNTED } from "./counts.ts";
import type { OpenSession } from "./sessions.ts";

const AT = 1_800_000_000_000;

function makeOpen(joinedAt: number, changes: Partial<OpenSession> = {}): OpenSession {
  const base = { name: "A", isLogged: true, wasStaff: false, team: null, stays: [], absence: null };
  return { ...base, joinedAt, ...changes };
}

function makeHistory(sessions: Record<string, OpenSession>, seenUntil: number): OpenHistory {
  const now = { players: 1, queue: null, staff: null, teams: {} };
  return {
    counts: { ...NOTHING_COUNTED, last: { at: AT, until: seenUntil, now } },
    sessions: new Map(Object.entries(sessions)),
    seenAt: AT,
  };
}

function makeEnded(number: number, joinedAt: number): KeptSession {
  const rest = { name: "E", leftAt: joinedAt + 10, ended: "log", wasStaff: false, stays: [] } as const;
  return { number, player: "7", joinedAt, ...rest };
}

describe("an open session", () => {
  const stays = [{ team: "Police", from: AT - 60_000, to: AT - 10_000 }];
  const open = makeHistory(
    { "5": makeOpen(AT - 60_000, { team: { name: "Fire", since: AT - 10_000 }, stays }) },
    AT + 60_000,
  );

  test("lasts until now, with the time in its present team", () => {
    const [session] = listCurrentSessions(open, AT + 20_500);
    expect(session && describeSession(session)).toEqual({
      player: "A:5",
      id: "5",
      joined_at: AT - 60_000,
      left_at: null,
      seconds: 80,
      ended: null,
      teams: { Police: 50, Fire: 30 },
    });
  });

  test("is not known to last longer than readings that show players are valid", () => {
    const [session] = listCurrentSessions(open, AT + 3_600_000);
    expect(session?.until).toBe(AT + 60_000);
    const [unseen] = listCurrentSessions({ ...open, seenAt: AT - 40_000 }, AT + 3_600_000);
    expect(unseen?.until).toBe(AT + 20_000);
  });

  test("that the last reading did not show lasted until the reading before", () => {
    const absent = makeOpen(AT - 60_000, { absence: { readings: 1, seenUntil: AT - 5_000 } });
    const [session] = listCurrentSessions(makeHistory({ "5": absent }, AT + 60_000), AT + 1_000);
    expect(session?.until).toBe(AT - 5_000);
  });

  test("that began after the last reading has no length yet", () => {
    const [session] = listCurrentSessions({ ...open, counts: NOTHING_COUNTED, seenAt: AT - 90_000 }, AT);
    expect(session && describeSession(session).seconds).toBe(0);
  });

  test("counts for the period as far as it is in it", () => {
    const current = listCurrentSessions(open, AT + 20_000);
    const presence = (from: number, to: number) => toOpenPresence(current, { from, to });
    expect(presence(AT - 30_000, AT)).toEqual([{ player: "5", name: "A", ms: 30_000, sessions: 1 }]);
    expect(presence(0, AT + 90_000)[0]?.ms).toBe(80_000);
    expect(presence(AT + 20_000, AT + 90_000)).toEqual([]);
    expect(presence(0, AT - 60_000)).toEqual([]);
  });
});

test("a session touches a period when a part of it is inside, and one without a length where it began", () => {
  const period = { from: AT, to: AT + 100 };
  const session = (joinedAt: number, leftAt: number) => ({ ...makeEnded(1, joinedAt), leftAt });
  expect(touches(session(AT - 10, AT), period)).toBe(false);
  expect(touches(session(AT - 10, AT + 1), period)).toBe(true);
  expect(touches(session(AT + 99, AT + 200), period)).toBe(true);
  expect(touches(session(AT + 100, AT + 200), period)).toBe(false);
  expect(touches(session(AT, AT), period)).toBe(true);
});

test("pages of sessions have each exactly once, in one order, also those that began together", () => {
  const open = Object.fromEntries(
    [
      ["9", AT - 20],
      ["10", AT - 20],
      ["3", AT],
    ].map(([id, joinedAt]) => [id, makeOpen(Number(joinedAt))]),
  );
  const current = listCurrentSessions(makeHistory(open, AT + 5), AT + 5);
  const ended = [makeEnded(5, AT - 10), makeEnded(4, AT - 20), makeEnded(3, AT - 20), makeEnded(9, AT - 30)];
  const expected = ["3", "n5", "9", "10", "n4", "n3", "n9"];
  for (let limit = 1; limit <= 8; limit++) {
    const seen: string[] = [];
    let place: SessionPosition | null | undefined;
    do {
      const at = place;
      const after = at && { joinedAt: at.joinedAt, number: at.number ?? Number.MAX_SAFE_INTEGER };
      const rest = ended.filter(
        ({ joinedAt, number }) =>
          !after || joinedAt < after.joinedAt || (joinedAt === after.joinedAt && number < after.number),
      );
      const left = current.filter((session) => !at || isAfterPlace(session, at));
      const page = joinSessions(left, rest.slice(0, limit + 1), limit);
      seen.push(...page.sessions.map(({ number, player }) => (number === undefined ? player : `n${number}`)));
      place = page.next;
    } while (place);
    expect(seen).toEqual(expected);
  }
});

test("ids are compared as numbers, also those that a number cannot hold", () => {
  expect(["10", "9", "12345678901234567891", "12345678901234567890"].toSorted(compareIds)).toEqual([
    "9",
    "10",
    "12345678901234567890",
    "12345678901234567891",
  ]);
});
