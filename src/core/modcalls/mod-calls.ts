// Calls for a moderator as a team sees them: the state of each, from what is remembered, and who may claim it. Pure.
import { HOUR_MS } from "../durations.ts";
import { isVouchedFor } from "../history/answer-sessions.ts";
import type { Who } from "../people/who.ts";
import type { ModCallState } from "../players/vocabulary.ts";
import type { OpenHistory } from "../ports/history.ts";

/** Those that somebody should go to, or goes to. */
export const OPEN_STATES: readonly ModCallState[] = ["waiting", "claimed"];

/** A call is over when its caller left the server this long ago. */
export const LEFT_AFTER_MS = 60_000;
/** And this long after it was opened. */
export const EXPIRED_AFTER_MS = HOUR_MS;
/** The newest calls of a server that one question looks at. */
export const MOD_CALLS_MAX = 1_000;

/** A call as the archive remembers it. */
export type ModCall = {
  readonly callId: string;
  /** The caller's id; empty when the game tells none. */
  readonly player: string;
  readonly openedAt: number;
  /** The game's own element as it was first seen, as JSON text. */
  readonly data: string;
  readonly answeredBy: string | null;
  readonly answeredAt: number | null;
  readonly claimedBy: Who | null;
  readonly claimedAt: number | null;
};

/** Where the caller is. `leftAt`: since when the caller is known to be gone; null when that is not known. */
export type Whereabouts = { readonly isHere: boolean; readonly leftAt: number | null };

export type PlacedCall = ModCall & Whereabouts;

/** `lastSeenAt`: the end of the caller's last session; null when there was none. */
export function findWhereabouts(
  { player, openedAt }: Pick<ModCall, "player" | "openedAt">,
  open: OpenHistory,
  lastSeenAt: number | null,
  now: number,
): Whereabouts {
  if (open.seenAt === null) return { isHere: false, leftAt: null };
  const session = open.sessions.get(player);
  if (session && !session.absence) return { isHere: isVouchedFor(open, now), leftAt: null };
  const seenUntil = session?.absence?.seenUntil ?? lastSeenAt ?? openedAt;
  return { isHere: false, leftAt: Math.max(openedAt, seenUntil) };
}

/** An answer in the game beats a claim, and so does the end of a call. */
export function stateOfCall(
  { openedAt, answeredAt, claimedBy, leftAt }: Pick<PlacedCall, "openedAt" | "answeredAt" | "claimedBy" | "leftAt">,
  now: number,
): ModCallState {
  if (answeredAt !== null) return "answered";
  if (now - openedAt >= EXPIRED_AFTER_MS) return "expired";
  if (leftAt !== null && now - leftAt >= LEFT_AFTER_MS) return "left";
  return claimedBy ? "claimed" : "waiting";
}

/** Callers who are there first, then the oldest call first. */
export function compareCalls(a: PlacedCall, b: PlacedCall): number {
  if (a.isHere !== b.isHere) return a.isHere ? -1 : 1;
  return a.openedAt - b.openedAt || (a.callId < b.callId ? -1 : a.callId > b.callId ? 1 : 0);
}

export type ClaimAction = "claim" | "take" | "release";

export type ClaimRequest = {
  readonly action: ClaimAction;
  readonly who: Who;
  /** Whether the claims of others may be released too. */
  readonly mayReleaseAny: boolean;
  readonly now: number;
};

/** `events`: what is recorded, in this order. `refused`: why nothing changes. */
export type JudgedClaim =
  | { readonly claimedBy: Who | null; readonly events: readonly ("modcall.claimed" | "modcall.released")[] }
  | { readonly refused: "claimed" | "state" | "not_own" };

export function judgeClaim(call: PlacedCall, { action, who, mayReleaseAny, now }: ClaimRequest): JudgedClaim {
  const { claimedBy } = call;
  const state = stateOfCall(call, now);
  const isOwn = claimedBy !== null && claimedBy.kind === who.kind && claimedBy.id === who.id;
  if (action === "release") {
    if (claimedBy && !isOwn && !mayReleaseAny) return { refused: "not_own" };
    // Of a call that is over, the claim stays as it was.
    if (!claimedBy || state === "answered" || state === "expired") return { claimedBy, events: [] };
    return { claimedBy: null, events: ["modcall.released"] };
  }
  if (!OPEN_STATES.includes(state)) return { refused: "state" };
  if (isOwn) return { claimedBy, events: [] };
  if (!claimedBy) return { claimedBy: who, events: ["modcall.claimed"] };
  return action === "take"
    ? { claimedBy: who, events: ["modcall.released", "modcall.claimed"] }
    : { refused: "claimed" };
}
