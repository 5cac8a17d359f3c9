// What is written of a status: hostile names stay text, and every form is well-formed.
import { expect, test } from "bun:test";
import { HOUR_MS } from "../../core/durations.ts";
import type { StatusHour } from "../../core/wire/status.ts";
import type { StatusFacts } from "../../gateway/status/public-statuses.ts";
import { describeBadge, drawBadge } from "./badge.ts";
import { escapeMarkup } from "./escape-markup.ts";
import { writeFeed } from "./status.ts";
import { writeStatusPage } from "./status-page.ts";
import { STATUS_WORDS } from "./status-words.ts";
import { drawWeek } from "./week-chart.ts";

const NOW = Date.UTC(2026, 10, 16, 21, 30);
const HOSTILE = `</title><script>alert(1)</script>"'&]]> \u202egnp\u0000\ud800`;

const facts = (changes: Partial<StatusFacts> = {}): StatusFacts => ({
  ...{ serverId: "srv_a", slug: "cedar", name: "Cedar County", state: "online" },
  ...{ players: 23, playersMax: 40, queue: 2, joinKey: null, readAt: NOW - 3_000, builtAt: NOW },
  hours: [],
  outages: [],
  ...changes,
});

const hour = (at: number, avg: number | null): StatusHour => ({
  ...{ at, known: avg === null ? 0 : 1, min: avg, avg, max: avg === null ? null : avg + 1 },
});

/** Throws for anything that is not well-formed, with the little XML that we write. */
function checkXml(text: string): void {
  const open: string[] = [];
  for (const [tag, slash, name = "", closed] of text.matchAll(/<(\/?)([\w:]+)(?:\s+[\w:-]+="[^"<]*")*\s*(\/?)>/g)) {
    if (slash) expect(open.pop()).toBe(name);
    else if (!closed) open.push(name);
    expect(tag).not.toBe("");
  }
  expect(open).toEqual([]);
  const content = text.replace(/<\?xml[^>]*\?>/, "").replace(/<\/?[\w:]+(?:\s+[\w:-]+="[^"<]*")*\s*\/?>/g, "");
  expect(content).not.toMatch(/[<>]/);
  expect(content.replace(/&(?:amp|lt|gt|quot|#39);/g, "")).not.toContain("&");
}

test("hostile text stays text in every form", () => {
  const hostile = facts({
    name: HOSTILE,
    joinKey: HOSTILE,
    outages: [{ state: "offline", from: NOW - HOUR_MS, to: null }],
  });
  const outages = hostile.outages ?? [];
  const page = writeStatusPage(hostile, { language: "en", isReloading: true });
  for (const text of [page, drawBadge(hostile), writeFeed({ ...hostile, outages }, undefined)]) {
    expect(text).not.toContain("<script");
    expect(text).not.toMatch(/[\u202e\u0000\ud800]/);
  }
  checkXml(drawBadge(hostile));
  checkXml(writeFeed({ ...hostile, outages }, undefined));
  expect(escapeMarkup(`a<b>"&'`)).toBe("a&lt;b&gt;&quot;&amp;&#39;");
});

test("a long name makes no wide badge", () => {
  const widthOf = (name: string) => Number(/width="(\d+)"/.exec(drawBadge(facts({ name })))?.[1]);
  expect(widthOf("x".repeat(100))).toBeLessThan(500);
  expect(widthOf("👨‍👩‍👧‍👦".repeat(50))).toBeLessThan(550);
  expect(widthOf("i")).toBeGreaterThan(60);
});

test.each<[Partial<StatusFacts>, string, string]>([
  [{}, "23/40 online", "brightgreen"],
  [{ playersMax: null }, "23 online", "brightgreen"],
  [{ state: "offline", players: 0 }, "offline", "lightgrey"],
  [{ state: "unreachable", players: null }, "unreachable", "red"],
  [{ state: "unknown", players: null }, "unknown", "lightgrey"],
])("a badge of %j says %s", (changes, message, color) => {
  expect(describeBadge(facts(changes))).toEqual({
    ...{ schemaVersion: 1, label: "Cedar County", message, color, cacheSeconds: 300 },
  });
  expect(drawBadge(facts(changes))).toContain(`>${message}</text>`);
});

test("the entry of an outage keeps its id when the outage ends, and is then updated", () => {
  const feed = (to: number | null) =>
    writeFeed({ ...facts(), outages: [{ state: "offline", from: NOW - HOUR_MS, to }] }, "https://example.org");
  const [lasting, ended] = [feed(null), feed(NOW)];
  const idOf = (text: string) => /<entry>\s*<id>([^<]+)/.exec(text)?.[1];
  expect(idOf(lasting)).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(idOf(ended)).toBe(idOf(lasting));
  expect(lasting).toContain("<updated>2026-11-16T20:30:00.000Z</updated>");
  expect(ended).toContain("<updated>2026-11-16T21:30:00.000Z</updated>");
  expect(ended).toContain("Cedar County was offline for 1 h");
  expect(ended).toContain('href="https://example.org/status/cedar/feed.atom"');
  checkXml(ended);
});

test("an hour without readings has no bar, and a week without any has no chart", () => {
  const hours = [hour(0, 4), hour(HOUR_MS, null), hour(2 * HOUR_MS, 0)];
  const chart = drawWeek(hours, "en", STATUS_WORDS.en) ?? "";
  checkXml(chart);
  expect(chart.match(/class="average"/g)).toHaveLength(2);
  expect(chart.match(/class="gap"/g)).toHaveLength(1);
  expect(drawWeek([hour(0, null)], "en", STATUS_WORDS.en)).toBeUndefined();
});

test("the page is there without a history, and shows the join key only when there is one", () => {
  const choice = { language: "en", isReloading: false } as const;
  const bare = writeStatusPage(facts({ hours: null, outages: null }), choice);
  expect(bare).toContain("The history cannot be shown at the moment.");
  expect(bare).not.toContain("Join key");
  expect(bare).not.toContain("http-equiv");
  expect(writeStatusPage(facts({ joinKey: "Cedar1" }), choice)).toContain("Cedar1");
  const russian = writeStatusPage(facts(), { language: "ru", isReloading: true });
  expect(russian).toContain('<html lang="ru">');
  expect(russian).toContain('http-equiv="refresh"');
});
