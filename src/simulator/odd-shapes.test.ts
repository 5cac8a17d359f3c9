// The worst answers are still JSON, and a few turns show every kind of wrongness.
import { expect, test } from "bun:test";
import { SECTIONS } from "../core/sections.ts";
import { spoilShapes } from "./odd-shapes.ts";
import { ALL_QUIRKS_ALWAYS } from "./quirks.ts";
import { tellTown } from "./town-answer.ts";
import { foundTown } from "./town-clock.ts";

const town = foundTown(
  { seed: 1, serverId: "odd", playersWanted: 24, maxPlayers: 24, speed: 1 },
  1_800_000_000_000,
);
const textOf = (turn: number, isRequiredSpoiled = false) =>
  JSON.stringify(spoilShapes(tellTown(town, SECTIONS, ALL_QUIRKS_ALWAYS), turn, isRequiredSpoiled));
const turns = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((turn) => textOf(turn));

test.each([
  '"WantedStars":"3"',
  '"WantedStars":1.5',
  '"Position":[1,2,3]',
  '"Caller":9007199254740993',
  "1234567890123456789",
  '"abc":"Letters"',
  '"__proto__":"Proto"',
  "<img src=x onerror=alert(1)>",
  "\u202E",
  "W".repeat(10_000),
  '"Weather":{"Sky":"green"}',
  '"CurrentPlayers":24.0',
])("%s appears within nine turns", (sign) => {
  expect(turns.some((text) => text.includes(sign))).toBe(true);
});

test.each([...SECTIONS])("%s is null in one turn, of another type in one and missing in one", (section) => {
  const values = turns.map((text) => JSON.parse(text)[section]);
  expect(values.filter((value) => value === null)).toHaveLength(1);
  expect(values.filter((value) => value === undefined)).toHaveLength(1);
  const isOther = (value: unknown) =>
    section === "Staff" ? typeof value === "string" : !Array.isArray(value);
  expect(values.filter((value) => value !== null && value !== undefined && isOther(value))).toHaveLength(1);
});

test("the eight required fields are spoiled one by one only when asked for", () => {
  const base = ["Name", "OwnerId", "MaxPlayers", "JoinKey", "AccVerifiedReq", "TeamBalance"];
  const honest = tellTown(town, [], ALL_QUIRKS_ALWAYS);
  for (const text of turns)
    expect(JSON.parse(text)).toMatchObject(Object.fromEntries(base.map((name) => [name, honest[name]])));
  const spoiled = new Set([0, 1, 2, 3, 4, 5, 6, 7].map((turn) => textOf(turn, true)));
  expect(spoiled.size).toBe(8);
});
