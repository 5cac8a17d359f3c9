// npm run bench:dashboard: measures the first paint of the dashboard with a cold cache, what a page costs while nothing
// happens, the frame rate of its map while it is dragged and of Activity while it is scrolled, the memory after an hour of a
// busy server, and the size of its files. Uses a real Chromium and the real program, on the loopback address.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { buildDashboard } from "../scripts/build-dashboard.ts";
import { mintToken } from "../src/core/keys/token.ts";
import { type SimulatorOptions, startSimulator } from "../src/simulator/simulator.ts";
import { GATEHOUSE, settingsOf } from "./contenders/gatehouse.ts";
import { fillKeys, fillServers, openSqlite } from "./fill-store.ts";
import { startProgram } from "./processes.ts";
import { median } from "./statistics.ts";

const VISITS = 7;
const PLAYERS = 200;
const DRAG_MS = 5_000;
const SLOWED = 4;
const STILL_VIEWS = ["live", "map", "players"] as const;
const STILL_MS = 60_000;
/** Until the view has loaded what it shows. */
const SETTLE_MS = 8_000;
/** An hour of the busy server passes in this time. */
const HOUR_SPEED = 60;
const HOUR_MS = 3_600_000 / HOUR_SPEED;
const SCROLL_MS = 5_000;
const SCROLL_STEP = 120;
const STORAGE_KEY = "gatehouse.key";
/** Records when the heading of the first view appears, by the page's own clock. */
const RECORD_HEADING = `new MutationObserver(() => {
  if (!window.headingAt && document.querySelector("#content h1")) window.headingAt = performance.now();
}).observe(document, { childList: true, subtree: true });`;
/** Counts frames from the moment it runs in the page. */
const COUNT_FRAMES = `window.bench = { frames: 0, longest: 0, startedAt: performance.now() };
  (function next(before) {
    requestAnimationFrame((at) => {
      window.bench.frames += 1;
      window.bench.longest = Math.max(window.bench.longest, at - before);
      next(at);
    });
  })(performance.now());`;
const READ_FRAMES = `[window.bench.frames / (performance.now() - window.bench.startedAt) * 1000, window.bench.longest]`;

