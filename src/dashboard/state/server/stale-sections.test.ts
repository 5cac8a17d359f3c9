import { expect, test } from "bun:test";
import { EVENT_TYPES, sectionOfType } from "../../../core/events/event-types.ts";
import { SECTIONS } from "../../../core/sections.ts";
import { listStaleSections } from "./server-poll.ts";

test("an event makes the section stale that it was found in", () => {
  for (const type of EVENT_TYPES) {
    const section = sectionOfType(type);
    // Nothing of the server state shows what custom messages and claims of calls say.
    const isShown = !type.startsWith("custom.") && type !== "modcall.claimed" && type !== "modcall.released";
    if (section === null || !isShown) continue;
    expect({ type, sections: listStaleSections({ type }) }).toEqual({
      type,
      sections: expect.arrayContaining([section]),
    });
  }
});

test("a join makes the players stale, an alert nothing, and a gap or an unknown type everything", () => {
  expect(listStaleSections({ type: "player.joined" })).toContain("Players");
  expect(listStaleSections({ type: "alert.raised" })).toEqual([]);
  expect(listStaleSections({ type: "gap" })).toBe(SECTIONS);
  expect(listStaleSections({ type: "server.offline" })).toBe(SECTIONS);
  expect(listStaleSections({ type: "weather.changed" as "gap" })).toBe(SECTIONS);
});
