// docs/benchmarks.md: a run replaces the generated part and nothing else.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { replaceGenerated } from "./document.ts";

const PAGE = readFileSync(resolve(import.meta.dir, "../docs/benchmarks.md"), "utf8");

test("a run replaces the generated part, and keeps the text around it", () => {
  const first = replaceGenerated(PAGE, "(a run in this test)");
  const second = replaceGenerated(`${first}Something below.\n`, "(the next run in this test)");
  expect(second).toContain("## Watching and the ledger");
  expect(second).toEndWith("Something below.\n");
  expect(second).toContain("(the next run in this test)");
  expect(second).not.toContain("(a run in this test)");
});

test("a page without the markers is not overwritten", () => {
  expect(() => replaceGenerated("# Benchmarks\n", "a run")).toThrow("must have the lines");
});
