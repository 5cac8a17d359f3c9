// The view "logs".
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { browserTest, expectCount, openView } from "./browser.ts";
import { nameOf } from "./game-server-fixture.ts";

const expectEntries = (page: Page, count: number) => expectCount(page.locator(".time-line-entry"), count);

const listTimes = (page: Page) =>
  page
    .locator(".time-line-entry time")
    .evaluateAll((times) => times.map((time) => time.getAttribute("datetime")));

browserTest("all logs are one time line, newest first, with a heading for each day", async () => {
  const page = await openView("logs");
  await expectEntries(page, 78);
  const times = (await listTimes(page)).map((time) => Date.parse(time ?? ""));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  const days = await page.locator("#content h2").allInnerTexts();
  expect(days[0]).toMatch(/^Today, /);
  expect(days[1]).toMatch(/^Yesterday, /);
  expect(new Set(days).size).toBe(days.length);
  const first = await page.locator(".time-line-entry").first().innerText();
  expect(first).toMatch(/\d+:\d\d:\d\d/);
  expect(first).toMatch(/sec\. ago|min\. ago/);
  // A command from the API has no player, and a fall has no killer.
  await page.getByText("Remote Server").first().waitFor();
  await page.getByText("Nobody in particular").waitFor();
});

browserTest("the time line can be filtered by kind and searched", async () => {
  const page = await openView("logs");
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
  await page.getByLabel("Search").fill("nothing like this");
  await page.getByText("Nothing fits").waitFor();
});

browserTest("the time line is shown in Russian, on a phone", async () => {
  const page = await openView("logs", { language: "ru", size: "phone" });
  await expectEntries(page, 78);
  expect(await page.locator("#content h2").first().innerText()).toMatch(/^Сегодня, /);
  const call = page.locator(".time-line-entry").filter({ hasText: "Вызов модератора" }).first();
  expect(await call.innerText()).toContain(nameOf(6));
  expect(await call.innerText()).toContain("пока никто");
  await page.getByLabel("Убийства (20)").focus();
  await page.keyboard.press("Space");
  await expectEntries(page, 58);
});
