// What every archive promises, whatever keeps it. Each keeper runs the same suite.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../src/core/durations.ts";
import type { LedgerPosition } from "../../src/core/events/cursor.ts";
import { filterAll, parseTypes } from "../../src/core/events/event-types.ts";
import { parseHookBody } from "../../src/core/events/game-hook.ts";
import { NOTHING_KNOWN, type ServerMemory } from "../../src/core/events/memory.ts";
import { writeChangedParts } from "../../src/core/events/memory-text.ts";
import { type NewEvent, toGapEvent } from "../../src/core/events/new-event.ts";
import { IMAGE_BYTES_MAX, type MapImage } from "../../src/core/maps/map-image.ts";
import { PLACES_MAX, SEEN_MAX, type SeenPlace } from "../../src/core/maps/seen-places.ts";
import type { Archive, LedgerEvent, LedgerPage, PageRequest } from "../../src/core/ports/archive.ts";
import { ALL_SECTIONS } from "../../src/core/sections.ts";
import { EventRecorder } from "../../src/gateway/events/event-recorder.ts";
import { makeCommand, makeHookBody } from "../signed-hooks.ts";
import { addEvents, kill, kills, NOW, record } from "./ledger-samples.ts";

export type ArchiveHarness = {
  /** Opens the same archive again, as another instance or after a restart. */
  open(): Promise<Archive>;
  /** Makes the next `open` find an archive that was never used. */
  replace(): Promise<void>;
  close(): Promise<void>;
};

function filterOf(types: string) {
  const parsed = parseTypes(types, ALL_SECTIONS);
  if (!("filter" in parsed)) throw new Error(`no filter: ${types}`);
  return parsed.filter;
}

type GoodPage = Exclude<LedgerPage, { expired: true }>;

