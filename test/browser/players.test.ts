// The view "players". What every table can do is in tables.test.ts.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { teamColour } from "../../src/dashboard/team-colours.ts";
import { browserTest, expectAccessible, expectCount, openView } from "./browser.ts";
import { BUSY_SERVER, idOf, nameOf } from "./game-server-fixture.ts";
import { HOSTILE_NAMES } from "./hostile-names.ts";

const rows = (page: Page) => page.locator("tbody tr");
const firstName = (page: Page) => rows(page).first().locator("th bdi").first().innerText();

const expectRows = (page: Page, count: number) => expectCount(rows(page), count);

browserTest(
  "players are sorted with blanks last, searched, filtered and counted, and a name or an id is copied",
  async () => {
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

    // Name and id are copied separately.
    await page.getByLabel("Search").fill(idOf(1));
    await expectRows(page, 1);
    const row = page.getByRole("row", { name: nameOf(1) }).first();
    const readClipboard = () => page.evaluate<string>("navigator.clipboard.readText()");
    await row.getByRole("button", { name: `Copy: ${nameOf(1)}` }).click();
    expect(await readClipboard()).toBe(nameOf(1));
    await row.getByRole("button", { name: `Copy: ${idOf(1)}` }).click();
    expect(await readClipboard()).toBe(idOf(1));
    await row.getByRole("button", { name: `Copied: ${idOf(1)}` }).waitFor();
  },
);

browserTest("teams are shown, sorted, filtered and searched by their name in the user's language", async () => {
  const page = await openView("players", { language: "ru" });
  await expectRows(page, 40);
  const teams = () => page.locator("tbody .team-name").allInnerTexts();
  const names = ["Гражданские", "Дорожная служба", "Пожарные", "Полиция", "Тюрьма", "Шериф"];
  const header = page.getByRole("columnheader", { name: "Фракция" });
  await header.getByRole("button").click();
  expect([...new Set(await teams())]).toEqual(names);
  await header.getByRole("button").click();
  expect([...new Set(await teams())]).toEqual(names.toReversed());

  const filter = page.getByLabel("Фракция");
  expect(await filter.locator("option").allInnerTexts()).toEqual(["Фракция: все", ...names]);
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
  const sheriffs = BUSY_SERVER.Players.filter(({ Team, Location }) => Team === "Sheriff" && Location).length;
  const calls = BUSY_SERVER.EmergencyCalls.filter(({ Team }) => Team === "Sheriff").length;
  await expectCount(page.locator(".map-row"), sheriffs + calls);
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
  expect(await first.innerText()).not.toContain("Фракция");
  await first.getByRole("button", { name: "Подробнее AveryStone_30" }).click();
  const whole = await first.innerText();
  for (const part of ["Фракция", "Id", idOf(30), "Park Street"]) expect(whole).toContain(part);
  // A row leaves out what a player does not have.
  expect(whole).not.toContain("Позывной");
  await page.getByText("40 записей").waitFor();
});

browserTest("a search goes on with those who were here before, and their names open the record", async () => {
  const page = await openView("players");
  await expectRows(page, 40);
  const asked: string[] = [];
  await page.route("**/game/server/players?*", async (route) => {
    const query = new URL(route.request().url()).searchParams;
    asked.push(query.toString());
    const [first, last] = query.has("cursor") ? [20, 25] : [0, 20];
    const items = Array.from({ length: last - first }, (_, index) => ({
      player: `Longago${first + index}:${9000 + first + index}`,
      id: String(9000 + first + index),
      names: [`Longago${first + index}`, index === 0 ? HOSTILE_NAMES[0] : "Earlier"],
      first_seen_at: 1,
      last_seen_at: Date.now() - 3_600_000,
      seconds: 60,
      sessions: 1,
      is_here: false,
    }));
    await route.fulfill({ json: { items, next: query.has("cursor") ? null : "more" } });
  });
  expect(await page.getByRole("heading", { name: "Were here before" }).count()).toBe(0);
  await page.getByLabel("Search").fill("longago");
  const found = page.getByRole("region", { name: "Were here before" });
  await expectCount(found.getByRole("listitem"), 20);
  await found.getByRole("button", { name: "Show more" }).click();
  await expectCount(found.getByRole("listitem"), 25);
  expect(asked).toEqual(["query=longago&here=false&limit=20", "query=longago&here=false&limit=20&cursor=more"]);
  await expectAccessible(page);
  expect(await page.evaluate<unknown>("window.hostile")).toBeUndefined();
  await found.getByRole("link", { name: "Longago3" }).click();
  await page.getByRole("dialog").getByText("Gatehouse has never seen this player on the server.").waitFor();
});

/** Of each name: whether it has the colour of text, its id, and the colour of its initials. */
const LIST_NAMES = `Array.from(document.querySelectorAll("#content a.player-link"), (link) => ({
  isPlain: getComputedStyle(link).color === getComputedStyle(document.body).color,
  id: new URLSearchParams(link.hash.split("?")[1]).get("player"),
  colour: link.querySelector(".initials").style.getPropertyValue("--light"),
}))`;

browserTest("in every view a name has the colour of text, and its initials that of the player's team", async () => {
  const page = await openView("players");
  const teams = new Map(BUSY_SERVER.Players.map(({ Player, Team }) => [Player.split(":").at(-1), Team]));
  for (const view of ["players", "live", "staff", "vehicles", "calls", "logs"]) {
    await page.evaluate(`location.hash = "#/${view}"`);
    await page.locator(`nav a[href="#/${view}"][aria-current=page]`).waitFor({ state: "attached" });
    await page.locator("#content a.player-link").first().waitFor();
    const names = await page.evaluate<{ isPlain: boolean; id: string; colour: string }[]>(LIST_NAMES);
    for (const { isPlain, id, colour } of names) {
      const team = teams.get(id);
      const wanted = team === undefined ? "" : teamColour(team, "light");
      expect({ view, id, isPlain, colour }).toEqual({ view, id, isPlain: true, colour: wanted });
    }
  }
});
