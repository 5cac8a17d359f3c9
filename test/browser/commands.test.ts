// The view "Console": no command reaches a player who was not named or confirmed; the status of a command as its sender sees
// it, and an explanation for every refusal.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { until } from "../until.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  getSite,
  HURRIED,
  isTestedVariant,
  LANGUAGES,
  openView,
  SIZES,
} from "./browser.ts";
import { BUSY_SERVER, idOf, nameOf, writeGameJson } from "./game-server-fixture.ts";

const rowOf = (page: Page, text: string) => page.locator("#content :is(tbody tr, li)", { hasText: text });
const lineOf = (page: Page) => page.getByRole("combobox", { name: "Command", exact: true });

async function sendLine(page: Page, text: string): Promise<void> {
  await lineOf(page).fill(text);
  await lineOf(page).press("Escape");
  await lineOf(page).press("Enter");
}

/** Opens the view with a new game server, so that no commands of other tests are in its queue. */
async function openConsole(server: string, options: Parameters<typeof openView>[1] = {}): Promise<Page> {
  const site = await getSite();
  await site.addServer(server, () => {
    return new Response(writeGameJson(BUSY_SERVER), { headers: { "Content-Type": "application/json" } });
  });
  return openView("commands", { server, ...options });
}

/** The commands of a server and their status in Gatehouse, newest first. */
async function listStatuses(server: string): Promise<string[]> {
  return (await readCommands(server)).map(({ command, status }) => `${command}: ${status}`);
}

async function listCommands(server: string): Promise<string[]> {
  return (await readCommands(server)).map(({ command }) => command);
}

async function readCommands(server: string): Promise<{ command: string; status: string }[]> {
  const site = await getSite();
  const { serverId } = site.getServer(server);
  const response = await site.gatehouse.admin("GET", `/admin/commands?server_id=${serverId}`);
  return ((await response.json()) as { items: { command: string; status: string }[] }).items;
}

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    if (!isTestedVariant(language, size)) continue;
    browserTest(`the console in ${language} on a ${size} is accessible, empty and full`, async () => {
      const scheme = size === "phone" ? "dark" : "light";
      const page = await openConsole(`console ${language} ${size}`, { language, size, scheme });
      expect(await page.locator("h1").innerText()).toBe(language === "ru" ? "Консоль" : "Console");
      await page.getByText(language === "ru" ? "Команд пока нет" : "No commands yet").waitFor();
      await expectAccessible(page);
      const line = page.getByRole("combobox", { name: language === "ru" ? "Команда" : "Command" });
      await line.fill(":kick copper");
      const options = page.getByRole("listbox").getByRole("option");
      await expectCount(options, 4);
      expect(await options.first().innerText()).toMatch(/^CopperFox\s+10002\s+/);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await line.press("Escape");
      await line.press("Enter");
      const dialog = page.getByRole("dialog");
      await expectCount(dialog.getByRole("checkbox"), 4);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      // By mouse on the desktop, by touch on the phone.
      await line.fill(":kick copperfox_1");
      await (size === "phone" ? options.first().tap() : options.first().click());
      expect(await line.inputValue()).toBe(":kick CopperFox_12 ");
      await line.fill(":h good evening");
      await line.press("Enter");
      await page.locator("[data-status=sent]").waitFor();
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    });
  }
}

browserTest("a waiting command can be cancelled, and the commands before it are sent", async () => {
  const page = await openConsole("queue server");
  const site = await getSite();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  site.commandsHeld = promise;
  await sendLine(page, ":h first");
  await rowOf(page, ":h first").waitFor();
  await sendLine(page, ":h second");
  await sendLine(page, ":h third");
  await rowOf(page, ":h third").getByText("Waiting, number").waitFor();
  await page.getByRole("button", { name: "Cancel: :h third" }).click();
  await rowOf(page, ":h third").getByText("Cancelled", { exact: true }).waitFor();
  release();
  await page.locator("[data-status=sent]", { hasText: ":h first" }).waitFor();
  await page.locator("[data-status=sent]", { hasText: ":h second" }).waitFor();
  await page.getByText("Everything is finished").waitFor();
  expect(await listStatuses("queue server")).toEqual([":h third: cancelled", ":h second: sent", ":h first: sent"]);
});

