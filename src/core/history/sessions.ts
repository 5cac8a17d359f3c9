// Sessions: when a player was on the server. They are made of join logs and readings together.

export const SESSION_ENDS = ["log", "vanished", "gap"] as const;
/**
 * `log`: the game told it; `vanished`: absent from two readings in a row without a log entry; `gap`: nobody knows, because
 * there were no readings, or entries were missed.
 */
export type SessionEnd = (typeof SESSION_ENDS)[number];

/** A time in one team. */
export type Stay = { readonly team: string; readonly from: number; readonly to: number };

/** More stays are not remembered of one session; the oldest go first. */
export const STAYS_MAX = 200;
/** With more open sessions none begins, unless one of somebody who is not shown can end. */
export const OPEN_SESSIONS_MAX = 1_000;

/** `player` is the id; `name` is the newest that is known. */
export type Session = {
  readonly player: string;
  readonly name: string;
  readonly joinedAt: number;
  /** Null while it is open. */
  readonly leftAt: number | null;
  readonly ended: SessionEnd | null;
  /** Whether the player had a permission above Normal at any time of it. */
  readonly wasStaff: boolean;
  /** Oldest first, without overlap. Time in which the team is not known is in none of them. */
  readonly stays: readonly Stay[];
};

export type EndedSession = Session & { readonly leftAt: number };

/** A session that has not ended, as the memory of a server has it. It changes only when the player does something. */
export type OpenSession = {
  readonly name: string;
  readonly joinedAt: number;
  /** Whether a log entry told when it began. */
  readonly isLogged: boolean;
  /** Of one that no log entry told of: it began after this time, when the player was not there or an earlier session ended. */
  readonly notBefore?: number;
  readonly wasStaff: boolean;
  /** The team since the last change; null when no reading has shown the player yet. */
  readonly team: { readonly name: string; readonly since: number } | null;
  /** The stays that are over. */
  readonly stays: readonly Stay[];
  /**
   * Null while the newest reading with players shows the player. Otherwise how many readings in a row with players and join
   * logs do not, and until when the player is known to have been there.
   */
  readonly absence: { readonly readings: number; readonly seenUntil: number } | null;
};

/** By the player's id. */
export type OpenSessions = ReadonlyMap<string, OpenSession>;
