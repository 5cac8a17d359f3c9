import { expect, test } from "bun:test";
import type { EventType } from "../events/event-types.ts";
import type { AlertFact } from "./alert-events.ts";
import { NO_ALERT_STATES } from "./alert-states.ts";
import { judgeAlerts } from "./judge-alerts.ts";
import type { ServerFacts } from "./judge-server.ts";
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

/** The code and the values of every alert on the way through these steps. */
function listWords(
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
    validUntil: Number.POSITIVE_INFINITY,
    unknownMs: 0,
    count: null,
  };
  const seen: unknown[] = [];
  for (const { at, facts = [], server: change, rules = RULES } of steps) {
    server = { ...server, ...change };
    const judged = judgeAlerts({ rules, states, facts, server, hasMore: false, now: T0 + at * 1_000 });
    states = judged.states;
    for (const { meta } of judged.events) {
      const { code, values } = JSON.parse(meta ?? "{}");
      seen.push({ code, ...values });
    }
  }
  return seen;
}

const players = (number: number, at: number): Partial<ServerFacts> => ({
  count: { players: number, at: T0 + at * 1_000, until: T0 + at * 1_000 + 600_000 },
});

test("every alert carries its code and values", () => {
  const kill = (at: number) => fact("player.killed", at, { Killer: "B used :x:2", Killed: "Anna:1" });
  expect(listWords({ at: 1, facts: [kill(0), kill(1)] }, { at: 100 })).toEqual([
    { code: "kills", count: 2, seconds: 60 },
    { code: "fewer_kills", count: 2, seconds: 60 },
  ]);
  const used = fact("command.used", 0, { Player: "Mod used it:7", Command: ":ban all used it" });
  expect(listWords({ at: 1, facts: [used] }, { at: 100 })).toEqual([
    { code: "used", command: ":ban all used it" },
    { code: "used_no_more" },
  ]);
  const call = () => fact("modcall.opened", 0, { Caller: "Anna:1", Moderator: null, Timestamp: 1 });
  const answer = fact("modcall.answered", 400, { Caller: "Anna:1", Moderator: "Mod:7", Timestamp: 1 });
  const claim = fact("modcall.claimed", 400, { Caller: "Anna:1", Moderator: null, Timestamp: 1 });
  const left = fact("player.left", 400, { Player: "Anna:1" });
  expect([
    ...listWords({ at: 0, facts: [call()] }, { at: 300 }, { at: 400, facts: [answer] }),
    ...listWords({ at: 0, facts: [call()] }, { at: 300 }, { at: 400, facts: [left] }, { at: 460 }),
    ...listWords({ at: 0, facts: [call()] }, { at: 300 }, { at: 400, facts: [claim] }),
    ...listWords({ at: 0, facts: [call()] }, { at: 300 }, { at: 90_000 }),
    ...listWords({ at: 0, facts: [call()] }, { at: 300 }, { at: 400, rules: NO_ALERTS }),
  ]).toEqual([
    ...[{ code: "unanswered", minutes: 5 }, { code: "answered" }],
    ...[{ code: "unanswered", minutes: 5 }, { code: "left" }],
    ...[{ code: "unanswered", minutes: 5 }, { code: "claimed" }],
    ...[{ code: "unanswered", minutes: 5 }, { code: "expired" }],
    ...[{ code: "unanswered", minutes: 5 }, { code: "rule_changed" }],
  ]);
  const state = (name: "online" | "offline" | "unreachable", at: number) => ({
    at,
    facts: [fact(`server.${name}`, at, {})],
    server: { state: name },
  });
  expect(
    listWords(state("offline", 0), { at: 60 }, state("unreachable", 70), { at: 200 }, state("online", 300)),
  ).toEqual([
    { code: "offline", minutes: 1 },
    { code: "is_unreachable" },
    { code: "unreachable", minutes: 1 },
    { code: "is_online" },
  ]);
  expect(
    listWords(
      { at: 0, server: players(3, 0) },
      { at: 60, server: players(1, 60) },
      { at: 70, server: players(40, 70) },
      { at: 130, server: players(40, 130) },
    ),
  ).toEqual([
    { code: "below", limit: 5, minutes: 1, count: 1 },
    { code: "players_now", count: 40 },
    { code: "above", limit: 30, minutes: 1, count: 40 },
  ]);
});
