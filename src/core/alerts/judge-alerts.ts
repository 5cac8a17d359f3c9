// Judges the rules of alerts: what was known and new facts of the ledger in, events and the new states out. Pure. Facts are
// judged in the order of the ledger, and between two readings time passes, so it does not matter how many come at once.
import { type EventFilter, type EventType, toEventKind } from "../events/event-types.ts";
import type { NewEvent } from "../events/new-event.ts";
import { type AlertFact, type Report, type ReportedAlert, toAlertEvent } from "./alert-events.ts";
import { type AlertStates, NO_ALERT_STATES } from "./alert-states.ts";
import type { AlertWords } from "./alert-words.ts";
import { clearAllCommands, clearCommands, listCommandTimes, noteCommand } from "./judge-commands.ts";
import { clearAllKills, clearKills, listKillTimes, noteKill } from "./judge-kills.ts";
import {
  clearAllCalls,
  listCallTimes,
  noteAnsweredCall,
  noteClaim,
  noteJoined,
  noteLeft,
  noteOpenedCall,
  passCalls,
  placeCallers,
} from "./judge-modcalls.ts";
import {
  alignState,
  clearCrowd,
  clearOutage,
  findCrowdTime,
  findOutageTime,
  noteState,
  passCrowd,
  passOutage,
  type ServerFacts,
} from "./judge-server.ts";
import { ALERT_RULES, type AlertRule, type AlertRules, hasRules } from "./rules.ts";

export type AlertInputs = {
  readonly rules: AlertRules;
  readonly states: AlertStates;
  /** What the ledger told since, oldest first. */
  readonly facts: readonly AlertFact[];
  /** What the newest reading told. */
  readonly server: ServerFacts;
  /** More facts follow, so what time alone changes is left for later. */
  readonly hasMore: boolean;
  readonly now: number;
};

/** `nextAt`: when time alone could change something; null for never. */
export type AlertJudgement = {
  readonly states: AlertStates;
  readonly events: readonly NewEvent[];
  readonly nextAt: number | null;
};

const RULE_CHANGED: AlertWords = { code: "rule_changed" };
const SERVER_REPLACED: AlertWords = { code: "server_replaced" };

/** The types of events that any rule looks at. */
const FACT_TYPES: readonly EventType[] = [
  "player.joined",
  "player.left",
  "player.killed",
  "command.used",
  "modcall.opened",
  "modcall.answered",
  "modcall.claimed",
  "modcall.released",
  "server.online",
  "server.offline",
  "server.unreachable",
];

/** What to read of the ledger. */
export const ALERT_FACTS: EventFilter = new Set([
  ...FACT_TYPES.map((type) => toEventKind(type)),
  // Tells that the game server was replaced.
  toEventKind("gap", "*"),
]);

export function judgeAlerts({ rules, states, facts, server, hasMore, now }: AlertInputs): AlertJudgement {
  const reported: ReportedAlert[] = [];
  const report: Report = (one) => reported.push(one);
  let after = takeRules(states, rules, server, now, report);
  let readingAt: number | undefined;
  for (const fact of facts) {
    // Facts of one reading belong together: time passes before them, not between them.
    if (fact.seenAt !== readingAt) after = passTime(after, server, fact.seenAt, report);
    readingAt = fact.seenAt;
    after = noteFact(after, fact, server, report);
  }
  if (!hasMore) after = passTime(judgeServer(after, server, now, report), server, now, report);
  const kept = isSame(states, after) ? states : after;
  const nextAt = hasMore ? now : findNext(kept, server, now);
  return { states: kept, events: reported.map((one) => toAlertEvent(one, now)), nextAt };
}

/** A rule that was changed or switched off clears its alerts, and begins anew. */
function takeRules(
  before: AlertStates,
  rules: AlertRules,
  { unknownMs }: ServerFacts,
  now: number,
  report: Report,
): AlertStates {
  const changed = new Set(ALERT_RULES.filter((rule) => !isSameRule(before.rules[rule], rules[rule])));
  if (changed.size === 0) return before;
  const isChanged = (rule: AlertRule) => changed.has(rule);
  const { killers, commands, calls, outage, below, above } = before;
  if (isChanged("players")) for (const span of [below, above]) clearCrowd(span, RULE_CHANGED, report);
  if (outage && isChanged(outage.state)) clearOutage(outage, RULE_CHANGED, report);
  const states = {
    rules,
    killers: isChanged("kills") ? clearAllKills(killers, RULE_CHANGED, report) : killers,
    commands: isChanged("mass_command") ? clearAllCommands(commands, RULE_CHANGED, report) : commands,
    calls: isChanged("unanswered_modcall") ? clearAllCalls(calls, RULE_CHANGED, report) : calls,
    outage: outage && isChanged(outage.state) ? { ...outage, since: now, unknownMs, isRaised: false } : outage,
    below: isChanged("players") ? null : below,
    above: isChanged("players") ? null : above,
  };
  return hasRules(rules) ? states : NO_ALERT_STATES;
}

