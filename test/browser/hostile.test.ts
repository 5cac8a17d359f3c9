// Hostile names stay text in every view, for callers and for operators.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import type { KeyIdentity } from "../../src/core/keys/api-key.ts";
import { IS_LONG } from "../long.ts";
import {
  blockKey,
  browserTest,
  expectAccessible,
  expectNoSidewaysScroll,
  getSite,
  openPage,
  SIZES,
  type Site,
  type Size,
  startSite,
  visitViews,
  waitUntilLoaded,
} from "./browser.ts";
import { HOSTILE_LABELS, HOSTILE_NAMES, makeHostileServer } from "./hostile-names.ts";

const MARKUP = "script, iframe, object, embed, img, video, form[action], base, meta, link, math, a[href^='javascript']";
const TABLES = ["players", "staff", "vehicles", "calls", "logs"];

async function openHostile(size: Size): Promise<Page> {
  const site = await getSite();
  const server = `hostile-${size}`;
  const text = JSON.stringify(makeHostileServer());
  await site.addServer(server, () => new Response(text, { headers: { "Content-Type": "application/json" } }));
  return openPage({ size, view: "players", key: await site.mintKey(server) });
}

async function expectHarmless(page: Page): Promise<void> {
  // Time for code in a name to run.
  await page.waitForTimeout(150);
  expect(await page.evaluate<unknown>("window.hostile")).toBeUndefined();
  expect(await page.evaluate<unknown>("({}).hostile")).toBeUndefined();
  expect(await page.locator("#content, [role=dialog]").locator(MARKUP).count()).toBe(0);
  expect(await page.locator("script:not([src^='/assets/'])").count()).toBe(0);
  expect(await page.locator("#content").innerText()).not.toContain("This view has crashed");
}

for (const size of IS_LONG ? SIZES : (["phone"] as const)) {
  browserTest(`fifty hostile names in every field run no code in any view, ${size}`, async () => {
    expect(new Set(HOSTILE_NAMES).size).toBe(50);
    const page = await openHostile(size);
    const views = await visitViews(page, async (view) => {
      await expectHarmless(page);
      if (TABLES.includes(view)) await expectNoSidewaysScroll(page);
    });
    expect(views.length).toBeGreaterThan(6);
  });
}

browserTest("a hostile name is shown as text, cut when it is long, with invisible characters marked", async () => {
  const page = await openHostile("desktop");
  const text = await page.locator("#content table").innerText();
  expect(text).toContain("<script>window.hostile=1</script>");
  expect(text).toContain("{{n}} $t(shell:signOut) {{count}}");
  expect(text).not.toContain("W".repeat(200));
  // A name cannot reverse the text, and cannot look like another name by invisible characters.
  expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/);
  expect(text).toContain("202E");

  const cell = page.locator("tbody th", { hasText: "WWWWWWWW" });
  await cell.getByRole("button", { name: "Show the whole text" }).click();
  const whole = page.getByRole("dialog");
  await whole.waitFor();
  expect(await whole.innerText()).toContain("W".repeat(10_240));
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await whole.waitFor({ state: "hidden" });
  await expectHarmless(page);
});

/** Invisible characters, except joiners inside emoji. The page shows them as their code point. */
const INVISIBLE = /[\u200b\u200c\u202a-\u202e\u2060\u2066-\u2069\ufeff]|(?<!\p{Extended_Pictographic})\u200d/gu;
const codePointOf = (character: string) => character.charCodeAt(0).toString(16).toUpperCase();
const showInvisible = (label: string) => label.replaceAll(INVISIBLE, codePointOf);
/** The form in attributes, where only plain text is possible. */
const markInvisible = (label: string) => label.replaceAll(INVISIBLE, (found) => `[${codePointOf(found)}]`);

const pickLabel = (index: number) => HOSTILE_LABELS[index % HOSTILE_LABELS.length] ?? "";

