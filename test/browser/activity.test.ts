// The view "activity", with a ledger that the test plays, so that pages, gaps and new events come when it wants.
import { expect } from "bun:test";
import type { Page, Route } from "playwright-core";
import { toSectionSet } from "../../src/core/sections.ts";
import {
  browserTest,
  expectAccessible,
  expectCount,
  expectNoSidewaysScroll,
  getSite,
  isTestedVariant,
  LANGUAGES,
  openPage,
  type PageOptions,
  SIZES,
} from "./browser.ts";
import { HOSTILE_NAMES } from "./hostile-names.ts";

const START = Date.now();
const MINUTE_MS = 60_000;
const BIG_ID = "9007199254740993";

type Draft = {
  readonly type: string;
  readonly data: Record<string, unknown>;
  readonly meta?: Record<string, unknown>;
  readonly minutesAgo?: number;
  readonly isBackfill?: boolean;
};

/** A ledger whose cursors are `c<number>`. */
class PlayedLedger {
  readonly events: Draft[] = [];
  readonly queries: URLSearchParams[] = [];
  failure: { readonly status: number; readonly code: number; readonly message: string } | undefined;

  record(...drafts: Draft[]): void {
    this.events.push(...drafts);
  }

  readonly answer = async (route: Route): Promise<void> => {
    const query = new URL(route.request().url()).searchParams;
    this.queries.push(query);
    const { failure } = this;
    if (failure) return route.fulfill({ status: failure.status, json: failure });
    return route.fulfill({ contentType: "application/json", body: JSON.stringify(this.#read(query)) });
  };

  #read(query: URLSearchParams) {
    const limit = Number(query.get("limit") ?? 100);
    const types = query.get("types")?.split(",");
    const player = query.get("player");
    const after = query.get("after");
    const before = query.get("before");
    const numbered = this.events.map((draft, index) => ({ draft, number: index + 1 }));
    const fitting = numbered.filter(({ draft, number }) => {
      if (types && !types.includes(draft.type) && draft.type !== "gap") return false;
      if (player && !JSON.stringify(draft.data).includes(player)) return false;
      return after === null ? number <= this.#place(before) : number > this.#place(after);
    });
    const items = after === null ? fitting.slice(-limit) : fitting.slice(0, limit);
    const hasMore = items.length < fitting.length;
    const first = hasMore ? (items[0]?.number ?? 1) - 1 : 0;
    const last = hasMore ? (items.at(-1)?.number ?? 0) : this.events.length;
    return {
      items: items.map(({ draft, number }) => {
        const at = START - (draft.minutesAgo ?? 0) * MINUTE_MS;
        const { type, data, meta, isBackfill: backfill = false } = draft;
        return {
          id: `c${number}`,
          type,
          at,
          seen_at: at,
          source: "log",
          backfill,
          data,
          ...(meta && { meta }),
        };
      }),
      next: after === null ? `c${this.#place(before)}` : `c${last}`,
      ...(after === null && { previous: `c${first}` }),
      has_more: hasMore,
    };
  }

  #place(cursor: string | null): number {
    if (cursor === "earliest") return 0;
    return cursor === null || cursor === "now" ? this.events.length : Number(cursor.slice(1));
  }
}

function makeJoins(count: number): Draft[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "player.joined",
    data: { Join: true, Timestamp: 1, Player: `Player${index}:${1000 + index}` },
    minutesAgo: count - index + 60,
  }));
}

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
  { type: "server.offline", data: { upstream_code: 3002, upstream_message: "offline" }, minutesAgo: 20 },
  { type: "gap", data: { section: "*", reason: "not_watched", from: null, to: null }, minutesAgo: 10 },
  { type: "vehicle.spawned", data: { Name: "Fire Engine", Owner: "Anna", ColorName: "Red" }, minutesAgo: 5 },
];

/** No stream ever answers, so that new events come only from the played ledger. */
const NO_STREAM = `{
  const send = window.fetch.bind(window);
  window.fetch = (url, options) =>
    String(url).endsWith("/events/stream") ? new Promise(() => {}) : send(url, options);
}`;

async function openActivity(
  ledger: PlayedLedger,
  options: PageOptions & { readonly route?: string } = {},
): Promise<Page> {
  const site = await getSite();
  const page = await openPage({
    ...options,
    prelude: NO_STREAM,
    view: "staff",
    key: options.key ?? (await site.mintKey("small")),
  });
  await page.route("**/server/events?*", ledger.answer);
  await page.evaluate(`location.hash = "#/${options.route ?? "activity"}"`);
  await page.locator(`nav a[href="#/activity"][aria-current=page]`).waitFor({ state: "attached" });
  await page.locator("#content .mantine-Loader-root").waitFor({ state: "detached" });
  return page;
}

const linesOf = (page: Page) => page.locator(".time-line-entry");

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

