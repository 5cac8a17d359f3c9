// The operator's search for keys, which Gatehouse makes, and what the page shows of a key's state.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { blockKey, browserTest, expectCount, openView, type Site, startSite } from "./browser.ts";

/** More keys than a page of the list has. */
const KEYS = 60;

const rowOf = (page: Page, text: string) => page.locator("#content tbody tr", { hasText: text });

async function openKeys(site: Site): Promise<Page> {
  return openView("keys", { site, key: site.masterKey, expectedStatuses: [404] });
}

async function addKeyWithLabel(site: Site, label: string) {
  const server = site.getServer("busy");
  const key = await site.gatehouse.addKey(server);
  await site.gatehouse.admin("PATCH", `/admin/keys/${key.keyId}`, { label });
  return { ...key, serverId: server.serverId };
}

let filled: Promise<Site> | undefined;

/** A site with a key for each state, the newest of very many. */
function getFilledSite(): Promise<Site> {
  filled ??= (async () => {
    const site = await startSite();
    for (let count = 0; count < KEYS; count++) await addKeyWithLabel(site, `crowd ${count}`);
    await addKeyWithLabel(site, "Night bot");
    await blockKey(site, await addKeyWithLabel(site, "Spammer"));
    const revoked = await addKeyWithLabel(site, "Former bot");
    await site.gatehouse.admin("DELETE", `/admin/keys/${revoked.keyId}`);
    return site;
  })();
  return filled;
}

browserTest("Gatehouse itself searches the keys, by a part of the label, the server and the state", async () => {
  const site = await getFilledSite();
  const page = await openKeys(site);
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname === "/admin/keys") asked.push(search);
  });
  // Search and filters are in one row with what is beside them.
  const [search, columns] = [page.getByLabel("Search"), page.getByRole("button", { name: "Columns" })];
  const [field, button] = [await search.boundingBox(), await columns.boundingBox()];
  expect(button?.y ?? 0).toBeLessThan((field?.y ?? 0) + (field?.height ?? 0));
  await search.fill("night B");
  await expectCount(page.locator("#content tbody tr"), 1);
  await rowOf(page, "Night bot").getByText("Active", { exact: true }).waitFor();
  await page.getByLabel("Server").selectOption("small");
  await page.getByText("No key matches").waitFor();
  await page.getByLabel("Server").selectOption("busy");
  await page.getByLabel("State").selectOption("Suspended");
  await page.getByText("No key matches").waitFor();
  const { serverId } = site.getServer("busy");
  expect(asked.at(-1)).toBe(`?limit=50&server_id=${serverId}&label=night+B&state=suspended`);
  // Nothing was searched for in pages of the whole list.
  expect(asked.filter((query) => query.includes("cursor="))).toEqual([]);
});

browserTest("a blocked key shows as blocked, and revoked keys are shown only on request", async () => {
  const page = await openKeys(await getFilledSite());
  await page.getByLabel("State").selectOption("Blocked");
  await expectCount(page.locator("#content tbody tr"), 1);
  await rowOf(page, "Spammer").getByText("Blocked", { exact: true }).waitFor();
  await page.getByLabel("State").selectOption("All but revoked");
  await page.getByLabel("Search").fill("bot");
  await rowOf(page, "Night bot").waitFor();
  await expectCount(page.locator("#content tbody tr"), 1);
  await page.getByLabel("State").selectOption("Revoked");
  await rowOf(page, "Former bot").getByText("Revoked", { exact: true }).waitFor();
});

browserTest("a key is found by its id, and its old tokens are shown with their end", async () => {
  const site = await getFilledSite();
  const { keyId } = await addKeyWithLabel(site, "Rotated bot");
  await site.gatehouse.admin("POST", `/admin/keys/${keyId}/rotate`, { grace_seconds: 3_600 });
  const page = await openKeys(site);
  await page.getByLabel("Search").fill(keyId);
  await expectCount(page.locator("#content tbody tr"), 1);
  await page.getByRole("button", { name: "Details of Rotated bot" }).click();
  const details = page.getByRole("dialog", { name: "Rotated bot" });
  await details.getByText(/^one works until \w{3} \d+, \d{4}, /).waitFor();
  await details.getByRole("button", { name: "Close" }).click();
  await page.getByLabel("Search").fill("key_0000000000000000000000");
  await page.getByText("No key matches").waitFor();
});

browserTest("a token in the search field is never a part of an address", async () => {
  const page = await openKeys(await getFilledSite());
  const addresses: string[] = [];
  page.on("request", (request) => addresses.push(request.url()));
  await page.getByLabel("Search").fill("gth_000000000000000000000000000000000000");
  await page.getByText("This is a token, not a label. It was not sent.").waitFor();
  await page.getByLabel("Search").fill("Night");
  await expectCount(page.locator("#content tbody tr"), 1);
  expect(addresses.filter((url) => url.includes("gth_"))).toEqual([]);
});

browserTest("a new key takes the rights of a role, and hides what the role hides", async () => {
  const site = await getFilledSite();
  const page = await openKeys(site);
  await page.getByRole("button", { name: "Create a key" }).click();
  const form = page.getByRole("dialog", { name: "Create a key" });
  await form.getByText("Keys are for programs.").waitFor();
  await form.getByLabel("Label").fill("Trial bot");
  await form.getByLabel("Rights like").selectOption("Trial moderator");
  expect(await form.getByLabel("the join key").isChecked()).toBe(true);
  await form.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("button", { name: "I have copied it" }).click();
  const found = await site.gatehouse.admin("GET", "/admin/keys?label=Trial+bot");
  const { items } = (await found.json()) as { items: { commands: string[]; hide: string[] }[] };
  expect(items[0]).toMatchObject({ commands: [":h", ":m", ":pm"], hide: ["JoinKey"] });
});
