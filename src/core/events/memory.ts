// What is remembered of a server between readings. A value of this type is never changed, only replaced, so a part that is
// the same object as before needs no writing.
import { type AlertMemory, NO_ALERT_MEMORY } from "../alerts/alert-states.ts";
import { type AlertRules, NO_ALERTS } from "../alerts/rules.ts";
import { type CountMemory, NOTHING_COUNTED } from "../history/counts.ts";
import type { OpenSessions } from "../history/sessions.ts";
import type { Section } from "../sections.ts";

export const LOG_LISTS = ["JoinLogs", "KillLogs", "CommandLogs", "ModCalls"] as const satisfies Section[];
export type LogList = (typeof LOG_LISTS)[number];

export type ServerState = "online" | "offline" | "unreachable";

/** `newestAt`: the newest time of an entry; null when no entry had one. */
export type ListMemory = {
  /** The last reading that had the list; null before. */
  readonly shownAt: number | null;
  /** The last reading in which the list had entries; null before. */
  readonly filledAt: number | null;
  readonly newestAt: number | null;
};

/** The compared fields of a player and `Player`, which tells the name, as JSON text. */
export type PlayerMemory = Readonly<Record<string, string>>;

export type CallMemory = {
  readonly team: string;
  readonly number: string;
  readonly startedAt: string;
  /** The last known fields, each as JSON text, in the game's order. */
  readonly fields: Readonly<Record<string, string>>;
  /** Readings in a row without it. */
  readonly missed: number;
  /** False while only a webhook has told of it. */
  readonly isShown: boolean;
  readonly openedAt: number;
  /** Fields that a player was erased from. They stay without the player, whatever is shown in them. */
  readonly erased?: readonly string[];
};

/** A call that was closed lately, so that neither a late webhook nor a reading that still shows it opens it again. */
export type ClosedCall = Pick<CallMemory, "team" | "number" | "startedAt"> & { readonly closedAt: number };

/** A vehicle that a player was erased from, as JSON text. `erased` are the fields that it cannot be compared by. */
export type ErasedVehicle = { readonly text: string; readonly erased: readonly string[] };

/** The members of each role by id; erased ones have the id 0. A role that no reading has shown is missing. */
export type StaffMemory = Readonly<Record<string, ReadonlyMap<string, string>>>;

export type ServerMemory = {
  /** Identifies the game server behind the server key; null before the first reading. */
  readonly gameServer: string | null;
  /** Counts the game servers that this server has been. Part of every identity. */
  readonly generation: number;
  readonly firstReadingAt: number | null;
  readonly lastReadingAt: number | null;
  /** The last reading that had Players; null before. */
  readonly playersShownAt: number | null;
  readonly state: ServerState | null;
  /** When the first of the failed readings in a row was; null after a good one. */
  readonly failingSince: number | null;
  /** For how long no reading was valid for the server, in all, since the first. */
  readonly unknownMs: number;
  /** Names the last write, so that a writer whose answer was lost recognises its own. */
  readonly writeMark: string | null;
  readonly lists: Readonly<Record<LogList, ListMemory>>;
  /** Unanswered calls for a moderator by identity: when a reading last showed each unanswered. */
  readonly openModCalls: ReadonlyMap<string, number>;
  // The compared sections; null until a reading had them.
  readonly players: ReadonlyMap<string, PlayerMemory> | null;
  readonly vehicles: readonly string[] | null;
  /** Vehicles that were in `vehicles` until a player was erased from them. */
  readonly erasedVehicles: readonly ErasedVehicle[];
  readonly staff: StaffMemory | null;
  readonly queue: string | null;
  readonly settings: Readonly<Record<string, string>> | null;
  readonly calls: readonly CallMemory[] | null;
  /** Oldest first. */
  readonly closedCalls: readonly ClosedCall[];
  readonly counts: CountMemory;
  readonly sessions: OpenSessions;
  /** Set by an operator, and kept when everything else about a game server is forgotten. */
  readonly alertRules: AlertRules;
  readonly alerts: AlertMemory;
};

const UNSEEN_LIST: ListMemory = { shownAt: null, filledAt: null, newestAt: null };

export const NOTHING_KNOWN: ServerMemory = {
  gameServer: null,
  generation: 0,
  firstReadingAt: null,
  lastReadingAt: null,
  playersShownAt: null,
  state: null,
  failingSince: null,
  unknownMs: 0,
  writeMark: null,
  lists: { JoinLogs: UNSEEN_LIST, KillLogs: UNSEEN_LIST, CommandLogs: UNSEEN_LIST, ModCalls: UNSEEN_LIST },
  openModCalls: new Map(),
  players: null,
  vehicles: null,
  erasedVehicles: [],
  staff: null,
  queue: null,
  settings: null,
  calls: null,
  closedCalls: [],
  counts: NOTHING_COUNTED,
  sessions: new Map(),
  alertRules: NO_ALERTS,
  alerts: NO_ALERT_MEMORY,
};
