// gatehouse players forget: asks first, and says what stays.
import { afterEach, expect, test } from "bun:test";
import { runToEnd, serve } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

afterEach(cleanUp);

test("a player is forgotten after a confirmation, and programs get JSON", async () => {
  const cwd = makeFolder();
  const { url } = await serve({ cwd });
  const run = (...args: string[]) => runToEnd(["players", "forget", ...args, "--url", url], { cwd });
  const unasked = await run("54");
  expect([unasked.exitCode, unasked.stderr]).toEqual([2, expect.stringContaining("--yes")]);
  const done = await run("54", "--yes");
  expect([done.exitCode, done.stdout]).toEqual([0, expect.stringContaining("player 54 is forgotten; backups")]);
  const json = await run("54", "--yes", "--json");
  expect([json.exitCode, json.stdout]).toEqual([0, "{}\n"]);
  const wrong = await run("Bob", "--yes");
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining("digits")]);
});
