// npm run torture in its short form: kill -9 at any moment loses and doubles no command, no event and no webhook.
import { afterEach, expect, test } from "bun:test";
import { repeat } from "../long.ts";
import { cleanUp } from "../temporary.ts";
import { runKillCycles } from "./kill-cycles.ts";

const KILLS = repeat({ usual: 2, long: 200 });

afterEach(cleanUp);

test(`killed ${KILLS} times at random moments, the service keeps its promises`, async () => {
  const seed = 1 + (Date.now() % 2 ** 31);
  const { figures, problems } = await runKillCycles({ count: KILLS, seed });
  expect({ seed, problems: problems.slice(0, 10) }).toEqual({ seed, problems: [] });
  // The run must have had something that could be lost.
  expect(figures.kills).toBe(KILLS);
  expect(figures.accepted).toBeGreaterThan(KILLS);
  expect(figures.delivered).toBeGreaterThan(10 * KILLS);
  expect(figures.events).toBeGreaterThan(10 * KILLS);
  expect(figures.webhookEvents).toBeGreaterThan(KILLS);
}, 900_000);
