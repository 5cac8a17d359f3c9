// What is learned from the positions of players, and what is not.
import { expect, test } from "bun:test";
import { CELL_SIZE, listSeenPlaces, POSTAL_LENGTH_MAX, STREET_LENGTH_MAX } from "./seen-places.ts";

const at = (location: unknown) => listSeenPlaces([{ Player: "Ann:1", Location: location }]);
const named = (StreetName: unknown, PostalCode: unknown = null) =>
  at({ LocationX: 1, LocationZ: 1, StreetName, PostalCode }).map(({ name }) => name);

test("a position tells in which cell its street and postal code are, and nothing about the player", () => {
  const seen = at({ LocationX: 85.4, LocationZ: -0.5, StreetName: "Park Street", PostalCode: "218" });
  const cell = { cellX: 2, cellZ: -1, count: 1, sumX: 5, sumZ: CELL_SIZE };
  expect(seen).toEqual([
    { kind: "street", name: "Park Street", ...cell },
    { kind: "postal", name: "218", ...cell },
  ]);
});

test("exact numbers count like others, and what is no position teaches nothing", () => {
  const LocationX = JSON.rawJSON("12345678901234567890");
  expect(at({ LocationX, LocationZ: 0, StreetName: "A" })).toEqual([]);
  const small = JSON.rawJSON("40.0");
  expect(at({ LocationX: small, LocationZ: small, StreetName: "A" })).toMatchObject([{ cellX: 1, cellZ: 1 }]);
  for (const bad of [null, undefined, "", "12", Number.NaN, Number.POSITIVE_INFINITY, 1e7, {}, true])
    expect(at({ LocationX: bad, LocationZ: 0, StreetName: "A" })).toEqual([]);
  for (const bad of [null, undefined, "x", []]) expect(at(bad)).toEqual([]);
});

test("a name is one line of visible text, not too long", () => {
  expect(named("  Park \t Street ")).toEqual(["Park Street"]);
  expect(named("Улица Мира", "А-7")).toEqual(["Улица Мира", "А-7"]);
  for (const hostile of ["", " ", "a\u202eb", "a\u0000b", "\ud800", "x".repeat(STREET_LENGTH_MAX + 1), 5, null])
    expect(named(hostile)).toEqual([]);
  expect(named(null, "1".repeat(POSTAL_LENGTH_MAX + 1))).toEqual([]);
  expect(named("x".repeat(1_000_000))).toEqual([]);
});
