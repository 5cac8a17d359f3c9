// What happened to the emergency calls between two readings. A call is closed when two readings in a row lack it, and an
// identity that was opened once is never opened again.
import { toDiff, writeObject } from "./compare-sections.ts";
import { type Element, textOf, timeOf } from "./elements.ts";
import type { CallMemory } from "./memory.ts";
import type { NewEvent } from "./new-event.ts";
import type { GameReading, ShownCall } from "./reading.ts";

/** A call that no reading has shown is closed after this time. */
export const UNSHOWN_CALL_MS = 60_000;
const MISSED_MAX = 2;
const ALL_TEAMS = '"ALL"';

export type JudgedCalls = {
  readonly events: readonly NewEvent[];
  readonly memory: readonly CallMemory[] | null;
};

export function judgeCalls(
  reading: GameReading,
  shown: readonly ShownCall[],
  known: readonly CallMemory[] | null,
  isKnown: (identity: string) => boolean,
): JudgedCalls {
  const events: NewEvent[] = [];
  const calls: CallMemory[] = [];
  const left = new Set(known ?? []);
  // Without an index, thousands of calls would be compared with each other.
  const byNumber = Map.groupBy(left, ({ number, startedAt }) => `${number}\n${startedAt}`);
  const handled = new Set<string>();
  for (const { element, identity } of shown) {
    if (handled.has(identity)) continue;
    handled.add(identity);
    const { team, number, startedAt } = keysOf(element);
    const candidates = byNumber.get(`${number}\n${startedAt}`) ?? [];
    const before = candidates.find((call) => left.has(call) && isSameTeam(call.team, team));
    if (before) {
      left.delete(before);
      const { call, changed } = updateCall(before, element);
      calls.push(call);
      if (changed.length > 0) events.push(toChange(reading, call, changed));
    } else if (!isKnown(identity)) {
      const call = rememberCall(element, reading.at);
      calls.push(call);
      events.push(toOpening(reading, call, identity, element, known === null));
    }
  }
  for (const call of left) {
    const missed = call.isShown ? call.missed + 1 : 0;
    const isClosed = call.isShown ? missed >= MISSED_MAX : reading.at - call.openedAt >= UNSHOWN_CALL_MS;
    if (isClosed) events.push(toDiff(reading, "call.closed", writeObject(call.fields)));
    else calls.push({ ...call, missed });
  }
  return { events, memory: isUnchanged(known, calls) ? known : calls };
}

function isSameTeam(a: string, b: string): boolean {
  return a === b || a === ALL_TEAMS || b === ALL_TEAMS;
}

/** What tells one call from another, as JSON text. */
function keysOf(element: Element): Pick<CallMemory, "team" | "number" | "startedAt"> {
  return {
    team: textOf(element, "Team") ?? "-",
    number: textOf(element, "CallNumber") ?? "-",
    startedAt: textOf(element, "StartedAt") ?? "-",
  };
}

function rememberCall(element: Element, at: number): CallMemory {
  return { ...keysOf(element), fields: fieldsOf(element), missed: 0, isShown: true, openedAt: at };
}

/** A field that is missing now keeps its last known value. */
function updateCall(before: CallMemory, element: Element): { call: CallMemory; changed: string[] } {
  const now = fieldsOf(element);
  if (before.isForgotten) return { call: learnAgain(before, now), changed: [] };
  const changed = Object.keys(now).filter((field) => now[field] !== before.fields[field]);
  if (changed.length === 0 && before.isShown && before.missed === 0) return { call: before, changed };
  const fields = changed.length === 0 ? before.fields : { ...before.fields, ...now };
  return { call: { ...before, fields, missed: 0, isShown: true }, changed };
}

/** The fields named a player who is to be forgotten: that the game still shows it is no change. */
function learnAgain({ isForgotten: _, ...before }: CallMemory, now: CallMemory["fields"]): CallMemory {
  return { ...before, fields: { ...before.fields, ...now }, missed: 0, isShown: true };
}

function fieldsOf(element: Element): Record<string, string> {
  const fields = Object.keys(element).map((field) => [field, textOf(element, field) ?? "null"]);
  return Object.fromEntries(fields);
}

function toOpening(
  reading: GameReading,
  call: CallMemory,
  identity: string,
  element: Element,
  isBackfill: boolean,
): NewEvent {
  const at = timeOf(element, "StartedAt") ?? reading.at;
  return { ...toDiff(reading, "call.opened", writeObject(call.fields)), at, identity, isBackfill };
}

function toChange(reading: GameReading, call: CallMemory, changed: readonly string[]): NewEvent {
  return toDiff(reading, "call.changed", writeObject(call.fields), JSON.stringify({ changed }));
}

function isUnchanged(known: readonly CallMemory[] | null, calls: readonly CallMemory[]): boolean {
  return known?.length === calls.length && calls.every((call, place) => call === known[place]);
}
