import { expect, test } from "bun:test";
import { describeChange } from "./audit.ts";

test.each([
  ["something new", { after: { name: "Town", community: null } }, "name: Town, community: -"],
  [
    "a change",
    { before: { label: "a", sections: ["Players"] }, after: { label: "b", sections: [] } },
    "label: a → b, sections: [Players] → []",
  ],
  ["something gone", { before: { name: "Town" } }, "name: was Town"],
  ["something else", { revoked_keys: 3 }, '{"revoked_keys":3}'],
  ["a sentence", "by hand", "by hand"],
  ["nothing", null, "-"],
  ["no field", {}, "-"],
])("an audit entry about %s is shown in few words", (_, details, words) => {
  expect(describeChange(details)).toBe(words);
});