const executablePath = Bun.which("chromium") ?? Bun.which("chromium-browser") ?? Bun.which("google-chrome");
if (!executablePath) {
  console.error("This needs chromium: install it, or run npm test once, which does.");
  process.exit(1);
}
const sizes = await buildDashboard();
const folder = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
const tokens = Array.from({ length: 2 * VISITS + 1 }, () => mintToken(randomBytes));
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
  const [form, live, slowed] = [await measurePaints(), await measurePaints(0), await measurePaints(VISITS, SLOWED)];
  const { perSecond, players } = await measureMap();
  const still = await measureStill();
  const hour = await measureHour();
  console.table({
    "sign-in form, first paint (ms)": Math.round(form.paintMs),
    "live view, first paint (ms)": Math.round(live.paintMs),
    "live view, there (ms)": Math.round(live.thereMs),
    [`live view, there, processor ${SLOWED} times slower (ms)`]: Math.round(slowed.thereMs),
    ...still,
    "map while dragged (frames a second)": Math.round(perSecond),
    "players on that map": players,
    ...hour,
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

/**
 * Every visit has its own context, and so its own cache. A signed-in visit ends when the first view has its heading; `first`
 * is the number of its token.
 */
async function measurePaints(first?: number, slowdown = 1): Promise<{ paintMs: number; thereMs: number }> {
  const paints: number[] = [];
  const theres: number[] = [];
  for (let visit = 0; visit < VISITS; visit++) {
    const page = await openPage(browser, first === undefined ? undefined : tokens[first + visit]);
    await (await openSession(page)).send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    await page.goto(`${url}/`);
    if (first !== undefined) {
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
  const page = await openPage(browser, tokens.at(-1));
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
  const [perSecond = 0] = await page.evaluate<number[]>(READ_FRAMES);
  await page.mouse.up();
  await page.context().close();
  return { perSecond, players };
}

/** What a visible page costs a core while nobody touches it and nothing happens on the server, in percent. */
async function measureStill(): Promise<Record<string, number>> {
  let now = Date.now() - 3_600_000;
  const server = await openWatched({ quirks: false, clock: () => now });
  // Time stands still from the second look on, so that there is something to show.
  now = Date.now();
  const shares: Record<string, number> = {};
  for (const [index, view] of STILL_VIEWS.entries()) {
    const page = await openPage(browser, server.tokens[index]);
    await page.goto(`${server.url}/#/${view}`);
    await page.locator("#content h1").waitFor();
    await page.waitForTimeout(SETTLE_MS);
    const session = await openSession(page);
    const before = await readMetric(session, "TaskDuration");
    await Bun.sleep(STILL_MS);
    const busyMs = ((await readMetric(session, "TaskDuration")) - before) * 1000;
    shares[`${view}, while nothing happens (% of a core)`] = Number(((busyMs / STILL_MS) * 100).toFixed(1));
    await page.context().close();
  }
  await server.close();
  return shares;
}

/** Activity after an hour of a busy server has passed, and while it is then scrolled. */
async function measureHour(): Promise<Record<string, number>> {
  let stoppedAt: number | undefined;
  const server = await openWatched({ speed: HOUR_SPEED, clock: () => stoppedAt ?? Date.now() });
  const page = await openPage(browser, server.tokens[0]);
  await page.goto(`${server.url}/#/activity`);
  await page.locator("#content li").first().waitFor();
  await page.waitForTimeout(HOUR_MS);
  stoppedAt = Date.now();
  await page.waitForTimeout(SETTLE_MS);
  const session = await openSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const heap = await readMetric(session, "JSHeapUsedSize");
  const events = await page.locator("#content ol > li").count();
  await page.mouse.move(640, 500);
  const before = await readMetric(session, "TaskDuration");
  await page.evaluate(COUNT_FRAMES);
  const until = performance.now() + SCROLL_MS;
  while (performance.now() < until) await page.mouse.wheel(0, SCROLL_STEP);
  const [perSecond = 0, longest = 0] = await page.evaluate<number[]>(READ_FRAMES);
  const frames = await page.evaluate<number>("window.bench.frames");
  const busyMs = ((await readMetric(session, "TaskDuration")) - before) * 1000;
  await page.context().close();
  await server.close();
  return {
    "activity after an hour, JavaScript heap (MB)": Math.round(heap / 1e6),
    "events shown there": events,
    "activity while scrolled (frames a second)": Math.round(perSecond),
    "longest frame there (ms)": Math.round(longest),
    "processor time of a frame there (ms)": Number((busyMs / Math.max(1, frames)).toFixed(1)),
  };
}

/** A simulated server of its own that is watched, as servers usually are, behind a Gatehouse of its own. */
async function openWatched(options: SimulatorOptions) {
  const own = mkdtempSync(join(tmpdir(), "gatehouse-bench-"));
  const keys = STILL_VIEWS.map(() => mintToken(randomBytes));
  const filled = await openSqlite(own);
  await fillKeys(filled, await fillServers(filled, 1), keys);
  await filled.close();
  const game = await startSimulator({ players: 40, maxPlayers: 60, readLimit: 0, ...options });
  const env = { ...settingsOf(own, game.url), GATEHOUSE_WATCH: "on", GATEHOUSE_WATCH_INTERVAL_MS: "1000" };
  const program = await startProgram({ command: GATEHOUSE, core: undefined, env });
  await Bun.sleep(SETTLE_MS);
  return {
    url: program.urls[0] ?? "",
    tokens: keys,
    async close() {
      await program.stop();
      await game.stop();
      rmSync(own, { recursive: true, force: true });
    },
  };
}

function openSession(page: Page): Promise<CDPSession> {
  return page.context().newCDPSession(page);
}

/** Durations in seconds of processor time of the page's main thread, so that other processes do not count. */
async function readMetric(session: CDPSession, wanted: string): Promise<number> {
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === wanted)?.value ?? 0;
}

async function openPage(chrome: Browser, key: string | undefined): Promise<Page> {
  const context = await chrome.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript(RECORD_HEADING);
  if (key !== undefined) {
    await context.addInitScript(`sessionStorage.setItem("${STORAGE_KEY}", ${JSON.stringify(key)})`);
  }
  return context.newPage();
}
