// Puts the past of a server into a file: reads every page of a list, and writes it as CSV or JSON.
import {
  writePlayersCsv,
  writePlaytimeCsv,
  writeSessionsCsv,
  writeStaffCsv,
} from "../../../core/history/history-csv.ts";
import type { PlayersHistory, PlaytimeResource, SessionResource, StaffResource } from "../../../core/wire/history.ts";
import {
  HISTORY_PAGE_SIZE,
  type HistoryAnswers,
  type HistoryList,
  type HistoryQuery,
  type HistoryReader,
} from "../../api/caller.ts";
import type { ApiError } from "../../api/request.ts";
import { type Period, writeDay } from "./period.ts";

export type ExportFormat = "csv" | "json";
export type ExportQuestion = "players" | HistoryList;
export type ExportSpec = {
  readonly question: ExportQuestion;
  readonly period: Period;
  readonly player?: string | undefined;
};

/** `isCut`: there are more rows than a file may have. */
export type Exported = { readonly text: string; readonly isCut: boolean };

export const EXPORT_ROWS_MAX = 20_000;
/** Spreadsheets take a file without it for one in an old encoding. */
const BYTE_ORDER_MARK = "\ufeff";
const NAME_LENGTH_MAX = 40;

type ExportPace = { ownShareDelayMs(now: number): number };
type ListItem = SessionResource | PlaytimeResource | StaffResource;

/** Returns the error when a page cannot be read. Waits between pages where the key's limit asks for it. */
export async function exportHistory(
  reader: HistoryReader,
  pace: ExportPace,
  spec: ExportSpec,
  format: ExportFormat,
  sleep: (ms: number) => Promise<unknown>,
  now: () => number,
): Promise<Exported | { readonly error: ApiError }> {
  const { question, period, player } = spec;
  if (question === "players") {
    const outcome = await reader.readHistory("players", period);
    if (!outcome.ok) return { error: outcome.error };
    return { text: writePlayers(outcome.value, period, format), isCut: false };
  }
  const items: ListItem[] = [];
  let cursor: string | null = null;
  do {
    const delayMs = cursor === null ? 0 : pace.ownShareDelayMs(now());
    if (delayMs > 0) await sleep(delayMs);
    const query: HistoryQuery = {
      ...period,
      limit: HISTORY_PAGE_SIZE,
      ...(player !== undefined && { player }),
      ...(cursor !== null && { cursor }),
    };
    const outcome = await reader.readHistory<HistoryList>(question, query);
    if (!outcome.ok) return { error: outcome.error };
    const page: HistoryAnswers[HistoryList] = outcome.value;
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== null && items.length < EXPORT_ROWS_MAX);
  return { text: writeItems(question, items, period, format), isCut: cursor !== null };
}

function writePlayers(history: PlayersHistory, period: Period, format: ExportFormat): string {
  return format === "csv" ? BYTE_ORDER_MARK + writePlayersCsv(history) : writeJson({ ...period, ...history });
}

function writeItems(question: HistoryList, items: readonly ListItem[], period: Period, format: ExportFormat): string {
  if (format === "json") return writeJson({ ...period, items });
  if (question === "sessions") return BYTE_ORDER_MARK + writeSessionsCsv(items as readonly SessionResource[]);
  if (question === "staff") return BYTE_ORDER_MARK + writeStaffCsv(items as readonly StaffResource[]);
  return BYTE_ORDER_MARK + writePlaytimeCsv(items as readonly PlaytimeResource[]);
}

function writeJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** `staff-Liberty-County-2026-11-09-2026-11-16.csv`: letters, digits and hyphens only, so that every system takes it. */
export function nameExport({ question, period, player }: ExportSpec, server: string, format: ExportFormat): string {
  const words = [question, player ?? "", server, writeDay(period.from), writeDay(period.to)];
  const parts = words.map((word) =>
    word
      .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
      .replaceAll(/^-+|-+$/g, "")
      .slice(0, NAME_LENGTH_MAX),
  );
  return `${parts.filter((part) => part !== "").join("-")}.${format}`;
}
