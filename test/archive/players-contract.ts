// What every archive promises about known players, notes and calls for a moderator, whatever keeps it.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/core/durations.ts";
import { NOTHING_KNOWN, type ServerMemory } from "../../src/core/events/memory.ts";
import { writeChangedParts } from "../../src/core/events/memory-text.ts";
import type { NewEvent } from "../../src/core/events/new-event.ts";
import { HISTORY_KEPT_MS, type HistoryChange, NO_HISTORY } from "../../src/core/history/history.ts";
import type { OpenSession } from "../../src/core/history/sessions.ts";
import { type ClaimRequest, stateOfCall } from "../../src/core/modcalls/mod-calls.ts";
import type { Who } from "../../src/core/people/who.ts";
import { NOTES_MAX } from "../../src/core/players/vocabulary.ts";
import type { Archive } from "../../src/core/ports/archive.ts";
import type { Note, PlayerSearch } from "../../src/core/ports/players.ts";
import type { ArchiveHarness } from "./archive-contract.ts";
import { session } from "./history-samples.ts";
import { kill, NOW, readAll, record } from "./ledger-samples.ts";

const MIA: Who = { kind: "person", id: "per_mia", name: "Mia" };
const BOT: Who = { kind: "key", id: "key_bot", name: "Bot" };

export function openSession(name: string, joinedAt: number, changes: Partial<OpenSession> = {}): OpenSession {
  return { name, joinedAt, isLogged: true, wasStaff: false, team: null, stays: [], absence: null, ...changes };
}

function note(noteId: string, changes: Partial<Note> = {}): Note {
  return { noteId, text: "rude", kind: "note", by: MIA, at: NOW, ...changes };
}

const opened = (call: string, at: number, caller = "Anna:1"): NewEvent =>
  kill(0, {
    type: "modcall.opened",
    at,
    seenAt: at,
    data: JSON.stringify({ Caller: caller, Moderator: null, Timestamp: Math.floor(at / 1000) }),
    identity: `call-${call}`,
    players: [caller.slice(caller.lastIndexOf(":") + 1)],
    call,
  });
const answered = (call: string, at: number, moderator = "Mod:9"): NewEvent =>
  kill(0, {
    type: "modcall.answered",
    at,
    seenAt: at,
    data: JSON.stringify({ Caller: "Anna:1", Moderator: moderator, Timestamp: Math.floor(at / 1000) }),
    identity: `answer-${call}`,
    players: ["1", "9"],
    call,
  });
const aimed = (n: number, ...targets: string[]): NewEvent =>
  kill(n, {
    type: "command.used",
    data: JSON.stringify({ Player: "Mod:9", Timestamp: n, Command: `:kick ${targets}` }),
    meta: JSON.stringify({ targets: targets.map((id) => `P:${id}`) }),
    identity: `aimed-${n}`,
    players: ["9", ...targets],
    targets,
  });

