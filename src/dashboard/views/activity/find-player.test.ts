import { describe, expect, test } from "bun:test";
import type { EventResource } from "../../../core/wire/event.ts";
import { findPlayers, listKnownPlayers } from "./find-player.ts";

const KNOWN = [
  { id: "1", name: "Anna" },
  { id: "2", name: "Annabel" },
  { id: "3", name: "Joanna" },
  { id: "44", name: "7" },
];

function makeJoin(Player: string): EventResource {
  return { id: Player, type: "player.joined", at: 0, seen_at: 0, source: "log", backfill: false, data: { Player } };
}

describe("finding a player", () => {
  test("by name shows the best fitting ones first", () => {
    expect(findPlayers(" ANNA ", KNOWN).map(({ id }) => id)).toEqual(["1", "2", "3"]);
    expect(findPlayers("nobody", KNOWN)).toEqual([]);
    expect(findPlayers("  ", KNOWN)).toEqual([]);
  });

  test("by id needs no known player, and a name of digits is found too", () => {
    expect(findPlayers("9007199254740993", KNOWN)).toEqual([{ id: "9007199254740993", name: "" }]);
    expect(findPlayers("7", KNOWN).map(({ id }) => id)).toEqual(["7", "44"]);
    expect(findPlayers("2", KNOWN)).toEqual([{ id: "2", name: "Annabel" }]);
  });

  test("knows the newest name of a player who was renamed", () => {
    expect(listKnownPlayers([makeJoin("New:5"), makeJoin("Old:5"), makeJoin("Remote Server")])).toEqual([
      { id: "5", name: "New" },
    ]);
  });
});
