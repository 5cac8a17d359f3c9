// Compares a ledger with what happened in the game: every entry of the log lists is told once, or lies in a gap.
import { LOG_LISTS, type LogList } from "../../src/core/events/memory.ts";
import type { Gap } from "../../src/core/wire/event-data.ts";

type Fields = Record<string, unknown>;

/** An event as the events endpoint gives it. */
export type ToldEvent = {
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly seen_at: number;
  readonly backfill: boolean;
  readonly data: Fields;
};

/** What happened, oldest first. */
export type Entries = readonly { readonly list: LogList; readonly element: Fields }[];

export const LIST_OF: Readonly<Record<string, LogList>> = {
  "player.joined": "JoinLogs",
  "player.left": "JoinLogs",
  "player.killed": "KillLogs",
  "command.used": "CommandLogs",
  "modcall.opened": "ModCalls",
};

/** Calls for a moderator are compared without the answer, which comes later. */
export function keyOf(list: string, { Moderator: _, ...element }: Fields): string {
  return `${list} ${JSON.stringify(Object.entries(element).sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}

export function count(keys: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

export function countTold(events: readonly Pick<ToldEvent, "type" | "data">[]): Map<string, number> {
  return count(
    events.flatMap(({ type, data }) => {
      const list = LIST_OF[type];
      return list ? [keyOf(list, data)] : [];
    }),
  );
}

export function listGaps(events: readonly Pick<ToldEvent, "type" | "data">[]): Gap[] {
  return events.filter(({ type }) => type === "gap").map(({ data }) => data as unknown as Gap);
}

/** Whether one of these gaps says that entries of this list and time were missed. */
export function isInGap(gaps: readonly Gap[], list: LogList, at: number): boolean {
  return gaps.some(({ section, from, to }) => {
    return section === list && (from === null || from <= at) && (to === null || at <= to);
  });
}

/**
 * Finds the entries between two equal ones of their list. When a reading shows only the second, it looks as if it overlapped
 * with an earlier reading that showed the first: entries of one second that no reading showed together cannot be told apart.
 */
export function findHidden(entries: Entries): Set<string> {
  const hidden = new Set<string>();
  for (const list of LOG_LISTS) {
    const keys = entries.filter((entry) => entry.list === list).map(({ element }) => keyOf(list, element));
    const lastPlaces = new Map(keys.map((key, place) => [key, place]));
    let hiddenBefore = 0;
    for (const [place, key] of keys.entries()) {
      if (place < hiddenBefore) hidden.add(key);
      hiddenBefore = Math.max(hiddenBefore, lastPlaces.get(key) ?? 0);
    }
  }
  return hidden;
}

/**
 * For a ledger whose last reading showed everything that happened: what it tells too often, and what is neither told nor in a
 * gap. Entries that equal one that is told, or lie between two equal ones, cannot be judged.
 */
export function findLedgerFaults(
  events: readonly Pick<ToldEvent, "type" | "data">[],
  entries: Entries,
): { readonly faults: readonly string[]; readonly judged: number } {
  const told = countTold(events);
  const happened = count(entries.map(({ list, element }) => keyOf(list, element)));
  const gaps = listGaps(events);
  const hidden = findHidden(entries);
  const faults: string[] = [];
  for (const [key, times] of told) {
    const real = happened.get(key) ?? 0;
    if (times > real) faults.push(`told ${times} times, happened ${real} times: ${key}`);
  }
  let judged = 0;
  for (const { list, element } of entries) {
    const key = keyOf(list, element);
    if (hidden.has(key)) continue;
    judged++;
    if (told.has(key) || isInGap(gaps, list, Number(element.Timestamp) * 1000)) continue;
    faults.push(`lost without a gap: ${key}`);
  }
  return { faults, judged };
}
