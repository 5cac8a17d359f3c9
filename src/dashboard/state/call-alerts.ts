// Decides which events are worth a sound or a notification.
import type { EventResource } from "../../core/wire/event.ts";
import { keyOfCallEvent } from "./mod-calls.ts";

export const ALERT_TYPES = ["modcall.opened", "call.opened"] as const;
export type AlertType = (typeof ALERT_TYPES)[number];

/** An older event was missed: the user sees it in the list, and a sound would come too late. */
export const ALERT_AGE_MAX_MS = 60_000;

/**
 * The type when the user should be told of the event. `now` is by the clock of Gatehouse, as `seen_at` is. `seen` has the keys
 * of the calls for a moderator that the user has marked.
 */
export function findAlertType(
  event: EventResource,
  now: number,
  seen: ReadonlyMap<string, unknown>,
): AlertType | undefined {
  if (event.backfill || now - event.seen_at > ALERT_AGE_MAX_MS) return undefined;
  if (event.type === "modcall.opened" && seen.has(keyOfCallEvent(event))) return undefined;
  return ALERT_TYPES.find((type) => type === event.type);
}
