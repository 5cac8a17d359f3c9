// Forgetting a player whom the game still shows makes no event and no gap, and tells nothing of the player again.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { repeat } from "../../../test/long.ts";
import type { Element } from "./elements.ts";
import { forgetInMemory } from "./forget-memory.ts";
import { type ForgottenPlayer, PlayerEraser } from "./forget-player.ts";
import { judgeReading } from "./judge-reading.ts";
import { NOTHING_KNOWN, type ServerMemory } from "./memory.ts";
import { parseMemory, writeChangedParts } from "./memory-text.ts";
import type { NewEvent } from "./new-event.ts";
import { type GameReading, identifyReading } from "./reading.ts";

const BOB = { id: "54", names: ["Bob"] };
const SETTINGS: Element = { Name: "Town", OwnerId: 54, CoOwnerIds: [], MaxPlayers: 40, JoinKey: "x" };
const SECTIONS = {
  Players: [{ Player: "Bob:54", Team: "Police" }],
  Vehicles: [{ Name: "Car", Owner: "Bob" }],
  Staff: { Admins: { "54": "Bob" } },
  Queue: [54, 7],
  EmergencyCalls: [{ Team: "Police", CallNumber: 1, StartedAt: 5, Caller: 54, Players: [54, 7] }],
  KillLogs: [{ Killed: "Bob:54", Killer: "Ann:1", Timestamp: 3 }],
};

const recorded = new Set<string>();
function judge(memory: ServerMemory, at: number, changes: Partial<GameReading> = {}) {
  const reading: GameReading = {
    at,
    gameServer: "g",
    settings: SETTINGS,
    sections: SECTIONS,
    offline: null,
    ...changes,
  };
  const identified = identifyReading(memory, reading, (text) => Bun.hash(text).toString(36));
  const { events, memory: next } = judgeReading(memory, identified, {
    now: at,
    isWatched: true,
    intervalMs: 5_000,
    lostSince: null,
    isKnown: (identity) => recorded.has(identity),
    findCommand: () => undefined,
  });
  for (const { identity } of events) if (identity !== null) recorded.add(identity);
  return { events, memory: next };
}

function learn(): ServerMemory {
  recorded.clear();
  return judge(judge(NOTHING_KNOWN, 10_000).memory, 11_000).memory;
}

/** Also as text, because that is how it is kept. */
function forget(memory: ServerMemory, player: ForgottenPlayer = BOB): ServerMemory {
  return parseMemory(writeChangedParts(NOTHING_KNOWN, forgetInMemory(memory, player)));
}

