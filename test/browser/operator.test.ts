// The operator's views in both languages and sizes, and the whole life of a key.

import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { IS_LONG } from "../long.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  getSite,
  isTestedVariant,
  LANGUAGES,
  openPage,
  openView,
  SIZES,
  startSite,
  waitUntilLoaded,
} from "./browser.ts";

const VIEWS = [
  "overview",
  "servers",
  "people",
  "people/roles",
  "keys",
  "blocks",
  "commands",
  "webhooks",
  "audit",
  "health",
] as const;

async function openOperator(view: string, options: Parameters<typeof openView>[1] = {}): Promise<Page> {
  const { masterKey } = await getSite();
  return openView(view, { ...options, key: masterKey });
}

/** The answer to a request with this token. */
async function readWith(token: string, query = "?Players=true"): Promise<{ status: number; code: number | undefined }> {
  const { gatehouse } = await getSite();
  const response = await gatehouse.get(`/v2/game/server${query}`, token);
  const { code } = (await response.json()) as { code?: number };
  return { status: response.status, code };
}

const rowOf = (page: Page, text: string) => page.locator("#content :is(tbody tr, li)", { hasText: text });

async function chooseFromMenu(page: Page, label: string, item: string): Promise<void> {
  await page.getByRole("button", { name: `More for ${label}` }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    if (!isTestedVariant(language, size)) continue;
    browserTest(`the operator's views in ${language} on a ${size} are accessible`, async () => {
      const site = await getSite();
      // Every list needs an entry.
      const { keyId, token } = await site.gatehouse.addKey(site.getServer("busy"), { commands: [":h"] });
      await site.gatehouse.admin("PATCH", `/admin/keys/${keyId}`, { label: `for ${language} ${size}` });
      await fetch(`${site.url}/v2/game/server/command`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ command: ":h seen by the operator" }),
      });
      const scheme = (language === "ru") === (size === "phone") ? "light" : "dark";
      const page = await openPage({ language, size, scheme, key: site.masterKey, view: VIEWS[0] });
      for (const view of VIEWS) {
        await page.evaluate(`location.hash = "#/${view}"`);
        const name = view.split("/")[0];
        await page.locator(`nav a[href="#/${name}"][aria-current=page]`).waitFor({ state: "attached" });
        await page.locator("#content h1").waitFor();
        await waitUntilLoaded(page);
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
      }
    });

    // A phone has the same dialogs.
    if (size === "phone" && !IS_LONG) continue;
    browserTest(`the dialogs of the operator in ${language} on a ${size} are accessible`, async () => {
      const page = await openOperator("servers", { language, size });
      const isRussian = language === "ru";
      const checkDialog = async (button: string, item?: string) => {
        await page.getByRole("button", { name: button }).first().click();
        if (item !== undefined) await page.getByRole("menuitem", { name: item }).click();
        await page.getByRole("dialog").waitFor();
        await waitUntilLoaded(page);
        await expectAccessible(page);
        await page
          .getByRole("dialog")
          .getByRole("button", { name: isRussian ? "Закрыть" : "Close" })
          .click();
        await page.getByRole("dialog").waitFor({ state: "detached" });
      };
      await checkDialog(isRussian ? "Добавить сервер" : "Add a server");
      if (size === "phone") await rowOf(page, "busy").locator(".row-toggle").click();
      await checkDialog(isRussian ? "Изменить: busy" : "Edit busy");
      const more = isRussian ? "Ещё для busy" : "More for busy";
      await checkDialog(more, isRussian ? "Удалить" : "Delete");
      await checkDialog(more, isRussian ? "Оповещения" : "Alerts");
      await page.evaluate(`location.hash = "#/keys"`);
      await checkDialog(isRussian ? "Создать ключ" : "Create a key");
      if (size === "phone") await page.locator(".row-toggle").first().click();
      await checkDialog(isRussian ? "Подробно:" : "Details of");
      await checkDialog(isRussian ? "Изменить:" : "Edit ");
      await page
        .getByRole("button", { name: isRussian ? "Ещё для" : "More for" })
        .first()
        .click();
      await page.getByRole("menu").waitFor();
      await expectAccessible(page);
    });
  }
}

