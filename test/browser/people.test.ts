// People in the dashboard: ten moderators on three servers from their invitations to their leaving, what a role shows, and roles.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { PageBrowser } from "../people.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  getSite,
  invitePerson,
  isTestedVariant,
  LANGUAGES,
  openPage,
  openPerson,
  openView,
  SIZES,
  type Site,
  startSite,
  visitViews,
} from "./browser.ts";
import { HOSTILE_NAMES } from "./hostile-names.ts";

const SERVERS = ["busy", "small", "empty"] as const;

const rowOf = (page: Page, text: string) => page.locator("#content tbody tr", { hasText: text });

async function chooseFromMenu(page: Page, name: string, item: string): Promise<void> {
  await page.getByRole("button", { name: `More for ${name}`, exact: true }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** Opens the link of an invitation, as whoever got it does. */
async function accept(url: string, options: Parameters<typeof openPage>[0]): Promise<Page> {
  const page = await openPage({ ...options, view: url.slice(url.indexOf("#/") + 2) });
  await page.locator("main button:not([aria-label])").first().click();
  await page.locator("#content h1").waitFor();
  return page;
}

/** A moderator without a page: signs in and asks for a token for a server, as the page does. */
async function enter(site: Site, view: string): Promise<PageBrowser> {
  const browser = new PageBrowser(site.url);
  expect((await browser.redeem(view.slice(view.indexOf("gti_")), true)).status).toBe(201);
  return browser;
}

async function readStatus(site: Site, browser: PageBrowser, serverId: string): Promise<number> {
  const granted = await browser.grant(serverId);
  if (!granted.ok) return granted.status;
  const { token } = (await granted.json()) as { token: string };
  return (await site.gatehouse.get("/v2/game/server", token)).status;
}

browserTest("ten moderators on three servers are invited, act, change roles and leave", async () => {
  const site = await startSite();
  const [busy, small, empty] = SERVERS.map((name) => site.getServer(name).serverId) as [string, string, string];
  const operator = await openView("people", { site, key: site.masterKey });

  // The first is added on the page, with a role on each server.
  await operator.getByRole("button", { name: "Add a person" }).click();
  const form = operator.getByRole("dialog", { name: "Add a person" });
  await form.getByRole("textbox", { name: "Name" }).fill("Mod 1");
  for (const name of SERVERS) await form.getByLabel("Add a server").selectOption(name);
  await form.getByLabel("Role on small", { exact: true }).selectOption("Trial moderator");
  await form.getByText("Sends :h, :m, and :pm.").waitFor();
  await form.getByRole("button", { name: "Add and invite" }).click();
  const invitation = operator.getByRole("dialog", { name: "The invitation" });
  await invitation.getByRole("img", { name: "QR code of the invitation" }).waitFor();
  await invitation.getByText("a phone cannot reach it").waitFor();
  const link = await invitation.locator("[data-link]").innerText();
  await invitation.getByRole("button", { name: "Done" }).click();

  const invited = [];
  for (let number = 2; number <= 10; number++) {
    const roles = number === 3 ? { busy: "viewer" } : { busy: "moderator", small: "moderator" };
    invited.push(await invitePerson(site, { name: `Mod ${number}`, roles }));
  }
  const others = await Promise.all(invited.slice(2).map(({ view }) => enter(site, view)));
  for (const other of others) {
    expect(await readStatus(site, other, busy)).toBe(200);
    expect(await readStatus(site, other, empty)).toBe(403);
  }

  // One phone for all of one's servers.
  const phone = await accept(link, { site, size: "phone", expectedStatuses: [401, 403] });
  await phone.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await phone.locator("[data-standing=calls]").nth(1).waitFor();
  await phone.getByRole("link", { name: "small" }).click();
  await phone.getByRole("heading", { name: "Live", level: 1 }).waitFor();
  await phone.locator("header .server-switcher").click();
  const dialog = phone.getByRole("dialog");
  await dialog.getByText("Trial moderator").waitFor();
  await dialog.getByRole("link", { name: /^busy/ }).click();
  await phone.locator(`nav a[href="#/servers/${busy}/live"][aria-current=page]`).waitFor({ state: "attached" });

  // A moderator sends a command; it is theirs by name.
  const moderator = await openPage({ site, view: invited[0]?.view ?? "", expectedStatuses: [401] });
  await moderator.getByRole("button", { name: "Accept the invitation" }).click();
  await moderator.locator("#content h1").waitFor();
  await moderator.evaluate(`location.hash = "#/servers/${busy}/commands"`);
  await moderator.getByRole("combobox", { name: "Command", exact: true }).fill(":h hello from Mod 2");
  await moderator.keyboard.press("Enter");
  await moderator.locator("[data-status=sent]").first().waitFor();
  await operator.evaluate(`location.hash = "#/commands"`);
  await operator
    .locator("#content tbody tr", { hasText: "hello from Mod 2" })
    .getByText("Mod 2", { exact: true })
    .waitFor();

  // A viewer has no console, until the role is another one.
  const viewer = await openPage({ site, view: invited[1]?.view ?? "", expectedStatuses: [401] });
  await viewer.getByRole("button", { name: "Accept the invitation" }).click();
  await viewer.locator(`nav a[href="#/servers/${busy}/players"]`).waitFor();
  await expectCount(viewer.locator(`nav a[href="#/servers/${busy}/commands"]`), 0);
  await operator.evaluate(`location.hash = "#/people"`);
  await operator.getByRole("button", { name: "Edit Mod 3" }).click();
  const edit = operator.getByRole("dialog", { name: "Edit a person" });
  await edit.getByLabel("Role on busy", { exact: true }).selectOption("Moderator");
  await edit.getByRole("button", { name: "Save" }).click();
  await rowOf(operator, "Mod 3").getByText("Moderator: busy").waitFor();
  await viewer.reload();
  await viewer.locator(`nav a[href="#/servers/${busy}/commands"]`).waitFor();

  // They leave: disabled, deleted, signed out, or without the role.
  await chooseFromMenu(operator, "Mod 2", "Disable…");
  await operator.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await rowOf(operator, "Mod 2").getByText("Disabled").waitFor();
  await moderator.getByRole("alert").filter({ hasText: "no longer signed in" }).waitFor();
  await chooseFromMenu(operator, "Mod 3", "Delete…");
  await operator.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await rowOf(operator, "Mod 3").waitFor({ state: "detached" });
  await viewer.getByRole("alert").filter({ hasText: "no longer signed in" }).waitFor();
  for (const { personId } of invited.slice(2)) {
    await site.gatehouse.admin("PATCH", `/admin/people/${personId}`, { servers: [{ server_id: small, role: "head" }] });
  }
  for (const other of others) {
    expect(await readStatus(site, other, busy)).toBe(403);
    expect(await readStatus(site, other, small)).toBe(200);
  }
  await chooseFromMenu(operator, "Mod 1", "Sign-ins…");
  await operator
    .getByRole("dialog")
    .getByRole("button", { name: /^Sign out Chrome/ })
    .click();
  await operator.getByRole("dialog").getByText("Nowhere.").waitFor();
  await operator.keyboard.press("Escape");
  await phone.getByRole("alert").filter({ hasText: "no longer signed in" }).waitFor();

  // Names stay in the audit, also of who is gone.
  await operator.evaluate(`location.hash = "#/audit"`);
  await operator.getByLabel("Who").fill("mod 3");
  await operator.getByLabel("What").selectOption("Signed in");
  await expectCount(operator.locator("#content tbody tr"), 1);
  await operator.locator("#content tbody tr").getByRole("button").click();
  await operator.getByRole("dialog").getByText("by Mod 3 from").waitFor();
  await operator.keyboard.press("Escape");
  const downloaded = operator.waitForEvent("download");
  await operator.getByRole("button", { name: "Download as CSV" }).click();
  expect((await downloaded).suggestedFilename()).toBe("gatehouse-audit.csv");
});

browserTest("a manager has what the role opens, on their servers only, and no dead entry", async () => {
  const { page } = await openPerson({ name: "Manager of small", roles: { small: "manager" } });
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
  });
  await page.getByRole("link", { name: "Overview" }).first().click();
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  const views = await visitViews(page, async () => {
    expect(await page.getByText("busy", { exact: true }).count()).toBe(0);
  });
  expect(views).toEqual(["overview", "servers", "people", "keys", "blocks", "commands", "webhooks", "audit", "me"]);
  await page.evaluate(`location.hash = "#/servers"`);
  await page.getByRole("button", { name: "Edit small" }).click();
  const edit = page.getByRole("dialog", { name: "Edit a server" });
  await edit.getByLabel("Public status").waitFor();
  expect(await edit.getByLabel("New server key").count()).toBe(0);
  await edit.getByRole("button", { name: "Save" }).click();
  await page.getByText("small is saved").waitFor();
  expect(await page.getByRole("button", { name: "Delete small" }).count()).toBe(0);
  expect(refused).toEqual([]);
});

