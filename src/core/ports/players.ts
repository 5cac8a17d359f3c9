// What the archive knows of players and their calls for a moderator, beside events and history.
import type { LedgerPosition } from "../events/cursor.ts";
import type { CurrentSession } from "../history/answer-sessions.ts";
import type { ClaimRequest, PlacedCall } from "../modcalls/mod-calls.ts";
import type { Who } from "../people/who.ts";
import type { KnownPlayer } from "../players/known-players.ts";
import type { NoteKind } from "../players/vocabulary.ts";

/** Somebody who was seen, with the session that has not ended, if there is one. */
export type FoundPlayer = KnownPlayer & {
  readonly current: CurrentSession | undefined;
  /** Whether the newest reading shows the player, and is still valid. */
  readonly isHere: boolean;
};

/** Behind all that come before: those with an open session by when it began, then the others by when they were last seen. */
export type PlayerPosition = { readonly isOpen: boolean; readonly at: number; readonly player: string };

export type PlayerSearch = {
  readonly serverId: string;
  /** Part of a name, without case, or the beginning of the id; empty for everybody. */
  readonly query: string;
  readonly isHere: boolean | undefined;
  readonly after: PlayerPosition | undefined;
  readonly limit: number;
  readonly now: number;
};

export type Note = {
  readonly noteId: string;
  readonly text: string;
  readonly kind: NoteKind;
  readonly by: Who;
  readonly at: number;
};

/** A command that was aimed at a player, as its event has it. */
export type AimedCommandRow = LedgerPosition & {
  readonly at: number;
  readonly data: string;
  readonly meta: string | null;
};

export type PlayerFacts = FoundPlayer & {
  /** The newest that were aimed at the player, newest first. */
  readonly commands: readonly AimedCommandRow[];
  readonly modCalls: { readonly count: number; readonly last: PlacedCall | null };
  /** Newest first. */
  readonly notes: readonly Note[];
};

/** Every method throws StoreUnavailable when the archive cannot answer within its deadline. */
export interface PlayerStore {
  /** Latest first; at most `limit`. */
  searchPlayers(search: PlayerSearch): Promise<readonly FoundPlayer[]>;
  /** Undefined for somebody who was never seen, or is forgotten. */
  readPlayer(serverId: string, player: string, now: number): Promise<PlayerFacts | undefined>;
  /** Newest first. Undefined for somebody who was never seen. */
  listNotes(serverId: string, player: string): Promise<readonly Note[] | undefined>;
  addNote(serverId: string, player: string, note: Note): Promise<"done" | "full" | "unknown">;
  /** `by`: only a note of this author; undefined for any. `not_own`: it is somebody else's. */
  deleteNote(
    serverId: string,
    player: string,
    noteId: string,
    by: Who | undefined,
  ): Promise<"done" | "unknown" | "not_own">;
}

export type ClaimOutcome = {
  /** As it is now, after a change that was made. */
  readonly call: PlacedCall;
  readonly refused?: "claimed" | "state" | "not_own";
};

export interface ModCallStore {
  /** The newest MOD_CALLS_MAX that were opened after that time, in no particular order. */
  listModCalls(serverId: string, openedAfter: number, now: number): Promise<readonly PlacedCall[]>;
  /** Judges and changes the claim, and records its events, atomically. Undefined for a call that is not known. */
  changeClaim(serverId: string, callId: string, request: ClaimRequest): Promise<ClaimOutcome | undefined>;
}
