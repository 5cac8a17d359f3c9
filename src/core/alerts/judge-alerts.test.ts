import { describe, expect, test } from "bun:test";
import type { EventType } from "../events/event-types.ts";
import { forgetInAlerts } from "../events/forget-memory.ts";
import { PlayerEraser } from "../events/forget-player.ts";
import type { AlertFact } from "./alert-events.ts";
import { type AlertMemory, type AlertStates, CALLS_MAX, KILLERS_MAX, NO_ALERT_STATES } from "./alert-states.ts";
import { judgeAlerts } from "./judge-alerts.ts";
import { isMassCommand } from "./judge-commands.ts";
import type { ServerFacts } from "./judge-server.ts";
import { type AlertRules, findRuleProblems, NO_ALERTS, SUGGESTED_ALERTS } from "./rules.ts";

const T0 = 1_800_000_000_000;
const MINUTE = 60;

/** One server. Times are seconds since T0. */
class Stage {
  rules: AlertRules;
  states: AlertStates = NO_ALERT_STATES;
  nextAt: number | null = null;
  server: ServerFacts = {
    state: "online",
    validUntil: Number.POSITIVE_INFINITY,
    unknownMs: 0,
    count: null,
  };
  #facts = 0;

  constructor(rules: AlertRules) {
    this.rules = rules;
  }

  fact(type: EventType, at: number, data: object, changes: Partial<AlertFact> = {}): AlertFact {
    const time = T0 + at * 1_000;
    const id = `event-${++this.#facts}`;
    return { id, type, at: time, seenAt: time, isBackfill: false, data: { ...data }, ...changes };
  }

  kill(at: number, Killer: string | null = "Bob:2", Killed = "Anna:1"): AlertFact {
    return this.fact("player.killed", at, { Killer, Killed });
  }

  /** What is told when these facts are judged at this time. */
  judge(at: number, ...facts: AlertFact[]): string[] {
    return this.judgeAll(at, facts).map(({ type, data }) => {
      const { rule, subject, text } = JSON.parse(data);
      return `${type.slice("alert.".length)} ${rule} ${subject}: ${text}`;
    });
  }

  judgeAll(at: number, facts: readonly AlertFact[]) {
    const { rules, states, server } = this;
    const now = T0 + at * 1_000;
    const judged = judgeAlerts({ rules, states, facts, server, hasMore: false, now });
    this.states = judged.states;
    this.nextAt = judged.nextAt === null ? null : (judged.nextAt - T0) / 1_000;
    return judged.events;
  }

  /** How many players there are from now on, valid for one minute. */
  count(players: number, at: number): this {
    const time = T0 + at * 1_000;
    this.server = { ...this.server, count: { players, at: time, until: time + 60_000 } };
    return this;
  }
}

