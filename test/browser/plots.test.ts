// The view "plots".
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { toSectionSet } from "../../src/core/sections.ts";
import { until } from "../process/run-gatehouse.ts";
import {
  browserTest,
  expectAccessible,
  expectNoSidewaysScroll,
  getSite,
  isTestedVariant,
  LANGUAGES,
  openPage,
  openView,
  SIZES,
} from "./browser.ts";
import { BUSY_SERVER } from "./game-server-fixture.ts";

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
  const page = await openView("plots", { server: "plots-growing" });
  await page.getByText("Last hour", { exact: true }).click();
  await expectLines(page, 2);
  const description =
    (await page.getByRole("img", { name: "Players and queue" }).getAttribute("aria-label")) ?? "";
  const [, now, low, high] = /Players: now (\d+), lowest (\d+), highest (\d+)/.exec(description) ?? [];
  expect(Number(high)).toBeGreaterThan(Number(low));
  expect(now).toBe(high ?? "");
  await page.getByRole("button", { name: "The numbers as a table" }).click();
  const cells = await page.locator("table tbody tr").first().locator("td").allInnerTexts();
  expect(Number(cells[0])).toBeGreaterThanOrEqual(Number(now));
  expect(Number(cells[2])).toBeGreaterThanOrEqual(1);

  await page.getByRole("button", { name: "Queue", pressed: true }).press("Enter");
  await page.getByRole("button", { name: "Queue", pressed: false }).waitFor();
  const widthOf = () =>
    page.evaluate<number>(`document.querySelector(".uplot").getBoundingClientRect().width`);
  const wide = await widthOf();
  await page.setViewportSize({ width: 700, height: 800 });
  await until("the plot is as wide as before", async () => (await widthOf()) < wide);
  await expectNoSidewaysScroll(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await until("the plot is narrow still", async () => (await widthOf()) === wide);
});

browserTest("a key that may not read the join log sees the other plot", async () => {
  const key = await (await getSite()).mintKey("busy", { sections: toSectionSet(["Players", "Queue"]) });
  const page = await openPage({ view: "plots", key });
  await page.getByText("Last hour", { exact: true }).click();
  await expectLines(page, 1);
  await page.getByText("Left out, because the operator has not given this key the right").waitFor();
});

browserTest("the view says that the server is offline", async () => {
  const page = await openView("plots", { server: "offline", expectedStatuses: [400] });
  await page.getByText("Last hour", { exact: true }).click();
  await page.getByRole("heading", { name: "The game server is offline" }).waitFor();
});
