// What the page shows about the past of a server: plots, busy hours, staff, playtime, sessions, downloads and alerts.

import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { SUGGESTED_ALERTS } from "../../src/core/alerts/rules.ts";
import { DAY_MS } from "../../src/core/durations.ts";
import { NO_KINDS } from "../../src/core/history/command-kinds.ts";
import { toSectionSet } from "../../src/core/sections.ts";
import type { PageOf } from "../../src/core/wire/page.ts";
import type { ServerResource } from "../../src/core/wire/server.ts";
import { writeDay } from "../../src/dashboard/state/history/period.ts";
import { until } from "../until.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  getSite,
  openPage,
  type PageOptions,
  waitUntilLoaded,
} from "./browser.ts";
import { PlayedHistory } from "./played-history.ts";
import { NO_STREAM, PlayedLedger } from "./played-ledger.ts";

const HOUR_S = 3_600;
/** A minute, and as much as the page may add to it. */
const REFRESHED_MS = 67_000;
const TOM = { player: "=Tom:71", id: "71" };

function makeHistory(): PlayedHistory {
  const history = new PlayedHistory();
  const teams = { Police: 5 * HOUR_S, Civilian: HOUR_S };
  const joined_at = Date.now() - 5 * HOUR_S * 1_000;
  history.staff = [
    {
      ...{ ...TOM, seconds: 6 * HOUR_S, teams, role: "Mods", commands: 12 },
      commands_by_kind: { ...NO_KINDS, kick: 5, message: 4 },
      modcalls_answered: 3,
      median_between: [20, 60],
    },
    {
      player: "Una:72",
      id: "72",
      seconds: 60,
      teams: {},
      role: null,
      commands: 0,
      commands_by_kind: NO_KINDS,
      modcalls_answered: 0,
      median_between: null,
    },
  ];
  history.playtime = [{ ...TOM, seconds: 30 * HOUR_S, sessions: 9 }];
  history.sessions = [
    {
      ...TOM,
      joined_at,
      left_at: joined_at + HOUR_S * 1_000,
      seconds: HOUR_S,
      ended: "vanished",
      teams: { Police: HOUR_S },
    },
  ];
  return history;
}

/** Opens a view whose questions about the past the test answers. With `hasClock` the test moves the page's clock. */
async function openHistory(
  view: string,
  options: PageOptions & { readonly hasClock?: boolean },
  history: PlayedHistory,
): Promise<Page> {
  const site = await getSite();
  const key = options.key ?? (await site.mintKey("busy"));
  if (!options.hasClock) {
    const page = await openPage({ ...options, key, view: "vehicles" });
    await history.answerTo(page);
    await page.evaluate(`location.hash = "#/${view}"`);
    return page;
  }
  const page = await openPage(options);
  // Before the page asks anything: a page in which the clock is installed has the year 1970 for a moment.
  await page.clock.install();
  await history.answerTo(page);
  await page.evaluate(`sessionStorage.setItem("gatehouse.key", ${JSON.stringify(key)})`);
  await page.goto(`${site.url}/#/${view}`);
  await page.reload();
  return page;
}

async function download(page: Page, button: Locator): Promise<{ name: string; text: string }> {
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "utf8") };
}

browserTest("a year is plotted with its busy hours in any time zone, and can be downloaded", async () => {
  const history = makeHistory();
  const page = await openHistory("plots", {}, history);
  await page.getByRole("img", { name: /^Players\. Average: [\d.]+ over the whole period/ }).waitFor();
  // Averages of 10 to 19 and none that is not known: the last one, 17, is not the average of the day.
  await page.getByRole("button", { name: /^Average 14\.\d$/ }).waitFor();
  await page.getByRole("button", { name: "Queue at most 2" }).waitFor();
  await page.getByText("Year", { exact: true }).click();
  await page.getByText("Busiest: Saturday, 20:00 to 21:00, 31 players on average.").waitFor();
  const week = page.getByRole("table", { name: /Average players in each hour of the week/ });
  expect(await week.getByRole("row", { name: /^Mon/ }).innerText()).toContain("not known");
  await page.getByLabel("Time zone").selectOption("Asia/Tokyo");
  await expectAccessible(page);
  await page.getByRole("button", { name: "The numbers as a table" }).press("Enter");
  await page.getByRole("columnheader", { name: "Lowest" }).waitFor();
  await expectNoSidewaysScroll(page);
  const { name, text } = await download(page, page.getByRole("button", { name: "Download as CSV" }));
  expect(name).toMatch(/^players-Riverside-Roleplay-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/);
  expect(text.split("\r\n")[0]).toBe('\ufeff"at","known","min","avg","max","queue_max","staff_max","team Police"');
  const zones = history.queries.flatMap(({ question, query }) => (question === "peaks" ? query.get("tz") : []));
  expect(new Set(zones)).toEqual(new Set(["America/New_York", "Asia/Tokyo"]));
});

