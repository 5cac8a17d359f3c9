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
  openPage,
  openView,
  SIZES,
} from "./browser.ts";

const TABLES = ["players", "staff", "vehicles", "calls", "logs"] as const;

async function goTo(page: Page, view: string): Promise<void> {
  await page.evaluate(`location.hash = "#/${view}"`);
  await page.locator(`nav a[href="#/${view}"][aria-current=page]`).waitFor({ state: "attached" });
  await page.locator("#content h1").waitFor();
  await page.locator("#content .mantine-Loader-root").waitFor({ state: "detached" });
}

browserTest("the language can be changed, and is kept after a reload", async () => {
  const page = await openView("players");
  expect(await page.locator("h1").innerText()).toBe("Players");
  await page.getByLabel("Language").first().selectOption("ru");
  await page.getByRole("heading", { name: "Игроки" }).waitFor();
  expect(await page.locator("html").getAttribute("lang")).toBe("ru");
  await expectTitle(page, "(4) Игроки · Riverside Roleplay");
  await page.reload();
  await page.getByRole("heading", { name: "Игроки" }).waitFor();
});

browserTest("the colours follow the system until the user changes them", async () => {
  const page = await openView("staff", { scheme: "dark" });
  const scheme = () => page.locator("html").getAttribute("data-mantine-color-scheme");
  expect(await scheme()).toBe("dark");
  await page.getByRole("button", { name: "Switch to light colours" }).first().click();
  expect(await scheme()).toBe("light");
  await page.reload();
  await page.locator("#content h1").waitFor();
  expect(await scheme()).toBe("light");
});

browserTest("on a phone the navigation is behind a burger button", async () => {
  const page = await openView("players", { size: "phone" });
  const link = page.getByRole("link", { name: "Vehicles" });
  expect(await link.isVisible()).toBe(false);
  await page.getByRole("button", { name: "Open the navigation" }).click();
  await link.waitFor();
  await expectAccessible(page);
  await link.click();
  await page.getByRole("heading", { name: "Vehicles", level: 1 }).waitFor();
  await link.waitFor({ state: "hidden" });
  expect(await page.getByRole("button", { name: "Open the navigation" }).getAttribute("aria-expanded")).toBe(
    "false",
  );
});

browserTest("the keyboard alone can use the skip link, open views and sort", async () => {
  const page = await openView("players");
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

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    if (!isTestedVariant(language, size)) continue;
    browserTest(`tables and logs are accessible and fit, ${language} ${size}`, async () => {
      const isDark = (language === "ru") === (size === "desktop");
      const scheme = isDark ? "dark" : "light";
      const page = await openView("players", { language, size, scheme, server: "small" });
      for (const view of TABLES) {
        await goTo(page, view);
        await page.locator("[data-testid=count]").first().waitFor();
        await expectNoSidewaysScroll(page);
        await expectAccessible(page);
      }
    });
  }
}

browserTest("on an empty server each view says what there is none of", async () => {
  const page = await openView("players", { server: "empty" });
  const texts = {
    players: "Nobody is on the server",
    staff: "The server has no staff",
    vehicles: "There are no vehicles on the server",
    calls: "There are no emergency calls",
    logs: "Nothing has been logged yet",
  };
  for (const view of TABLES) {
    await goTo(page, view);
    await page.getByText(texts[view]).waitFor();
  }
});

browserTest("the page says that the game server is offline", async () => {
  const page = await openView("players", { server: "offline", expectedStatuses: [400] });
  await page.getByRole("heading", { name: "The game server is offline" }).waitFor();
  await expectAccessible(page);
});

browserTest("the view names the sections that a key may not read, and shows the others", async () => {
  const site = await getSite();
  const key = await site.mintKey("busy", { sections: toSectionSet(["EmergencyCalls"]) });
  const page = await openView("calls", { key });
  await page.getByText("Left out, because the operator has not given this key the right").waitFor();
  await expectCount(page.getByRole("table", { name: "Emergency calls" }).getByRole("row"), 7);
  expect(await page.getByRole("heading", { name: "Calls for a moderator" }).count()).toBe(0);
  await page.getByRole("link", { name: "Calls", exact: true }).waitFor();
  expect(await page.title()).toBe("Calls · Riverside Roleplay");
});
