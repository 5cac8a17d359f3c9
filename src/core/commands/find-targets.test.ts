// Whom a command was aimed at.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findTargets, TARGETS_MAX } from "../events/judge-lists.ts";

function playersOf(...references: string[]) {
  return new Map(references.map((one) => [one.slice(one.lastIndexOf(":") + 1), { Player: JSON.stringify(one) }]));
}

const PLAYERS = playersOf("Bob:1", "Bobby:2", "Alice:3", "Zoë:4", "1234:5");

describe("the targets of a command", () => {
  test("are named by id, whole name or the beginning of one name, without case", () => {
    expect(findTargets(":kick 3 rude", PLAYERS)).toEqual(["Alice:3"]);
    expect(findTargets(":kick bob", PLAYERS)).toEqual(["Bob:1"]);
    expect(findTargets(":kick BOBB", PLAYERS)).toEqual(["Bobby:2"]);
    expect(findTargets(":kick zO", PLAYERS)).toEqual(["Zoë:4"]);
    expect(findTargets(":kick ΦΩΣ", playersOf("φωσφόρος:7"))).toEqual(["φωσφόρος:7"]);
    expect(findTargets("  :tp   al,bobby  x", PLAYERS)).toEqual(["Alice:3", "Bobby:2"]);
  });

  test("are none where the words name nobody, several, or a group", () => {
    for (const argument of ["bo", "all", "others", "me", "ALL", "nobody", "99", ",", ""])
      expect(findTargets(`:kick ${argument}`, PLAYERS)).toEqual([]);
    expect(findTargets(":kick Bob,all", PLAYERS)).toEqual(["Bob:1"]);
    expect(findTargets(":kick bob,BOB,1", PLAYERS)).toEqual(["Bob:1"]);
    expect(findTargets(":kick same", playersOf("Same:1", "same:2"))).toEqual([]);
  });

  test("are none for commands that take no player, and for what is no command", () => {
    for (const name of [":h", ":Hint", ":m", ":message", ":weather", ":time", ":prty", ":startfire", ":stopfire"])
      expect(findTargets(`${name} Bob`, PLAYERS)).toEqual([]);
    expect(findTargets(":shutdown", PLAYERS)).toEqual([]);
    expect(findTargets(null, PLAYERS)).toEqual([]);
    expect(findTargets(":kick Bob", null)).toEqual([]);
  });

  test("are the names of this reading, and at most twenty, whatever the text is", () => {
    const many = playersOf(...Array.from({ length: 30 }, (_, index) => `P${index}x:${index + 1}`));
    const list = Array.from({ length: 30 }, (_, index) => `p${index}x`).join(",");
    expect(findTargets(`:jail ${list}`, many)).toHaveLength(TARGETS_MAX);
    fc.assert(
      fc.property(fc.string(), (text) => {
        const references = new Set([...PLAYERS.values()].map(({ Player }) => JSON.parse(Player)));
        for (const target of findTargets(text, PLAYERS)) expect(references.has(target)).toBe(true);
      }),
    );
  });
});