describe("kills", () => {
  const rules = { kills: { count: 3, seconds: 10 } };

  test("are told once when there are enough in the window, and cleared when it has fewer", () => {
    const stage = new Stage(rules);
    expect(stage.judge(1, stage.kill(0), stage.kill(1))).toEqual([]);
    const [raised] = stage.judgeAll(2, [stage.kill(2)]);
    expect(raised).toMatchObject({
      type: "alert.raised",
      at: T0 + 2_000,
      source: "gateway",
      section: "KillLogs",
      data: '{"rule":"kills","subject":"Bob:2","text":"Bob killed 3 players within 10 seconds."}',
      meta: '{"events":["event-1","event-2","event-3"],"code":"kills","values":{"count":3,"seconds":10}}',
      players: ["2"],
    });
    expect(stage.judge(3, stage.kill(3))).toEqual([]);
    // The second kill leaves the window, and two are left.
    expect([stage.nextAt, stage.judge(10.9)]).toEqual([11, []]);
    expect(stage.judge(11)).toEqual(["cleared kills Bob:2: Bob has fewer than 3 kills within 10 seconds."]);
    expect([stage.nextAt, stage.judge(60)]).toEqual([null, []]);
  });

  test("of several players, suicides, kills without a killer and backfill do not count together", () => {
    const stage = new Stage(rules);
    const old = { ...stage.kill(2), isBackfill: true };
    const facts = [stage.kill(1), stage.kill(1), old, stage.kill(2, "Anna:1"), stage.kill(2, "Cid:3")];
    expect(stage.judge(2, ...facts, stage.kill(2, "Bob:2", "Bob:2"), stage.kill(2, null))).toEqual([]);
    expect(stage.judge(2, stage.kill(2, ""), stage.kill(2, "Renamed:2"))).toHaveLength(1);
  });

  test("that a late reading shows count by the game's times, in any order, and the alert is over at once", () => {
    const stage = new Stage(rules);
    const seenAt = T0 + 50_000;
    const late = (at: number) => ({ ...stage.kill(at), seenAt });
    expect(stage.judge(50, late(0), late(4), late(20), late(2))).toEqual([
      "raised kills Bob:2: Bob killed 3 players within 10 seconds.",
      "cleared kills Bob:2: Bob has fewer than 3 kills within 10 seconds.",
    ]);
    // Those that were told do not count again.
    expect(stage.judge(51, { ...late(3), seenAt: T0 + 51_000 })).toEqual([]);
  });

  test("spread over readings count together", () => {
    const stage = new Stage(rules);
    stage.judge(30, { ...stage.kill(28), seenAt: T0 + 30_000 });
    const seenAt = T0 + 150_000;
    const told = stage.judge(150, { ...stage.kill(30), seenAt }, { ...stage.kill(31), seenAt });
    expect(told[0]).toStartWith("raised");
  });

  test("of very many players are bounded, and what is dropped while raised is cleared", () => {
    const stage = new Stage({ kills: { count: 2, seconds: 3_600 } });
    const told: string[] = [];
    for (let n = 1; n <= KILLERS_MAX + 5; n++)
      told.push(...stage.judge(n, stage.kill(n, `P:${n}`, "X:999"), stage.kill(n, `P:${n}`, "X:999")));
    expect(stage.states.killers).toHaveLength(KILLERS_MAX);
    expect(told.filter((one) => one.startsWith("cleared"))).toHaveLength(5);
    // A new one is never dropped: it may be the next to raise an alert. Later it goes first.
    expect(stage.judge(200, stage.kill(200, "Y:777", "X:999"))).toHaveLength(1);
    expect(stage.judge(201, stage.kill(201, "Z:888", "X:999"))).toEqual([]);
    for (let n = 0; n < 300; n++) stage.judge(201, stage.kill(201, "P:50", "X:999"));
    expect(stage.states.killers.reduce((sum, { kills }) => sum + kills.length, 0)).toBeLessThan(400);
  });
});

describe("a mass command", () => {
  const rules = { mass_command: { patterns: [":Ban  all", ":kick others"] } };

  test.each([
    [":ban all", true],
    ["  :BAN \t ALL reason", true],
    [":ban allison", true],
    [":kick  Others", true],
    [":ban Anna", false],
    [":pm all :ban all", false],
    [":ban", false],
  ])("%p fits a pattern: %p", (command, isMass) => {
    expect(isMassCommand(command, rules.mass_command)).toBe(isMass);
  });

  test("is told once for each player, and is over 60 seconds after the last", () => {
    const stage = new Stage(rules);
    const use = (at: number, Player = "Mod:7", Command = ":ban all") =>
      stage.fact("command.used", at, { Player, Command });
    expect(stage.judge(0, use(0), use(0, "Remote Server"))).toEqual([
      "raised mass_command Mod:7: Mod used :ban all",
      "raised mass_command Remote Server: Remote Server used :ban all",
    ]);
    expect(stage.judge(30, use(30), use(30, "Mod:7", ":h hello"))).toEqual([]);
    expect(stage.judge(60)).toEqual([
      "cleared mass_command Remote Server: Remote Server used no such command for 60 seconds.",
    ]);
    expect(stage.nextAt).toBe(90);
    const [cleared] = stage.judgeAll(90, []);
    expect(cleared).toMatchObject({
      section: "CommandLogs",
      meta: '{"events":["event-1","event-3"],"code":"used_no_more","values":{}}',
    });
    expect(stage.judge(91, use(91))).toHaveLength(1);
  });

  test("with a text of any length stays short", () => {
    const stage = new Stage(rules);
    const Command = `:ban all ${"🚓".repeat(5_000)}`;
    const [event] = stage.judgeAll(0, [stage.fact("command.used", 0, { Player: `${"n".repeat(5_000)}:7`, Command })]);
    expect(event?.data.length).toBeLessThan(1_000);
    expect(JSON.parse(event?.data ?? "").subject).toEndWith(":7");
  });
});