browserTest("a key's whole life: few rights, shown once, changed, suspended, rotated, revoked", async () => {
  const page = await openOperator("keys", { expectedStatuses: [400] });
  await page.getByRole("button", { name: "Create a key" }).click();
  const form = page.getByRole("dialog", { name: "Create a key" });
  await form.getByLabel("Label").fill("Life bot");
  await form.getByLabel("Server").selectOption("busy");
  await form.getByRole("button", { name: "None" }).click();
  await form.getByLabel("queue", { exact: true }).check();
  await form.getByLabel("Only these").check();
  const names = form.getByLabel("Names of commands").first();
  await names.fill("h, :m");
  await names.press("Enter");
  await form.getByLabel("Addresses").fill("not an address");
  await form.getByRole("button", { name: "Create", exact: true }).click();
  // The reason of the API is shown at the field.
  await form.getByText("is neither an address nor a range").waitFor();
  await expectAccessible(page);
  await form.getByLabel("Addresses").fill("");
  await form.getByRole("button", { name: "Create", exact: true }).click();

  const shown = page.getByRole("dialog", { name: "The token" });
  const token = await shown.locator("[data-token]").innerText();
  expect(token).toMatch(/^gth_[0-9A-Za-z]{36}$/);
  await shown.getByText("For a bot that was written for the game API").click();
  await expectAccessible(page);
  await shown.getByRole("button", { name: "Copy the server key" }).click();
  const facadeKey = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(facadeKey).toBe(await shown.locator("[data-facade-key]").innerText());
  expect(facadeKey).toMatch(new RegExp(`^gth${token.slice(4)}-srv[0-9A-Za-z]+$`));
  await shown.getByRole("button", { name: "Copy the token" }).click();
  expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(token);
  await shown.getByRole("button", { name: "I have copied it" }).click();
  await shown.waitFor({ state: "detached" });
  expect(await page.content()).not.toContain(token.slice(4));

  expect(await readWith(token, "?Queue=true")).toEqual({ status: 200, code: undefined });
  expect(await readWith(token)).toEqual({ status: 403, code: 5011 });
  // Other tests create keys too; the search finds the key on any page of the list.
  await page.getByLabel("Search").fill("life BOT");
  await rowOf(page, "Life bot").getByText("reads 1 of 9 sections · 2 commands").waitFor();
  await expectCount(page.locator("#content tbody tr"), 1);

  await page.getByRole("button", { name: "Edit Life bot" }).click();
  const edit = page.getByRole("dialog", { name: "Edit a key" });
  await edit.getByLabel("players", { exact: true }).check();
  // The second click of a double click hits the command that has moved there, and removes nothing.
  await edit.getByRole("button", { name: "Remove :h" }).dblclick();
  await edit.getByRole("button", { name: "Save" }).click();
  await edit.waitFor({ state: "detached" });
  await rowOf(page, "Life bot").getByText("reads 2 of 9 sections · 1 command").waitFor();
  expect(await readWith(token)).toEqual({ status: 200, code: undefined });

  await chooseFromMenu(page, "Life bot", "Suspend");
  await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
  await rowOf(page, "Life bot").getByText("Suspended").waitFor();
  expect(await readWith(token)).toEqual({ status: 403, code: 5009 });
  await chooseFromMenu(page, "Life bot", "Resume");
  await rowOf(page, "Life bot").getByText("Active").waitFor();
  expect((await readWith(token)).status).toBe(200);

  await chooseFromMenu(page, "Life bot", "New token");
  const rotation = page.getByRole("dialog", { name: "Give it a new token?" });
  await rotation.getByLabel("The old token works on for").selectOption("0");
  await rotation.getByRole("button", { name: "Make a new token" }).click();
  const newToken = await shown.locator("[data-token]").innerText();
  await shown.getByText("The old token no longer works").waitFor();
  await shown.getByRole("button", { name: "I have copied it" }).click();
  expect(await readWith(token)).toEqual({ status: 401, code: 5008 });
  expect((await readWith(newToken)).status).toBe(200);

  await page.getByRole("button", { name: "Details of Life bot" }).click();
  const details = page.getByRole("dialog", { name: "Life bot" });
  await details.getByText("5011: section not allowed").waitFor();
  await details.getByRole("img", { name: /Requests by hour/ }).waitFor();
  await expectAccessible(page);
  await details.getByRole("button", { name: "Close" }).click();

  await chooseFromMenu(page, "Life bot", "Revoke");
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await rowOf(page, "Life bot").waitFor({ state: "detached" });
  expect(await readWith(newToken)).toEqual({ status: 401, code: 5008 });
  await page.getByLabel("State").selectOption("Revoked");
  await rowOf(page, "Life bot").getByText("Revoked", { exact: true }).waitFor();

  await page.evaluate(`location.hash = "#/audit"`);
  await rowOf(page, "Key revoked").getByText("Life bot").first().waitFor();
  expect(await page.content()).not.toContain(newToken);
});

