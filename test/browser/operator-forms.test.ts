// The operator's forms: nothing is done twice, lost, or sent half-filled.
import { expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { browserTest, expectAccessible, expectCount, getSite, JOURNEY_LANGUAGES, openView } from "./browser.ts";

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

async function mintKeyWithLabel(label: string): Promise<string> {
  const site = await getSite();
  const { keyId, token } = await site.gatehouse.addKey(site.getServer("busy"));
  await site.gatehouse.admin("PATCH", `/admin/keys/${keyId}`, { label });
  return token;
}

/** The keys in Gatehouse with this label. */
async function listKeys(wanted: string): Promise<ListedKey[]> {
  const site = await getSite();
  const { serverId } = site.getServer("busy");
  const response = await site.gatehouse.admin("GET", `/admin/keys?limit=200&server_id=${serverId}`);
  const { items } = (await response.json()) as { items: (ListedKey & { label: string })[] };
  return items.filter(({ label }) => label === wanted);
}

const createButtonOf = (form: Locator) => form.getByRole("button", { name: "Create", exact: true });
const tokenDialogOf = (page: Page) => page.getByRole("dialog", { name: "The token" });
const focusedElementOf = (page: Page) => page.locator(":focus");

/** Both clicks come before the page renders again. */
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

browserTest("a double tap creates one key, one new token, one revocation", async () => {
  const page = await openKeys();
  const counted = countChanges(page);
  const form = await openCreateForm(page, "Tapped twice");
  await form.getByLabel("Server").selectOption("busy");
  await tapTwice(createButtonOf(form));
  await tokenDialogOf(page).getByRole("button", { name: "I have copied it" }).click();
  expect(await listKeys("Tapped twice")).toHaveLength(1);
  expect(counted.changes).toBe(1);

  await page.getByLabel("Search").fill("Tapped twice");
  await page.getByRole("button", { name: "More for Tapped twice" }).click();
  await page.getByRole("menuitem", { name: "New token" }).click();
  const rotation = page.getByRole("dialog", { name: "Give it a new token?" });
  await rotation.getByLabel("The old token works on for").selectOption("0");
  await tapTwice(rotation.getByRole("button", { name: "Make a new token" }));
  const token = await tokenDialogOf(page).locator("[data-token]").innerText();
  const { gatehouse } = await getSite();
  expect((await gatehouse.get("/v2/game/server", token)).status).toBe(200);
  await tokenDialogOf(page).getByRole("button", { name: "I have copied it" }).click();
  expect(counted.changes).toBe(2);

  await page.getByRole("button", { name: "More for Tapped twice" }).click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await tapTwice(page.getByRole("dialog").getByRole("button", { name: "Revoke" }));
  await expectCount(page.locator("#content :is(tbody tr, li)", { hasText: "Tapped twice" }), 0);
  expect(counted.changes).toBe(3);
});

browserTest("a form can be sent again after a refusal, and after it is opened again", async () => {
  const page = await openKeys({ expectedStatuses: [400] });
  for (const label of ["Sent again one", "Sent again two"]) {
    const form = await openCreateForm(page, label);
    await form.getByLabel("Server").selectOption("busy");
    await form.getByLabel("Addresses").fill("nowhere");
    await createButtonOf(form).click();
    await form.getByText("is neither an address nor a range").waitFor();
    await form.getByLabel("Addresses").fill("");
    await createButtonOf(form).click();
    await tokenDialogOf(page).getByRole("button", { name: "I have copied it" }).click();
    await tokenDialogOf(page).waitFor({ state: "detached" });
    expect(await listKeys(label)).toHaveLength(1);
  }
});

for (const [language, message] of [
  ["en", "The date or the time is missing"],
  ["ru", "Не хватает даты или времени"],
] as const) {
  if (!JOURNEY_LANGUAGES.includes(language)) continue;
  browserTest(`a half-typed expiry is refused and does not create a key without expiry, ${language}`, async () => {
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
    expect(await focusedElementOf(page).getAttribute("type")).toBe("datetime-local");
    await expectAccessible(page);
    expect(counted.changes).toBe(0);

    await expires.fill("2030-12-31T10:30");
    await form.locator("button[type=submit]").click();
    await page.locator("[data-token]").waitFor();
    const [created] = await listKeys(`Half an end ${language}`);
    // In the time zone of the browser.
    expect(created?.expires_at).toBe(Date.parse("2030-12-31T10:30-05:00"));
  });
}

browserTest("the API's reasons are shown in the user's language", async () => {
  const page = await openKeys({ language: "ru", expectedStatuses: [400] });
  await page.getByRole("button", { name: "Создать ключ" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Сервер").selectOption("busy");
  await form.getByLabel("Адреса").fill("10.0.0.1, nowhere");
  await form.locator("button[type=submit]").click();
  await form.getByText("нужно от 1 до 100 обычных символов").waitFor();
  const aboutAddress = form.getByText("запись 2: это не адрес и не диапазон вида 10.0.0.0/8");
  await form.getByLabel("Метка").fill("Reasons");
  // The reason goes with the mistake, at this field only.
  await form.getByText("нужно от 1 до 100 обычных символов").waitFor({ state: "detached" });
  await form.locator("button[type=submit]").click();
  await aboutAddress.waitFor();
  await form.getByLabel("Адреса").fill("10.0.0.1");
  await aboutAddress.waitFor({ state: "detached" });
});

browserTest("one click creates the key, with the command name that was just typed", async () => {
  const page = await openKeys();
  const form = await openCreateForm(page, "First click");
  await form.getByLabel("Server").selectOption("busy");
  await form.getByLabel("Only these").check();
  await createButtonOf(form).scrollIntoViewIfNeeded();
  await form.getByLabel("Names of commands").first().fill("h, :m");
  // The mouse clicks where the button was, in case losing the focus moves the button.
  const box = await createButtonOf(form).boundingBox();
  if (!box) throw new Error("the button is not visible");
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await tokenDialogOf(page).waitFor();
  expect((await listKeys("First click"))[0]?.commands).toEqual([":h", ":m"]);
});

browserTest('a form with "Only these" and no command name is not sent', async () => {
  const page = await openKeys();
  const counted = countChanges(page);
  const form = await openCreateForm(page, "Nameless");
  await form.getByLabel("Only these").check();
  await createButtonOf(form).click();
  await form.getByText("Name at least one command").waitFor();
  expect(counted.changes).toBe(0);
  expect(await focusedElementOf(page).getAttribute("placeholder")).toBe(":h");
  await form.getByLabel("Names of commands").first().fill("pm");
  await createButtonOf(form).click();
  await tokenDialogOf(page).waitFor();
});

browserTest("the focus stays in the form, and after a refusal it is in the first invalid field", async () => {
  const page = await openKeys({ size: "phone", expectedStatuses: [400] });
  await page.getByRole("button", { name: "Create a key" }).click();
  const form = page.getByRole("dialog", { name: "Create a key" });
  await form.getByLabel("Addresses").fill("nowhere");
  const released = Promise.withResolvers<void>();
  const requested = Promise.withResolvers<void>();
  await page.route("**/admin/keys", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    requested.resolve();
    await released.promise;
    return route.continue();
  });
  await createButtonOf(form).focus();
  await page.keyboard.press("Enter");
  await requested.promise;
  await form.locator("button[type=submit][data-loading]").waitFor();
  expect(await focusedElementOf(page).getAttribute("type")).toBe("submit");
  released.resolve();
  const label = form.getByLabel("Label");
  await label.and(form.locator("[aria-invalid=true]:focus")).waitFor();
  expect(await label.evaluate((input) => input.getBoundingClientRect().top)).toBeGreaterThan(0);
  await label.fill("Far from its button");
  await page.keyboard.press("Enter");
  const addresses = form.getByLabel("Addresses");
  await addresses.and(form.locator("[aria-invalid=true]:focus")).waitFor();
  expect(await addresses.evaluate((input) => input.getBoundingClientRect().bottom)).toBeLessThan(844);
});

browserTest("Esc and a click outside do not close a form with input", async () => {
  const page = await openKeys();
  const dialog = page.getByRole("dialog", { name: "Create a key" });
  // An empty form closes like every dialog.
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
  const shown = tokenDialogOf(page);
  return { shown, token: await shown.locator("[data-token]").innerText() };
}

/** As over plain HTTP, except on localhost. */
const withoutClipboard = (page: Page) =>
  page.evaluate(`Object.defineProperty(Navigator.prototype, "clipboard", { value: undefined })`);

browserTest("the token is copied also where the page has no clipboard API", async () => {
  await mintKeyWithLabel("Insecure");
  const page = await openKeys();
  await withoutClipboard(page);
  const { shown, token } = await openToken(page, "Insecure");
  await shown.getByRole("button", { name: "Copy the token" }).click();
  await shown.getByRole("button", { name: "Copied", exact: true }).waitFor();
  expect(await focusedElementOf(page).innerText()).toBe("Copied");
  await shown.getByRole("button", { name: "I have copied it" }).click();
  await shown.waitFor({ state: "detached" });
  await page.getByLabel("Search").fill("");
  await page.getByLabel("Search").press("Control+V");
  expect(await page.getByLabel("Search").inputValue()).toBe(token);
});

browserTest("a token that cannot be copied is selected, and a message says so", async () => {
  await mintKeyWithLabel("Uncopied");
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
  const created = await gatehouse.admin("POST", "/admin/servers", { name, server_key: "untypeable-Town" });
  const { server_id: serverId } = (await created.json()) as { server_id: string };
  const page = await openView("servers", { key: masterKey });
  await page.getByRole("button", { name: "More for Riverside[200B]" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete this server?" });
  await dialog.getByText("Riverside200B is gone for good").waitFor();
  await expectAccessible(page);
  const typed = dialog.getByLabel("Type the id of the server");
  await typed.fill(name);
  expect(await dialog.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
  await typed.fill(serverId);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("Riverside200B is deleted.").waitFor();
});
