import { expect, test } from "bun:test";
import { isInstalled } from "../../scripts/is-installed.ts";

const ASKED = {
  packages: {
    "": { version: "0.3.0" },
    "node_modules/bun": { version: "1.4.4" },
    "node_modules/@oven/bun-other-system": { version: "1.4.4", optional: true },
    "node_modules/typescript": { version: "7.0.2", dev: true },
  },
};

test.each<[string, Record<string, { version: string }>, boolean]>([
  ["everything", { "node_modules/bun": { version: "1.4.4" }, "node_modules/typescript": { version: "7.0.2" } }, true],
  ["all but what is for development and other systems", { "node_modules/bun": { version: "1.4.4" } }, true],
  ["an older version", { "node_modules/bun": { version: "1.4.3" } }, false],
  [
    "an older version of what is for development",
    { "node_modules/bun": { version: "1.4.4" }, "node_modules/typescript": { version: "6.9.0" } },
    false,
  ],
  ["nothing", {}, false],
])("%s is installed", (_, packages, expected) => {
  expect(isInstalled(ASKED, { packages })).toBe(expected);
});