export function describeArchive(name: string, createHarness: () => Promise<ArchiveHarness>): void {
  describe(name, () => {
    let harness: ArchiveHarness;
    let archive: Archive;

    beforeEach(async () => {
      await harness?.close();
      harness = await createHarness();
      archive = await harness.open();
    });
    afterAll(() => harness?.close());

    const read = (changes: Partial<PageRequest> = {}) => {
      return archive.readPage({
        serverId: "srv_a",
        start: { after: "earliest" },
        filter: filterAll(),
        limit: 100,
        ...changes,
      });
    };
    const page = async (changes: Partial<PageRequest> = {}): Promise<GoodPage> => {
      const found = await read(changes);
      if ("expired" in found) throw new Error("the cursor has expired");
      return found;
    };
    const numbers = ({ events }: GoodPage) => events.map(({ number }) => number);
    const add = (events: readonly NewEvent[], serverId = "srv_a") => addEvents(archive, events, serverId);

    describe("recording", () => {
      test("an unknown server has an empty ledger and no memory", async () => {
        expect(await archive.load("srv_a")).toEqual({ version: 0, memory: NOTHING_KNOWN });
        expect(await page()).toMatchObject({ events: [], hasMore: false, next: { number: 0 } });
        expect(await archive.findRecorded("srv_a", ["kill-1"])).toEqual(new Set());
      });

      test("events come back in order and exactly as they were given", async () => {
        const gap = toGapEvent({ section: "*", reason: "archive", from: 1, to: null }, NOW);
        const odd = kill(2, {
          data: '{"x":"\\u0000 ☃ \\ud83d\\ude00"}',
          meta: '{"before":1.0}',
          isBackfill: true,
        });
        const { version, last } = await add([gap, odd]);
        expect([version, last.number]).toEqual([1, 2]);
        const { events, next } = await page();
        expect(next).toEqual(last);
        const expected: Partial<LedgerEvent>[] = [
          { number: 1, at: NOW, source: "gateway", data: gap.data, meta: null, isBackfill: false },
          {
            number: 2,
            at: NOW + 2,
            seenAt: NOW + 2,
            source: "log",
            data: odd.data,
            meta: odd.meta,
            isBackfill: true,
          },
        ];
        expect(events).toMatchObject(expected);
      });

      test("an identity is recorded once, also in one batch and after a restart", async () => {
        await add([kill(1), kill(2, { identity: "kill-1" })]);
        archive = await harness.open();
        await add([kill(3, { identity: "kill-1" }), kill(4)]);
        expect((await page()).events.map(({ at }) => at - NOW)).toEqual([1, 4]);
        expect(await archive.findRecorded("srv_a", ["kill-1", "kill-4", "kill-9"])).toEqual(
          new Set(["kill-1", "kill-4"]),
        );
        expect(await archive.findRecorded("srv_b", ["kill-1"])).toEqual(new Set());
      });

      test("a writer with an outdated version changes nothing, and the others of its batch are recorded", async () => {
        await add([kill(1)]);
        const outcomes = await archive.record([
          record({ version: 0, events: [kill(2)] }),
          record({ serverId: "srv_b", version: 0, events: [kill(3)] }),
        ]);
        expect(outcomes).toMatchObject([{ conflict: true }, { version: 1 }]);
        expect(numbers(await page())).toEqual([1]);
        expect((await page({ serverId: "srv_b" })).events).toHaveLength(1);
      });

      test("of many writers with the same version exactly one succeeds", async () => {
        const other = await harness.open();
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? archive : other).record([record({ events: [kill(n)] })])),
        );
        expect(outcomes.flat().filter((outcome) => "version" in outcome)).toHaveLength(1);
        expect((await page()).events).toHaveLength(1);
      });

      test("a page of very large events is cut, in both directions, and goes on where it was cut", async () => {
        const large = (n: number) => kill(n, { data: JSON.stringify({ Killed: "x".repeat(3_000_000) }) });
        await add([large(1), large(2), large(3)]);
        const first = await page();
        expect([numbers(first), first.hasMore]).toEqual([[1, 2], true]);
        const second = await page({ start: { after: first.next } });
        expect([numbers(second), second.hasMore]).toEqual([[3], false]);
        const newest = await page({ start: { before: "now" } });
        expect([numbers(newest), newest.hasMore]).toEqual([[2, 3], true]);
        expect(numbers(await page({ start: { before: newest.previous } }))).toEqual([1]);
      });

      test("one player is found within the deadline among 10,000 events that were just recorded", async () => {
        await add(kills(10_000));
        const found = await page({ start: { before: "now" }, player: "5000" });
        expect(numbers(found)).toEqual([5_000]);
      });

      test("memory comes back as it was written, in changed parts", async () => {
        const memory: ServerMemory = {
          ...NOTHING_KNOWN,
          gameServer: "g",
          lastReadingAt: NOW,
          state: "online",
          openModCalls: new Map([["m", NOW]]),
          players: new Map([["7", { Team: '"Fire"' }]]),
          vehicles: ["{}", "{}"],
          staff: { Admins: new Map([["5", "E"]]), Mods: new Map(), Helpers: new Map() },
          queue: "[12345678901234567890]",
          settings: { Name: '"x"' },
          calls: [
            {
              team: '"Fire"',
              number: "1",
              startedAt: "2",
              fields: {},
              missed: 1,
              isShown: true,
              openedAt: NOW,
            },
          ],
        };
        await archive.record([record({ memory: writeChangedParts(NOTHING_KNOWN, memory) })]);
        archive = await harness.open();
        expect(await archive.load("srv_a")).toEqual({ version: 1, memory });
        const later = { ...memory, queue: "[]", lastReadingAt: NOW + 1 };
        const parts = writeChangedParts(memory, later);
        expect(parts.map(({ part }) => part)).toEqual(["state", "queue"]);
        await archive.record([record({ version: 1, memory: parts })]);
        expect((await archive.load("srv_a")).memory).toEqual(later);
      });

      test("a thousand events of many servers at once", async () => {
        const records = Array.from({ length: 20 }, (_, n) => record({ serverId: `srv_${n}`, events: kills(50) }));
        expect(await archive.record(records)).toHaveLength(20);
        for (const { serverId } of records) expect((await page({ serverId })).events).toHaveLength(50);
      });
    });

    describe("reading", () => {
      test("pages follow each other without a hole or a repeat", async () => {
        await add(kills(25));
        const seen: number[] = [];
        let after: LedgerPosition | "earliest" = "earliest";
        for (;;) {
          const found: GoodPage = await page({ start: { after }, limit: 10 });
          seen.push(...numbers(found));
          after = found.next;
          if (!found.hasMore) break;
        }
        expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => n + 1));
        expect(await page({ start: { after } })).toMatchObject({ events: [], next: after, hasMore: false });
        await add([kill(99)]);
        expect(numbers(await page({ start: { after } }))).toEqual([26]);
      });

      test("from now on there is nothing until something happens", async () => {
        await add(kills(3));
        const { next, events } = await page({ start: { after: "now" } });
        expect([events.length, next.number]).toEqual([0, 3]);
      });

      test("the newest, and back from there", async () => {
        await add(kills(25));
        const newest = await page({ start: { before: "now" }, limit: 10 });
        expect(numbers(newest)).toEqual([16, 17, 18, 19, 20, 21, 22, 23, 24, 25]);
        expect(newest.next.number).toBe(25);
        const older = await page({ start: { before: newest.previous }, limit: 100 });
        expect(numbers(older)).toEqual(Array.from({ length: 15 }, (_, n) => n + 1));
        expect([newest.hasMore, older.hasMore]).toEqual([true, false]);
        expect(await page({ start: { before: older.previous } })).toMatchObject({
          events: [],
          hasMore: false,
        });
      });

      test("the newest that were seen by a time, and on from there both ways", async () => {
        // A reading sees several events at once.
        await add(kills(25).map((event, index) => ({ ...event, seenAt: 1_000 + Math.floor(index / 3) * 10 })));
        const until = (seenUntil: number, limit = 100) => page({ start: { seenUntil }, limit });
        for (const [seenAt, last] of [
          [999, 0],
          [1_000, 3],
          [1_009, 3],
          [1_010, 6],
          [1_075, 24],
          [1_080, 25],
          [9_999, 25],
        ] as const) {
          expect(numbers(await until(seenAt)).at(-1) ?? 0).toBe(last);
        }
        const found = await until(1_030, 4);
        expect(numbers(found)).toEqual([9, 10, 11, 12]);
        expect(numbers(await page({ start: { before: found.previous }, limit: 2 }))).toEqual([7, 8]);
        expect(numbers(await page({ start: { after: found.next }, limit: 2 }))).toEqual([13, 14]);
        expect(await page({ serverId: "srv_nobody", start: { seenUntil: 5 } })).toMatchObject({ events: [] });
      });

      test("a filter leaves events out, and the cursor moves past them", async () => {
        await add([kill(1), kill(2, { type: "player.joined" }), kill(3)]);
        const found = await page({ filter: filterOf("player.joined") });
        expect([numbers(found), found.next.number, found.hasMore]).toEqual([[2], 3, false]);
        const cut = await page({ filter: filterOf("player.killed"), limit: 1 });
        expect([numbers(cut), cut.next.number, cut.hasMore]).toEqual([[1], 1, true]);
      });

      test("the events of one player", async () => {
        await add([kill(1, { players: ["7", "8"] }), kill(2, { players: ["8"] }), kill(3, { players: [] })]);
        expect(numbers(await page({ player: "7" }))).toEqual([1]);
        expect(numbers(await page({ player: "8", start: { before: "now" } }))).toEqual([1, 2]);
        expect(numbers(await page({ player: "9" }))).toEqual([]);
      });

      test("one page looks at ten thousand events and then says that there is more", async () => {
        await add(kills(10_050));
        const found = await page({ filter: filterOf("server.changed") });
        expect([found.events.length, found.next.number, found.hasMore]).toEqual([0, 10_000, true]);
        const rest = await page({ filter: filterOf("server.changed"), start: { after: found.next } });
        expect([rest.events.length, rest.next.number, rest.hasMore]).toEqual([0, 10_050, false]);
        const back = await page({ filter: filterOf("server.changed"), start: { before: "now" } });
        expect([back.events.length, back.previous.number, back.hasMore]).toEqual([0, 50, true]);
      });

      test("the newest places of several servers at once", async () => {
        const { last } = await add(kills(3));
        const { last: other } = await add(kills(1, 50), "srv_b");
        expect(await archive.findLast([])).toEqual(new Map());
        const found = await archive.findLast(["srv_b", "srv_a", "srv_never"]);
        expect(found).toEqual(
          new Map([
            ["srv_a", last],
            ["srv_b", other],
          ]),
        );
        await archive.removeServer("srv_b");
        expect(await archive.findLast(["srv_a", "srv_b"])).toEqual(new Map([["srv_a", last]]));
      });

      test("the newest changes of the state, newest first, and of no other server", async () => {
        const change = (state: string, at: number): NewEvent =>
          kill(at, { type: `server.${state}` as NewEvent["type"], at, identity: null, source: "gateway" });
        await add([change("offline", 1), kill(2), change("online", 3), kill(4), change("unreachable", 5)]);
        await add([change("offline", 9)], "srv_b");
        const changes = await archive.listStateChanges("srv_a", 2);
        expect(changes).toEqual([
          { state: "unreachable", at: 5 },
          { state: "online", at: 3 },
        ]);
        expect(await archive.listStateChanges("srv_a", 9)).toHaveLength(3);
        expect(await archive.listStateChanges("srv_never", 9)).toEqual([]);
      });

      test("servers do not see each other's events", async () => {
        await add(kills(3));
        await add(kills(1, 50), "srv_b");
        expect(numbers(await page({ serverId: "srv_b" }))).toEqual([1]);
      });
    });

    describe("places that do not hold", () => {
      test("beyond the newest, and a number that was given out again", async () => {
        await add(kills(3));
        const { next } = await page();
        expect(await read({ start: { after: { number: 4, mark: next.mark } } })).toMatchObject({
          expired: true,
          oldest: { number: 0 },
        });
        const other = { number: 2, mark: (next.mark + 1) % 1000 };
        expect(await read({ start: { after: other } })).toMatchObject({ expired: true });
      });

      test("of an archive that was replaced, even the place before the first event", async () => {
        const empty = (await page()).next;
        await add(kills(3));
        const { next } = await page();
        await harness.replace();
        archive = await harness.open();
        await add(kills(3));
        expect(await read({ start: { after: next } })).toMatchObject({ expired: true });
        expect(await read({ start: { after: empty } })).toMatchObject({ expired: true });
      });

      test("an empty ledger's place holds when events come", async () => {
        const { next } = await page();
        await add(kills(2));
        expect(numbers(await page({ start: { after: next } }))).toEqual([1, 2]);
      });
    });

    describe("the map", () => {
      const place = (changes: Partial<SeenPlace> = {}): SeenPlace => ({
        kind: "street",
        name: "Park Street",
        cellX: -3,
        cellZ: 7,
        count: 1,
        sumX: 5,
        sumZ: 12,
        ...changes,
      });
      const image = (changes: Partial<MapImage> = {}): MapImage => ({
        type: "image/png",
        width: 640,
        height: 480,
        left: -1_500,
        top: -1_400,
        right: 1_500,
        bottom: 1_400,
        hash: "abc",
        bytes: 5,
        setAt: NOW,
        content: new Uint8Array([0, 137, 255, 10, 1]),
        ...changes,
      });

      test("counts of places add up, apart for each kind, name, cell and server", async () => {
        await add([]);
        await add([], "srv_b");
        await archive.addPlaces("srv_a", [place(), place({ kind: "postal", name: "218" }), place({ cellX: 4 })]);
        await archive.addPlaces("srv_a", [place({ count: 3, sumX: 30, sumZ: 1 })]);
        await archive.addPlaces("srv_b", [place({ name: "☃ Road 😀" })]);
        archive = await harness.open();
        const places = await archive.listPlaces("srv_a");
        expect(places).toHaveLength(3);
        expect(places).toContainEqual(place({ count: 4, sumX: 35, sumZ: 13 }));
        expect(places).toContainEqual(place({ kind: "postal", name: "218" }));
        expect(places).toContainEqual(place({ cellX: 4 }));
        expect(await archive.listPlaces("srv_b")).toEqual([place({ name: "☃ Road 😀" })]);
      });

      test("two instances that add at once lose no count", async () => {
        await add([]);
        const other = await harness.open();
        const places = [place(), place({ cellX: 1 }), place({ cellX: 2 })];
        await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            n % 2 === 0 ? archive.addPlaces("srv_a", places) : other.addPlaces("srv_a", places.toReversed()),
          ),
        );
        expect((await archive.listPlaces("srv_a")).map(({ count }) => count)).toEqual([20, 20, 20]);
      });

      test("a server without a ledger gets no places, so that a deleted one does not come back", async () => {
        await archive.addPlaces("srv_a", [place()]);
        expect(await archive.listPlaces("srv_a")).toEqual([]);
        expect(await archive.findLast(["srv_a"])).toEqual(new Map());
      });

      test("above the maximum the places that were seen least are dropped, and a count has an end", async () => {
        await add([]);
        await archive.addPlaces("srv_a", [place({ count: SEEN_MAX, sumX: 0 })]);
        await archive.addPlaces("srv_a", [place()]);
        const many = Array.from({ length: PLACES_MAX }, (_, n) => place({ name: `Street ${n}`, count: 2 }));
        await archive.addPlaces("srv_a", many);
        await archive.addPlaces("srv_a", [place({ name: "Rare", count: 1 }), place({ name: "New", count: 3 })]);
        const places = await archive.listPlaces("srv_a");
        expect(places).toHaveLength(PLACES_MAX);
        expect(places).toContainEqual(place({ count: SEEN_MAX, sumX: 0 }));
        expect(places).toContainEqual(place({ name: "New", count: 3 }));
        expect(places.some(({ name }) => name === "Rare")).toBe(false);
      });

      test("a picture comes back as it was set, is replaced by the next, and can be removed", async () => {
        expect(await archive.findMapImage("srv_a")).toBeUndefined();
        await archive.removeMapImage("srv_a");
        await archive.saveMapImage("srv_a", image());
        archive = await harness.open();
        expect(await archive.readMapImage("srv_a")).toEqual(image());
        const { content: _, ...facts } = image();
        expect(await archive.findMapImage("srv_a")).toEqual(facts);
        const large = image({
          type: "image/webp",
          hash: "def",
          bytes: IMAGE_BYTES_MAX,
          content: new Uint8Array(IMAGE_BYTES_MAX).fill(201),
        });
        await archive.saveMapImage("srv_a", large);
        expect(await archive.readMapImage("srv_a")).toEqual(large);
        expect(await archive.readMapImage("srv_b")).toBeUndefined();
        // The ledger begins as if there was no picture.
        expect(await add([kill(1)])).toMatchObject({ version: 1, last: { number: 1 } });
        await archive.removeMapImage("srv_a");
        expect(await archive.readMapImage("srv_a")).toBeUndefined();
      });

      test("a deleted server has no map any more, and pruning deletes its rows", async () => {
        await add([]);
        await archive.addPlaces("srv_a", [place()]);
        await archive.saveMapImage("srv_a", image());
        await archive.removeServer("srv_a");
        expect(await archive.listPlaces("srv_a")).toEqual([]);
        expect(await archive.findMapImage("srv_a")).toBeUndefined();
        while (await archive.prune({ now: NOW, days: 30, eventsMax: 100 }));
        await add([]);
        expect(await archive.listPlaces("srv_a")).toEqual([]);
      });
    });

    describe("retention", () => {
      const prune = async (changes: { now?: number; days?: number; eventsMax?: number }) => {
        const retention = { now: NOW, days: 30, eventsMax: 1_000_000, ...changes };
        for (let step = 0; step < 100; step++) if (!(await archive.prune(retention))) return;
        throw new Error("pruning does not end");
      };

      test("by count: the oldest go first, in steps, and old cursors expire", async () => {
        await add(kills(1_200));
        const [first] = (await page({ limit: 1 })).events;
        if (!first) throw new Error("no event");
        expect(await archive.prune({ now: NOW, days: 30, eventsMax: 5 })).toBe(true);
        expect((await page()).events[0]?.number).toBe(501);
        await prune({ eventsMax: 5 });
        expect(numbers(await page())).toEqual([1_196, 1_197, 1_198, 1_199, 1_200]);
        const expired = await read({ start: { after: first } });
        if (!("expired" in expired)) throw new Error("the cursor did not expire");
        expect(numbers(await page({ start: { after: expired.oldest } }))).toHaveLength(5);
        expect(numbers(await page({ player: "1" }))).toEqual([]);
      });

      test("two instances that prune at once, while one records, leave no hole and no wrong floor", async () => {
        await add(kills(3_000));
        const other = await harness.open();
        const retention = { now: NOW, days: 30, eventsMax: 100 };
        const pruneAll = async (keeper: Archive) => {
          for (let step = 0; step < 50; step++) await keeper.prune(retention);
        };
        const recordMore = async () => {
          for (let n = 0; n < 20; n++) await add([kill(5_000 + n)]);
        };
        await Promise.all([pruneAll(archive), pruneAll(other), recordMore()]);
        await prune({ eventsMax: 100 });
        const { events, previous, next } = await page({ limit: 500 });
        expect(events).toHaveLength(100);
        expect([previous.number, events[0]?.number, next.number]).toEqual([2_920, 2_921, 3_020]);
      });

      test("by age of seeing, not of happening", async () => {
        await add([kill(1, { seenAt: NOW - 31 * DAY_MS, at: NOW }), kill(2, { at: 0 })]);
        await prune({});
        expect(numbers(await page())).toEqual([2]);
      });

      test("a ledger may become empty, and goes on with the next number", async () => {
        await add(kills(3));
        const { next } = await page();
        await prune({ now: NOW + 31 * DAY_MS });
        expect(await page({ start: { after: next } })).toMatchObject({ events: [], next });
        await add([kill(4)]);
        expect(numbers(await page({ start: { after: next } }))).toEqual([4]);
      });

      test("an entry whose event was deleted stays recorded while it is shown", async () => {
        await add([kill(1), kill(2)]);
        await prune({ eventsMax: 1, now: NOW + 31 * DAY_MS });
        const later = NOW + 20 * DAY_MS;
        const { version } = await archive.load("srv_a");
        await archive.record([record({ version, stillShown: ["kill-1"], now: later })]);
        await prune({ now: later });
        expect(await archive.findRecorded("srv_a", ["kill-1", "kill-2"])).toEqual(new Set(["kill-1"]));
      });

      test("a server that is not read keeps its identities, however long", async () => {
        await add([kill(1)]);
        await prune({ now: NOW + 365 * DAY_MS });
        expect(await archive.findRecorded("srv_a", ["kill-1"])).toEqual(new Set(["kill-1"]));
      });

      test("readings without entries, as of an offline server, do not make the known ones old", async () => {
        await add([kill(1)]);
        const later = NOW + 20 * DAY_MS;
        const { version } = await archive.load("srv_a");
        await archive.record([record({ version, now: later })]);
        await prune({ now: later });
        expect(await archive.findRecorded("srv_a", ["kill-1"])).toEqual(new Set(["kill-1"]));
      });

      test("an entry stays recorded when the clock was far ahead for a moment before it", async () => {
        const ahead = record({ events: [kill(1)], now: NOW + 20 * DAY_MS });
        await archive.record([ahead]);
        await add([kill(2)]);
        await prune({});
        expect(await archive.findRecorded("srv_a", ["kill-2"])).toEqual(new Set(["kill-2"]));
      });
    });

    describe("forgetting a player", () => {
      const forget = async (id: string) => {
        await archive.startForgetting(id);
        for (let step = 0; step < 200; step++) if (!(await archive.continueForgetting())) return;
        throw new Error("forgetting does not end");
      };
      const bob = (n: number) =>
        kill(n, { data: `{"Killed":"Bob:54","Killer":"Ann:1","Timestamp":${n}}`, players: ["54", "1"] });
      const spawn = (n: number, owner: string) =>
        kill(n, {
          type: "vehicle.spawned",
          data: JSON.stringify({ Name: "Car", Owner: owner }),
          identity: null,
          players: [],
        });

      test("in all events of all servers, also where only the name stands", async () => {
        await add([bob(1), spawn(2, "Bob"), spawn(3, "Ann")]);
        const command = kill(1, {
          type: "command.used",
          data: '{"Player":"Ann:1","Command":":kick Bob","Timestamp":12345678901234567890}',
          meta: '{"before":[54,3]}',
          players: ["1"],
        });
        await add([command], "srv_b");
        await forget("54");
        expect((await page()).events.map(({ data }) => data)).toEqual([
          '{"Killed":"deleted:0","Killer":"Ann:1","Timestamp":1}',
          '{"Name":"Car","Owner":"deleted"}',
          '{"Name":"Car","Owner":"Ann"}',
        ]);
        const [other] = (await page({ serverId: "srv_b" })).events;
        expect(other?.data).toBe('{"Player":"Ann:1","Command":":kick deleted","Timestamp":12345678901234567890}');
        expect(other?.meta).toBe('{"before":[0,3]}');
        expect(numbers(await page({ player: "54" }))).toEqual([]);
        expect(numbers(await page({ player: "1" }))).toEqual([1]);
      });

      test("cursors stay valid, and the entry is not recorded again", async () => {
        await add([bob(1), bob(2), kill(3)]);
        const { next } = await page({ limit: 1 });
        await forget("54");
        expect(numbers(await page({ start: { after: next } }))).toEqual([2, 3]);
        await add([bob(1), bob(2)]);
        expect(numbers(await page())).toEqual([1, 2, 3]);
      });

      test("in many steps, over a restart, again and again, and several at once", async () => {
        const many = Array.from({ length: 1_300 }, (_, n) => (n % 2 === 0 ? bob(n) : spawn(n, "Bob")));
        await add(many);
        await archive.startForgetting("54");
        await archive.startForgetting("54");
        await archive.startForgetting("7");
        let steps = 0;
        while (await archive.continueForgetting()) {
          if (++steps % 3 === 0) archive = await harness.open();
          if (steps > 100) throw new Error("forgetting does not end");
        }
        expect(steps).toBeGreaterThan(6);
        await forget("54");
        const found: string[] = [];
        for (let start: PageRequest["start"] = { after: "earliest" }; ; ) {
          const { events, next, hasMore } = await page({ start, limit: 500 });
          found.push(...events.map(({ data }) => data));
          if (!hasMore) break;
          start = { after: next };
        }
        expect(found).toHaveLength(1_300);
        expect(found.filter((data) => data.includes("Bob"))).toEqual([]);
      });

      test("in what is remembered, and a writer that remembers it is told", async () => {
        const memory: ServerMemory = {
          ...NOTHING_KNOWN,
          lastReadingAt: NOW,
          vehicles: ['{"Name":"Car","Owner":"Bobby"}'],
          staff: { Admins: new Map([["54", "Bobby"]]) },
          queue: "[54]",
        };
        await archive.record([record({ memory: writeChangedParts(NOTHING_KNOWN, memory) })]);
        await archive.record([record({ serverId: "srv_b", events: [kill(1)] })]);
        await forget("54");
        expect(await archive.load("srv_a")).toEqual({
          version: 2,
          memory: {
            ...NOTHING_KNOWN,
            lastReadingAt: NOW,
            vehicles: [],
            erasedVehicles: [{ text: '{"Name":"Car","Owner":"deleted"}', erased: ["Owner"] }],
            staff: { Admins: new Map([["0", "deleted"]]) },
            queue: "[0]",
          },
        });
        expect((await archive.load("srv_b")).version).toBe(1);
        expect(await archive.record([record({ version: 1, events: [bob(1)] })])).toEqual([{ conflict: true }]);
      });

      test("without an event or a gap, while the game still shows the player", async () => {
        let now = NOW;
        const recorder = new EventRecorder({
          archive,
          clock: () => now,
          sleep: () => new Promise(() => {}),
          log: { debug() {}, info() {}, warn() {}, error() {} },
          hash: (text) => Bun.hash(text).toString(36),
          commands: { listSent: async () => [] },
          planOf: () => ({ isWatched: true, intervalMs: 5_000 }),
        });
        const readAgain = async () => {
          now += 5_000;
          recorder.takeReading("srv_a", {
            at: now,
            gameServer: "Town",
            settings: { Name: "Town", OwnerId: 54, CoOwnerIds: [54], MaxPlayers: 40 },
            sections: {
              Players: [{ Player: "Bob:54", Team: "Police", Permission: "Owner" }],
              Vehicles: [{ Name: "Car", Owner: "Bob" }],
              Staff: { Admins: { "54": "Bob" } },
              Queue: [54, 7],
              EmergencyCalls: [
                {
                  Team: "Police",
                  CallNumber: 1,
                  StartedAt: 5,
                  Caller: 54,
                  Players: [54, 7],
                  Description: "Bob!",
                },
              ],
              JoinLogs: [{ Join: true, Player: "Bob:54", Timestamp: NOW / 1_000 }],
              ModCalls: [{ Caller: "Bob:54", Moderator: null, Timestamp: NOW / 1_000 }],
            },
            offline: null,
          });
          await recorder.flush();
        };
        await readAgain();
        await readAgain();
        const before = (await page()).events.length;
        for (let time = 0; time < 2; time++) {
          await forget("54");
          await readAgain();
          await readAgain();
        }
        expect((await page()).events).toHaveLength(before);
        await forget("54");
        const { memory } = await archive.load("srv_a");
        const kept = JSON.stringify([(await page()).events, writeChangedParts(NOTHING_KNOWN, memory)]);
        expect(kept).not.toMatch(/\bBob\b|\b54\b/);
      });

      test("by a name that only the remembered list of players tells", async () => {
        const players = new Map([["54", { Player: '"Bob:54"', Team: '"Police"' }]]);
        const memory = writeChangedParts(NOTHING_KNOWN, { ...NOTHING_KNOWN, players });
        await archive.record([record({ events: [spawn(1, "Bob")], memory })]);
        await forget("54");
        expect((await page()).events.map(({ data }) => data)).toEqual(['{"Name":"Car","Owner":"deleted"}']);
      });

      test("with its names kept until it is forgotten elsewhere too, and anew when that is asked for meanwhile", async () => {
        await add([bob(1)]);
        await forget("54");
        await forget("7");
        const left = { id: "54", names: ["Bob"] };
        expect(await archive.listForgotten()).toEqual([left, { id: "7", names: [] }]);
        await archive.finishForgetting("7");
        expect(await archive.listForgotten()).toEqual([left]);
        await add([kill(2, { data: '{"Killed":"Bobby:54"}', players: ["54"] })]);
        await archive.startForgetting("54");
        await archive.finishForgetting("54");
        while (await archive.continueForgetting());
        expect(await archive.listForgotten()).toEqual([{ id: "54", names: ["Bob", "Bobby"] }]);
        expect((await page()).events.map(({ data }) => data).join()).not.toContain("Bob");
        await archive.finishForgetting("54");
        expect(await archive.listForgotten()).toEqual([]);
      });

      test("nothing to do", async () => {
        expect(await archive.continueForgetting()).toBe(false);
        await forget("54");
      });
    });

    test("a webhook of the game that comes twice to one instance, to another, and after a restart, is recorded once", async () => {
      const start = async () => {
        const opened = await harness.open();
        return new EventRecorder({
          archive: opened,
          clock: () => NOW,
          sleep: () => new Promise(() => {}),
          log: { debug() {}, info() {}, warn() {}, error() {} },
          hash: (text) => Bun.hash(text).toString(36),
          commands: { listSent: async () => [] },
          planOf: () => ({ isWatched: false, intervalMs: 5_000 }),
        });
      };
      const hookOf = (n: number) => {
        const call = { team: "Fire", players: [], callNumber: n, startedAt: NOW / 1000 };
        const started = { event: "EmergencyCallStarted", timestamp: NOW / 1000, data: call };
        const { events } = parseHookBody(makeHookBody("Town", makeCommand(NOW, `c${n}`), started));
        return { gameServer: "Town", signature: `${n}`, seenAt: NOW, events };
      };
      const hooks = Array.from({ length: 20 }, (_, n) => hookOf(n));
      const [one, other] = [await start(), await start()];
      await Promise.all(
        hooks.flatMap((hook) => [one, one, other].map((instance) => instance.recordHook("srv_a", hook))),
      );
      const restarted = await start();
      for (const hook of hooks) {
        expect(await restarted.recordHook("srv_a", hook)).toEqual({ isRepeated: true });
      }
      const { events } = await page();
      expect(new Set(events.map(({ data }) => data)).size).toBe(40);
      expect(events).toHaveLength(40);
      expect((await archive.load("srv_a")).memory.calls).toHaveLength(20);
    });

    test("a removed server leaves nothing, and the others stay", async () => {
      await add(kills(600));
      await add(kills(2), "srv_b");
      await archive.removeServer("srv_a");
      await archive.removeServer("srv_never");
      expect(await archive.load("srv_a")).toEqual({ version: 0, memory: NOTHING_KNOWN });
      expect(await archive.findRecorded("srv_a", ["kill-1"])).toEqual(new Set());
      expect((await page()).events).toEqual([]);
      const retention = { now: NOW, days: 30, eventsMax: 1_000_000 };
      for (let step = 0; step < 20 && (await archive.prune(retention)); step++);
      expect(await archive.prune(retention)).toBe(false);
      expect((await page({ serverId: "srv_b" })).events).toHaveLength(2);
    });
  });
}
