// What happened to the emergency calls: from two readings, from a webhook, and as time passes. A call is closed when two readings
// in a row lack it or a webhook tells its end, and an identity that was opened once is never opened again.
import { isSameJson, parseExactJson } from "../exact-json.ts";
import type { EventMeta } from "../wire/event-data.ts";
import { toDiff, writeId, writeObject } from "./compare-sections.ts";
import { type Element, keyTextOf, textOf, timeOf } from "./elements.ts";
import type { CallKeys, ToldCall } from "./game-hook.ts";
import type { CallMemory, ClosedCall, ServerMemory } from "./memory.ts";
import type { NewEvent } from "./new-event.ts";
import type { GameReading, ShownCall } from "./reading.ts";

/** A call that no reading has shown is closed after this time. */
export const UNSHOWN_CALL_MS = 60_000;
/** A closed call is remembered for this long after nothing has shown it. Webhooks are at most ten minutes apart in their window. */
export const CLOSED_KEPT_MS = 15 * 60_000;
/** The newest are remembered. */
export const CLOSED_CALLS_MAX = 1_000;
/** With more calls that only webhooks have told of, the oldest of them is closed. */
export const UNSHOWN_CALLS_MAX = 500;
const MISSED_MAX = 2;
const ALL_TEAMS = '"ALL"';

export type CallsMemory = Pick<ServerMemory, "calls" | "closedCalls">;
export type JudgedCalls = { readonly events: readonly NewEvent[]; readonly memory: CallsMemory };

/** The identities under which a call is recorded: its opening, and its end when a webhook tells it. */
export type CallIdentities = { readonly opening: string; readonly end: string };

export function judgeCalls(
  reading: GameReading,
  shown: readonly ShownCall[],
  known: Pick<ServerMemory, "calls" | "closedCalls" | "firstReadingAt">,
  isKnown: (identity: string) => boolean,
): JudgedCalls {
  const events: NewEvent[] = [];
  const calls: CallMemory[] = [];
  const closed: ClosedCall[] = [];
  const left = new Set(known.calls ?? []);
  const isFirst = known.calls === null || known.firstReadingAt === null;
  // Without an index, thousands of calls would be compared with each other.
  const byNumber = indexCalls(left);
  const closedByNumber = indexCalls(known.closedCalls);
  const stillShown = new Set<ClosedCall>();
  const handled = new Set<string>();
  for (const { element, identity } of shown) {
    if (handled.has(identity)) continue;
    handled.add(identity);
    const keys = keysOf(element);
    const before = findCall(byNumber, keys, left);
    const ended = findCall(closedByNumber, keys);
    if (ended) stillShown.add(ended);
    if (before) {
      // A call for all teams may be shown once for each of them.
      if (!left.delete(before)) continue;
      const { call, changed } = updateCall(before, element);
      calls.push(call);
      if (changed.length > 0) events.push(toChange(reading, call, changed));
    } else if (!ended && !isKnown(identity)) {
      const call = rememberCall(element, reading.at);
      calls.push(call);
      events.push(toOpening(reading, call, identity, element, isFirst));
    }
  }
  for (const call of left) {
    const missed = call.isShown ? call.missed + 1 : 0;
    if (call.isShown ? missed >= MISSED_MAX : isOverdue(call, reading.at)) {
      events.push(toDiff(reading, "call.closed", writeObject(call.fields)));
      closed.push(rememberClosed(call, reading.at));
    } else calls.push(missed === call.missed ? call : { ...call, missed });
  }
  const kept = known.closedCalls.filter(
    (call) => stillShown.has(call) || Math.abs(reading.at - call.closedAt) < CLOSED_KEPT_MS,
  );
  return {
    events,
    memory: {
      calls: isUnchanged(known.calls, calls) ? known.calls : calls,
      closedCalls: joinClosed(known.closedCalls, kept, closed),
    },
  };
}

