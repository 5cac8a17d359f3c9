// The view "live".
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
  HURRIED,
  isTestedVariant,
  LANGUAGES,
  openPage,
  openView,
  SIZES,
} from "./browser.ts";
import { BUSY_SERVER, nameOf, refOf } from "./game-server-fixture.ts";
import { PLAYED_STREAM, PlayedLedger } from "./played-ledger.ts";

const TITLES = { en: "Live", ru: "Сейчас" } as const;

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    for (const scheme of ["light", "dark"] as const) {
      if (!isTestedVariant(language, size, scheme)) continue;
      browserTest(`the live view is complete and accessible: ${language}, ${size}, ${scheme}`, async () => {
        const page = await openView("live", { language, size, scheme });
        expect(await page.locator("h1").innerText()).toBe(TITLES[language]);
        await expectCount(page.locator("#content section h2"), 6);
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
        if (language === "ru" && size === "phone") await expectCallsFirst(page);
      });
    }
  }
}

/** On a phone the calls that wait are seen without scrolling, and the bar has their number. */
async function expectCallsFirst(page: Page): Promise<void> {
  const calls = page.getByRole("region", { name: "Вызовы модератора" });
  const first = calls.locator(".waiting-call").first();
  const box = await first.boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(844);
  expect(await first.innerText()).toMatch(/Ждёт [2345]\d мин/);
  await page
    .locator(".phone-bar")
    .getByRole("link", { name: /^4 ждут ответа\s*Вызовы$/ })
    .click();
  await page.getByRole("heading", { name: "Вызовы", level: 1 }).waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  await expectNoSidewaysScroll(page);
}

browserTest("the strip and the cards show the server at a glance, the join key only on request", async () => {
  const page = await openView("live");
  const strip = page.getByRole("region", { name: "At a glance" });
  const numbers = (await strip.innerText()).replaceAll(/\s+/g, " ");
  for (const part of ["Players 40 of 60", "Queue 3", "Staff on duty 4", "Calls waiting 4", "Alerts 0"]) {
    expect(numbers).toContain(part);
  }
  expect(await strip.getByRole("progressbar", { name: "Players" }).getAttribute("aria-valuetext")).toBe(
    "40 of 60 players",
  );
  const card = page.getByRole("region", { name: "Server", exact: true });
  const text = await card.innerText();
  for (const part of ["Riverside Roleplay", "123", "phone or identity document"]) expect(text).toContain(part);

  const teams = page.getByRole("region", { name: "Teams" });
  const police = BUSY_SERVER.Players.filter(({ Team }) => Team === "Police").length;
  expect(await teams.getByRole("progressbar", { name: "Police" }).getAttribute("aria-valuetext")).toBe(
    `${police} players`,
  );
  const calls = page.getByRole("region", { name: "Calls for a moderator" });
  const open = BUSY_SERVER.ModCalls.filter(({ Moderator }) => Moderator === null).length;
  await expectCount(calls.locator(".waiting-call"), open);
  expect(await calls.innerText()).not.toContain(nameOf(7));
  const kills = page.getByRole("region", { name: "Kills", exact: true }).getByRole("listitem");
  await expectCount(kills, 7);
  expect((await kills.first().innerText()).replaceAll(/\s+/g, " ")).toContain(`${nameOf(0)} killed ${nameOf(1)}`);
  const moves = page.getByRole("region", { name: "Last joins and leaves" });
  expect(await moves.getByRole("listitem").first().innerText()).toContain(nameOf(0));

  expect(await page.content()).not.toContain(BUSY_SERVER.JoinKey);
  await card.getByRole("button", { name: "Show the join key" }).click();
  await card.getByText(BUSY_SERVER.JoinKey, { exact: true }).waitFor();
  await card.getByRole("button", { name: "Hide the join key" }).click();
  expect(await page.content()).not.toContain(BUSY_SERVER.JoinKey);

  await card.getByRole("button", { name: "Copy: Join key" }).click();
  await card.getByRole("button", { name: "Copied: Join key" }).waitFor();
  expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(BUSY_SERVER.JoinKey);
});

/** Stops every timer of four seconds and more, so that the page does not poll. */
const NO_POLLING = `const set = window.setTimeout.bind(window);
window.setTimeout = (run, ms, ...more) => (ms >= 4000 ? 0 : set(run, ms, ...more));`;

browserTest("a second that passes changes the text of a wait and nothing else, whatever was stored", async () => {
  const storage = `localStorage.setItem("gatehouse.dismissed-alerts", '{"a":{"since":"c"},"__proto__":[{}],"d":');`;
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
});

browserTest("the view keeps the last data through failures, and says why", async () => {
  const site = await getSite();
  let isDown = false;
  await site.addServer("live-fails", () =>
    isDown
      ? Response.json({ code: 1001, message: "could not talk to the game" }, { status: 500 })
      : Response.json(BUSY_SERVER),
  );
  const page = await openView("live", {
    server: "live-fails",
    expectedStatuses: [400],
    prelude: HURRIED,
  });
  isDown = true;
  await page.getByRole("alert").getByText("could not talk to the game").waitFor();
  await page.getByText("You see the last data that arrived.").waitFor();
  expect(await page.getByRole("region", { name: "At a glance" }).innerText()).toContain("40");
  await expectAccessible(page);
});

