// The short form of `npm run restarts`: instances behind a balancer are restarted in turn, and nothing is lost.
import { afterEach, expect, test } from "bun:test";
import { chooseSeed } from "../instances/fleet.ts";
import { cleanUp } from "../temporary.ts";
import { runRestarts } from "./rolling-restarts.ts";

afterEach(cleanUp);

test("restarting instances in turn under load loses no request, no event and no command", async () => {
  const seed = chooseSeed("rolling restarts");
  const tools = { seed, stopped: new AbortController().signal, progress() {} };
  const { figures, problems } = await runRestarts({ count: 2, delayMs: 5 }, tools);
  expect(problems).toEqual([]);
  expect(figures).toMatchObject({ restarts: 2, failed: 0, eventsLost: 0, eventsRepeated: 0 });
  expect(figures.requests).toBeGreaterThan(100);
  expect(figures.reconnects).toBeGreaterThan(0);
  expect(figures.events).toBeGreaterThan(0);
  expect(figures.commands).toBeGreaterThan(0);
});
