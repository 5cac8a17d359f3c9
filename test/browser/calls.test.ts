// The view "calls": calls for a moderator, and emergency calls.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { browserTest, expectAccessible, expectTitle, getSite, HURRIED, openPage, openView } from "./browser.ts";
import { BUSY_SERVER, formatLocalTime, idOf, nameOf, START_SECONDS, writeGameJson } from "./game-server-fixture.ts";
import { NO_STREAM, PlayedLedger } from "./played-ledger.ts";

/** The callers of the busy server's open calls, the longest wait first. */
const WAITING = [12, 10, 8, 6];

const callsOf = (page: Page) => page.getByRole("region", { name: "Calls for a moderator" });
const itemsOf = (page: Page) => callsOf(page).locator(".waiting-call");
const itemOf = (page: Page, index: number) => itemsOf(page).filter({ hasText: `Open ${nameOf(index)}` });
const buttonOf = (page: Page, index: number, name = "I'm on it") =>
  itemOf(page, index).getByRole("button", { name: new RegExp(`^${name}`) });

async function expectWaiting(page: Page, count: number): Promise<void> {
  const name = count === 0 ? "Calls" : `Calls ${count} waiting`;
  await page.getByRole("navigation").getByRole("link", { name, exact: true }).waitFor();
  await expectTitle(page, `${count === 0 ? "" : `(${count}) `}Calls · Riverside Roleplay`);
}

async function listCallers(page: Page): Promise<readonly string[]> {
  const texts = await itemsOf(page).allInnerTexts();
  return texts.map((text) => text.split(/\s/, 1)[0] ?? "");
}

/** A server of its own, because what moderators do stays. */
async function addBusyServer(name: string): Promise<void> {
  const answer = () => new Response(writeGameJson(BUSY_SERVER), { headers: { "Content-Type": "application/json" } });
  await (await getSite()).addServer(name, answer);
}

browserTest("waiting calls come first, the longest wait on top; emergency calls show all people", async () => {
  const page = await openView("calls");
  // Also with ids that a double cannot hold.
  const rows = page.getByRole("table", { name: "Emergency calls" }).locator("tbody tr");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(6);
  const newest = (await rows.first().innerText()).replaceAll(/\s/g, " ");
  for (const part of ["No. 400", "Police", "Car crash", "Near Park Street", "(-600, 667)", nameOf(0), idOf(0)]) {
    expect(newest).toContain(part);
  }
  expect(newest).toContain(formatLocalTime(START_SECONDS - 60, "en"));
  expect(newest).toContain("ago");
  const second = await rows.nth(1).innerText();
  expect(second).toContain(nameOf(1));
  expect(second).toContain(idOf(1));
  expect(second).toContain("Not on the server");

  const region = page.getByRole("region", { name: "Emergency calls" }).first();
  await region.getByLabel("Team").selectOption("Fire");
  await region.getByText("2 of 6 entries").first().waitFor();

  await itemsOf(page).first().waitFor();
  expect(await page.locator("#content h2").first().innerText()).toBe("Calls for a moderator");
  expect(await listCallers(page)).toEqual(WAITING.map(nameOf));
  const longest = itemsOf(page).first();
  expect(await longest.innerText()).toMatch(/Waiting [2345]\d min/);
  // As soon as the ledger knows that the caller is there.
  await longest.getByText("212 · 2012 Liberty Way").waitFor();
  expect(await itemsOf(page).filter({ hasText: "newest" }).innerText()).toContain(nameOf(6));
  const open = longest.getByRole("link", { name: `Open ${nameOf(12)}`, exact: true });
  expect(await open.getAttribute("href")).toContain(idOf(12));
  const map = longest.getByRole("link", { name: `Follow ${nameOf(12)} on the map` });
  expect(await map.getAttribute("href")).toBe(`#/map?show=${idOf(12)}`);
  await expectWaiting(page, 4);
});

browserTest("who is on a call is seen by everybody; it can be undone, and taken over after a question", async () => {
  const site = await getSite();
  await addBusyServer("claimed");
  const mia = (await site.gatehouse.addKey(site.getServer("claimed"), { commands: [":kick"], label: "Mia" })).token;
  const bob = (await site.gatehouse.addKey(site.getServer("claimed"), { commands: [":kick"], label: "Bob" })).token;
  const page = await openView("calls", { key: mia });
  const other = await openView("live", { key: bob });
  await expectWaiting(page, 4);
  await buttonOf(page, 12).focus();
  await page.keyboard.press("Enter");
  await itemOf(page, 12).getByText("You are on it").waitFor();
  expect(await page.evaluate<string>("document.activeElement.innerText")).toBe("Undo");
  await expectWaiting(page, 3);
  // It stays where it is, so that nothing moves under the pointer.
  expect(await listCallers(page)).toEqual(WAITING.map(nameOf));
  await itemOf(other, 12).getByText("On it: Mia").waitFor();
  await other.getByRole("navigation").getByRole("link", { name: "Calls 3 waiting", exact: true }).waitFor();
  await expectAccessible(page);

  await buttonOf(other, 12, "Take over").click();
  const question = other.getByRole("dialog", { name: "Take the call over?" });
  await question.getByText("Mia is on it.").waitFor();
  await question.getByRole("button", { name: "Take over" }).click();
  await itemOf(other, 12).getByText("You are on it").waitFor();
  await itemOf(page, 12).getByText("On it: Bob").waitFor();
  await buttonOf(other, 12, "Undo").click();
  await buttonOf(page, 12).waitFor();
  await expectWaiting(page, 4);
});

