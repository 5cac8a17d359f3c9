// A page whose Gatehouse goes away for a while, and comes back.
import { browserTest, getSite, openPage, openView } from "./browser.ts";

browserTest(
  "a view opened during an outage says so, and is loaded anew on request or on return",
  async () => {
    const page = await openView("players", { refusals: [503] });
    await page.route("**/assets/*", (route) => route.fulfill({ status: 503, body: "" }));
    const missing = page.getByRole("heading", { name: "This view could not be loaded" });
    await page.getByRole("link", { name: "Vehicles" }).click();
    await missing.waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await missing.waitFor();
    await page.getByRole("link", { name: "Staff" }).click();
    await page.locator('nav a[href="#/staff"][aria-current=page]').waitFor();
    await missing.waitFor();
    await page.unroute("**/assets/*");

    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Staff", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Vehicles" }).click();
    await page.getByRole("heading", { name: "Vehicles", level: 1 }).waitFor();
  },
);

browserTest("the first view, too, is loaded anew after an outage, without signing in again", async () => {
  const site = await getSite();
  const page = await openPage({ language: "ru", refusals: [503] });
  const route = "**/assets/live-*.js";
  await page.route(route, (asked) => asked.fulfill({ status: 503, body: "" }));
  await page
    .locator("form input:not([type=checkbox])")
    .first()
    .fill(await site.mintKey());
  await page.locator("form button[type=submit]").click();
  await page.getByRole("heading", { name: "Не удалось загрузить раздел" }).waitFor();
  await page.unroute(route);
  await page.getByRole("button", { name: "Повторить" }).click();
  await page.locator("#content h1").waitFor();
});
