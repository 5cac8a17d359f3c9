// Signing in: every failure is explained, and the key is sent in a header and nowhere else.
import { expect } from "bun:test";
import {
  blockKey,
  browserTest,
  expectAccessible,
  expectNoSidewaysScroll,
  expectTitle,
  getSite,
  isTestedVariant,
  LANGUAGES,
  openPage,
  SIZES,
  signIn,
  signOut,
} from "./browser.ts";

/** Answers of Gatehouse, and what the form shows; the code lets the user ask the operator. */
const REFUSALS = [
  { key: "gth_x", status: 401, code: 5007, says: "No key reached Gatehouse" },
  { key: "gth_x", status: 401, code: 5008, says: "does not know this API key" },
  { key: "x", status: 401, code: 5006, says: "neither an API key" },
  { key: "x", status: 429, code: 5107, says: /Wait 1\d s/ },
  { key: "gth_x", status: 429, code: 5016, says: /Wait 1\d s/ },
  { key: "gth_x", status: 429, code: 5100, says: /ends in 1\d s/ },
  { key: "gth_x", status: 403, code: 5009, says: "suspended" },
  { key: "gth_x", status: 403, code: 5010, says: "version 2" },
  { key: "x", status: 404, code: 5020, says: "GATEHOUSE_ADMIN_PORT" },
  { key: "gth_x", status: 500, code: 5000, says: "an error of its own (5000)" },
] as const;

browserTest("each refusal is explained", async () => {
  const page = await openPage({ expectedStatuses: [401, 403, 404, 429, 500] });
  let refusal: (typeof REFUSALS)[number] = REFUSALS[0];
  await page.route(/\/v2\/|\/admin\//, (route) => {
    const { status, code } = refusal;
    const body = { code, message: "no", retry_after: 17 };
    return route.fulfill({ status, contentType: "application/json", body: JSON.stringify(body) });
  });
  for (refusal of REFUSALS) {
    await signIn(page, refusal.key);
    const alert = page.getByRole("alert");
    await alert.filter({ hasText: refusal.says }).waitFor();
    expect(await alert.innerText()).toContain(String(refusal.code));
  }
  await expectAccessible(page);
});

browserTest("no key, an unknown key and a text that is no key have different messages", async () => {
  const page = await openPage({ expectedStatuses: [401] });
  for (const [key, says] of [
    ["  ", "Enter a key first."],
    ["gth_0000000000000000000000000000000000000000000", "(5008)"],
    ["this-is-not-the-master-key", "(5006)"],
    ["ключ", "(5006)"],
  ] as const) {
    await signIn(page, key);
    await page.getByRole("alert").filter({ hasText: says }).waitFor();
  }
});

