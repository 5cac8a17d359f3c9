// The view "activity", with a ledger that the test plays, so that pages, gaps and new events come when it wants.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { MINUTE_MS } from "../../src/core/durations.ts";
import { toSectionSet } from "../../src/core/sections.ts";
import { EVENTS_MAX } from "../../src/dashboard/state/ledger/event-pages.ts";
import { IS_LONG } from "../long.ts";
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
  openPage,
  type PageOptions,
  SIZES,
  waitUntilLoaded,
} from "./browser.ts";
import { idOf } from "./game-server-fixture.ts";
import { HOSTILE_NAMES } from "./hostile-names.ts";
import {
  ARCHIVE_AWAY,
  type Draft,
  makeJoins,
  NO_ARCHIVE,
  NO_STREAM,
  PLAYED_STREAM,
  PlayedLedger,
  START,
} from "./played-ledger.ts";

const BIG_ID = "9007199254740993";

const MIXED: readonly Draft[] = [
  { type: "player.joined", data: { Player: "Early:5" }, minutesAgo: 300, isBackfill: true },
  {
    type: "gap",
    data: {
      section: "KillLogs",
      reason: "no_overlap",
      from: START - 90 * MINUTE_MS,
      to: START - 60 * MINUTE_MS,
    },
    minutesAgo: 60,
  },
  { type: "player.killed", data: { Killer: `Anna:${BIG_ID}`, Killed: "Bob:77" }, minutesAgo: 50 },
  {
    type: "command.used",
    data: { Player: `Anna:${BIG_ID}`, Command: ":kick Bob" },
    meta: { command_id: "cmd_1" },
    minutesAgo: 40,
  },
  {
    type: "player.changed",
    data: { Player: "Bob:77", Team: "Police", Callsign: "1D-5" },
    meta: { before: { Team: "Civilian", Callsign: null } },
    minutesAgo: 30,
  },
  {
    type: "custom.command",
    data: { Command: "bolo", Argument: "White sedan\u202e", Player: "77" },
    minutesAgo: 25,
  },
  { type: "custom.unknown", data: { Event: "Weather", Data: { rain: true } }, minutesAgo: 24 },
  { type: "server.offline", data: { upstream_code: 3002, upstream_message: "offline" }, minutesAgo: 20 },
  { type: "gap", data: { section: "*", reason: "not_watched", from: null, to: null }, minutesAgo: 10 },
  { type: "vehicle.spawned", data: { Name: "Fire Engine", Owner: "Anna", ColorName: "Red" }, minutesAgo: 5 },
];

async function openActivity(
  ledger: PlayedLedger,
  options: PageOptions & { readonly route?: string } = {},
): Promise<Page> {
  const site = await getSite();
  const page = await openPage({
    prelude: NO_STREAM,
    ...options,
    view: "staff",
    key: options.key ?? (await site.mintKey("small")),
  });
  await ledger.answerTo(page);
  await page.evaluate(`location.hash = "#/${options.route ?? "activity"}"`);
  await page.locator(`nav a[href="#/activity"][aria-current=page]`).waitFor({ state: "attached" });
  await waitUntilLoaded(page);
  return page;
}

const linesOf = (page: Page) => page.locator("#content .time-line-entry");

/** The name opens the drawer, and the drawer leads to the page. */
async function openPlayerPage(page: Page, name: string): Promise<void> {
  await page.getByRole("link", { name }).first().click();
  await page.getByRole("dialog").locator('a[href*="/activity/"]').click();
}

browserTest("the activity goes back page by page to the first event, none of them twice", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...makeJoins(250));
  const page = await openActivity(ledger);
  await expectCount(linesOf(page), 100);
  expect(await linesOf(page).first().innerText()).toContain("Player249");
  await page.getByRole("button", { name: "Load older events" }).click();
  await expectCount(linesOf(page), 200);
  await page.getByRole("button", { name: "Load older events" }).click();
  await expectCount(linesOf(page), 250);
  expect(await linesOf(page).last().innerText()).toContain("Player0");
  await page.getByText("This is as far back as Gatehouse remembers.").waitFor();
  expect(await page.getByRole("button", { name: "Load older events" }).count()).toBe(0);
});