/** Puts each label into every text that an operator's view can show. */
async function startHostileSite(): Promise<Site> {
  const site = await startSite();
  const { gatehouse, game } = site;
  const change = async (method: string, path: string, body: object): Promise<Record<string, string>> => {
    const response = await gatehouse.admin(method, path, body);
    expect([method, path, response.status]).toEqual([method, path, method === "POST" ? 201 : 200]);
    return (await response.json()) as Record<string, string>;
  };
  // The game API refuses every other command with a hostile message.
  const { answer } = game;
  let sent = 0;
  game.answer = (request) => {
    if (request.method !== "POST" || ++sent % 2 === 0) return answer(request);
    return Response.json({ code: 3001, message: pickLabel(sent) }, { status: 400 });
  };
  const keys: KeyIdentity[] = [];
  for (const [index, name] of HOSTILE_LABELS.entries()) {
    const { server_id = "" } = await change("POST", "/admin/servers", {
      name,
      server_key: `hostile-Town${index}`,
    });
    const { key_id = "", token } = await change("POST", "/admin/keys", {
      server_id,
      label: pickLabel(index + 1),
      commands: ["*"],
    });
    keys.push({ keyId: key_id, serverId: server_id });
    await change("POST", "/admin/people", {
      // At most fifty characters, each name once.
      name: `${index} ${[...name].slice(0, 20).join("")}`,
      servers: [{ server_id, role: "viewer" }],
    });
    await change("POST", "/admin/webhooks", {
      server_id,
      label: pickLabel(index),
      url: "http://127.0.0.1:9/api/webhooks",
      format: "discord",
    });
    const accepted = await gatehouse.admin(
      "POST",
      "/v2/game/server/command",
      { command: pickLabel(index + 2) },
      { Authorization: `Bearer ${token}` },
    );
    expect(accepted.status).toBe(202);
  }
  // Names of commands have no spaces, and their case does not matter.
  const short = HOSTILE_LABELS.filter((name) => /^\S{1,50}$/.test(name));
  const commands = [...new Map(short.map((name) => [name.toLowerCase(), name])).values()];
  for (const [index, key] of keys.entries()) {
    // One key has all of them: fifty times fifty names take the views of keys and of the audit seconds to show.
    await change("PATCH", `/admin/keys/${key.keyId}`, { label: pickLabel(index), ...(index === 0 && { commands }) });
    await blockKey(site, key);
  }
  return site;
}

let hostileSite: Promise<Site> | undefined;

/** Loads all pages of the list and returns its text. */
async function readList(page: Page): Promise<string> {
  const more = page.getByRole("button", { name: "Load more" });
  while ((await more.count()) > 0) {
    await more.click().catch(() => {});
    await page.waitForTimeout(50);
  }
  return page.locator("#content").innerText();
}

for (const size of IS_LONG ? SIZES : (["desktop"] as const)) {
  browserTest(`fifty hostile names run no code in the operator's views, ${size}`, async () => {
    hostileSite ??= startHostileSite();
    const site = await hostileSite;
    const page = await openPage({ site, size, view: "servers", key: site.masterKey });
    // Of the long audit log only the rows in view are in the page.
    const withoutNames = ["health", "audit"];
    const views = await visitViews(page, async (view) => {
      const text = await readList(page);
      const missing = HOSTILE_LABELS.filter((label) => !text.includes(showInvisible(label).trim()));
      expect([view, withoutNames.includes(view) ? [] : missing]).toEqual([view, []]);
      expect([view, text.match(INVISIBLE)]).toEqual([view, null]);
      await expectHarmless(page);
      await expectNoSidewaysScroll(page);
    });
    const all = ["overview", "servers", "people", "keys", "blocks", "commands", "webhooks", "audit", "health"];
    // On a phone the bar with the first views comes after the others.
    expect(views.toSorted()).toEqual(all.toSorted());
  });
}

browserTest("the operator's dialogs show hostile names as text", async () => {
  hostileSite ??= startHostileSite();
  const site = await hostileSite;
  const page = await openPage({ site, view: "servers", key: site.masterKey });
  const dialog = page.getByRole("dialog");
  const expectShown = async (label: string) => {
    await dialog.waitFor();
    await waitUntilLoaded(page);
    const values = await dialog.locator("input").evaluateAll((all) => all.map((input) => input.value));
    const text = await dialog.innerText();
    expect([text, ...values.map(showInvisible)].join("\n")).toContain(showInvisible(label));
    expect(text.match(INVISIBLE)).toBeNull();
    await expectHarmless(page);
    await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.waitFor({ state: "detached" });
  };
  const clickButton = (name: string) => page.getByRole("button", { name: markInvisible(name), exact: true }).click();
  const labels = (IS_LONG ? [0, 38, 42, 44] : [38, 44]).map(pickLabel);
  for (const label of labels) {
    await clickButton(`Edit ${label}`);
    await expectShown(label);
    await clickButton(`More for ${label}`);
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await expectShown(label);
  }
  await page.evaluate(`location.hash = "#/keys"`);
  for (const label of labels) {
    await page.getByRole("button", { name: `Details of ${showInvisible(label)}`, exact: true }).click();
    await expectShown(label);
    await clickButton(`Edit ${label}`);
    await expectShown(label);
    for (const item of ["Suspend", "New token", "Revoke"]) {
      await clickButton(`More for ${label}`);
      await page.getByRole("menuitem", { name: item }).click();
      await expectShown(label);
    }
  }
  await page.evaluate(`location.hash = "#/blocks"`);
  for (const label of labels) {
    await clickButton(`Lift the block of ${label}`);
    await page.getByText(`The block of ${showInvisible(label)} is lifted`).waitFor();
  }
  await expectHarmless(page);
});
