// What the browser tests share: one Chromium and one Gatehouse for the whole run, with game servers that never change. A test
// fails when its page logs an error, violates the content security policy or sends a request to another host.
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Disposable, type Locator, type Page } from "playwright-core";
import type { GameServer } from "../../src/core/game-server.ts";
import type { KeyIdentity, KeyRights } from "../../src/core/keys/api-key.ts";
import { atEnd } from "../at-end.ts";
import { buildOutdatedDashboard } from "../built-dashboard.ts";
import { type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { IS_LONG } from "../long.ts";
import { FakeClock, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { until } from "../until.ts";
import { BUSY_SERVER, EMPTY_SERVER, SMALL_SERVER, writeGameJson } from "./game-server-fixture.ts";

const ROOT = join(import.meta.dir, "../..");
/** Set by scripts/test.ts, which deletes the temporary folder of the tests. */
const SCREENSHOTS = process.env.GATEHOUSE_TEST_SCREENSHOTS ?? join(tmpdir(), "gatehouse-browser");
const TEST_MS = 180_000;
/** The deadline of one step, which only a failure reaches. */
const STEP_MS = 60_000;
const STORAGE_KEY = "gatehouse.key";
/** Each look into a page costs it some milliseconds. */
const POLL_EVERY_MS = 50;

export type Language = "en" | "ru";
export type Size = "desktop" | "phone";
export type Scheme = "light" | "dark";
export const LANGUAGES: readonly Language[] = ["en", "ru"];
export const SIZES: readonly Size[] = ["desktop", "phone"];
const VIEWPORTS = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;

/**
 * Whether a combination of language, size and scheme is tested: Russian on a dark phone, because the journeys are mostly in
 * English on a light desktop. A long run tests every combination.
 */
export function isTestedVariant(language: Language, size: Size, scheme?: "light" | "dark"): boolean {
  return IS_LONG || (language === "ru" && size === "phone" && scheme !== "light");
}

/** The languages of journeys that depend on the language only in their texts. */
export const JOURNEY_LANGUAGES: readonly Language[] = IS_LONG ? LANGUAGES : ["en"];

/** Runs in the page: what waits for some seconds, such as the next poll, waits for a fifth of that. Deadlines stay. */
export const HURRIED = `for (const name of ["setTimeout", "setInterval"]) {
  const set = window[name].bind(window);
  window[name] = (run, ms, ...more) => set(run, ms >= 4000 && ms < 15000 ? ms / 5 : ms, ...more);
}`;

export type PageOptions = {
  readonly language?: Language;
  /** The browser's locale; that of the language by default. */
  readonly locale?: string;
  readonly size?: Size;
  readonly scheme?: Scheme;
  /** The first view. */
  readonly view?: string;
  /** Saved in the tab, as if the user had signed in, so that no form is shown. */
  readonly key?: string;
  /** The site that all tests share by default. */
  readonly site?: Site;
  /** Error statuses that the test expects, so that Chromium may log them on its console. */
  readonly expectedStatuses?: readonly number[];
  /** Whether the test breaks connections, so that Chromium may log that on its console. */
  readonly expectsOutage?: boolean;
  /** Where the page is, for a test that puts a proxy in front of the site; the site's own address by default. */
  readonly url?: string;
  /** Runs in the page before its own code. */
  readonly prelude?: string;
};

/** The game servers of every site; a test that needs another one adds it. */
export type ServerName = "busy" | "small" | "empty" | "offline" | (string & {});

type GameAnswer = () => Response | Promise<Response>;

/** A Gatehouse with the dashboard, and the fake game API behind it. */
export class Site {
  readonly gatehouse: TestGatehouse;
  readonly game: FakeGameApi;
  /** The game API answers no command before this resolves. */
  commandsHeld: Promise<void> | undefined;
  readonly #answers: Map<string, GameAnswer>;
  readonly #servers = new Map<string, GameServer>();

  /** `answers` has the answer of the game API for each server key. */
  constructor(gatehouse: TestGatehouse, game: FakeGameApi, answers: Map<string, GameAnswer>) {
    this.gatehouse = gatehouse;
    this.game = game;
    this.#answers = answers;
  }

  get url(): string {
    return this.gatehouse.url;
  }

  get masterKey(): string {
    return this.gatehouse.masterKey;
  }

  getServer(name: ServerName): GameServer {
    const server = this.#servers.get(name);
    if (!server) throw new Error(`there is no server ${name}`);
    return server;
  }

  async addServer(name: string, answer: GameAnswer): Promise<GameServer> {
    const serverKey = `browser-${name.replaceAll(/[^A-Za-z0-9]/g, "")}`;
    this.#answers.set(serverKey, answer);
    const server = await this.gatehouse.addServer({ name, serverKey });
    this.#servers.set(name, server);
    return server;
  }

  /** Creates a key with all rights, or those given. Each page should have its own key, because each key has its own limit. */
  async mintKey(server: ServerName = "busy", rights: Partial<KeyRights> = {}): Promise<string> {
    return (await this.gatehouse.addKey(this.getServer(server), { commands: ["*"], ...rights })).token;
  }
}

/** The real time, because a page in a real browser cannot use a fake clock. */
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

/** Starts a separate site, for a test that fills the operator's lists or needs other settings. */
export async function startSite(env: Readonly<Record<string, string>> = {}): Promise<Site> {
  await buildOutdatedDashboard();
  const answers = new Map<string, GameAnswer>();
  let started: Site | undefined;
  const game = startFakeGameApi(async (request) => {
    if (request.method === "POST") {
      await started?.commandsHeld;
      return Response.json({ message: "Success" });
    }
    const answer = answers.get(request.headers.get("server-key") ?? "");
    return answer?.() ?? Response.json({ code: 2002, message: "invalid key" }, { status: 403 });
  });
  atEnd(() => game.stop());
  const gatehouse = await startGatehouse({
    clock: new WallClock(),
    env: {
      GATEHOUSE_UPSTREAM_URL: game.url,
      // Without an archive the activity view would be refused, and browsers log every refusal as an error.
      GATEHOUSE_ARCHIVE: "sqlite",
      GATEHOUSE_COMMAND_INTERVAL_MS: "2000",
      GATEHOUSE_UPSTREAM_TIMEOUT_MS: "15000",
      // The receivers of webhooks are on this machine.
      GATEHOUSE_WEBHOOKS_PRIVATE: "allow",
      GATEHOUSE_UNKNOWN_FIELDS: "pass",
      GATEHOUSE_LOG_LEVEL: "error",
      ...env,
    },
  });
  atEnd(() => gatehouse.stop());
  started = new Site(gatehouse, game, answers);
  // The threads of the archive have started before a page asks it: on a busy machine that takes longer than it may.
  const isAnswering = async () => (await gatehouse.admin("GET", "/admin/servers?day=true")).ok;
  await until("the archive does not answer", isAnswering);
  const json = { headers: { "Content-Type": "application/json" } };
  await started.addServer("busy", () => new Response(writeGameJson(BUSY_SERVER), json));
  await started.addServer("small", () => new Response(writeGameJson(SMALL_SERVER), json));
  await started.addServer("empty", () => new Response(writeGameJson(EMPTY_SERVER), json));
  await started.addServer("offline", () =>
    Response.json({ code: 3002, message: "server is offline" }, { status: 422 }),
  );
  return started;
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
      // Without a spare process for each page, which only a page of another site would use.
      "--disable-site-isolation-trials",
      // Neither the page nor the browser itself can reach another host.
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ],
  });
  atEnd(() => launched.close());
  return launched;
}