/** Runs in the page: counts the formats that are made, and the names that are written. */
const COUNT_WORK = `window.formats = 0;
for (const name of ["DateTimeFormat", "NumberFormat", "RelativeTimeFormat"])
  Intl[name] = new Proxy(Intl[name], { construct: (made, args) => (window.formats++, new made(...args)) });
window.names = 0;
const from = Array.from;
Array.from = (source, ...more) => {
  if (typeof source === "string") window.names++;
  return from.call(Array, source, ...more);
};`;

/** Enough that none of the first events is left. */
const MANY_EVENTS = EVENTS_MAX + 100;

browserTest("any number of new events keeps the page small, and each costs no more than its own row", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...makeJoins(100));
  const page = await openActivity(ledger, { prelude: `${PLAYED_STREAM}${COUNT_WORK}` });
  await expectCount(linesOf(page), 100);
  const formats = await page.evaluate<number>("window.formats");
  await ledger.play(page, ...makeJoins(MANY_EVENTS));
  await expectCount(linesOf(page), EVENTS_MAX);
  expect(await page.locator("#content *").count()).toBeLessThan(40 * EVENTS_MAX);
  expect(await page.evaluate<number>("window.formats")).toBeLessThan(formats + 20);

  const names = await page.evaluate<number>("window.names");
  const ONE_BY_ONE = 3;
  for (let index = 0; index < ONE_BY_ONE; index++) {
    await ledger.play(page, { type: "player.left", data: { Player: `Leaver${index}:1` } });
    await linesOf(page)
      .filter({ hasText: `Leaver${index}` })
      .waitFor();
  }
  expect(await linesOf(page).count()).toBe(EVENTS_MAX);
  // Fewer than one for each row that was there.
  expect(await page.evaluate<number>("window.names")).toBeLessThan(names + EVENTS_MAX);
});

browserTest("what is new does not move a list that is read further down, and is one click away", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...makeJoins(700));
  const page = await openActivity(ledger, { prelude: PLAYED_STREAM });
  await expectCount(linesOf(page), 100);
  const row = linesOf(page).nth(60);
  await row.evaluate((line) => line.scrollIntoView({ block: "center" }));
  // The page learns of it with the next frame.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  const name = await row.innerText();
  const topOf = () => page.getByText("Player639", { exact: true }).evaluate((line) => line.getBoundingClientRect().top);
  const top = await topOf();
  expect(name).toContain("Player639");
  await ledger.play(page, ...makeJoins(5), { type: "player.left", data: { Player: "Last:1" } });
  const newer = page.getByRole("button", { name: "6 newer events" });
  await newer.waitFor();
  expect(await topOf()).toBe(top);
  expect(await linesOf(page).count()).toBe(100);
  await newer.click();
  await expectCount(linesOf(page), 106);
  expect(await linesOf(page).first().innerText()).toContain("Left");
  await expectCount(newer, 0);
  // At the top again, new events are shown at once.
  await ledger.play(page, { type: "player.left", data: { Player: "Later:2" } });
  await expectCount(linesOf(page).filter({ hasText: "Later" }), 1);

  // Older pages push out the newest events, which come back.
  const older = page.getByRole("button", { name: "Load older events" });
  for (let rows = 207; rows < EVENTS_MAX; rows += 100) {
    await older.click();
    await expectCount(linesOf(page), rows);
  }
  await older.click();
  await expectCount(linesOf(page), EVENTS_MAX);
  await page.getByRole("button", { name: "7 newer events" }).click();
  await expectCount(linesOf(page).filter({ hasText: "Later" }), 1);
  expect(await linesOf(page).count()).toBe(EVENTS_MAX);
});

