// What one record adds to the history of a server, beside its events.
import { DAY_MS } from "../durations.ts";
import type { Counts } from "./counts.ts";
import type { EndedSession } from "./sessions.ts";

/** A command that somebody used, or a call for a moderator that somebody answered. */
export type StaffAct = {
  /** The player's id. */
  readonly player: string;
  readonly name: string;
  readonly at: number;
  /** For an answer: how long the caller waited, at least and at most, in milliseconds. Null for a command. */
  readonly waited: readonly [number, number] | null;
};

/** `identity`: that of its event. When the archive leaves the event out, because it has it already, it leaves the act out too. */
export type NewStaffAct = StaffAct & { readonly identity?: string };

export type HistoryChange = {
  /** Minutes that are over. One that was told of before is added to. */
  readonly minutes: readonly Counts[];
  /** Sessions that have ended. */
  readonly sessions: readonly EndedSession[];
  readonly acts: readonly NewStaffAct[];
};

export const NO_HISTORY: HistoryChange = { minutes: [], sessions: [], acts: [] };

/** Sessions and acts are kept for this long. */
export const HISTORY_KEPT_MS = 400 * DAY_MS;
/** The longest time that one question may ask about. */
export const HISTORY_RANGE_MAX_MS = 400 * DAY_MS;
