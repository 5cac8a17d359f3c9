// What one record adds to the history of a server beside its events, and what can be asked about it.
import { DAY_MS } from "../durations.ts";
import type { Section } from "../sections.ts";
import type { CommandKind } from "./command-kinds.ts";
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
  /** Null for an answer, and for a command that reports do not count by itself. */
  readonly kind: CommandKind | null;
};

/** `identity`: that of its event. When the archive leaves the event out, because it has it already, it leaves the act out too. */
export type NewStaffAct = StaffAct & { readonly identity?: string };

/** A player whose session has begun, or whose name is another one. */
export type SeenPlayer = { readonly player: string; readonly name: string; readonly at: number };

export type HistoryChange = {
  /** Minutes that are over. One that was told of before is added to. */
  readonly minutes: readonly Counts[];
  /** Sessions that have ended. */
  readonly sessions: readonly EndedSession[];
  readonly acts: readonly NewStaffAct[];
  readonly seen: readonly SeenPlayer[];
};

export const NO_HISTORY: HistoryChange = { minutes: [], sessions: [], acts: [], seen: [] };

/** Sessions and acts are kept for this long. */
export const HISTORY_KEPT_MS = 400 * DAY_MS;
/** The longest time that one question may ask about. */
export const HISTORY_RANGE_MAX_MS = 400 * DAY_MS;

/** The questions, and the sections that a key must be allowed to read for each. Numbers of players name nobody. */
export const NEEDED_SECTIONS = {
  players: [],
  peaks: [],
  sessions: ["Players", "JoinLogs"],
  present: ["Players", "JoinLogs"],
  playtime: ["Players", "JoinLogs"],
  staff: ["Staff", "Players", "CommandLogs", "ModCalls"],
} as const satisfies Record<string, readonly Section[]>;

export type HistoryQuestion = keyof typeof NEEDED_SECTIONS;