browserTest(
  "every kind of event is told in words, gaps with their time, and leads to the pages of its players",
  async () => {
    const ledger = new PlayedLedger();
    ledger.record(...MIXED);
    const page = await openActivity(ledger);
    await expectCount(linesOf(page), MIXED.length);
    const lost = await page.locator('[data-reason="no_overlap"]').innerText();
    expect(lost).toContain("Something may be missing here");
    expect(lost).toContain("Concerns: kills.");
    expect(lost).toMatch(/From .+ to .+ \(30 min\)\./);
    const unseen = await page.locator('[data-reason="not_watched"]').innerText();
    expect(unseen).toContain("It is not known which time this covers.");
    await expectCount(linesOf(page).filter({ hasText: "from before" }), 1);
    const changed = await page.locator('[data-type="player.changed"]').innerText();
    expect(changed).toMatch(/team:\s*Civilian\s*→\s*becomes\s*Police/);
    expect(await page.locator('[data-type="command.used"]').innerText()).toContain("sent through Gatehouse");
    const custom = page.locator('[data-type="custom.command"]');
    expect(await custom.innerText()).toMatch(/Custom command\s+Bob\s/);
    expect(await custom.innerText()).toContain(";bolo White sedan");
    expect(await custom.getByRole("link", { name: "Bob" }).getAttribute("href")).toBe("#/activity?player=77");
    const unknown = await page.locator('[data-type="custom.unknown"]').innerText();
    expect(unknown).toMatch(/Unknown message\s+Weather\s+{"rain":true}/);
    await expectAccessible(page);

    // A name leads to the player's page, with first and last time and all digits of the id.
    await openPlayerPage(page, "Anna");
    await page.getByRole("heading", { name: `Player ${BIG_ID}` }).waitFor();
    await expectCount(linesOf(page), 2);
    const timeOf = (fact: string) => page.getByTestId(fact).locator("time").getAttribute("datetime");
    expect(await timeOf("first-seen")).toBe(new Date(START - 50 * MINUTE_MS).toISOString());
    expect(await timeOf("last-seen")).toBe(new Date(START - 40 * MINUTE_MS).toISOString());
    expect(ledger.queries.some((query) => query.get("player") === BIG_ID)).toBe(true);
    await page.getByRole("link", { name: "All activity" }).click();
    await expectCount(linesOf(page), MIXED.length);

    // A player is found by a shown name, and by an id that is not shown.
    await page.getByLabel("Find a player").fill("bo");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Player 77" }).waitFor();
    await page.getByRole("link", { name: "All activity" }).click();
    await page.getByLabel("Find a player").fill("nobody like this");
    await page.getByText("No player with this name so far.").waitFor();
    await page.getByRole("button", { name: "Look further back" }).click();
    await page.getByText("No recorded event names this player. Try the id.").waitFor();
    await page.getByLabel("Find a player").fill("424242");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Player 424242" }).waitFor();
    await page.getByRole("heading", { name: "No event of this player is recorded" }).waitFor();
    // Nothing on the page may contradict that.
    expect(await page.getByText("Nothing has been recorded yet").count()).toBe(0);
    expect(await page.getByTestId("first-seen").count()).toBe(0);
  },
);

browserTest("kinds are filtered by Gatehouse, and only those that the key may read are offered", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...MIXED);
  const site = await getSite();
  const key = await site.mintKey("small", { sections: toSectionSet(["JoinLogs", "KillLogs"]), commands: [] });
  const page = await openActivity(ledger, { key });
  const chips = page.getByRole("group", { name: "What to show" }).locator("label");
  expect(await chips.allInnerTexts()).toEqual(["Everything", "Joins and leaves", "Kills", "Server and alerts"]);
  await chips.filter({ hasText: "Kills" }).click();
  await expectCount(page.locator('[data-type="player.joined"]'), 0);
  await expectCount(page.locator('[data-type="player.killed"]'), 1);
  expect(ledger.queries.at(-1)?.get("types")).toBe("player.killed");
  await chips.filter({ hasText: "Everything" }).click();
  await expectCount(linesOf(page), MIXED.length);
});

