// The stage of the browser tests: one Chromium and one Gatehouse for the whole run, with game servers that never
// change. A page that logs an error, breaks the content policy or asks anybody else fails its test.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { buildDashboard, DASHBOARD_FOLDER, DASHBOARD_INPUTS } from "../../scripts/build-dashboard.ts";
import type { KeyIdentity, KeyRights } from "../../src/core/api-key.ts";
import type { GameServer } from "../../src/core/game-server.ts";
import { atEnd } from "../at-end.ts";
import { type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { FakeClock, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { EMPTY_TOWN, SMALL_TOWN, TOWN, writeTown } from "./town-fixture.ts";

const ROOT = join(import.meta.dir, "../..");
const SCREENSHOTS = join(tmpdir(), "gatehouse-browser");
const TEST_MS = 60_000;
/** Of one step: generous, because the machine may be busy with other things. */
const STEP_MS = 15_000;
const STORAGE_KEY = "gatehouse.key";

export type Language = "en" | "ru";
export type Size = "desktop" | "phone";
export type Scheme = "light" | "dark";
export const LANGUAGES: readonly Language[] = ["en", "ru"];
export const SIZES: readonly Size[] = ["desktop", "phone"];

/**
 * Each language, size and scheme is looked at once: English on a light desktop, Russian on a dark phone. With
 * GATEHOUSE_TEST_LOOKS=all every one with every other, which takes some minutes more.
 */
export function isLookedAt(language: Language, size: Size, scheme?: "light" | "dark"): boolean {
  if (process.env.GATEHOUSE_TEST_LOOKS === "all") return true;
  const isFirst = language === "en" && size === "desktop" && scheme !== "dark";
  return isFirst || (language === "ru" && size === "phone" && scheme !== "light");
}

export type PageOptions = {
  readonly language?: Language;
  /** As the browser has it, if not that of the language. */
  readonly locale?: string;
  readonly size?: Size;
  readonly scheme?: Scheme;
  /** The view to begin with. */
  readonly view?: string;
  /** Kept in the tab, as if the reader had signed in and ticked the box: skips the form. */
  readonly key?: string;
  /** Where, if not on the stage that all tests share. */
  readonly site?: Site;
  /** Answers that Chromium may complain about on its console, because the test asks for them. */
  readonly refusals?: readonly number[];
};

/** The game servers of the stage; a test that needs another adds it. */
export type TownName = "busy" | "small" | "empty" | "offline" | (string & {});

export type Site = {
  readonly url: string;
  readonly masterKey: string;
  readonly gatehouse: TestGatehouse;
  readonly game: FakeGameApi;
  /** Every key has a limit of its own, so each page should have one. All rights, unless told otherwise. */
  mintKey(town?: TownName, rights?: Partial<KeyRights>): Promise<string>;
  addTown(name: string, answer: () => Response | Promise<Response>): Promise<GameServer>;
  getServer(town: TownName): GameServer;
};

/** The machine's own time: a page in a real browser waits for it. */
class WallClock extends FakeClock {
  override now = Date.now();
  override readonly read = () => Date.now();
  override readonly sleep = (ms: number) => Bun.sleep(ms);
  override readonly pause = async (ms: number, wake: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    wake.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  };
}

let site: Promise<Site> | undefined;
let browser: Promise<Browser> | undefined;

export function getSite(): Promise<Site> {
  site ??= startSite();
  return site;
}

/** A stage of its own, for a test that fills the operator's lists. */
export async function startSite(): Promise<Site> {
  await buildIfOutdated();
  const towns = new Map<string, () => Response | Promise<Response>>();
  const servers = new Map<string, GameServer>();
  const game = startFakeGameApi((request) => {
    if (request.method === "POST") return Response.json({ message: "Success" });
    const answer = towns.get(request.headers.get("server-key") ?? "");
    return answer?.() ?? Response.json({ code: 2002, message: "invalid key" }, { status: 403 });
  });
  atEnd(() => game.stop());
  const gatehouse = await startGatehouse({
    clock: new WallClock(),
    env: {
      GATEHOUSE_UPSTREAM_URL: game.url,
      GATEHOUSE_COMMAND_INTERVAL_MS: "2000",
      GATEHOUSE_UNKNOWN_FIELDS: "pass",
      GATEHOUSE_LOG_LEVEL: "error",
    },
  });
  atEnd(() => gatehouse.stop());

  const getServer = (town: TownName): GameServer => {
    const server = servers.get(town);
    if (!server) throw new Error(`nobody has added the town ${town}`);
    return server;
  };
  const made: Site = {
    url: gatehouse.url,
    masterKey: gatehouse.masterKey,
    gatehouse,
    game,
    getServer,
    async mintKey(town = "busy", rights = {}) {
      return (await gatehouse.addKey(getServer(town), { commands: ["*"], ...rights })).token;
    },
    async addTown(name, answer) {
      const serverKey = `browser-${name.replaceAll(/[^A-Za-z0-9]/g, "")}`;
      towns.set(serverKey, answer);
      const server = await gatehouse.addServer({ name, serverKey });
      servers.set(name, server);
      return server;
    },
  };
  const json = { headers: { "Content-Type": "application/json" } };
  await made.addTown("busy", () => new Response(writeTown(TOWN), json));
  await made.addTown("small", () => new Response(writeTown(SMALL_TOWN), json));
  await made.addTown("empty", () => new Response(writeTown(EMPTY_TOWN), json));
  await made.addTown("offline", () =>
    Response.json({ code: 3002, message: "server is offline" }, { status: 422 }),
  );
  return made;
}

/** Builds the dashboard when one of its inputs is newer than the built files. */
async function buildIfOutdated(): Promise<void> {
  const manifest = join(DASHBOARD_FOLDER, "manifest.json");
  const builtAt = existsSync(manifest) ? statSync(manifest).mtimeMs : 0;
  if (DASHBOARD_INPUTS.some((path) => readLastChange(path) > builtAt)) await buildDashboard();
}

/** When a file, or anything inside a folder, was changed last. */
function readLastChange(path: string): number {
  const isFolder = statSync(path).isDirectory();
  const names = isFolder ? readdirSync(path, { recursive: true, encoding: "utf8" }) : [];
  return Math.max(...["", ...names].map((name) => statSync(join(path, name)).mtimeMs));
}

function getBrowser(): Promise<Browser> {
  browser ??= launch();
  return browser;
}

async function launch(): Promise<Browser> {
  const executablePath = Bun.which("chromium") ?? Bun.which("chromium-browser") ?? Bun.which("google-chrome");
  if (!executablePath) throw new Error("the browser tests need chromium: install it, or run npm test");
  const launched = await chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
      // Whatever the page or the browser itself wants to ask, there is nobody but this machine.
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ],
  });
  atEnd(() => launched.close());
  return launched;
}