describe("a call for a moderator that nobody answers", () => {
  const rules = { unanswered_modcall: { minutes: 5 } };
  const RAISED = "raised unanswered_modcall Anna:1: Nobody has answered Anna's call for a moderator for 5 minutes.";
  const call = (stage: Stage, at: number, Moderator: string | null = null) =>
    stage.fact(Moderator ? "modcall.answered" : "modcall.opened", at, {
      Caller: "Anna:1",
      Moderator,
      Timestamp: T0 / 1_000,
    });

  test("is told when its time has come, once, and cleared by the answer", () => {
    const stage = new Stage(rules);
    expect([stage.judge(5, call(stage, 0)), stage.nextAt]).toEqual([[], 300]);
    expect(stage.judge(299)).toEqual([]);
    expect(stage.judge(300)).toEqual([RAISED]);
    expect(stage.judge(400)).toEqual([]);
    expect(stage.judge(410, call(stage, 410, "Mod:7"))).toEqual([
      "cleared unanswered_modcall Anna:1: The call was answered.",
    ]);
    expect(stage.states.calls).toEqual([]);
  });

  test("is cleared by the answer when its caller was forgotten meanwhile, and not told of when it was not yet", () => {
    const eraser = new PlayerEraser({ id: "1", names: ["Anna"] });
    for (const at of [299, 300]) {
      const stage = new Stage(rules);
      stage.judge(5, call(stage, 0));
      stage.judge(at);
      stage.states = forgetInAlerts({ place: null, states: stage.states }, "1", eraser).states;
      expect([...stage.judge(301), ...stage.judge(400)]).toEqual([]);
      expect(stage.judge(410, call(stage, 410, "Mod:7"))).toEqual(
        at === 300 ? ["cleared unanswered_modcall deleted:0: The call was answered."] : [],
      );
      expect(stage.states.calls).toEqual([]);
    }
  });

  const CLEARED = "cleared unanswered_modcall Anna:1:";
  const goes = (stage: Stage, at: number, isJoin = false, Player = "Anna:1") =>
    stage.fact(isJoin ? "player.joined" : "player.left", at, { Player });

  test("is not told when it is answered in time, or the caller left a minute ago", () => {
    const stage = new Stage(rules);
    stage.judge(0, call(stage, 0), call(stage, 100, "Mod:7"));
    expect(stage.states.calls).toEqual([]);
    stage.judge(100, { ...call(stage, 100), data: { Caller: "Bob:2", Moderator: null, Timestamp: 1 } });
    stage.judge(350, goes(stage, 335, false, "Bob:2"));
    expect(stage.judge(405)).toEqual([]);
    // This one left and came back before calling.
    const other = new Stage(rules);
    other.judge(100, { ...call(other, 100), data: { Caller: "Bob:2", Moderator: null, Timestamp: 1 } });
    other.judge(101, { ...goes(other, 50, false, "Bob:2"), seenAt: T0 + 101_000 });
    expect(other.judge(400)).toHaveLength(1);
  });

  test("is over a minute after the caller left, and told again when the caller is back", () => {
    const stage = new Stage(rules);
    stage.judge(0, call(stage, 0));
    stage.judge(300);
    expect([stage.judge(301, goes(stage, 301)), stage.nextAt]).toEqual([[], 361]);
    expect(stage.judge(360)).toEqual([]);
    expect(stage.judge(361)).toEqual([`${CLEARED} Anna has left the server.`]);
    expect(stage.judge(400)).toEqual([]);
    expect(stage.judge(401, goes(stage, 401, true))).toEqual([RAISED]);
    // Within the minute it stays.
    expect(stage.judge(430, goes(stage, 410), goes(stage, 430, true))).toEqual([]);
    expect(stage.judge(500)).toEqual([]);
  });

  test("is over when readings do not show the caller for a minute, also without an entry in the log", () => {
    const stage = new Stage(rules);
    stage.judge(0, call(stage, 0));
    stage.judge(300);
    stage.server = { ...stage.server, goneSince: (player) => (player === "1" ? T0 + 310_000 : null) };
    expect([stage.judge(320), stage.nextAt]).toEqual([[], 370]);
    expect(stage.judge(370)).toEqual([`${CLEARED} Anna has left the server.`]);
    stage.server = { ...stage.server, goneSince: () => null };
    expect(stage.judge(400)).toEqual([RAISED]);
  });

  test("is over when somebody claims it, not told while claimed, and told again when it is released", () => {
    const stage = new Stage(rules);
    const claim = (at: number, isClaimed = true) => {
      const data = { Caller: "Anna:1", Moderator: null, Timestamp: T0 / 1_000 };
      return stage.fact(isClaimed ? "modcall.claimed" : "modcall.released", at, data);
    };
    stage.judge(0, call(stage, 0));
    stage.judge(100, claim(100));
    expect(stage.judge(300)).toEqual([]);
    expect(stage.judge(310, claim(310, false))).toEqual([RAISED]);
    expect(stage.judge(320, claim(320))).toEqual([`${CLEARED} Somebody is on the way.`]);
    expect(stage.judge(330, claim(330, false), claim(330))).toEqual([]);
    expect(stage.judge(340, call(stage, 340, "Mod:7"))).toEqual([]);
    expect(stage.states.calls).toEqual([]);
  });

  test("is over when the server goes offline", () => {
    const stage = new Stage(rules);
    stage.judge(0, call(stage, 0));
    stage.judge(300);
    expect(stage.judge(301, stage.fact("server.offline", 301, {}))).toEqual([`${CLEARED} The server is offline.`]);
  });

  test("is over after an hour", () => {
    const stage = new Stage(rules);
    stage.judge(0, call(stage, 0));
    stage.judge(300);
    expect(stage.nextAt).toBe(3_600);
    expect(stage.judge(3_600)).toEqual([`${CLEARED} Nobody answered for an hour.`]);
    expect([stage.states.calls, stage.nextAt]).toEqual([[], null]);
  });

  test("is one of a bounded number, and those that are told go last", () => {
    const stage = new Stage(rules);
    stage.judge(0, call(stage, 0));
    expect(stage.judge(300)).toEqual([RAISED]);
    for (let n = 0; n < CALLS_MAX + 10; n++) stage.judge(301, call(stage, 301));
    expect(stage.states.calls).toHaveLength(CALLS_MAX);
    expect(stage.states.calls[0]?.isRaised).toBe(true);
  });
});

