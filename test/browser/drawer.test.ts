// The drawer of a player: from every name, and from a call to the message that the right player gets.
import { expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { MINUTE_MS } from "../../src/core/durations.ts";
import { toSectionSet } from "../../src/core/sections.ts";
import { until } from "../until.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  getSite,
  openPage,
  openView,
  type PageOptions,
} from "./browser.ts";
import { BUSY_SERVER, idOf, nameOf, SMALL_SERVER, writeGameJson } from "./game-server-fixture.ts";
import { makeHostileServer } from "./hostile-names.ts";
import { PlayedHistory } from "./played-history.ts";
import { PlayedLedger, START } from "./played-ledger.ts";

/** Counts what the user clicks. Enter on a link, a button or a field is a click too. */
const COUNT_CLICKS = `window.clicks = 0;
  addEventListener("click", (event) => { if (event.isTrusted) window.clicks += 1; }, true);`;
/** No stream ever answers, so that new events come only from the played ledger. */
const NO_STREAM = `{
  const send = window.fetch.bind(window);
  window.fetch = (url, options) =>
    String(url).endsWith("/events/stream") ? new Promise(() => {}) : send(url, options);
}`;

const drawerOf = (page: Page) => page.locator("section.player-drawer[role=dialog]");
const readHash = (page: Page) => page.evaluate<string>("location.hash");

/** A game server of its own, so that no other test's commands are in the queue. */
async function addSmallServer(name: string): Promise<void> {
  const site = await getSite();
  const body = writeGameJson(SMALL_SERVER);
  await site.addServer(name, () => new Response(body, { headers: { "Content-Type": "application/json" } }));
}

/** The commands of a server in Gatehouse, newest first. */
async function listCommands(server: string): Promise<string[]> {
  const site = await getSite();
  const { serverId } = site.getServer(server);
  const response = await site.gatehouse.admin("GET", `/admin/commands?server_id=${serverId}`);
  const { items } = (await response.json()) as { items: { command: string }[] };
  return items.map(({ command }) => command);
}

type Way = { readonly title: string; readonly options: PageOptions; readonly follow: Follow };
/** Activates an element in one way. */
type Follow = (page: Page, element: Locator) => Promise<unknown>;