browserTest("who has no role sees their own browsers, and who may export the download of the audit log", async () => {
  const { page: nobody } = await openPerson({ name: "Nobody yet", roles: {} });
  await nobody.evaluate(`location.hash = "#/me"`);
  await nobody.getByText("You have no role on any server yet").waitFor();
  await nobody.getByText("this one", { exact: true }).waitFor();
  const { page: moderator } = await openPerson({ name: "May export", roles: { small: "moderator" } });
  await moderator.evaluate(`location.hash = "#/audit"`);
  const downloaded = moderator.waitForEvent("download");
  await moderator.getByRole("button", { name: "Download as CSV" }).click();
  expect((await downloaded).suggestedFilename()).toBe("gatehouse-audit.csv");
});

browserTest("a form for a person begins with a role that the manager may give", async () => {
  const site = await getSite();
  const body = {
    title: "Recruiter",
    sections: ["Players"],
    hide: ["JoinKey", "Location"],
    commands: [],
    may: ["people"],
  };
  await site.gatehouse.admin("PUT", "/admin/roles/recruiter", body);
  const { page } = await openPerson({ name: "Recruiter of small", roles: { small: "recruiter" } });
  await page.evaluate(`location.hash = "#/people"`);
  // The form begins with what the page knows by then.
  await page.locator("#content option", { hasText: "small" }).first().waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Add a person" }).click();
  const form = page.getByRole("dialog", { name: "Add a person" });
  const select = form.getByLabel("Role on small", { exact: true });
  expect(await select.inputValue()).toBe("recruiter");
});

