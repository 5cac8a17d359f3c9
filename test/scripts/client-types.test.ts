// The types of both clients are those of the schemas.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  DECLARATIONS,
  formatClientTypes,
  makeDeclarations,
  PYTHON_MODULE,
  updatePythonTypes,
  WIRE_TYPES,
  writeClientTypes,
} from "../../scripts/write-client-types.ts";
import { EVENT_TYPES } from "../../src/core/events/event-types.ts";

test("the client's wire types are what the schemas say (npm run types:client writes them)", async () => {
  expect(readFileSync(WIRE_TYPES, "utf8")).toBe(await formatClientTypes());
});

test("the types of the Python client are what the schemas say, an event for each type", () => {
  const module = updatePythonTypes();
  expect(readFileSync(PYTHON_MODULE, "utf8")).toBe(module);
  const events = EVENT_TYPES.map((type) => `    type: Literal["${type}"]\n`);
  expect(events.filter((line) => !module.includes(line))).toEqual([]);
});

test("the declarations of the client are those of its sources (npm run types:client writes them)", async () => {
  const written = readdirSync(DECLARATIONS).map((name) => [name, readFileSync(join(DECLARATIONS, name), "utf8")]);
  expect(Object.fromEntries(written)).toEqual(Object.fromEntries(await makeDeclarations()));
});

test("ids that may exceed 2^53 are typed so, times are numbers", () => {
  const text = writeClientTypes();
  expect(text).toContain("readonly OwnerId: Id;");
  expect(text).toContain("readonly Queue: readonly Id[];");
  expect(text).toContain("readonly joined_at: number;");
});
