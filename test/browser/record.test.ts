// The record of a player in the drawer: facts, commands aimed at them, notes, and when it is read again.
import { expect } from "bun:test";
import type { Page, Route } from "playwright-core";
import { HOUR_MS, MINUTE_MS } from "../../src/core/durations.ts";
import { toSectionSet } from "../../src/core/sections.ts";
import type { NoteResource, PlayerRecord } from "../../src/core/wire/players.ts";
import { until } from "../until.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  getSite,
  openPage,
  openView,
} from "./browser.ts";
import { nameOf } from "./game-server-fixture.ts";
import { HOSTILE_NAMES } from "./hostile-names.ts";
import { PLAYED_STREAM, PlayedLedger, START } from "./played-ledger.ts";

const drawerOf = (page: Page) => page.locator("section.player-drawer[role=dialog]");
const MIA = { kind: "person", id: "per_mia", name: "Mia" } as const;

function makeNote(number: number, changes: Partial<NoteResource> = {}): NoteResource {
  return { note_id: `note_${number}`, text: `Note ${number}`, kind: "note", by: MIA, at: START, ...changes };
}

const RECORD: PlayerRecord = {
  player: "Wanderer:555",
  id: "555",
  names: ["Wanderer", "WandererOld"],
  first_seen_at: START - 90 * 24 * HOUR_MS,
  last_seen_at: START - 3 * HOUR_MS,
  seconds: 25_212,
  sessions: 14,
  is_here: false,
  teams: { Police: 21_600, Civilian: 3_600 },
  kills: 3,
  deaths: 5,
  commands: Array.from({ length: 12 }, (_, index) => ({
    at: START - index * MINUTE_MS,
    command: `:pm Wanderer number ${index}`,
    by: index === 0 ? "Remote Server:0" : "Anna:77",
    sent_by: index === 0 ? MIA : null,
    event_id: `c${index}`,
  })),
  modcalls: { count: 2, last: { id: "call", opened_at: START, state: "expired" } },
  notes: [makeNote(1, { kind: "warning", text: "Asked twice to stop.\nDid not." }), makeNote(2)],
};

/** Answers with a record that the test may change, and counts how often it was read. */
async function answerRecord(page: Page, record: PlayerRecord) {
  const played = { record, reads: 0 };
  await page.route("**/game/server/players/*", (route: Route) => {
    played.reads += 1;
    return route.fulfill({ json: played.record });
  });
  return played;
}

async function openRecord(record: PlayerRecord, options: Parameters<typeof openPage>[0] = {}) {
  const site = await getSite();
  const page = await openPage({ view: "staff", key: await site.mintKey("small"), ...options });
  const played = await answerRecord(page, record);
  await page.evaluate(`location.hash = "#/staff?player=${record.id}"`);
  await drawerOf(page).getByTestId("record").waitFor();
  return { page, played, drawer: drawerOf(page) };
}

browserTest(
  "the record tells of a player who is not there: names, times, numbers, notes, commands with by whom",
  async () => {
    const { page, drawer } = await openRecord(RECORD);
    await drawer.getByRole("heading", { level: 2, name: "Wanderer" }).waitFor();
    await drawer.getByText("Not on the server now").waitFor();
    const text = (await drawer.innerText()).replaceAll(/\s+/g, " ");
    for (const part of [
      "also WandererOld",
      "Playtime 7 h Sessions 14",
      "Kills / deaths 3 / 5",
      "Warnings 1",
      "Calls 2 last: not answered",
    ])
      expect(text).toContain(part);
    const notes = drawer.getByRole("region", { name: "Notes" });
    expect((await notes.innerText()).replaceAll(/\s+/g, " ")).toContain("Asked twice to stop. Did not. Warning Mia");
    const aimed = drawer.getByRole("region", { name: "Commands aimed at them" });
    await expectCount(aimed.getByRole("listitem"), 5);
    expect(await aimed.getByRole("listitem").first().innerText()).toMatch(/:pm Wanderer number 0\s+Mia/);
    await aimed.getByRole("button", { name: "Show 7 more" }).click();
    await expectCount(aimed.getByRole("listitem"), 12);
    await expectAccessible(page);
    // Sessions and events are beside each other where there is room, below each other where there is none.
    const topOf = (name: string) =>
      drawer.getByRole("region", { name }).evaluate((node) => node.getBoundingClientRect().top);
    await drawer.getByRole("region", { name: "Sessions" }).waitFor();
    expect(await topOf("Sessions")).toBe(await topOf("Last events"));
    await page.setViewportSize({ width: 600, height: 800 });
    await until(
      "they are still beside each other",
      async () => (await topOf("Sessions")) < (await topOf("Last events")),
    );
    await expectNoSidewaysScroll(page);
    // Whoever used a command is one click away.
    await aimed.getByRole("link", { name: "Anna" }).first().click();
    await until("the other player is not open", async () =>
      (await page.evaluate<string>("location.hash")).endsWith("=77"),
    );
  },
);