browserTest("a player is found by name beyond what is shown, with each request further back", async () => {
  const ledger = new PlayedLedger();
  ledger.lookMax = 100;
  ledger.record({ type: "player.joined", data: { Player: "Longago:31" }, minutesAgo: 5000 }, ...makeJoins(1500));
  const page = await openActivity(ledger);
  await expectCount(linesOf(page), 100);
  await page.getByLabel("Find a player").fill("longago");
  await page.getByRole("button", { name: "Look further back" }).click();
  await page.getByText(/Looked through everything since .+\d/).waitFor();
  await page.getByRole("button", { name: "Look further back" }).click();
  await page.getByRole("link", { name: "Longago" }).click();
  await page.getByRole("heading", { name: "Player 31" }).waitFor();
  // What was looked through is not added to the list.
  expect(ledger.queries.filter((query) => query.get("limit") === "500").length).toBeLessThan(20);
});

browserTest("a player far back is found step by step, and the page says how far it has looked", async () => {
  const ledger = new PlayedLedger();
  ledger.lookMax = 10;
  ledger.record({ type: "player.left", data: { Player: "Far:424242" }, minutesAgo: 400 }, ...makeJoins(200));
  const page = await openActivity(ledger, { route: "activity/424242" });
  await page.getByText(/^Nothing more found so far\. Looked through everything since .+\d/).waitFor();
  const asked = ledger.queries.length;
  expect(asked).toBeLessThan(15);
  await page.getByRole("button", { name: "Look further back" }).click();
  await expectCount(linesOf(page), 1);
  expect(await page.getByTestId("first-seen").locator("time").getAttribute("datetime")).toBe(
    new Date(START - 400 * MINUTE_MS).toISOString(),
  );
});

browserTest("a key with joins alone sees joins and leaves, and nothing else of the ledger", async () => {
  const site = await getSite();
  const key = await site.mintKey("busy", { sections: toSectionSet(["JoinLogs"]), commands: [] });
  // The ledger of Gatehouse itself, because it is what keeps the rights.
  const page = await openPage({ view: "activity", key });
  for (const type of ["player.joined", "player.left"]) await page.locator(`[data-type="${type}"]`).first().waitFor();
  const shown = await linesOf(page).evaluateAll((lines) => lines.map((line) => line.getAttribute("data-type") ?? ""));
  expect(new Set(shown)).toEqual(new Set(["player.joined", "player.left"]));
  await page.evaluate(`location.hash = "#/activity/${idOf(0)}"`);
  const chips = page.getByRole("group", { name: "What to show" }).locator("label");
  await expectCount(chips, 2);
  expect(await chips.allInnerTexts()).toEqual(["Everything", "Joins and leaves"]);
});

browserTest("without an archive the view says so in plain words, and stops asking", async () => {
  const ledger = new PlayedLedger();
  ledger.failure = NO_ARCHIVE;
  const page = await openActivity(ledger, { expectedStatuses: [501] });
  await page.getByRole("heading", { name: "Gatehouse does not record events" }).waitFor();
  await page.getByText("an operator sets GATEHOUSE_ARCHIVE and restarts Gatehouse").waitFor();
  await page.getByRole("link", { name: /^Activity\s*not recorded$/ }).waitFor();
  await page.evaluate(`location.hash = "#/activity/77"`);
  await page.getByRole("heading", { name: "Player 77" }).waitFor();
  await page.getByRole("heading", { name: "Gatehouse does not record events" }).waitFor();
  // Coming back to the tab is no reason to ask again.
  await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
  await expectAccessible(page);
  expect(ledger.queries.length).toBe(1);
});

