// What the four log lists of a reading add to the ledger: entries that no reading showed before, and gaps.

import type { EventMeta, Gap } from "../wire/event-data.ts";
import { type Element, playersOf } from "./elements.ts";
import type { EventType } from "./event-types.ts";
import type { ListMemory, LogList } from "./memory.ts";
import type { NewEvent } from "./new-event.ts";
import type { ListEntry } from "./reading.ts";

export type ListContext = {
  readonly at: number;
  readonly firstReadingAt: number | null;
  readonly lastReadingAt: number | null;
  /** No reading for so long that entries may have come and gone in an empty list. */
  readonly wasSilent: boolean;
  /** Readings were dropped, because the archive could not keep them. */
  readonly wasLost: boolean;
  readonly isKnown: (identity: string) => boolean;
  /** The command of ours that an entry of CommandLogs tells of. */
  readonly findCommandId: (element: Element) => string | undefined;
};

export type JudgedList = {
  readonly events: readonly NewEvent[];
  readonly gap: Gap | undefined;
  readonly memory: ListMemory;
};

export function judgeList(
  list: LogList,
  entries: readonly ListEntry[],
  memory: ListMemory,
  openModCalls: ReadonlyMap<string, number>,
  context: ListContext,
): JudgedList {
  const events: NewEvent[] = [];
  for (const entry of entries) {
    const isBackfill = isBeforeFirstReading(entry, memory, context);
    if (!context.isKnown(entry.identity)) events.push(toEvent(list, entry, isBackfill, context));
    const { answerIdentity } = entry;
    if (answerIdentity !== null && !context.isKnown(answerIdentity)) {
      events.push(toAnswer(entry, answerIdentity, openModCalls.get(entry.identity), isBackfill, context));
    }
  }
  return {
    events,
    gap: findGap(list, entries, memory, context),
    memory: learnList(entries, memory, context),
  };
}

/** More open calls than this are not remembered; the oldest go first. */
const OPEN_MOD_CALLS_MAX = 1_000;

/** The calls that nobody has answered yet, and when a reading last showed each so. A missing one may come back. */
export function learnOpenModCalls(
  entries: readonly ListEntry[],
  known: ReadonlyMap<string, number>,
  memory: ListMemory,
  at: number,
): ReadonlyMap<string, number> {
  if (isLateList(memory, at)) return known;
  const open = new Map(known);
  for (const { identity, answerIdentity } of entries) {
    // Deleted first, so that the calls that were shown last are the last of the map.
    open.delete(identity);
    if (answerIdentity === null) open.set(identity, at);
  }
  for (const identity of open.keys()) {
    if (open.size <= OPEN_MOD_CALLS_MAX) break;
    open.delete(identity);
  }
  return open.size === 0 && known.size === 0 ? known : open;
}

function isBeforeFirstReading(
  { at }: ListEntry,
  { shownAt }: ListMemory,
  { firstReadingAt }: ListContext,
): boolean {
  return shownAt === null && (firstReadingAt === null || at === null || at < firstReadingAt);
}

function findGap(
  list: LogList,
  entries: readonly ListEntry[],
  memory: ListMemory,
  context: ListContext,
): Gap | undefined {
  if (entries.length === 0 || entries.some(({ identity }) => context.isKnown(identity))) return undefined;
  const reason = context.wasLost ? "archive" : "no_overlap";
  const to = oldestTime(entries);
  if (isLateList(memory, context.at) && !isNewer(to, memory)) return undefined;
  if (memory.filledAt !== null) return { section: list, reason, from: memory.newestAt, to };
  const mayHaveMissed = context.lastReadingAt !== null && (context.wasSilent || context.wasLost);
  return mayHaveMissed ? { section: list, reason, from: context.lastReadingAt, to } : undefined;
}

function learnList(entries: readonly ListEntry[], memory: ListMemory, { at }: ListContext): ListMemory {
  const times = entries.map((entry) => entry.at).filter((time) => time !== null);
  const newestAt = times.reduce(
    (newest: number | null, time) => Math.max(newest ?? time, time),
    memory.newestAt,
  );
  return {
    shownAt: Math.max(memory.shownAt ?? at, at),
    filledAt: entries.length > 0 ? Math.max(memory.filledAt ?? at, at) : memory.filledAt,
    newestAt,
  };
}

/** A later reading has shown entries already, so entries of this one may be older than those that are known. */
function isLateList({ filledAt }: ListMemory, at: number): boolean {
  return filledAt !== null && at <= filledAt;
}

/** Of two answers that were on their way at once, the newer may have come first, so the game's own times decide. */
function isNewer(oldestAt: number | null, { newestAt }: ListMemory): boolean {
  return oldestAt !== null && newestAt !== null && oldestAt >= newestAt;
}

function oldestTime(entries: readonly ListEntry[]): number | null {
  const times = entries.map(({ at }) => at).filter((at) => at !== null);
  return times.length > 0 ? times.reduce((oldest, at) => Math.min(oldest, at)) : null;
}

function toEvent(list: LogList, entry: ListEntry, isBackfill: boolean, context: ListContext): NewEvent {
  const { element, identity, at } = entry;
  const commandId = list === "CommandLogs" ? context.findCommandId(element) : undefined;
  return {
    type: typeOfEntry(list, element),
    at: at ?? context.at,
    seenAt: context.at,
    source: "log",
    isBackfill,
    data: JSON.stringify(element),
    meta: commandId === undefined ? null : JSON.stringify({ command_id: commandId } satisfies EventMeta),
    section: null,
    identity,
    players: playersOf(element, "Player", "Killed", "Killer", "Caller"),
  };
}

/** `unansweredAt`: when a reading last showed the call without an answer. */
function toAnswer(
  { element, at }: ListEntry,
  identity: string,
  unansweredAt: number | undefined,
  isBackfill: boolean,
  context: ListContext,
): NewEvent {
  const since = unansweredAt ?? at ?? context.at;
  return {
    type: "modcall.answered",
    at: context.at,
    seenAt: context.at,
    source: "log",
    isBackfill,
    data: JSON.stringify(element),
    meta: JSON.stringify({ answered_between: [since, context.at] } satisfies EventMeta),
    section: null,
    identity,
    players: playersOf(element, "Caller", "Moderator"),
  };
}

function typeOfEntry(list: LogList, element: Element): EventType {
  switch (list) {
    case "JoinLogs":
      return element.Join === false ? "player.left" : "player.joined";
    case "KillLogs":
      return "player.killed";
    case "CommandLogs":
      return "command.used";
    case "ModCalls":
      return "modcall.opened";
  }
}