type OpenedPage = {
  readonly page: Page;
  readonly problems: string[];
  readonly size: Size;
  readonly kind: string;
  /** The address of the site, without a path. */
  readonly url: string;
  /** What runs in the page before its own code. */
  readonly preludes: readonly Disposable[];
};
/** The pages of the running test. */
let openedPages: OpenedPage[] = [];

/**
 * Pages of tests that have passed, to be used again: a new page costs twice as much processor time as a page that is emptied.
 * The oldest comes first.
 */
const emptiedPages: { readonly page: Page; readonly kind: string }[] = [];
const EMPTIED_PAGES_MAX = 3;

/** Opens a page in its own browser context: at the sign-in form or, with a key, at a view. */
export async function openPage(options: PageOptions = {}): Promise<Page> {
  const { language = "en", size = "desktop", scheme = "light", view, key, expectedStatuses = [] } = options;
  const site = options.site ?? (await getSite());
  const url = options.url ?? site.url;
  const locale = options.locale ?? (language === "ru" ? "ru-RU" : "en-US");
  const kind = `${size} ${locale}`;
  const page = takeEmptiedPage(kind) ?? (await makePage(size, locale));
  const context = page.context();
  const problems: string[] = [];
  context.on("request", (request) => {
    const requested = request.url();
    if (!requested.startsWith(`${url}/`) && !/^(?:data|blob):/.test(requested))
      problems.push(`request to another host: ${requested}`);
  });
  page.on("console", (message) => {
    const text = message.text();
    // The drawer asks for the record of everybody, also of those who have just come.
    const isUnknownPlayer = text.includes("a status of 404") && /\/players\/\d+$/.test(message.location().url);
    const isExpected =
      isUnknownPlayer ||
      (options.expectsOutage && text.includes("net::ERR_")) ||
      expectedStatuses.some((status) => text.includes(`responded with a status of ${status}`));
    if (message.type() === "error" && !isExpected) problems.push(`console: ${text} (${message.location().url})`);
  });
  page.on("pageerror", (error) => problems.push(`error in the page: ${error.message}`));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const preludes: Disposable[] = [];
  openedPages.push({ page, problems, size, kind, url, preludes });
  if (options.prelude !== undefined) preludes.push(await context.addInitScript(options.prelude));
  if (key !== undefined) {
    const save = `sessionStorage.setItem(${JSON.stringify(STORAGE_KEY)}, ${JSON.stringify(key)})`;
    // Only once, so that the user stays signed out after signing out.
    const placeKey = `if (!sessionStorage.getItem("placed")) {
      try { ${save}; sessionStorage.setItem("placed", "1"); } catch {}
    }`;
    preludes.push(await context.addInitScript(placeKey));
  }
  await page.emulateMedia({ colorScheme: scheme });
  await page.goto(view === undefined ? `${url}/` : `${url}/#/${view}`);
  if (key !== undefined) await page.locator("#content").waitFor();
  return page;
}

