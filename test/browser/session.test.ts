// The session of a person in a real browser: what the page keeps, how tokens are renewed, when it is signed out, and passkeys.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { browserTest, expectCount, getSite, invitePerson, openPage, openPerson, signOut } from "./browser.ts";

/** Everything that a script could read. */
const KEPT = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])";

function recordSessionRequests(page: Page): string[] {
  const asked: string[] = [];
  page.context().on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/session")) asked.push(`${request.method()} ${pathname}`);
  });
  return asked;
}

browserTest("a person stays signed in over a reload and in other tabs, and tokens are renewed unnoticed", async () => {
  const site = await getSite();
  const { page } = await openPerson({ name: "Tabs", roles: { busy: "moderator" } }, { expectedStatuses: [401] });
  const { serverId } = site.getServer("busy");
  // Whoever has one server starts there.
  await page.locator(`nav a[href="#/servers/${serverId}/live"][aria-current=page]`).waitFor();
  expect(await page.evaluate<string>(KEPT)).not.toMatch(/gt[hsdi]_/);
  const [cookie] = await page.context().cookies(`${site.url}/session`);
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/session" });
  expect(await page.context().cookies(site.url)).toEqual([]);
  await page.reload();
  await page.locator("#content .live-facts").first().waitFor();

  const other = await page.context().newPage();
  await other.goto(`${site.url}/#/servers/${serverId}/players`);
  await other.locator("table").waitFor();
  let refused = 0;
  await other.route(/\/v2\/game\/server\?/, (route) => {
    if (++refused > 1) return route.continue();
    return route.fulfill({ status: 401, json: { code: 5008, message: "invalid_token" } });
  });
  const renewed = other.waitForRequest(/\/session$/);
  await other.getByRole("link", { name: "Vehicles" }).click();
  await renewed;
  await other.locator("table").waitFor();

  await signOut(other);
  await other.locator("form").waitFor();
  // The first tab has a token of the same session.
  await page.getByRole("alert").filter({ hasText: "no longer signed in" }).waitFor();
  const asked = recordSessionRequests(page);
  await page.reload();
  await page.locator("form").waitFor();
  // Without a session nobody asks for one.
  expect(asked).toEqual(["GET /session/methods"]);
});

browserTest("an invitation asks before it signs in, leaves the address, and works once", async () => {
  const site = await getSite();
  const { view } = await invitePerson(site, { name: "Once", roles: { small: "viewer" } });
  const asked: string[] = [];
  const page = await openPage({ view, language: "ru", size: "phone", scheme: "dark" });
  page.on("request", (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.getByRole("heading", { name: "Вас пригласили в Gatehouse" }).waitFor();
  expect(page.url()).toBe(`${site.url}/`);
  expect(asked.filter((request) => request.includes("invitations"))).toEqual([]);
  await page.getByRole("button", { name: "Принять приглашение" }).click();
  await page.locator("#content h1").waitFor();

  const again = await openPage({ view, expectedStatuses: [401] });
  await again.getByRole("button", { name: "Accept the invitation" }).click();
  await again.getByRole("alert").filter({ hasText: "This invitation no longer works" }).waitFor();
  await again.getByRole("button", { name: "To the sign-in page" }).click();
  await again.locator("form").waitFor();
});

/** A passkey in the browser itself, which answers by itself, as a phone does after the fingerprint. */
async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

browserTest("a phone adds a passkey after its invitation, and then signs in with one tap of its own", async () => {
  const site = await getSite();
  const url = site.url.replace("127.0.0.1", "localhost");
  const { view } = await invitePerson(site, { name: "Passkey", roles: { busy: "trial" } });
  const page = await openPage({ url, size: "phone", expectedStatuses: [401] });
  await addAuthenticator(page);
  await page.evaluate(`location.hash = "#/${view}"`);
  await page.getByRole("button", { name: "Accept the invitation" }).click();
  const buttons = page.locator("main button:not([aria-label])");
  // The passkey is offered first.
  await page.getByRole("button", { name: "Add a passkey" }).waitFor();
  expect(await buttons.allInnerTexts()).toEqual(["Add a passkey", "Only this device, for 30 days"]);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.locator("#content h1").waitFor();

  await page.evaluate(`location.hash = "#/me"`);
  const passkeys = page.getByRole("region", { name: "Passkeys" });
  await passkeys.getByText("never used").waitFor();
  await signOut(page);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.locator("#content h1").waitFor();

  await page.evaluate(`location.hash = "#/me"`);
  await passkeys.getByText("last used").waitFor();
  // The same device has one already.
  await passkeys.getByRole("button", { name: "Add a passkey" }).click();
  await passkeys.getByRole("alert").filter({ hasText: "already has a passkey" }).waitFor();
  await passkeys.getByRole("button", { name: "Remove the passkey" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await passkeys.getByText("None yet.").waitFor();
  await signOut(page);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByRole("alert").filter({ hasText: "does not know this passkey" }).waitFor();
});

browserTest("where passkeys do not work one's own page says at which address they do", async () => {
  const { page } = await openPerson({ name: "At localhost", roles: { small: "viewer" } }, { expectedStatuses: [501] });
  const details = { address: "https://gatehouse.example.org" };
  await page.route("**/session/passkeys/options", (route) =>
    route.fulfill({ status: 501, json: { code: 5110, message: "not_configured", details } }),
  );
  await page.evaluate(`location.hash = "#/me"`);
  const passkeys = page.getByRole("region", { name: "Passkeys" });
  await passkeys.getByRole("button", { name: "Add a passkey" }).click();
  await passkeys.getByRole("alert").getByText("Passkeys work at https://gatehouse.example.org only").waitFor();
});

browserTest("one's own page ends another browser, which says so", async () => {
  const site = await getSite();
  const { page: first, personId } = await openPerson({ name: "Two browsers", roles: { busy: "viewer" } });
  const made = await site.gatehouse.admin("POST", `/admin/people/${personId}/invitations`);
  const { url } = (await made.json()) as { url: string };
  const second = await openPage({ view: url.slice(url.indexOf("#/") + 2), expectedStatuses: [401] });
  await second.getByRole("button", { name: "Accept the invitation" }).click();
  await second.locator("#content h1").waitFor();
  await first.evaluate(`location.hash = "#/me"`);
  const sessions = first.getByRole("region", { name: "Signed-in browsers" });
  await expectCount(sessions.locator("li"), 2);
  await sessions.getByRole("button", { name: /^Sign out Chrome/ }).click();
  await expectCount(sessions.locator("li"), 1);
  await second.getByRole("alert").filter({ hasText: "no longer signed in" }).waitFor();
});
