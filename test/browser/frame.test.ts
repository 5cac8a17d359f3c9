// The frame around every view, and what all views have in common.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { toSectionSet } from "../../src/core/sections.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  expectTitle,
  getSite,
  isTestedVariant,
  LANGUAGES,
  openNameMenu,
  openPage,
  openView,
  SIZES,
  signOut,
  visitViews,
  waitUntilLoaded,
} from "./browser.ts";
import { formatLocalTime, nameOf, SMALL_SERVER, START_SECONDS } from "./game-server-fixture.ts";

const TABLES = ["players", "staff", "vehicles", "calls", "logs"] as const;

async function goTo(page: Page, view: string): Promise<void> {
  await page.evaluate(`location.hash = "#/${view}"`);
  await page.locator(`nav a[href="#/${view}"][aria-current=page]`).waitFor({ state: "attached" });
  await page.locator("#content h1").waitFor();
  await waitUntilLoaded(page);
}

browserTest("the language can be changed, and is kept after a reload", async () => {
  const page = await openView("players", { server: "small" });
  expect(await page.locator("h1").innerText()).toBe("Players");
  await (await openNameMenu(page)).getByRole("button", { name: "Русский" }).click();
  await page.getByRole("heading", { name: "Игроки" }).waitFor();
  expect(await page.locator("html").getAttribute("lang")).toBe("ru");
  await expectTitle(page, "(1) Игроки · Riverside Roleplay");
  await page.reload();
  await page.getByRole("heading", { name: "Игроки" }).waitFor();
});

browserTest("the colours follow the system until the user changes them", async () => {
  const page = await openView("staff", { scheme: "dark", server: "small" });
  const scheme = () => page.locator("html").getAttribute("data-mantine-color-scheme");
  expect(await scheme()).toBe("dark");
  await (await openNameMenu(page)).getByRole("button", { name: "Switch to light colours" }).click();
  expect(await scheme()).toBe("light");
  await page.reload();
  await page.locator("#content h1").waitFor();
  expect(await scheme()).toBe("light");
});

browserTest("a phone has the main views in a bar that hides nothing, and every other one behind it", async () => {
  const page = await openView("players", { size: "phone", server: "small", scheme: "dark" });
  const bar = page.getByRole("navigation", { name: "Main views" });
  expect(await bar.getByRole("link").allInnerTexts()).toEqual(
    ["Live", "Map", "Players", "Calls"].map(expect.stringContaining),
  );
  await bar.locator(".waiting-badge").waitFor();
  const link = page.getByRole("link", { name: "Vehicles" });
  expect(await link.isVisible()).toBe(false);
  const more = bar.getByRole("button", { name: "More" });
  await more.click();
  await link.waitFor();
  await expectAccessible(page);
  expect(await focusedText(page)).toContain("Staff");
  await page.keyboard.press("Escape");
  await link.waitFor({ state: "hidden" });
  expect(await focusedText(page)).toBe("More");
  await more.click();
  await link.click();
  await page.getByRole("heading", { name: "Vehicles", level: 1 }).waitFor();
  await link.waitFor({ state: "hidden" });
  expect(await more.getAttribute("aria-expanded")).toBe("false");

  // Fingers need 44 pixels.
  for (const target of await page.locator("header :is(a, button):visible, .phone-bar :is(a, button)").all()) {
    const box = await target.boundingBox();
    expect([await target.getAttribute("aria-label"), Math.min(box?.width ?? 0, box?.height ?? 0) >= 44]).toEqual([
      await target.getAttribute("aria-label"),
      true,
    ]);
  }
  await page.evaluate("scrollTo(0, document.body.scrollHeight)");
  const last = await page.getByRole("list", { name: "Vehicles" }).locator("> li").last().boundingBox();
  const barBox = await bar.boundingBox();
  expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual(barBox?.y ?? 0);
});

/**
 * Finds controls that are too small for a finger. Names, and what copies them, are as small as the text they are in; the toggle
 * of a row is as large as the row.
 */
