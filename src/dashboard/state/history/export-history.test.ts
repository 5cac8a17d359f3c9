import { expect, test } from "bun:test";
import { HISTORY_LIMIT_MAX } from "../../../core/wire/history.ts";
import { HISTORY_PAGE_SIZE, type HistoryQuery, type HistoryReader } from "../../api/caller.ts";
import { EXPORT_ROWS_MAX, exportHistory, nameExport } from "./export-history.ts";

const PERIOD = { from: new Date(2026, 10, 9).getTime(), to: new Date(2026, 10, 16).getTime() };

/** Answers with these pages, one after the other; an endless list with `isEndless`. */
function makeReader(pages: readonly (readonly object[])[], isEndless = false) {
  const queries: HistoryQuery[] = [];
  const readHistory = async (_question: string, query: HistoryQuery) => {
    const items = pages[Math.min(queries.push(query), pages.length) - 1] ?? [];
    const next = isEndless || queries.length < pages.length ? `after-${queries.length}` : null;
    return { ok: true, value: { items, next } };
  };
  return { reader: { readHistory } as unknown as HistoryReader, queries };
}

async function run(reader: HistoryReader, format: "csv" | "json", delayMs = 0) {
  const slept: number[] = [];
  const pace = { ownShareDelayMs: () => delayMs };
  const sleep = async (ms: number) => slept.push(ms);
  const spec = { question: "playtime", period: PERIOD } as const;
  const exported = await exportHistory(reader, pace, spec, format, sleep, () => 0);
  if ("error" in exported) throw new Error("the export failed");
  return { ...exported, slept };
}

const row = (player: string, id: string) => ({ player, id, seconds: 60, sessions: 1 });

test("a file has every page, asked within the key's limit", async () => {
  const { reader, queries } = makeReader([[row("Anna:1", "1")], [row("Bob:2", "2")]]);
  const { text, isCut, slept } = await run(reader, "json", 500);
  expect(JSON.parse(text)).toEqual({ ...PERIOD, items: [row("Anna:1", "1"), row("Bob:2", "2")] });
  expect([isCut, slept, queries.map(({ cursor }) => cursor)]).toEqual([false, [500], [undefined, "after-1"]]);
});

test("a name that is a formula stays text, and a spreadsheet reads the file as UTF-8", async () => {
  const { reader } = makeReader([[row("=HYPERLINK(1):7", "7")]]);
  const { text } = await run(reader, "csv");
  expect(text).toBe(`\ufeff"player","id","seconds","sessions"\r\n"'=HYPERLINK(1):7","7",60,1\r\n`);
});

test("a file has an end, and says that it is cut", async () => {
  const { reader } = makeReader([Array.from({ length: 500 }, () => row("A:1", "1"))], true);
  const { text, isCut } = await run(reader, "json");
  expect([JSON.parse(text).items.length, isCut]).toEqual([EXPORT_ROWS_MAX, true]);
});

test("a refusal is returned", async () => {
  const error = { code: 5106 };
  const reader = { readHistory: async () => ({ ok: false, error }) } as unknown as HistoryReader;
  const pace = { ownShareDelayMs: () => 0 };
  const spec = { question: "players", period: PERIOD } as const;
  expect(await exportHistory(reader, pace, spec, "csv", Bun.sleep, Date.now)).toEqual({ error } as unknown as Awaited<
    ReturnType<typeof exportHistory>
  >);
});

test("a file is named after its content, its server and its days", () => {
  expect(nameExport({ question: "staff", period: PERIOD }, "../Город №1 ", "csv")).toBe(
    "staff-Город-1-2026-11-09-2026-11-16.csv",
  );
  expect(nameExport({ question: "sessions", period: PERIOD, player: "77" }, "\u202e", "json")).toBe(
    "sessions-77-2026-11-09-2026-11-16.json",
  );
});

test("a page is as large as Gatehouse allows", () => {
  expect(HISTORY_PAGE_SIZE).toBe(HISTORY_LIMIT_MAX);
});
