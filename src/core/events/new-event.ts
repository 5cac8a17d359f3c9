// An event before it has a place in the ledger, and the order of the events of one reading.
import type { Gap } from "../wire/event-data.ts";
import { type EventSubject, type EventType, indexOfType } from "./event-types.ts";

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
  /** The section of a gap or of an alert's rule; of server.changed `JoinKey` when nothing else changed; null otherwise. */
  readonly section: EventSubject | null;
  /** Keyed hash of the entry that this event tells of; an archive records each identity once. Null where there is none. */
  readonly identity: string | null;
  /** Ids of the players that it names, for finding a player's events. */
  readonly players: readonly string[];
  /** Of a command: ids of the players that it was aimed at, who are among `players` too. */
  readonly targets?: readonly string[];
  /** Of a call for a moderator that was opened or answered: its id, which is the identity of its opening. */
  readonly call?: string;
  /** For the staff report: who did it, as `Name:id`, when the data does not tell. Not kept with the event. */
  readonly staff?: string;
};

type UsuallyAbsent = "isBackfill" | "meta" | "section" | "identity" | "players";

/** Only `event` says what is not so of most events. */
export function makeEvent(event: Omit<NewEvent, UsuallyAbsent> & Partial<NewEvent>): NewEvent {
  return { isBackfill: false, meta: null, section: null, identity: null, players: [], ...event };
}

export function toGapEvent({ section, reason, from, to }: Gap, seenAt: number): NewEvent {
  const data = JSON.stringify({ section, reason, from, to } satisfies Gap);
  return makeEvent({ type: "gap", at: seenAt, seenAt, source: "gateway", data, section });
}

/** Gaps first, then by time, then in the order of the table. Equal ones keep their order. */
export function sortEvents(events: readonly NewEvent[]): NewEvent[] {
  return [...events].sort((a, b) => {
    const isGap = Number(b.type === "gap") - Number(a.type === "gap");
    return isGap || a.at - b.at || indexOfType(a.type) - indexOfType(b.type);
  });
}
