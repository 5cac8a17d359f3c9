// What every archive promises about the history, whatever keeps it. Each keeper runs the same suite.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/core/durations.ts";
import { NOTHING_KNOWN, type ServerMemory } from "../../src/core/events/memory.ts";
import { writeChangedParts } from "../../src/core/events/memory-text.ts";
import { toGapEvent } from "../../src/core/events/new-event.ts";
import { NO_KINDS } from "../../src/core/history/command-kinds.ts";
import { NOTHING_COUNTED, RESOLUTION_KEPT_MS, RESOLUTIONS } from "../../src/core/history/counts.ts";
import { HISTORY_KEPT_MS, type HistoryChange } from "../../src/core/history/history.ts";
import type { OpenSession } from "../../src/core/history/sessions.ts";
import type { Archive, LedgerRecord } from "../../src/core/ports/archive.ts";
import type { Period, Presence, SessionsRequest } from "../../src/core/ports/history.ts";
import type { Gap } from "../../src/core/wire/event-data.ts";
import type { ArchiveHarness } from "./archive-contract.ts";
import { act, addHistory, type EndedSession, MIDNIGHT, minute, session } from "./history-samples.ts";
import { kill, NOW, record } from "./ledger-samples.ts";

const ALWAYS: Period = { from: 0, to: 10 * NOW };
const OPEN: OpenSession = {
  name: "Bob",
  joinedAt: NOW - 5,
  isLogged: true,
  wasStaff: false,
  team: { name: "Civilian", since: NOW },
  stays: [],
  absence: null,
};