browserTest("an open plot is read again every minute, also after failures", async () => {
  const history = makeHistory();
  history.isAway = true;
  const page = await openHistory("plots", { expectedStatuses: [503], hasClock: true }, history);
  await page.getByText("The archive cannot be reached").waitFor();
  history.isAway = false;
  await page.clock.fastForward(REFRESHED_MS);
  await page.getByRole("img", { name: /^Players\. Average: [\d.]+ over the whole period/ }).waitFor();
  const stale = page.getByText("This could not be read again just now. You see the last answer.");
  history.isAway = true;
  await page.clock.fastForward(REFRESHED_MS);
  await stale.waitFor();
  history.isAway = false;
  await page.clock.fastForward(REFRESHED_MS);
  await stale.waitFor({ state: "detached" });
});

browserTest("a plot of dates in the past is asked for once: not polled, not again in a tab shown again", async () => {
  const history = makeHistory();
  const page = await openHistory("plots", { hasClock: true }, history);
  const yesterday = Date.now() - DAY_MS;
  const listPast = () =>
    history.queries.flatMap(({ question, query }) => (Number(query.get("to")) < yesterday ? question : []));
  await page.getByText("Choose dates", { exact: true }).click();
  await page.getByLabel("Last day").fill(writeDay(Date.now() - 3 * DAY_MS));
  await until("the dates are not read", () => listPast().length === 2);
  // The clock of the page also ends requests under way, and those are sent again.
  await expectCount(page.locator("#content [aria-busy=true]"), 0);
  for (let minutes = 0; minutes < 2; minutes++) {
    const polled = page.waitForResponse((response) => response.url().includes("/v2/game/server?"));
    await page.clock.fastForward(REFRESHED_MS);
    await polled;
  }
  await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
  await page.getByLabel("Last day").fill(writeDay(Date.now() - 4 * DAY_MS));
  await until("the other dates are not read", () => listPast().length >= 4);
  await expectCount(page.locator("#content [aria-busy=true]"), 0);
  await page.getByLabel("Last day").fill(writeDay(Date.now() - 3 * DAY_MS));
  await page.getByText(/^Most players: .*Each point is one hour/).waitFor();
  await expectCount(page.locator("#content [aria-busy=true]"), 0);
  expect(listPast().toSorted()).toEqual(["peaks", "peaks", "players", "players"]);
});

browserTest("staff, playtime and a player's sessions, in Russian on a dark phone, by rights", async () => {
  const look = { language: "ru", size: "phone", scheme: "dark" } as const;
  const history = makeHistory();
  const page = await openHistory("staff/activity", look, history);
  const row = page.getByRole("list", { name: "Отчёт" }).locator("> li").first();
  expect(await row.innerText()).toMatch(/=Tom.*6 ч/s);
  await row.getByRole("button", { name: /=Tom/ }).click();
  expect(await row.innerText()).toContain("20 с – 1 мин");
  expect(await row.innerText()).toMatch(/Киков\s+5/);
  await row.getByRole("img", { name: "Полиция 5 ч, Гражданские 1 ч" }).waitFor();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await page.evaluate("location.hash = '#/players/playtime'");
  await page.getByRole("list", { name: "Время в игре" }).getByText("30 ч").waitFor();
  await page.getByRole("link", { name: "=Tom" }).click();
  const drawer = page.getByRole("dialog");
  expect(await drawer.getByTestId("playtime").innerText()).toBe("1 ч за 1 заход");
  await drawer.getByText("пропал: игра не сообщила о выходе").waitFor();
  await expectAccessible(page);
  const { text } = await download(page, drawer.getByRole("button", { name: "Скачать в CSV" }));
  expect(text).toContain('"\'=Tom:71","71",');

  const key = await (await getSite()).mintKey("busy", { sections: toSectionSet(["Players", "Staff"]) });
  const asked = history.queries.length;
  const other = await openHistory("staff/activity", { key }, history);
  await other.getByText("commands in the game, calls for a moderator").waitFor();
  expect(history.queries).toHaveLength(asked);
});

