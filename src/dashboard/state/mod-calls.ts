// The rules for calls for a moderator: which wait, in which order they are shown, and how long an answer took. Pure.
import type { EventResource } from "../../core/wire/event.ts";
import type { ModCall } from "../../core/wire/server-info.ts";
import { parsePlayerRef } from "../player-ref.ts";

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

export function groupCalls(calls: readonly ModCall[], seen: ReadonlyMap<string, unknown>): CallGroups {
  const open = calls.filter(({ Moderator }) => !Moderator).toSorted(compareTimes);
  const isSeen = (call: ModCall) => seen.has(keyOfCall(call));
  return {
    waiting: open.filter((call) => !isSeen(call)),
    seen: open.filter(isSeen),
    answered: calls.filter(({ Moderator }) => Moderator).toSorted((a, b) => compareTimes(b, a)),
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

/** Adds what happened after `calls` were read. Returns `calls` itself when nothing is new. */
export function addCallEvents(
  calls: readonly ModCall[],
  events: readonly Pick<EventResource, "type" | "data">[],
): readonly ModCall[] {
  let all = calls;
  for (const { type, data } of events) {
    const call = toCall(data);
    const key = keyOfCall(call);
    const known = all.filter((other) => keyOfCall(other) === key);
    if (known.length === 0) all = [...all, call];
    else if (type === "modcall.answered" && known.every(({ Moderator }) => !Moderator))
      all = all.map((other) => (other === known[0] ? { ...other, ...call } : other));
  }
  return all;
}

function toCall({ Caller, Moderator, Timestamp }: EventResource["data"]): ModCall {
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
