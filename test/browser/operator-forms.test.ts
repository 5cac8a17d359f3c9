// The operator's forms under hasty hands: nothing is done twice, lost, or sent half-filled.
import { expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { browserTest, expectAccessible, expectCount, getSite, openView } from "./browser.ts";

type ListedKey = {
  readonly key_id: string;
  readonly commands: readonly string[];
  readonly expires_at: number | null;
};

async function openKeys(options: Parameters<typeof openView>[1] = {}): Promise<Page> {
  const { masterKey } = await getSite();
  return openView("keys", { ...options, key: masterKey });
}

async function openCreateForm(page: Page, label: string): Promise<Locator> {
  await page.getByRole("button", { name: "Create a key" }).click();
  const form = page.getByRole("dialog", { name: "Create a key" });
  await form.getByLabel("Label").fill(label);
  return form;
}

async function mintNamed(label: string): Promise<string> {
  const site = await getSite();
  const { keyId, token } = await site.gatehouse.addKey(site.getServer("busy"));
  await site.gatehouse.admin("PATCH", `/admin/keys/${keyId}`, { label });
  return token;
}

/** What Gatehouse itself has under this label. */
async function listKeys(wanted: string): Promise<ListedKey[]> {
  const { gatehouse, getServer } = await getSite();
  const { serverId } = getServer("busy");
  const response = await gatehouse.admin("GET", `/admin/keys?limit=200&server_id=${serverId}`);
  const { items } = (await response.json()) as { items: (ListedKey & { label: string })[] };
  return items.filter(({ label }) => label === wanted);
}

const createIn = (form: Locator) => form.getByRole("button", { name: "Create", exact: true });
const tokenIn = (page: Page) => page.getByRole("dialog", { name: "The token" });
const focusedIn = (page: Page) => page.locator(":focus");

/** As quick as two taps can be: nothing is drawn between them. */
function tapTwice(button: Locator): Promise<void> {
  return button.evaluate((element: { click(): void }) => {
    element.click();
    element.click();
  });
}

function countChanges(page: Page): { changes: number } {
  const counted = { changes: 0 };
  page.on("request", (request) => {
    if (request.method() !== "GET") counted.changes += 1;
  });
  return counted;
}

browserTest("a double tap makes one key, one new token, one revocation", async () => {
  const page = await openKeys();
  const counted = countChanges(page);
  const form = await openCreateForm(page, "Tapped twice");
  await form.getByLabel("Server").selectOption("busy");
  await tapTwice(createIn(form));
  await tokenIn(page).getByRole("button", { name: "I have copied it" }).click();
  expect(await listKeys("Tapped twice")).toHaveLength(1);
  expect(counted.changes).toBe(1);

  await page.getByLabel("Search").fill("Tapped twice");
  await page.getByRole("button", { name: "More for Tapped twice" }).click();
  await page.getByRole("menuitem", { name: "New token" }).click();
  const rotation = page.getByRole("dialog", { name: "Give it a new token?" });
  await rotation.getByLabel("The old token works on for").selectOption("0");
  await tapTwice(rotation.getByRole("button", { name: "Make a new token" }));
  const token = await tokenIn(page).locator("[data-token]").innerText();
  const { gatehouse } = await getSite();
  expect((await gatehouse.get("/v2/game/server", token)).status).toBe(200);
  await tokenIn(page).getByRole("button", { name: "I have copied it" }).click();
  expect(counted.changes).toBe(2);

  await page.getByRole("button", { name: "More for Tapped twice" }).click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await tapTwice(page.getByRole("dialog").getByRole("button", { name: "Revoke" }));
  await expectCount(page.locator("#content li", { hasText: "Tapped twice" }), 0);
  expect(counted.changes).toBe(3);
});

browserTest("a form that was refused, or is opened again, can be sent again", async () => {
  const page = await openKeys({ refusals: [400] });
  for (const label of ["Sent again one", "Sent again two"]) {
    const form = await openCreateForm(page, label);
    await form.getByLabel("Server").selectOption("busy");
    await form.getByLabel("Addresses").fill("nowhere");
    await createIn(form).click();
    await form.getByText("has neither an address nor a range").waitFor();
    await form.getByLabel("Addresses").fill("");
    await createIn(form).click();
    await tokenIn(page).getByRole("button", { name: "I have copied it" }).click();
    await tokenIn(page).waitFor({ state: "detached" });
    expect(await listKeys(label)).toHaveLength(1);
  }
});

for (const [language, message] of [
  ["en", "The date or the time is missing"],
  ["ru", "Не хватает даты или времени"],
] as const) {
  browserTest(`a half-typed expiry is refused and no key without end, ${language}`, async () => {
    const page = await openKeys({ language });
    const counted = countChanges(page);
    const isRussian = language === "ru";
    await page.getByRole("button", { name: isRussian ? "Создать ключ" : "Create a key" }).click();
    const form = page.getByRole("dialog");
    const expires = form.getByLabel(isRussian ? "Истекает" : "Expires");
    await form.getByLabel(isRussian ? "Метка" : "Label").fill(`Half an end ${language}`);
    await form.getByLabel(isRussian ? "Сервер" : "Server").selectOption("busy");
    await expires.pressSequentially("12312030");
    expect(await expires.inputValue()).toBe("");
    await form.locator("button[type=submit]").click();
    await form.getByText(message).waitFor();
    expect(await focusedIn(page).getAttribute("type")).toBe("datetime-local");
    await expectAccessible(page);
    expect(counted.changes).toBe(0);

    await expires.fill("2030-12-31T10:30");
    await form.locator("button[type=submit]").click();
    await page.locator("[data-token]").waitFor();
    const [made] = await listKeys(`Half an end ${language}`);
    // In the time zone of the browser.
    expect(made?.expires_at).toBe(Date.parse("2030-12-31T10:30-05:00"));
  });
}

browserTest("the API's reasons are given in the reader's language", async () => {
  const page = await openKeys({ language: "ru", refusals: [400] });
  await page.getByRole("button", { name: "Создать ключ" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Сервер").selectOption("busy");
  await form.getByLabel("Адреса").fill("10.0.0.1, nowhere");
  await form.locator("button[type=submit]").click();
  await form.getByText("нужно от 1 до 100 символов без управляющих").waitFor();
  await form.getByLabel("Метка").fill("Reasons");
  await form.locator("button[type=submit]").click();
  await form.getByText("на месте 2 не адрес и не диапазон вида 10.0.0.0/8").waitFor();
});

browserTest("the first click creates, with the name that was just typed", async () => {
  const page = await openKeys();
  const form = await openCreateForm(page, "First click");
  await form.getByLabel("Server").selectOption("busy");
  await form.getByLabel("Only these").check();
  await createIn(form).scrollIntoViewIfNeeded();
  await form.getByLabel("Names of commands").first().fill("h, :m");
  // A real mouse, which presses where the button was before anything moved.
  const box = await createIn(form).boundingBox();
  if (!box) throw new Error("the button is not to be seen");
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await tokenIn(page).waitFor();
  expect((await listKeys("First click"))[0]?.commands).toEqual([":h", ":m"]);
});

browserTest("only these commands, and none named: that is asked about, not sent", async () => {
  const page = await openKeys();
  const counted = countChanges(page);
  const form = await openCreateForm(page, "Nameless");
  await form.getByLabel("Only these").check();
  await createIn(form).click();
  await form.getByText("Name at least one command").waitFor();
  expect(counted.changes).toBe(0);
  expect(await focusedIn(page).getAttribute("placeholder")).toBe(":h");
  await form.getByLabel("Names of commands").first().fill("pm");
  await createIn(form).click();
  await tokenIn(page).waitFor();
});

browserTest("after a refusal the focus is at the first wrong field, and never lost before", async () => {
  const page = await openKeys({ size: "phone", refusals: [400] });
  await page.getByRole("button", { name: "Create a key" }).click();
  const form = page.getByRole("dialog", { name: "Create a key" });
  await form.getByLabel("Addresses").fill("nowhere");
  const isHeld = Promise.withResolvers<void>();
  const isAsked = Promise.withResolvers<void>();
  await page.route("**/admin/keys", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    isAsked.resolve();
    await isHeld.promise;
    return route.continue();
  });
  await createIn(form).focus();
  await page.keyboard.press("Enter");
  await isAsked.promise;
  await form.locator("button[type=submit][data-loading]").waitFor();
  expect(await focusedIn(page).getAttribute("type")).toBe("submit");
  isHeld.resolve();
  const label = form.getByLabel("Label");
  await label.and(form.locator("[aria-invalid=true]:focus")).waitFor();
  expect(await label.evaluate((input) => input.getBoundingClientRect().top)).toBeGreaterThan(0);
  await label.fill("Far from its button");
  await page.keyboard.press("Enter");
  const addresses = form.getByLabel("Addresses");
  await addresses.and(form.locator("[aria-invalid=true]:focus")).waitFor();
  expect(await addresses.evaluate((input) => input.getBoundingClientRect().bottom)).toBeLessThan(844);
});

browserTest("what was entered in a form is not thrown away by Esc or a click beside it", async () => {
  const page = await openKeys();
  const dialog = page.getByRole("dialog", { name: "Create a key" });
  // Empty, it closes as every dialog does.
  await page.getByRole("button", { name: "Create a key" }).click();
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Create a key" }).click();
  await dialog.waitFor();
  await page.mouse.click(5, 400);
  await dialog.waitFor({ state: "detached" });

  await openCreateForm(page, "Nearly lost");
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 400);
  await dialog.getByRole("button", { name: "None" }).click();
  expect(await dialog.getByLabel("Label").inputValue()).toBe("Nearly lost");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Create a key" }).click();
  expect(await dialog.getByLabel("Label").inputValue()).toBe("");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

async function openToken(page: Page, label: string): Promise<{ shown: Locator; token: string }> {
  await page.getByLabel("Search").fill(label);
  await page.getByRole("button", { name: `More for ${label}` }).click();
  await page.getByRole("menuitem", { name: "New token" }).click();
  await page.getByRole("button", { name: "Make a new token" }).click();
  const shown = tokenIn(page);
  return { shown, token: await shown.locator("[data-token]").innerText() };
}

/** As on plain http that is not this machine. */
const withoutClipboard = (page: Page) =>
  page.evaluate(`Object.defineProperty(Navigator.prototype, "clipboard", { value: undefined })`);

browserTest("the token is copied where the browser has no clipboard for the page", async () => {
  await mintNamed("Insecure");
  const page = await openKeys();
  await withoutClipboard(page);
  const { shown, token } = await openToken(page, "Insecure");
  await shown.getByRole("button", { name: "Copy the token" }).click();
  await shown.getByRole("button", { name: "Copied", exact: true }).waitFor();
  expect(await focusedIn(page).innerText()).toBe("Copied");
  await shown.getByRole("button", { name: "I have copied it" }).click();
  await shown.waitFor({ state: "detached" });
  await page.getByLabel("Search").fill("");
  await page.getByLabel("Search").press("Control+V");
  expect(await page.getByLabel("Search").inputValue()).toBe(token);
});

browserTest("a token that cannot be copied is said to be, and is selected", async () => {
  await mintNamed("Uncopied");
  const page = await openKeys();
  await withoutClipboard(page);
  await page.evaluate("document.execCommand = () => false");
  const { shown, token } = await openToken(page, "Uncopied");
  await shown.getByRole("button", { name: "Copy the token" }).click();
  await shown.getByText("The browser did not let it be copied").waitFor();
  expect(await page.evaluate<string>("String(getSelection())")).toBe(token);
  await expectAccessible(page);
});

browserTest("a server whose name cannot be typed is deleted by its id", async () => {
  const { gatehouse, masterKey } = await getSite();
  const name = "Riverside\u200b";
  const made = await gatehouse.admin("POST", "/admin/servers", { name, server_key: "untypeable-Town" });
  const { server_id: serverId } = (await made.json()) as { server_id: string };
  const page = await openView("servers", { key: masterKey });
  await page.getByRole("button", { name: "Delete Riverside[200B]" }).click();
  const question = page.getByRole("dialog", { name: "Delete this server?" });
  await question.getByText("Riverside200B is gone for good").waitFor();
  await expectAccessible(page);
  const typed = question.getByLabel("Type the id of the server");
  await typed.fill(name);
  expect(await question.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
  await typed.fill(serverId);
  await question.getByRole("button", { name: "Delete" }).click();
  await page.getByText("Riverside200B is deleted.").waitFor();
});