/** Tab from where the focus is until the element has it, then Enter. */
const pressByKeyboard: Follow = async (page, element) => {
  await element.waitFor();
  const hasFocus = () => element.evaluate((node) => node === node.ownerDocument.activeElement);
  for (let step = 0; step < 100 && !(await hasFocus()); step++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
};

const WAYS: readonly Way[] = [
  { title: "by mouse", options: {}, follow: (_, element) => element.click() },
  { title: "by keyboard", options: {}, follow: pressByKeyboard },
  {
    title: "on a phone, in Russian",
    options: { size: "phone", language: "ru", scheme: "dark" },
    follow: (_, element) => element.tap(),
  },
];

for (const { title, options, follow } of WAYS) {
  browserTest(`from a call to the warned player in three clicks, ${title}`, async () => {
    const server = `drawer ${title}`;
    await addSmallServer(server);
    const page = await openView("calls", { server, prelude: COUNT_CLICKS, ...options });
    const isRussian = options.language === "ru";
    const caller = page.getByRole("link", { name: nameOf(6) }).first();
    await caller.focus();
    await follow(page, caller);
    const drawer = drawerOf(page);
    await drawer.getByRole("heading", { name: nameOf(6) }).waitFor();
    await follow(page, drawer.getByRole("button", { name: isRussian ? "Написать" : "Message" }));
    await drawer.getByText(`${nameOf(6)} (${idOf(6)})`).waitFor();
    await page.keyboard.type("Please mind the speed limit");
    await drawer.getByText(`:pm ${nameOf(6)} Please mind the speed limit`).waitFor();
    if (follow !== pressByKeyboard) await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await follow(page, drawer.getByRole("button", { name: isRussian ? "Отправить" : "Send" }));
    expect(await page.evaluate<number>("window.clicks")).toBe(3);
    await drawer.locator("[data-status=sent]").waitFor();
    expect(await listCommands(server)).toEqual([`:pm ${nameOf(6)} Please mind the speed limit`]);
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
  });
}

browserTest("a name opens the drawer in every view, and closing it gives the focus back", async () => {
  const page = await openView("live", { server: "small" });
  const drawer = drawerOf(page);
  const names = page.locator("#content a[aria-haspopup=dialog]");
  for (const view of ["live", "map", "players", "staff", "vehicles", "calls", "logs", "activity"]) {
    await page.evaluate(`location.hash = "#/${view}"`);
    await page.locator(`nav a[href="#/${view}"][aria-current=page]`).waitFor({ state: "attached" });
    const name = names.first();
    await name.focus();
    await page.keyboard.press("Enter");
    await drawer.getByRole("region", { name: "Last events" }).waitFor();
    expect(await readHash(page)).toMatch(new RegExp(`^#/${view}\\?player=\\d+$`));
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    expect(await readHash(page)).toBe(`#/${view}`);
    await expectCount(page.locator("#content a[aria-haspopup=dialog]:focus"), 1);
  }
  // The back button of a phone closes it, too.
  await names.first().click();
  await drawer.waitFor();
  await page.goBack();
  await drawer.waitFor({ state: "detached" });
  expect(await readHash(page)).toBe("#/activity");
});

browserTest("the drawer tells who, where and since when, and follows the player and the ledger", async () => {
  const ledger = new PlayedLedger();
  const Player = `${nameOf(2)}:${idOf(2)}`;
  ledger.record(
    { type: "player.left", data: { Player }, minutesAgo: 300 },
    { type: "player.joined", data: { Player }, minutesAgo: 42 },
  );
  const site = await getSite();
  const key = await site.mintKey("small");
  const page = await openPage({ key, view: "staff", prelude: NO_STREAM });
  await ledger.answerTo(page);
  // The address alone opens it.
  await page.evaluate(`location.hash = "#/staff?player=${idOf(2)}"`);
  const drawer = drawerOf(page);
  const since = drawer.getByTestId("online-since").locator("time");
  expect(await since.getAttribute("datetime")).toBe(new Date(START - 42 * MINUTE_MS).toISOString());
  const text = await drawer.innerText();
  for (const part of [idOf(2), "On the server", "Police", "3D-502", "Administrator", "202 · 2002 Liberty Way"]) {
    expect(text).toContain(part);
  }
  await expectCount(drawer.locator(".time-line-entry"), 2);
  ledger.record({ type: "player.killed", data: { Killer: "Other:777", Killed: Player } });
  await expectCount(drawer.locator(".time-line-entry"), 3);
  // From one player to the next, who is not on the server.
  await drawer.getByRole("link", { name: "Other" }).click();
  await drawer.getByText("Not on the server now").waitFor();
  await drawer.getByRole("button", { name: "Ban", exact: true }).click();
  await drawer.getByText(":ban 777", { exact: true }).waitFor();
  expect(await drawer.getByRole("button", { name: "Kick" }).count()).toBe(0);
  await drawer.getByRole("button", { name: "Cancel" }).click();
  await drawer.getByRole("link", { name: nameOf(2) }).click();
  await drawer.getByRole("link", { name: "Show on the map" }).click();
  await page.getByText(`Following ${nameOf(2)}`).waitFor();
  expect(await readHash(page)).toBe("#/map");
  expect(await drawer.count()).toBe(0);
});

browserTest(
  "a player who is kicked is gone everywhere in the drawer, also while the archive does not know it",
  async () => {
    const site = await getSite();
    let state: object = SMALL_SERVER;
    await site.addServer(
      "drawer kicked",
      () => new Response(writeGameJson(state), { headers: { "Content-Type": "application/json" } }),
    );
    const history = new PlayedHistory();
    const joined_at = START - 42 * MINUTE_MS;
    const player = `${nameOf(2)}:${idOf(2)}`;
    const open = { joined_at, left_at: null, seconds: 2_520, ended: null, teams: {} };
    history.sessions = [{ player, id: idOf(2), ...open }];
    const page = await openPage({ view: "staff", key: await site.mintKey("drawer kicked") });
    await history.answerTo(page);
    await page.evaluate(`location.hash = "#/staff?player=${idOf(2)}"`);
    const drawer = drawerOf(page);
    await drawer.getByText("is there now").waitFor();
    const asked = history.queries.length;
    state = { ...SMALL_SERVER, Players: SMALL_SERVER.Players.filter(({ Player }) => Player !== player) };
    await drawer.getByText("Not on the server now").waitFor();
    await drawer.getByText("left just now").waitFor();
    expect(await drawer.getByText("is there now").count()).toBe(0);
    await until("the sessions are not read again", () => history.queries.length > asked);
    expect(history.queries).toHaveLength(asked + 1);
  },
);

browserTest("a command never has a name that another player's name begins with", async () => {
  const site = await getSite();
  await site.addServer(
    "drawer namesakes",
    () => new Response(writeGameJson(BUSY_SERVER), { headers: { "Content-Type": "application/json" } }),
  );
  const key = await site.mintKey("drawer namesakes", { commands: [":kick"] });
  const page = await openView(`players?player=${idOf(6)}`, { key });
  const drawer = drawerOf(page);
  expect(await drawer.getByRole("button", { name: "Message" }).count()).toBe(0);
  await drawer.getByRole("button", { name: "Kick" }).focus();
  await page.keyboard.down("Enter");
  await drawer.getByText("the name of another player on the server begins with this one").waitFor();
  // Whoever holds Enter down sends nothing, nor whoever presses it twice.
  const reason = drawer.getByLabel("Reason (optional)");
  const hasFocus = (element: Locator) => element.evaluate((found) => found.matches(":focus"));
  expect(await hasFocus(reason)).toBe(true);
  await page.keyboard.down("Enter");
  await page.keyboard.up("Enter");
  expect(await hasFocus(reason)).toBe(true);
  await page.keyboard.press("Enter");
  expect(await hasFocus(drawer.getByRole("button", { name: "Kick", exact: true }))).toBe(true);
  await reason.fill("see you");
  await drawer.getByRole("button", { name: "Kick", exact: true }).click();
  await drawer.locator("[data-status=sent]").waitFor();
  expect(await listCommands("drawer namesakes")).toEqual([`:kick ${idOf(6)} see you`]);
});

browserTest("a hostile name stays text in the drawer, and is not written in a command", async () => {
  const site = await getSite();
  const body = JSON.stringify(makeHostileServer());
  await site.addServer("drawer hostile", () => new Response(body, { headers: { "Content-Type": "application/json" } }));
  const page = await openView("plots?player=70042", { server: "drawer hostile", size: "phone" });
  const drawer = drawerOf(page);
  await drawer.getByRole("button", { name: "Jail" }).tap();
  await drawer.getByText("this name cannot be written in a command").waitFor();
  expect(await drawer.locator(".command-text").innerText()).toBe(":jail 70042");
  const text = await drawer.innerText();
  expect(text).toContain("202E");
  expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u2060\ufeff]/);
  expect(await page.evaluate<unknown>("window.hostile")).toBeUndefined();
  await expectAccessible(page);
  // A name of ten thousand letters.
  await page.evaluate(`location.hash = "#/plots?player=70049"`);
  await drawer.getByRole("heading", { name: "WWWW" }).waitFor();
  await expectNoSidewaysScroll(page);
});

