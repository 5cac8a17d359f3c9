// What holds for every page: links lead somewhere, and lines have at most 120 characters, so that a change can be read.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "./page-blocks.ts";

const WIDTH_MAX = 120;
const LINK = /\]\(([^)\s]+)\)/g;

const pages = [...new Bun.Glob("**/*.md").scanSync({ cwd: ROOT })].filter(
  (path) => !/(^|\/)(node_modules|dist|data)\/|^CHANGELOG\.md$/.test(path),
);

/** The lines of a page, without those of its code blocks. */
function listProse(path: string): string[] {
  return readFileSync(join(ROOT, path), "utf8")
    .replace(/^\s*```.*?^\s*```/gms, "")
    .split("\n");
}

/** As GitHub names the heading in an address. */
function toAnchor(heading: string): string {
  const words = heading.replace(/^#+ /, "").toLowerCase();
  return words.replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

function isBroken(page: string, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return false;
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : relative(ROOT, join(ROOT, dirname(page), path));
  if (!existsSync(join(ROOT, target))) return true;
  if (anchor === undefined) return false;
  return !listProse(target).some((line) => line.startsWith("#") && toAnchor(line) === anchor);
}

test("every link leads to a page and a heading that are there", () => {
  expect(pages.length).toBeGreaterThan(50);
  const links = pages.flatMap((page) =>
    Array.from(listProse(page).join("\n").matchAll(LINK), ([, link = ""]) => ({ page, link })),
  );
  expect(links.length).toBeGreaterThan(200);
  expect(links.filter(({ page, link }) => isBroken(page, link))).toEqual([]);
});

test("no line is longer than 120 characters, tables and code excepted", () => {
  const isLong = (line: string) => line.length > WIDTH_MAX && !/^ {4}|^\s*\|/.test(line);
  expect(
    pages.flatMap((page) =>
      listProse(page)
        .filter(isLong)
        .map((line) => `${page}: ${line}`),
    ),
  ).toEqual([]);
});
