import { expect, test } from "bun:test";
import { formatMoment } from "../terminal/times.ts";
import { describeChange } from "./audit.ts";

const AT = 1_794_822_583_470;

test.each([
  ["something new", { after: { name: "Town", community: null } }, "name: Town, community: -"],
  [
    "a change",
    { before: { label: "a", sections: ["Players"] }, after: { label: "b", sections: [] } },
    "label: a → b, sections: [Players] → []",
  ],
  ["a time", { after: { revoked_at: AT } }, `revoked_at: ${formatMoment(AT)}`],
  ["another time", { before: { expires_at: null }, after: { expires_at: AT } }, `expires_at: - → ${formatMoment(AT)}`],
  ["something gone", { before: { name: "Town" } }, "name: was Town"],
  ["something else", { revoked_keys: 3 }, '{"revoked_keys":3}'],
  ["a sentence", "by hand", "by hand"],
  ["nothing", null, "-"],
  ["no field", {}, "-"],
])("an audit entry about %s is shown in few words", (_, details, words) => {
  expect(describeChange(details)).toBe(words);
});