browserTest("the drawer leaves out what the key may not read or send, and says why", async () => {
  const site = await getSite();
  const key = await site.mintKey("small", { sections: toSectionSet(["Staff"]), commands: [] });
  const page = await openView("staff", { key, size: "phone", scheme: "dark" });
  await page.getByRole("link", { name: nameOf(1) }).tap();
  const drawer = drawerOf(page);
  await drawer.getByText("You may not read players:").waitFor();
  await drawer.getByText("You may not send any of the commands").waitFor();
  await drawer.getByRole("heading", { name: nameOf(1) }).waitFor();
  expect(await drawer.innerText()).not.toContain("Callsign");
  await expectAccessible(page);
  await page.setViewportSize({ width: 320, height: 700 });
  await expectNoSidewaysScroll(page);
  await drawer.getByRole("button", { name: "Close" }).tap();
  await drawer.waitFor({ state: "detached" });
  // An operator who looks in has no key to send with.
  const { serverId } = site.getServer("small");
  const operator = await openPage({ view: `servers/${serverId}/players`, key: site.masterKey });
  await operator.getByRole("link", { name: nameOf(1) }).click();
  await drawerOf(operator).getByText("Commands need an API key of this server").waitFor();
  await drawerOf(operator).getByText("Co-owner").waitFor();
});

/** Runs in the page. */
function readLook(element: unknown) {
  type Style = { color: string; borderColor: string; backgroundColor: string };
  const page = globalThis as never as { getComputedStyle(of: unknown): Style };
  const { color, borderColor, backgroundColor } = page.getComputedStyle(element);
  return { text: color, border: borderColor, ground: backgroundColor };
}

browserTest("what takes something from a player is outlined in red, and its confirmation is white on red", async () => {
  for (const scheme of ["light", "dark"] as const) {
    const page = await openView("players", { server: "small", scheme });
    await page.evaluate(`location.hash = "#/players?player=${idOf(2)}"`);
    const drawer = drawerOf(page);
    const kick = drawer.getByRole("button", { name: "Kick" });
    const outlined = await kick.evaluate(readLook);
    expect(isRed(outlined.border)).toBe(true);
    expect(outlined.text).toBe(outlined.border);
    await kick.click();
    await drawer.getByText(`:kick ${nameOf(2)}`, { exact: true }).waitFor();
    const filled = await kick.evaluate(readLook);
    expect([scheme, filled.text]).toEqual([scheme, "rgb(255, 255, 255)"]);
    expect(isRed(filled.ground)).toBe(true);
  }
});

/** Whether red is the strongest part of a colour; `color-mix` gives parts from 0 to 1. */
function isRed(colour: string): boolean {
  const [red = 0, green = 0, blue = 0] = colour.match(/[\d.]+/g)?.map(Number) ?? [];
  return red > Math.max(green, blue) && Math.abs(green - blue) < red / 4;
}
