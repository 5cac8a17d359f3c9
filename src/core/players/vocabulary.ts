// Names and limits of players, notes and calls for a moderator. Safe in browsers.

export const MOD_CALL_STATES = ["waiting", "claimed", "answered", "left", "expired"] as const;
export type ModCallState = (typeof MOD_CALL_STATES)[number];

export const NOTE_KINDS = ["note", "warning"] as const;
export type NoteKind = (typeof NOTE_KINDS)[number];
export const NOTE_LENGTH_MAX = 1_000;
/** Of one player on one server. */
export const NOTES_MAX = 100;

/** The names of one player that answers show. */
export const KNOWN_NAMES_MAX = 10;
/** Of the commands that were aimed at a player. */
export const AIMED_COMMANDS_MAX = 50;
