// The rules about the server itself: offline, unreachable, and too few or too many players for a while. Time in which nothing
// is known does not count, except for unreachable, which lasts until a reading succeeds.
import { MINUTE_MS } from "../durations.ts";
import type { ServerState } from "../events/memory.ts";
import { type AlertFact, type Report, SERVER_SUBJECT } from "./alert-events.ts";
import type { OutageState, Span } from "./alert-states.ts";
import type { AlertWords } from "./alert-words.ts";
import type { AlertRules } from "./rules.ts";

/** What the newest reading tells. */
export type ServerFacts = {
  readonly state: ServerState | null;
  /** The newest reading is valid for the state until then; null before the first. */
  readonly validUntil: number | null;
  /** For how long no reading was valid, in all. */
  readonly unknownMs: number;
  /** How many players there were, from when and until when at most. Null when no reading told it. */
  readonly count: { readonly players: number; readonly at: number; readonly until: number } | null;
  /** Since when the newest reading with players does not show this player; null when it does, or when that is not known. */
  readonly goneSince?: (player: string) => number | null;
};

type Outage = OutageState | null;

/** An event told that the state has changed. */
export function noteState(
  outage: Outage,
  state: ServerState,
  { at, seenAt, id }: AlertFact,
  facts: ServerFacts,
  report: Report,
): Outage {
  return changeState(outage, state, { since: Math.min(at, seenAt), id }, facts, report);
}

/** Takes over a state that no event has told of, such as that before the rule was set. */
export function alignState(outage: Outage, facts: ServerFacts, now: number, report: Report): Outage {
  const { state } = facts;
  if (state === null || state === (outage?.state ?? "online")) return outage;
  return changeState(outage, state, { since: now, id: null }, facts, report);
}

function changeState(
  outage: Outage,
  state: ServerState,
  beginning: Pick<OutageState, "since" | "id">,
  { unknownMs }: ServerFacts,
  report: Report,
): Outage {
  if (state === outage?.state) return outage;
  clearOutage(outage, { code: `is_${state}` }, report);
  return state === "online" ? null : { state, ...beginning, unknownMs, isRaised: false };
}

export function clearOutage(outage: Outage, words: AlertWords, report: Report): void {
  if (outage?.isRaised)
    report({ type: "alert.cleared", rule: outage.state, ...SERVER_SUBJECT, words, events: eventsOf(outage) });
}

export function passOutage(
  outage: Outage,
  rules: AlertRules,
  facts: ServerFacts,
  time: number,
  report: Report,
): Outage {
  const rule = outage && rules[outage.state];
  if (!rule || outage.isRaised) return outage;
  const due = dueOf(outage, rule.minutes, facts);
  if (due > Math.min(time, validUntil(outage, facts))) return outage;
  const words: AlertWords = { code: outage.state, minutes: rule.minutes };
  report({ type: "alert.raised", rule: outage.state, ...SERVER_SUBJECT, words, events: eventsOf(outage) });
  return { ...outage, isRaised: true };
}

/** When the outage has lasted long enough; undefined when only another reading can decide. */
export function findOutageTime(outage: Outage, rules: AlertRules, facts: ServerFacts): number | undefined {
  const rule = outage && rules[outage.state];
  if (!rule || outage.isRaised) return undefined;
  const due = dueOf(outage, rule.minutes, facts);
  return due <= validUntil(outage, facts) ? due : undefined;
}

export type Crowd = "below" | "above";
type PlayersRule = NonNullable<AlertRules["players"]>;

/** One of the two conditions of the rule `players`, as the newest reading tells it. */
export function passCrowd(
  span: Span | null,
  crowd: Crowd,
  rule: PlayersRule,
  facts: ServerFacts,
  time: number,
  report: Report,
): Span | null {
  const { count, unknownMs } = facts;
  const limit = rule[crowd];
  if (!count || limit === undefined) return span;
  const isMet = crowd === "below" ? count.players < limit : count.players > limit;
  if (!isMet) {
    clearCrowd(span, { code: "players_now", count: count.players }, report);
    return null;
  }
  // A reading that is too old says nothing about now, so the condition does not begin with it.
  if (!span && count.until < time) return null;
  const lasting = span ?? { since: Math.min(count.at, time), unknownMs, isRaised: false };
  if (lasting.isRaised || dueOf(lasting, rule.minutes, facts) > Math.min(time, count.until)) return lasting;
  const words: AlertWords = { code: crowd, limit, minutes: rule.minutes, count: count.players };
  report({ type: "alert.raised", rule: "players", ...SERVER_SUBJECT, words, events: [] });
  return { ...lasting, isRaised: true };
}

export function clearCrowd(span: Span | null, words: AlertWords, report: Report): void {
  if (span?.isRaised) report({ type: "alert.cleared", rule: "players", ...SERVER_SUBJECT, words, events: [] });
}

/** As findOutageTime. */
export function findCrowdTime(span: Span | null, rule: PlayersRule, facts: ServerFacts): number | undefined {
  if (!span || span.isRaised || !facts.count) return undefined;
  const due = dueOf(span, rule.minutes, facts);
  return due <= facts.count.until ? due : undefined;
}

/** Later by the time in which nothing was known. */
function dueOf({ since, unknownMs }: Span, minutes: number, facts: ServerFacts): number {
  return since + minutes * MINUTE_MS + Math.max(0, facts.unknownMs - unknownMs);
}

/** That a server cannot be reached is not told by readings: it lasts until one succeeds. */
function validUntil({ state }: OutageState, facts: ServerFacts): number {
  return state === "unreachable" ? Number.POSITIVE_INFINITY : (facts.validUntil ?? 0);
}

function eventsOf({ id }: OutageState): string[] {
  return id === null ? [] : [id];
}