export function describePlayerStore(name: string, createHarness: () => Promise<ArchiveHarness>): void {
  describe(`known players in ${name}`, () => {
    let harness: ArchiveHarness;
    let archive: Archive;
    let tests = 0;
    let serverId: string;

    beforeAll(async () => {
      harness = await createHarness();
      archive = await harness.open();
    });
    beforeEach(() => {
      serverId = `srv_${++tests}`;
    });
    afterAll(() => harness?.close());

    type Told = {
      readonly events?: readonly NewEvent[];
      readonly history?: Partial<HistoryChange>;
      readonly memory?: Partial<ServerMemory>;
    };

    /** Writes what a recorder would. */
    async function tell({ events = [], history = {}, memory = {} }: Told, toServer = serverId): Promise<void> {
      const { version } = await archive.load(toServer);
      const [outcome] = await archive.record([
        record({
          serverId: toServer,
          version,
          events,
          history: { ...NO_HISTORY, ...history },
          memory: writeChangedParts(NOTHING_KNOWN, { ...NOTHING_KNOWN, ...memory }),
        }),
      ]);
      if (!outcome || "conflict" in outcome) throw new Error("a conflict");
    }

    /** A reading at `at` that showed these players. */
    function showing(at: number, sessions: ReadonlyMap<string, OpenSession>): Partial<ServerMemory> {
      const now = { players: sessions.size, queue: null, staff: null, teams: null };
      const counts = { minute: null, last: { at, until: at + MINUTE_MS, now } };
      return { sessions, playersShownAt: at, counts, lastReadingAt: at };
    }

    const search = async (changes: Partial<PlayerSearch> = {}) => {
      const base = { serverId, query: "", isHere: undefined, after: undefined, limit: 50, now: NOW };
      return archive.searchPlayers({ ...base, ...changes });
    };
    const ids = async (changes: Partial<PlayerSearch> = {}) => (await search(changes)).map(({ player }) => player);
    const forget = async (id: string) => {
      await archive.startForgetting(id);
      for (let step = 0; step < 200; step++) if (!(await archive.continueForgetting())) return;
      throw new Error("forgetting does not end");
    };
    const prune = async (now: number) => {
      for (let step = 0; await archive.prune({ now, days: 10_000, eventsMax: 1_000_000 }); step++)
        if (step > 100) throw new Error("pruning does not end");
    };

    test("a server without any knows nobody", async () => {
      expect(await search()).toEqual([]);
      expect(await archive.readPlayer(serverId, "1", NOW)).toBeUndefined();
      expect(await archive.listNotes(serverId, "1")).toBeUndefined();
      expect(await archive.addNote(serverId, "1", note("note_a"))).toBe("unknown");
      expect(await archive.deleteNote(serverId, "1", "note_a", undefined)).toBe("unknown");
      expect(await archive.listModCalls(serverId, 0, NOW)).toEqual([]);
      const claim: ClaimRequest = { action: "claim", who: MIA, mayReleaseAny: true, now: NOW };
      expect(await archive.changeClaim(serverId, "call", claim)).toBeUndefined();
    });

    test("everybody who was seen is known, with names, times, sessions, teams and kills", async () => {
      const stays = [{ team: "Police", from: NOW - 50, to: NOW - 20 }];
      await tell({
        history: { sessions: [{ ...session("1", NOW - 100, NOW), name: "Anna", stays }] },
        events: [kill(1, { data: '{"Killer":"Bob:2","Killed":"Anna:1"}', players: ["1", "2"], at: NOW - 10 })],
      });
      await tell({
        history: {
          sessions: [{ ...session("1", NOW + 100, NOW + 400), name: "Anna2", stays }],
          seen: [{ player: "3", name: "Карл☃\0", at: NOW + 5 }],
        },
        // The same kill again is not counted again.
        events: [kill(1, { data: '{"Killer":"Bob:2","Killed":"Anna:1"}', players: ["1", "2"] })],
      });
      const [anna, karl, bob] = await search();
      expect(anna).toEqual({
        player: "1",
        names: ["Anna2", "Anna"],
        firstSeenAt: NOW - 100,
        lastSeenAt: NOW + 400,
        ms: 400,
        sessions: 2,
        kills: 0,
        deaths: 1,
        teamMs: { Police: 60 },
        current: undefined,
        isHere: false,
      });
      expect(karl).toMatchObject({ player: "3", sessions: 0, firstSeenAt: NOW + 5, lastSeenAt: NOW + 5 });
      expect(bob).toMatchObject({ player: "2", names: ["Bob"], kills: 1, deaths: 0, lastSeenAt: NOW - 10 });
      expect(await ids({ serverId: "srv_other" })).toEqual([]);
    });

    test("is found by each of the newest fifty names", async () => {
      for (let n = 0; n < 51; n++)
        await tell({ history: { seen: [{ player: "1", name: `Двенадцать${100 + n}`, at: NOW + n }] } });
      for (const n of [50, 20]) expect(await ids({ query: `двенадцать${100 + n}` })).toEqual(["1"]);
      for (let n = 0; n < 50; n++)
        await tell({ history: { seen: [{ player: "2", name: `TwentyLettersLong${100 + n}`, at: NOW + n }] } });
      expect(await ids({ query: "long100" })).toEqual(["2"]);
    });

    test("is found by a part of any name, without case, and by the beginning of the id", async () => {
      const seen = [
        { player: "1234", name: "Grün_100%", at: NOW + 1 },
        { player: "125", name: "ЖАННА", at: NOW + 2 },
        { player: "99", name: "ann 12", at: NOW + 3 },
      ];
      await tell({ history: { seen } });
      await tell({ history: { seen: [{ player: "1234", name: "Renamed", at: NOW + 9 }] } });
      expect(await ids()).toEqual(["1234", "99", "125"]);
      expect(await ids({ query: "GRÜN" })).toEqual(["1234"]);
      expect(await ids({ query: "0%" })).toEqual(["1234"]);
      expect(await ids({ query: "жанн" })).toEqual(["125"]);
      expect(await ids({ query: "12" })).toEqual(["1234", "99", "125"]);
      expect(await ids({ query: "123" })).toEqual(["1234"]);
      for (const query of ["%", "_x", "nobody", "\0", "\ud800", "'", "a\nr"])
        expect((await ids({ query })).length).toBeLessThanOrEqual(1);
    });

    test("those with an open session come first, are here while readings show them, and are listed once", async () => {
      const sessions = new Map([
        ["1", openSession("Anna", NOW - 9_000)],
        ["2", openSession("Bob", NOW - 5_000, { absence: { readings: 1, seenUntil: NOW - 2_000 } })],
        ["0", openSession("deleted", NOW - 5_000)],
      ]);
      await tell({
        history: { sessions: [{ ...session("1", NOW - 99_000, NOW - 90_000), name: "Anna" }] },
        memory: showing(NOW - 1_000, sessions),
      });
      await tell({ history: { seen: [{ player: "7", name: "Old", at: NOW - 50_000 }] } });
      expect(await ids()).toEqual(["2", "1", "7"]);
      expect(await ids({ isHere: true })).toEqual(["1"]);
      expect(await ids({ isHere: false })).toEqual(["2", "7"]);
      expect(await ids({ query: "ANN" })).toEqual(["1"]);
      const [bob, anna] = await search();
      expect(anna).toMatchObject({ isHere: true, lastSeenAt: NOW, sessions: 1, ms: 9_000, current: { until: NOW } });
      expect(bob).toMatchObject({ isHere: false, lastSeenAt: NOW - 2_000, sessions: 0 });
      // The reading is not valid any more.
      expect(await ids({ isHere: true, now: NOW + 10 * MINUTE_MS })).toEqual([]);
      expect(await archive.readPlayer(serverId, "2", NOW)).toMatchObject({ player: "2", names: ["Bob"] });
      expect(await archive.readPlayer(serverId, "0", NOW)).toBeUndefined();
    });

    test("pages have everybody once", async () => {
      const sessions = new Map([1, 2, 3].map((n) => [`${n}`, openSession(`Here${n}`, NOW - 10)]));
      const seen = Array.from({ length: 7 }, (_, n) => ({ player: `1${n}`, name: `P${n}`, at: NOW - 100 - (n % 3) }));
      await tell({ history: { seen }, memory: showing(NOW - 1, sessions) });
      const all = await ids();
      expect(all).toHaveLength(10);
      const paged: string[] = [];
      let after: PlayerSearch["after"];
      for (let pages = 0; pages < 20; pages++) {
        const [last] = (await search({ after, limit: 1 })).slice(-1);
        if (!last) break;
        paged.push(last.player);
        const { current, player, lastSeenAt } = last;
        after = { isOpen: current !== undefined, at: current?.joinedAt ?? lastSeenAt, player };
      }
      expect(paged).toEqual(all);
    });

    test("the record has the newest commands that were aimed at the player, and no others", async () => {
      await tell({
        history: { seen: [{ player: "1", name: "Anna", at: NOW }] },
        events: [aimed(1, "1"), aimed(2, "2"), aimed(3, "1", "2"), kill(1, { players: ["1"] })],
      });
      const { commands = [] } = (await archive.readPlayer(serverId, "1", NOW)) ?? {};
      expect(commands.map(({ data }) => JSON.parse(data).Timestamp)).toEqual([3, 1]);
      await tell({ events: Array.from({ length: 60 }, (_, n) => aimed(10 + n, "1")) });
      const { commands: newest = [] } = (await archive.readPlayer(serverId, "1", NOW)) ?? {};
      expect(newest).toHaveLength(50);
      expect(JSON.parse(newest[0]?.data ?? "").Timestamp).toBe(69);
    });

    test("notes are kept newest first, a hundred of each player, and deleted by their author or by whoever may", async () => {
      await tell({
        history: {
          seen: [
            { player: "1", name: "Anna", at: NOW },
            { player: "2", name: "B", at: NOW },
          ],
        },
      });
      expect(await archive.addNote(serverId, "1", note("note_a"))).toBe("done");
      const warning = note("note_b", { kind: "warning", text: "„☃“\nlast one", by: BOT, at: NOW + 1 });
      expect(await archive.addNote(serverId, "1", warning)).toBe("done");
      expect(await archive.listNotes(serverId, "1")).toEqual([warning, note("note_a")]);
      expect((await archive.readPlayer(serverId, "1", NOW))?.notes).toEqual([warning, note("note_a")]);
      expect(await archive.listNotes(serverId, "2")).toEqual([]);
      expect(await archive.deleteNote(serverId, "1", "note_b", MIA)).toBe("not_own");
      expect(await archive.deleteNote(serverId, "2", "note_b", undefined)).toBe("unknown");
      expect(await archive.deleteNote(serverId, "1", "note_b", undefined)).toBe("done");
      expect(await archive.deleteNote(serverId, "1", "note_a", MIA)).toBe("done");
      expect(await archive.listNotes(serverId, "1")).toEqual([]);
      const many = Array.from({ length: NOTES_MAX + 5 }, (_, n) => archive.addNote(serverId, "1", note(`note_${n}`)));
      const outcomes = await Promise.all(many);
      expect(outcomes.filter((outcome) => outcome === "full")).toHaveLength(5);
      expect(await archive.listNotes(serverId, "1")).toHaveLength(NOTES_MAX);
    });

    test("a forgotten player is known no more, with all notes and calls, and is known anew when seen again", async () => {
      await tell({
        history: {
          seen: [
            { player: "1", name: "Anna", at: NOW },
            { player: "2", name: "Bob", at: NOW },
          ],
        },
        events: [aimed(1, "1"), opened("c1", NOW), answered("c1", NOW + 5, "Anna:1")],
      });
      await archive.addNote(serverId, "1", note("note_a"));
      await archive.addNote(serverId, "2", note("note_b", { text: "fights with ANNA (1), not Annabel" }));
      await forget("1");
      expect(await ids()).toEqual(["2"]);
      expect(await archive.readPlayer(serverId, "1", NOW)).toBeUndefined();
      expect(await archive.listNotes(serverId, "1")).toBeUndefined();
      const [left] = (await archive.listNotes(serverId, "2")) ?? [];
      expect(left?.text).toBe("fights with deleted (0), not Annabel");
      const [call] = await archive.listModCalls(serverId, 0, NOW);
      expect(call).toMatchObject({ player: "0", answeredBy: "deleted:0" });
      expect(JSON.parse(call?.data ?? "")).toMatchObject({ Caller: "deleted:0" });
      await tell({ history: { seen: [{ player: "1", name: "Anna3", at: NOW + 50 }] } });
      expect(await archive.readPlayer(serverId, "1", NOW)).toMatchObject({
        names: ["Anna3"],
        firstSeenAt: NOW + 50,
        notes: [],
        commands: [],
        modCalls: { count: 0, last: null },
      });
    });

    test("many notes and calls are looked through in steps, with those of one moment together", async () => {
      const people = Array.from({ length: 6 }, (_, n) => String(n + 1));
      await tell({ history: { seen: people.map((player) => ({ player, name: `Name${player}`, at: NOW })) } });
      for (const player of people.slice(1)) {
        const adding = Array.from({ length: NOTES_MAX }, (_, n) => {
          const more = { text: "Ask Name1", at: NOW + Math.floor(n / 2) };
          return archive.addNote(serverId, player, note(`note_${n}`, more));
        });
        expect(new Set(await Promise.all(adding))).toEqual(new Set(["done"]));
      }
      const numbers = Array.from({ length: 900 }, (_, n) => n);
      await tell({ events: numbers.map((n) => opened(`c${n}`, NOW + Math.floor(n / 2), `Cid:9${n}`)) });
      await tell({ events: numbers.map((n) => answered(`c${n}`, NOW + 1_000, "Name1:1")) });
      const countCalls = async () => {
        return (await archive.listModCalls(serverId, 0, NOW)).filter(({ answeredBy }) => answeredBy === "Name1:1")
          .length;
      };
      const left = [await countCalls()];
      await archive.startForgetting("1");
      while (await archive.continueForgetting()) left.push(await countCalls());
      expect([left[0], left.at(-1)]).toEqual([900, 0]);
      const steps = left.slice(1).map((count, index) => (left[index] ?? 0) - count);
      expect(Math.max(...steps)).toBeLessThanOrEqual(500);
      for (const player of people.slice(1)) {
        const texts = (await archive.listNotes(serverId, player))?.map(({ text }) => text) ?? [];
        expect([texts.length, new Set(texts)]).toEqual([NOTES_MAX, new Set(["Ask deleted"])]);
      }
    });

    test("a deleted server's players, notes and calls go with it", async () => {
      await tell({ history: { seen: [{ player: "1", name: "Anna", at: NOW }] }, events: [opened("c1", NOW)] });
      await archive.addNote(serverId, "1", note("note_a"));
      await archive.removeServer(serverId);
      expect(await search()).toEqual([]);
      await prune(NOW);
      await tell({ history: { seen: [{ player: "1", name: "Anna", at: NOW }] } });
      expect(await archive.listNotes(serverId, "1")).toEqual([]);
      expect(await archive.listModCalls(serverId, 0, NOW)).toEqual([]);
    });

    describe("calls for a moderator", () => {
      const change = (call: string, request: Partial<ClaimRequest> = {}) =>
        archive.changeClaim(serverId, call, {
          action: "claim",
          who: MIA,
          mayReleaseAny: false,
          now: NOW + 1_000,
          ...request,
        });
      const list = () => archive.listModCalls(serverId, 0, NOW + 2_000);
      const types = async () => (await readAll(archive, serverId)).map(({ meta }) => meta);

      test("are remembered from their events, once, with their answers", async () => {
        await tell({ events: [opened("c1", NOW), opened("c2", NOW + 5, "Bob:2")] });
        await tell({ events: [opened("c1", NOW), answered("c1", NOW + 900)] });
        const calls = (await list()).toSorted((a, b) => a.openedAt - b.openedAt);
        expect(calls).toMatchObject([
          { callId: "c1", player: "1", openedAt: NOW, answeredBy: "Mod:9", answeredAt: NOW + 900, claimedBy: null },
          { callId: "c2", player: "2", openedAt: NOW + 5, answeredBy: null, answeredAt: null, claimedAt: null },
        ]);
        expect(await archive.listModCalls(serverId, NOW, NOW)).toMatchObject([{ callId: "c2" }]);
        expect((await archive.readPlayer(serverId, "1", NOW))?.modCalls).toBeUndefined();
      });

      test("are claimed, taken and released, each with its event, in the ledger's order", async () => {
        await tell({ events: [opened("c1", NOW)] });
        const { version } = await archive.load(serverId);
        expect(await change("c1")).toMatchObject({ call: { claimedBy: MIA, claimedAt: NOW + 1_000 } });
        expect(await change("c1")).toMatchObject({ call: { claimedBy: MIA, claimedAt: NOW + 1_000 } });
        expect(await change("c1", { who: BOT })).toMatchObject({ refused: "claimed", call: { claimedBy: MIA } });
        expect(await change("c1", { who: BOT, action: "release" })).toMatchObject({ refused: "not_own" });
        expect(await change("c1", { who: BOT, action: "take", now: NOW + 1_500 })).toMatchObject({
          call: { claimedBy: BOT, claimedAt: NOW + 1_500 },
        });
        expect(await change("c1", { action: "release", mayReleaseAny: true })).toMatchObject({
          call: { claimedBy: null, claimedAt: null },
        });
        expect(await change("c1", { action: "release" })).toMatchObject({ call: { claimedBy: null } });
        expect(await change("other")).toBeUndefined();
        const events = await readAll(archive, serverId);
        expect(events.slice(1)).toMatchObject([
          { source: "gateway", at: NOW + 1_000, meta: JSON.stringify({ by: MIA }) },
          { source: "gateway", meta: JSON.stringify({ by: BOT }) },
          { source: "gateway", meta: JSON.stringify({ by: BOT }) },
          { source: "gateway", meta: JSON.stringify({ by: MIA }) },
        ]);
        expect(JSON.parse(events[1]?.data ?? "")).toMatchObject({ Caller: "Anna:1" });
        // A writer that knows the version goes on: claims change nothing that it remembers.
        expect((await archive.load(serverId)).version).toBe(version);
        const [outcome] = await archive.record([record({ serverId, version, events: [kill(5)] })]);
        expect(outcome).toMatchObject({ last: { number: 6 } });
        expect(await types()).toHaveLength(6);
      });

      test("are claimed by one of many who try at once", async () => {
        await tell({ events: [opened("c1", NOW)] });
        const tries = Array.from({ length: 8 }, (_, n) => change("c1", { who: { ...BOT, id: `key_${n}` } }));
        const outcomes = await Promise.all(tries);
        expect(outcomes.filter((outcome) => outcome?.refused === undefined)).toHaveLength(1);
        expect(await readAll(archive, serverId)).toHaveLength(2);
      });

      test("tell whether the caller is there, or since when not", async () => {
        const sessions = new Map([["1", openSession("Anna", NOW - 9_000)]]);
        await tell({ events: [opened("c1", NOW), opened("c2", NOW, "Bob:2"), opened("c3", NOW, "Cid:3")] });
        expect((await list()).every(({ isHere, leftAt }) => !isHere && leftAt === null)).toBe(true);
        await tell({
          history: { sessions: [session("2", NOW - 50, NOW + 700)] },
          memory: showing(NOW + 1_000, sessions),
        });
        const calls = (await list()).toSorted((a, b) => (a.callId < b.callId ? -1 : 1));
        expect(calls.map(({ isHere, leftAt }) => [isHere, leftAt])).toEqual([
          [true, null],
          [false, NOW + 700],
          [false, NOW],
        ]);
        const late = { now: NOW + 61_000 };
        expect(await change("c2", late)).toMatchObject({ refused: "state" });
        expect(await change("c1", late)).toMatchObject({ call: { claimedBy: MIA } });
        const facts = await archive.readPlayer(serverId, "2", NOW + 61_000);
        const { count, last } = facts?.modCalls ?? { count: 0, last: null };
        expect([count, last && stateOfCall(last, NOW + 61_000)]).toEqual([1, "left"]);
      });

      test("are deleted when they are as old as the history", async () => {
        await tell({ events: [opened("c1", NOW), opened("c2", NOW + HOUR_MS)] });
        await prune(NOW + HISTORY_KEPT_MS + 1);
        expect(await archive.listModCalls(serverId, 0, NOW)).toMatchObject([{ callId: "c2" }]);
        await prune(NOW + HISTORY_KEPT_MS + DAY_MS);
        expect(await archive.listModCalls(serverId, 0, NOW)).toEqual([]);
      });
    });
  });
}
