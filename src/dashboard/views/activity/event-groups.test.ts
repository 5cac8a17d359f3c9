import { describe, expect, test } from "bun:test";
import { EVENT_TYPES, parseTypes } from "../../../core/events/event-types.ts";
import { SECTIONS, toSectionSet } from "../../../core/sections.ts";
import { findGroup, GROUPS, listGroups, writeTypes } from "./event-groups.ts";

describe("the groups of events", () => {
  test("hold every type once, except the gap", () => {
    const types = writeTypes(GROUPS)?.split(",") ?? [];
    expect(types.toSorted()).toEqual(EVENT_TYPES.filter((type) => type !== "gap").toSorted());
    expect(EVENT_TYPES.filter((type) => findGroup(type) === undefined)).toEqual(["gap"]);
  });

  test("request everything when none is chosen", () => {
    expect(writeTypes([])).toBeUndefined();
  });

  test("that a key sees are never refused, whatever sections it has", () => {
    for (const sections of [[], ...SECTIONS.map((section) => [section]), SECTIONS]) {
      const groups = listGroups(sections);
      expect(groups).toContain("server");
      for (const group of groups) {
        expect(parseTypes(writeTypes([group]), toSectionSet(sections))).toHaveProperty("filter");
      }
    }
    expect(listGroups(SECTIONS)).toEqual(GROUPS);
  });
});