describe("an outage", () => {
  test("is told when it has lasted, once, and cleared by the next state", () => {
    const stage = new Stage({ offline: { minutes: 10 }, unreachable: { minutes: 1 } });
    const state = (at: number, name: "online" | "offline" | "unreachable") => {
      stage.server = { ...stage.server, state: name };
      return stage.fact(`server.${name}`, at, {});
    };
    expect(stage.judge(0)).toEqual([]);
    expect([stage.judge(1, state(1, "offline")), stage.nextAt]).toEqual([[], 601]);
    expect(stage.judge(601)).toEqual(["raised offline server: The server has been offline for 10 minutes."]);
    expect(stage.judge(700, state(700, "unreachable"))).toEqual([
      "cleared offline server: The server cannot be reached.",
    ]);
    const [raised] = stage.judgeAll(760, []);
    expect(raised).toMatchObject({
      section: null,
      players: [],
      meta: '{"events":["event-2"],"code":"unreachable","values":{"minutes":1}}',
    });
    expect(stage.judge(800, state(800, "online"))).toEqual(["cleared unreachable server: The server is online."]);
    expect(stage.states.outage).toBeNull();
  });

  test("that lasted before the rule was set counts from then on", () => {
    const stage = new Stage({ offline: { minutes: 10 } });
    stage.server = { ...stage.server, state: "offline" };
    stage.judge(100);
    expect(stage.judge(699)).toEqual([]);
    expect(stage.judge(700)).toHaveLength(1);
  });

  test("counts anew from a change of its rule, whatever was unknown before", () => {
    const stage = new Stage({ offline: { minutes: 10 } });
    stage.server = { ...stage.server, state: "offline" };
    stage.judge(0, stage.fact("server.offline", 0, {}));
    stage.server = { ...stage.server, unknownMs: 4_000_000 };
    stage.rules = { offline: { minutes: 5 } };
    stage.judge(5_000);
    expect(stage.judge(5_299)).toEqual([]);
    expect(stage.judge(5_300)).toHaveLength(1);
  });

  test("does not count time for which no reading is valid", () => {
    const stage = new Stage({ offline: { minutes: 10 } });
    const offline = { ...stage.server, state: "offline" as const };
    stage.server = { ...offline, validUntil: T0 + 60_000 };
    stage.judge(0, stage.fact("server.offline", 0, {}));
    expect([stage.judge(5_000), stage.nextAt]).toEqual([[], null]);
    // The next reading came after 5,000 seconds, of which 60 were known.
    stage.server = { ...offline, validUntil: T0 + 5_060_000, unknownMs: 4_940_000 };
    expect(stage.judge(5_000)).toEqual([]);
    stage.server = { ...offline, validUntil: T0 + 6_000_000, unknownMs: 4_940_000 };
    expect(stage.judge(5_539)).toEqual([]);
    expect(stage.judge(5_540)).toHaveLength(1);
  });
});

