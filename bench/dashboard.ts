// npm run bench:dashboard: measures the first paint of the dashboard with a cold cache, the frame rate of its map with 200
// players while it is dragged, and the size of its files. Uses a real Chromium and the real program, on the loopback address.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { buildDashboard } from "../scripts/build-dashboard.ts";
import { mintToken } from "../src/core/keys/token.ts";
import { startSimulator } from "../src/simulator/simulator.ts";
import { GATEHOUSE, settingsOf } from "./contenders/gatehouse.ts";
import { fillKeys, fillServers, openSqlite } from "./fill-store.ts";
import { startProgram } from "./processes.ts";
import { median } from "./statistics.ts";

const VISITS = 7;
const PLAYERS = 200;
const DRAG_MS = 5_000;
const STORAGE_KEY = "gatehouse.key";
/** Records when the heading of the first view appears, by the page's own clock. */
const RECORD_HEADING = `new MutationObserver(() => {
  if (!window.headingAt && document.querySelector("#content h1")) window.headingAt = performance.now();
}).observe(document, { childList: true, subtree: true });`;
/** Counts frames from the moment it runs in the page. */
const COUNT_FRAMES = `window.bench = { frames: 0, startedAt: performance.now() };
  (function next() { window.bench.frames += 1; requestAnimationFrame(next); })();`;

const executablePath = Bun.which("chromium") ?? Bun.which("chromium-browser") ?? Bun.which("google-chrome");
if (!executablePath) {
  console.error("This needs chromium: install it, or run npm test once, which does.");
  process.exit(1);
}
const sizes = await buildDashboard();
const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
const tokens = Array.from({ length: VISITS + 1 }, () => mintToken(randomBytes));
const store = await openSqlite(folder);
await fillKeys(store, await fillServers(store, 1), tokens);
await store.close();
const simulator = await startSimulator({ players: PLAYERS, maxPlayers: PLAYERS, readLimit: 0 });
const gatehouse = await startProgram({
  command: GATEHOUSE,
  core: undefined,
  env: settingsOf(folder, simulator.url),
});
const url = gatehouse.urls[0] ?? "";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const [form, live] = [await measurePaints(false), await measurePaints(true)];
  const { perSecond, players } = await measureMap();
  console.table({
    "sign-in form, first paint (ms)": Math.round(form.paintMs),
    "live view, first paint (ms)": Math.round(live.paintMs),
    "live view, there (ms)": Math.round(live.thereMs),
    "map while dragged (frames a second)": Math.round(perSecond),
    "players on that map": players,
    "files before the first view, compressed (KB)": Math.round(sizes.first / 1000),
    "all files, compressed (KB)": Math.round(sizes.all / 1000),
  });
  console.log(`Medians of ${VISITS} visits, each with a cold cache. The browser draws without a graphics card.`);
} finally {
  await browser.close();
  await gatehouse.stop();
  await simulator.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Every visit has its own context, and so its own cache. A signed-in visit ends when the first view has its heading. */
async function measurePaints(isSignedIn: boolean): Promise<{ paintMs: number; thereMs: number }> {
  const paints: number[] = [];
  const theres: number[] = [];
  for (let visit = 0; visit < VISITS; visit++) {
    const page = await openPage(browser, isSignedIn ? tokens[visit] : undefined);
    await page.goto(`${url}/`);
    if (isSignedIn) {
      await page.locator("#content h1").waitFor();
      theres.push(await page.evaluate<number>("window.headingAt"));
    }
    paints.push(
      await page.evaluate<number>(`new Promise((resolve) => new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") resolve(startTime);
    }).observe({ type: "paint", buffered: true }))`),
    );
    await page.context().close();
  }
  return { paintMs: median(paints), thereMs: median(theres) };
}

async function measureMap(): Promise<{ perSecond: number; players: number }> {
  const page = await openPage(browser, tokens[VISITS]);
  await page.goto(`${url}/#/map`);
  await page.locator(".map-row").first().waitFor();
  const players = Number(await page.locator(".map-row").count());
  const box = await page.locator("canvas").first().boundingBox();
  if (!box) throw new Error("there is no map");
  const [midX, midY] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(midX, midY);
  await page.mouse.down();
  await page.evaluate(COUNT_FRAMES);
  const until = performance.now() + DRAG_MS;
  for (let step = 0; performance.now() < until; step++) {
    await page.mouse.move(midX + 80 * Math.sin(step / 10), midY + 80 * Math.cos(step / 10));
  }
  const perSecond = await page.evaluate<number>(
    "window.bench.frames / (performance.now() - window.bench.startedAt) * 1000",
  );
  await page.mouse.up();
  await page.context().close();
  return { perSecond, players };
}

async function openPage(chrome: Browser, key: string | undefined): Promise<Page> {
  const context = await chrome.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript(RECORD_HEADING);
  if (key !== undefined) {
    await context.addInitScript(`sessionStorage.setItem("${STORAGE_KEY}", ${JSON.stringify(key)})`);
  }
  return context.newPage();
}