describe("a player who is forgotten while the game shows him", () => {
  test("is remembered with the name before, so that events which tell only the name can be found", () => {
    expect(learn().players?.get("54")?.Player).toBe('"Bob:54"');
  });

  test("is gone from the callsign of another player", () => {
    const sections = { Players: [{ Player: "Ann:1", Team: "Police", Callsign: "Bob" }] };
    const { memory } = judge(NOTHING_KNOWN, 10_000, { sections });
    expect(forgetInMemory(memory, BOB).players).toEqual(new Map());
    expect(forgetInMemory(memory, { id: "99", names: ["Carl"] }).players).toBe(memory.players);
    expect(judge(forget(memory), 12_000, { sections }).events).toEqual([]);
  });

  test("is gone from what is remembered", () => {
    const text = JSON.stringify(writeChangedParts(NOTHING_KNOWN, forget(learn())));
    expect(text).not.toMatch(/Bob|54/);
  });

  test("makes no event and no gap with the next readings, which show the same", () => {
    const first = judge(forget(learn()), 12_000);
    expect(first.events).toEqual([]);
    expect(judge(first.memory, 13_000).events).toEqual([]);
  });

  test("makes no event when a section is shown again only later", () => {
    const first = judge(forget(learn()), 12_000, { sections: {} });
    expect(first.events).toEqual([]);
    expect(JSON.stringify(writeChangedParts(NOTHING_KNOWN, first.memory))).not.toContain("Bob");
    expect(judge(first.memory, 13_000).events).toEqual([]);
  });

  test("is told of as a deleted one when he goes", () => {
    const sections = { Players: [], Vehicles: [], Staff: { Admins: {} }, Queue: [7], EmergencyCalls: [] };
    const settings = { ...SETTINGS, MaxPlayers: 41 };
    const { events } = judge(forget(learn()), 12_000, { sections, settings });
    expect(events.map(({ type, data, meta, players }) => [type, JSON.parse(data), meta, players])).toEqual([
      ["vehicle.removed", { Name: "Car", Owner: "deleted" }, null, []],
      ["staff.removed", { Role: "Admins", UserId: "0", Name: "deleted" }, null, []],
      ["queue.changed", { Queue: [7] }, '{"before":[0,7]}', []],
      ["server.changed", expect.objectContaining({ MaxPlayers: 41 }), '{"before":{"MaxPlayers":40}}', []],
    ]);
  });

  test("is told of as a deleted one also when he was shown for some time after", () => {
    const shown = judge(judge(forget(learn()), 12_000).memory, 13_000).memory;
    const sections = { Players: [], Vehicles: [], Staff: { Admins: {} }, Queue: [7], EmergencyCalls: [] };
    const gone = judge(shown, 14_000, { sections });
    const events = [...gone.events, ...judge(gone.memory, 15_000, { sections }).events];
    expect(events.map(({ type, data, meta, players }) => [type, JSON.parse(data), meta, players])).toEqual([
      ["vehicle.removed", { Name: "Car", Owner: "deleted" }, null, []],
      ["staff.removed", { Role: "Admins", UserId: "0", Name: "deleted" }, null, []],
      ["queue.changed", { Queue: [7] }, '{"before":[0,7]}', []],
      ["call.closed", expect.objectContaining({ Caller: 0, Players: [0, 7] }), null, []],
    ]);
  });

  test("stays out of the queue and of the co-owners, whoever comes or goes beside him", () => {
    const shown = { ...SETTINGS, CoOwnerIds: [54, 7] };
    let memory = forget(
      judge(judge(NOTHING_KNOWN, 10_000, { settings: shown }).memory, 11_000, { settings: shown }).memory,
    );
    const told: unknown[] = [];
    for (const ids of [[54, 7, 9], [54, 9], [9], [9, 8]]) {
      const changes = { sections: { Queue: ids }, settings: { ...SETTINGS, CoOwnerIds: ids } };
      const judged = judge(memory, 12_000 + 1_000 * told.length, changes);
      memory = judged.memory;
      told.push(judged.events.map(({ data }) => JSON.parse(data)).map((data) => data.Queue ?? data.CoOwnerIds));
    }
    expect(told).toEqual([[0, 7, 9], [0, 9], [9], [9, 8]].map((ids) => [ids, ids]));
  });

  test("who comes to a call that he was taken out of is not told apart from him", () => {
    const [call] = SECTIONS.EmergencyCalls;
    const sections = { ...SECTIONS, EmergencyCalls: [{ ...call, Players: [54, 7, 9] }] };
    const { events } = judge(judge(forget(learn()), 12_000).memory, 13_000, { sections });
    expect(events.map(({ type, data }) => [type, JSON.parse(data).Players])).toEqual([["call.changed", [0, 7, 0]]]);
  });

  test("what else changed in a call that he is in is told", () => {
    const [call] = SECTIONS.EmergencyCalls;
    const sections = { ...SECTIONS, EmergencyCalls: [{ ...call, Description: "Fire" }] };
    const { events, memory } = judge(forget(learn()), 12_000, { sections });
    expect(events.map(({ type, meta }) => [type, meta])).toEqual([["call.changed", '{"changed":["Description"]}']]);
    expect(judge(memory, 13_000, { sections }).events).toEqual([]);
  });

  test("a call that ends tells so, without him", () => {
    const sections = { ...SECTIONS, EmergencyCalls: [] };
    const first = judge(forget(learn()), 12_000, { sections });
    const closed = judge(first.memory, 13_000, { sections }).events;
    expect(closed.map(({ type }) => type)).toEqual(["call.closed"]);
    expect(JSON.parse(closed[0]?.data ?? "")).toMatchObject({ Caller: 0, Players: [0, 7] });
  });
});

test("what does not name the player is the same object", () => {
  const memory = learn();
  expect(forgetInMemory(memory, { id: "5", names: ["Bo"] })).toBe(memory);
});

