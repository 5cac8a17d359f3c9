// Whether a server is online, offline or unreachable, and the events of a change.
import type { WatchPlan } from "../readings/watch-plan.ts";
import type { ServerStateData } from "../wire/event-data.ts";
import type { ServerMemory, ServerState } from "./memory.ts";
import { makeEvent, type NewEvent } from "./new-event.ts";

/** A server that fails for this long is unreachable, or for three intervals if that is longer. */
const UNREACHABLE_MS = 30_000;
/** Compared sections are unknown after this long without a reading, or after three intervals if that is longer. */
const SILENCE_MS = 60_000;

export type Failure = { readonly code: number; readonly message: string };

export function unreachableAfterMs(intervalMs: number): number {
  return Math.max(UNREACHABLE_MS, 3 * intervalMs);
}

export function silenceMs(intervalMs: number): number {
  return Math.max(SILENCE_MS, 3 * intervalMs);
}

/** The event of a change of state; undefined when the state stays, or was not known before. */
export function toStateEvent(
  known: ServerState | null,
  state: ServerState,
  failure: Failure | null,
  at: number,
): NewEvent | undefined {
  // A first reading only notes the state, but a server that has never answered is worth an event.
  if (state === known || (known === null && state !== "unreachable")) return undefined;
  const data: ServerStateData = { upstream_code: failure?.code ?? null, upstream_message: failure?.message ?? null };
  return makeEvent({ type: `server.${state}`, at, seenAt: at, source: "gateway", data: JSON.stringify(data) });
}

/** Why a server could not be read, when, and how it is watched. */
export type JudgedFailure = WatchPlan & { readonly failure: Failure; readonly at: number };

/** Called for each failed reading, and from time to time while readings fail. */
export function judgeFailure(
  memory: ServerMemory,
  { at, failure, isWatched, intervalMs }: JudgedFailure,
): { readonly events: readonly NewEvent[]; readonly memory: ServerMemory } {
  // A time ahead was noted before the clock was set back.
  const failingSince = Math.min(memory.failingSince ?? at, at);
  const noted = failingSince === memory.failingSince ? memory : { ...memory, failingSince };
  const isOver = at - failingSince >= unreachableAfterMs(intervalMs);
  if (!isWatched || !isOver || memory.state === "unreachable") return { events: [], memory: noted };
  const event = toStateEvent(memory.state, "unreachable", failure, at);
  return { events: event ? [event] : [], memory: { ...noted, state: "unreachable" } };
}

/** Counts the time that no reading covers, which alerts leave out. `after` has one more reading than `before`. */
export function countUnknownTime(before: ServerMemory, after: ServerMemory, intervalMs: number): ServerMemory {
  if (before.lastReadingAt === null || after.lastReadingAt === null) return after;
  const unknownMs = after.lastReadingAt - before.lastReadingAt - silenceMs(intervalMs);
  return unknownMs > 0 ? { ...after, unknownMs: before.unknownMs + unknownMs } : after;
}
