// The view "plots".
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { toSectionSet } from "../../src/core/sections.ts";
import { until } from "../until.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  getSite,
  HURRIED,
  isTestedVariant,
  LANGUAGES,
  openPage,
  openView,
  type PageOptions,
  SIZES,
} from "./browser.ts";
import { BUSY_SERVER } from "./game-server-fixture.ts";
import { HOSTILE_NAMES } from "./hostile-names.ts";
import { PlayedHistory } from "./played-history.ts";

const TEXTS = {
  en: {
    title: "Plots",
    hour: "Last hour",
    waiting: "Not enough data yet",
    plot: "Players and queue",
    table: "The numbers as a table",
  },
  ru: {
    title: "Графики",
    hour: "Последний час",
    waiting: "Данных пока мало",
    plot: "Игроки и очередь",
    table: "Таблица с числами",
  },
} as const;

async function expectLines(page: Page, plots: number): Promise<void> {
  await page.locator(".uplot canvas").first().waitFor();
  expect(await page.locator(".uplot canvas").count()).toBe(plots);
}

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    if (!isTestedVariant(language, size)) continue;
    const scheme = size === "phone" ? "dark" : "light";
    browserTest(`the plots start after two readings, and are accessible: ${language}, ${size}`, async () => {
      const texts = TEXTS[language];
      const page = await openView("plots", { language, size, scheme });
      expect(await page.locator("h1").innerText()).toBe(texts.title);
      await page.getByText(texts.hour, { exact: true }).click();
      await page.getByRole("heading", { name: texts.waiting }).waitFor();
      await expectAccessible(page);
      await expectLines(page, 2);
      await page.getByRole("img", { name: texts.plot }).waitFor();
      await page.getByRole("button", { name: texts.table }).press("Enter");
      await page.locator("table tbody tr").first().waitFor();
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    });
  }
}

