import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SRC = join(import.meta.dir, "..");

test("prompts are loaded only when there is one to show: no file imports them at its start", () => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  const early = files.filter((name) =>
    /^import (?!type )[^;]*? from "@clack\/prompts";$/m.test(readFileSync(join(SRC, name), "utf8")),
  );
  expect(files.length).toBeGreaterThan(20);
  expect(early).toEqual([]);
});