describe("too few or too many players", () => {
  const rules = { players: { below: 5, above: 30, minutes: 2 } };

  test("are told apart when it has lasted, and cleared by a count that fits", () => {
    const stage = new Stage(rules);
    stage.count(3, 0).judge(0);
    expect([stage.count(4, 60).judge(60), stage.nextAt]).toEqual([[], 120]);
    expect(stage.judge(120)).toEqual(["raised players server: Fewer than 5 players for 2 minutes: 4 players now."]);
    expect(stage.count(1, 150).judge(150)).toEqual([]);
    expect(stage.count(31, 160).judge(160)).toEqual(["cleared players server: 31 players now."]);
    stage.count(35, 220).judge(220);
    expect(stage.count(40, 280).judge(280)).toEqual([
      "raised players server: More than 30 players for 2 minutes: 40 players now.",
    ]);
    expect(stage.count(30, 290).judge(290)).toHaveLength(1);
  });

  test("begin anew after a count that fits", () => {
    const stage = new Stage(rules);
    stage.count(3, 0).judge(0);
    stage.count(5, 60).judge(60);
    expect(stage.count(3, 100).judge(100)).toEqual([]);
    expect(stage.count(3, 160).judge(219)).toEqual([]);
    expect(stage.judge(220)).toHaveLength(1);
  });

  test("are not known without readings", () => {
    const stage = new Stage(rules);
    stage.count(3, 0).judge(0);
    expect([stage.judge(10_000), stage.nextAt]).toEqual([[], null]);
    stage.server = { ...stage.server, unknownMs: 9_940_000 };
    expect(stage.count(3, 10_000).judge(10_000)).toEqual([]);
    expect(stage.judge(10_060)).toHaveLength(1);
  });

  test("do not begin with a reading that says nothing about now", () => {
    const stage = new Stage({ players: { below: 5, minutes: 1 } });
    expect(stage.count(0, 0).judge(3_600)).toEqual([]);
    expect(stage.count(0, 3_700).judge(3_700)).toEqual([]);
    expect(stage.judge(3_760)).toHaveLength(1);
  });
});

