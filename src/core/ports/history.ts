// What the archive remembers of each server beside the ledger: counts of players, sessions, and what staff did. It is written
// with the events, in one transaction (LedgerRecord.history).
import type { KindCounts } from "../history/command-kinds.ts";
import type { CountMemory, Counts, Resolution } from "../history/counts.ts";
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

/**
 * What somebody did in a period. Sums, because a year has so many sessions and acts that handing them from thread to thread
 * takes longer than reading them.
 */
export type StaffSum = {
  readonly player: string;
  /** The newest that is known. */
  readonly name: string;
  /** By sessions that have ended, clipped to the period. */
  readonly ms: number;
  readonly teamMs: Readonly<Record<string, number>>;
  readonly commands: number;
  readonly byKind: KindCounts;
  /** The list on which the newest reading has them. */
  readonly role: string | null;
  /** For each call that was answered: how long the caller waited, at least and at most, in milliseconds. */
  readonly waits: readonly (readonly [number, number])[];
};

export type ListedStaff = { readonly name: string; readonly role: string };

/** All that the question about staff needs, read at one moment. */
export type StaffFacts = {
  /**
   * Everybody who acted in the period, was staff in a session that touches it, is in `listed`, or was asked for; in no particular
   * order.
   */
  readonly members: readonly StaffSum[];
  /** Those that the newest reading lists as staff, by id. */
  readonly listed: ReadonlyMap<string, ListedStaff>;
};

/** `players`: only the numbers of players, so that long times are read faster; queue, staff and teams are left out. */
export type CountDetail = "all" | "players";

/** `at` is where the hour begins. */
export type HourPeak = { readonly at: number; readonly max: number };

/** Every method throws StoreUnavailable when the archive cannot answer within its deadline. */
export interface HistoryStore {
  /** What is known of the period in one resolution, oldest first. Times without readings are left out. */
  readCounts(
    serverId: string,
    resolution: Resolution,
    period: Period,
    detail?: CountDetail,
  ): Promise<readonly Counts[]>;
  readOpenHistory(serverId: string): Promise<OpenHistory>;
  /** Whether a gap of all that is compared between readings lies around the moment. */
  isInGap(serverId: string, at: number): Promise<boolean>;
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
  /** `also`: ids of players who count as staff for another reason, such as a session that has not ended. */
  readStaff(serverId: string, period: Period, also: readonly string[]): Promise<StaffFacts>;
}

export interface HourStore {
  /** The most players of each known hour of the period, for several servers in one query. Servers without any are left out. */
  readHours(serverIds: readonly string[], period: Period): Promise<ReadonlyMap<string, readonly HourPeak[]>>;
}
