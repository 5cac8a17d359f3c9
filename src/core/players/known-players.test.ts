// What records add to what is known of players.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { NO_HISTORY } from "../history/history.ts";
import {
  addSighting,
  KEPT_NAMES_MAX,
  type KnownPlayer,
  listSightings,
  matchesQuery,
  writeSearch,
} from "./known-players.ts";

const T0 = 1_800_000_000_000;
const seen = (name: string, at: number, player = "1") =>
  listSightings([], { ...NO_HISTORY, seen: [{ player, name, at }] });

test("the newest name is first, each is there once, and fifty are kept", () => {
  let known: KnownPlayer | undefined;
  const add = (name: string, at: number) => {
    for (const sighting of seen(name, at)) known = addSighting(known, sighting);
  };
  for (const [index, name] of ["A", "B", "A", "C"].entries()) add(name, T0 + index);
  expect(known?.names).toEqual(["C", "A", "B"]);
  // Told late: it is no newer name.
  add("Old", T0 - 5);
  expect(known?.names).toEqual(["C", "A", "B", "Old"]);
  for (let n = 0; n < 60; n++) add(`N${n}`, T0 + 100 + n);
  expect(known?.names).toHaveLength(KEPT_NAMES_MAX);
  expect(known?.names[0]).toBe("N59");
  expect(known?.firstSeenAt).toBe(T0 - 5);
});

test("one who kills oneself dies and kills nobody; forgotten players are nobody", () => {
  const kill = (Killed: string, Killer: string | undefined) => ({
    type: "player.killed",
    at: T0,
    data: JSON.stringify({ Killed, Killer }),
  });
  const events = [kill("A:1", "A:1"), kill("A:1", "B:2"), kill("B:2", ""), kill("deleted:0", "B:2")];
  const told = listSightings(events as unknown as Parameters<typeof listSightings>[0], NO_HISTORY);
  expect(told.map(({ player, kills, deaths }) => [player, kills, deaths])).toEqual([
    ["1", 0, 2],
    ["2", 2, 1],
  ]);
});

test("a part of any name is found without case, and what is written can be stored and indexed", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary", maxLength: 100 }), { minLength: 1, maxLength: KEPT_NAMES_MAX }),
      (names) => {
        const search = writeSearch(names);
        expect(search.isWellFormed()).toBe(true);
        expect(search).not.toContain("\0");
        expect(Buffer.byteLength(search)).toBeLessThanOrEqual(2_000);
      },
    ),
  );
  for (const query of ["ZOË", "zoe\u0308", "Ｚｏë", "oë2"])
    expect(matchesQuery(query, "1", ["Old", "Zoë2"])).toBe(true);
  for (const query of ["φως", "ΦΩΣ", "φωσφ"]) expect(matchesQuery(query, "1", ["ΦΩΣΦΟΡΟΣ"])).toBe(true);
  // Names of the game have 20 letters at most.
  const names = Array.from({ length: KEPT_NAMES_MAX }, (_, n) => `TwentyLettersLong${100 + n}`);
  for (const name of names) expect(matchesQuery(name, "1", names)).toBe(true);
  expect(matchesQuery("жанна", "1", ["ЖАННА"])).toBe(true);
  expect(matchesQuery("", "1", [])).toBe(true);
  expect([matchesQuery("12", "123", ["x"]), matchesQuery("23", "123", ["x"])]).toEqual([true, false]);
});
