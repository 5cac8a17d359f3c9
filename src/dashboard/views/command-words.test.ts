// What completion offers, and which commands are asked about first.
import { describe, expect, test } from "bun:test";
import { findDanger, suggest } from "./command-words.ts";

const PLAYERS = [
  { name: "Anna", id: "1" },
  { name: "Hannah", id: "2" },
  { name: "two words", id: "3" },
];

const linesOf = (line: string) => suggest(line, PLAYERS).map((found) => found.line);

describe("completion", () => {
  test("offers commands by their beginning, whatever the case", () => {
    expect(linesOf(":KI")).toEqual([":kick ", ":kill "]);
    expect(linesOf("hello")).toEqual([]);
  });

  test("offers players for a target, those that begin so first", () => {
    expect(linesOf(":kick an")).toEqual([":kick Anna ", ":kick Hannah "]);
    expect(linesOf(":kick ")).toEqual([":kick Anna ", ":kick Hannah ", ":kick 3 "]);
  });

  test("completes the last of a list, and keeps the others", () => {
    expect(linesOf(":jail Anna,ha")).toEqual([":jail Anna,Hannah "]);
  });

  test("offers nothing where free text stands", () => {
    expect(linesOf(":h an")).toEqual([]);
    expect(linesOf(":pm Anna an")).toEqual([]);
  });

  test("a name of two words is replaced by its id", () => {
    expect(linesOf(":pm two")).toEqual([":pm 3 "]);
  });

  test("a player who is called like everybody is meant alone, or not offered", () => {
    const players = [
      { name: "ALL", id: "4" },
      { name: "others", id: undefined },
    ];
    const lines = (line: string) => suggest(line, players).map((found) => found.line);
    expect(lines(":kick al")).toEqual([":kick 4 ", ":kick all "]);
    expect(lines(":kick oth")).toEqual([":kick others "]);
  });

  test("players without an id are told apart", () => {
    const found = suggest(
      ":kick an",
      ["Anna", "Joan"].map((name) => ({ name, id: undefined })),
    );
    expect(found.map(({ label }) => label)).toEqual(["Anna", "Joan"]);
  });
});

describe("danger", () => {
  test("a ban and a shutdown are always asked about", () => {
    expect(findDanger(":ban Anna")).toBe("grave");
    expect(findDanger(":SHUTDOWN")).toBe("grave");
  });

  test("what hits everybody is asked about", () => {
    expect(findDanger(":kick all")).toBe("everybody");
    expect(findDanger(":kick Anna,others bye")).toBe("everybody");
    expect(findDanger(":ban ALL")).toBe("everybody");
  });

  test("the everyday commands are not", () => {
    expect(findDanger(":kick Anna")).toBeUndefined();
    expect(findDanger(":h all of you")).toBeUndefined();
    expect(findDanger(":m all")).toBeUndefined();
  });
});
