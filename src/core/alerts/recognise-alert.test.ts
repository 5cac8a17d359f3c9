import { expect, test } from "bun:test";
import type { EventType } from "../events/event-types.ts";
import { type AlertFact, nameOf } from "./alert-events.ts";
import { NO_ALERT_STATES } from "./alert-states.ts";
import { judgeAlerts } from "./judge-alerts.ts";
import type { ServerFacts } from "./judge-server.ts";
import { recogniseAlert } from "./recognise-alert.ts";
import { type AlertRules, NO_ALERTS } from "./rules.ts";

const T0 = 1_800_000_000_000;
const RULES: AlertRules = {
  kills: { count: 2, seconds: 60 },
  mass_command: { patterns: [":ban all"] },
  unanswered_modcall: { minutes: 5 },
  offline: { minutes: 1 },
  unreachable: { minutes: 1 },
  players: { below: 5, above: 30, minutes: 1 },
};
let count = 0;

function fact(type: EventType, at: number, data: object): AlertFact {
  const time = T0 + at * 1_000;
  return { id: `${++count}`, type, at: time, seenAt: time, isBackfill: false, data: { ...data } };
}

/** What is recognised in everything that is told on the way through these steps. */
function recogniseAll(
  ...steps: readonly {
    readonly at: number;
    readonly facts?: readonly AlertFact[];
    readonly server?: Partial<ServerFacts>;
    readonly rules?: AlertRules;
  }[]
) {
  let states = NO_ALERT_STATES;
  let server: ServerFacts = {
    state: "online",
    vouchedUntil: Number.POSITIVE_INFINITY,
    unknownMs: 0,
    count: null,
  };
  const seen: unknown[] = [];
  for (const { at, facts = [], server: change, rules = RULES } of steps) {
    server = { ...server, ...change };
    const judged = judgeAlerts({ rules, states, facts, server, hasMore: false, now: T0 + at * 1_000 });
    states = judged.states;
    for (const { data } of judged.events) {
      const { rule, subject, text } = JSON.parse(data);
      seen.push(recogniseAlert(rule, text, nameOf({ subject })));
    }
  }
  return seen;
}

const players = (number: number, at: number): Partial<ServerFacts> => ({
  count: { players: number, at: T0 + at * 1_000, until: T0 + at * 1_000 + 600_000 },
});

test("every sentence that the rules tell is recognised", () => {
  const kill = (at: number) => fact("player.killed", at, { Killer: "B used :x:2", Killed: "Anna:1" });
  expect(recogniseAll({ at: 1, facts: [kill(0), kill(1)] }, { at: 100 })).toEqual([
    { name: "kills", count: 2, seconds: 60 },
    { name: "fewerKills", count: 2, seconds: 60 },
  ]);
  const used = fact("command.used", 0, { Player: "Mod used it:7", Command: ":ban all used it" });
  expect(recogniseAll({ at: 1, facts: [used] }, { at: 100 })).toEqual([
    { name: "used", command: ":ban all used it" },
    { name: "usedNoMore" },
  ]);
  const call = () => fact("modcall.opened", 0, { Caller: "Anna:1", Moderator: null, Timestamp: 1 });
  const answer = fact("modcall.answered", 400, { Caller: "Anna:1", Moderator: "Mod:7", Timestamp: 1 });
  const left = fact("player.left", 400, { Player: "Anna:1" });
  expect([
    ...recogniseAll({ at: 0, facts: [call()] }, { at: 300 }, { at: 400, facts: [answer] }),
    ...recogniseAll({ at: 0, facts: [call()] }, { at: 300 }, { at: 400, facts: [left] }),
    ...recogniseAll({ at: 0, facts: [call()] }, { at: 300 }, { at: 90_000 }),
    ...recogniseAll({ at: 0, facts: [call()] }, { at: 300 }, { at: 400, rules: NO_ALERTS }),
  ]).toEqual([
    ...[{ name: "unanswered", minutes: 5 }, { name: "answered" }],
    ...[{ name: "unanswered", minutes: 5 }, { name: "left" }],
    ...[{ name: "unanswered", minutes: 5 }, { name: "nobodyForADay" }],
    ...[{ name: "unanswered", minutes: 5 }, { name: "ruleChanged" }],
  ]);
  const state = (name: "online" | "offline" | "unreachable", at: number) => ({
    at,
    facts: [fact(`server.${name}`, at, {})],
    server: { state: name },
  });
  expect(
    recogniseAll(
      state("offline", 0),
      { at: 60 },
      state("unreachable", 70),
      { at: 200 },
      state("online", 300),
    ),
  ).toEqual([
    { name: "offline", minutes: 1 },
    { name: "isUnreachable" },
    { name: "unreachable", minutes: 1 },
    { name: "isOnline" },
  ]);
  expect(
    recogniseAll(
      { at: 0, server: players(3, 0) },
      { at: 60, server: players(1, 60) },
      { at: 70, server: players(40, 70) },
      { at: 130, server: players(40, 130) },
    ),
  ).toEqual([
    { name: "below", limit: 5, minutes: 1, count: 1 },
    { name: "playersNow", count: 40 },
    { name: "above", limit: 30, minutes: 1, count: 40 },
  ]);
});

test("a sentence of a later Gatehouse is not guessed at", () => {
  expect(recogniseAlert("kills", "Bob did something else.", "Bob")).toBeUndefined();
  expect(recogniseAlert("new_rule", "Bob used :x", "Bob")).toBeUndefined();
  expect(recogniseAlert("constructor", "Bob used :x", "Bob")).toBeUndefined();
});

test("a command that ends like another sentence is still told", () => {
  const command = ":ban all used no such command for 60 seconds.";
  expect(recogniseAlert("mass_command", `Bob used ${command}`, "Bob")).toEqual({ name: "used", command });
});