const FIND_SMALL = `Array.from(document.querySelectorAll(
  "#content :is(button, select, .mantine-Input-input, .mantine-Chip-label, .view-parts a, .mantine-Anchor-root, nav a)",
), (control) => {
  if (!control.checkVisibility() || control.matches(".copy-button, .player-link, .row-toggle, .row *")) return undefined;
  const { width, height } = control.getBoundingClientRect();
  return Math.min(width, height) < 44 ? control.outerHTML.slice(0, 150) : undefined;
}).filter((control) => control !== undefined)`;

browserTest("on a phone every control of every view has room for a finger", async () => {
  const page = await openView("live", { size: "phone", server: "busy" });
  await visitViews(page, async (view) => {
    expect([view, await page.evaluate<string[]>(FIND_SMALL)]).toEqual([view, []]);
  });
});

/** How many whole rows of a table a laptop showed before there was one row of controls above it. */
const ROWS_BEFORE = 10;

browserTest("a laptop shows six more rows of a table than it did, below one row of controls", async () => {
  const page = await openView("players", { server: "busy" });
  await page.setViewportSize({ width: 1366, height: 768 });
  await page
    .locator("table tbody tr")
    .nth(ROWS_BEFORE + 6)
    .waitFor();
  const bottoms = await page
    .locator("table tbody tr")
    .evaluateAll((rows) =>
      rows.map(
        (row) => (row as unknown as { getBoundingClientRect(): { bottom: number } }).getBoundingClientRect().bottom,
      ),
    );
  expect(bottoms.filter((bottom) => bottom <= 768).length).toBeGreaterThanOrEqual(ROWS_BEFORE + 6);

  await page.setViewportSize({ width: 1280, height: 768 });
  for (const view of ["players", "vehicles", "logs"]) {
    await goTo(page, view);
    await page.getByRole("table").waitFor();
    const search = await page.getByRole("search").boundingBox();
    const columns = await page.getByRole("button", { name: "Columns" }).boundingBox();
    expect([view, (columns?.y ?? 0) < (search?.y ?? 0) + (search?.height ?? 0)]).toEqual([view, true]);
  }
});

browserTest("the menu under one's name says whose it is, and gives the focus back", async () => {
  const page = await openView("players", { server: "small" });
  const menu = await openNameMenu(page);
  expect(await menu.getByRole("button").allInnerTexts()).toEqual([
    "Русский",
    "Switch to dark colours",
    "Keyboard",
    "Sign out",
  ]);
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await menu.waitFor({ state: "detached" });
  await page.locator(".name-button:focus").waitFor();
});

browserTest("each server has its own colour and icon, which the tab loses after signing out", async () => {
  const looks = await Promise.all(
    (["small", "busy"] as const).map(async (server) => {
      const page = await openView("players", { server });
      return page.evaluate<string>("document.querySelector('link[rel=icon]').href");
    }),
  );
  expect(looks[0]).toContain(encodeURIComponent(">RR<"));
  const page = await openView("players", { server: "small" });
  await signOut(page);
  await page.locator("form").waitFor();
  expect(looks).not.toContain(await page.evaluate<string>("document.querySelector('link[rel=icon]').href"));
});

const focusedText = (page: Page) => page.evaluate<string>("document.activeElement.innerText");

