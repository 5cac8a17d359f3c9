// The kinds of the events that say that a server's state changed, as both archives look for them.
import { type EventKind, toEventKind } from "../core/events/event-types.ts";
import type { ServerState } from "../core/events/memory.ts";
import type { StateChange } from "../core/ports/state-changes.ts";

const STATES: readonly ServerState[] = ["online", "offline", "unreachable"];

export const STATE_OF_KIND: ReadonlyMap<EventKind, ServerState> = new Map(
  STATES.map((state) => [toEventKind(`server.${state}`), state]),
);

export const STATE_KINDS: readonly EventKind[] = [...STATE_OF_KIND.keys()];

export function toStateChange(row: { readonly kind: number; readonly at: number | string }): StateChange {
  const state = STATE_OF_KIND.get(row.kind);
  if (state === undefined) throw new Error(`kind ${row.kind} is no change of state`);
  return { state, at: Number(row.at) };
}
