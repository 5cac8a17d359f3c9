// The operator's view of the servers: how each of them is doing, and a look into one without a key of it.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { WATCH_REASONS } from "../../src/core/readings/watch-reasons.ts";
import type { ServerResource, WatchingResource } from "../../src/core/wire/server.ts";
import { IS_LONG } from "../long.ts";
import { until } from "../until.ts";
import {
  browserTest,
  expectAccessible,
  expectNoSidewaysScroll,
  getSite,
  HURRIED,
  isTestedVariant,
  JOURNEY_LANGUAGES,
  LANGUAGES,
  openPage,
  SIZES,
  visitViews,
} from "./browser.ts";

const rowOf = (page: Page, name: string) =>
  page.locator("#content :is(tbody tr, li)", { has: page.getByRole("link", { name, exact: false }) });

/** Every column is shown. */
const ALL_COLUMNS = `localStorage.setItem("gatehouse.columns", '{"operator-servers":[]}');`;

async function openServers(options: Parameters<typeof openPage>[0] = {}): Promise<Page> {
  const { masterKey } = await getSite();
  const page = await openPage({ view: "servers", ...options, key: masterKey });
  await page.locator("#content h1").waitFor();
  return page;
}

/** Reads the server once, so that Gatehouse knows its state. */
async function readOnce(serverId: string): Promise<void> {
  const { gatehouse } = await getSite();
  await (await gatehouse.admin("GET", `/admin/servers/${serverId}/info`)).arrayBuffer();
}

browserTest("the list says which server is broken, and why", async () => {
  const site = await getSite();
  const refused = await site.addServer("Refused town", () =>
    Response.json({ code: 2002, message: "that key is wrong" }, { status: 403 }),
  );
  const broken = await site.addServer("Broken town", () =>
    Response.json({ code: 1001, message: "no contact with the game" }, { status: 500 }),
  );
  await site.addServer("Quiet town", () => new Response("never asked"));
  await site.gatehouse.addServer({ name: "Pretend town", serverKey: "demo-Pretend", isSimulated: true });
  const servers = [refused, broken, site.getServer("small"), site.getServer("offline")];
  for (const { serverId } of servers) await readOnce(serverId);

  const page = await openServers();
  await rowOf(page, "Refused town").getByText("Key refused", { exact: true }).waitFor();
  await rowOf(page, "Refused town").getByText("that key is wrong").waitFor();
  await rowOf(page, "Broken town").getByText("Unreachable", { exact: true }).waitFor();
  await rowOf(page, "Broken town").getByText("no contact with the game").waitFor();
  await rowOf(page, "Quiet town").getByText("Not asked yet", { exact: true }).waitFor();
  await rowOf(page, "Pretend town").getByText("Parked", { exact: true }).waitFor();
  await rowOf(page, "Pretend town")
    .getByText(/^Simulated\./)
    .waitFor();
  await rowOf(page, "offline").getByText("Offline", { exact: true }).waitFor();
  const small = rowOf(page, "Open small");
  await small.getByText("Online", { exact: true }).waitFor();
  await small.getByRole("cell", { name: /^8$/ }).waitFor();
  await small.getByText(/^now$| ago$/).waitFor();

  await expectAccessible(page);
  await expectNoSidewaysScroll(page);

  // The notices name the servers too, not only their number.
  await page.evaluate(`location.hash = "#/health"`);
  const notices = page.locator("[data-callers]").getByRole("listitem");
  await notices.filter({ hasText: "Refused town" }).waitFor();
  await notices.filter({ hasText: "Pretend town" }).waitFor();
});

const SWITCH_WORDS = {
  en: {
    edit: "Edit busy",
    watch: "Watch this server",
    slug: "Public status",
    save: "Save",
    saved: "busy is saved.",
  },
  ru: {
    edit: "Изменить: busy",
    watch: "Наблюдать за этим сервером",
    slug: "Открытая страница состояния",
    save: "Сохранить",
    saved: "busy сохранён.",
  },
};