browserTest("a key with few rights sees which cards are left out", async () => {
  const site = await getSite();
  const key = await site.mintKey("busy", { sections: toSectionSet(["Players"]) });
  const page = await openPage({ view: "live", key });
  await page.getByText("Left out, because you have no right to it").waitFor();
  for (const name of ["Emergency calls", "Kills", "Calls for a moderator"]) {
    expect(await page.getByRole("region", { name, exact: true }).count()).toBe(0);
  }
  expect(await page.getByRole("region", { name: "Teams" }).innerText()).toContain("Police");
  await expectAccessible(page);
});

browserTest("on a laptop everything that matters fits without scrolling", async () => {
  const page = await openView("live");
  await page.setViewportSize({ width: 1366, height: 768 });
  const regions = ["At a glance", "Calls for a moderator", "Kills", "Last joins and leaves"];
  for (const name of regions) {
    const box = await page.getByRole("region", { name, exact: true }).boundingBox();
    expect([name, box !== null && box.y + box.height <= 768]).toEqual([name, true]);
  }
});

/** Cleared alerts must be of the time after the user first looked. */
const alertOf = (type: string, rule: string, subject: string) => ({ type, data: { rule, subject, text: `${rule}!` } });

browserTest("that a server is offline is said once in the view, and counted on the bell", async () => {
  const ledger = new PlayedLedger();
  const key = await (await getSite()).mintKey("offline");
  const page = await openPage({ view: "live", key, prelude: PLAYED_STREAM, expectedStatuses: [400] });
  await ledger.answerTo(page);
  await page.reload();
  await page.getByRole("heading", { name: "The game server is offline" }).waitFor();
  await ledger.play(page, alertOf("alert.raised", "offline", "server"), alertOf("alert.raised", "kills", refOf(3)));
  await page.getByRole("button", { name: "Alerts: 2", exact: true }).waitFor();
  await expectCount(page.locator("#content [data-rule]"), 1);
  expect(await page.locator("#content [data-rule]").getAttribute("data-rule")).toBe("kills");
});

browserTest(
  "an alert stays when it is over, in the title and on the bell of every view, until it is dismissed",
  async () => {
    const ledger = new PlayedLedger();
    const key = await (await getSite()).mintKey("busy");
    const page = await openPage({ view: "staff", key, prelude: PLAYED_STREAM });
    await ledger.answerTo(page);
    await page.reload();
    await page.getByRole("heading", { name: "Staff", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Alerts", exact: true }).waitFor();
    const caller = refOf(12);
    await ledger.play(
      page,
      alertOf("alert.raised", "players", "server"),
      alertOf("alert.raised", "unanswered_modcall", caller),
      alertOf("alert.raised", "kills", refOf(3)),
    );
    await page.getByRole("button", { name: "Alerts: 2", exact: true }).waitFor();
    await expectTitle(page, "(4) ⚠2 Staff · Riverside Roleplay");
    await ledger.play(page, alertOf("alert.cleared", "players", "server"));
    await page.evaluate(`location.hash = "#/live"`);
    const alerts = page.locator("#content [data-rule]");
    // What is over takes no line beside what is raised.
    await page.locator("#content").getByText("and 1 more", { exact: true }).waitFor();
    expect(await alerts.getAttribute("data-rule")).toBe("kills");
    // The call itself says that nobody came.
    const calls = page.getByRole("region", { name: "Calls for a moderator" });
    expect(await calls.locator(".waiting-call").filter({ hasText: "nobody came" }).innerText()).toContain(nameOf(12));
    await alerts.getByRole("link", { name: `Follow ${nameOf(3)} on the map` }).waitFor();
    await alerts.getByRole("button", { name: `Message ${nameOf(3)}` }).waitFor();
    await expectAccessible(page);

    const panel = page.getByRole("dialog", { name: "Alerts" });
    await page.getByRole("button", { name: "Alerts: 2", exact: true }).click();
    await panel.locator("[data-rule=players]").getByText("over, ").waitFor();
    expect(
      await panel.locator("[data-rule]").evaluateAll((rows) => rows.map((row) => row.getAttribute("data-rule"))),
    ).toEqual(["kills", "players"]);
    await expectAccessible(page);
    await panel
      .locator("[data-rule=players]")
      .getByRole("button", { name: /^Dismiss the alert/ })
      .click();
    await expectCount(panel.locator("[data-rule]"), 1);
    await page.keyboard.press("Escape");
    await expectTitle(page, "(4) ⚠1 Live · Riverside Roleplay");

    await ledger.play(page, alertOf("alert.cleared", "kills", refOf(3)));
    await alerts.getByText("over, ").waitFor();
    await page.reload();
    await alerts.getByText("over, ").waitFor();
    await alerts.getByRole("button", { name: /^Dismiss the alert/ }).click();
    await expectCount(alerts, 0);
    await expectTitle(page, "(4) Live · Riverside Roleplay");
    await page.reload();
    await page.getByRole("button", { name: "Alerts", exact: true }).waitFor();
    await expectTitle(page, "(4) Live · Riverside Roleplay");
  },
);
