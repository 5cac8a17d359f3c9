// Which events a reader gets, by the types it names and the sections it may read.
import { describe, expect, test } from "bun:test";
import { HIDES_JOIN_KEY } from "../keys/rights.ts";
import { ALL_SECTIONS, NO_SECTIONS, toSectionSet } from "../sections.ts";
import {
  EVENT_TYPES,
  type EventFilter,
  type EventKind,
  filterAll,
  parseTypes,
  toEventKind,
  typeOfKind,
} from "./event-types.ts";

function filterOf(text: string | undefined, sections: number): EventFilter {
  const parsed = parseTypes(text, sections);
  if (!("filter" in parsed)) throw new Error(`no filter: ${JSON.stringify(parsed)}`);
  return parsed.filter;
}

const typesIn = (filter: EventFilter) => new Set([...filter].map(typeOfKind));
const gapsIn = (filter: ReadonlySet<EventKind>) =>
  [
    "Players",
    "Staff",
    "JoinLogs",
    "Queue",
    "KillLogs",
    "CommandLogs",
    "ModCalls",
    "EmergencyCalls",
    "Vehicles",
    "*",
  ].filter((section) => filter.has(toEventKind("gap", section as "*")));

test("a change of nothing but the join key is left out where it is hidden, as any other kind that may not be read", () => {
  const only = toEventKind("server.changed", "JoinKey");
  expect(typeOfKind(only)).toBe("server.changed");
  const shown = parseTypes("server.changed", ALL_SECTIONS);
  const hidden = parseTypes("server.changed", ALL_SECTIONS, HIDES_JOIN_KEY);
  if (!("filter" in shown && "filter" in hidden)) throw new Error("refused");
  expect(shown.filter.difference(hidden.filter)).toEqual(new Set([only]));
  expect(hidden.filter.has(toEventKind("server.changed"))).toBe(true);
});

test("every type keeps its kind, whatever section a gap or an alert has", () => {
  for (const type of EVENT_TYPES) {
    expect(typeOfKind(toEventKind(type))).toBe(type);
    expect(typeOfKind(toEventKind(type, "Vehicles"))).toBe(type);
    expect(typeOfKind(toEventKind(type, "*"))).toBe(type);
  }
});

test("without a filter a reader gets all types of its sections", () => {
  expect(typesIn(filterOf(undefined, ALL_SECTIONS))).toEqual(new Set(EVENT_TYPES));
  expect(filterOf(undefined, ALL_SECTIONS)).toEqual(filterAll());
  const kills = filterOf(undefined, toSectionSet(["KillLogs"]));
  expect(typesIn(kills)).toContain("player.killed");
  expect(typesIn(kills)).toContain("server.changed");
  expect(typesIn(kills)).not.toContain("player.joined");
  expect(gapsIn(kills)).toEqual(["KillLogs", "*"]);
});

test("a named type comes with the gaps of its section, and no others", () => {
  expect(gapsIn(filterOf("player.joined", ALL_SECTIONS))).toEqual(["JoinLogs"]);
  expect(gapsIn(filterOf("player.changed", ALL_SECTIONS))).toEqual(["Players", "*"]);
  expect(gapsIn(filterOf("server.offline", ALL_SECTIONS))).toEqual(["*"]);
  expect(gapsIn(filterOf("call.opened,player.killed", ALL_SECTIONS))).toEqual(["KillLogs", "EmergencyCalls", "*"]);
  expect(typesIn(filterOf("player.joined", ALL_SECTIONS))).toEqual(new Set(["player.joined", "gap"]));
});

test("gaps alone can be read, those of readable sections only", () => {
  const gaps = filterOf("gap", toSectionSet(["JoinLogs"]));
  expect(typesIn(gaps)).toEqual(new Set(["gap"]));
  expect(gapsIn(gaps)).toEqual(["JoinLogs", "*"]);
});

test("a wildcard gives what the reader may have", () => {
  const players = filterOf("player.*", toSectionSet(["JoinLogs", "KillLogs"]));
  expect(typesIn(players)).toEqual(new Set(["player.joined", "player.left", "player.killed", "gap"]));
});

describe("refusals", () => {
  test("a named type of a section that the reader lacks is refused, even beside an unknown one", () => {
    expect(parseTypes("player.killed,bogus", toSectionSet(["JoinLogs"]))).toEqual({ refused: ["KillLogs"] });
    expect(parseTypes("player.joined,vehicle.spawned", toSectionSet(["JoinLogs"]))).toEqual({
      refused: ["Vehicles"],
    });
  });
  test("a wildcard that leaves nothing is refused with all its sections", () => {
    expect(parseTypes("player.*", NO_SECTIONS)).toEqual({ refused: ["Players", "JoinLogs", "KillLogs"] });
  });
  test("types that need no section are never refused", () => {
    expect(typesIn(filterOf("server.*", NO_SECTIONS))).toContain("server.unreachable");
  });
  test.each([
    ["", "empty"],
    ["player.joined,", "empty"],
    ["bogus", "unknown"],
    ["*", "unknown"],
    [".*", "unknown"],
    ["player.", "unknown"],
    ["PLAYER.JOINED", "unknown"],
    ["__proto__", "unknown"],
    [" player.joined", "unknown"],
    ["player.joined,player.joined", "repeated"],
  ])("%p is a fault: %s", (text, reason) => {
    expect(parseTypes(text, ALL_SECTIONS)).toMatchObject({ fault: { reason } });
  });
});
