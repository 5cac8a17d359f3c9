// The rules about the server itself: offline, unreachable, and too few or too many players for a while. Time in which nothing
// is known does not count, except for unreachable, which lasts until a reading succeeds.
import { MINUTE_MS } from "../durations.ts";
import type { ServerState } from "../events/memory.ts";
import { type AlertFact, countOf, SERVER_SUBJECT, type Tell } from "./alert-events.ts";
import type { OutageState, Span } from "./alert-states.ts";
import type { AlertRules } from "./rules.ts";

/** What the newest reading tells. */
export type ServerFacts = {
  readonly state: ServerState | null;
  /** The newest reading vouches for the state until then; null before the first. */
  readonly vouchedUntil: number | null;
  /** For how long no reading vouched, in all. */
  readonly unknownMs: number;
  /** How many players there were, from when and until when at most. Null when no reading told it. */
  readonly count: { readonly players: number; readonly at: number; readonly until: number } | null;
};

type Outage = OutageState | null;

const STATE_WORDS: Readonly<Record<ServerState, string>> = {
  online: "The server is online.",
  offline: "The server is offline.",
  unreachable: "The server cannot be reached.",
};

/** An event told that the state has changed. */
export function noteState(
  outage: Outage,
  state: ServerState,
  { at, seenAt, id }: AlertFact,
  facts: ServerFacts,
  tell: Tell,
): Outage {
  return changeState(outage, state, { since: Math.min(at, seenAt), id }, facts, tell);
}

/** Takes over a state that no event has told of, such as that before the rule was set. */
export function alignState(outage: Outage, facts: ServerFacts, now: number, tell: Tell): Outage {
  const { state } = facts;
  if (state === null || state === (outage?.state ?? "online")) return outage;
  return changeState(outage, state, { since: now, id: null }, facts, tell);
}

function changeState(
  outage: Outage,
  state: ServerState,
  beginning: Pick<OutageState, "since" | "id">,
  { unknownMs }: ServerFacts,
  tell: Tell,
): Outage {
  if (state === outage?.state) return outage;
  clearOutage(outage, STATE_WORDS[state], tell);
  return state === "online" ? null : { state, ...beginning, unknownMs, isRaised: false };
}

export function clearOutage(outage: Outage, text: string, tell: Tell): void {
  if (outage?.isRaised)
    tell({
      type: "alert.cleared",
      rule: outage.state,
      ...SERVER_SUBJECT,
      text,
      events: eventsOf(outage),
    });
}

export function passOutage(
  outage: Outage,
  rules: AlertRules,
  facts: ServerFacts,
  time: number,
  tell: Tell,
): Outage {
  const rule = outage && rules[outage.state];
  if (!rule || outage.isRaised) return outage;
  const due = dueOf(outage, rule.minutes, facts);
  if (due > Math.min(time, vouchedUntil(outage, facts))) return outage;
  const words =
    outage.state === "offline" ? "The server has been offline" : "The server could not be reached";
  const text = `${words} for ${countOf(rule.minutes, "minute")}.`;
  tell({ type: "alert.raised", rule: outage.state, ...SERVER_SUBJECT, text, events: eventsOf(outage) });
  return { ...outage, isRaised: true };
}

/** When the outage has lasted long enough; undefined when only another reading can tell. */
export function findOutageTime(outage: Outage, rules: AlertRules, facts: ServerFacts): number | undefined {
  const rule = outage && rules[outage.state];
  if (!rule || outage.isRaised) return undefined;
  const due = dueOf(outage, rule.minutes, facts);
  return due <= vouchedUntil(outage, facts) ? due : undefined;
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
  tell: Tell,
): Span | null {
  const { count, unknownMs } = facts;
  const limit = rule[crowd];
  if (!count || limit === undefined) return span;
  const isMet = crowd === "below" ? count.players < limit : count.players > limit;
  const players = `${countOf(count.players, "player")} now.`;
  if (!isMet) {
    clearCrowd(span, players, tell);
    return null;
  }
  // A reading that is too old says nothing about now, so the condition does not begin with it.
  if (!span && count.until < time) return null;
  const lasting = span ?? { since: Math.min(count.at, time), unknownMs, isRaised: false };
  if (lasting.isRaised || dueOf(lasting, rule.minutes, facts) > Math.min(time, count.until)) return lasting;
  const words = crowd === "below" ? "Fewer" : "More";
  const text = `${words} than ${countOf(limit, "player")} for ${countOf(rule.minutes, "minute")}: ${players}`;
  tell({ type: "alert.raised", rule: "players", ...SERVER_SUBJECT, text, events: [] });
  return { ...lasting, isRaised: true };
}

export function clearCrowd(span: Span | null, text: string, tell: Tell): void {
  if (span?.isRaised) tell({ type: "alert.cleared", rule: "players", ...SERVER_SUBJECT, text, events: [] });
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
function vouchedUntil({ state }: OutageState, facts: ServerFacts): number {
  return state === "unreachable" ? Number.POSITIVE_INFINITY : (facts.vouchedUntil ?? 0);
}

function eventsOf({ id }: OutageState): string[] {
  return id === null ? [] : [id];
}
