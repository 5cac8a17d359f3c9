// Only test/needs.ts skips tests, with a reason: no other file uses skip, todo or only.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
const NEEDS = "test/needs.ts";
/** Not after a quote, because a string may hold the text of another test file. */
const BARE_SKIP = /(?<!["'`])\b(?:test|describe|it)\.(?:\w+\.)*(?:skip|skipIf|todo|todoIf|if|failing|failingIf|only)\b/;

function listFiles(): string[] {
  const names = Array.from(new Bun.Glob("**/*.{ts,tsx}").scanSync(ROOT));
  return names.filter((name) => !/(?:^|\/)(?:node_modules|dist)\//.test(name));
}

test("only test/needs.ts skips tests", () => {
  const files = listFiles();
  expect(files).toContain(NEEDS);
  const bare = files.filter((file) => BARE_SKIP.test(readFileSync(join(ROOT, file), "utf8")));
  expect(bare).toEqual([NEEDS]);
});

test("every way to skip a test is found", () => {
  for (const way of ["skip", "skipIf(isBusy)", "todo", "todoIf(isBusy)", "if(isIdle)", "only", "concurrent.skip"]) {
    expect(BARE_SKIP.test(`const inTime = isIdle ? test : test.${way};`)).toBe(true);
    expect(BARE_SKIP.test(`  describe.${way}("a group", () => {})`)).toBe(true);
  }
  expect(BARE_SKIP.test('test.each([1])("skips nothing", () => {})')).toBe(false);
});
