import { describe, expect, test } from "bun:test";
import { EVENT_TYPES, type EventType, parseTypes } from "../../../../core/events/event-types.ts";
import { ALL_SECTIONS } from "../../../../core/sections.ts";
import { judgeGroup, readTypes, TYPE_GROUPS, toggleTypes, USUAL_TYPES, writeTypes } from "./webhook-types.ts";

const sorted = (types: readonly EventType[]) => EVENT_TYPES.filter((type) => types.includes(type));

test("every type but the gap can be chosen, in one group", () => {
  const offered = TYPE_GROUPS.flatMap(([, types]) => types);
  expect(sorted(offered)).toEqual(EVENT_TYPES.filter((type) => type !== "gap"));
  expect(new Set(offered).size).toBe(offered.length);
});

describe("the chosen types", () => {
  test("are written with a wildcard where a whole kind is chosen", () => {
    expect(writeTypes(["staff.removed", "staff.added", "player.killed"])).toEqual(["player.killed", "staff.*"]);
    expect(writeTypes(["player.joined", "player.left", "player.killed", "player.changed"])).toEqual(["player.*"]);
    expect(writeTypes(["queue.changed"])).toEqual(["queue.changed"]);
    expect(writeTypes([])).toEqual([]);
  });

  test("come back as they were, whatever an operator wrote", () => {
    for (const written of [["player.*", "gap"], ["call.opened"], ["server.*", "alert.raised"], writeTypes(USUAL_TYPES)])
      expect(writeTypes(readTypes(written))).toEqual(written);
    expect(readTypes(null)).toEqual(EVENT_TYPES);
  });

  test("mean the same to Gatehouse as to the page", () => {
    for (const [, types] of TYPE_GROUPS) {
      const parsed = parseTypes(writeTypes(types).join(), ALL_SECTIONS);
      expect(parsed).toEqual(parseTypes(types.join(), ALL_SECTIONS));
      expect(parsed).toHaveProperty("filter");
    }
  });
});

test("a group is chosen as a whole, in part or not at all", () => {
  const calls = ["modcall.opened", "modcall.answered"] as const;
  expect(judgeGroup(calls, ["modcall.opened", "player.killed"])).toBe("some");
  const all = toggleTypes(calls, ["modcall.opened", "player.killed"], true);
  expect(judgeGroup(calls, all)).toBe("all");
  expect(sorted(all)).toEqual(["player.killed", "modcall.opened", "modcall.answered"]);
  expect(judgeGroup(calls, toggleTypes(calls, all, false))).toBe("none");
});
