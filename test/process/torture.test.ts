// kill -9 at any moment: every accepted command is finished, none is lost or delivered twice. `npm run torture` runs longer.
import { afterEach, expect, test } from "bun:test";
import { repeat } from "../long.ts";
import { cleanUp } from "./run-gatehouse.ts";
import { runTorture } from "./torture.ts";

const CYCLES = repeat({ usual: 10, long: 200 });

afterEach(cleanUp);

test(`killed ${CYCLES} times at random moments, the service loses no accepted command and delivers none twice`, async () => {
  const seed = Date.now() % 2 ** 31;
  const report = await runTorture({ cycles: CYCLES, seed });
  expect({ seed, problems: report.problems.slice(0, 10) }).toEqual({ seed, problems: [] });
  // The run must have had commands that could be lost.
  expect(report.kills).toBe(CYCLES);
  expect(report.accepted).toBeGreaterThan(CYCLES);
  expect(report.delivered).toBeGreaterThan(CYCLES);
}, 600_000);
