// How many clicks and taps the questions of a moderator take, from the first view on. Typing costs none; Enter counts as a click.
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { until } from "../until.ts";
import { browserTest, getSite, openView } from "./browser.ts";
import { BUSY_SERVER, idOf, nameOf, refOf } from "./game-server-fixture.ts";
import { PlayedHistory } from "./played-history.ts";

const ANNA = { player: "Anna:77", id: "77", joined_at: 0, left_at: null, seconds: 1, ended: null, teams: {} } as const;

/** Does what a user does, and counts it. */
class Hand {
  clicks = 0;

  constructor(readonly page: Page) {}

  async click(target: Locator): Promise<void> {
    this.clicks++;
    await target.click();
  }

  /** By the navigation, which is there in every view. */
  openView(name: string): Promise<void> {
    return this.click(this.page.getByRole("navigation").getByRole("link", { name, exact: true }));
  }
}

browserTest("a new call is seen, found on the map, looked up and answered with 5 clicks", async () => {
  const site = await getSite();
  const { serverId } = await site.addServer("called", () => Response.json(BUSY_SERVER));
  const page = await openView("live", { server: "called" });
  const hand = new Hand(page);
  // The longest of the calls that wait.
  const [caller, id] = [nameOf(12), idOf(12)];
  const call = page.locator(".waiting-call").filter({ hasText: caller });
  await hand.click(call.getByRole("button", { name: /^I'm on it/ }));
  await call.getByText("You are on it").waitFor();
  await hand.click(call.getByRole("link", { name: `Follow ${caller} on the map` }));
  const card = page.getByRole("region", { name: "Chosen on the map" });
  await hand.click(card.getByRole("link", { name: caller }));
  const drawer = page.locator("section.player-drawer");
  await drawer.getByTestId("record").waitFor();
  await hand.click(drawer.getByRole("button", { name: "Message" }));
  await drawer.locator("form input").fill("on my way");
  await hand.click(drawer.getByRole("button", { name: /^Send/ }));
  await until("the caller got no message", async () => {
    const sent = await site.gatehouse.admin("GET", `/admin/commands?server_id=${serverId}`);
    const { items } = (await sent.json()) as { items: { command: string }[] };
    return items.some(({ command }) => [`:pm ${caller} on my way`, `:pm ${id} on my way`].includes(command));
  });
  expect(hand.clicks).toBeLessThanOrEqual(5);
});

browserTest("who killed somebody ten minutes ago is told with 3 clicks", async () => {
  const site = await getSite();
  const KillLogs = [{ Killed: refOf(1), Killer: refOf(5), Timestamp: Math.floor(Date.now() / 1000) - 600 }];
  await site.addServer("killed", () => Response.json({ ...BUSY_SERVER, KillLogs }));
  const page = await openView("vehicles", { server: "killed" });
  const hand = new Hand(page);
  await hand.click(page.getByRole("button", { name: /^Find anybody/ }));
  await page.keyboard.type(nameOf(1));
  await hand.click(page.locator(".palette [role=option]").filter({ hasText: idOf(1) }));
  const events = page.locator("section.player-drawer").getByRole("region", { name: "Last events" });
  await events.getByText(nameOf(5)).first().waitFor();
  expect(hand.clicks).toBeLessThanOrEqual(3);
});

browserTest("who was there yesterday at nine is told with 3 clicks", async () => {
  const page = await openView("live", { server: "small" });
  const history = new PlayedHistory();
  history.present = { known: true, items: [ANNA] };
  await history.answerTo(page);
  const hand = new Hand(page);
  await hand.openView("Plots");
  const field = page.getByLabel("Who was there at");
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  await hand.click(field);
  await field.fill(`${yesterday}T21:00`);
  await hand.click(page.getByRole("button", { name: "Show", exact: true }));
  await page
    .getByRole("region", { name: /^Who was there:/ })
    .getByRole("link", { name: "Anna" })
    .waitFor();
  expect(hand.clicks).toBeLessThanOrEqual(3);
});

browserTest("three players of a mass kill are acted on, and nobody else, with 9 clicks", async () => {
  const site = await getSite();
  const seconds = Math.floor(Date.now() / 1000);
  const killers = [1, 2, 3];
  const KillLogs = [4, 5, 6, 8, 9, 10].map((victim, n) => ({
    Killed: refOf(victim),
    Killer: refOf(killers[n % 3] ?? 1),
    Timestamp: seconds - n,
  }));
  const { serverId } = await site.addServer("mass kill", () => Response.json({ ...BUSY_SERVER, KillLogs }));
  const listCommands = async () => {
    const response = await site.gatehouse.admin("GET", `/admin/commands?server_id=${serverId}`);
    return ((await response.json()) as { items: { command: string }[] }).items.map(({ command }) => command);
  };
  const page = await openView("live", { server: "mass kill" });
  const hand = new Hand(page);
  await hand.openView("Map");
  for (const killer of killers) await hand.click(page.getByLabel(`Pick ${nameOf(killer)}`, { exact: true }));
  const card = page.getByRole("region", { name: "3 players picked" });
  await hand.click(card.getByLabel("Message, or the reason of a kick"));
  await page.keyboard.type("mass kill");
  await hand.click(card.getByRole("button", { name: "Kick" }));
  const dialog = page.getByRole("dialog");
  const meant = await dialog.getByRole("group", { name: "For 3 players" }).locator("li").allInnerTexts();
  for (const [n, killer] of killers.entries()) expect(meant[n]).toContain(nameOf(killer));
  await hand.click(dialog.getByRole("button", { name: "Send it to 3 players" }));
  await until("nothing was sent", async () => (await listCommands()).length > 0);
  expect(await listCommands()).toEqual([`:kick ${killers.map(idOf).join()} mass kill`]);
  expect(hand.clicks).toBeLessThanOrEqual(9);

  // All killers at once.
  const fewer = new Hand(page);
  await fewer.click(page.getByRole("button", { name: "Leave out everybody" }));
  await fewer.click(page.getByRole("button", { name: "Pick the killers" }));
  await fewer.click(card.getByRole("button", { name: "Jail" }));
  await fewer.click(dialog.getByRole("button", { name: "Send it to 3 players" }));
  await until("nothing more was sent", async () => (await listCommands()).length > 1);
  expect((await listCommands())[0]).toBe(`:jail ${killers.map(idOf).join()}`);
});

browserTest("the weekly report is exported with 3 clicks", async () => {
  const page = await openView("live");
  const hand = new Hand(page);
  await hand.openView("Staff");
  await hand.click(page.getByRole("link", { name: "Report" }));
  const downloaded = page.waitForEvent("download");
  await hand.click(page.getByRole("button", { name: "Download as CSV" }));
  const file = await downloaded;
  expect(hand.clicks).toBeLessThanOrEqual(3);
  const [, from = "", to = ""] =
    /^staff-.*-(\d{4}-\d\d-\d\d)-(\d{4}-\d\d-\d\d)\.csv$/.exec(file.suggestedFilename()) ?? [];
  expect(Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000)).toBe(7);
  const [titles = "", ...rows] = readFileSync(await file.path(), "utf8")
    .trimEnd()
    .split("\r\n");
  for (const title of ["player", "role", "seconds", "kick", "message"]) expect(titles).toContain(`"${title}"`);
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.join("\n")).not.toContain("{");
});
