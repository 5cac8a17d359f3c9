// The operator's view of webhooks: from creating one to deleting it, and what it says about one that does not deliver.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import type { DeliveryResource, WebhookResource } from "../../src/core/wire/webhook.ts";
import { atEnd } from "../at-end.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  getSite,
  openView,
  type Site,
  startSite,
} from "./browser.ts";

const rowOf = (page: Page, text: string) => page.locator("#content :is(tbody tr, li)", { hasText: text });

/** Answers requests for webhooks as Gatehouse does, with other values of one webhook and with these deliveries. */
async function playWebhook(
  page: Page,
  webhook: Partial<WebhookResource>,
  deliveries: readonly DeliveryResource[] = [],
): Promise<void> {
  await page.route(/\/admin\/webhooks\/hook_\w+$/, async (route) => {
    if (route.request().method() !== "GET") return route.continue();
    const answer = await route.fetch();
    const real = (await answer.json()) as WebhookResource;
    return route.fulfill({ response: answer, json: { ...real, ...webhook } });
  });
  await page.route("**/deliveries", (route) => route.fulfill({ json: { items: deliveries, next: null } }));
}

/** Creates a webhook whose receiver does not want it, and waits until Gatehouse has disabled it. */
async function addUnwanted(site: Site, url: string): Promise<void> {
  const settings = { label: "Unwanted", format: "discord-status", url };
  const { serverId } = site.getServer("small");
  // A status message waits for the first reading of its server.
  const reading = await site.gatehouse.get("/v2/game/server", await site.mintKey("small"));
  expect(reading.status).toBe(200);
  const answer = await site.gatehouse.admin("POST", "/admin/webhooks", { server_id: serverId, ...settings });
  let webhook = (await answer.json()) as WebhookResource;
  const deadline = Date.now() + 15_000;
  while (webhook.enabled && Date.now() < deadline) {
    await Bun.sleep(20);
    const shown = await site.gatehouse.admin("GET", `/admin/webhooks/${webhook.webhook_id}`);
    webhook = (await shown.json()) as WebhookResource;
  }
  expect(webhook.enabled).toBe(false);
}

