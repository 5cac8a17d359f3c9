// The rules for calls for a moderator: which are remembered, which wait, in which order they are shown, and how long an answer
// took. Pure.
import { HOUR_MS } from "../../core/durations.ts";
import type { EventResource } from "../../core/wire/event.ts";
import type { ModCall } from "../../core/wire/server-info.ts";
import { parsePlayerRef } from "../player-ref.ts";

/** A call that nobody has answered for so long waits no more. */
export const CALL_AGE_MAX_MS = HOUR_MS;
/** How many calls are remembered; the oldest are forgotten first. */
export const CALLS_MAX = 500;

type RememberedCall = {
  readonly call: ModCall;
  /** When the player called; when the page first saw it, if the game does not say it. In epoch milliseconds. */
  readonly at: number;
};

/** By their keys. A call that is missing from a later list of the game is remembered: that it is missing means nothing. */
export type RememberedCalls = ReadonlyMap<string, RememberedCall>;

/** The calls in the order in which they are shown. */
export type CallGroups = {
  /** Nobody has answered, and this user has not marked them; the longest wait first. */
  readonly waiting: readonly ModCall[];
  /** Nobody has answered, and this user has marked them as seen; the longest wait first. */
  readonly seen: readonly ModCall[];
  /** The newest first. */
  readonly answered: readonly ModCall[];
};

/** After how long a call was answered: not before `fromMs`, and at `toMs` at the latest. */
export type AnswerBounds = { readonly fromMs: number; readonly toMs: number };

/** The largest number of seconds that a Date can hold. */
const SECONDS_MAX = 8.64e12;
/** The game decides how long a name or an id is. */
const NAME_IN_KEY_MAX = 64;

/** The same for a call of the state and for its events. One player's calls of one second have the same key. */
export function keyOfCall({ Caller, Timestamp }: ModCall): string {
  const { name, id } = parsePlayerRef(Caller);
  return `${Timestamp ?? "?"} ${(id ?? name).slice(0, NAME_IN_KEY_MAX)}`;
}

/** When the player called, in epoch milliseconds; undefined when the game does not say it. */
export function findCallTime({ Timestamp }: ModCall): number | undefined {
  const isTime = typeof Timestamp === "number" && Math.abs(Timestamp) <= SECONDS_MAX;
  return isTime ? Timestamp * 1000 : undefined;
}

export function groupCalls(
  remembered: RememberedCalls,
  seen: ReadonlyMap<string, unknown>,
  now: number,
): CallGroups {
  const entries = Array.from(remembered.values());
  const isOpen = ({ call, at }: RememberedCall) => !call.Moderator && now - at < CALL_AGE_MAX_MS;
  const open = entries
    .filter(isOpen)
    .map(({ call }) => call)
    .toSorted(compareTimes);
  const isSeen = (call: ModCall) => seen.has(keyOfCall(call));
  return {
    waiting: open.filter((call) => !isSeen(call)),
    seen: open.filter(isSeen),
    answered: entries
      .map(({ call }) => call)
      .filter(({ Moderator }) => Moderator)
      .toSorted((a, b) => compareTimes(b, a)),
  };
}

/** The oldest first. A call without a time is taken as the newest, because it must not hide one that surely waits. */
function compareTimes(a: ModCall, b: ModCall): number {
  const [timeA, timeB] = [findCallTime(a), findCallTime(b)];
  if (timeA === undefined || timeB === undefined)
    return Number(timeA === undefined) - Number(timeB === undefined);
  return timeA - timeB;
}

export function isCallEvent({ type, backfill }: Pick<EventResource, "type" | "backfill">): boolean {
  return !backfill && (type === "modcall.opened" || type === "modcall.answered");
}

/** Adds what a reading or an event says. Returns `calls` itself when that is nothing new. */
export function rememberCalls(
  calls: RememberedCalls,
  reported: readonly ModCall[],
  now: number,
): RememberedCalls {
  const fresh = new Map<string, RememberedCall>();
  for (const call of reported) {
    const key = keyOfCall(call);
    const known = fresh.get(key) ?? calls.get(key);
    if (!known) fresh.set(key, { call, at: findCallTime(call) ?? now });
    // An answer is final: what was read before it does not open the call again.
    else if (call.Moderator && !known.call.Moderator) fresh.set(key, { ...known, call });
  }
  if (fresh.size === 0) return calls;
  const newestFirst = [...new Map([...calls, ...fresh])].sort(([, a], [, b]) => b.at - a.at);
  const kept = new Map(newestFirst.slice(0, CALLS_MAX));
  return Array.from(fresh.keys()).some((key) => kept.has(key)) ? kept : calls;
}

/** The call that an event tells of. */
export function toCall({ Caller, Moderator, Timestamp }: EventResource["data"]): ModCall {
  return {
    ...(typeof Caller === "string" && { Caller }),
    ...(typeof Timestamp === "number" && { Timestamp }),
    Moderator: typeof Moderator === "string" ? Moderator : null,
  };
}

/** The key of the call that an event tells of. */
export function keyOfCallEvent({ data }: Pick<EventResource, "data">): string {
  return keyOfCall(toCall(data));
}

/** What the events of a ledger say about answers, by the keys of the calls. `events` are newest first. */
export function listAnswerBounds(events: readonly EventResource[]): ReadonlyMap<string, AnswerBounds> {
  const bounds = new Map<string, AnswerBounds>();
  for (const { type, data, meta } of events) {
    const calledAt = findCallTime(toCall(data));
    const between: unknown = meta?.answered_between;
    if (type !== "modcall.answered" || calledAt === undefined || !Array.isArray(between)) continue;
    const [from, to]: readonly unknown[] = between;
    if (typeof from !== "number" || typeof to !== "number") continue;
    const key = keyOfCallEvent({ data });
    // The clocks of the game and of Gatehouse may differ by a second.
    const fromMs = Math.max(0, from - calledAt);
    if (!bounds.has(key)) bounds.set(key, { fromMs, toMs: Math.max(fromMs, to - calledAt) });
  }
  return bounds;
}
