// Corrupted answers are still JSON, and nine calls show every kind of damage.
import { expect, test } from "bun:test";
import { SECTIONS } from "../core/sections.ts";
import { buildServerInfo } from "./build-server-info.ts";
import { corruptShapes } from "./odd-shapes.ts";
import { ALL_QUIRKS_ALWAYS } from "./quirks.ts";
import { createTown } from "./town-registry.ts";

const town = createTown(
  { seed: 1, serverId: "odd", playersWanted: 24, maxPlayers: 24, speed: 1, logWindow: 50 },
  1_800_000_000_000,
);
const textOf = (callsBefore: number, damagesRequired = false) =>
  JSON.stringify(corruptShapes(buildServerInfo(town, SECTIONS, ALL_QUIRKS_ALWAYS), callsBefore, damagesRequired));
const texts = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((callsBefore) => textOf(callsBefore));

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
])("%s appears within nine calls", (sign) => {
  expect(texts.some((text) => text.includes(sign))).toBe(true);
});

test.each([...SECTIONS])("%s is null in one call, of the wrong type in one and missing in one", (section) => {
  const values = texts.map((text) => JSON.parse(text)[section]);
  expect(values.filter((value) => value === null)).toHaveLength(1);
  expect(values.filter((value) => value === undefined)).toHaveLength(1);
  const isOther = (value: unknown) => (section === "Staff" ? typeof value === "string" : !Array.isArray(value));
  expect(values.filter((value) => value !== null && value !== undefined && isOther(value))).toHaveLength(1);
});

test("the eight required fields are corrupted one by one, and only when requested", () => {
  const base = ["Name", "OwnerId", "MaxPlayers", "JoinKey", "AccVerifiedReq", "TeamBalance"];
  const valid = buildServerInfo(town, [], ALL_QUIRKS_ALWAYS);
  for (const text of texts)
    expect(JSON.parse(text)).toMatchObject(Object.fromEntries(base.map((name) => [name, valid[name]])));
  const corrupted = new Set([0, 1, 2, 3, 4, 5, 6, 7].map((callsBefore) => textOf(callsBefore, true)));
  expect(corrupted.size).toBe(8);
});
