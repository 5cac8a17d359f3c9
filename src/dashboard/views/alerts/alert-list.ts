// Which alerts a user sees: those that are raised, and those that are over and not dismissed; the most serious first. Pure, but
// for the dismissals, which this browser keeps.
import { DAY_MS, HOUR_MS } from "../../../core/durations.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import { StoredSetting } from "../../state/stored-setting.ts";
import type { AlertFacts } from "../activity/describe-event.ts";

export type ShownAlert = AlertFacts & {
  /** That of the event that raised it. */
  readonly id: string;
  readonly at: number;
  /** Undefined while it is raised. */
  readonly endedAt: number | undefined;
};

export type AlertList = {
  readonly shown: readonly ShownAlert[];
  /** The callers whose call nobody has answered for long. Their calls say so, and are not told twice. */
  readonly unanswered: ReadonlyMap<string, number>;
};

/** The rule whose alerts are shown with the calls that they are about. */
export const UNANSWERED = "unanswered_modcall";
/** The subject of alerts that are about no player. */
export const SERVER_SUBJECT = "server";
/** The most serious first; rules that this page does not know come last. */
const RANKS: readonly string[] = ["kills", "mass_command", "unreachable", "offline", "players"];
/** An alert that was over for longer is of no use to anybody. */
export const ENDED_AGE_MAX_MS = DAY_MS;
/** More are not shown. */
export const SHOWN_MAX = 50;

/** `events` are the newest first. Of each alert only the newest time counts. */
export function listAlerts(events: readonly EventResource[], dismissals: Dismissals, now: number): AlertList {
  const endedAt = new Map<string, number>();
  const judged = new Set<string>();
  const shown: ShownAlert[] = [];
  const unanswered = new Map<string, number>();
  for (const event of events) {
    if (event.type !== "alert.raised" && event.type !== "alert.cleared") continue;
    const facts = readAlert(event);
    const key = JSON.stringify([facts.rule, facts.subject]);
    if (judged.has(key)) continue;
    if (event.type === "alert.cleared") {
      if (!endedAt.has(key)) endedAt.set(key, event.at);
      continue;
    }
    judged.add(key);
    const alert = { ...facts, id: event.id, at: event.at, endedAt: endedAt.get(key) };
    if (facts.rule !== UNANSWERED) shown.push(alert);
    else if (alert.endedAt === undefined) unanswered.set(facts.subject, event.at);
  }
  return {
    shown: shown
      .filter((alert) => !isDismissed(alert, dismissals, now))
      .sort(compareAlerts)
      .slice(0, SHOWN_MAX),
    unanswered,
  };
}

function isDismissed({ id, endedAt }: ShownAlert, { since, ids }: Dismissals, now: number): boolean {
  return ids.includes(id) || (endedAt !== undefined && (endedAt < since || now - endedAt > ENDED_AGE_MAX_MS));
}

/** Raised ones first, then the most serious, then the newest. */
export function compareAlerts(a: ShownAlert, b: ShownAlert): number {
  const isOver = ({ endedAt }: ShownAlert) => Number(endedAt !== undefined);
  return isOver(a) - isOver(b) || rankOf(a) - rankOf(b) || (b.endedAt ?? b.at) - (a.endedAt ?? a.at);
}

function rankOf({ rule }: ShownAlert): number {
  const rank = RANKS.indexOf(rule);
  return rank < 0 ? RANKS.length : rank;
}

export function readAlert({ data, meta }: Pick<EventResource, "data" | "meta">): AlertFacts {
  const { rule, subject, text } = toFields(data);
  const { code, values } = toFields(meta);
  return {
    rule: toText(rule),
    subject: toText(subject),
    text: toText(text),
    code: toText(code),
    values: toFields(values),
  };
}

export function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What a user of this browser has dismissed on one server. */
export type Dismissals = {
  /** What was over before is not shown. */
  readonly since: number;
  /** The alerts that were dismissed since, the newest last. */
  readonly ids: readonly string[];
};

/** By server, the one that was looked at last at the end. */
export type DismissalsOf = ReadonlyMap<string, Dismissals>;

/** Who looks for the first time sees what was over this long before. */
const FIRST_LOOK_BACK_MS = HOUR_MS;
export const IDS_MAX = 100;
export const SERVERS_MAX = 20;
const ID_LENGTH_MAX = 64;
/** A longer text was not written by this page. */
const TEXT_LENGTH_MAX = SERVERS_MAX * (IDS_MAX + 1) * (ID_LENGTH_MAX + 10);

export function dismiss(all: DismissalsOf, serverId: string, ids: readonly string[], now: number): DismissalsOf {
  const before = all.get(serverId) ?? { since: now - FIRST_LOOK_BACK_MS, ids: [] };
  const kept = [...new Set([...before.ids, ...ids])].slice(-IDS_MAX);
  const changed = new Map(all);
  changed.delete(serverId);
  return new Map([...changed.set(serverId, { since: before.since, ids: kept })].slice(-SERVERS_MAX));
}

/** `text` may be anything: another page of this host, or the user, may have written it. */
export function parseDismissals(text: string | null): DismissalsOf {
  if (text === null || text.length > TEXT_LENGTH_MAX) return new Map();
  try {
    const entries = Object.entries(toFields(JSON.parse(text))).flatMap(([serverId, stored]) => {
      const { since, ids } = toFields(stored);
      if (typeof since !== "number" || !Array.isArray(ids)) return [];
      const texts = ids.filter((id): id is string => typeof id === "string" && id.length <= ID_LENGTH_MAX);
      return [[serverId, { since, ids: texts.slice(-IDS_MAX) }] as const];
    });
    return new Map(entries.slice(-SERVERS_MAX));
  } catch {
    return new Map();
  }
}

export const dismissalSetting = new StoredSetting<DismissalsOf>({
  name: "gatehouse.dismissed-alerts",
  parse: parseDismissals,
  write: (all) => JSON.stringify(Object.fromEntries(all)),
});