browserTest("a lost answer is shown, and a retry does not queue the command twice", async () => {
  const page = await openConsole("lossy server", { expectedStatuses: [502] });
  const keys: (string | undefined)[] = [];
  let isLossy = true;
  await page.route("**/v2/game/server/command", async (route) => {
    const request = route.request();
    if (request.method() !== "POST") return route.continue();
    keys.push(request.headers()["idempotency-key"]);
    if (!isLossy) return route.continue();
    // The request arrives, but the answer is lost.
    isLossy = false;
    await route.fetch();
    return route.fulfill({ status: 502, contentType: "text/html", body: "<p>bad gateway</p>" });
  });
  await sendLine(page, ":m only once");
  await page.getByText("Trying again is safe").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator("[data-status=sent]", { hasText: ":m only once" }).waitFor();
  expect(await rowOf(page, ":m only once").count()).toBe(1);
  expect(keys.length).toBe(2);
  expect(keys[0]).toBe(keys[1]);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
});

browserTest("refusals are explained, and a full queue shows when to retry", async () => {
  const site = await getSite();
  const key = await site.mintKey("busy", { commands: [":h"] });
  const page = await openView("commands", { key, expectedStatuses: [429, 503, 400] });
  const posted: string[] = [];
  page.on("request", (request) => void (request.method() === "POST" && posted.push(request.url())));
  await sendLine(page, ":m hello");
  await page.getByText("You may not send this command, so it was not sent. You may send: :h").waitFor();
  expect(posted).toEqual([]);

  let answer = { status: 429, body: { code: 5015, message: "command_queue_full", retry_after: 2 } as object };
  await page.route("**/v2/game/server/command", (route) => {
    if (route.request().method() !== "POST") return route.continue();
    return route.fulfill({ status: answer.status, json: answer.body });
  });
  await sendLine(page, ":h full");
  await page.getByText("The queue of this server is full").waitFor();
  expect(await page.getByRole("button", { name: /Try again in \d s/ }).isDisabled()).toBe(true);
  answer = { status: 503, body: { code: 5106, message: "unavailable" } };
  await page.getByRole("button", { name: "Try again", exact: true }).click();
  await page.getByText("Gatehouse cannot promise to keep it").waitFor();
  answer = {
    status: 400,
    body: { code: 5104, message: "invalid_request", details: { command: "must be nicer" } },
  };
  await page.getByRole("button", { name: "Try again", exact: true }).click();
  await page.getByText("must be nicer").waitFor();
  await expectAccessible(page);
});

browserTest("a failed command shows the reason, and an unknown one what that means", async () => {
  const page = await openConsole("odd server");
  const { game } = await getSite();
  const answer = game.answer;
  game.answer = async (request) => {
    if (request.method !== "POST" || request.headers.get("server-key") !== "browser-oddserver") {
      return answer(request);
    }
    const isWrong = (await request.text()).includes(":wrong");
    return isWrong
      ? Response.json({ code: 3001, message: "<b>no such command</b>" }, { status: 400 })
      : Response.json({ code: 1001, message: "no contact" }, { status: 500 });
  };
  try {
    await sendLine(page, ":wrong");
    const failed = page.locator("[data-status=failed]");
    await failed.getByText("there is no such command, 3001").waitFor();
    await failed.getByText("The game API says: <b>no such command</b>").waitFor();
    await sendLine(page, ":h maybe");
    const unknown = page.locator("[data-status=unknown]");
    await unknown.getByText("Gatehouse never sends it again by itself").waitFor();
    await page.getByRole("button", { name: "Use again: :h maybe" }).click();
    expect(await lineOf(page).inputValue()).toBe(":h maybe");
    await expectAccessible(page);
  } finally {
    game.answer = answer;
  }
});

