// The public status page in a browser: readable for everybody, in both languages, sizes and colour schemes.
import { expect } from "bun:test";
import { HOUR_MS } from "../../src/core/durations.ts";
import { NO_HISTORY } from "../../src/core/history/history.ts";
import { atEnd } from "../at-end.ts";
import { MemoryArchive, makeEvent } from "../event-archive.ts";
import { ALL_SECTIONS_INFO, BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import {
  browserTest,
  expectAccessible,
  expectNoSidewaysScroll,
  isTestedVariant,
  LANGUAGES,
  openPage,
  SIZES,
} from "./browser.ts";

const NAME = `<img src=x onerror=alert(1)>${"Cedar".repeat(12)}`;

/** A server with a week of history, in which a day is missing, and two outages. */
async function startPublicServer() {
  const archive = new MemoryArchive();
  const info = { ...BASE_INFO, ...ALL_SECTIONS_INFO, CurrentPlayers: 23, MaxPlayers: 40 };
  const game = startFakeGameApi(() => Response.json(info));
  const gatehouse = await startGatehouse({ archive, env: { GATEHOUSE_UPSTREAM_URL: game.url } });
  atEnd(async () => {
    await gatehouse.stop();
    await game.stop();
  });
  const publicStatus = { slug: "cedar", showsJoinKey: true };
  const { serverId } = await gatehouse.addServer({ name: NAME, publicStatus });
  const { now } = gatehouse.clock;
  const minutes = Array.from({ length: 168 }, (_, hour) => {
    const players = Math.round(14 + 12 * Math.sin((hour - 8) / 3.82));
    const at = Math.floor(now / HOUR_MS) * HOUR_MS - hour * HOUR_MS;
    const counts = { knownMs: 60_000, playerMs: players * 60_000, min: players, max: players + 4 };
    return { at, ...counts, queueMax: 0, staffMax: 1, teamKnownMs: 60_000, teamMs: {} };
  }).filter((_, hour) => hour < 60 || hour > 84);
  const change = (n: number, state: "offline" | "online" | "unreachable", hoursAgo: number) =>
    makeEvent(n, { type: `server.${state}`, at: now - hoursAgo * HOUR_MS, data: "{}", players: [] });
  const events = [change(1, "unreachable", 84), change(2, "online", 60), change(3, "offline", 3)];
  await archive.record([
    {
      ...{ serverId, version: 0, events: [...events, change(4, "online", 2.4)], memory: [] },
      ...{ history: { ...NO_HISTORY, minutes }, stillShown: [], now },
    },
  ]);
  await (await gatehouse.admin("GET", `/admin/servers/${serverId}/info`)).arrayBuffer();
  return gatehouse;
}

browserTest("the status page is accessible and fits, and a hostile name stays a name", async () => {
  const { url } = await startPublicServer();
  for (const language of LANGUAGES) {
    for (const size of SIZES) {
      for (const scheme of ["light", "dark"] as const) {
        if (!isTestedVariant(language, size, scheme)) continue;
        const page = await openPage({ url, language, size, scheme });
        // Without the reload that a visitor can switch off, because axe allows none.
        await page.goto(`${url}/status/cedar?reload=off`);
        expect(await page.locator("h1").textContent()).toBe(NAME);
        expect(await page.locator("html").getAttribute("lang")).toBe(language);
        expect(await page.locator("svg.week rect.average").count()).toBeGreaterThan(100);
        expect(await page.locator(".outages li").count()).toBe(2);
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
      }
    }
  }
});
