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
    const page = await openView("players", { server: "small", expectedStatuses: [503] });
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
  await signIn(page, await site.mintKey("small"));
  await page.getByRole("heading", { name: "Не удалось загрузить раздел" }).waitFor();
  outage.end();
  await page.getByRole("button", { name: "Повторить" }).click();
  await page.locator("#content h1").waitFor();
  // The line of the past is in a file of its own, which may come before or after this moment.
  expect(outage.loaded.length).toBeGreaterThan(0);
  expect(outage.loaded).toEqual(outage.loaded.map(() => expect.stringMatching(/^\/assets\/pages-/)));
});

/** The files that a page loads on its way through all views, by view. */
async function listLoaded(token: string): Promise<readonly (readonly [view: string, files: readonly string[]])[]> {
  const page = await openPage({ expectedStatuses: [503] });
  await page.route("**/assets/main-*", (route) => route.fulfill({ status: 503, body: "" }));
  const requested: string[] = [];
  page.on("request", (request) => {
    const name = /^\/assets\/(.*)-\w+\.js$/.exec(new URL(request.url()).pathname)?.[1];
    // A plot loads the program that draws it when it is drawn, which may be in the next view.
    if (name !== undefined && name !== "line-plot") requested.push(name);
  });
  await signIn(page, token);
  const loaded: [string, string[]][] = [];
  await visitViews(page, async (view) => {
    loaded.push([view, requested.splice(0)]);
  });
  return loaded;
}

/** Live has one file with Calls, and shows a line of the past, which has one with Plots. */
const LIVE_FIRST: Readonly<Record<string, readonly string[]>> = { live: ["pages", "pages"], calls: [], plots: [] };

browserTest("a view of the caller loads one file, because the page has loaded the shared ones", async () => {
  const loaded = await listLoaded(await (await getSite()).mintKey("small"));
  expect(loaded).toEqual(loaded.map(([view]) => [view, LIVE_FIRST[view] ?? [`${view}-view`]]));
});

browserTest("the operator loads the frame, the overview, and one file for all other views", async () => {
  const loaded = await listLoaded((await getSite()).masterKey);
  expect(loaded.flatMap(([, files]) => files)).toEqual(["operator-frame", "overview-view", "components"]);
});