browserTest("a command reaches nobody whom its sender has not named in full or confirmed", async () => {
  const page = await openConsole("careful server");
  const line = lineOf(page);
  const dialog = page.getByRole("dialog", { name: "Send this command?" });
  const cancel = async () => {
    // The cancel button has the focus.
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
  };
  await sendLine(page, "hello there");
  await page.getByText("This is no command, so it was not sent").waitFor();

  // A missing colon, and the beginning of a name.
  await sendLine(page, "kick averystone_1 please stop");
  await dialog.getByText("The colon was missing").waitFor();
  await dialog.getByText("averystone_1 is only the beginning of a name").waitFor();
  await dialog.getByRole("group", { name: "For 1 player" }).getByText("AveryStone_10").waitFor();
  await dialog.getByText("10010", { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Send it", exact: true }).click();
  await rowOf(page, ":kick AveryStone_10 please stop").waitFor();

  // The beginning of four names: nothing can be sent before somebody is chosen.
  await sendLine(page, ":jail copper");
  await dialog.getByText("copper fits 4 players. Who is meant?").waitFor();
  const send = dialog.getByRole("button", { name: /^Send it/ });
  expect(await send.isDisabled()).toBe(true);
  await dialog.getByRole("checkbox", { name: /^CopperFox_22 10022/ }).check();
  await dialog.getByText(":jail CopperFox_22", { exact: true }).waitFor();
  await dialog.getByRole("checkbox", { name: /^CopperFox 10002/ }).check();
  await dialog.getByRole("button", { name: "Send it to 2 players" }).click();
  await rowOf(page, ":jail 10002,CopperFox_22").waitFor();

  // Everybody, counted and listed; the focus comes back to the line.
  await sendLine(page, ":pm others hello");
  await dialog.getByText("others means everybody on the server: 40 players").waitFor();
  await expectCount(dialog.getByRole("group", { name: "For 40 players" }).getByRole("listitem"), 40);
  await expectAccessible(page);
  await cancel();
  expect(await line.evaluate((input) => input.matches(":focus"))).toBe(true);
  await sendLine(page, ":kick Somebody");
  await dialog.getByText("Nobody on the server is called Somebody").waitFor();
  await cancel();
  await sendLine(page, ":ban HarborLight_17");
  await dialog.getByText("This is hard to undo").waitFor();
  await cancel();

  // A whole name that is also the beginning of others is sent as the id, at once.
  await sendLine(page, ":pm BLUEHERON hi");
  await rowOf(page, `:pm ${idOf(1)} hi`).waitFor();
  // The page shows it before Gatehouse has it.
  await until("the third command was not sent", async () => (await listCommands("careful server")).length === 3);
  expect(await listCommands("careful server")).toEqual([
    `:pm ${idOf(1)} hi`,
    ":jail 10002,CopperFox_22",
    ":kick AveryStone_10 please stop",
  ]);
});

browserTest("a confirmation is asked again when somebody else is meant by now", async () => {
  const page = await openConsole("moving server");
  await sendLine(page, ":kick copperfox_1");
  const dialog = page.getByRole("dialog", { name: "Send this command?" });
  await dialog.getByRole("group", { name: "For 1 player" }).waitFor();
  await page.route(/\/v2\/game\/server\?/, async (route) => {
    const { "if-none-match": _, ...headers } = route.request().headers();
    const response = await route.fetch({ headers });
    const state = (await response.json()) as typeof BUSY_SERVER;
    const joined = { ...state.Players[0], Player: "CopperFox_1:77" };
    await route.fulfill({
      response,
      json: { ...state, Name: "Riverside after a join", Players: [...state.Players, joined] },
    });
  });
  // The dialog covers the button; the page's own poll would take seconds.
  await page.locator('[aria-label="Refresh now"]').evaluate((button: { click(): void }) => button.click());
  await page.getByText("Riverside after a join").first().waitFor({ state: "attached" });
  await dialog.getByRole("button", { name: "Send it" }).click();
  await dialog.getByText("The players on the server have changed").waitFor();
  await dialog.getByText("CopperFox_1", { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect(await listCommands("moving server")).toEqual([]);
});

browserTest("a key that may not read players is told that nobody checked the target", async () => {
  const site = await getSite();
  const key = await site.mintKey("small", { sections: 0 });
  const page = await openView("commands", { key });
  await sendLine(page, ":kick all");
  const dialog = page.getByRole("dialog", { name: "Send this command?" });
  await dialog.getByText("You may not read players, so nobody has checked whom this means").waitFor();
  await dialog.getByText("all means everybody; how many they are is not known").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
});

browserTest("each command shows the key that sent it", async () => {
  const site = await getSite();
  const page = await openConsole("shared server");
  await sendLine(page, ":h mine");
  await rowOf(page, ":h mine").getByText("test (this key)").waitFor();
  const { keyId, token } = await site.gatehouse.addKey(site.getServer("shared server"), { commands: [":h"] });
  await site.gatehouse.admin("PATCH", `/admin/keys/${keyId}`, { label: "Night\u200b shift" });
  const answer = await fetch(`${site.url}/v2/game/server/command`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ command: ":h theirs" }),
  });
  expect(answer.status).toBe(202);
  await site.gatehouse.admin("DELETE", `/admin/keys/${keyId}`);
  await page.getByRole("button", { name: "Read the list again" }).click();
  await rowOf(page, ":h theirs").getByText("Night200B shift").waitFor();
});

browserTest("the keyboard goes through all suggestions and recalls earlier lines", async () => {
  const page = await openConsole("typing server");
  const line = lineOf(page);
  await line.pressSequentially(":kic");
  await page.getByRole("option", { name: /:kick/ }).waitFor();
  await line.press("Tab");
  expect(await line.inputValue()).toBe(":kick ");
  await expectCount(page.getByRole("listbox").getByRole("option"), 40);
  await line.pressSequentially("frost");
  await expectCount(page.getByRole("listbox").getByRole("option"), 4);
  await page.getByRole("status").getByText("4 suggestions").waitFor({ state: "attached" });
  const seen: string[] = [];
  for (const key of ["Tab", "Tab", "Tab", "Tab", "Tab", "Shift+Tab"]) {
    await line.press(key);
    seen.push(await line.inputValue());
  }
  expect(seen).toEqual(
    [idOf(5), nameOf(15), nameOf(25), nameOf(35), idOf(5), nameOf(35)].map((name) => `:kick ${name}`),
  );
  const active = await line.getAttribute("aria-activedescendant");
  expect(await page.locator(`[id="${active}"]`).innerText()).toContain(nameOf(35));
  // The list stays open for another name after a comma; Enter takes the active suggestion and does not send.
  await line.pressSequentially(",golden");
  await line.press("ArrowUp");
  await line.press("Enter");
  expect(await line.inputValue()).toBe(`:kick ${nameOf(35)},${nameOf(36)} `);
  await sendLine(page, ":h one");
  await rowOf(page, ":h one").waitFor();
  await sendLine(page, ":h two");
  await rowOf(page, ":h two").waitFor();
  await line.press("ArrowUp");
  await line.press("ArrowUp");
  expect(await line.inputValue()).toBe(":h one");
  await line.press("ArrowDown");
  expect(await line.inputValue()).toBe(":h two");
  await line.press("ArrowDown");
  expect(await line.inputValue()).toBe("");
});

browserTest("the page stops polling commands when all are finished", async () => {
  const page = await openConsole("quiet server", { prelude: HURRIED });
  let requests = 0;
  page.on("request", (request) => {
    if (request.method() === "GET" && request.url().includes("/command")) requests += 1;
  });
  // Longer than any interval between two polls while a command is sent, waits or is confirmed.
  await page.waitForTimeout(3_000);
  expect(requests).toBe(0);
});

browserTest("a double tap on the confirmation sends the command once", async () => {
  const page = await openConsole("hasty server");
  let sent = 0;
  page.on("request", (request) => {
    if (request.method() === "POST") sent += 1;
  });
  await sendLine(page, ":kick all");
  // Both clicks come before the page renders again.
  await page
    .getByRole("dialog", { name: "Send this command?" })
    .getByRole("button", { name: "Send it" })
    .evaluate((button: { click(): void }) => {
      button.click();
      button.click();
    });
  await page.locator("[data-status=sent]", { hasText: ":kick all" }).waitFor();
  expect(sent).toBe(1);
  expect(await listStatuses("hasty server")).toEqual([":kick all: sent"]);
});

/** Reverses a part of the text, hides a character in a word, and has placeholders of the translation library. */
const MASKED = ":h \u202egnp\u202c ad\u200bmin $& {{n}} $t(shell:signOut)";
const MASKED_SEEN = ":h 202Egnp202C ad200Bmin $& {{n}} $t(shell:signOut)";
const MASKED_SAID = ":h [202E]gnp[202C] ad[200B]min $& {{n}} $t(shell:signOut)";

browserTest("invisible characters are marked wherever a command is shown or announced", async () => {
  const page = await openConsole("masked server", { expectedStatuses: [403] });
  const expectMarked = async () => {
    const text = await page.locator("body").innerText();
    expect(text.match(/\p{Cf}/gu)).toBeNull();
    // The accessible names of buttons, too.
    expect((await page.locator("body").ariaSnapshot()).match(/button .*\p{Cf}/gu)).toBeNull();
  };
  await sendLine(page, ":h before it");
  await rowOf(page, ":h before it").waitFor();
  await sendLine(page, MASKED);
  await page.locator("[data-status=queued]", { hasText: MASKED_SEEN }).waitFor();
  await page.getByRole("button", { name: `Cancel: ${MASKED_SAID}`, exact: true }).waitFor();
  await expectMarked();
  await page.locator("[data-status=sent]", { hasText: MASKED_SEEN }).waitFor();
  await page.getByRole("status").getByText(`${MASKED_SAID}: Sent`).waitFor({ state: "attached" });
  await expectMarked();
  // "Use again" puts the original text into the command line.
  await page.getByRole("button", { name: `Use again: ${MASKED_SAID}`, exact: true }).click();
  expect(await lineOf(page).inputValue()).toBe(MASKED);
  expect(await listStatuses("masked server")).toEqual([`${MASKED}: sent`, ":h before it: sent"]);

  await sendLine(page, ":ban \u202eydobemoS");
  const dialog = page.getByRole("dialog", { name: "Send this command?" });
  await dialog.getByText(":ban 202EydobemoS").waitFor();
  await expectMarked();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });

  await page.route("**/v2/game/server/command", (route) => {
    if (route.request().method() !== "POST") return route.continue();
    return route.fulfill({ status: 403, json: { code: 5009, message: "forbidden" } });
  });
  await sendLine(page, MASKED);
  await page.locator("[data-phase=refused]", { hasText: MASKED_SEEN }).waitFor();
  await expectMarked();
  await page.getByRole("button", { name: `Dismiss: ${MASKED_SAID}`, exact: true }).click();
});

browserTest("a command of the maximum length is shown whole, and is copied as it was sent", async () => {
  const page = await openConsole("wordy server", { size: "phone" });
  const long = `:h ${"two  spaces, then ".repeat(60)}`.slice(0, 999).concat("!");
  await sendLine(page, long);
  await page.locator("#content [data-status=sent] code").waitFor();
  const copied = await page.evaluate<string>(`
    getSelection().selectAllChildren(document.querySelector("#content [data-status=sent] code"));
    getSelection().toString();
  `);
  expect(copied).toBe(long);
  await expectNoSidewaysScroll(page);
});
