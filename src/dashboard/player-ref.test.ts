import { expect, test } from "bun:test";
import { findPlayerByName, mapPlayerNames } from "./player-ref.ts";

const PLAYERS = [{ Player: "Anna:1" }, { Player: "Bob:2" }, { Player: "Bob:3" }, {}];

test("an owner who is named without an id gets that of the only player with exactly this name", () => {
  expect(findPlayerByName("Anna", PLAYERS)).toEqual({ name: "Anna", id: "1" });
  for (const name of ["anna", "Ann", "Bob", "Gone", ""]) {
    expect(findPlayerByName(name, PLAYERS)).toEqual({ name, id: undefined });
  }
  expect(findPlayerByName("Anna", undefined)).toEqual({ name: "Anna", id: undefined });
  expect(findPlayerByName("Anna:9", PLAYERS)).toEqual({ name: "Anna", id: "9" });
});

test("the names of the players on the server are found by id", () => {
  const players = [{ Player: "Anna:1" }, { Player: "a:b:22" }, { Player: "without id" }, {}];
  expect([...mapPlayerNames(players)]).toEqual([
    ["1", "Anna"],
    ["22", "a:b"],
  ]);
  expect(mapPlayerNames(undefined).size).toBe(0);
});