/** A webhook's call. The start of a call that is known tells nothing: what is known is as new, or newer. */
export function judgeToldCall(
  told: ToldCall,
  { opening, end }: CallIdentities,
  seenAt: number,
  known: CallsMemory,
  isKnown: (identity: string) => boolean,
): JudgedCalls {
  const calls = known.calls ?? [];
  const before = findCall(indexCalls(calls.filter(isSameNumber(told))), told);
  const isOver = findCall(indexCalls(known.closedCalls.filter(isSameNumber(told))), told) !== undefined;
  if (isOver || (!before && isKnown(opening)) || (before && !told.isEnd)) return { events: [], memory: known };
  const at = told.at ?? seenAt;
  if (!told.isEnd) {
    const call = { ...keysOfTold(told), fields: told.fields, missed: 0, isShown: false, openedAt: seenAt };
    const opened = { events: [toToldEvent("call.opened", call.fields, at, seenAt, opening)] };
    return closeExcess({ ...opened, memory: { ...known, calls: [...calls, call] } }, seenAt);
  }
  const fields = before ? finishFields(before, told) : told.fields;
  return {
    // The end of a call that was never opened takes the place of its opening, so that a late start opens nothing.
    events: [toToldEvent("call.closed", fields, at, seenAt, before ? end : opening)],
    memory: {
      calls: before ? calls.filter((call) => call !== before) : known.calls,
      closedCalls: joinClosed(known.closedCalls, known.closedCalls, [rememberClosed(before ?? told, seenAt)]),
    },
  };
}

/** The last known fields of a call that ends. */
function finishFields(before: CallMemory, told: ToldCall): CallMemory["fields"] {
  return { ...before.fields, ...withoutAllTeams(withoutErased(before, told.fields)) };
}

/** Closes the calls that no reading has shown for too long. Needed where nobody reads the server. */
export function judgeUnshownCalls(known: CallsMemory, now: number): JudgedCalls {
  const overdue = known.calls?.filter((call) => !call.isShown && isOverdue(call, now)) ?? [];
  return overdue.length === 0 ? { events: [], memory: known } : closeUnshown(known, overdue, now);
}

export function hasUnshownCalls({ calls }: Pick<ServerMemory, "calls">): boolean {
  return calls?.some(({ isShown }) => !isShown) ?? false;
}

function closeExcess(judged: Omit<JudgedCalls, "events"> & { events: NewEvent[] }, now: number): JudgedCalls {
  const unshown = judged.memory.calls?.filter(({ isShown }) => !isShown) ?? [];
  if (unshown.length <= UNSHOWN_CALLS_MAX) return judged;
  const { events, memory } = closeUnshown(judged.memory, unshown.slice(0, -UNSHOWN_CALLS_MAX), now);
  return { events: [...judged.events, ...events], memory };
}

function closeUnshown(known: CallsMemory, ended: readonly CallMemory[], now: number): JudgedCalls {
  const closed = ended.map((call) => rememberClosed(call, now));
  return {
    events: ended.map(({ fields }) => toDiff({ at: now }, "call.closed", writeObject(fields))),
    memory: {
      calls: known.calls?.filter((call) => !ended.includes(call)) ?? null,
      closedCalls: joinClosed(known.closedCalls, known.closedCalls, closed),
    },
  };
}

/** A time ahead was noted before the clock was set back. */
function isOverdue({ openedAt }: CallMemory, now: number): boolean {
  return Math.abs(now - openedAt) >= UNSHOWN_CALL_MS;
}

/** Calls by number and start, then by team. Of equal ones the first. */
type CallIndex<Call> = ReadonlyMap<string, ReadonlyMap<string, Call>>;

function indexCalls<Call extends CallKeys>(calls: Iterable<Call>): CallIndex<Call> {
  const index = new Map<string, Map<string, Call>>();
  for (const call of calls) {
    const teams = index.get(indexOf(call)) ?? new Map<string, Call>();
    if (!teams.has(call.team)) teams.set(call.team, call);
    index.set(indexOf(call), teams);
  }
  return index;
}

/** The call of the same team; otherwise, of a call for all teams, one that is in `preferred`, and of any other the one for all. */
function findCall<Call extends CallKeys>(
  index: CallIndex<Call>,
  keys: CallKeys,
  preferred: { has(call: Call): boolean } = { has: () => true },
): Call | undefined {
  const teams = index.get(indexOf(keys));
  const exact = teams?.get(keys.team);
  if (exact || keys.team !== ALL_TEAMS) return exact ?? teams?.get(ALL_TEAMS);
  return teams?.values().find((call) => preferred.has(call));
}

