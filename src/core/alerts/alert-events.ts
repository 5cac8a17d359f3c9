// What the judging of alerts reads and writes: facts from the ledger in, events of alerts out.
import { type Element, playerIdOf } from "../events/elements.ts";
import type { EventType } from "../events/event-types.ts";
import { FORGOTTEN_ID } from "../events/forget-player.ts";
import { makeEvent, type NewEvent } from "../events/new-event.ts";
import type { Section } from "../sections.ts";
import type { Alert, EventMeta } from "../wire/event-data.ts";
import { ALERT_EVENTS_MAX, type AlertSubject } from "./alert-states.ts";
import { type AlertWords, sayAlertInEnglish } from "./alert-words.ts";
import type { AlertRule } from "./rules.ts";

/** An event of the ledger, as far as rules look at it. */
export type AlertFact = {
  readonly id: string;
  readonly type: EventType;
  readonly at: number;
  readonly seenAt: number;
  readonly isBackfill: boolean;
  readonly data: Element;
};

/** One alert that is raised or cleared. */
export type ReportedAlert = AlertSubject & {
  readonly type: "alert.raised" | "alert.cleared";
  readonly rule: AlertRule;
  readonly words: AlertWords;
  readonly events: readonly string[];
};

export type Report = (alert: ReportedAlert) => void;

export const SERVER_SUBJECT: AlertSubject = { player: null, subject: "server" };

/** Longer names and commands are cut. */
const TEXT_LENGTH_MAX = 200;

const SECTION_OF_RULE: Readonly<Record<AlertRule, Section | null>> = {
  kills: "KillLogs",
  mass_command: "CommandLogs",
  unanswered_modcall: "ModCalls",
  offline: null,
  unreachable: null,
  players: null,
};

/** The sentence is for readers of the event; code and values are for programs that say it in another language. */
export function toAlertEvent({ type, rule, subject, player, words, events }: ReportedAlert, now: number): NewEvent {
  const { code, ...values } = words;
  const text = sayAlertInEnglish(words, nameOf({ subject }));
  return makeEvent({
    type,
    at: now,
    seenAt: now,
    source: "gateway",
    data: JSON.stringify({ rule, subject, text } satisfies Alert),
    meta: JSON.stringify({ events: events.slice(0, ALERT_EVENTS_MAX), code, values } satisfies EventMeta),
    section: SECTION_OF_RULE[rule],
    players: player === null || player === FORGOTTEN_ID ? [] : [player],
  });
}

/** The player that a field of the game names; undefined when it names nobody. */
export function toSubject(reference: unknown): AlertSubject | undefined {
  if (typeof reference !== "string" || reference === "") return undefined;
  return { player: playerIdOf(reference) ?? null, subject: cutText(reference) };
}

/** By the id, because a name can change; by the name where the game tells no id. */
export function isSameSubject(a: AlertSubject, b: AlertSubject): boolean {
  return a.player === null && b.player === null ? a.subject === b.subject : a.player === b.player;
}

/** The name without the id. */
export function nameOf({ subject }: Pick<AlertSubject, "subject">): string {
  return playerIdOf(subject) === undefined ? subject : subject.slice(0, subject.lastIndexOf(":"));
}

/** Keeps the end, where the id of a player is. */
export function cutText(text: string): string {
  if (text.length <= TEXT_LENGTH_MAX) return text;
  const head = text.slice(0, TEXT_LENGTH_MAX - 40).replace(/[\ud800-\udbff]$/, "");
  return `${head}…${text.slice(-39).replace(/^[\udc00-\udfff]/, "")}`;
}