browserTest("an unreachable Gatehouse is not reported as a wrong key", async () => {
  const page = await openPage();
  await page.route(/\/v2\//, (route) => route.fulfill({ status: 200, body: "<html>a captive portal</html>" }));
  await signIn(page, "gth_x");
  expect(await page.getByRole("alert").innerText()).toContain("cannot be reached");
});

browserTest("the title has no name of the server after signing out", async () => {
  const page = await openPage({ key: await (await getSite()).mintKey(), view: "players" });
  await page.locator("table").waitFor();
  await expectTitle(page, "(4) Players · Riverside Roleplay");
  await signOut(page);
  await page.locator("form").waitFor();
  expect(await page.title()).toBe("Sign in to Gatehouse");
});

browserTest("a key stays for the tab over a reload, and is never in a URL or kept for longer", async () => {
  const site = await getSite();
  const key = await site.mintKey();
  const page = await openPage();
  const urls: string[] = [];
  page.context().on("request", (request) => urls.push(request.url()));
  const readStores = () =>
    page.evaluate<string>("JSON.stringify([Object.values(localStorage), document.cookie, history.state])");

  await signIn(page, key);
  await page.getByRole("navigation").waitFor();
  expect(await page.evaluate<string>("Object.values(sessionStorage).join()")).toContain(key);
  expect(await readStores()).not.toContain(key);
  await page.reload();
  await page.getByRole("navigation").waitFor();
  expect([page.url(), ...urls].filter((url) => url.includes(key))).toEqual([]);

  const other = await page.context().newPage();
  await other.goto(site.url);
  await other.locator("form").waitFor();

  await signOut(page);
  await page.locator("form").waitFor();
  expect(await page.evaluate<number>("Object.keys(sessionStorage).length")).toBe(0);
});

browserTest("the session ends with a message when its key is revoked", async () => {
  const site = await getSite();
  const { token, keyId } = await site.gatehouse.addKey(site.getServer("busy"));
  const page = await openPage({ expectedStatuses: [401], key: token, view: "players" });
  await page.locator("table").waitFor();
  expect(await page.getByRole("link", { name: "Console" }).count()).toBe(0);
  const answer = await site.gatehouse.admin("DELETE", `/admin/keys/${keyId}`);
  expect(answer.status).toBeLessThan(300);
  const alert = page.getByRole("alert");
  await alert.filter({ hasText: "You have been signed out" }).waitFor();
  expect(await alert.innerText()).toContain("(5008)");
});

browserTest("a stored key that is blocked can be tried again without typing it", async () => {
  const site = await getSite();
  const { serverId } = site.getServer("busy");
  const { token, keyId } = await site.gatehouse.addKey(site.getServer("busy"));
  const page = await openPage({ expectedStatuses: [429], key: token, view: "players" });
  await blockKey(site, { keyId, serverId });
  await page.reload();
  const alert = page.getByRole("alert");
  await alert.filter({ hasText: "Signing in did not work" }).waitFor();
  const readSeconds = async () => Number(/ends in (\d+) s/.exec(await alert.innerText())?.[1]);
  const first = await readSeconds();
  expect(first).toBeGreaterThan(200);
  await alert.filter({ hasText: `ends in ${first - 2} s` }).waitFor();
  expect(await page.title()).toBe("Sign in to Gatehouse");

  const again = page.getByRole("button", { name: "Try again" });
  const refused = page.waitForResponse((response) => response.status() === 429);
  await again.click();
  await refused;
  await site.gatehouse.admin("DELETE", `/admin/blocks/${keyId}`);
  await again.click();
  await page.locator("#content table").waitFor();
});

browserTest("the page offers what is set up, and the first of it has the focus", async () => {
  const page = await openPage();
  let methods = { passkeys: false, chat: false, admin: true };
  await page.route(/\/session\/methods$/, (route) => route.fulfill({ json: methods }));
  const focused = () =>
    page.evaluate<string>("document.activeElement.labels?.[0]?.innerText ?? document.activeElement.innerText");
  for (const [passkeys, chat, first] of [
    [false, false, "API key or master key"],
    [true, false, "Sign in with a passkey"],
    [false, true, "Sign in with Discord"],
    [true, true, "Sign in with a passkey"],
  ] as const) {
    methods = { passkeys, chat, admin: true };
    await page.reload();
    await page.locator("form").waitFor();
    expect(await focused()).toContain(first);
    expect(await page.getByRole("button", { name: "Sign in with a passkey" }).count()).toBe(passkeys ? 1 : 0);
    expect(await page.getByRole("link", { name: "Sign in with Discord" }).count()).toBe(chat ? 1 : 0);
  }
  await expectAccessible(page);
});

browserTest("what went wrong at the chat platform is said in words, and not left in the address", async () => {
  const site = await getSite();
  for (const [problem, says] of [
    ["unknown", "Nobody here has your Discord account"],
    ["cancelled", "was cancelled"],
    ["expired", "took too long"],
    ["failed", "did not answer as expected"],
  ] as const) {
    const page = await openPage({ view: `?problem=${problem}` });
    await page.getByRole("alert").filter({ hasText: says }).waitFor();
    expect(page.url()).toBe(`${site.url}/`);
  }
  const other = await openPage({ view: "?problem=toString" });
  await other.locator("form").waitFor();
  expect(await other.getByRole("alert").count()).toBe(0);
});

browserTest("the master key opens the operator's views", async () => {
  const site = await getSite();
  const page = await openPage();
  await signIn(page, site.masterKey);
  await page.getByRole("link", { name: "Servers", exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "Players" }).count()).toBe(0);
});

browserTest("the form is accessible in both languages and sizes", async () => {
  for (const language of LANGUAGES) {
    for (const size of SIZES) {
      if (!isTestedVariant(language, size)) continue;
      const page = await openPage({ language, size, scheme: size === "phone" ? "dark" : "light" });
      await page.locator("form").waitFor();
      const title = language === "ru" ? "Gatehouse" : "Sign in to Gatehouse";
      expect(await page.locator("h1").innerText()).toContain(title);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    }
  }
});
