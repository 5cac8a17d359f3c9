import { describe, expect, test } from "bun:test";
import type { PlayerResource } from "../../../core/wire/players.ts";
import { fitsTitle, joinPlayers, PLAYERS_MAX } from "./find.ts";

const known = (id: string, name: string, isHere = false) =>
  ({ id, names: [name], is_here: isHere }) as unknown as PlayerResource;

describe("players", () => {
  const HERE = [{ Player: "Anna:11" }, { Player: "Bob:12" }, { Player: "Joanna:7" }, { Player: "Annabot" }];

  test("on the server come first, and nobody comes twice", () => {
    const found = joinPlayers(HERE, [known("90", "Anna of old"), known("7", "Joanna", true)], " ANNA ");
    expect(found.map(({ id, isHere }) => [id, isHere])).toEqual([
      ["11", true],
      ["7", true],
      ["90", false],
    ]);
  });

  test("that only Gatehouse knows to be there come before those who left", () => {
    const found = joinPlayers([], [known("1", "Zed"), known("2", "Zed", true)], "zed");
    expect(found.map(({ id }) => id)).toEqual(["2", "1"]);
  });

  test("are found by the beginning of their id, and not without anything typed", () => {
    expect(joinPlayers(HERE, [], "1").map(({ id }) => id)).toEqual(["11", "12"]);
    expect(joinPlayers(HERE, [], "2")).toEqual([]);
    expect(joinPlayers(HERE, [], "  ")).toEqual([]);
  });

  test("are not more than the box can show", () => {
    const many = Array.from({ length: 30 }, (_, index) => known(String(index + 1), "Zed"));
    expect(joinPlayers([], many, "zed")).toHaveLength(PLAYERS_MAX);
  });
});

test("a title is found by the beginning of any of its words", () => {
  expect(fitsTitle("Calls", "ca")).toBe(true);
  expect(fitsTitle("Game servers", "SERV")).toBe(true);
  expect(fitsTitle("Game servers", "game s")).toBe(true);
  expect(fitsTitle("Calls", "all")).toBe(false);
});