browserTest("a plot says its numbers, hides a line by keyboard, and resizes with the page", async () => {
  const site = await getSite();
  let players = 10;
  const joins = [...BUSY_SERVER.JoinLogs];
  await site.addServer("plots-growing", () => {
    players += 1;
    joins.unshift({
      Join: true,
      Timestamp: Math.floor(Date.now() / 1000),
      Player: `New${players}:${players}`,
    });
    return Response.json({ ...BUSY_SERVER, CurrentPlayers: players, JoinLogs: joins });
  });
  const page = await openView("plots", { server: "plots-growing", prelude: HURRIED });
  await page.getByText("Last hour", { exact: true }).click();
  await expectLines(page, 2);
  const description = (await page.getByRole("img", { name: "Players and queue" }).getAttribute("aria-label")) ?? "";
  const [, now, low, high] = /Players: now (\d+), lowest (\d+), highest (\d+)/.exec(description) ?? [];
  expect(Number(high)).toBeGreaterThan(Number(low));
  expect(now).toBe(high ?? "");
  await page.getByRole("button", { name: "The numbers as a table" }).click();
  const cells = await page.locator("table tbody tr").first().locator("td").allInnerTexts();
  expect(Number(cells[0])).toBeGreaterThanOrEqual(Number(now));
  expect(Number(cells[2])).toBeGreaterThanOrEqual(1);

  await page.getByRole("button", { name: "Queue", pressed: true }).press("Enter");
  await page.getByRole("button", { name: "Queue", pressed: false }).waitFor();
  const widthOf = () => page.evaluate<number>(`document.querySelector(".uplot").getBoundingClientRect().width`);
  const wide = await widthOf();
  await page.setViewportSize({ width: 700, height: 800 });
  await until("the plot is as wide as before", async () => (await widthOf()) < wide);
  await expectNoSidewaysScroll(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await until("the plot is narrow still", async () => (await widthOf()) === wide);
});

browserTest("a key that may not read the join log sees the other plot", async () => {
  const key = await (await getSite()).mintKey("busy", { sections: toSectionSet(["Players", "Queue"]) });
  const page = await openPage({ view: "plots", key, prelude: HURRIED });
  await page.getByText("Last hour", { exact: true }).click();
  await expectLines(page, 1);
  await page.getByText("Left out, because you have no right to it").waitFor();
});

/** Opens Plots with a played past; the plot is drawn. */
async function openPlayed(options: PageOptions = {}) {
  const history = new PlayedHistory();
  const page = await openPage({ view: "staff", key: await (await getSite()).mintKey("small"), ...options });
  await history.answerTo(page);
  await page.evaluate(`location.hash = "#/plots"`);
  await page.locator(".uplot canvas").first().waitFor();
  const periods = () => history.queries.filter(({ question }) => question === "players").map(({ query }) => query);
  return { page, history, periods };
}

/** A point of the drawing, as parts of its width. */
async function pointAt(page: Page, share: number): Promise<[number, number]> {
  const box = await page.locator(".u-over").first().boundingBox();
  if (!box) throw new Error("the plot is not drawn");
  return [box.x + box.width * share, box.y + box.height / 2];
}

const ANNA = { player: "Anna:77", id: "77", joined_at: 0, left_at: null, seconds: 1, ended: null, teams: {} } as const;

browserTest(
  "a click on a plot says who was there, plainly when that is not known, and leads to the record and the events",
  async () => {
    const { page, history } = await openPlayed();
    history.present = { known: true, items: [ANNA, { ...ANNA, player: `${HOSTILE_NAMES[0]}:78`, id: "78" }] };
    const first = history.queries.find(({ question }) => question === "players")?.query;
    const [from, to] = [Number(first?.get("from")), Number(first?.get("to"))];
    await page.mouse.click(...(await pointAt(page, 0.5)));
    const panel = page.getByRole("region", { name: /^Who was there:/ });
    await panel.getByText("2 players").waitFor();
    const at = Number(history.queries.findLast(({ question }) => question === "present")?.query.get("at"));
    expect(Math.abs(at - (from + to) / 2)).toBeLessThan((to - from) / 20);
    expect(await page.evaluate<unknown>("window.hostile")).toBeUndefined();
    await expectAccessible(page);
    // Another moment, which nobody can vouch for.
    history.present = { known: false, items: [] };
    await page.mouse.click(...(await pointAt(page, 0.2)));
    await panel.getByText("Nobody was reading the server at that moment").waitFor();
    await panel.getByText("Nobody is known to have been there.").waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    // The same by keyboard alone.
    history.present = { known: true, items: [ANNA] };
    await page.getByLabel("Who was there at").fill("2999-01-01T10:00");
    await page.keyboard.press("Enter");
    await page.getByText("Choose a date and a time in the past.").waitFor();
    await page.getByLabel("Who was there at").fill("2026-01-02T21:05");
    await page.keyboard.press("Enter");
    await panel.getByRole("heading", { name: "Jan 2, 2026, 9:05:00 PM" }).waitFor();
    expect(await panel.getByRole("link", { name: "What happened then" }).getAttribute("href")).toBe(
      `#/activity/at-${Date.UTC(2026, 0, 3, 2, 5)}`,
    );
    await panel.getByRole("link", { name: "Anna" }).press("Enter");
    await page.locator("section.player-drawer").getByRole("heading", { name: "Anna" }).waitFor();
    // Escape closes the topmost only.
    await page.keyboard.press("Escape");
    await page.locator("section.player-drawer").waitFor({ state: "detached" });
    await panel.waitFor();
  },
);

browserTest("who was there is told also while there is no plot to show", async () => {
  // Recording has only just begun.
  const page = await openView("plots", { server: "small" });
  const history = new PlayedHistory();
  history.present = { known: true, items: [ANNA] };
  await history.answerTo(page);
  for (const period of ["24 hours", "Last hour"]) {
    await page.getByText(period, { exact: true }).click();
    await page.getByLabel("Who was there at").fill("2026-01-02T21:05");
    await page.keyboard.press("Enter");
    const panel = page.getByRole("region", { name: /^Who was there:/ });
    await panel.getByRole("link", { name: "Anna" }).waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
  }
});

browserTest("a drag shows that part of a plot, and a button, Escape and a double click lead back", async () => {
  const { page, periods } = await openPlayed();
  const lengthOf = (query: URLSearchParams | undefined) => Number(query?.get("to")) - Number(query?.get("from"));
  const whole = lengthOf(periods().at(-1));
  // Each from elsewhere, because an answer about a part that is over is kept.
  const drag = async (start: number) => {
    const asked = periods().length;
    await page.mouse.move(...(await pointAt(page, start)));
    await page.mouse.down();
    await page.mouse.move(...(await pointAt(page, start + 0.25)), { steps: 4 });
    await page.mouse.up();
    await until("the part was not asked for", () => periods().length > asked);
    await page.locator(".uplot canvas").first().waitFor();
    return lengthOf(periods().at(-1));
  };
  const out = page.getByRole("button", { name: "Zoom out" });
  const part = await drag(0.25);
  expect(part / whole).toBeGreaterThan(0.2);
  expect(part / whole).toBeLessThan(0.3);
  await out.waitFor();
  // A drag is no click.
  expect(await page.getByRole("region", { name: /^Who was there:/ }).count()).toBe(0);
  await expectAccessible(page);
  const smaller = await drag(0.25);
  expect(smaller).toBeLessThan(part / 2);
  const shown = () => page.getByRole("status").filter({ has: out }).innerText();
  const inner = await shown();
  await page.keyboard.press("Escape");
  await until("it is not zoomed out", async () => (await shown()) !== inner);
  await out.click();
  await expectCount(out, 0);
  await drag(0.3);
  await page.mouse.dblclick(...(await pointAt(page, 0.5)));
  await expectCount(out, 0);
  await drag(0.4);
  await page.getByText("7 days", { exact: true }).click();
  await expectCount(out, 0);
});