browserTest("titles that Gatehouse gave its roles are translated, and no others", async () => {
  const site = await startSite();
  const { items } = (await (await site.gatehouse.admin("GET", "/admin/roles")).json()) as {
    items: { name: string; title: string }[];
  };
  const { name: _, ...trial } = items.find(({ name }) => name === "trial") ?? { name: "" };
  await site.gatehouse.admin("PUT", "/admin/roles/trial", { ...trial, title: "Rookie" });
  const roles = { small: "viewer", busy: "trial" };
  const { page } = await openPerson({ name: "Anna", roles }, { site, language: "ru" });
  await page.evaluate(`location.hash = "#/me"`);
  const own = page.getByRole("list", { name: "Ваши серверы" });
  for (const title of ["Наблюдатель", "Rookie"]) await own.getByText(title, { exact: true }).waitFor();
  const operator = await openView("people", { site, key: site.masterKey, language: "ru" });
  for (const text of ["Наблюдатель: small", "Rookie: busy"]) await rowOf(operator, "Anna").getByText(text).waitFor();
  await operator.evaluate(`location.hash = "#/people/roles"`);
  await operator.locator("[data-role=manager]").getByText("Управляющий", { exact: true }).waitFor();
  await operator.locator("[data-role=trial]").getByText("Rookie", { exact: true }).waitFor();
});

browserTest("where the admin API is not, its pages are not in the menu", async () => {
  const site = await getSite();
  const { page } = await openPerson({ name: "Elsewhere", roles: { small: "manager" } });
  await page.route(/\/session\/methods$/, (route) =>
    route.fulfill({ json: { passkeys: false, chat: false, admin: false } }),
  );
  await page.goto(`${site.url}/#/overview`);
  await page.reload();
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  expect(await visitViews(page, async () => {})).toEqual(["overview", "me"]);
});

browserTest(
  "an operator makes a role, sees in words what it may do, and it cannot be deleted while it is used",
  async () => {
    const site = await getSite();
    const page = await openView("people/roles", { key: site.masterKey, expectedStatuses: [409] });
    await page.getByRole("button", { name: "Add a role" }).click();
    const form = page.getByRole("dialog", { name: "Add a role" });
    await form.getByRole("textbox", { name: "Title" }).fill("Event team");
    await form.getByRole("textbox", { name: "Short name" }).fill("events");
    const words = form.getByRole("region", { name: "In words" });
    await words.getByText("Sees only the name and the counts.").waitFor();
    await form.getByRole("button", { name: "All" }).click();
    await form.getByLabel("kills", { exact: true }).uncheck();
    await form.getByLabel("the join key").check();
    await form.getByLabel("Only these").check();
    await form.getByLabel("Names of commands").first().fill("h, m");
    await form.getByLabel("claim calls for a moderator").check();
    for (const sentence of [
      "Sees everything but: kills.",
      "Does not see the join key.",
      "Sends :h and :m.",
      "May claim calls for a moderator.",
    ]) {
      await words.getByText(sentence).waitFor();
    }
    await expectAccessible(page);
    await form.getByRole("button", { name: "Create", exact: true }).click();
    await page.locator("[data-role=events]").getByText("Sees everything but: kills.").waitFor();

    await invitePerson(site, { name: "Event host", roles: { busy: "events" } });
    await page.getByRole("button", { name: "Delete the role Event team" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByText("is somebody's role").waitFor();
  },
);

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    if (!isTestedVariant(language, size)) continue;
    browserTest(`people with hostile names in ${language} on a ${size} stay in their place`, async () => {
      const site = await startSite();
      for (const [index, name] of HOSTILE_NAMES.entries()) {
        const shown = [...name].slice(0, 45).join("");
        const roles = { busy: index % 2 === 0 ? "viewer" : "manager" };
        const added = await site.gatehouse.admin("POST", "/admin/people", {
          name: shown,
          servers: [{ server_id: site.getServer("busy").serverId, role: roles.busy }],
        });
        // What cannot be a name is refused, and what another has.
        expect([201, 400, 409]).toContain(added.status);
      }
      const page = await openView("people", { site, key: site.masterKey, language, size, scheme: "dark" });
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      const small = await page.evaluate<string[]>(`Array.from(
        document.querySelectorAll("#content :is(.mantine-Button-root, .mantine-Input-input, .mantine-ActionIcon-root)"),
        (target) => (target.getBoundingClientRect().height < 44 ? target.outerHTML.slice(0, 100) : ""),
      ).filter(Boolean)`);
      expect(size === "phone" ? small : []).toEqual([]);
      await page.evaluate(`location.hash = "#/audit"`);
      await page.locator("#content :is(li, tbody tr)").first().waitFor();
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    });
  }
}
