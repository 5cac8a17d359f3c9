// What the archive remembers of each server beside the ledger: counts of players, sessions, and what staff did. It is written
// with the events, in one transaction (LedgerRecord.history).
import type { CountMemory, Counts, Resolution } from "../history/counts.ts";
import type { StaffAct } from "../history/history.ts";
import type { OpenSessions, Session } from "../history/sessions.ts";

/** From `from`, before `to`, epoch milliseconds. */
export type Period = { readonly from: number; readonly to: number };

export type Presence = {
  readonly player: string;
  readonly name: string;
  readonly ms: number;
  readonly sessions: number;
};

/** What is not yet written because it is not over, from the memory of the server. */
export type OpenHistory = {
  readonly counts: CountMemory;
  readonly sessions: OpenSessions;
  /** When the newest reading was made that showed the players; null for none. */
  readonly seenAt: number | null;
};

export type SessionsRequest = Period & {
  readonly serverId: string;
  /** A player's id; undefined for all. */
  readonly player?: string | undefined;
  /** The place of the last session of the page before. */
  readonly after?: { readonly joinedAt: number; readonly number: number } | undefined;
  readonly limit: number;
};

export type KeptSession = Session & { readonly number: number };

/** All that the question about staff needs, read at one moment. */
export type StaffFacts = {
  /** The sessions that touch the period, of everybody who is in `acts`, in `listed` or was staff in it. */
  readonly sessions: readonly Session[];
  readonly acts: readonly StaffAct[];
  /** Id and name of those that the newest reading lists as staff. */
  readonly listed: ReadonlyMap<string, string>;
};

/** Every method throws StoreUnavailable when the archive cannot answer within its deadline. */
export interface HistoryStore {
  /** What is known of the period in one resolution, oldest first. Times without readings are left out. */
  readCounts(serverId: string, resolution: Resolution, period: Period): Promise<readonly Counts[]>;
  readOpenHistory(serverId: string): Promise<OpenHistory>;
  /** The sessions that have ended and touch the period, newest first by when they began. */
  listSessions(request: SessionsRequest): Promise<readonly KeptSession[]>;
  /**
   * For how long each player was there in the period, by sessions that have ended, most first; of equal ones the smaller id
   * first. `open` are sessions to be added: those that have not ended.
   */
  sumPresence(
    serverId: string,
    period: Period,
    open: readonly Presence[],
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly Presence[]>;
  readStaff(serverId: string, period: Period): Promise<StaffFacts>;
}
