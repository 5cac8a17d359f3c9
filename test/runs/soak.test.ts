// The short form of the soak: a few seconds of the whole mix on a real process.
import { afterEach, expect, test } from "bun:test";
import { cleanUp } from "../process/run-gatehouse.ts";
import { runSoak } from "./soak-run.ts";

const DURATION_MS = 8_000;
const RATE = 100;

afterEach(cleanUp);

test("a few seconds of mixed load leave no unexpected answer and no broken stream", async () => {
  const tools = { seed: 1, stopped: new AbortController().signal, progress: () => {} };
  const { figures, problems } = await runSoak({ durationMs: DURATION_MS, rate: RATE }, tools);
  // So short a run is over before memory has settled, so its growth means nothing.
  expect(problems.filter((problem) => !problem.startsWith("resident memory grew"))).toEqual([]);
  expect(figures.requests).toBeGreaterThan(RATE);
  expect(figures.events).toBeGreaterThan(0);
  expect(figures.webhookRequests).toBeGreaterThan(0);
}, 60_000);
