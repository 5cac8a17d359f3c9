// The types of packages/client are those of the schemas, and the package names what it needs.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { formatClientTypes, WIRE_TYPES, writeClientTypes } from "../../scripts/write-client-types.ts";

test("the client's wire types are what the schemas say (npm run types:client writes them)", async () => {
  expect(readFileSync(WIRE_TYPES, "utf8")).toBe(await formatClientTypes());
});

test("ids that may exceed 2^53 are typed so, times are numbers", () => {
  const text = writeClientTypes();
  expect(text).toContain("readonly OwnerId: Id;");
  expect(text).toContain("readonly Queue: readonly Id[];");
  expect(text).toContain("readonly joined_at: number;");
});
