// Which alerts are raised and not cleared, from the events of the ledger. Pure.
import type { EventResource } from "../../../core/wire/event.ts";
import type { AlertFacts } from "./alert-text.tsx";

export type OpenAlert = AlertFacts & { readonly id: string; readonly at: number };

/** `events` are the newest first. Of each alert only the newest event counts. Newest first. */
export function listOpenAlerts(events: readonly EventResource[]): readonly OpenAlert[] {
  const judged = new Set<string>();
  const open: OpenAlert[] = [];
  for (const event of events) {
    if (event.type !== "alert.raised" && event.type !== "alert.cleared") continue;
    const facts = readAlert(event);
    const key = keyOf(facts, event);
    if (judged.has(key)) continue;
    judged.add(key);
    if (event.type === "alert.raised") open.push({ ...facts, id: event.id, at: event.at });
  }
  return open;
}

export function readAlert({ data }: Pick<EventResource, "data">): AlertFacts {
  const { rule, subject, text } = toFields(data);
  return { rule: toText(rule), subject: toText(subject), text: toText(text) };
}

/** Each call for a moderator has an alert of its own; every other rule has at most one for each subject. */
function keyOf({ rule, subject }: AlertFacts, { meta }: EventResource): string {
  const { events } = toFields(meta);
  const call = rule === "unanswered_modcall" && Array.isArray(events) ? toText(events[0]) : "";
  return JSON.stringify([rule, subject, call]);
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
