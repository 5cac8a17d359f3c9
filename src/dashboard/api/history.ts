// What the requests about the past of a server take and answer. Their types are in core/wire/history.ts.
import type {
  PeaksResource,
  PlayersHistory,
  PlaytimePage,
  SessionPage,
  StaffPage,
} from "../../core/wire/history.ts";

/** By question. */
export type HistoryAnswers = {
  readonly players: PlayersHistory;
  readonly peaks: PeaksResource;
  readonly sessions: SessionPage;
  readonly playtime: PlaytimePage;
  readonly staff: StaffPage;
};
/** The questions that are answered in pages. */
export type HistoryList = "sessions" | "playtime" | "staff";

/** `from` and `to` are epoch milliseconds. */
export type HistoryQuery = {
  readonly from: number;
  readonly to: number;
  readonly tz?: string;
  readonly player?: string;
  readonly limit?: number;
  readonly cursor?: string;
};

/** The most items that one answer may have. */
export const HISTORY_PAGE_SIZE = 500;