describe("a change", () => {
  const full = {
    kills: { count: 2, seconds: 60 },
    mass_command: { patterns: [":ban all"] },
    unanswered_modcall: { minutes: 1 },
    offline: { minutes: 1 },
    players: { below: 5, minutes: 1 },
  };

  /** A server with every alert raised. */
  function raiseAll(): Stage {
    const stage = new Stage(full);
    stage.server = { ...stage.server, state: "offline" };
    const facts = [
      stage.fact("server.offline", 0, {}),
      stage.fact("modcall.opened", 0, { Caller: "Anna:1", Moderator: null, Timestamp: T0 / 1_000 }),
      stage.kill(55),
      stage.kill(56),
      stage.fact("command.used", 56, { Player: "Mod:7", Command: ":ban all" }),
    ];
    stage.count(3, 0).judge(0);
    expect(stage.count(3, 55).judge(60, ...facts)).toHaveLength(5);
    return stage;
  }

  test.each(Object.keys(full) as (keyof typeof full)[])("of the rule %s clears its alert only", (rule) => {
    const stage = raiseAll();
    const { [rule]: _, ...rest } = full;
    stage.rules = rest;
    const told = stage.judge(61);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(new RegExp(`^cleared ${rule} .*: The rule was changed.$`));
    // Set again, it begins anew.
    stage.rules = full;
    expect(stage.judge(62)).toEqual([]);
  });

  test("to no rules at all leaves nothing behind", () => {
    const stage = raiseAll();
    stage.rules = NO_ALERTS;
    expect(stage.judge(61)).toHaveLength(5);
    expect([stage.states, stage.nextAt]).toEqual([NO_ALERT_STATES, null]);
  });

  test("of the order of fields is none", () => {
    const stage = raiseAll();
    const { states } = stage;
    stage.rules = { ...full, kills: { seconds: 60, count: 2 } };
    expect(stage.judge(61)).toEqual([]);
    expect(stage.states).toBe(states);
  });

  test("of the game server clears everything", () => {
    const stage = raiseAll();
    const gap = stage.fact("gap", 61, { section: "*", reason: "server_replaced" });
    expect(stage.judge(61, gap)).toHaveLength(5);
    expect(stage.judge(61, stage.fact("gap", 61, { section: "*", reason: "not_watched" }))).toEqual([]);
  });

  test("of nothing changes nothing, so that nothing is written", () => {
    const stage = raiseAll();
    const { states } = stage;
    const facts = [stage.kill(62, "Cid:3", "Cid:3"), stage.fact("player.left", 62, { Player: "Eve:5" })];
    expect(stage.judge(62, ...facts)).toEqual([]);
    expect(stage.states).toBe(states);
  });

  test("a forgotten player is in no state, and the alerts are cleared all the same", () => {
    const stage = raiseAll();
    let memory: AlertMemory = { place: null, states: stage.states };
    for (const [id, name] of Object.entries({ 1: "Anna", 2: "Bob", 7: "Mod" })) {
      const eraser = new PlayerEraser({ id, names: [name] });
      memory = forgetInAlerts(memory, id, eraser);
      expect(forgetInAlerts(memory, id, eraser)).toBe(memory);
    }
    expect(JSON.stringify(memory)).not.toMatch(/Anna|Bob|Mod:|:[127]"|"[127]"/);
    stage.states = memory.states;
    expect(stage.judge(61)).toEqual([]);
    const told = stage.judgeAll(2 * 86_400, []);
    expect(told.map(({ data }) => JSON.parse(data).subject)).toEqual(Array(3).fill("deleted:0"));
    expect(told.flatMap(({ players }) => players)).toEqual([]);
  });
});

test("data of any other shape is no obstacle", () => {
  const stage = new Stage(SUGGESTED_ALERTS);
  const types = ["player.killed", "command.used", "modcall.opened", "modcall.answered", "player.left", "gap"];
  const shapes = [{}, { Killer: 5, Player: [], Caller: {}, Command: null, Timestamp: "x" }, { Killer: "" }];
  for (const type of types as EventType[])
    for (const data of shapes) expect(stage.judge(MINUTE, stage.fact(type, 0, data))).toEqual([]);
});

test("a rule that makes no sense is found, and the suggestions make sense", () => {
  expect(findRuleProblems(SUGGESTED_ALERTS)).toEqual({});
  expect(findRuleProblems({ players: { below: 5, above: 5, minutes: 1 } })).toEqual({});
  expect(Object.keys(findRuleProblems({ players: { minutes: 1 } }))).toEqual(["players"]);
  expect(Object.keys(findRuleProblems({ players: { below: 6, above: 5, minutes: 1 } }))).toEqual(["players"]);
  expect(Object.keys(findRuleProblems({ mass_command: { patterns: [":x", " "] } }))).toEqual(["mass_command"]);
});
