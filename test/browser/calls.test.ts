// The view "calls": calls for a moderator, and emergency calls.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { browserTest, expectAccessible, expectTitle, getSite, openPage, openView } from "./browser.ts";
import { BUSY_SERVER, idOf, nameOf, START_SECONDS, writeGameJson } from "./game-server-fixture.ts";
import { PlayedLedger } from "./played-ledger.ts";

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

/** The callers of the busy server's open calls, the longest wait first. */
const WAITING = [12, 10, 8, 6];

const callsOf = (page: Page) => page.getByRole("region", { name: "Calls for a moderator" });
const itemsOf = (page: Page) => callsOf(page).locator(".waiting-list > li");
const seenButton = (page: Page, index: number) =>
  callsOf(page).getByRole("button", { name: `Seen by me: the call of ${nameOf(index)}`, exact: true });

async function expectWaiting(page: Page, count: number): Promise<void> {
  const name = count === 0 ? "Calls" : `Calls ${count} waiting`;
  await page.getByRole("link", { name, exact: true }).waitFor();
  await expectTitle(page, `${count === 0 ? "" : `(${count}) `}Calls · Riverside Roleplay`);
}

async function listCallers(page: Page): Promise<readonly string[]> {
  const texts = await itemsOf(page).allInnerTexts();
  return texts.map((text) => text.split(/\s/, 1)[0] ?? "");
}

browserTest(
  "calls that wait come first; a mark as seen lasts in this browser, and can be undone",
  async () => {
    const page = await openView("calls");
    await itemsOf(page).first().waitFor();
    expect(await page.locator("#content h2").first().innerText()).toBe("Calls for a moderator");
    expect(await listCallers(page)).toEqual(WAITING.map(nameOf));
    const longest = itemsOf(page).first();
    expect(await longest.innerText()).toMatch(/Waiting (4\d|5\d) min/);
    expect(await longest.innerText()).toContain("212 · 2012 Liberty Way");
    const open = longest.getByRole("link", { name: `Open ${nameOf(12)}`, exact: true });
    expect(await open.getAttribute("href")).toContain(idOf(12));
    await expectWaiting(page, 4);

    const button = seenButton(page, 12);
    await button.focus();
    await page.keyboard.press("Enter");
    await expectWaiting(page, 3);
    expect(await listCallers(page)).toEqual([10, 8, 6, 12].map(nameOf));
    expect(await button.getAttribute("aria-pressed")).toBe("true");
    expect(await page.evaluate<string>("document.activeElement.ariaLabel")).toContain(nameOf(12));
    await expectAccessible(page);

    await page.reload();
    await expectWaiting(page, 3);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await seenButton(other, 12).click();
    await expectWaiting(other, 4);
    await expectWaiting(page, 4);
    expect(await listCallers(page)).toEqual(WAITING.map(nameOf));

    await callsOf(page).getByRole("button", { name: "Mark all as seen" }).click();
    await callsOf(page).getByText("No calls are waiting").waitFor();
    await expectWaiting(page, 0);
  },
);

browserTest(
  "a double click marks the one call that it hits, and nothing that moves under the pointer",
  async () => {
    const page = await openView("calls");
    await seenButton(page, 12).dblclick();
    await expectWaiting(page, 3);
    expect(await listCallers(page)).toEqual([10, 8, 6, 12].map(nameOf));
    // The last call stays where it is.
    for (const index of [10, 8, 6]) await seenButton(page, index).dblclick();
    await expectWaiting(page, 0);
    expect(await callsOf(page).locator("button[aria-pressed=true]").count()).toBe(4);
  },
);

browserTest("the number of calls is steady while the game shortens its list", async () => {
  const site = await getSite();
  let state = BUSY_SERVER;
  await site.addServer(
    "shortened",
    () => new Response(writeGameJson(state), { headers: { "Content-Type": "application/json" } }),
  );
  const page = await openView("calls", { server: "shortened" });
  await expectWaiting(page, 4);
  state = { ...BUSY_SERVER, Name: "Shortened", ModCalls: BUSY_SERVER.ModCalls.slice(0, 1) };
  await expectTitle(page, "(4) Calls · Shortened");
  await page.getByRole("link", { name: "Calls 4 waiting", exact: true }).waitFor();
  await callsOf(page).getByText("4 waiting", { exact: true }).waitFor();
  expect(await itemsOf(page).count()).toBe(4);
});

browserTest("answered calls show who answered, and after how long as far as the ledger knows", async () => {
  const site = await getSite();
  const ledger = new PlayedLedger();
  const [call] = BUSY_SERVER.ModCalls.filter(({ Moderator }) => Moderator !== null);
  if (!call) throw new Error("the busy server has no answered call");
  const calledAt = call.Timestamp * 1000;
  const meta = { answered_between: [calledAt + 60_000, calledAt + 64_200] };
  ledger.record({ type: "modcall.answered", data: call, meta });
  const page = await openPage({ view: "staff", key: await site.mintKey() });
  await ledger.answerTo(page);
  await page.evaluate(`location.hash = "#/calls"`);
  const rows = page.getByRole("table", { name: "Answered calls" }).locator("tbody tr");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(4);
  await rows.first().getByText("1 min 00 s to 1 min 05 s").waitFor();
  expect(await rows.first().innerText()).toContain(nameOf(3));
  expect(await rows.nth(1).innerText()).toContain("—");
});

browserTest("calls are shown in Russian, on a phone, in the user's time zone", async () => {
  const page = await openView("calls", { language: "ru", size: "phone" });
  const card = page.getByRole("list", { name: "Экстренные вызовы" }).locator("> li").first();
  await card.getByRole("button", { name: "Подробнее" }).click();
  const text = (await card.innerText()).replaceAll(/\s/g, " ");
  expect(text).toContain(formatLocalTime(START_SECONDS - 60, "ru"));
  expect(text).toContain("Кто вызвал");
  expect(text).toContain("назад");
  await page.getByRole("list", { name: "Принятые вызовы" }).getByText(nameOf(3)).first().waitFor();
});
