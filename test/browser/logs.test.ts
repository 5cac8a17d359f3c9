// The view "logs": from a ledger that the test plays, and without one from the lists of the game server's state.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { MINUTE_MS } from "../../src/core/durations.ts";
import { toSectionSet } from "../../src/core/sections.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  getSite,
  HURRIED,
  openPage,
  openView,
  type PageOptions,
  waitUntilLoaded,
} from "./browser.ts";
import { isToday, NEWEST_ENTRY_SECONDS, nameOf } from "./game-server-fixture.ts";
import { ARCHIVE_AWAY, type Draft, makeJoins, NO_ARCHIVE, NO_STREAM, PlayedLedger, START } from "./played-ledger.ts";

const expectEntries = (page: Page, count: number) => expectCount(page.locator("[data-entry]"), count);

const listTimes = (page: Page) =>
  page.locator("[data-entry] time").evaluateAll((times) => times.map((time) => time.getAttribute("datetime")));

const noArchive = () => {
  const ledger = new PlayedLedger();
  ledger.failure = NO_ARCHIVE;
  return ledger;
};

async function openLogs(ledger: PlayedLedger, options: PageOptions = {}): Promise<Page> {
  const key = options.key ?? (await (await getSite()).mintKey("busy"));
  const page = await openPage({ prelude: NO_STREAM, ...options, view: "staff", key });
  await ledger.answerTo(page);
  await page.evaluate(`location.hash = "#/logs"`);
  await page.locator(`nav a[href="#/logs"][aria-current=page]`).waitFor({ state: "attached" });
  await waitUntilLoaded(page);
  return page;
}

const CALLED_AT = Math.floor(START / 1000) - 30 * 60;
const MIXED: readonly Draft[] = [
  { type: "player.joined", data: { Player: "Anna:5" }, minutesAgo: 3 * 24 * 60, isBackfill: true },
  {
    type: "modcall.opened",
    data: { Caller: "Bob:77", Timestamp: CALLED_AT, Moderator: null },
    minutesAgo: 30,
  },
  {
    type: "gap",
    data: {
      section: "KillLogs",
      reason: "no_overlap",
      from: START - 25 * MINUTE_MS,
      to: START - 20 * MINUTE_MS,
    },
    minutesAgo: 10,
  },
  { type: "player.killed", data: { Killer: "Anna:5", Killed: "Bob:77" }, minutesAgo: 20 },
  { type: "command.used", data: { Player: "Anna:5", Command: ":kick Bob" }, minutesAgo: 15 },
  {
    type: "modcall.answered",
    data: { Caller: "Bob:77", Timestamp: CALLED_AT, Moderator: "Mia:8" },
    minutesAgo: 9,
  },
  { type: "player.left", data: { Player: "Bob:77" }, minutesAgo: 5 },
];

browserTest("all logs are one table, newest first, with a heading for each day", async () => {
  const page = await openView("logs");
  // Until the first reading is recorded, the view shows the lists of the server's state.
  await page.getByText("This is as far back as Gatehouse remembers.").waitFor();
  await expectEntries(page, 78);
  const times = (await listTimes(page)).map((time) => Date.parse(time ?? ""));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  const days = await page.locator("#content h2").allInnerTexts();
  const words = isToday(NEWEST_ENTRY_SECONDS) ? ["Today", "Yesterday"] : ["Yesterday"];
  expect(days.slice(0, words.length).map((day) => day.split(", ", 1)[0])).toEqual(words);
  expect(new Set(days).size).toBe(days.length);
  const first = await page.locator("[data-entry]").first().innerText();
  expect(first).toMatch(/\d+:\d\d:\d\d/);
  expect(first).toMatch(/sec\. ago|min\. ago/);
  // A command from the API has no player, and a fall has no killer.
  await page.getByText("Remote Server").first().waitFor();
  await page.getByText("An unknown cause").waitFor();
});

browserTest("the logs can be filtered by kind, searched and sorted", async () => {
  const page = await openLogs(noArchive(), { expectedStatuses: [501] });
  await expectEntries(page, 78);
  await page.getByText("Joins (20)").click();
  await expectEntries(page, 58);
  for (const kind of ["Leaves (10)", "Kills (20)", "Calls for a moderator (8)"]) {
    await page.getByText(kind).click();
  }
  await expectEntries(page, 20);
  await page.getByLabel("Search").fill("keep CIVIL");
  await expectEntries(page, 5);
  await page.getByRole("status").filter({ hasText: "5 of 78 entries" }).waitFor({ state: "attached" });
  // Sorted by something else, the days are no headings any more, so each entry shows its date.
  await page.getByLabel("Search").fill("kick");
  await expectEntries(page, 5);
  await page.getByRole("columnheader", { name: "Player" }).getByRole("button").click();
  const players = await page.locator("[data-entry] td:nth-child(3)").allInnerTexts();
  expect(players).toEqual(players.toSorted((a, b) => a.localeCompare(b)));
  await expectCount(page.locator("#content h2"), 0);
  await page.getByLabel("Search").fill("nothing like this");
  await page.getByText("Nothing found").waitFor();
});

browserTest("the logs are shown in Russian, on a phone", async () => {
  const page = await openLogs(noArchive(), { language: "ru", size: "phone", expectedStatuses: [501] });
  await expectEntries(page, 78);
  expect(await page.locator("#content h2").first().innerText()).toStartWith(
    isToday(NEWEST_ENTRY_SECONDS) ? "Сегодня, " : "Вчера, ",
  );
  const call = page.locator("[data-entry]").filter({ hasText: "Вызов модератора" }).first();
  expect(await call.innerText()).toContain(nameOf(6));
  expect(await call.innerText()).toContain("пока никто");
  await page.getByLabel("Убийства (20)").focus();
  await page.keyboard.press("Space");
  await expectEntries(page, 58);
});

