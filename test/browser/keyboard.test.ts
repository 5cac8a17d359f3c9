// The keys of the page: search, going to a view, and the list of keys.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { browserTest, expectAccessible, getSite, openView } from "./browser.ts";

const titleOf = (page: Page) => page.locator("#content h1").innerText();

async function expectView(page: Page, view: string): Promise<void> {
  await page.locator(`nav a[href="#/${view}"][aria-current=page]`).waitFor();
}

/** Presses a key of a layout that the test machine may not have. */
async function pressOn(page: Page, key: string, code: string, shiftKey = false): Promise<void> {
  const init = JSON.stringify({ key, code, shiftKey, bubbles: true, cancelable: true });
  await page.evaluate(
    `(document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", ${init}))`,
  );
}

browserTest("keys search, go to views and list themselves, but not while somebody types", async () => {
  const page = await openView("players", { server: "small" });
  await page.keyboard.press("/");
  const search = page.getByLabel("Search");
  expect(await search.evaluate((element) => element.matches(":focus"))).toBe(true);
  await page.keyboard.type("gv/?");
  expect(await search.inputValue()).toBe("gv/?");
  expect(await titleOf(page)).toBe("Players");

  await page.locator("#content").focus();
  await page.keyboard.press("Control+g");
  await page.keyboard.press("v");
  expect(await titleOf(page)).toBe("Players");
  await page.keyboard.type("gv");
  await expectView(page, "vehicles");

  await page.keyboard.press("?");
  const list = page.getByRole("dialog", { name: "Keyboard" });
  await list.getByText("search in this view").waitFor();
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
  const open = () => page.getByRole("button", { name: "Keyboard" }).click();
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
  expect(await page.getByLabel("Search").inputValue()).toBe("");

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
  await page.locator("#content .mantine-Loader-root").waitFor({ state: "detached" });
  await pressOn(page, ".", "Slash");
  expect(await page.getByLabel("Поиск").evaluate((element) => element.matches(":focus"))).toBe(true);
  await page.locator("#content").focus();
  await pressOn(page, ",", "Slash", true);
  const list = page.getByRole("dialog", { name: "Клавиши" });
  await list.getByText("Блокировки").waitFor();
  expect(await list.getByText("Игроки").count()).toBe(0);
});