function takeEmptiedPage(kind: string): Page | undefined {
  const index = emptiedPages.findLastIndex((emptied) => emptied.kind === kind);
  return index < 0 ? undefined : emptiedPages.splice(index, 1)[0]?.page;
}

async function makePage(size: Size, locale: string): Promise<Page> {
  const isPhone = size === "phone";
  const context = await (await getBrowser()).newContext({
    viewport: VIEWPORTS[size],
    isMobile: isPhone,
    hasTouch: isPhone,
    locale,
    timezoneId: "America/New_York",
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(STEP_MS);
  await context.addInitScript(`addEventListener("securitypolicyviolation", (event) =>
    console.error("content security policy violated: " + event.violatedDirective + " " + event.blockedURI));`);
  return context.newPage();
}

/**
 * Removes everything that a test has left in the page, its storage and its cookies. Tests add scripts to a page only by its
 * `prelude`, which is removed. Returns false for a page that cannot be used again, because its clock was replaced.
 */
async function emptyPage({ page, size, url, preludes }: OpenedPage): Promise<boolean> {
  const context = page.context();
  for (const other of context.pages()) if (other !== page) await other.close();
  for (const event of ["request", "requestfailed", "requestfinished", "response", "console", "pageerror", "dialog"]) {
    context.removeAllListeners(event);
    page.removeAllListeners(event);
  }
  await page.unrouteAll({ behavior: "ignoreErrors" });
  for (const prelude of preludes) await prelude.dispose();
  // An empty page of the same site: only there the storage can be cleared, and none of its code can write to it again.
  await page.goto(`${url}/healthz`);
  const isClockOwn = await page.evaluate<boolean>(
    "localStorage.clear(), sessionStorage.clear(), Function.prototype.toString.call(Date).includes('[native code]')",
  );
  await context.clearCookies();
  await page.mouse.move(0, 0);
  const { width, height } = VIEWPORTS[size];
  const shown = page.viewportSize();
  if (shown?.width !== width || shown.height !== height) await page.setViewportSize({ width, height });
  return isClockOwn;
}

/** Opens a view with a new key of the server. Returns when the view shows its heading and has loaded its data. */
export async function openView(
  view: string,
  options: PageOptions & { readonly server?: ServerName } = {},
): Promise<Page> {
  const key = options.key ?? (await (await getSite()).mintKey(options.server));
  const page = await openPage({ ...options, view, key });
  await page.locator("#content h1").waitFor();
  await waitUntilLoaded(page);
  return page;
}

/** Several parts of a view or of a dialog may load at the same time. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  const loaders = page.locator("#content .mantine-Loader-root, [role=dialog] .mantine-Loader-root");
  await loaders.first().waitFor({ state: "detached" });
}

/** Opens every view of the navigation in its order, and calls `check` when the view has loaded. */
export async function visitViews(page: Page, check: (view: string) => Promise<void>): Promise<readonly string[]> {
  const links = page.locator("nav a");
  const all = await links.evaluateAll((found) => found.map((link) => link.getAttribute("href")?.slice(2) ?? ""));
  const views = [...new Set(all)];
  for (const view of views) {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/${view}`)}`);
    await page.locator(`nav a[href="#/${view}"][aria-current=page]`).waitFor({ state: "attached" });
    await page.locator("#content h1").waitFor();
    await waitUntilLoaded(page);
    await check(view);
  }
  return views;
}

/** Fills in the sign-in form. Returns when the page shows the frame or an error. */
export async function signIn(page: Page, key: string) {
  await page.locator("form input").first().fill(key);
  await page.locator("form button[type=submit]").click();
  await page.locator("#content, main [role=alert]").first().waitFor();
}

export type NewPersonFields = {
  readonly name: string;
  readonly is_operator?: boolean;
  /** The role on each server, by name of the server. */
  readonly roles?: Readonly<Record<string, string>>;
};

/** Adds a person and makes an invitation. Returns the id, and the view that the invitation opens. */
export async function invitePerson(site: Site, { roles = {}, ...fields }: NewPersonFields) {
  const servers = Object.entries(roles).map(([name, role]) => ({ server_id: site.getServer(name).serverId, role }));
  const added = await site.gatehouse.admin("POST", "/admin/people", { ...fields, servers });
  expect(added.status).toBe(201);
  const { person_id: personId } = (await added.json()) as { person_id: string };
  const made = await site.gatehouse.admin("POST", `/admin/people/${personId}/invitations`);
  const { url } = (await made.json()) as { url: string };
  return { personId, view: url.slice(url.indexOf("#/") + 2) };
}

/** Opens a page that an invited person is signed in with, at their first view. */
export async function openPerson(fields: NewPersonFields, options: PageOptions = {}) {
  const site = options.site ?? (await getSite());
  const { personId, view } = await invitePerson(site, fields);
  const page = await openPage({ ...options, view });
  await page.locator("main button:not([aria-label])").first().click();
  await page.locator("#content h1").waitFor();
  return { page, personId };
}

type AxeRule = {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
};

const axeSource = readFileSync(join(ROOT, "node_modules/axe-core/axe.min.js"), "utf8");

/** Selectors of the rows that axe leaves out: it is slow, and the rows of a list are alike. A long run checks all rows. */
const UNCHECKED_ROWS = IS_LONG ? [] : ["#content :is(tr, li):nth-child(n + 6)"];

/** The tags of the rules that follow a standard. */
const AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
/** The other rules whose violations are serious or critical. The rest would only take time. */
const OTHER_RULES =
  "accesskeys aria-dialog-name aria-text aria-treeitem-name frame-tested label-title-only tabindex".split(" ");
const AXE_OPTIONS = {
  resultTypes: ["violations"],
  preload: false,
  runOnly: AXE_TAGS,
  rules: Object.fromEntries(OTHER_RULES.map((id) => [id, { enabled: true }])),
};

/** Expects no serious and no critical violation from axe. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axeSource);
  // While a dialog is open, the rest of the page is inert and hidden from assistive technology.
  const { violations } = await page.evaluate<{ violations: readonly AxeRule[] }>(
    `axe.run(
      { include: [document.querySelector("[role=dialog]") ?? document], exclude: ${JSON.stringify(UNCHECKED_ROWS)} },
      ${JSON.stringify(AXE_OPTIONS)},
    )`,
  );
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  expect(
    serious.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.slice(0, 3).map(describeNode).join("\n")}`),
  ).toEqual([]);
}

function describeNode({ html, failureSummary }: AxeRule["nodes"][number]): string {
  return `${html.slice(0, 300)}\n${failureSummary.slice(0, 400)}`;
}

/** The page itself must not scroll sideways; wide content scrolls inside its own frame. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const [width, shown] = await page.evaluate<[number, number]>(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  );
  expect(width).toBeLessThanOrEqual(shown ?? 0);
}

/** Waits for this number of elements. (`waitForFunction` needs `eval`, which the page's policy forbids.) */
export async function expectCount(locator: Locator, count: number): Promise<void> {
  const deadline = Date.now() + STEP_MS;
  while ((await locator.count()) !== count && Date.now() < deadline) await Bun.sleep(POLL_EVERY_MS);
  expect(await locator.count()).toBe(count);
}

/** Waits for this title of the page. */
export async function expectTitle(page: Page, title: string): Promise<void> {
  const deadline = Date.now() + STEP_MS;
  while ((await page.title()) !== title && Date.now() < deadline) await Bun.sleep(POLL_EVERY_MS);
  expect(await page.title()).toBe(title);
}

/** Blocks a key for spam by counting far too many requests for it. */
export async function blockKey(site: Site, key: KeyIdentity): Promise<void> {
  for (let count = 0; count < 520; count++) await site.gatehouse.app.store.limits.judge(key, Date.now(), true);
}

export async function takeScreenshot(page: Page, name: string): Promise<string> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const path = join(SCREENSHOTS, `${name.replaceAll(/[^a-z0-9]+/gi, "-").slice(0, 100)}.png`);
  await page.screenshot({ path });
  return path;
}

