// The rule `unanswered_modcall`: nobody comes to a player who called for a moderator. Each call has an alert of its own.
import { DAY_MS, MINUTE_MS } from "../durations.ts";
import { timeOf } from "../events/elements.ts";
import { FORGOTTEN_ID } from "../events/forget-player.ts";
import { type AlertFact, countOf, isSameSubject, nameOf, type Tell, toSubject } from "./alert-events.ts";
import { CALLS_MAX, type CallState, cutOldest } from "./alert-states.ts";
import type { AlertRules } from "./rules.ts";

type Rule = NonNullable<AlertRules["unanswered_modcall"]>;
type Calls = readonly CallState[];

/** An alert is over after this long, also when nobody has answered. */
const UNANSWERED_MAX_MS = DAY_MS;

export function noteOpenedCall(calls: Calls, fact: AlertFact, tell: Tell): Calls {
  const caller = toSubject(fact.data.Caller);
  // A call that is first seen with its answer is opened and answered at once.
  if (!caller || typeof fact.data.Moderator === "string") return calls;
  const stamp = timeOf(fact.data, "Timestamp");
  const call = { ...caller, at: Math.min(fact.at, fact.seenAt), stamp, id: fact.id, isRaised: false };
  const { kept, dropped } = cutOldest(
    [...calls, call],
    CALLS_MAX,
    ({ at }) => at,
    ({ isRaised }) => isRaised,
  );
  for (const one of dropped) tellCleared(one, "Too many other alerts are raised.", tell);
  return kept;
}

export function noteAnsweredCall(calls: Calls, { data }: AlertFact, tell: Tell): Calls {
  const caller = toSubject(data.Caller);
  const stamp = timeOf(data, "Timestamp");
  const candidates = calls.filter((call) => call.stamp === stamp);
  const answered =
    candidates.find((call) => caller && isSameSubject(call, caller)) ??
    // The call of a forgotten player is known by its time only.
    candidates.find((call) => call.player === FORGOTTEN_ID && stamp !== null);
  if (!answered) return calls;
  return end(calls, (call) => call === answered, "The call was answered.", tell);
}

export function noteLeft(calls: Calls, { data, at }: AlertFact, tell: Tell): Calls {
  const player = toSubject(data.Player);
  if (!player) return calls;
  const isOfPlayer = (call: CallState) => isSameSubject(call, player) && call.at <= at;
  return end(calls, isOfPlayer, `${nameOf(player)} has left the server.`, tell);
}

export function clearAllCalls(calls: Calls, text: string, tell: Tell): Calls {
  return end(calls, () => true, text, tell);
}

export function passCalls(calls: Calls, rule: Rule, time: number, tell: Tell): Calls {
  const left = end(calls, (call) => endOf(call, rule) <= time, "Nobody answered for a day.", tell);
  const after = left.map((call) => {
    if (call.isRaised || dueOf(call, rule) > time) return call;
    const text = `Nobody has answered ${nameOf(call)}'s call for a moderator for ${countOf(rule.minutes, "minute")}.`;
    tellOf("alert.raised", call, text, tell);
    return { ...call, isRaised: true };
  });
  return after.some((call, place) => call !== left[place]) ? after : left;
}

export function listCallTimes(calls: Calls, rule: Rule): number[] {
  return calls.map((call) => (call.isRaised ? endOf(call, rule) : dueOf(call, rule)));
}

function dueOf({ at }: CallState, { minutes }: Rule): number {
  return at + minutes * MINUTE_MS;
}

function endOf(call: CallState, rule: Rule): number {
  return dueOf(call, rule) + UNANSWERED_MAX_MS;
}

function end(calls: Calls, isOver: (call: CallState) => boolean, text: string, tell: Tell): Calls {
  const over = calls.filter(isOver);
  for (const call of over) tellCleared(call, text, tell);
  return over.length === 0 ? calls : calls.filter((call) => !over.includes(call));
}

function tellCleared(call: CallState, text: string, tell: Tell): void {
  if (call.isRaised) tellOf("alert.cleared", call, text, tell);
}

function tellOf(
  type: "alert.raised" | "alert.cleared",
  { player, subject, id }: CallState,
  text: string,
  tell: Tell,
): void {
  tell({ type, rule: "unanswered_modcall", player, subject, text, events: [id] });
}