for (const language of JOURNEY_LANGUAGES) {
  browserTest(
    `an operator stops watching a server in its form and makes its status public, and back again, in ${language}`,
    async () => {
      const words = SWITCH_WORDS[language];
      const site = await getSite();
      const { serverId } = site.getServer("busy");
      const page = await openServers({ language, prelude: ALL_COLUMNS });
      for (const isWatched of [false, true]) {
        await page.getByRole("button", { name: words.edit }).click();
        await page.getByRole("checkbox", { name: words.watch }).setChecked(isWatched);
        await page.getByRole("textbox", { name: words.slug }).fill(isWatched ? "" : "busy-town");
        // Once: later the message of the first change comes and goes beside the form.
        if (!isWatched) await expectAccessible(page);
        await page.getByRole("button", { name: words.save }).click();
        await page.getByText(words.saved).first().waitFor();
        // The message may be that of the change before.
        const { servers } = site.gatehouse.app.store;
        await until("the form is not saved", () => servers.find(serverId)?.isWatched === isWatched);
        const publicStatus = isWatched ? null : { slug: "busy-town", showsJoinKey: false };
        expect(servers.find(serverId)).toMatchObject({ isWatched, publicStatus });
        const link = page.getByRole("link", { name: "/status/busy-town" });
        await link.waitFor({ state: isWatched ? "detached" : "attached" });
        await page.getByRole("dialog").waitFor({ state: "detached" });
      }
    },
  );
}

/** The answer of the admin API, with another watching of the busy server. */
async function playWatching(page: Page, watching: Partial<WatchingResource>): Promise<void> {
  await page.route("**/admin/servers?*", async (route) => {
    const answer = await route.fetch();
    const list = (await answer.json()) as { readonly items: readonly ServerResource[] };
    const items = list.items.map((server) =>
      server.name === "busy" ? { ...server, watching: { ...server.watching, ...watching } } : server,
    );
    await route.fulfill({ response: answer, json: { ...list, items } });
  });
}

for (const language of JOURNEY_LANGUAGES) {
  browserTest(`the list says why a server is not watched, in ${language}`, async () => {
    const words =
      language === "ru"
        ? {
            pause: "Наблюдение ждёт: игровой API на время ограничил наши запросы.",
            off: "Ни за одним сервером наблюдения нет: GATEHOUSE_WATCH выключен.",
          }
        : {
            pause: "Watching waits: the game API has limited our requests for the moment.",
            off: "No server is watched: GATEHOUSE_WATCH is off.",
          };
    const site = await getSite();
    await readOnce(site.getServer("busy").serverId);
    const page = await openServers({ language, prelude: HURRIED });
    const busy = rowOf(page, language === "ru" ? "Открыть: busy" : "Open busy");
    // The tests run without watching, and Gatehouse itself says so.
    await busy.getByText(words.off).waitFor();
    await expectAccessible(page);

    await playWatching(page, { state: "paused", interval_ms: 5000, reason: WATCH_REASONS.pause });
    await busy.getByText(words.pause).waitFor();
    await page.unrouteAll({ behavior: "wait" });

    await playWatching(page, { state: "watching", interval_ms: 7000, reason: null });
    await busy.getByText(words.pause).waitFor({ state: "detached" });
    await expectNoSidewaysScroll(page);
    await page.unrouteAll({ behavior: "wait" });
  });
}

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    // These are the caller's views, which other tests check on a desktop.
    if (!isTestedVariant(language, size) || (size === "desktop" && !IS_LONG)) continue;
    browserTest(`an operator looks into a server without a key of it, in ${language} on a ${size}`, async () => {
      const site = await getSite();
      const { serverId } = site.getServer("small");
      const page = await openServers({ language, size });
      await page.getByRole("link", { name: language === "ru" ? "Открыть: small" : "Open small" }).click();
      await page.locator(`nav a[href="#/servers/${serverId}/live"][aria-current=page]`).waitFor({
        state: "attached",
      });
      // Keyboard users continue in the view.
      expect(await page.evaluate<string>("document.activeElement.id")).toBe("content");
      const views = await visitViews(page, async () => {
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
      });
      const inside = views.filter((view) => view.includes(serverId)).map((view) => view.split("/").at(-1) ?? "");
      expect(inside.toSorted()).toEqual([
        ...["activity", "calls", "live", "logs", "map", "players", "plots", "staff", "vehicles"],
      ]);
      if (size === "phone") await page.getByRole("button", { name: language === "ru" ? "Ещё" : "More" }).click();
      await page.locator('nav a[href="#/servers"]').click();
      await page.locator('nav a[href="#/servers"][aria-current=page]').waitFor({ state: "attached" });
    });
  }
}

browserTest("what an operator sees of one server is never shown for another", async () => {
  const site = await getSite();
  const page = await openServers({
    view: `servers/${site.getServer("busy").serverId}/live`,
    expectedStatuses: [400, 404],
  });
  await page.locator("#content .live-facts").first().waitFor();
  await page.evaluate(`location.hash = "#/servers/${site.getServer("offline").serverId}/live"`);
  await page.getByText("The game server is offline").waitFor();
  expect(await page.locator("#content .live-facts").count()).toBe(0);
  await page.evaluate(`location.hash = "#/servers/srv_gone/live"`);
  await page.getByText("This server no longer exists").waitFor();
});
