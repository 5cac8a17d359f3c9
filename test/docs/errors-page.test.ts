// docs/errors.md lists the same errors, with the same texts, as the reference of a running Gatehouse.
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startGatehouse } from "../start-gatehouse.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/errors.md"), "utf8");
const gatehouse = await startGatehouse();
afterAll(() => gatehouse.stop());
const reference = (await (await gatehouse.get("/openapi.json")).json()) as { info: { description: string } };

/** The cells of the table whose first column has this heading. */
function readTable(firstHeading: string): string[][] {
  const [, , ...lines] = page.slice(page.indexOf(`| ${firstHeading} |`)).split("\n");
  const rows = lines.slice(0, lines.indexOf(""));
  return rows.map((row) => row.slice("| ".length, -" |".length).split(" | "));
}

function listReferenceItems(pattern: RegExp): string[] {
  return reference.info.description.split("\n").filter((line) => pattern.test(line));
}

test("every error has the code, the status, the message and the advice that the reference has", () => {
  const told = readTable("code").map(([code, status, message, when, advice]) => {
    return `- **${code}** \`${message}\`, status ${status}. ${when} ${advice}`;
  });
  expect(told.length).toBeGreaterThan(20);
  expect(told).toEqual(listReferenceItems(/^- \*\*\d+\*\* `/));
});

test("so has every code of the game API", () => {
  const told = readTable("upstream_code").map(([code, when, advice]) => `- **${code}**: ${when} ${advice}`);
  expect(told.length).toBeGreaterThan(10);
  expect(told).toEqual(listReferenceItems(/^- \*\*\d+\*\*: /));
});