browserTest("the view follows the ledger: away and back, with new events on top, and after a lost right", async () => {
  const ledger = new PlayedLedger();
  ledger.failure = ARCHIVE_AWAY;
  const page = await openActivity(ledger, { expectedStatuses: [403, 503], prelude: NO_STREAM + HURRIED });
  await page.getByRole("heading", { name: "The archive cannot be reached" }).waitFor();
  ledger.failure = undefined;
  ledger.record(...makeJoins(3));
  await expectCount(linesOf(page), 3);
  // Without a reload.
  ledger.record({ type: "player.left", data: { Player: "Player1:1001" } });
  await expectCount(linesOf(page), 4);
  expect(await linesOf(page).first().innerText()).toContain("Left");
  ledger.failure = { status: 403, code: 5011, message: "query_param_forbidden" };
  await page.getByRole("heading", { name: "You may not read these events" }).waitFor();
  expect(await linesOf(page).count()).toBe(0);
});

browserTest("hostile names in the ledger stay text, with invisible characters marked", async () => {
  const ledger = new PlayedLedger();
  ledger.record(
    ...HOSTILE_NAMES.flatMap((name, index): Draft[] => [
      { type: "player.killed", data: { Killer: `${name}:${index + 1}`, Killed: `${name}:${index + 101}` } },
      { type: "vehicle.spawned", data: { Name: name, Owner: name, ColorName: name } },
    ]),
  );
  const page = await openActivity(ledger, { size: "phone" });
  await expectCount(linesOf(page), 100);
  const text = await page.locator("#content").innerText();
  expect(text).toContain("<script>window.hostile=1</script>");
  expect(text).toContain("202E");
  expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u2060\ufeff]/);
  expect(await page.evaluate<unknown>("window.hostile")).toBeUndefined();
  await expectNoSidewaysScroll(page);
  const links = page.locator("#content .time-line a");
  const targets = await links.evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
  expect(targets.length).toBeGreaterThan(50);
  expect(targets.filter((target) => !/^#\/activity\?player=\d+$/.test(target))).toEqual([]);
});

for (const language of LANGUAGES) {
  for (const size of SIZES) {
    if (!isTestedVariant(language, size)) continue;
    browserTest(`activity and a player's page are accessible and fit, ${language} ${size}`, async () => {
      const ledger = new PlayedLedger();
      const days = 3 * 24 * 60;
      ledger.record({ type: "player.left", data: { Player: `Anna:${BIG_ID}` }, minutesAgo: days }, ...MIXED);
      const page = await openActivity(ledger, {
        language,
        size,
        scheme: language === "ru" ? "dark" : "light",
      });
      await expectCount(linesOf(page), MIXED.length + 1);
      await expectNoSidewaysScroll(page);
      await expectAccessible(page);
      if (language === "ru") await page.getByText("Здесь может чего-то не хватать").first().waitFor();
      await openPlayerPage(page, "Anna");
      await page.getByTestId("first-seen").waitFor();
      await page.setViewportSize({ width: size === "phone" ? 320 : 1280, height: 800 });
      const overflow = await page.getByTestId("first-seen").evaluate((fact) => fact.scrollWidth - fact.clientWidth);
      expect(overflow).toBeLessThanOrEqual(0);
      await expectNoSidewaysScroll(page);
      await expectAccessible(page);
      // With the keyboard alone: back to all activity, and to the kills.
      await page.getByRole("link", { name: language === "ru" ? "Все события" : "All activity" }).focus();
      await page.keyboard.press("Enter");
      await expectCount(linesOf(page), MIXED.length + 1);
      await expectNoSidewaysScroll(page);
      await page.getByLabel(language === "ru" ? "Убийства" : "Kills").focus();
      await page.keyboard.press("Space");
      await expectCount(page.locator('[data-type="player.left"]'), 0);
    });
  }
}

browserTest("an operator who looks into a server sees its activity, and its players' pages", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...MIXED);
  const site = await getSite();
  const { serverId } = site.getServer("small");
  const page = await openPage({ view: `servers/${serverId}/staff`, key: site.masterKey });
  await ledger.answerTo(page);
  await page.evaluate(`location.hash = "#/servers/${serverId}/activity"`);
  await expectCount(linesOf(page), MIXED.length);
  await openPlayerPage(page, "Bob");
  await page.getByRole("heading", { name: "Player 77" }).waitFor();
  expect(await page.evaluate<string>("location.hash")).toBe(`#/servers/${serverId}/activity/77`);
  await expectCount(linesOf(page), 3);
});

