// The rule `unanswered_modcall`: nobody comes to a player who called for a moderator. Each call has an alert of its own, which is
// over when the call is claimed, answered, left or expired.
import { MINUTE_MS } from "../durations.ts";
import { timeOf } from "../events/elements.ts";
import { FORGOTTEN_ID } from "../events/forget-player.ts";
import { EXPIRED_AFTER_MS, LEFT_AFTER_MS } from "../modcalls/mod-calls.ts";
import { type AlertFact, isSameSubject, type Report, toSubject } from "./alert-events.ts";
import { CALLS_MAX, type CallState, cutOldest } from "./alert-states.ts";
import type { AlertWords } from "./alert-words.ts";
import type { ServerFacts } from "./judge-server.ts";
import type { AlertRules } from "./rules.ts";

type Rule = NonNullable<AlertRules["unanswered_modcall"]>;
type Calls = readonly CallState[];

export function noteOpenedCall(calls: Calls, fact: AlertFact, report: Report): Calls {
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
  for (const one of dropped) reportCleared(one, { code: "too_many" }, report);
  return kept;
}

export function noteAnsweredCall(calls: Calls, fact: AlertFact, report: Report): Calls {
  const answered = findCall(calls, fact);
  return answered ? end(calls, (call) => call === answered, { code: "answered" }, report) : calls;
}

/** A call that is released waits again, and may be told again. */
export function noteClaim(calls: Calls, fact: AlertFact, isClaimed: boolean, report: Report): Calls {
  const found = findCall(calls, fact);
  if (!found || (found.isClaimed ?? false) === isClaimed) return calls;
  return replace(
    calls,
    found,
    isClaimed ? { ...rest(found, { code: "claimed" }, report), isClaimed } : { ...found, isClaimed },
  );
}

export function noteLeft(calls: Calls, { data, at }: AlertFact): Calls {
  const player = toSubject(data.Player);
  const isOfPlayer = (call: CallState) => player !== undefined && isSameSubject(call, player) && call.at <= at;
  return keepIfSame(calls, (call) => (isOfPlayer(call) ? { ...call, leftAt: call.leftAt ?? at } : call));
}

export function noteJoined(calls: Calls, { data, at }: AlertFact): Calls {
  const player = toSubject(data.Player);
  return keepIfSame(calls, (call) => {
    const isBack = player !== undefined && isSameSubject(call, player) && call.leftAt != null && call.leftAt <= at;
    return isBack ? { ...call, leftAt: null, isGone: false } : call;
  });
}

/** What the newest reading says of the callers. */
export function placeCallers(calls: Calls, { goneSince }: ServerFacts): Calls {
  return keepIfSame(calls, (call) => {
    if (!goneSince || call.player === null || call.player === FORGOTTEN_ID) return call;
    const gone = goneSince(call.player);
    if (gone === null) return (call.leftAt ?? null) === null ? call : { ...call, leftAt: null, isGone: false };
    return (call.leftAt ?? null) === null ? { ...call, leftAt: Math.max(call.at, gone) } : call;
  });
}

/** By caller and time; the call of a forgotten player is known by its time only. */
function findCall(calls: Calls, { data }: AlertFact): CallState | undefined {
  const caller = toSubject(data.Caller);
  const stamp = timeOf(data, "Timestamp");
  const candidates = calls.filter((call) => call.stamp === stamp);
  return (
    candidates.find((call) => caller && isSameSubject(call, caller)) ??
    candidates.find((call) => call.player === FORGOTTEN_ID && stamp !== null)
  );
}

export function clearAllCalls(calls: Calls, words: AlertWords, report: Report): Calls {
  return end(calls, () => true, words, report);
}

/** What comes first is told first, however long it is since the calls were judged. */
export function passCalls(calls: Calls, rule: Rule, time: number, report: Report): Calls {
  const passed = keepIfSame(calls, (call) => {
    const [dueAt, goneAt, expiredAt] = [dueOf(call, rule), goneAtOf(call), expiredAtOf(call)];
    const isDue = dueAt <= time && dueAt < Math.min(goneAt, expiredAt);
    let after = call;
    if (isDue && !call.isRaised && !call.isClaimed && !call.isGone) {
      reportCall("alert.raised", call, { code: "unanswered", minutes: rule.minutes }, report);
      after = { ...after, isRaised: true };
    }
    if (goneAt <= time && goneAt < expiredAt && !call.isGone)
      after = { ...rest(after, { code: "left" }, report), isGone: true };
    return after;
  });
  return end(passed, (call) => expiredAtOf(call) <= time, { code: "expired" }, report);
}

export function listCallTimes(calls: Calls, rule: Rule): number[] {
  return calls.flatMap((call) => [
    expiredAtOf(call),
    ...(call.isRaised || call.isClaimed || call.isGone ? [] : [dueOf(call, rule)]),
    ...(call.leftAt == null || call.isGone ? [] : [goneAtOf(call)]),
  ]);
}

function dueOf({ at }: CallState, { minutes }: Rule): number {
  return at + minutes * MINUTE_MS;
}

function goneAtOf({ leftAt }: CallState): number {
  return leftAt == null ? Number.POSITIVE_INFINITY : leftAt + LEFT_AFTER_MS;
}

function expiredAtOf({ at }: CallState): number {
  return at + EXPIRED_AFTER_MS;
}

/** Its alert is over, and the call is remembered: it may wait again. */
function rest(call: CallState, words: AlertWords, report: Report): CallState {
  reportCleared(call, words, report);
  return call.isRaised ? { ...call, isRaised: false } : call;
}

function replace(calls: Calls, before: CallState, after: CallState): Calls {
  return calls.map((call) => (call === before ? after : call));
}

/** Returns the same list when no call changed. */
function keepIfSame(calls: Calls, change: (call: CallState) => CallState): Calls {
  const changed = calls.map(change);
  return changed.every((call, index) => call === calls[index]) ? calls : changed;
}

function end(calls: Calls, isOver: (call: CallState) => boolean, words: AlertWords, report: Report): Calls {
  const over = calls.filter(isOver);
  for (const call of over) reportCleared(call, words, report);
  return over.length === 0 ? calls : calls.filter((call) => !over.includes(call));
}

function reportCleared(call: CallState, words: AlertWords, report: Report): void {
  if (call.isRaised) reportCall("alert.cleared", call, words, report);
}

function reportCall(
  type: "alert.raised" | "alert.cleared",
  { player, subject, id }: CallState,
  words: AlertWords,
  report: Report,
): void {
  report({ type, rule: "unanswered_modcall", player, subject, words, events: [id] });
}