export function describeHistoryStore(name: string, createHarness: () => Promise<ArchiveHarness>): void {
  describe(`the history in ${name}`, () => {
    let harness: ArchiveHarness;
    let archive: Archive;
    let tests = 0;
    // Servers of its own for each test, because a database for each takes too long.
    let serverId: string;
    let otherId: string;

    beforeAll(async () => {
      harness = await createHarness();
      archive = await harness.open();
    });
    beforeEach(() => {
      tests++;
      [serverId, otherId] = [`srv_${tests}a`, `srv_${tests}b`];
    });
    afterAll(() => harness?.close());

    const add = (history: Partial<HistoryChange>, changes: Partial<LedgerRecord> = {}, toServer = serverId) =>
      addHistory(archive, history, toServer, changes);

    const listSessions = (changes: Partial<SessionsRequest> = {}) =>
      archive.listSessions({ serverId, ...ALWAYS, limit: 100, ...changes });
    const sum = (period: Period, open: readonly Presence[] = [], page = { offset: 0, limit: 100 }) =>
      archive.sumPresence(serverId, period, open, page);
    const prune = async (now: number) => {
      for (let step = 0; await archive.prune({ now, days: 10_000, eventsMax: 1_000_000 }); step++) {
        if (step > 100) throw new Error("pruning does not end");
      }
    };
    const forget = async (id: string) => {
      await archive.startForgetting(id);
      for (let step = 0; step < 200; step++) if (!(await archive.continueForgetting())) return;
      throw new Error("forgetting does not end");
    };
    const write = (memory: Partial<ServerMemory>) => writeChangedParts(NOTHING_KNOWN, { ...NOTHING_KNOWN, ...memory });

    test("a server without history has none", async () => {
      for (const resolution of RESOLUTIONS) expect(await archive.readCounts(serverId, resolution, ALWAYS)).toEqual([]);
      expect(await archive.readOpenHistory(serverId)).toEqual({
        counts: NOTHING_COUNTED,
        sessions: new Map(),
        seenAt: null,
      });
      expect(await listSessions()).toEqual([]);
      expect(await sum(ALWAYS)).toEqual([]);
      expect(await archive.readStaff(serverId, ALWAYS, [])).toEqual({ members: [], listed: new Map() });
    });

    describe("counts", () => {
      test("minutes are added up in every resolution, over records and restarts", async () => {
        const first = minute(MIDNIGHT, 4, { queueMax: 3, teamMs: { Police: 60_000, "Клан «☃»\0": 5 } });
        const second = minute(MIDNIGHT + 4 * MINUTE_MS, 10, { knownMs: 30_000, playerMs: 300_000 });
        await add({ minutes: [first, second] });
        archive = await harness.open();
        const third = minute(MIDNIGHT + 5 * MINUTE_MS, 0, { staffMax: 2, teamMs: { Police: 1 } });
        await add({ minutes: [third] });
        await add({ minutes: [minute(MIDNIGHT, 9)] }, {}, otherId);
        expect(await archive.readCounts(serverId, "1m", ALWAYS)).toEqual([first, second, third]);
        expect(await archive.readCounts(serverId, "1m", ALWAYS, "players")).toEqual(
          [first, second, third].map((one) => ({
            ...one,
            queueMax: null,
            staffMax: null,
            teamKnownMs: 0,
            teamMs: {},
          })),
        );
        const known = { ...first, knownMs: 90_000, teamKnownMs: 90_000, playerMs: 540_000, max: 10 };
        expect(await archive.readCounts(serverId, "5m", ALWAYS)).toEqual([known, third]);
        const all = { ...known, knownMs: 150_000, teamKnownMs: 150_000, min: 0, staffMax: 2 };
        const teamMs = { Police: 60_001, "Клан «☃»\0": 5 };
        for (const resolution of ["1h", "1d"] as const)
          expect(await archive.readCounts(serverId, resolution, ALWAYS)).toEqual([{ ...all, teamMs }]);
      });

      test("the most players of each hour are read for several servers at once", async () => {
        await add({
          minutes: [minute(MIDNIGHT, 4), minute(MIDNIGHT + 59 * MINUTE_MS, 7), minute(MIDNIGHT + HOUR_MS, 2)],
        });
        await add({ minutes: [minute(MIDNIGHT + 2 * HOUR_MS, 9)] }, {}, otherId);
        const first = { at: MIDNIGHT, max: 7 };
        const second = { at: MIDNIGHT + HOUR_MS, max: 2 };
        const third = { at: MIDNIGHT + 2 * HOUR_MS, max: 9 };
        const readHours = (ids: readonly string[], from: number, to: number) =>
          archive.readHours(ids, { from: MIDNIGHT + from * HOUR_MS, to: MIDNIGHT + to * HOUR_MS });
        expect(await readHours([serverId, otherId, "srv_none"], 0, 3)).toEqual(
          new Map([
            [serverId, [first, second]],
            [otherId, [third]],
          ]),
        );
        expect(await readHours([serverId, otherId], 1, 2)).toEqual(new Map([[serverId, [second]]]));
        expect(await readHours([], 0, 3)).toEqual(new Map());
      });

      test("the time in which teams were known is added up on its own", async () => {
        const part = minute(MIDNIGHT, 4, { teamKnownMs: 15_000, teamMs: { Police: 60_000 } });
        const never = minute(MIDNIGHT + MINUTE_MS, 4, { teamKnownMs: 0 });
        const whole = minute(MIDNIGHT + 2 * MINUTE_MS, 4, { teamMs: { Fire: 60_000 } });
        await add({ minutes: [part, never] });
        await add({ minutes: [whole] });
        expect(await archive.readCounts(serverId, "1m", ALWAYS)).toEqual([part, never, whole]);
        const sums = { knownMs: 3 * MINUTE_MS, playerMs: 12 * MINUTE_MS, teamKnownMs: 75_000 };
        const teamMs = { Police: 60_000, Fire: 60_000 };
        for (const resolution of ["5m", "1h", "1d"] as const)
          expect(await archive.readCounts(serverId, resolution, ALWAYS)).toEqual([
            minute(MIDNIGHT, 4, { ...sums, teamMs }),
          ]);
      });

      test("the rest of a minute that was told of before is added to it", async () => {
        const half = { knownMs: 30_000, playerMs: 60_000 };
        await add({ minutes: [minute(MIDNIGHT, 2, half)] });
        await add({ minutes: [minute(MIDNIGHT, 4, { ...half, playerMs: 120_000 })] });
        const whole = minute(MIDNIGHT, 2, { playerMs: 180_000, max: 4 });
        for (const resolution of RESOLUTIONS)
          expect(await archive.readCounts(serverId, resolution, ALWAYS)).toEqual([whole]);
      });

      test("a period has what touches it, oldest first", async () => {
        const minutes = [3, 1, 2, 4].map((n) => minute(MIDNIGHT + n * MINUTE_MS, n));
        await add({ minutes });
        const read = async (from: number, to: number) => {
          const period = { from: MIDNIGHT + from, to: MIDNIGHT + to };
          return (await archive.readCounts(serverId, "1m", period)).map(({ min }) => min);
        };
        expect(await read(2 * MINUTE_MS, 4 * MINUTE_MS)).toEqual([2, 3]);
        expect(await read(2 * MINUTE_MS + 1, 4 * MINUTE_MS + 1)).toEqual([2, 3, 4]);
      });

      test("a record that is a conflict adds nothing", async () => {
        await add({});
        const history = {
          minutes: [minute(NOW, 1)],
          sessions: [session("1", NOW, NOW + 5)],
          acts: [act("1", NOW)],
          seen: [],
        };
        expect(await archive.record([record({ serverId, version: 0, history })])).toEqual([{ conflict: true }]);
        expect(await archive.readCounts(serverId, "1d", ALWAYS)).toEqual([]);
        expect(await listSessions()).toEqual([]);
        expect((await archive.readStaff(serverId, ALWAYS, [])).members).toEqual([]);
      });
    });

    test("an act of an event that was recorded before is not counted again", async () => {
      const change = { acts: [{ ...act("1", NOW), identity: "kill-1" }, act("1", NOW)] };
      await add(change, { events: [kill(1)] });
      await add(change, { events: [kill(1), kill(2)] });
      const { members } = await archive.readStaff(serverId, ALWAYS, []);
      expect(members).toMatchObject([{ player: "1", commands: 3 }]);
    });

    test("a moment is in the gap that was recorded around it, a minute after its beginning, if it is about everything", async () => {
      const later = (minutes: number) => NOW + minutes * MINUTE_MS;
      const gap = (section: Gap["section"], from: number | null, to: number) =>
        toGapEvent({ section, reason: "not_watched", from: from && later(from), to: later(to) }, later(to));
      const events = [gap("*", null, 0), gap("*", 100, 200), gap("KillLogs", 250, 300), gap("*", 400, 500)];
      await add({}, { events });
      const moments = [-5, 0, 50, 100, 101, 102, 199, 200, 260, 450, 500, 600];
      const found = await Promise.all(moments.map((minutes) => archive.isInGap(serverId, later(minutes))));
      expect(moments.filter((_, index) => found[index])).toEqual([-5, 102, 199, 450]);
      expect(await archive.isInGap(otherId, later(102))).toBe(false);
    });

    test("what is not over comes from the memory", async () => {
      const last = { at: NOW, until: NOW + 60_000, now: { players: 1, queue: 0, staff: 0, teams: {} } };
      const counts = { minute: minute(MIDNIGHT, 1), last };
      const sessions = new Map([["54", OPEN]]);
      await add({}, { memory: write({ counts, sessions, playersShownAt: NOW }) });
      expect(await archive.readOpenHistory(serverId)).toEqual({ counts, sessions, seenAt: NOW });
    });

    test("an open minute of an earlier version knows its teams for all of its known time", async () => {
      const { teamKnownMs: _, ...earlier } = minute(MIDNIGHT, 1, { knownMs: 20_000 });
      const memory = [{ part: "counts", text: JSON.stringify({ minute: earlier, last: null }) }];
      await add({}, { memory });
      const { counts } = await archive.readOpenHistory(serverId);
      expect(counts.minute).toEqual({ ...earlier, teamKnownMs: 20_000 });
    });

    describe("sessions", () => {
      test("come back as they were given, with the newest name, newest first", async () => {
        const stays = [
          { team: "Police", from: NOW - 50, to: NOW - 20 },
          { team: "«☃»\0\ud800", from: NOW - 20, to: NOW },
        ];
        const one = session("54", NOW - 50, NOW, { stays, wasStaff: true, ended: "vanished", name: "Old" });
        const other = session("54", NOW + 5, NOW + 5, { ended: "gap", name: "New\0" });
        await add({ sessions: [one] });
        expect(await listSessions()).toEqual([{ ...one, number: 0 }]);
        await add({ sessions: [other], acts: [{ ...act("54", NOW), name: "Older" }] });
        archive = await harness.open();
        const found = [other, one].map((kept) => ({ ...kept, name: "New\ufffd", number: 0 }));
        expect(await listSessions()).toEqual(found);
      });

      test("a period has those that touch it, of all players or of one", async () => {
        const sessions = [
          session("1", NOW - 100, NOW),
          session("2", NOW - 100, NOW + 1),
          session("3", NOW, NOW + 5),
          session("2", NOW + 9, NOW + 20),
          session("4", NOW + 10, NOW + 20),
        ];
        await add({ sessions });
        await add({ sessions: [session("9", NOW, NOW + 5)] }, {}, otherId);
        const period = { from: NOW, to: NOW + 10 };
        const list = async (changes: Partial<SessionsRequest>) =>
          (await listSessions({ ...period, ...changes })).map(({ player }) => player);
        expect(await list({})).toEqual(["2", "3", "2"]);
        expect(await list({ player: "2" })).toEqual(["2", "2"]);
        expect(await list({ player: "1" })).toEqual([]);
      });

      test("pages have every session once, also of many that began together and while others end", async () => {
        const many = Array.from({ length: 25 }, (_, n) => session(String(n), NOW + Math.floor(n / 10), NOW + 9));
        await add({ sessions: many.slice(0, 5) });
        await add({ sessions: many.slice(5) });
        const read = async (player?: string) => {
          const found: string[] = [];
          for (let after: SessionsRequest["after"]; ; ) {
            const page = await listSessions({ limit: 4, after, player });
            found.push(...page.map((one) => one.player));
            const last = page.at(-1);
            if (!last || found.length > 25) return found;
            after = { joinedAt: last.joinedAt, number: last.number };
            await add({ sessions: [session("77", NOW + 10, NOW + 11)] });
          }
        };
        const expected = many.map(({ player }) => player).toReversed();
        expect(await read()).toEqual(expected);
        await add({ sessions: [5, 6, 6, 7, 8].map((n) => session("99", NOW + n, NOW + 9)) });
        expect(await read("99")).toEqual(["99", "99", "99", "99", "99"]);
      });
    });

    describe("playtime", () => {
      /** The promise in plain words, to hold the sums of days against. */
      const sumPlainly = (sessions: readonly EndedSession[], { from, to }: Period) => {
        const sums = new Map<string, Presence>();
        for (const { player, name, joinedAt, leftAt } of sessions) {
          if (joinedAt >= to || (leftAt <= from && joinedAt < from)) continue;
          const { ms, sessions: before } = sums.get(player) ?? { ms: 0, sessions: 0 };
          const added = Math.min(leftAt, to) - Math.max(joinedAt, from);
          sums.set(player, { player, name, ms: ms + added, sessions: before + 1 });
        }
        return [...sums.values()].toSorted((a, b) => b.ms - a.ms || Number(a.player) - Number(b.player));
      };

      test("is clipped to the period, over any number of days", async () => {
        const sessions = [
          session("1", MIDNIGHT - HOUR_MS, MIDNIGHT + HOUR_MS),
          session("1", MIDNIGHT + 30 * HOUR_MS, MIDNIGHT + 80 * HOUR_MS),
          session("2", MIDNIGHT - 9 * DAY_MS, MIDNIGHT + 9 * DAY_MS),
          session("3", MIDNIGHT, MIDNIGHT + DAY_MS),
          session("30", MIDNIGHT, MIDNIGHT + DAY_MS),
          session("4", MIDNIGHT + 47 * HOUR_MS, MIDNIGHT + 49 * HOUR_MS),
          session("4", MIDNIGHT + 49 * HOUR_MS, MIDNIGHT + 49 * HOUR_MS),
        ];
        for (const one of sessions) await add({ sessions: [one] });
        const hours = [-300, -1, 0, 1, 23, 24, 25, 48, 49, 72, 300];
        for (const [place, from] of hours.entries()) {
          for (const to of hours.slice(place + 1)) {
            const period = { from: MIDNIGHT + from * HOUR_MS, to: MIDNIGHT + to * HOUR_MS };
            expect({ from, to, sums: await sum(period) }).toEqual({
              from,
              to,
              sums: sumPlainly(sessions, period),
            });
          }
        }
      });

      test("most first, open sessions included, in pages", async () => {
        const sessions = ["9", "10", "8"].map((player) => session(player, MIDNIGHT, MIDNIGHT + 10));
        await add({ sessions });
        const open = [
          { player: "8", name: "Renamed", ms: 5, sessions: 1 },
          { player: "7", name: "New", ms: 99, sessions: 1 },
        ];
        const period = { from: MIDNIGHT - DAY_MS, to: MIDNIGHT + DAY_MS };
        const all = [
          { player: "7", name: "New", ms: 99, sessions: 1 },
          { player: "8", name: "Renamed", ms: 15, sessions: 2 },
          { player: "9", name: "Player9", ms: 10, sessions: 1 },
          { player: "10", name: "Player10", ms: 10, sessions: 1 },
        ];
        expect(await sum(period, open)).toEqual(all);
        expect(await sum(period, open, { offset: 1, limit: 2 })).toEqual(all.slice(1, 3));
        expect(await sum(period, open, { offset: 4, limit: 2 })).toEqual([]);
      });
    });

    test("staff: who acted, was staff, is listed or is asked for, with what they did in the period", async () => {
      const stays = [
        { team: "Police", from: NOW - 50, to: NOW + 20 },
        { team: "Civilian", from: NOW + 20, to: NOW + 30 },
        { team: "Police", from: NOW + 30, to: NOW + 50 },
      ];
      const sessions = [
        session("1", NOW - 50, NOW + 50, { wasStaff: true, stays }),
        session("1", NOW + 60, NOW + 170),
        session("2", NOW + 5, NOW + 7),
        session("3", NOW + 5, NOW + 6),
        session("4", NOW + 5, NOW + 6),
        session("5", NOW - 50, NOW - 1, { wasStaff: true }),
        session("7", NOW + 5, NOW + 6),
      ];
      const acts = [
        act("2", NOW + 5),
        act("6", NOW + 5, [100, 5_000]),
        act("2", NOW - 1),
        act("2", NOW + 100),
        act("6", NOW + 5),
        act("6", NOW + 6, [0, 7]),
        act("2", NOW + 6, null, "kick"),
        act("2", NOW + 7, null, "kick"),
        act("2", NOW + 100, null, "kick"),
        act("6", NOW + 7, null, "message"),
      ];
      const staff = {
        Admins: new Map([["3", "Ann"]]),
        Mods: new Map([
          ["3", "Ann"],
          ["33", "Zoe"],
        ]),
      };
      await add({ sessions, acts }, { memory: write({ staff }) });
      const { members, listed } = await archive.readStaff(serverId, { from: NOW, to: NOW + 100 }, ["7", "2"]);
      const none = { ms: 0, teamMs: {}, commands: 0, byKind: NO_KINDS, role: null, waits: [] };
      expect(members.toSorted((a, b) => Number(a.player) - Number(b.player))).toEqual([
        { ...none, player: "1", name: "Player1", ms: 90, teamMs: { Police: 40, Civilian: 10 } },
        { ...none, player: "2", name: "Player2", ms: 2, commands: 3, byKind: { ...NO_KINDS, kick: 2 } },
        { ...none, player: "3", name: "Player3", ms: 1, role: "Admins" },
        {
          ...none,
          player: "6",
          name: "Player6",
          commands: 2,
          byKind: { ...NO_KINDS, message: 1 },
          waits: [
            [100, 5_000],
            [0, 7],
          ],
        },
        { ...none, player: "7", name: "Player7", ms: 1 },
        { ...none, player: "33", name: "Zoe", role: "Mods" },
      ]);
      expect(listed).toEqual(
        new Map([
          ["3", { name: "Ann", role: "Admins" }],
          ["33", { name: "Zoe", role: "Mods" }],
        ]),
      );
    });

    describe("pruning", () => {
      test("each resolution is kept for its own time", async () => {
        await add({ minutes: [minute(MIDNIGHT, 1)] });
        const has = async () => {
          const kept: string[] = [];
          for (const resolution of RESOLUTIONS) {
            if ((await archive.readCounts(serverId, resolution, ALWAYS)).length > 0) kept.push(resolution);
          }
          return kept;
        };
        for (const [place, resolution] of RESOLUTIONS.entries()) {
          const keptMs = RESOLUTION_KEPT_MS[resolution] ?? 10_000 * DAY_MS;
          await prune(MIDNIGHT + keptMs);
          expect(await has()).toEqual(RESOLUTIONS.slice(place));
          if (RESOLUTION_KEPT_MS[resolution] !== null) await prune(MIDNIGHT + keptMs + 1);
        }
      });

      test("sessions, playtime, acts and names go together, in steps", async () => {
        const later = NOW + HISTORY_KEPT_MS;
        const old = Array.from({ length: 700 }, (_, n) => session(String(n), NOW - 100 - n, NOW - 1));
        const kept = [session("3", NOW - 100, NOW + DAY_MS), session("9000", NOW, NOW + 2 * DAY_MS)];
        const acts = [act("8000", NOW - 1), act("8001", NOW), act("4", NOW)];
        await add({ sessions: [...old, ...kept], acts });
        expect(await archive.prune({ now: later, days: 10_000, eventsMax: 1_000_000 })).toBe(true);
        await prune(later);
        expect((await listSessions({ limit: 500 })).map(({ player, name }) => `${name} ${player}`)).toEqual([
          "Player9000 9000",
          "Player3 3",
        ]);
        expect((await sum(ALWAYS)).map(({ player }) => player).toSorted()).toEqual(["3", "9000"]);
        const { members } = await archive.readStaff(serverId, ALWAYS, []);
        expect(members.map(({ name, commands }) => `${name} ${commands}`).toSorted()).toEqual([
          "Player4 1",
          "Player8001 1",
        ]);
      });
    });

    test("a removed server's history is gone, and the others' stays", async () => {
      const history = {
        minutes: Array.from({ length: 300 }, (_, n) => minute(MIDNIGHT + n * MINUTE_MS, 1)),
        sessions: [session("1", NOW, NOW + 5)],
        acts: [act("1", NOW)],
      };
      for (const server of [serverId, otherId]) await add(history, {}, server);
      await archive.removeServer(serverId);
      expect(await listSessions()).toEqual([]);
      await prune(NOW);
      await add({});
      expect(await archive.readCounts(serverId, "1d", ALWAYS)).toEqual([]);
      expect(await archive.readCounts(otherId, "1m", ALWAYS)).toHaveLength(300);
      expect(await listSessions({ serverId: otherId })).toHaveLength(1);
    });

    describe("forgetting a player", () => {
      test("in sessions, playtime, acts and names of all servers", async () => {
        const many = Array.from({ length: 600 }, (_, n) =>
          session("54", MIDNIGHT + n * HOUR_MS, MIDNIGHT + n * HOUR_MS + MINUTE_MS),
        );
        const sessions = [...many, session("0", MIDNIGHT, MIDNIGHT + 5), session("1", NOW, NOW + 7)];
        await add({ sessions, acts: [act("54", NOW), act("1", NOW)] });
        await add({ acts: [act("54", NOW, [1, 2])] }, {}, otherId);
        await forget("54");
        expect(await listSessions({ player: "54" })).toEqual([]);
        const period = { from: MIDNIGHT - DAY_MS, to: MIDNIGHT + 100 * DAY_MS };
        expect(await sum(period)).toEqual([
          { player: "0", name: "deleted", ms: 600 * MINUTE_MS + 5, sessions: 601 },
          { player: "1", name: "Player1", ms: 7, sessions: 1 },
        ]);
        const day = { from: MIDNIGHT + DAY_MS, to: MIDNIGHT + 2 * DAY_MS };
        expect(await sum(day)).toMatchObject([{ player: "0", ms: 24 * MINUTE_MS, sessions: 24 }]);
        expect(await listSessions({ player: "0", limit: 2 })).toMatchObject([{ name: "deleted" }, { name: "deleted" }]);
        const { members } = await archive.readStaff(serverId, ALWAYS, []);
        expect(members.map(({ player, name }) => `${name}:${player}`).toSorted()).toEqual(["Player1:1", "deleted:0"]);
        expect((await archive.readStaff(otherId, ALWAYS, [])).members).toEqual([
          {
            player: "0",
            name: "deleted",
            ms: 0,
            teamMs: {},
            commands: 0,
            byKind: NO_KINDS,
            role: null,
            waits: [[1, 2]],
          },
        ]);
      });

      test("an open session too, and its name is found in other texts", async () => {
        const sessions = new Map([
          ["54", OPEN],
          ["1", { ...OPEN, name: "Ann" }],
        ]);
        const memory = write({ sessions, vehicles: ['{"Name":"Car","Owner":"Bob"}'] });
        await add({}, { memory });
        await forget("54");
        const open = (await archive.readOpenHistory(serverId)).sessions;
        expect(Array.from(open, ([id, { name }]) => `${name}:${id}`)).toEqual(["Ann:1", "deleted:0"]);
        expect((await archive.load(serverId)).memory).toMatchObject({
          vehicles: [],
          erasedVehicles: [{ erased: ["Owner"] }],
        });
        expect(await archive.record([record({ serverId, version: 1 })])).toEqual([{ conflict: true }]);
      });

      test("by a name that only the history tells", async () => {
        await add({ sessions: [session("54", NOW, NOW + 5)] }, {}, otherId);
        await add(
          {},
          {
            memory: write({ vehicles: ['{"Name":"Car","Owner":"Player54"}'] }),
          },
        );
        await forget("54");
        expect((await archive.load(serverId)).memory.vehicles).toEqual([]);
      });
    });
  });
}
