// Remembered devices and one-time links in a real browser: what the page keeps, and when it is signed out.
import { expect } from "bun:test";
import {
  browserTest,
  expectAccessible,
  expectNoSidewaysScroll,
  getSite,
  openPage,
  openView,
  signIn,
} from "./browser.ts";

browserTest("a remembered device signs in by itself, renews its token, and ends with Sign out", async () => {
  const site = await getSite();
  const key = await site.mintKey();
  const page = await openPage({ expectedStatuses: [401] });
  const asked: string[] = [];
  page.context().on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/session")) asked.push(`${request.method()} ${pathname}`);
  });
  await page.locator("form").waitFor();
  // Nobody who did not choose to be remembered makes a request for it.
  expect(asked).toEqual([]);

  await signIn(page, key, { remember: true });
  await page.getByRole("navigation").waitFor();
  expect(asked).toEqual(["POST /session/devices"]);
  const kept = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])";
  expect(await page.evaluate<string>(kept)).not.toMatch(/gt[hsd]_/);
  const [cookie] = await page.context().cookies(`${site.url}/session`);
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/session" });

  const other = await page.context().newPage();
  await other.goto(`${site.url}/#/players`);
  await other.locator("table").waitFor();
  expect(asked).toEqual(["POST /session/devices", "POST /session"]);

  // A token that has expired is replaced, and the user notices nothing.
  let refused = 0;
  await other.route(/\/v2\/game\/server\?/, (route) => {
    if (++refused > 1) return route.continue();
    const body = JSON.stringify({ code: 5008, message: "invalid_token" });
    return route.fulfill({ status: 401, contentType: "application/json", body });
  });
  const renewed = other.waitForRequest(/\/session$/);
  await other.getByRole("link", { name: "Vehicles" }).click();
  await renewed;
  await other.locator("h1", { hasText: "Vehicles" }).waitFor();
  await other.locator("table").waitFor();

  await other.getByRole("button", { name: "Sign out" }).click();
  await other.locator("form").waitFor();
  // The other tab has a token of the same device.
  await page.getByRole("alert").filter({ hasText: "no longer signed in" }).waitFor();
  const before = asked.length;
  await page.reload();
  await page.locator("form").waitFor();
  expect(asked).toHaveLength(before);
});

browserTest("a link from the operator signs a phone in once, and the operator signs it out", async () => {
  const site = await getSite();
  const { keyId } = await site.gatehouse.addKey(site.getServer("busy"));
  await site.gatehouse.admin("PATCH", `/admin/keys/${keyId}`, { label: "Phone of the night shift" });
  const operator = await openView("keys", { site, key: site.masterKey, expectedStatuses: [404] });
  await operator.getByLabel("Search").fill("night shift");
  await operator.getByRole("button", { name: "Details of Phone of the night shift" }).click();
  const devices = operator.getByRole("region", { name: "Signed-in browsers" });
  await devices.getByText("None.").waitFor();
  await devices.getByRole("button", { name: "Make a sign-in link" }).click();
  await operator.getByRole("img", { name: "QR code of the link" }).waitFor();
  await expectAccessible(operator);
  const url = await operator.locator("[data-link]").innerText();
  expect(url).toStartWith(`${site.url}/#/link/gtl_`);

  const phone = await openPage({
    language: "ru",
    size: "phone",
    scheme: "dark",
    view: url.slice(url.indexOf("link/")),
    expectedStatuses: [401],
  });
  await phone.getByText("одноразовой ссылке").waitFor();
  expect(phone.url()).toBe(`${site.url}/`);
  await expectAccessible(phone);
  await expectNoSidewaysScroll(phone);
  await phone.getByLabel("Запомнить это устройство").check();
  await phone.getByRole("button", { name: "Войти" }).click();
  await phone.locator("#content h1").waitFor();

  const again = await openPage({ view: url.slice(url.indexOf("link/")), expectedStatuses: [401] });
  await again.getByRole("button", { name: "Sign in" }).click();
  await again.getByRole("alert").filter({ hasText: "This link no longer works" }).waitFor();
  await again.getByRole("button", { name: "Sign in with a key" }).click();
  await again.locator("form").waitFor();

  await operator.keyboard.press("Escape");
  await operator.getByRole("button", { name: "Details of Phone of the night shift" }).click();
  await devices.getByRole("button", { name: /^Sign out Chrome/ }).click();
  await devices.getByText("None.").waitFor();
  await phone.getByRole("alert").filter({ hasText: "вход больше не действует" }).waitFor();
});
