// What the page shows while it gets no data, and how soon it recovers.
import { expect } from "bun:test";
import { until } from "../until.ts";
import {
  blockKey,
  browserTest,
  expectAccessible,
  expectTitle,
  freshMark,
  getSite,
  openNameMenu,
  openPage,
  openView,
} from "./browser.ts";
import { BUSY_SERVER } from "./game-server-fixture.ts";

browserTest("the page recovers from a block that is lifted early when the user refreshes", async () => {
  const site = await getSite();
  const server = site.getServer("small");
  const { token, keyId } = await site.gatehouse.addKey(server);
  const page = await openView("live", { key: token, expectedStatuses: [429] });
  const bar = page.getByRole("region", { name: "Freshness of the data" });
  await freshMark(page).waitFor();
  await blockKey(site, { keyId, serverId: server.serverId });
  await bar.getByText("Key blocked").waitFor();
  expect(await bar.innerText()).toMatch(/next in \d+ (?:s|min)/);
  expect(await page.locator("#content").innerText()).not.toMatch(/\d+ of 120|requests left/);
  await expectAccessible(page);

  await site.gatehouse.admin("DELETE", `/admin/blocks/${keyId}`);
  const recovered = freshMark(page);
  // The page ignores a click too soon after the last request, so click again.
  for (let clicks = 0; clicks < 10 && !(await recovered.isVisible()); clicks++) {
    await page.getByRole("button", { name: "Refresh now" }).click();
    await recovered.waitFor({ timeout: 1_000 }).catch(() => {});
  }
});

browserTest('during a block "Refresh now" sends a request every few seconds, not with every click', async () => {
  const site = await getSite();
  const server = site.getServer("small");
  const { token, keyId } = await site.gatehouse.addKey(server);
  const page = await openView("players", { key: token, expectedStatuses: [429] });
  await blockKey(site, { keyId, serverId: server.serverId });
  await page.getByText("Key blocked").waitFor();
  const requestTimes: number[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/v2/")) requestTimes.push(Date.now());
  });
  const button = page.getByRole("button", { name: "Refresh now" });
  await button.evaluate((element: { click(): void }) => void setInterval(() => element.click(), 50));
  await until("the page does not ask again", () => requestTimes.length >= 2);
  const [first = 0, second = 0] = requestTimes;
  // The interval is three seconds, but the test may notice the first request late.
  expect(second - first).toBeGreaterThanOrEqual(2_000);
});

browserTest("after an outage the first request that succeeds makes the page poll again", async () => {
  const site = await getSite();
  await site.addServer("outage server", () => Response.json(BUSY_SERVER));
  const page = await openView("commands", { server: "outage server" });
  await freshMark(page).waitFor();
  let isDown = true;
  await page.route(/\/v2\//, (route) =>
    isDown ? route.fulfill({ status: 200, body: "<html>starting</html>" }) : route.continue(),
  );
  await page.getByText("Gatehouse unreachable").waitFor();
  // The longest wait between two polls; the recovery below must be faster.
  await page.getByText(/next in (?:9|10|11) s/).waitFor({ timeout: 30_000 });
  isDown = false;
  const line = page.getByRole("combobox", { name: "Command", exact: true });
  await line.fill(":h back again");
  await line.press("Escape");
  await line.press("Enter");
  await freshMark(page).waitFor({ timeout: 6_000 });
});

const BROKEN_GATEWAY = () => new Response("<html>502</html>", { status: 502 });
const REFUSED_KEY = () => Response.json({ code: 2002, message: "that key is wrong" }, { status: 403 });
const BROKEN_GAME = () => Response.json({ code: 1001, message: "no words from Liberty" }, { status: 500 });

browserTest("an error of the game API is explained in the user's language, and its message is quoted", async () => {
  const site = await getSite();
  const cases = [
    [
      BROKEN_GATEWAY,
      "The game API has given no usable answer. The game API answered with HTTP 502.",
      "Игровой API не дал внятного ответа. The game API answered with HTTP 502.",
    ],
    [
      BROKEN_GAME,
      "The game API could not talk to the game (1001). The game API says: no words from Liberty",
      "Игровой API не смог связаться с игрой (1001). Игровой API сообщает: no words from Liberty",
    ],
    [
      REFUSED_KEY,
      "Ask your operator to set the server key anew. The server key is wrong or has expired (2002). The game API says: that key is wrong",
      "Попросите оператора заново задать ключ сервера. Ключ сервера неверен или истёк (2002). Игровой API сообщает: that key is wrong",
    ],
  ] as const;
  for (const [index, [answer, english, russian]] of cases.entries()) {
    await site.addServer(`broken ${index}`, answer);
    const page = await openView("players", { server: `broken ${index}`, expectedStatuses: [400] });
    const content = page.locator("#content");
    for (const [language, says] of [
      ["en", english],
      ["ru", russian],
    ] as const) {
      if (language === "ru") await (await openNameMenu(page)).getByRole("button", { name: "Русский" }).click();
      await content.getByText(says, { exact: true }).first().waitFor();
      expect(await content.innerText()).not.toMatch(/(?:says|сообщает): The game API/);
    }
  }
});

browserTest("invisible characters in the name of the server are marked in the header and in the title", async () => {
  const site = await getSite();
  await site.addServer("bidi server", () => Response.json({ ...BUSY_SERVER, Name: "River\u202eedis\u200b RP" }));
  const page = await openView("players", { server: "bidi server" });
  const name = page.locator("header [title]", { hasText: "River" });
  expect(await name.getAttribute("title")).toBe("River[202E]edis[200B] RP");
  expect(await name.innerText()).not.toMatch(/[\u202e\u200b]/);
  expect(await name.locator(".invisible-character").allInnerTexts()).toEqual(["202E", "200B"]);
  await expectTitle(page, "(4) Players · River[202E]edis[200B] RP");
});

browserTest("a text is copied also without a clipboard API, and a failure is shown", async () => {
  const site = await getSite();
  const prelude = `Object.defineProperty(navigator, "clipboard", { value: undefined });
    addEventListener("copy", () => (window.copied = getSelection().toString()));`;
  const page = await openPage({ key: await site.mintKey("small"), view: "players", prelude });
  const row = page.locator("tbody tr").first();
  await row.getByRole("button", { name: "Copy: AveryStone" }).click();
  await row.getByRole("button", { name: "Copied: AveryStone" }).waitFor();
  expect(await page.evaluate<string>("window.copied")).toBe("AveryStone");

  await page.evaluate("document.execCommand = () => false");
  await row.getByRole("button", { name: "Copy: AveryStone" }).click();
  await row.getByRole("alert").filter({ hasText: "Could not be copied" }).waitFor();
});

browserTest("times are formatted for the user's region", async () => {
  for (const locale of ["en-GB", "de-DE"]) {
    const page = await openView("logs", { locale });
    const time = page.locator("[data-entry] time").first();
    expect(await time.innerText()).toMatch(/^\d\d:\d\d:\d\d /);
    expect(await time.getAttribute("title")).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d:\d\d$/);
  }
});

browserTest("a phone shows no hint about keys that it does not have", async () => {
  const hint = "Arrow keys bring back earlier lines";
  const desktop = await openView("commands", { server: "small" });
  await desktop.getByText(hint).waitFor();
  const phone = await openView("commands", { server: "small", size: "phone" });
  expect(await phone.getByText(hint).isVisible()).toBe(false);
});