browserTest("a date and a time lead to that moment, and on from there both ways, by keyboard", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...makeJoins(350));
  const page = await openActivity(ledger, { prelude: PLAYED_STREAM });
  await expectCount(linesOf(page), 100);
  // The newest is of an hour ago, each other a minute older.
  const at = new Date(START - 300 * MINUTE_MS);
  const minute = Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS;
  const zoned = new Intl.DateTimeFormat("sv", { timeZone: "America/New_York", dateStyle: "short", timeStyle: "short" });
  await page.getByLabel("Date and time").fill(zoned.format(minute).replace(" ", "T"));
  await page.keyboard.press("Enter");
  const first = linesOf(page).first();
  await until("the moment is not shown", async () => (await first.innerText()).includes("Player110"));
  expect(await page.evaluate<string>("location.hash")).toBe(`#/activity/at-${minute}`);
  await expectCount(linesOf(page), 100);
  await expectAccessible(page);
  // It stays at its moment, whatever happens meanwhile.
  const asked = ledger.queries.length;
  await ledger.play(page, { type: "player.left", data: { Player: "Leaver:1" } });
  await page.getByRole("button", { name: "Load older events" }).click();
  await expectCount(linesOf(page), 111);
  expect(ledger.queries).toHaveLength(asked + 1);
  await page.getByRole("button", { name: "What came next" }).click();
  await expectCount(linesOf(page), 211);
  expect(await first.innerText()).toContain("Player210");
  // A record opens over it, and a kind is chosen, without leaving the moment.
  await first.getByRole("link").click();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  await expectCount(linesOf(page), 211);
  await page.getByText("Joins and leaves", { exact: true }).click();
  await until("the moment is lost", async () => (await first.innerText()).includes("Player110"));
  await page.getByRole("link", { name: "Back to now" }).click();
  await until("it is not now", async () => (await first.innerText()).includes("Leaver"));
  // What is no moment of the past is not gone to.
  await page.getByLabel("Date and time").fill("2999-01-01T10:00");
  await page.keyboard.press("Enter");
  await page.getByText("Choose a date and a time in the past.").waitFor();
  expect(await page.evaluate<string>("location.hash")).toBe("#/activity");
});

browserTest("an hour of a busy server leaves no more in the page than its first minutes", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...makeJoins(100));
  const page = await openActivity(ledger, { prelude: PLAYED_STREAM });
  await expectCount(linesOf(page), 100);
  const session = await page.context().newCDPSession(page);
  const measure = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { metrics } = (await session.send("Performance.getMetrics")) as {
      metrics: { name: string; value: number }[];
    };
    const read = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
    return { nodes: read("Nodes"), heapMb: read("JSHeapUsedSize") / 1e6, listeners: read("JSEventListeners") };
  };
  await session.send("Performance.enable");
  const play = async (count: number) => {
    for (let played = 0; played < count; played += MANY_EVENTS) {
      const name = `Mark${ledger.events.length}`;
      await ledger.play(page, ...makeJoins(MANY_EVENTS - 1), { type: "player.left", data: { Player: `${name}:1` } });
      await expectCount(linesOf(page).filter({ hasText: name }), 1);
    }
  };
  await play(MANY_EVENTS);
  const early = await measure();
  await play(IS_LONG ? 18_000 : 2 * MANY_EVENTS);
  const late = await measure();
  expect(await linesOf(page).count()).toBe(EVENTS_MAX);
  expect(late.nodes).toBeLessThan(early.nodes * 1.2);
  expect(late.listeners).toBeLessThan(early.listeners * 1.2);
  expect(late.heapMb).toBeLessThan(300);
});
