// The view "calls": emergency calls and calls for a moderator.
import { expect } from "bun:test";
import { browserTest, openView } from "./browser.ts";
import { idOf, nameOf, START_SECONDS } from "./game-server-fixture.ts";

/** A time as the page shows it in New York, the time zone of the browser. */
function formatLocalTime(seconds: number, language: string): string {
  return new Intl.DateTimeFormat(language, { timeStyle: "medium", timeZone: "America/New_York" })
    .format(seconds * 1000)
    .replaceAll(/\s/g, " ");
}

browserTest(
  "emergency calls show their caller and participants, even with ids that a double cannot hold",
  async () => {
    const page = await openView("calls");
    const rows = page.getByRole("table", { name: "Emergency calls" }).locator("tbody tr");
    await rows.first().waitFor();
    expect(await rows.count()).toBe(6);
    const newest = (await rows.first().innerText()).replaceAll(/\s/g, " ");
    for (const part of [
      "No. 400",
      "Police",
      "Car crash",
      "Near Park Street",
      "(-600, 667)",
      nameOf(0),
      idOf(0),
    ]) {
      expect(newest).toContain(part);
    }
    expect(newest).toContain(formatLocalTime(START_SECONDS - 60, "en"));
    expect(newest).toContain("ago");
    const second = await rows.nth(1).innerText();
    expect(second).toContain(nameOf(1));
    expect(second).toContain(idOf(1));
    expect(second).toContain("Not on the server");

    const region = page.getByRole("region", { name: "Emergency calls" }).first();
    await region.getByLabel("Team").selectOption("Fire");
    await region.getByText("2 of 6 entries").first().waitFor();
  },
);

browserTest("calls for a moderator show who answered, or that nobody has yet", async () => {
  const page = await openView("calls");
  const table = page.getByRole("table", { name: "Calls for a moderator" });
  const rows = table.locator("tbody tr");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(8);
  expect(await rows.first().innerText()).toContain("Nobody yet");
  expect(await rows.nth(1).innerText()).toContain(nameOf(3));
  await page.getByLabel("State").selectOption({ label: "Nobody yet" });
  await page.getByText("4 of 8 entries").first().waitFor();
});

browserTest("calls are shown in Russian, on a phone, in the user's time zone", async () => {
  const page = await openView("calls", { language: "ru", size: "phone" });
  const card = page.getByRole("list", { name: "Экстренные вызовы" }).locator("> li").first();
  await card.getByRole("button", { name: "Подробнее" }).click();
  const text = (await card.innerText()).replaceAll(/\s/g, " ");
  expect(text).toContain(formatLocalTime(START_SECONDS - 60, "ru"));
  expect(text).toContain("Кто вызвал");
  expect(text).toContain("назад");
  await page.getByRole("list", { name: "Вызовы модератора" }).getByText("Пока никто").first().waitFor();
});