browserTest("a note is written, shows who wrote it, and is deleted by its writer alone", async () => {
  const site = await getSite();
  const seen = nameOf(1);
  const key = await site.mintKey("small", { commands: [":pm"] });
  const page = await openView("players", { key });
  await page.getByRole("link", { name: seen }).first().click();
  const drawer = drawerOf(page);
  const notes = drawer.getByRole("region", { name: "Notes" });
  await notes.getByRole("button", { name: "Warning" }).click();
  const field = notes.getByLabel("What the player was warned of");
  await expectCount(notes.locator("textarea:focus"), 1);
  // An empty one is not sent.
  await notes.getByRole("button", { name: "Save warning" }).click();
  await notes.getByText("Write something first.").waitFor();
  await field.fill("x".repeat(1_001));
  await notes.getByText("At most 1000 characters.").waitFor();
  await field.fill("Rammed a police car.\nTwice.");
  await notes.getByRole("button", { name: "Save warning" }).click();
  const line = notes.getByRole("listitem").filter({ hasText: "Rammed a police car." });
  await line.getByText("test", { exact: true }).waitFor();
  await line.getByText("Warning", { exact: true }).waitFor();
  expect((await drawer.getByTestId("record").innerText()).replaceAll(/\s+/g, " ")).toContain("Warnings 1");
  await expectCount(notes.locator("button:focus", { hasText: "Warning" }), 1);
  await expectAccessible(page);

  // A moderator of another shift may read it and not delete it; whoever may send everything deletes any.
  const other = await openView("players", { key: await site.mintKey("small", { commands: [":pm"] }) });
  await other.getByRole("link", { name: seen }).first().click();
  const same = drawerOf(other).getByRole("listitem").filter({ hasText: "Rammed a police car." });
  await same.waitFor();
  await expectCount(same.getByRole("button"), 0);

  await line.getByRole("button", { name: "Delete this note" }).click();
  await notes.getByRole("button", { name: "Cancel" }).click();
  await line.getByRole("button", { name: "Delete this note" }).click();
  await notes.getByRole("button", { name: "Delete", exact: true }).click();
  await expectCount(line, 0);
  await notes.getByText("Nobody has written anything yet.").waitFor();
});

browserTest(
  "the record is read again after a command that was aimed at the player, and when they come or leave",
  async () => {
    const ledger = new PlayedLedger();
    ledger.record({ type: "player.left", data: { Player: "Wanderer:555" }, minutesAgo: 180 });
    const site = await getSite();
    const page = await openPage({ view: "staff", key: await site.mintKey("small"), prelude: PLAYED_STREAM });
    await ledger.answerTo(page);
    const played = await answerRecord(page, { ...RECORD, commands: [] });
    await page.evaluate(`location.hash = "#/staff?player=555"`);
    const drawer = drawerOf(page);
    await drawer.getByText("None that Gatehouse knows of.").waitFor();
    await expectCount(drawer.locator(".time-line-entry"), 1);
    const reads = played.reads;
    played.record = RECORD;
    const Player = "Anna:77";
    await ledger.play(page, { type: "player.joined", data: { Player } });
    await ledger.play(page, {
      type: "command.used",
      data: { Player, Command: ":pm wand stop it" },
      meta: { targets: ["Wanderer:555"] },
    });
    await drawer.getByText(":pm Wanderer number 0").waitFor();
    // Once, and not for what happened to somebody else.
    expect(played.reads).toBe(reads + 1);
    played.record = { ...RECORD, sessions: 15 };
    await ledger.play(page, { type: "player.joined", data: { Player: "Wanderer:555" } });
    await drawer.getByTestId("record").getByText("15", { exact: true }).waitFor();
  },
);

browserTest(
  "what the key may not read is left out of the record, and somebody who was never seen is told so",
  async () => {
    const site = await getSite();
    const key = await site.mintKey("small", { sections: toSectionSet(["Players"]), commands: [] });
    const page = await openView("players", { key });
    await page
      .getByRole("link", { name: nameOf(1) })
      .first()
      .click();
    const drawer = drawerOf(page);
    const record = drawer.getByTestId("record");
    await record.getByText("First seen").waitFor();
    expect(await record.innerText()).not.toMatch(/Kills|Warnings|Calls/);
    for (const name of ["Notes", "Commands aimed at them"])
      expect(await drawer.getByRole("region", { name }).count()).toBe(0);
    await page.evaluate(`location.hash = "#/players?player=987654321"`);
    await drawer.getByText("Gatehouse has never seen this player on the server.").waitFor();
    // Without the right to read players it is not asked for.
    const blind = await openPage({
      view: "staff",
      key: await site.mintKey("small", { sections: toSectionSet(["Staff"]) }),
    });
    const played = await answerRecord(blind, RECORD);
    await blind.evaluate(`location.hash = "#/staff?player=555"`);
    await drawerOf(blind).getByText("You may not read players:").waitFor();
    expect(played.reads).toBe(0);
  },
);

browserTest(
  "hostile names, notes and commands in a record stay text and in their place, in Russian on a phone",
  async () => {
    const hostile = HOSTILE_NAMES.slice(0, 10);
    const { page, drawer } = await openRecord(
      {
        ...RECORD,
        names: hostile,
        teams: Object.fromEntries(hostile.map((name) => [name, 60])),
        commands: hostile.map((name, index) => ({
          at: START,
          command: `:kick ${name}`,
          by: `${name}:${index + 1}`,
          sent_by: index % 2 === 0 ? { ...MIA, name } : null,
          event_id: `c${index}`,
        })),
        notes: hostile.map((name, index) => makeNote(index, { text: `${name}\n${name}`, by: { ...MIA, name } })),
      },
      { size: "phone", language: "ru", scheme: "dark" },
    );
    const shown = await drawer.innerText();
    expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u2060\ufeff]/);
    expect(await page.evaluate<unknown>("window.hostile")).toBeUndefined();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
  },
);