browserTest("new events appear on top without a reload", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...makeJoins(3));
  const page = await openActivity(ledger);
  await expectCount(linesOf(page), 3);
  ledger.record({ type: "player.left", data: { Player: "Player1:1001" } });
  await expectCount(linesOf(page), 4);
  expect(await linesOf(page).first().innerText()).toContain("Left");
});

browserTest("gaps are told in words with the time they cover, and backfill is marked", async () => {
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
});

browserTest("kinds are filtered by Gatehouse, and only those that the key may read are offered", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...MIXED);
  const site = await getSite();
  const key = await site.mintKey("small", { sections: toSectionSet(["JoinLogs", "KillLogs"]), commands: [] });
  const page = await openActivity(ledger, { key });
  const chips = page.getByRole("group", { name: "What to show" }).locator("label");
  expect(await chips.allInnerTexts()).toEqual([
    "Everything",
    "Joins and leaves",
    "Kills",
    "Server and alerts",
  ]);
  await chips.filter({ hasText: "Kills" }).click();
  await expectCount(page.locator('[data-type="player.joined"]'), 0);
  await expectCount(page.locator('[data-type="player.killed"]'), 1);
  expect(ledger.queries.at(-1)?.get("types")).toBe("player.killed");
  await chips.filter({ hasText: "Everything" }).click();
  await expectCount(linesOf(page), MIXED.length);
});

browserTest(
  "a name leads to the player's page, with first and last time and all digits of the id",
  async () => {
    const ledger = new PlayedLedger();
    ledger.record(...MIXED);
    const page = await openActivity(ledger);
    await page.getByRole("link", { name: "Anna" }).first().click();
    await page.getByRole("heading", { name: `Player ${BIG_ID}` }).waitFor();
    await expectCount(linesOf(page), 2);
    await page.getByTestId("first-seen").filter({ hasText: "50 min. ago" }).waitFor();
    await page.getByTestId("last-seen").filter({ hasText: "40 min. ago" }).waitFor();
    expect(ledger.queries.some((query) => query.get("player") === BIG_ID)).toBe(true);
    await page.getByRole("link", { name: "All activity" }).click();
    await expectCount(linesOf(page), MIXED.length);
  },
);

browserTest("a player is found by a shown name, and by an id that is not shown", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...MIXED);
  const page = await openActivity(ledger);
  await page.getByLabel("Find a player").fill("bo");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Player 77" }).waitFor();
  await page.getByRole("link", { name: "All activity" }).click();
  await page.getByLabel("Find a player").fill("nobody like this");
  await page.getByText("No player with this name is shown here.").waitFor();
  await page.getByLabel("Find a player").fill("424242");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Player 424242" }).waitFor();
  await page.getByText("The ledger does not know this player.").waitFor();
});

browserTest("without an archive the view says so in plain words, and stops asking", async () => {
  const ledger = new PlayedLedger();
  ledger.failure = { status: 501, code: 5110, message: "not_configured" };
  const page = await openActivity(ledger, { expectedStatuses: [501] });
  await page.getByRole("heading", { name: "Gatehouse does not record events" }).waitFor();
  expect(ledger.queries.length).toBe(1);
});

browserTest("a key that lost the right to read the events is told so", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...MIXED);
  const page = await openActivity(ledger, { expectedStatuses: [403] });
  await expectCount(linesOf(page), MIXED.length);
  ledger.failure = { status: 403, code: 5011, message: "query_param_forbidden" };
  await page.getByRole("heading", { name: "This key may not read these events" }).waitFor();
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
  expect(targets.filter((target) => !/^#\/activity\/\d+$/.test(target))).toEqual([]);
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
      await page.getByRole("link", { name: "Anna" }).first().click();
      await page.getByTestId("first-seen").waitFor();
      const overflow = await page
        .getByTestId("first-seen")
        .evaluate((fact) => fact.scrollWidth - fact.clientWidth);
      expect(overflow).toBeLessThanOrEqual(0);
      await expectNoSidewaysScroll(page);
      await expectAccessible(page);
    });
  }
}

browserTest("an operator who looks into a server sees its activity, and its players' pages", async () => {
  const ledger = new PlayedLedger();
  ledger.record(...MIXED);
  const site = await getSite();
  const { serverId } = site.getServer("small");
  const page = await openPage({ view: `servers/${serverId}/staff`, key: site.masterKey });
  await page.route(`**/admin/servers/${serverId}/events?*`, ledger.answer);
  await page.evaluate(`location.hash = "#/servers/${serverId}/activity"`);
  await expectCount(linesOf(page), MIXED.length);
  await page.getByRole("link", { name: "Bob" }).first().click();
  await page.getByRole("heading", { name: "Player 77" }).waitFor();
  expect(await page.evaluate<string>("location.hash")).toBe(`#/servers/${serverId}/activity/77`);
  await expectCount(linesOf(page), 2);
});
