// Since when a player is on the server, as far as the events of the ledger tell. Pure.
import type { EventResource } from "../../../core/wire/event.ts";

export type OnlineSince =
  | { readonly kind: "since" | "atLeastSince"; readonly at: number }
  | { readonly kind: "unknown" };

/**
 * `events` are those of a player who is on the server, newest first, with joins and leaves among them. A leave that is newer than
 * the last join means that the player has come back unseen. Events from before the first reading tell nothing: the game's log of
 * leaves may not go as far back as its other logs.
 */
export function judgeOnlineSince(events: readonly EventResource[]): OnlineSince {
  const last = events.findIndex(({ type }) => type === "player.joined" || type === "player.left");
  const found = events[last];
  if (found?.type === "player.joined") return { kind: "since", at: found.at };
  const sinceThen = (last === -1 ? events : events.slice(0, last)).filter(({ backfill }) => !backfill);
  if (sinceThen.length === 0) return { kind: "unknown" };
  return { kind: "atLeastSince", at: Math.min(...sinceThen.map(({ at }) => at)) };
}

/** When the player has left; undefined when no leave is known. */
export function findLeaveTime(events: readonly EventResource[]): number | undefined {
  return events.find(({ type }) => type === "player.left")?.at;
}