browserTest("a server is added, renamed and deleted, after a warning with the number of its keys", async () => {
  const page = await openOperator("servers", { expectedStatuses: [400] });
  await page.getByRole("button", { name: "Add a server" }).click();
  const add = page.getByRole("dialog", { name: "Add a server" });
  await add.getByLabel("Name").fill("Short-lived");
  await add.getByLabel("Server key").fill("not a key");
  await add.getByRole("button", { name: "Add" }).click();
  await add.getByText("must be a server key of the game API").waitFor();
  await add.getByLabel("Server key").fill("secret-Short");
  // The reason goes with the mistake.
  await add.getByText("must be a server key of the game API").waitFor({ state: "detached" });
  expect(await add.getByLabel("Server key").getAttribute("type")).toBe("password");
  await add.getByRole("button", { name: "Add" }).click();
  await page.getByText("Short-lived is added.").waitFor();
  await page.getByRole("button", { name: "Edit Short-lived" }).click();
  const edit = page.getByRole("dialog", { name: "Edit a server" });
  expect(await edit.getByLabel("New server key").inputValue()).toBe("");
  await edit.getByLabel("Name").fill("Shorter-lived");
  await edit.getByLabel("Community").fill("liberty");
  await edit.getByRole("button", { name: "Save" }).click();
  await rowOf(page, "Shorter-lived").waitFor();
  expect(await page.content()).not.toContain("secret-Short");

  const { gatehouse } = await getSite();
  const { items } = (await (await gatehouse.admin("GET", "/admin/servers?limit=200")).json()) as {
    items: { server_id: string; name: string }[];
  };
  const serverId = items.find(({ name }) => name === "Shorter-lived")?.server_id;
  expect(items).toContainEqual(expect.objectContaining({ name: "Shorter-lived", community: "liberty" }));
  for (const label of ["one", "two"]) {
    await gatehouse.admin("POST", "/admin/keys", { server_id: serverId, label });
  }
  const url = "https://receiver.example/x";
  await gatehouse.admin("POST", "/admin/webhooks", { server_id: serverId, label: "w", url, format: "standard" });
  await gatehouse.admin("POST", "/admin/people", { name: "Lives", servers: [{ server_id: serverId, role: "viewer" }] });
  await chooseFromMenu(page, "Shorter-lived", "Delete");
  const dialog = page.getByRole("dialog", { name: "Delete this server?" });
  await dialog.getByText("2 API keys are revoked with it").waitFor();
  for (const text of ["events, history, alerts and map", "1 webhook goes with it", "1 person loses"])
    await dialog.getByText(text).waitFor();
  expect(await dialog.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
  await dialog.getByLabel("Type the name of the server").fill("Shorter-lived");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("Keys revoked: 2; commands failed: 0.").waitFor();
  await rowOf(page, "Shorter-lived").waitFor({ state: "detached" });
});

browserTest(
  "what goes with a deleted server: what cannot be counted is no zero, and a full page is no total",
  async () => {
    const { gatehouse } = await getSite();
    const body = { name: "Uncounted", server_key: "uncounted-Town" };
    await gatehouse.admin("POST", "/admin/servers", body);
    const page = await openOperator("servers", { expectedStatuses: [503] });
    await page.route("**/admin/webhooks?*", (route) =>
      route.fulfill({ status: 503, json: { code: 5106, message: "no" } }),
    );
    const items = Array.from({ length: 200 }, (_, i) => ({ person_id: `per_${i}` }));
    await page.route("**/admin/people?*", (route) => route.fulfill({ json: { items, next: "more" } }));
    await chooseFromMenu(page, "Uncounted", "Delete");
    const dialog = page.getByRole("dialog", { name: "Delete this server?" });
    await dialog.getByText("More than 200 people lose their roles on it.").waitFor();
    await dialog.getByText("Its webhooks go with it; they could not be counted.").waitFor();
    await expectAccessible(page);
    await page.unrouteAll();
  },
);

browserTest("a block is shown with the time left, and can be lifted", async () => {
  const site = await getSite();
  const { keyId, token } = await site.gatehouse.addKey(site.getServer("busy"));
  await site.gatehouse.admin("PATCH", `/admin/keys/${keyId}`, { label: "Noisy" });
  for (let sent = 0; sent < 525; sent += 75) {
    await Promise.all(Array.from({ length: 75 }, () => readWith(token, "")));
  }
  expect((await readWith(token)).code).toBe(5100);
  const page = await openOperator("blocks");
  await rowOf(page, "Noisy")
    .getByText(/\d+ (?:s|min) left/)
    .waitFor();
  await page.getByRole("button", { name: "Lift the block of Noisy" }).click();
  await page.getByText("The block of Noisy is lifted").waitFor();
  expect((await readWith(token)).status).toBe(200);
});

browserTest("a pause is told on the overview with its end, and can be ended there", async () => {
  // A site of its own: nobody else can be served during a pause.
  const site = await startSite();
  let isLimited = true;
  const limit = () => Response.json({ code: 4001 }, { status: 429, headers: { "Retry-After": "600" } });
  const server = await site.addServer("limited server", () =>
    isLimited ? limit() : Response.json({ code: 3002 }, { status: 422 }),
  );
  const { token } = await site.gatehouse.addKey(server);
  expect((await site.gatehouse.get("/v2/game/server", token)).status).toBe(400);
  isLimited = false;
  const page = await openView("overview", { site, key: site.masterKey });
  const pause = page.locator("[data-notice=upstream_paused]");
  await pause.getByText(/since .* · until /).waitFor();
  await pause.getByText("gatehouse upstream resume", { exact: false }).waitFor();
  // Screen readers announce the title only, not the list at every poll.
  const frame = page.getByRole("region", { name: "callers are not served" });
  expect(await frame.getByRole("listitem").count()).toBeGreaterThan(0);
  expect(await frame.getByRole("status").allInnerTexts()).toEqual([expect.stringMatching(/callers are not served$/i)]);
  expect(await page.getByRole("alert").count()).toBe(0);
  await expectAccessible(page);
  await pause.getByRole("button", { name: "Resume" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("can get this address banned", { exact: false }).waitFor();
  await dialog.getByRole("button", { name: "Resume" }).click();
  await pause.waitFor({ state: "detached" });
  expect(await (await site.gatehouse.admin("GET", "/admin/upstream")).json()).toMatchObject({ paused_until: null });
});

browserTest("the operator can cancel a waiting command of any key", async () => {
  const site = await getSite();
  const server = await site.addServer("slow server", () => Response.json({ code: 3002 }, { status: 422 }));
  const { token } = await site.gatehouse.addKey(server, { commands: ["*"] });
  for (const text of [":h a", ":h b", ":h c", ":h d"]) {
    await fetch(`${site.url}/v2/game/server/command`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ command: text }),
    });
  }
  const page = await openOperator("commands");
  await page.getByLabel("Server").selectOption("slow server");
  await page.getByRole("button", { name: "Cancel: :h d" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the command" }).click();
  await page.locator("[data-status=cancelled]", { hasText: ":h d" }).waitFor();
  await page.getByLabel("State").selectOption("cancelled");
  await page.locator("[data-status=sent]").first().waitFor({ state: "detached" });
  await page.locator("[data-status=cancelled]").waitFor();
  expect(await page.locator("#content tbody tr").count()).toBe(1);
});
