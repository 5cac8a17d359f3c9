// Names that want to be more than text stay text, in every view that there is.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import {
  browserTest,
  expectAccessible,
  expectNoSidewaysScroll,
  getSite,
  openPage,
  type Size,
  walkViews,
} from "./browser.ts";
import { HOSTILE_NAMES, makeHostileTown } from "./hostile-names.ts";

const MARKUP =
  "script, iframe, object, embed, img, video, form[action], base, meta, link, math, a[href^='javascript']";
const TABLES = ["players", "staff", "vehicles", "calls", "logs"];

async function openHostile(size: Size): Promise<Page> {
  const site = await getSite();
  const town = `hostile-${size}`;
  const text = JSON.stringify(makeHostileTown());
  await site.addTown(town, () => new Response(text, { headers: { "Content-Type": "application/json" } }));
  return openPage({ size, view: "players", key: await site.mintKey(town) });
}

async function expectHarmless(page: Page): Promise<void> {
  // What the names ask for would have happened by then.
  await page.waitForTimeout(150);
  expect(await page.evaluate<unknown>("window.hostile")).toBeUndefined();
  expect(await page.evaluate<unknown>("({}).hostile")).toBeUndefined();
  expect(await page.locator("#content").locator(MARKUP).count()).toBe(0);
  expect(await page.locator("script:not([src^='/assets/'])").count()).toBe(0);
  expect(await page.locator("#content").innerText()).not.toContain("This view has failed");
}

for (const size of ["desktop", "phone"] as const) {
  browserTest(`fifty hostile names in every field execute nothing in any view, ${size}`, async () => {
    expect(new Set(HOSTILE_NAMES).size).toBe(50);
    const page = await openHostile(size);
    const views = await walkViews(page, async (view) => {
      await expectHarmless(page);
      if (TABLES.includes(view)) await expectNoSidewaysScroll(page);
    });
    expect(views.length).toBeGreaterThan(6);
  });
}

browserTest("a hostile name is shown as it is: cut when long, apart from the text around it", async () => {
  const page = await openHostile("desktop");
  const text = await page.locator("#content table").innerText();
  expect(text).toContain("<script>window.hostile=1</script>");
  expect(text).toContain("{{n}} $t(shell:signOut) {{count}}");
  expect(text).not.toContain("W".repeat(200));
  // Nobody can turn the text around, or look like somebody else with characters that cannot be seen.
  expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/);
  expect(text).toContain("202E");

  const cell = page.locator("tbody th", { hasText: "WWWWWWWW" });
  await cell.getByRole("button", { name: "Show the whole text" }).click();
  const whole = page.getByRole("dialog");
  await whole.waitFor();
  expect(await whole.innerText()).toContain("W".repeat(10_240));
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await whole.waitFor({ state: "hidden" });
  await expectHarmless(page);
});