describe("whatever a server shows", () => {
  const PEOPLE = ["Bob:54", "Ann:1", "Cid:7", "Bo:5"].map((reference) => {
    const [name = "", id = ""] = reference.split(":");
    return { reference, name, id };
  });
  const [bob, ...others] = PEOPLE as [(typeof PEOPLE)[0], ...typeof PEOPLE];
  const pick = (people: typeof PEOPLE) => fc.constantFrom(...people);
  const some = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 3 });

  /** The parts of a reading in which these people appear. */
  const show = (people: typeof PEOPLE) =>
    fc.record({
      players: fc.uniqueArray(
        fc.record({
          Player: pick(people).map(({ reference }) => reference),
          Team: fc.constantFrom("Police", "Civilian"),
          Callsign: fc.option(pick(people).map(({ name }) => name)),
        }),
        { selector: ({ Player }) => Player, maxLength: 3 },
      ),
      vehicles: some(
        fc.record({
          Name: fc.constantFrom("Car", "Van"),
          Owner: pick(people).map(({ name }) => name),
          Texture: fc.option(pick(people).map(({ name }) => `by ${name}`)),
        }),
      ),
      staff: fc.uniqueArray(pick(people), { maxLength: 2 }),
      queue: fc.uniqueArray(
        pick(people).map(({ id }) => Number(id)),
        { maxLength: 3 },
      ),
      owner: pick(people).map(({ id }) => Number(id)),
      calls: fc.uniqueArray(
        fc.record({
          Team: fc.constantFrom("Police", "Fire"),
          CallNumber: fc.integer({ min: 1, max: 2 }),
          Caller: pick(people).map(({ id }) => Number(id)),
          Players: some(pick(people).map(({ id }) => Number(id))),
          Description: fc.option(pick(people).map(({ name }) => `${name} is hurt`)),
        }),
        { selector: ({ Team, CallNumber }) => `${Team} ${CallNumber}`, maxLength: 3 },
      ),
      modCalls: some(
        fc.record({
          Caller: pick(people).map(({ reference }) => reference),
          Moderator: fc.option(pick(people).map(({ reference }) => reference)),
          Timestamp: fc.integer({ min: 1, max: 3 }),
        }),
      ),
    });
  type Shown = typeof show extends (...args: never[]) => fc.Arbitrary<infer T> ? T : never;

  function toReading(...shown: Shown[]): Partial<GameReading> {
    const Admins = Object.fromEntries(shown.flatMap(({ staff }) => staff.map(({ id, name }) => [id, name])));
    const calls = shown.flatMap((one, place) => {
      return one.calls.map((call) => ({ ...call, StartedAt: place + 1 }));
    });
    return {
      settings: { ...SETTINGS, OwnerId: shown[0]?.owner, CoOwnerIds: shown.map(({ owner }) => owner) },
      sections: {
        Players: shown.flatMap(({ players }) => players),
        Vehicles: shown.flatMap(({ vehicles }) => vehicles),
        Staff: { Admins },
        Queue: shown.flatMap(({ queue }) => queue),
        EmergencyCalls: calls,
        ModCalls: shown.flatMap(({ modCalls }) => modCalls),
      },
    };
  }

  function learnFrom(reading: Partial<GameReading>): ServerMemory {
    recorded.clear();
    return judge(NOTHING_KNOWN, 10_000, reading).memory;
  }

  const forgetAll = (memory: ServerMemory, people: typeof PEOPLE) =>
    people.reduce((left, { id, name }) => forget(left, { id, names: [name] }), memory);

  test("the same reading makes neither an event nor a gap after players were forgotten, once or twice", () => {
    const runs = fc.property(show(PEOPLE), fc.array(pick(PEOPLE), { minLength: 1 }), (shown, people) => {
      const reading = toReading(shown);
      const forgotten = forgetAll(learnFrom(reading), people);
      const text = JSON.stringify(writeChangedParts(NOTHING_KNOWN, forgotten));
      for (const { name } of people) expect(text).not.toMatch(new RegExp(`\\b${name}\\b`));
      const next = judge(forgotten, 11_000, reading);
      expect(next.events).toEqual([]);
      const again = judge(forgetAll(next.memory, people), 12_000, reading);
      expect(again.events).toEqual([]);
      expect(judge(again.memory, 13_000, reading).events).toEqual([]);
    });
    fc.assert(runs, { numRuns: repeat({ usual: 200, long: 5_000 }) });
  }, 600_000);

  test("what others did meanwhile is told as if nobody had been forgotten", () => {
    const eraser = new PlayerEraser({ id: bob.id, names: [bob.name] });
    const tell = (events: readonly NewEvent[]) =>
      events.map(({ type, data, meta }) => [
        type,
        eraser.erase(data, type.startsWith("staff.")),
        meta && eraser.erase(meta),
      ]);
    const runs = fc.property(show([bob]), show(others), show(others), (his, before, after) => {
      // Who joins the staff while a member is forgotten is not told apart from that member.
      const later = { ...after, staff: before.staff.slice(1) };
      const known = learnFrom(toReading(his, before));
      const expected = judge(known, 11_000, toReading(his, later)).events;
      const forgotten = forgetAll(learnFrom(toReading(his, before)), [bob]);
      expect(tell(judge(forgotten, 11_000, toReading(his, later)).events)).toEqual(tell(expected));
    });
    fc.assert(runs, { numRuns: repeat({ usual: 200, long: 5_000 }) });
  }, 600_000);
});