/** Keeps the page for another test, or closes it when it cannot be emptied, such as when its site has stopped. */
async function keepPage(opened: OpenedPage): Promise<void> {
  const isEmptied = await emptyPage(opened).catch(() => false);
  if (!isEmptied) return closePage(opened.page);
  emptiedPages.push({ page: opened.page, kind: opened.kind });
  if (emptiedPages.length > EMPTIED_PAGES_MAX) await emptiedPages.shift()?.page.context().close();
}

/** A request that the test is answering when it ends is no failure. */
async function closePage(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.context().close();
}

/** A test whose pages must have no problems. Takes a screenshot of each page and closes it when the test fails. */
export function browserTest(title: string, run: () => Promise<void>): void {
  test(
    title,
    async () => {
      openedPages = [];
      try {
        await run();
        expect(openedPages.flatMap(({ problems }) => problems)).toEqual([]);
      } catch (error) {
        for (const [index, { page, problems }] of openedPages.entries()) {
          const path = await takeScreenshot(page, `${title} ${index}`).catch((failure) => String(failure));
          console.error([`screenshot of "${title}": ${path}`, ...problems].join("\n  "));
        }
        await Promise.all(openedPages.map(({ page }) => closePage(page)));
        throw error;
      }
      await Promise.all(openedPages.map(keepPage));
    },
    TEST_MS,
  );
}

/** Opens the menu under the user's name, which a phone has behind "More". */
export async function openNameMenu(page: Page): Promise<Locator> {
  const button = page.getByRole("button", { name: /^(?:Menu of |Меню: )/ });
  if (!(await button.isVisible())) await page.locator(".phone-bar button").click();
  await button.click();
  const menu = page.locator(".mantine-Popover-dropdown");
  await menu.waitFor();
  return menu;
}

export async function signOut(page: Page): Promise<void> {
  await (await openNameMenu(page)).getByRole("button", { name: /^(?:Sign out|Выйти)$/ }).click();
}

/** The word of the pill in the header while the data is fresh. */
export function freshMark(page: Page): Locator {
  return page.getByRole("region", { name: "Freshness of the data" }).getByText(/^(?:Up to date|live)$/);
}