browserTest("the keyboard alone can use the skip link, open views and sort", async () => {
  const page = await openView("players", { server: "small" });
  await page.locator("table").waitFor();
  const focused = () => page.evaluate<string>("document.activeElement.textContent");
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("Skip to the content");
  await page.keyboard.press("Enter");
  expect(await page.evaluate<string>("document.activeElement.id")).toBe("content");

  await page.getByRole("link", { name: "Staff" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Staff", level: 1 }).waitFor();
  expect(await page.evaluate<string>("document.activeElement.id")).toBe("content");

  const header = page.getByRole("columnheader", { name: "Name" });
  await header.getByRole("button").focus();
  await page.keyboard.press("Enter");
  expect(await header.getAttribute("aria-sort")).toBe("ascending");
  await page.keyboard.press("Space");
  expect(await header.getAttribute("aria-sort")).toBe("descending");
});

browserTest("an unknown view in the URL shows a notice", async () => {
  const page = await openPage({ view: "nowhere", key: await (await getSite()).mintKey() });
  await page.getByText("There is no such view.").waitFor();
});

/** What the rows of a view say in Russian on a phone. */
const RUSSIAN_ROWS: Partial<Record<(typeof TABLES)[number], (page: Page) => Promise<void>>> = {
  async staff(page) {
    const row = page.getByRole("list", { name: "Администрация" }).locator("> li").first();
    expect(await row.innerText()).toContain("Администратор");
  },
  async vehicles(page) {
    const rows = page.getByRole("list", { name: "Транспорт" }).locator("> li");
    expect(await rows.count()).toBe(SMALL_SERVER.Vehicles.length);
    const row = rows.filter({ hasText: "ABC-100" });
    await row.getByRole("button", { name: "Подробнее" }).click();
    const plain = await row.innerText();
    expect(plain).toContain("Номер");
    // A row leaves out what a vehicle does not have.
    expect(plain).not.toContain("Окраска");
  },
  async calls(page) {
    const row = page.getByRole("list", { name: "Экстренные вызовы" }).locator("> li").first();
    await row.getByRole("button", { name: "Подробнее" }).click();
    const text = (await row.innerText()).replaceAll(/\s/g, " ");
    expect(text).toContain(formatLocalTime(START_SECONDS - 60, "ru"));
    expect(text).toContain("Кто вызвал");
    expect(text).toContain("назад");
    await page.getByRole("list", { name: "Принятые вызовы" }).getByText(nameOf(3)).first().waitFor();
  },
};

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    if (!isTestedVariant(language, size)) continue;
    browserTest(`tables and logs are translated, accessible and fit, ${language} ${size}`, async () => {
      const isDark = (language === "ru") === (size === "desktop");
      const scheme = isDark ? "dark" : "light";
      const page = await openView("players", { language, size, scheme, server: "small" });
      for (const view of TABLES) {
        await goTo(page, view);
        await page.locator("[data-testid=count]").first().waitFor();
        await expectNoSidewaysScroll(page);
        await expectAccessible(page);
        if (language === "ru" && size === "phone") await RUSSIAN_ROWS[view]?.(page);
      }
    });
  }
}

browserTest("on an empty server each view says what there is none of", async () => {
  const page = await openView("live", { server: "empty" });
  const texts = {
    live: ["Nobody is playing.", "No calls are waiting", "There are no emergency calls.", "The log is empty."],
    map: ["Nobody is on the map"],
    players: ["Nobody is on the server"],
    staff: ["The server has no staff"],
    vehicles: ["There are no vehicles on the server"],
    calls: ["There are no emergency calls"],
    logs: ["Nothing has been logged yet"],
  };
  for (const [view, says] of Object.entries(texts)) {
    await goTo(page, view);
    for (const text of says) await page.locator("#content").getByText(text).first().waitFor();
    if (view === "live" || view === "map") await expectAccessible(page);
  }
});

browserTest("the views say that the game server is offline, without any data before", async () => {
  const page = await openView("live", { server: "offline", expectedStatuses: [400] });
  const notice = page.getByRole("heading", { name: "The game server is offline" });
  await notice.waitFor();
  // Its name in the game was never read.
  await expectTitle(page, "Live · offline");
  await expectAccessible(page);
  for (const [view, title] of [
    ["players", "Players"],
    ["map", "Map"],
    ["plots", "Plots"],
  ] as const) {
    await goTo(page, view);
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    if (view === "plots") await page.getByText("Last hour", { exact: true }).click();
    await notice.waitFor();
  }
});

browserTest("the view names the sections that a key may not read, and shows the others", async () => {
  const site = await getSite();
  const key = await site.mintKey("busy", { sections: toSectionSet(["EmergencyCalls"]) });
  const page = await openView("calls", { key });
  await page.getByText("Left out, because you have no right to it").waitFor();
  await expectCount(page.getByRole("table", { name: "Emergency calls" }).getByRole("row"), 7);
  expect(await page.getByRole("heading", { name: "Calls for a moderator" }).count()).toBe(0);
  await page.getByRole("link", { name: "Calls", exact: true }).waitFor();
  expect(await page.title()).toBe("Calls · Riverside Roleplay");
});