function indexOf({ number, startedAt }: Pick<CallKeys, "number" | "startedAt">): string {
  return `${number}\n${startedAt}`;
}

function isSameNumber(keys: CallKeys): (call: CallKeys) => boolean {
  return (call) => call.number === keys.number && call.startedAt === keys.startedAt;
}

function keysOf(element: Element): CallKeys {
  return {
    team: keyTextOf(element, "Team") ?? "-",
    number: keyTextOf(element, "CallNumber") ?? "-",
    startedAt: keyTextOf(element, "StartedAt") ?? "-",
  };
}

function keysOfTold({ team, number, startedAt }: CallKeys): CallKeys {
  return { team, number, startedAt };
}

function rememberCall(element: Element, at: number): CallMemory {
  return { ...keysOf(element), fields: fieldsOf(element), missed: 0, isShown: true, openedAt: at };
}

function rememberClosed(keys: CallKeys, closedAt: number): ClosedCall {
  return { ...keysOfTold(keys), closedAt };
}

/** Returns the same list when nothing was added or dropped. */
function joinClosed(
  before: readonly ClosedCall[],
  kept: readonly ClosedCall[],
  added: readonly ClosedCall[],
): readonly ClosedCall[] {
  if (kept.length === before.length && added.length === 0) return before;
  return [...kept, ...added].slice(-CLOSED_CALLS_MAX);
}

/** A field that is missing now keeps its last known value. */
function updateCall(before: CallMemory, element: Element): { call: CallMemory; changed: string[] } {
  const now = withoutErased(before, fieldsOf(element));
  const differing = Object.entries(now)
    .filter(([field, text]) => !isSameJson(text, before.fields[field] ?? ""))
    .map(([field]) => field);
  // A call for all teams is shown with the team that took it: the same call, and no change.
  const changed = differing.filter((field) => field !== "Team" || !isForAllTeams(before, now));
  if (differing.length === 0 && before.isShown && before.missed === 0) return { call: before, changed };
  const fields = differing.length === 0 ? before.fields : { ...before.fields, ...withoutAllTeams(now) };
  return { call: { ...before, fields, missed: 0, isShown: true }, changed };
}

/** Fields that name a player who was taken out of the call stay without that player, as long as the call lasts. */
function withoutErased({ fields, erased = [] }: CallMemory, now: CallMemory["fields"]): CallMemory["fields"] {
  if (erased.length === 0) return now;
  const kept = erased.flatMap((field) => {
    const [before, shown] = [fields[field], now[field]];
    return before === undefined || shown === undefined ? [] : [[field, eraseUnknown(before, shown)] as const];
  });
  return { ...now, ...Object.fromEntries(kept) };
}

/** Nobody can tell which of the unknown ids of a list is the erased one. Any other value stays as it is. */
function eraseUnknown(before: string, shown: string): string {
  const [known, now] = [parseExactJson(before), parseExactJson(shown)];
  if (!Array.isArray(known) || !Array.isArray(now)) return before;
  const ids = new Set(known.map(writeId));
  return JSON.stringify(now.map((id) => (ids.has(writeId(id)) ? id : 0)));
}

function isForAllTeams(before: CallMemory, now: CallMemory["fields"]): boolean {
  return before.team === ALL_TEAMS || now.Team === ALL_TEAMS;
}

/** A team that is known says more than all teams do. */
function withoutAllTeams({ Team, ...fields }: CallMemory["fields"]): CallMemory["fields"] {
  return Team === undefined || Team === ALL_TEAMS ? fields : { Team, ...fields };
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
  return toDiff(reading, "call.changed", writeObject(call.fields), JSON.stringify({ changed } satisfies EventMeta));
}

function toToldEvent(
  type: "call.opened" | "call.closed",
  fields: CallMemory["fields"],
  at: number,
  seenAt: number,
  identity: string,
): NewEvent {
  return { ...toDiff({ at: seenAt }, type, writeObject(fields)), at, source: "webhook", identity };
}

function isUnchanged(known: readonly CallMemory[] | null, calls: readonly CallMemory[]): boolean {
  return known?.length === calls.length && calls.every((call, index) => call === known[index]);
}
