// The page of benchmarks: what people wrote stays, what was measured is replaced.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { replaceGenerated } from "./document.ts";

const PAGE = readFileSync(resolve(import.meta.dir, "../docs/benchmarks.md"), "utf8");

test("what people wrote survives a new run, and what was measured before does not", () => {
  const first = replaceGenerated(PAGE, "the first run");
  const second = replaceGenerated(`${first}Something below.\n`, "the second run");
  expect(second).toContain("## What is compared");
  expect(second).toEndWith("Something below.\n");
  expect(second).toContain("the second run");
  expect(second).not.toContain("the first run");
});

test("a page that has lost its marks is not overwritten", () => {
  expect(() => replaceGenerated("# Benchmarks\n", "a run")).toThrow("must have the lines");
});
