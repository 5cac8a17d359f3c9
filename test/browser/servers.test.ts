// Several servers: an operator's overview and switcher, and a person with several keys.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import type { PageOf } from "../../src/core/wire/page.ts";
import type { ServerResource } from "../../src/core/wire/server.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  getSite,
  openPage,
  openView,
} from "./browser.ts";

const STORAGE_KEY = "gatehouse.key";

const switcherOf = (page: Page) => page.locator("header .server-switcher");
const listSaved = (page: Page) => page.evaluate<string>(`sessionStorage.getItem("${STORAGE_KEY}")`);

/** The names of the overview from top to bottom. */
const listNames = (page: Page) => page.locator("#content [data-standing]").locator("a, .fleet-open").allInnerTexts();

browserTest("an operator sees all servers, worst first, and switches between them by keyboard", async () => {
  const site = await getSite();
  await site.addServer("A refused one", () =>
    Response.json({ code: 2002, message: "that key is wrong" }, { status: 403 }),
  );
  for (const name of ["busy", "small", "offline", "A refused one"]) {
    const { serverId } = site.getServer(name);
    await (await site.gatehouse.admin("GET", `/admin/servers/${serverId}/info`)).arrayBuffer();
  }
  const page = await openView("overview", { key: site.masterKey });
  const names = await listNames(page);
  const placeOf = (name: string) => names.indexOf(name);
  expect(placeOf("A refused one")).toBe(0);
  expect(placeOf("offline")).toBeLessThan(placeOf("busy"));
  const busy = page.getByRole("row").filter({ has: page.getByRole("link", { name: "busy", exact: true }) });
  expect((await busy.innerText()).replaceAll(/\s+/g, " ")).toMatch(/^busy Calls waiting 40 of 60 3 4 6 \d+ s ago$/);
  await page.route(/day=true/, async (route) => {
    const { items } = (await (await route.fetch()).json()) as PageOf<ServerResource>;
    await route.fulfill({ json: { items: items.map((server) => ({ ...server, day: [null, 5, 12, 7] })), next: null } });
  });
  await page.reload();
  await busy.getByRole("img", { name: "Players of the last 24 hours, at most 12" }).waitFor();
  await page.getByText(/^\d+ servers · 1 cannot be read · \d+ of \d+ players/).waitFor();
  await expectAccessible(page);

  await switcherOf(page).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("link", { name: /^small/ }).focus();
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  const { serverId } = site.getServer("small");
  await page.locator(`nav a[href="#/servers/${serverId}/live"][aria-current=page]`).waitFor();
  await dialog.waitFor({ state: "detached" });
  expect(await page.evaluate<string>("document.activeElement.id")).toBe("content");
  // The operator's look at a server is live too.
  await page.getByText("live", { exact: true }).waitFor();

  // The same view of the next server.
  await page.evaluate(`location.hash = "#/servers/${serverId}/players"`);
  await page.getByRole("heading", { name: "Players", level: 1 }).waitFor();
  await switcherOf(page).click();
  await dialog.getByRole("link", { name: /^busy/ }).click();
  const other = site.getServer("busy").serverId;
  await page.locator(`nav a[href="#/servers/${other}/players"][aria-current=page]`).waitFor();
});

browserTest(
  "the overview sums what is current, dims what is from before, and says since when and how the day was",
  async () => {
    const site = await getSite();
    const page = await openPage({ key: site.masterKey, view: "health" });
    const readAt = Date.now() - 3_600_000;
    const counts = { players: 30, max_players: 60, queue: 2, open_modcalls: 0, open_calls: 1 };
    const error = { at: readAt, code: 5019, message: "", upstream_code: 1001, upstream_message: "no contact" };
    await page.route("**/admin/servers?*", async (route) => {
      const answer = await route.fetch();
      const list = (await answer.json()) as { readonly items: readonly ServerResource[] };
      const items = list.items
        .filter(({ name }) => name === "busy" || name === "small")
        .map((server) => ({ ...server, ...counts, state: "online", last_read_at: Date.now(), day: [1, null, 20, 30] }))
        .map((server) => ({ ...server, watching: { ...server.watching, state: "watching", reason: null } }))
        .map((server) =>
          server.name === "busy"
            ? { ...server, state: "unreachable", last_read_at: readAt, last_error: error }
            : { ...server, last_error: null },
        );
      await route.fulfill({ response: answer, json: { ...list, items } });
    });
    await page.evaluate(`location.hash = "#/overview"`);
    await page
      .getByText("2 servers · 1 cannot be read · 30 of 60 players · 2 in the queue · emergencies: 1", { exact: true })
      .waitFor();
    await page
      .locator("[data-standing=unreachable]")
      .getByText(/no contact .*\(since .*\d.*\)$/)
      .waitFor();
    await page.locator("[data-standing=fine]").getByRole("img", { name: /30/ }).waitFor();
    const colourOf = (standing: string) =>
      page.evaluate<string>(
        `getComputedStyle(document.querySelector("[data-standing=${standing}] .fleet-number")).color`,
      );
    expect(await colourOf("unreachable")).not.toBe(await colourOf("fine"));
    await expectAccessible(page);
    await page.unrouteAll({ behavior: "wait" });
  },
);

browserTest("a person with several keys switches on a phone, and signs out of one server only", async () => {
  const site = await getSite();
  const [first, second] = [await site.mintKey("busy"), await site.mintKey("small")];
  const page = await openView("players", { key: first, size: "phone", language: "ru", scheme: "dark" });
  await page.setViewportSize({ width: 320, height: 700 });
  await switcherOf(page).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Добавить ещё один ключ" }).click();
  await dialog.getByLabel("Ключ API другого сервера").fill(second);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Добавить", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByTestId("count").filter({ hasText: "8 " }).waitFor();
  // The shown one comes first, so that a reload shows the same server.
  expect(await listSaved(page)).toBe(`${second}\n${first}`);

  await page.evaluate(`location.hash = "#/overview"`);
  await page.getByRole("heading", { name: "Обзор", level: 1 }).waitFor();
  await page.locator("[data-standing=calls]").nth(1).waitFor();
  expect(await listNames(page)).toEqual(["busy", "small"]);
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);

  await page.reload();
  await page.locator("[data-standing=calls]").nth(1).waitFor();
  await switcherOf(page).click();
  await dialog.getByRole("button", { name: "Выйти: small" }).click();
  // It was shown, so the other one is shown now. With one server there is no overview.
  await page.getByRole("heading", { name: "Сейчас", level: 1 }).waitFor();
  await expectCount(page.locator('nav a[href="#/overview"]'), 0);
  expect(await listSaved(page)).toBe(first);
});

browserTest("a key that is revoked meanwhile says so on the overview, and can be removed", async () => {
  const site = await getSite();
  const { token, keyId } = await site.gatehouse.addKey(site.getServer("small"));
  const other = await site.mintKey("busy");
  const page = await openPage({ key: `${token}\n${other}`, view: "live", expectedStatuses: [401] });
  await page.locator("#content .live-facts").first().waitFor();
  await (await site.gatehouse.admin("DELETE", `/admin/keys/${keyId}`)).arrayBuffer();
  const refused = page.locator("[data-standing=refused]");
  await refused.getByText("(5008)").waitFor();
  expect(await listNames(page)).toEqual(["busy"]);
  await refused.getByRole("button", { name: "Remove the key: small" }).click();
  await refused.waitFor({ state: "detached" });
  expect(await listSaved(page)).toBe(other);
});