browserTest("an operator creates a webhook, tests it, sees why it was disabled, and enables it", async () => {
  const received: string[] = [];
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (new URL(request.url).pathname === "/gone") return new Response(null, { status: 410 });
      received.push(`${request.headers.get("webhook-signature")} ${await request.text()}`);
      return new Response(null, { status: 204 });
    },
  });
  atEnd(() => receiver.stop(true));
  const site = await startSite();
  const page = await openView("webhooks", { site, key: site.masterKey });
  const dialog = page.getByRole("dialog");
  const closed = () => dialog.waitFor({ state: "detached" });
  await page.getByText("No webhooks yet").waitFor();

  await page.getByRole("button", { name: "Create a webhook" }).click();
  await dialog.getByLabel("Label").fill("Own log");
  await dialog.getByRole("combobox", { name: "Server" }).selectOption("small");
  await dialog.getByRole("radio", { name: "Own program" }).check();
  await dialog.getByRole("textbox", { name: "Address" }).fill(`${receiver.url}hooks/very-secret`);
  await dialog.getByRole("checkbox", { name: "Joins and leaves" }).check();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Create", exact: true }).click();

  const secret = await dialog.locator("[data-token]").innerText();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Copy the secret" }).click();
  await dialog.getByRole("button", { name: "Copied", exact: true }).waitFor();
  expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(secret);
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  await closed();
  // Two dialogs in a row: the focus goes back to what opened the first.
  await page.locator("button:focus", { hasText: "Create a webhook" }).waitFor();
  await rowOf(page, "Own log").getByText("Nothing sent yet").waitFor();
  // Neither the secret nor the secret part of the address is in the page any more.
  const content = await page.content();
  expect(content).not.toContain(secret);
  expect(content).not.toContain("very-secret");

  await page.getByRole("link", { name: "Open it" }).click();
  await page.getByText("Kills, Joins and leaves", { exact: false }).waitFor();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText(/^The test arrived: status 204 after \d+ ms\.$/).waitFor();
  expect(received).toHaveLength(1);
  expect(received[0]).toStartWith("v1,");

  // Sent again from the beginning of the ledger.
  await page.getByRole("button", { name: "Send again…" }).click();
  await dialog.getByRole("button", { name: "Begin there" }).click();
  await page.getByText("Own log sends again from the chosen place.").waitFor();
  await closed();
  await page.getByRole("button", { name: "New secret…" }).click();
  await dialog.getByRole("button", { name: "Make a new secret" }).click();
  await dialog.getByText("For 24 hours the old secret signs too", { exact: false }).waitFor();
  expect(await dialog.locator("[data-token]").innerText()).not.toBe(secret);
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  await closed();

  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await dialog.getByRole("button", { name: "Disable" }).click();
  await page.getByText("This webhook is disabled").waitFor();
  await closed();
  const at = Date.now();
  await playWebhook(
    page,
    { disabled_reason: "No delivery has succeeded for five days.", disabled_code: "exhausted", waiting: 12 },
    [
      { at, event_ids: ["b"], status: null, duration_ms: 15_000, error: "timeout", error_code: "timeout" },
      { at: at - 1000, event_ids: ["b"], status: 404, duration_ms: 30, error: "<b>not here</b>", error_code: null },
      { at: at - 2000, event_ids: ["a"], status: 204, duration_ms: 12, error: null, error_code: null },
    ],
  );
  await page.reload();
  await page.getByText("Gatehouse has disabled this webhook").waitFor();
  await page.getByRole("alert").getByText("No delivery has succeeded for five days.").waitFor();
  await page.getByRole("alert").getByText("12 events wait", { exact: false }).waitFor();
  const deliveries = page.getByRole("region", { name: "Deliveries" }).locator("tbody tr");
  await expectCount(deliveries, 3);
  await deliveries.nth(0).getByText("The receiver did not answer in time.").waitFor();
  await deliveries.nth(1).getByText("<b>not here</b>").waitFor();
  await deliveries.nth(2).getByRole("button").click();
  expect(await dialog.getByLabel("Begin with the events").inputValue()).toBe("a");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await closed();
  await expectAccessible(page);

  await addUnwanted(site, `${receiver.url}gone`);
  await page.keyboard.press("g");
  await page.keyboard.press("o");
  await page.getByText("1 webhook was disabled because of its receiver", { exact: false }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Look at the webhooks" }).click();
  await rowOf(page, "Unwanted").getByText("The receiver answered 410", { exact: false }).waitFor();
  await page.getByRole("link", { name: "Own log" }).click();
  await page.unrouteAll({ behavior: "wait" });
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByText("Own log is enabled and goes on where it was.").waitFor();
  await page.locator("button:focus", { hasText: "Disable" }).waitFor();

  await page.getByRole("button", { name: "Delete…" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expectCount(page.locator("#content tbody tr"), 1);
});

browserTest("on a phone and in Russian, a channel gets the events that were chosen for it", async () => {
  const site = await getSite();
  const page = await openView("webhooks", {
    key: site.masterKey,
    language: "ru",
    size: "phone",
    scheme: "dark",
    expectedStatuses: [400],
  });
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Создать вебхук" }).click();
  await dialog.getByLabel("Метка").fill("Канал модераторов");
  await dialog.getByRole("textbox", { name: "Адрес" }).fill("127.0.0.1/api/webhooks");
  await dialog.getByRole("checkbox", { name: "Вызов модератора", exact: true }).uncheck();
  await dialog.getByRole("checkbox", { name: "Транспорт", exact: true }).check();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await dialog.getByRole("button", { name: "Создать", exact: true }).click();
  await dialog.getByText("нужен адрес, который начинается с https://").waitFor();
  await dialog.getByRole("textbox", { name: "Адрес" }).fill("http://127.0.0.1:9/api/webhooks/1/token");
  await dialog.getByRole("button", { name: "Создать", exact: true }).click();
  // Discord checks no signatures, so no secret is shown.
  await page.getByText("создан. Он получит всё", { exact: false }).waitFor();
  await dialog.waitFor({ state: "detached" });
  await page.setViewportSize({ width: 320, height: 640 });
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);

  await page.getByRole("link", { name: "Канал модераторов" }).click();
  await page.getByText("http://127.0.0.1:9/api/…").waitFor();
  await page.getByText("Транспорт", { exact: false }).waitFor();
  expect(await page.getByRole("button", { name: "Новый секрет…" }).count()).toBe(0);
  await playWebhook(
    page,
    {
      enabled: false,
      disabled_reason: "Discord does not know this webhook: it was deleted there.",
      disabled_code: "unknown_webhook",
    },
    [
      {
        at: Date.now(),
        event_ids: ["a", "b"],
        status: 404,
        duration_ms: 90,
        error: "Unknown Webhook",
        error_code: null,
      },
    ],
  );
  await page.reload();
  await page.getByText("Discord не знает этого вебхука", { exact: false }).waitFor();
  await page.locator(".row-toggle").click();
  await page.locator(".row-fields").getByText("Unknown Webhook").waitFor();
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  await page.unrouteAll({ behavior: "wait" });
  const list = await site.gatehouse.admin("GET", "/admin/webhooks");
  const { items } = (await list.json()) as { readonly items: readonly WebhookResource[] };
  const made = items.find(({ label }) => label === "Канал модераторов");
  expect(made).toMatchObject({ format: "discord", language: "ru", show_join_key: false });
  const ofCalls = ["modcall.answered", "modcall.claimed", "modcall.released"];
  expect(made?.types).toEqual(["player.killed", ...ofCalls, "call.opened", "vehicle.*", "alert.*"]);
});
