// The keys of the page: the box that finds everything, going to a view, and the list of keys.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { parsePlayerRef } from "../../src/dashboard/player-ref.ts";
import {
  browserTest,
  expectAccessible,
  expectNoSidewaysScroll,
  getSite,
  openNameMenu,
  openView,
  waitUntilLoaded,
} from "./browser.ts";
import { SMALL_SERVER, writeGameJson } from "./game-server-fixture.ts";

const titleOf = (page: Page) => page.locator("#content h1").innerText();

async function expectView(page: Page, view: string): Promise<void> {
  await page.locator(`nav a[href="#/${view}"][aria-current=page]`).waitFor();
}

/** Presses a key of a layout that the test machine may not have. */
async function pressOn(page: Page, key: string, code: string, shiftKey = false): Promise<void> {
  const init = JSON.stringify({ key, code, shiftKey, bubbles: true, cancelable: true });
  await page.evaluate(`(document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", ${init}))`);
}

const paletteOf = (page: Page) => page.getByRole("combobox", { name: "Find players, views, calls and servers" });

browserTest("keys find, go to views and list themselves, but not while somebody types", async () => {
  const page = await openView("players", { server: "small" });
  await page.keyboard.press("/");
  const palette = paletteOf(page);
  await page.locator("input[role=combobox]:focus").waitFor();
  await page.keyboard.type("gv/?");
  expect(await palette.inputValue()).toBe("gv/?");
  expect(await titleOf(page)).toBe("Players");
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });

  await page.locator("#content").focus();
  await page.keyboard.press("Control+g");
  await page.keyboard.press("v");
  expect(await titleOf(page)).toBe("Players");
  await page.keyboard.type("gv");
  await expectView(page, "vehicles");

  await page.keyboard.press("?");
  const list = page.getByRole("dialog", { name: "Keyboard" });
  await list.getByText("find players, views, calls and servers").waitFor();
  const terms = await list.locator("dt").allInnerTexts();
  expect(terms.map((term) => term.replaceAll(/\s/g, ""))).toContain("gp");
  await expectAccessible(page);
  await page.keyboard.type("gp");
  await page.keyboard.press("Escape");
  await list.waitFor({ state: "detached" });
  await expectView(page, "vehicles");
});

browserTest("the keys can be switched off, which this browser remembers, and on again", async () => {
  const page = await openView("players", { server: "small" });
  const open = async () => (await openNameMenu(page)).getByRole("button", { name: "Keyboard" }).click();
  const dialog = page.getByRole("dialog", { name: "Keyboard" });
  const close = async () => {
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  };
  await open();
  await dialog.getByLabel("Single keys work").uncheck();
  await close();
  await page.keyboard.type("gv/?");
  await page.reload();
  await page.getByRole("table").waitFor();
  await page.keyboard.type("gv/?");
  expect(await titleOf(page)).toBe("Players");
  expect(await dialog.count()).toBe(0);
  expect(await paletteOf(page).count()).toBe(0);
  // A chord is no single key.
  await page.keyboard.press("Control+k");
  await paletteOf(page).waitFor();
  await page.keyboard.press("Escape");
  await paletteOf(page).waitFor({ state: "detached" });

  await open();
  await dialog.getByLabel("Single keys work").check();
  await close();
  await page.keyboard.type("gv");
  await expectView(page, "vehicles");
});

browserTest("the keys work on a Russian layout, for operators too", async () => {
  const { masterKey } = await getSite();
  const page = await openView("servers", { key: masterKey, language: "ru" });
  await pressOn(page, "п", "KeyG");
  await pressOn(page, "л", "KeyK");
  await expectView(page, "keys");
  await waitUntilLoaded(page);
  await pressOn(page, ".", "Slash");
  const palette = page.getByRole("combobox", { name: "Найти игрока, раздел, вызов или сервер" });
  await palette.waitFor();
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });
  await page.locator("#content").focus();
  await pressOn(page, ",", "Slash", true);
  const list = page.getByRole("dialog", { name: "Клавиши" });
  await list.getByText("Блокировки").waitFor();
  expect(await list.getByText("Игроки").count()).toBe(0);
});

browserTest("one box finds players, views and calls from any view, and Enter opens the first", async () => {
  const page = await openView("vehicles", { server: "small" });
  await page.keyboard.press("Control+k");
  const palette = paletteOf(page);
  await palette.waitFor();
  const options = page.locator(".palette [role=option]");
  // Before anything is typed: who waits, and where one can go.
  await page.getByRole("group", { name: "Waiting calls" }).getByRole("option").first().waitFor();
  await expectAccessible(page);
  await palette.fill("er");
  await page.getByRole("group", { name: "Players" }).waitFor();
  expect(await options.first().getAttribute("aria-selected")).toBe("true");
  await page.keyboard.press("ArrowDown");
  expect(await options.nth(1).getAttribute("aria-selected")).toBe("true");
  expect(await palette.getAttribute("aria-activedescendant")).toBe(await options.nth(1).getAttribute("id"));
  const text = await options.nth(1).innerText();
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  const drawer = page.locator("[role=dialog].player-drawer");
  await drawer
    .getByText(text.split("\n")[0] ?? "")
    .first()
    .waitFor();
  await palette.waitFor({ state: "detached" });

  // Over the drawer; Escape closes only what is on top.
  await page.keyboard.press("Control+k");
  await palette.waitFor();
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });
  expect(await drawer.isVisible()).toBe(true);
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "detached" });

  await page.keyboard.press("/");
  await palette.fill("lo");
  await page.keyboard.press("Enter");
  await expectView(page, "logs");
  await page.locator("#content:focus").waitFor();
});

browserTest("the box finds who has left, also when Enter comes before the answer", async () => {
  const site = await getSite();
  let here = SMALL_SERVER;
  await site.addServer("left", () => new Response(writeGameJson(here)));
  const key = await site.mintKey("left");
  const page = await openView("players", { key });
  const [gone] = SMALL_SERVER.Players;
  const { name, id } = parsePlayerRef(gone?.Player);
  const row = page.getByRole("row").filter({ hasText: id ?? "" });
  await row.waitFor();
  here = { ...SMALL_SERVER, Players: SMALL_SERVER.Players.slice(1) };
  await row.waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  const palette = paletteOf(page);
  await palette.waitFor();
  await palette.fill(name);
  await page.keyboard.press("Enter");
  await page
    .locator(".player-drawer")
    .getByText(id ?? "")
    .first()
    .waitFor();
});

browserTest("the box fits a dark phone, in Russian", async () => {
  const page = await openView("live", { server: "small", size: "phone", scheme: "dark", language: "ru" });
  await page.getByRole("button", { name: "Найти игрока" }).click();
  await page.getByRole("combobox", { name: "Найти игрока, раздел, вызов или сервер" }).fill("а");
  await page.locator(".palette [role=option]").first().waitFor();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
});
