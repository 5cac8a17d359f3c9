import { describe, expect, test } from "bun:test";
import { findDanger, suggest } from "./known-commands.ts";

const PLAYERS = [
  { name: "Anna", id: "1" },
  { name: "Hannah", id: "2" },
  { name: "two words", id: "3" },
];

const linesOf = (line: string) => suggest(line, PLAYERS).map((found) => found.line);

describe("suggestions", () => {
  test("are commands that begin with the typed text, in any case", () => {
    expect(linesOf(":KI")).toEqual([":kick ", ":kill "]);
    expect(linesOf("hello")).toEqual([]);
  });

  test("are players for a target, those that begin with the typed text first", () => {
    expect(linesOf(":kick an")).toEqual([":kick Anna ", ":kick Hannah "]);
    expect(linesOf(":kick ")).toEqual([":kick Anna ", ":kick Hannah ", ":kick 3 "]);
  });

  test("complete the last target of a list and keep the others", () => {
    expect(linesOf(":jail Anna,ha")).toEqual([":jail Anna,Hannah "]);
  });

  test("do not exist for free text", () => {
    expect(linesOf(":h an")).toEqual([]);
    expect(linesOf(":pm Anna an")).toEqual([]);
  });

  test("use the id of a player whose name has two words", () => {
    expect(linesOf(":pm two")).toEqual([":pm 3 "]);
  });

  test("use the id of a player whose name means everybody, or leave the player out", () => {
    const players = [
      { name: "ALL", id: "4" },
      { name: "others", id: undefined },
    ];
    const lines = (line: string) => suggest(line, players).map((found) => found.line);
    expect(lines(":kick al")).toEqual([":kick 4 ", ":kick all "]);
    expect(lines(":kick oth")).toEqual([":kick others "]);
  });

  test("show players without an id by name", () => {
    const found = suggest(
      ":kick an",
      ["Anna", "Joan"].map((name) => ({ name, id: undefined })),
    );
    expect(found.map(({ label }) => label)).toEqual(["Anna", "Joan"]);
  });
});

describe("a confirmation", () => {
  test("is needed for every ban and shutdown", () => {
    expect(findDanger(":ban Anna")).toBe("hardToUndo");
    expect(findDanger(":SHUTDOWN")).toBe("hardToUndo");
  });

  test("is needed for what affects everybody", () => {
    expect(findDanger(":kick all")).toBe("everybody");
    expect(findDanger(":kick Anna,others bye")).toBe("everybody");
    expect(findDanger(":ban ALL")).toBe("everybody");
  });

  test("is not needed for everyday commands", () => {
    expect(findDanger(":kick Anna")).toBeUndefined();
    expect(findDanger(":h all of you")).toBeUndefined();
    expect(findDanger(":m all")).toBeUndefined();
  });
});
