// The view "players". What every table can do is in tables.test.ts.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { browserTest, expectCount, openView } from "./browser.ts";
import { BUSY_SERVER, idOf, nameOf } from "./game-server-fixture.ts";

const rows = (page: Page) => page.locator("tbody tr");
const firstName = (page: Page) => rows(page).first().locator("th bdi").first().innerText();

const expectRows = (page: Page, count: number) => expectCount(rows(page), count);

browserTest("players can be sorted by every column in both orders, and blanks come last", async () => {
  const page = await openView("players");
  await expectRows(page, 40);
  expect(await firstName(page)).toBe("AveryStone");
  const sort = (name: string) => page.getByRole("columnheader", { name }).getByRole("button").click();

  await sort("Name");
  expect(await firstName(page)).toBe("JuneCarter_39");
  await sort("Wanted");
  await sort("Wanted");
  expect(await rows(page).first().innerText()).toContain("★★★★★");
  expect(await rows(page).last().innerText()).not.toContain("★");
  // Ids are compared to the last digit, which a double would lose.
  await sort("Id");
  await sort("Id");
  expect(await rows(page).first().innerText()).toContain(idOf(39));
  for (const name of ["Team", "Callsign", "Permission", "Place"]) {
    await sort(name);
    expect(await page.getByRole("columnheader", { name }).getAttribute("aria-sort")).toBe("ascending");
  }
});

browserTest("players can be searched and filtered, and the count is announced", async () => {
  const page = await openView("players");
  const police = BUSY_SERVER.Players.filter(({ Team }) => Team === "Police").length;
  await page.getByLabel("Team").selectOption("Police");
  await expectRows(page, police);
  const status = page.getByRole("status").filter({ hasText: `${police} of 40 entries` });
  await status.waitFor({ state: "attached" });

  await page.getByLabel("Team").selectOption("");
  await page.getByLabel("Permission").selectOption({ label: "Administrator" });
  await expectRows(page, 1);
  await page.getByLabel("Permission").selectOption("");
  // Any column, any case, words in any order.
  await page.getByLabel("Search").fill("ELM averystone_1");
  await page.getByText("Nothing found").waitFor();
  await page.getByLabel("Search").fill("PARK averystone_1");
  await expectRows(page, 1);
  await page.getByLabel("Search").fill(idOf(3));
  await page.locator("tbody th", { hasText: nameOf(3) }).waitFor();
  await expectRows(page, 1);
});

browserTest(
  "teams are shown, sorted, filtered and searched by their name in the user's language",
  async () => {
    const page = await openView("players", { language: "ru" });
    await expectRows(page, 40);
    const teams = () => page.locator("tbody .team-name").allInnerTexts();
    const names = ["Гражданские", "Дорожная служба", "Пожарные", "Полиция", "Тюрьма", "Шериф"];
    const header = page.getByRole("columnheader", { name: "Команда" });
    await header.getByRole("button").click();
    expect([...new Set(await teams())]).toEqual(names);
    await header.getByRole("button").click();
    expect([...new Set(await teams())]).toEqual(names.toReversed());

    const filter = page.getByLabel("Команда");
    expect(await filter.locator("option").allInnerTexts()).toEqual(["Все", ...names]);
    const police = BUSY_SERVER.Players.filter(({ Team }) => Team === "Police").length;
    await filter.selectOption({ label: "Полиция" });
    await expectRows(page, police);
    await filter.selectOption("");
    // By the shown name, and by the name of the game.
    for (const word of ["полиц", "police"]) {
      await page.getByLabel("Поиск").fill(word);
      await expectRows(page, police);
      expect(new Set(await teams())).toEqual(new Set(["Полиция"]));
    }

    for (const view of ["staff", "calls"]) {
      await page.evaluate(`location.hash = "#/${view}"`);
      await page.locator(".team-name", { hasText: "Шериф" }).first().waitFor();
      expect(await page.locator("#content").innerText()).not.toMatch(/Sheriff|Police|Civilian/);
    }
    await page.evaluate(`location.hash = "#/map"`);
    await page.locator("#content nav").getByRole("button").first().waitFor();
    await page.getByRole("searchbox").fill("шериф");
    const sheriffs = BUSY_SERVER.Players.filter(
      ({ Team, Location }) => Team === "Sheriff" && Location,
    ).length;
    const calls = BUSY_SERVER.EmergencyCalls.filter(({ Team }) => Team === "Sheriff").length;
    await expectCount(page.locator(".map-row"), sheriffs + calls);
  },
);

browserTest("name and id are copied separately", async () => {
  const page = await openView("players");
  const row = page.getByRole("row", { name: nameOf(1) }).first();
  const readClipboard = () => page.evaluate<string>("navigator.clipboard.readText()");
  await row.getByRole("button", { name: `Copy: ${nameOf(1)}` }).click();
  expect(await readClipboard()).toBe(nameOf(1));
  await row.getByRole("button", { name: `Copy: ${idOf(1)}` }).click();
  expect(await readClipboard()).toBe(idOf(1));
  await row.getByRole("button", { name: `Copied: ${idOf(1)}` }).waitFor();
});

browserTest("on a phone every player is a row of two lines, and a tap shows the rest", async () => {
  const page = await openView("players", { size: "phone", language: "ru" });
  const list = page.getByRole("list", { name: "Игроки" }).locator("> li");
  expect(await list.count()).toBe(40);
  expect(await page.locator("table").count()).toBe(0);
  const heights = await list.evaluateAll((all) =>
    all.map((row) => (row as never as { offsetHeight: number }).offsetHeight),
  );
  expect(Math.max(...heights)).toBeLessThanOrEqual(60);
  await page.getByLabel("Сортировка").selectOption({ label: "Розыск ↓" });
  const first = list.first();
  expect(await first.innerText()).toContain("★★★★★");
  expect(await first.innerText()).not.toContain("Команда");
  await first.getByRole("button", { name: "Подробнее AveryStone_30" }).click();
  const whole = await first.innerText();
  for (const part of ["Команда", "Id", idOf(30), "Park Street"]) expect(whole).toContain(part);
  // A row leaves out what a player does not have.
  expect(whole).not.toContain("Позывной");
  await page.getByText("40 записей").waitFor();
});