type Visit = { readonly page: Page; readonly troubles: string[] };
let visits: Visit[] = [];

/** A page in a context of its own, at the sign-in form or, with a key, in a view. */
export async function openPage(options: PageOptions = {}): Promise<Page> {
  const { language = "en", size = "desktop", scheme = "light", view, key, refusals = [] } = options;
  const [{ url }, chrome] = await Promise.all([options.site ?? getSite(), getBrowser()]);
  const isPhone = size === "phone";
  const context = await chrome.newContext({
    viewport: isPhone ? { width: 390, height: 844 } : { width: 1280, height: 800 },
    isMobile: isPhone,
    hasTouch: isPhone,
    locale: options.locale ?? (language === "ru" ? "ru-RU" : "en-US"),
    timezoneId: "America/New_York",
    colorScheme: scheme,
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(STEP_MS);
  const troubles: string[] = [];
  context.on("request", (request) => {
    const asked = request.url();
    if (!asked.startsWith(`${url}/`) && !/^(?:data|blob):/.test(asked))
      troubles.push(`asked somebody else: ${asked}`);
  });
  await context.addInitScript(`addEventListener("securitypolicyviolation", (event) =>
    console.error("content policy broken: " + event.violatedDirective + " " + event.blockedURI));`);
  if (key !== undefined) {
    const kept = `sessionStorage.setItem(${JSON.stringify(STORAGE_KEY)}, ${JSON.stringify(key)})`;
    // Once: who signs out stays out.
    await context.addInitScript(`if (!sessionStorage.getItem("placed")) {
      try { ${kept}; sessionStorage.setItem("placed", "1"); } catch {}
    }`);
  }
  const page = await context.newPage();
  page.on("console", (message) => {
    const text = message.text();
    const isAskedFor = refusals.some((status) => text.includes(`responded with a status of ${status}`));
    if (message.type() === "error" && !isAskedFor) troubles.push(`console: ${text}`);
  });
  page.on("pageerror", (error) => troubles.push(`error in the page: ${error.message}`));
  page.on("dialog", (dialog) => {
    troubles.push(`dialogue: ${dialog.message()}`);
    void dialog.dismiss();
  });
  visits.push({ page, troubles });
  await page.goto(view === undefined ? `${url}/` : `${url}/#/${view}`);
  if (key !== undefined) await page.locator("#content").waitFor();
  return page;
}

/** A view, signed in with a new key of the town, as soon as it shows its heading and the loading is over. */
export async function openView(
  view: string,
  options: PageOptions & { readonly town?: TownName } = {},
): Promise<Page> {
  const key = options.key ?? (await (await getSite()).mintKey(options.town));
  const page = await openPage({ ...options, view, key });
  await page.locator("#content h1").waitFor();
  await page.locator("#content .mantine-Loader-root").waitFor({ state: "detached" });
  return page;
}

/** Goes through every view that the navigation offers, in its order, and looks at each once its loading is over. */
export async function walkViews(
  page: Page,
  look: (view: string) => Promise<void>,
): Promise<readonly string[]> {
  const links = page.locator("nav a");
  const views = await links.evaluateAll((all) =>
    all.map((link) => link.getAttribute("href")?.slice(2) ?? ""),
  );
  for (const view of views) {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${view}`)}`);
    await page.locator(`nav a[href="#/${view}"][aria-current=page]`).waitFor({ state: "attached" });
    await page.locator("#content h1").waitFor();
    await page.locator("#content .mantine-Loader-root").waitFor({ state: "detached" });
    await look(view);
  }
  return views;
}

/** Fills the form as a reader does. Returns when the page says something: the frame, or why not. */
export async function signIn(page: Page, key: string, options: { readonly keep?: boolean } = {}) {
  await page.locator("form input:not([type=checkbox])").first().fill(key);
  if (options.keep) await page.locator("form input[type=checkbox]").check();
  await page.locator("form button[type=submit]").click();
  await page.locator("#content, form [role=alert]").first().waitFor();
}

type AxeRule = {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
};

const axeSource = readFileSync(join(ROOT, "node_modules/axe-core/axe.min.js"), "utf8");

/** Nothing that axe calls serious or critical. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axeSource);
  const { violations } = await page.evaluate<{ violations: readonly AxeRule[] }>(
    `axe.run(document, { resultTypes: ["violations"], preload: false })`,
  );
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  expect(
    grave.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.slice(0, 3).map(describeNode).join("\n")}`),
  ).toEqual([]);
}

function describeNode({ html, failureSummary }: AxeRule["nodes"][number]): string {
  return `${html.slice(0, 300)}\n${failureSummary.slice(0, 400)}`;
}

/** The page itself never scrolls sideways: what is wider does so inside a frame of its own. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const [width, shown] = await page.evaluate<[number, number]>(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  );
  expect(width).toBeLessThanOrEqual(shown ?? 0);
}

/** Waits until there are so many. (`waitForFunction` needs `eval`, which the page forbids.) */
export async function expectCount(locator: Locator, count: number): Promise<void> {
  const giveUpAt = Date.now() + STEP_MS;
  while ((await locator.count()) !== count && Date.now() < giveUpAt) await Bun.sleep(20);
  expect(await locator.count()).toBe(count);
}

/** Blocks a key for spam, as if somebody had sent far too much with it. */
export async function blockKey(site: Site, key: KeyIdentity): Promise<void> {
  for (let asked = 0; asked < 520; asked++)
    await site.gatehouse.app.store.limits.judge(key, Date.now(), true);
}

/** What has gone wrong in the page so far, for a test that wants to know before its end. */
export function listTroubles(page: Page): readonly string[] {
  return visits.find((visit) => visit.page === page)?.troubles ?? [];
}

export async function takeScreenshot(page: Page, name: string): Promise<string> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const path = join(SCREENSHOTS, `${name.replaceAll(/[^a-z0-9]+/gi, "-").slice(0, 100)}.png`);
  await page.screenshot({ path });
  return path;
}

/** A test with pages: each must stay without trouble, is photographed when the test fails, and closed after it. */
export function browserTest(title: string, walk: () => Promise<void>): void {
  test(
    title,
    async () => {
      visits = [];
      try {
        await walk();
        expect(visits.flatMap(({ troubles }) => troubles)).toEqual([]);
      } catch (error) {
        for (const [index, { page, troubles }] of visits.entries()) {
          const path = await takeScreenshot(page, `${title} ${index}`).catch((fault) => String(fault));
          console.error([`screenshot of "${title}": ${path}`, ...troubles].join("\n  "));
        }
        throw error;
      } finally {
        await Promise.all(visits.map(({ page }) => page.context().close()));
        visits = [];
      }
    },
    TEST_MS,
  );
}