browserTest("alerts are suggested and set by the operator, and raised ones are a notice in Live", async () => {
  const site = await getSite();
  const server = site.getServer("small");
  const page = await openPage({ view: "servers", key: site.masterKey, expectedStatuses: [503] });
  await page.getByRole("button", { name: "More for small" }).click();
  await page.getByRole("menuitem", { name: "Alerts" }).click();
  await page.getByRole("button", { name: "Use what suits most servers" }).click();
  await page.getByLabel("Too few or too many players").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Fill in at least one of the two numbers.").waitFor();
  await page.getByLabel("Fewer players than").fill("3");
  await page.getByText("No webhook of this server tells alerts").waitFor();
  await page.getByLabel(/^For all \d+ servers$/).check();
  await expectAccessible(page);
  const busyRules = `**/admin/servers/${site.getServer("busy").serverId}/alerts`;
  await page.route(busyRules, (route) => route.fulfill({ status: 503, json: { code: 5106, message: "no" } }));
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Not set for busy. The other servers have these rules").waitFor();
  await page.unroute(busyRules);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The alerts of all servers are set.").waitFor();
  for (const { serverId } of [server, site.getServer("busy")]) {
    const path = `/admin/servers/${serverId}/alerts`;
    const rules = await site.gatehouse.admin("GET", path);
    expect(await rules.json()).toEqual({ ...SUGGESTED_ALERTS, players: { below: 3, minutes: 10 } });
  }
  const all = (await (await site.gatehouse.admin("GET", "/admin/servers")).json()) as PageOf<ServerResource>;
  for (const { server_id: id } of all.items) await site.gatehouse.admin("PUT", `/admin/servers/${id}/alerts`, {});
  const url = "https://receiver.example/x";
  const webhook = { server_id: server.serverId, label: "all", url, format: "standard" };
  expect((await site.gatehouse.admin("POST", "/admin/webhooks", webhook)).status).toBe(201);
  await page.reload();
  await page.getByRole("button", { name: "More for small" }).click();
  await page.getByRole("menuitem", { name: "Alerts" }).click();
  await page.getByLabel("Many kills in a short time").check();
  await page.getByLabel("Kills", { exact: true }).waitFor();
  await waitUntilLoaded(page);
  await expectCount(page.getByText("No webhook of this server tells alerts"), 0);

  const ledger = new PlayedLedger();
  const told = (type: string, rule: string, subject: string, text: string, meta: Record<string, unknown> = {}) =>
    ledger.record({ type, data: { rule, subject, text }, meta });
  told("alert.raised", "kills", "Bob:2", "Bob killed 5 players within 60 seconds.");
  told("alert.cleared", "kills", "Bob:2", "Bob has fewer than 5 kills within 60 seconds.");
  told("alert.raised", "mass_command", "Mod:7", "Mod used :ban all", { code: "used", values: { command: ":ban all" } });
  const key = await site.mintKey("busy");
  const live = await openPage({ language: "ru", key, view: "staff", prelude: NO_STREAM });
  await ledger.answerTo(live);
  await live.evaluate(`location.hash = "#/live"`);
  const notice = live.locator("[data-rule]");
  await notice.waitFor();
  // What is over takes no line beside what is raised.
  await live.getByText("и ещё 1", { exact: true }).waitFor();
  expect((await notice.innerText()).replaceAll(/\s+/g, " ")).toMatch(/^Опасная команда Mod вводит :ban all/);
  await expectAccessible(live);
});

/** How far the end of a title is from the end of the numbers below it, and which numbers are cut, of each column. */
const COMPARE_ENDS = `Array.from(document.querySelectorAll("thead th"), (title, column) => {
  if (!title.classList.contains("number-cell")) return undefined;
  const endOf = (element) => element.getBoundingClientRect().right;
  const numbers = Array.from(document.querySelectorAll("tbody tr"), (row) => row.children[column].firstElementChild);
  const inner = endOf(numbers[0]) - parseFloat(getComputedStyle(numbers[0]).paddingInlineEnd);
  return {
    apart: Math.round(Math.abs(endOf(title.querySelector(".sort-title")) - inner)),
    cut: numbers.filter((number) => Array.from(number.children).some((part) => part.scrollWidth > part.clientWidth))
      .map((number) => number.textContent),
  };
}).filter((column) => column !== undefined)`;

browserTest("in the report of the staff, titles end where their numbers end, and no number is cut", async () => {
  const history = makeHistory();
  history.staff = history.staff.map((row) => ({ ...row, seconds: 123 * HOUR_S + 59 * 60, median_between: [119, 240] }));
  const page = await openHistory("staff/activity", {}, history);
  await page.getByText("123 h 59 min").first().waitFor();
  const columns = await page.evaluate<{ apart: number; cut: string[] }[]>(COMPARE_ENDS);
  expect(columns.length).toBeGreaterThan(5);
  expect(columns.flatMap(({ cut }) => cut)).toEqual([]);
  expect(Math.max(...columns.map(({ apart }) => apart))).toBeLessThanOrEqual(1);
});