function noteFact(states: AlertStates, fact: AlertFact, server: ServerFacts, report: Report): AlertStates {
  const { rules, killers, commands, calls } = states;
  if (fact.isBackfill) return states;
  switch (fact.type) {
    case "player.killed":
      return rules.kills ? { ...states, killers: noteKill(killers, rules.kills, fact, report) } : states;
    case "command.used":
      return rules.mass_command
        ? { ...states, commands: noteCommand(commands, rules.mass_command, fact, report) }
        : states;
    case "modcall.opened":
      return rules.unanswered_modcall ? { ...states, calls: noteOpenedCall(calls, fact, report) } : states;
    case "modcall.answered":
      return { ...states, calls: noteAnsweredCall(calls, fact, report) };
    case "player.left":
      return { ...states, calls: noteLeft(calls, fact) };
    case "player.joined":
      return { ...states, calls: noteJoined(calls, fact) };
    case "modcall.claimed":
    case "modcall.released":
      return { ...states, calls: noteClaim(calls, fact, fact.type === "modcall.claimed", report) };
    case "server.online":
    case "server.offline":
    case "server.unreachable":
      return noteServerState(states, fact, server, report);
    case "gap":
      return fact.data.reason === "server_replaced" ? forget(states, report) : states;
    default:
      return states;
  }
}

function noteServerState(states: AlertStates, fact: AlertFact, server: ServerFacts, report: Report): AlertStates {
  const state = fact.type.slice("server.".length) as "online" | "offline" | "unreachable";
  const calls = state === "offline" ? clearAllCalls(states.calls, { code: "is_offline" }, report) : states.calls;
  if (!isStateJudged(states)) return { ...states, calls };
  return { ...states, calls, outage: noteState(states.outage, state, fact, server, report) };
}

/** Another game server: nothing that was known counts for it. */
function forget({ rules, killers, commands, calls, outage, below, above }: AlertStates, report: Report) {
  clearAllKills(killers, SERVER_REPLACED, report);
  clearAllCommands(commands, SERVER_REPLACED, report);
  clearAllCalls(calls, SERVER_REPLACED, report);
  clearOutage(outage, SERVER_REPLACED, report);
  for (const span of [below, above]) clearCrowd(span, SERVER_REPLACED, report);
  return { ...NO_ALERT_STATES, rules };
}

function passTime(states: AlertStates, server: ServerFacts, time: number, report: Report): AlertStates {
  const { rules, killers, commands, calls, outage } = states;
  return {
    ...states,
    killers: rules.kills ? clearKills(killers, rules.kills, time, report) : killers,
    commands: clearCommands(commands, time, report),
    calls: rules.unanswered_modcall ? passCalls(calls, rules.unanswered_modcall, time, report) : calls,
    outage: passOutage(outage, rules, server, time, report),
  };
}

/** What the newest reading told, beside events. */
function judgeServer(states: AlertStates, server: ServerFacts, now: number, report: Report): AlertStates {
  const { players } = states.rules;
  const below = players ? passCrowd(states.below, "below", players, server, now, report) : states.below;
  const above = players ? passCrowd(states.above, "above", players, server, now, report) : states.above;
  const outage = isStateJudged(states) ? alignState(states.outage, server, now, report) : null;
  return { ...states, calls: placeCallers(states.calls, server), outage, below, above };
}

function isStateJudged({ rules }: AlertStates): boolean {
  return rules.offline !== undefined || rules.unreachable !== undefined;
}

function findNext(states: AlertStates, server: ServerFacts, now: number): number | null {
  const { rules, killers, commands, calls, outage, below, above } = states;
  const { kills, unanswered_modcall, players } = rules;
  const times = [
    ...(kills ? listKillTimes(killers, kills) : []),
    ...listCommandTimes(commands),
    ...(unanswered_modcall ? listCallTimes(calls, unanswered_modcall) : []),
    findOutageTime(outage, rules, server),
    ...(players ? [below, above].map((span) => findCrowdTime(span, players, server)) : []),
  ];
  // A time that has come already was judged with `now`.
  return times.reduce<number | null>((next, time) => {
    return time === undefined || time <= now || (next !== null && next <= time) ? next : time;
  }, null);
}

function isSame(before: AlertStates, after: AlertStates): boolean {
  return (Object.keys(after) as (keyof AlertStates)[]).every((field) => before[field] === after[field]);
}

/** Fields may come in another order. */
function isSameRule(a: object | undefined, b: object | undefined): boolean {
  const sort = (rule: object | undefined) => JSON.stringify(rule && Object.entries(rule).sort());
  return sort(a) === sort(b);
}
