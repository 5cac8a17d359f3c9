// Files that cannot be loaded while Gatehouse is unreachable, and what happens when it is back.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { browserTest, getSite, openPage, openView, signIn, visitViews } from "./browser.ts";

const MARK_PAGE = "window.isSamePage = true";
const IS_SAME_PAGE = "window.isSamePage === true";

/**
 * Fails every file of the dashboard until `end`. A URL that has failed once keeps failing, as in a browser that remembers
 * failed imports, so that the test is the same in every browser. `loaded` has the paths of the files that were sent.
 */
async function startOutage(page: Page) {
  const failed = new Set<string>();
  const loaded: string[] = [];
  let isOver = false;
  await page.route("**/assets/*", (route) => {
    const url = route.request().url();
    if (!isOver) failed.add(url);
    if (failed.has(url)) return route.fulfill({ status: 503, body: "" });
    loaded.push(new URL(url).pathname);
    return route.continue();
  });
  return {
    loaded,
    end() {
      isOver = true;
    },
  };
}

browserTest(
  'a view that could not be loaded is loaded by the first "Try again", or when the user comes back to it',
  async () => {
    const page = await openView("players", { expectedStatuses: [503] });
    await page.evaluate(MARK_PAGE);
    const outage = await startOutage(page);
    const missing = page.getByRole("heading", { name: "This view could not be loaded" });
    const tryAgain = page.getByRole("button", { name: "Try again" });
    await page.getByRole("link", { name: "Vehicles" }).click();
    await missing.waitFor();
    for (let click = 0; click < 3; click++) {
      const request = page.waitForRequest("**/assets/vehicles-*");
      await tryAgain.click();
      await request;
      await missing.waitFor();
    }
    await page.getByRole("link", { name: "Staff" }).click();
    await page.locator('nav a[href="#/staff"][aria-current=page]').waitFor();
    await missing.waitFor();
    outage.end();

    await tryAgain.click();
    await page.getByRole("heading", { name: "Staff", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Vehicles" }).click();
    await page.getByRole("heading", { name: "Vehicles", level: 1 }).waitFor();
    expect(await page.evaluate<boolean>(IS_SAME_PAGE)).toBe(true);
    expect(outage.loaded).toEqual([
      expect.stringMatching(/^\/assets\/staff-/),
      expect.stringMatching(/^\/assets\/vehicles-/),
    ]);
  },
);

browserTest('the first view is loaded by the first "Try again", without signing in again', async () => {
  const site = await getSite();
  const page = await openPage({ language: "ru", expectedStatuses: [503] });
  const outage = await startOutage(page);
  await signIn(page, await site.mintKey());
  await page.getByRole("heading", { name: "Не удалось загрузить раздел" }).waitFor();
  outage.end();
  await page.getByRole("button", { name: "Повторить" }).click();
  await page.locator("#content h1").waitFor();
  expect(outage.loaded).toEqual([expect.stringMatching(/^\/assets\/live-/)]);
});

for (const who of ["caller", "operator"] as const) {
  browserTest(
    `a view of the ${who} loads one file, because the page has loaded the shared ones`,
    async () => {
      const site = await getSite();
      const page = await openPage({ expectedStatuses: [503] });
      await page.route("**/assets/main-*", (route) => route.fulfill({ status: 503, body: "" }));
      const requested: string[] = [];
      page.on("request", (request) => {
        const { pathname } = new URL(request.url());
        // A plot loads the program that draws it when it is drawn, which may be in the next view.
        if (/^\/assets\/(?!line-plot-)/.test(pathname)) requested.push(pathname);
      });
      await signIn(page, who === "caller" ? await site.mintKey() : site.masterKey);
      const shared = /^\/assets\/operator-frame-/;
      let visited = 0;
      await visitViews(page, async (view) => {
        const loaded = requested.splice(0);
        // The operator's frame comes with the first view, because callers do not need it.
        if (who === "operator" && visited++ === 0) expect(loaded.shift()).toMatch(shared);
        expect(loaded).toEqual([expect.stringMatching(new RegExp(`^/assets/${view}-`))]);
      });
    },
  );
}