browserTest("a double click claims the one call that it hits, once", async () => {
  await addBusyServer("hasty");
  const page = await openView("calls", { server: "hasty" });
  const claims: string[] = [];
  page.on("request", (request) => void (request.url().endsWith("/claim") && claims.push(request.method())));
  await buttonOf(page, 10).dblclick();
  await itemOf(page, 10).getByText("You are on it").waitFor();
  await expectWaiting(page, 3);
  expect(claims).toEqual(["POST"]);
});

browserTest("who was slower than somebody else is asked, and who may not claim has no button", async () => {
  const site = await getSite();
  await addBusyServer("contested");
  const page = await openView("calls", { server: "contested", expectedStatuses: [409], prelude: NO_STREAM });
  await buttonOf(page, 8).waitFor();
  const key = await site.mintKey("contested");
  const call = await buttonOf(page, 8).getAttribute("data-call");
  const headers = { Authorization: `Bearer ${key}` };
  const path = `${site.url}/v2/game/server/modcalls/${call}/claim`;
  expect((await fetch(path, { method: "POST", headers })).status).toBe(200);
  if ((await buttonOf(page, 8).count()) > 0) await buttonOf(page, 8).click();
  else await buttonOf(page, 8, "Take over").click();
  await page.getByRole("dialog", { name: "Take the call over?" }).getByRole("button", { name: "Cancel" }).click();
  await itemOf(page, 8).getByText("On it:").waitFor();

  const reader = await openView("calls", { key: await site.mintKey("contested", { commands: [] }) });
  await itemOf(reader, 8).getByText("On it:").waitFor();
  expect(
    await callsOf(reader)
      .getByRole("button", { name: /on it|Take over|Undo|Message/ })
      .count(),
  ).toBe(0);
});

browserTest(
  "callers who have left are folded under a line and not counted, and the game's short list changes nothing",
  async () => {
    const page = await openPage({ view: "staff", key: await (await getSite()).mintKey(), prelude: HURRIED });
    const gone = { opened_at: Date.now() - 90_000, position: null, answered_by: null, answered_at: null };
    const nobody = { claimed_by: null, claimed_at: null };
    await page.route("**/modcalls?*", (route) =>
      route.fulfill({
        json: {
          items: [
            { id: "a", caller: "Here:1", state: "waiting", is_here: true, ...gone, ...nobody },
            { id: "b", caller: "Away:2", state: "waiting", is_here: false, ...gone, ...nobody },
            { id: "c", caller: "Gone:3", state: "left", is_here: false, ...gone, ...nobody },
            { id: "d", caller: "GoneToo:4", state: "left", is_here: false, ...gone, ...nobody },
          ],
          next: null,
        },
      }),
    );
    await page.evaluate(`location.hash = "#/calls"`);
    await expectWaiting(page, 1);
    expect(await listCallers(page)).toEqual(["Here", "Away"]);
    expect(await itemsOf(page).nth(1).innerText()).toContain("Not on the server");
    const left = callsOf(page).locator("summary");
    expect(await left.innerText()).toBe("2 left the server");
    expect(await callsOf(page).getByText("GoneToo").isVisible()).toBe(false);
    await left.click();
    await callsOf(page).getByText("GoneToo").waitFor();
    await expectAccessible(page);
  },
);

browserTest("from a call a message to its caller is sent without leaving the view", async () => {
  await addBusyServer("messaged");
  const page = await openView("calls", { server: "messaged" });
  await itemOf(page, 12)
    .getByRole("button", { name: `Message ${nameOf(12)}` })
    .click();
  const actions = itemOf(page, 12).getByRole("region");
  await actions.getByRole("button").first().click();
  await actions.getByRole("textbox").fill("on my way");
  await actions.getByRole("textbox").press("Enter");
  await itemOf(page, 12)
    .getByText(`:pm ${nameOf(12)} on my way`)
    .first()
    .waitFor();
});

browserTest("answered calls show who answered, and after how long as far as the ledger knows", async () => {
  const site = await getSite();
  const ledger = new PlayedLedger();
  const [call] = BUSY_SERVER.ModCalls.filter(({ Moderator }) => Moderator !== null);
  if (!call) throw new Error("the busy server has no answered call");
  const calledAt = call.Timestamp * 1000;
  const meta = { answered_between: [calledAt + 60_000, calledAt + 64_200] };
  ledger.record({ type: "modcall.answered", data: { ...call, Timestamp: call.Timestamp - 60 } });
  ledger.record({ type: "modcall.answered", data: call, meta });
  const page = await openPage({ view: "staff", key: await site.mintKey() });
  await ledger.answerTo(page);
  await page.evaluate(`location.hash = "#/calls"`);
  const rows = page.getByRole("table", { name: "Answered calls" }).locator("tbody tr");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(2);
  await rows.first().getByText("1 min 00 s to 1 min 05 s").waitFor();
  expect(await rows.first().innerText()).toContain(nameOf(3));
  expect(await rows.nth(1).innerText()).toContain("—");
});
