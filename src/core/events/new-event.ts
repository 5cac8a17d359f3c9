// An event before it has a place in the ledger, and the order of the events of one reading.
import type { Gap } from "../wire/event-data.ts";
import { type EventType, type GapSection, indexOfType } from "./event-types.ts";

export type EventSource = "log" | "diff" | "webhook" | "gateway";

/** `data` and `meta` are JSON text, written once and never parsed on the way to a reader. */
export type NewEvent = {
  readonly type: EventType;
  /** When it happened, epoch milliseconds. */
  readonly at: number;
  readonly seenAt: number;
  readonly source: EventSource;
  readonly isBackfill: boolean;
  readonly data: string;
  readonly meta: string | null;
  /** The section of a gap or of an alert's rule; null for all other types. */
  readonly section: GapSection | null;
  /** Keyed hash of the entry that this event tells of; an archive records each identity once. Null where there is none. */
  readonly identity: string | null;
  /** Ids of the players that it names, for finding a player's events. */
  readonly players: readonly string[];
};

export function toGapEvent({ section, reason, from, to }: Gap, seenAt: number): NewEvent {
  return {
    type: "gap",
    at: seenAt,
    seenAt,
    source: "gateway",
    isBackfill: false,
    data: JSON.stringify({ section, reason, from, to } satisfies Gap),
    meta: null,
    section,
    identity: null,
    players: [],
  };
}

/** Gaps first, then by time, then in the order of the table. Equal ones keep their order. */
export function sortEvents(events: readonly NewEvent[]): NewEvent[] {
  return [...events].sort((a, b) => {
    const isGap = Number(b.type === "gap") - Number(a.type === "gap");
    return isGap || a.at - b.at || indexOfType(a.type) - indexOfType(b.type);
  });
}
