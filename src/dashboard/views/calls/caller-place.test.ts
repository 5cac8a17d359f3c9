import { expect, test } from "bun:test";
import type { Player } from "../../../core/wire/server-info.ts";
import { findCallerPlace } from "./caller-place.ts";

const PLAYERS: readonly Player[] = [
  { Player: "Ann:1", Location: { PostalCode: "206", BuildingNumber: "12", StreetName: "Park Street" } },
  { Player: "Bob:2", Location: { LocationX: 10.4, LocationZ: -7.6 } },
  { Player: "Cid:3" },
  { Player: "Ann", Location: { PostalCode: "999" } },
];

test("the place of a caller is found by their id, even under another name", () => {
  expect(findCallerPlace({ Caller: "Renamed:1" }, PLAYERS)).toEqual({
    kind: "place",
    text: "206 · 12 Park Street",
  });
  expect(findCallerPlace({ Caller: "Ann" }, PLAYERS)).toEqual({
    kind: "place",
    text: "206 · 12 Park Street",
  });
});

test("without a street the position is shown, and what is not known is not made up", () => {
  expect(findCallerPlace({ Caller: "Bob:2" }, PLAYERS)).toEqual({ kind: "place", text: "(10, -8)" });
  expect(findCallerPlace({ Caller: "Cid:3" }, PLAYERS)).toEqual({ kind: "unknown" });
  expect(findCallerPlace({ Caller: "Gone:9" }, PLAYERS)).toEqual({ kind: "away" });
});
