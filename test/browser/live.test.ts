// The view "live".
import { expect } from "bun:test";
import { toSectionSet } from "../../src/core/sections.ts";
import {
  browserTest,
  expectAccessible,
  expectNoSidewaysScroll,
  getSite,
  isTestedVariant,
  LANGUAGES,
  openPage,
  openView,
  SIZES,
} from "./browser.ts";
import { BUSY_SERVER, nameOf } from "./game-server-fixture.ts";

const TITLES = { en: "Live", ru: "Сейчас" } as const;

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    for (const scheme of ["light", "dark"] as const) {
      if (!isTestedVariant(language, size, scheme)) continue;
      browserTest(`the live view is complete and accessible: ${language}, ${size}, ${scheme}`, async () => {
        const page = await openView("live", { language, size, scheme });
        expect(await page.locator("h1").innerText()).toBe(TITLES[language]);
        expect(await page.locator("#content section h2").count()).toBe(6);
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
      });
    }
  }
}

browserTest("the card of the server shows its players, queue, owner and settings", async () => {
  const page = await openView("live");
  const card = page.getByRole("region", { name: "Server", exact: true });
  const text = await card.innerText();
  for (const part of [
    "Riverside Roleplay",
    "40",
    "of 60 players",
    "20 places free",
    "3 players wait",
    "123",
  ]) {
    expect(text).toContain(part);
  }
  expect(text).toContain("phone or identity document");
  expect(await card.getByRole("progressbar", { name: "Players" }).getAttribute("aria-valuetext")).toBe(
    "40 of 60 players",
  );
});

browserTest("the join key is not in the page until the user shows it", async () => {
  const page = await openView("live");
  const card = page.getByRole("region", { name: "Server", exact: true });
  expect(await page.content()).not.toContain(BUSY_SERVER.JoinKey);
  await card.getByRole("button", { name: "Show the join key" }).click();
  await card.getByText(BUSY_SERVER.JoinKey, { exact: true }).waitFor();
  await card.getByRole("button", { name: "Hide the join key" }).click();
  expect(await page.content()).not.toContain(BUSY_SERVER.JoinKey);

  await card.getByRole("button", { name: "Copy: Join key" }).click();
  await card.getByRole("button", { name: "Copied: Join key" }).waitFor();
  expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(BUSY_SERVER.JoinKey);
});

browserTest("players are counted by team, and only unanswered calls are shown as waiting", async () => {
  const page = await openView("live");
  const teams = page.getByRole("region", { name: "Teams" });
  const police = BUSY_SERVER.Players.filter(({ Team }) => Team === "Police").length;
  expect(await teams.getByRole("progressbar", { name: "Police" }).getAttribute("aria-valuetext")).toBe(
    `${police} players`,
  );
  const calls = page.getByRole("region", { name: "Calls for a moderator" });
  const open = BUSY_SERVER.ModCalls.filter(({ Moderator }) => Moderator === null).length;
  expect(await calls.getByRole("listitem").count()).toBe(open);
  expect(await calls.innerText()).not.toContain(nameOf(7));
  const moves = page.getByRole("region", { name: "Last joins and leaves" });
  expect(await moves.getByRole("listitem").first().innerText()).toContain(nameOf(0));
});

browserTest(
  "on a phone the calls that wait are seen without scrolling, and the menu has their number",
  async () => {
    const page = await openView("live", { language: "ru", size: "phone" });
    const calls = page.getByRole("region", { name: "Вызовы модератора" });
    const first = calls.getByRole("listitem").first();
    const box = await first.boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(844);
    expect(await first.innerText()).toMatch(/Ждёт [45]\d мин/);
    await page.getByRole("button", { name: "Открыть меню, 4 вызова модератора ждут ответа" }).click();
    await page.getByRole("link", { name: "Вызовы 4 ждут ответа", exact: true }).click();
    await page.getByRole("heading", { name: "Вызовы", level: 1 }).waitFor();
    await page.setViewportSize({ width: 320, height: 640 });
    await expectNoSidewaysScroll(page);
  },
);

/** Stops every timer of four seconds and more, so that the page does not poll. */
const NO_POLLING = `const set = window.setTimeout.bind(window);
window.setTimeout = (run, ms, ...more) => (ms >= 4000 ? 0 : set(run, ms, ...more));`;

browserTest(
  "a second that passes changes the text of a wait and nothing else, whatever was stored",
  async () => {
    const storage = `localStorage.setItem("gatehouse.seen-calls", '{"a":{"b":"c"},"__proto__":[{}],"d":');`;
    const page = await openView("live", { prelude: NO_POLLING + storage });
    const calls = page.getByRole("region", { name: "Calls for a moderator" });
    const time = calls.locator("time").last();
    await time.waitFor();
    const changed = await page.evaluate<readonly string[]>(`new Promise((resolve) => {
    const changes = [];
    new MutationObserver((records) => {
      for (const { type, target } of records) changes.push(type + " " + target.parentElement.localName);
      resolve(changes);
    }).observe(document.querySelector(".waiting-calls"), {
      subtree: true, childList: true, attributes: true, characterData: true,
    });
  })`);
    expect(new Set(changed)).toEqual(new Set(["characterData time"]));
    expect(await time.innerText()).toMatch(/^Waiting \d+ min \d\d s$/);
  },
);

browserTest("the view shows the age of the data, and keeps the last data through failures", async () => {
  const site = await getSite();
  let isDown = false;
  await site.addServer("live-fails", () =>
    isDown
      ? Response.json({ code: 1001, message: "could not talk to the game" }, { status: 500 })
      : Response.json(BUSY_SERVER),
  );
  const page = await openView("live", { server: "live-fails", expectedStatuses: [400] });
  const fresh = page.getByRole("region", { name: "Data freshness" });
  expect(await fresh.innerText()).toContain("online");
  expect(await fresh.innerText()).toMatch(/\d+ of 120/);
  isDown = true;
  await fresh.getByText("could not talk to the game").waitFor();
  await page.getByText("You see the last data that arrived.").waitFor();
  expect(await page.getByRole("region", { name: "Server", exact: true }).innerText()).toContain("40");
  await expectAccessible(page);
});

browserTest("the view says that a server is offline, without any data before", async () => {
  const page = await openView("live", { server: "offline", expectedStatuses: [400] });
  await page.getByRole("heading", { name: "The game server is offline" }).waitFor();
  await expectAccessible(page);
});

browserTest("the cards of an empty server say that it is empty", async () => {
  const page = await openView("live", { server: "empty" });
  for (const text of [
    "Nobody is playing.",
    "No calls are waiting",
    "There are no emergency calls.",
    "The log is empty.",
  ]) {
    await page.getByText(text).waitFor();
  }
  await expectAccessible(page);
});

browserTest("a key with few rights sees which cards are left out", async () => {
  const site = await getSite();
  const key = await site.mintKey("busy", { sections: toSectionSet(["Players"]) });
  const page = await openPage({ view: "live", key });
  await page.getByText("Left out, because the operator has not given this key the right").waitFor();
  const calls = page.getByRole("region", { name: "Emergency calls" });
  expect(await calls.innerText()).toContain("This key may not read this.");
  expect(await page.getByRole("region", { name: "Teams" }).innerText()).toContain("Police");
  await expectAccessible(page);
});
