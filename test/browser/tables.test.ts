// What every table can do: hide columns, hold thousands of rows, and show a text that does not fit.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { browserTest, expectAccessible, expectCount, getSite, openView } from "./browser.ts";
import { BUSY_SERVER, SMALL_SERVER, writeGameJson } from "./game-server-fixture.ts";

const STORAGE_KEY = "gatehouse.columns";

const listHeaders = async (page: Page) =>
  (await page.getByRole("columnheader").allInnerTexts()).map((text) => text.replace(/\s*[▲▼]$/, ""));

async function addServer(name: string, state: object): Promise<void> {
  const text = writeGameJson(state);
  const site = await getSite();
  await site.addServer(name, () => new Response(text, { headers: { "Content-Type": "application/json" } }));
}

browserTest("columns are hidden, and stay hidden in this browser, whatever was stored before", async () => {
  const stored = JSON.stringify({
    players: ["place", 7, { id: "id" }, "<img src=x>"],
    staff: "name",
    __proto__: 1,
  });
  const page = await openView("players", {
    server: "small",
    prelude: `localStorage.getItem("${STORAGE_KEY}") ?? localStorage.setItem("${STORAGE_KEY}", ${JSON.stringify(stored)});`,
  });
  const all = ["Name", "Id", "Team", "Callsign", "Permission", "Wanted", "Place"];
  expect(await listHeaders(page)).toEqual(all.slice(0, -1));
  const button = page.getByRole("button", { name: "Columns" });
  await button.click();
  const menu = page.getByRole("dialog", { name: "Columns" });
  await expectCount(menu.locator("label"), all.length - 1);
  // The name of the row cannot be hidden.
  expect(await menu.locator("label").allInnerTexts()).toEqual(all.slice(1));
  await expectAccessible(page);
  await menu.getByLabel("Place").check();
  await menu.getByLabel("Id").uncheck();
  await menu.getByLabel("Team").uncheck();
  await page.keyboard.press("Escape");
  await menu.waitFor({ state: "detached" });
  expect(await button.evaluate((element) => element.matches(":focus"))).toBe(true);

  await page.reload();
  await page.getByRole("table").waitFor();
  expect(await listHeaders(page)).toEqual(["Name", "Callsign", "Permission", "Wanted", "Place"]);
  // A hidden column is still searched.
  await page.getByLabel("Search").fill("sheriff");
  await page.getByText("2 of 8 entries").first().waitFor();
  await button.click();
  await menu.getByRole("button", { name: "As at first" }).click();
  expect(await listHeaders(page)).toEqual(all);
  expect(await page.evaluate<string>(`localStorage.getItem("${STORAGE_KEY}")`)).toBe("{}");
});

browserTest("of thousands of rows only those in view are in the page, and all of them are counted", async () => {
  const players = Array.from({ length: 3_000 }, (_, index) => ({
    Player: `Crowd${index}:${index + 1}`,
    Team: "Civilian",
    Callsign: null,
    Permission: "Normal",
    WantedStars: 0,
  }));
  await addServer("crowd", { ...BUSY_SERVER, EmergencyCalls: [], Players: players });
  const page = await openView("players", { server: "crowd" });
  const rows = page.locator("tbody tr[aria-rowindex]");
  await page.getByText("3000 entries").waitFor();
  expect(await page.getByRole("table").getAttribute("aria-rowcount")).toBe("3001");
  expect(await rows.count()).toBeLessThan(80);
  await page.getByRole("button", { name: "Copy: Crowd0", exact: true }).focus();

  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  const last = rows.filter({ hasText: "Crowd2999" });
  await last.waitFor();
  expect(await last.getAttribute("aria-rowindex")).toBe("3001");
  expect(await rows.count()).toBeLessThan(80);
  // The row with the focus stays, and so does the header.
  expect(await page.locator(":focus").getAttribute("aria-label")).toBe("Copy: Crowd0");
  expect(await page.getByRole("columnheader", { name: "Name" }).boundingBox()).toMatchObject({ y: 52 });
  await expectAccessible(page);
  await page.getByLabel("Search").fill("crowd2999");
  await expectCount(rows, 1);
});

browserTest("a text that does not fit is shown whole under the mouse and by keyboard", async () => {
  const place = "A very long street with an even longer name";
  await addServer("long street", {
    ...SMALL_SERVER,
    Players: SMALL_SERVER.Players.map((player) => ({ ...player, Location: { StreetName: place } })),
  });
  const page = await openView("players", { server: "long street" });
  const row = page.locator("tbody tr").first();
  const cell = row.locator("td").last();
  await cell.hover();
  expect(await cell.getAttribute("title")).toBe(place);
  await row.locator("td").first().hover();
  expect(await row.locator("td").first().getAttribute("title")).toBeNull();

  await row.getByRole("button").last().focus();
  await page.keyboard.press("Tab");
  const tip = page.locator(".cell-tip");
  expect(await tip.innerText()).toBe(place);
  await page.keyboard.press("Escape");
  await tip.waitFor({ state: "detached" });
  await expectAccessible(page);
});
