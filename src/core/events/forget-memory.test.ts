// Forgetting a player whom the game still shows tells nothing of the player again.
import { describe, expect, test } from "bun:test";
import type { Element } from "./elements.ts";
import { forgetInMemory } from "./forget-memory.ts";
import { judgeReading } from "./judge-reading.ts";
import { NOTHING_KNOWN, type ServerMemory } from "./memory.ts";
import { parseMemory, writeChangedParts } from "./memory-text.ts";
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
  const identified = identifyReading(memory, reading, (text) => text);
  const { events, memory: next } = judgeReading(memory, identified, {
    now: at,
    isWatched: true,
    intervalMs: 5_000,
    lostSince: null,
    isKnown: (identity) => recorded.has(identity),
    findCommandId: () => undefined,
  });
  for (const { identity } of events) if (identity !== null) recorded.add(identity);
  return { events, memory: next };
}

function learn(): ServerMemory {
  recorded.clear();
  return judge(judge(NOTHING_KNOWN, 10_000).memory, 11_000).memory;
}

/** Also as text, because that is how it is kept. */
function forget(memory: ServerMemory): ServerMemory {
  return parseMemory(writeChangedParts(NOTHING_KNOWN, forgetInMemory(memory, BOB)));
}

describe("a player who is forgotten while the game shows him", () => {
  test("is remembered with the name before, so that events which tell only the name can be found", () => {
    expect(learn().players?.get("54")?.Player).toBe('"Bob:54"');
  });

  test("is gone from the callsign of another player", () => {
    const sections = { Players: [{ Player: "Ann:1", Team: "Police", Callsign: "Bob" }] };
    const { memory } = judge(NOTHING_KNOWN, 10_000, { sections });
    expect(forgetInMemory(memory, BOB)).toMatchObject({ players: null });
    expect(forgetInMemory(memory, { id: "99", names: ["Carl"] })).toMatchObject({ players: memory.players });
  });

  test("is gone from what is remembered", () => {
    const text = JSON.stringify(writeChangedParts(NOTHING_KNOWN, forget(learn())));
    expect(text).not.toMatch(/Bob|54/);
  });

  test("is in no event of the next readings, and gaps tell what could not be compared", () => {
    const first = judge(forget(learn()), 12_000);
    expect(first.events.map(({ type }) => type)).toEqual(Array(6).fill("gap"));
    const sections = first.events.map(({ section }) => section);
    expect(sections.toSorted()).toEqual(["*", "EmergencyCalls", "Players", "Queue", "Staff", "Vehicles"]);
    expect(first.events[0]?.data).toContain('"reason":"archive","from":11000,"to":12000');
    expect(judge(first.memory, 13_000).events).toEqual([]);
  });

  test("a section that the next reading lacks is told of later", () => {
    const { Queue: _, ...others } = SECTIONS;
    const first = judge(forget(learn()), 12_000, { sections: others });
    expect(first.events.map(({ section }) => section)).not.toContain("Queue");
    expect(judge(first.memory, 13_000).events.map(({ section }) => section)).toEqual(["Queue"]);
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
