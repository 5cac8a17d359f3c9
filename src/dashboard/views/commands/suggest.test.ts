import { describe, expect, test } from "bun:test";
import { suggest } from "./suggest.ts";
import type { Candidate } from "./targets.ts";

const PLAYERS = [
  { name: "Hannah", id: "2", team: "Police" },
  { name: "Anna", id: "1", team: "Civilian" },
  { name: "two words", id: "3", team: undefined },
];
const ALL = ["*"];

const linesOf = (line: string, players: readonly Candidate[] = PLAYERS) =>
  suggest(line, players, ALL).map((found) => found.line);

describe("suggestions", () => {
  test("are commands that begin with the typed text, in any case, also without the colon", () => {
    expect(linesOf(":KI")).toEqual([":kick ", ":kill "]);
    expect(linesOf("ki")).toEqual([":kick ", ":kill "]);
    expect(linesOf("hello")).toEqual([]);
    expect(linesOf("")).toEqual([]);
  });

  test("are only commands that the key may send, those with unusual names too", () => {
    const lines = suggest(":", [], ["kick", ":H", ":siren"]).map(({ line }) => line);
    expect(lines).toEqual([":h ", ":kick ", ":siren "]);
  });

  test("are all players for a target: those that begin with the text, those that hold it, then ids", () => {
    expect(linesOf(":kick an")).toEqual([":kick Anna ", ":kick Hannah "]);
    expect(linesOf(":kick ")).toEqual([":kick Anna ", ":kick Hannah ", ":kick 3 "]);
    expect(linesOf(":kick 2")).toEqual([":kick Hannah "]);
    const crowd = Array.from({ length: 60 }, (_, index) => ({
      ...{ name: `Player${100 + index}`, id: String(index), team: "Police" },
    }));
    expect(suggest(":kick pl", crowd, ALL)).toHaveLength(60);
    expect(suggest(":kick pl", crowd, ALL)[0]).toMatchObject({ kind: "player", player: crowd[0] });
  });

  test("complete the last target of a list, and leave out the players that it has already", () => {
    expect(linesOf(":jail Anna,ha")).toEqual([":jail Anna,Hannah "]);
    expect(linesOf(":jail anna,")).toEqual([":jail anna,Hannah ", ":jail anna,3 "]);
  });

  test("do not exist for free text and for banned people", () => {
    expect(linesOf(":h an")).toEqual([]);
    expect(linesOf(":pm Anna an")).toEqual([]);
    expect(linesOf(":unban an")).toEqual([]);
  });

  test("name a player by id when the name also means others, and leave out whom no word names alone", () => {
    const players = [
      { name: "Bob", id: "7", team: undefined },
      { name: "Bobby", id: "8", team: undefined },
      { name: "ALL", id: "4", team: undefined },
      { name: "others", id: undefined, team: undefined },
    ];
    expect(linesOf(":kick bo", players)).toEqual([":kick 7 ", ":kick Bobby "]);
    expect(linesOf(":kick al", players)).toEqual([":kick 4 ", ":kick all "]);
    expect(linesOf(":kick oth", players)).toEqual([":kick others "]);
    expect(suggest(":kick oth", players, ALL)[0]).toMatchObject({ kind: "everybody", count: 4 });
  });

  test("are the usual values of an argument that has some", () => {
    expect(linesOf(":weather s")).toEqual([":weather snow"]);
  });
});