browserTest("with a ledger the logs go back to its first entry, and gaps are where they are", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...MIXED);
  const page = await openLogs(ledger);
  await expectEntries(page, 6);
  const lines = await page.locator("[data-entry]").allInnerTexts();
  expect(lines.map((line) => /Left|Command|Kill|missing|Call|Joined/.exec(line)?.[0])).toEqual([
    ...["Left", "Command", "Kill", "missing", "Call", "Joined"],
  ]);
  expect(lines[3]).toContain("Concerns: kills.");
  // The call and its answer are one entry, at the time of the call.
  expect(lines[4]).toMatch(/Bob.*answered by.*Mia/s);
  expect((await listTimes(page))[4]).toBe(new Date(CALLED_AT * 1000).toISOString());
  await page.getByText("5 entries", { exact: true }).waitFor();
  await page.getByText("This is as far back as Gatehouse remembers.").waitFor();
  await page.getByRole("link", { name: "Mia" }).click();
  await page.getByRole("dialog").locator('a[href="#/activity/8"]').click();
  await page.getByRole("heading", { name: "Player 8" }).waitFor();
});

browserTest("older entries of the ledger are loaded on request, and new ones do not move what is read", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...makeJoins(150));
  const page = await openLogs(ledger, { prelude: NO_STREAM + HURRIED });
  await expectEntries(page, 100);
  await page.getByText("100 entries so far").waitFor();
  await page.getByRole("button", { name: "Load older events" }).click();
  await expectEntries(page, 150);
  ledger.record({ type: "player.left", data: { Player: "Player1:1001" } });
  await page.getByRole("button", { name: "1 newer event" }).click();
  await expectEntries(page, 151);
  expect(await page.locator("[data-entry]").first().innerText()).toContain("Left");
  ledger.record({ type: "player.left", data: { Player: "Player2:1002" } });
  await expectEntries(page, 152);
});

browserTest("Gatehouse filters the ledger by list, and only lists that the key may read are asked for", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...makeJoins(3));
  const key = await (await getSite()).mintKey("busy", {
    sections: toSectionSet(["JoinLogs"]),
    commands: [],
  });
  const page = await openLogs(ledger, { key });
  await expectEntries(page, 3);
  await page.getByText("Left out, because you have no right to it").waitFor();
  const chips = page.getByRole("group", { name: "What to show" }).locator("label");
  expect(await chips.allInnerTexts()).toEqual(["Joins", "Leaves"]);
  await chips.filter({ hasText: "Leaves" }).click();
  await expectEntries(page, 3);
  const asked = new Set(ledger.queries.map((query) => query.get("types")));
  expect([...asked]).toEqual(["player.joined,player.left", "player.joined"]);
  await chips.filter({ hasText: "Joins" }).click();
  await page.getByText("Nothing found").waitFor();
});

browserTest("a search looks further back on request, says how far it came, and ends with the ledger", async () => {
  const ledger = new PlayedLedger();
  ledger.lookMax = 20;
  ledger.record({ type: "player.joined", data: { Player: "Oldest:9" }, minutesAgo: 400 }, ...makeJoins(300));
  const page = await openLogs(ledger);
  await expectEntries(page, 20);
  await page.getByLabel("Search").fill("oldest");
  await page.getByText("Nothing found so far, but Gatehouse remembers more.").waitFor();
  await page.getByRole("button", { name: "Look further back" }).click();
  await page.getByText(/^Nothing more found so far\. Looked through everything since .+\d/).waitFor();
  await expectEntries(page, 0);
  await page.getByRole("button", { name: "Look further back" }).click();
  await expectEntries(page, 1);
  await page.getByText("1 of 301 entries").first().waitFor();
  await page.getByText("This is as far back as Gatehouse remembers.").waitFor();
});

browserTest("without an archive, or while it is away, the newest entries are shown, and why", async () => {
  const ledger = noArchive();
  const page = await openLogs(ledger, { expectedStatuses: [501, 503] });
  await expectEntries(page, 78);
  await page.getByText("Gatehouse does not record events, so only the newest entries are here").waitFor();
  await page.getByRole("link", { name: /^Activity\s*not recorded$/ }).waitFor();
  // Nobody asks again: neither another view, nor this one after it was left.
  await page.evaluate(`location.hash = "#/activity"`);
  await page.getByRole("heading", { name: "Gatehouse does not record events" }).waitFor();
  await page.evaluate(`location.hash = "#/logs"`);
  await expectEntries(page, 78);
  expect(ledger.queries.length).toBe(1);

  const away = new PlayedLedger();
  away.failure = ARCHIVE_AWAY;
  const other = await openLogs(away, { expectedStatuses: [503] });
  await expectEntries(other, 78);
  await other.getByText("The archive cannot be reached, so only the newest entries are here").waitFor();
  await expectAccessible(other);
  away.failure = undefined;
  away.record(...makeJoins(2));
  await expectEntries(other, 2);
});

browserTest("the logs of a ledger fit on a phone of 320 pixels, in Russian and dark", async () => {
  const ledger = new PlayedLedger();
  const wide = "W".repeat(60);
  ledger.record(...MIXED, { type: "player.killed", data: { Killer: `${wide}:1`, Killed: `${wide}:2` } });
  const page = await openLogs(ledger, { language: "ru", size: "phone", scheme: "dark" });
  await page.setViewportSize({ width: 320, height: 640 });
  await page.getByText("Здесь может чего-то не хватать").waitFor();
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  await page.getByLabel("Убийства").focus();
  await page.keyboard.press("Space");
  await expectCount(page.locator("[data-entry]").filter({ hasText: "Убийство" }), 0);
});
