// docs/errors.md says of every error what the program says of it, and of nothing else.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { listErrorRows, listUpstreamRows } from "./error-rows.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/errors.md"), "utf8");

function readTable(head: string): string[] {
  const start = page.indexOf(head);
  const [, , ...rows] = page.slice(start).split("\n");
  return rows.slice(0, rows.indexOf(""));
}

test("the table of errors is the program's own", () => {
  expect(readTable("| code | status |")).toEqual(listErrorRows());
});

test("the table of the game API's codes is the program's own", () => {
  expect(readTable("| upstream_code |")).toEqual(listUpstreamRows());
});
