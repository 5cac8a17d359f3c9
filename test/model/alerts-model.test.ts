// Alerts against a simple model that looks at everything again each second: whatever is judged at once or later, in however
// many parts and with restarts in between, the same alerts are raised and cleared.
import { expect, test } from "bun:test";
import type { AlertFact } from "../../src/core/alerts/alert-events.ts";
import { type AlertStates, NO_ALERT_STATES } from "../../src/core/alerts/alert-states.ts";
import { judgeAlerts } from "../../src/core/alerts/judge-alerts.ts";
import type { EventType } from "../../src/core/events/event-types.ts";
import { repeat } from "../long.ts";

const T0 = 1_800_000_000_000;
const SECONDS = 600;
const PLAYERS = ["A:1", "B:2", "C:3"];
const RULES = {
  kills: { count: 3, seconds: 20 },
  mass_command: { patterns: [":ban all"] },
  unanswered_modcall: { minutes: 1 },
  offline: { minutes: 1 },
  unreachable: { minutes: 2 },
};
type State = "online" | "offline" | "unreachable";
type Happening = {
  readonly second: number;
  readonly type: EventType;
  readonly data: Record<string, unknown>;
};

/** A sequence of numbers below 1 that is the same for the same seed. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function makeHistory(random: () => number): Happening[] {
  const pick = () => PLAYERS[Math.floor(random() * PLAYERS.length)] ?? "A:1";
  const happenings: Happening[] = [];
  const calls: { Caller: string; Timestamp: number }[] = [];
  let state: State = "online";
  for (let second = 1; second < SECONDS; second++) {
    const add = (type: EventType, data: Record<string, unknown>) => happenings.push({ second, type, data });
    if (random() < 0.25) add("player.killed", { Killer: pick(), Killed: pick() });
    if (random() < 0.02) add("command.used", { Player: pick(), Command: ":Ban  all" });
    if (random() < 0.02) {
      const call = { Caller: pick(), Timestamp: T0 / 1_000 + second };
      calls.push(call);
      add("modcall.opened", { ...call, Moderator: null });
    }
    if (random() < 0.01 && calls.length > 0) {
      const [call] = calls.splice(Math.floor(random() * calls.length), 1);
      add("modcall.answered", { ...call, Moderator: "M:9" });
    }
    if (random() < 0.01) add("player.left", { Player: pick() });
    if (random() < 0.008) add("player.joined", { Player: pick() });
    const claimed = calls[Math.floor(random() * calls.length)];
    const isClaim = random() < 0.6;
    if (random() < 0.015 && claimed) add(isClaim ? "modcall.claimed" : "modcall.released", { ...claimed });
    if (random() < 0.012) {
      const others = (["online", "offline", "unreachable"] as const).filter((one) => one !== state);
      state = others[Math.floor(random() * 2)] ?? "online";
      add(`server.${state}`, {});
    }
  }
  return happenings;
}

/** What is told of each rule and subject, in order: `+` for raised, `-` for cleared. */
type Told = Record<string, string>;

/** The model: every second it looks at all that has happened. */
function expectTold(history: readonly Happening[]): Told {
  const told: Told = {};
  const isRaised = new Set<string>();
  const set = (name: string, raised: boolean) => {
    if (raised === isRaised.has(name)) return;
    if (raised) isRaised.add(name);
    else isRaised.delete(name);
    told[name] = (told[name] ?? "") + (raised ? "+" : "-");
  };
  const open = new Map<string, { readonly at: number; leftAt: number | null; isClaimed: boolean }>();
  const recent: Happening[][] = Array.from({ length: SECONDS + 1 }, () => []);
  for (const one of history) recent[one.second]?.push(one);
  let state: State = "online";
  let since = 0;
  const judge = (second: number, mayRaise: boolean) => {
    const past = recent.slice(Math.max(0, second - 60), mayRaise ? second + 1 : second).flat();
    for (const player of PLAYERS) {
      const kills = past.filter(({ type, data, second: at }) => {
        const isOwn = type === "player.killed" && data.Killer === player && data.Killed !== player;
        return isOwn && at > second - RULES.kills.seconds;
      });
      if (kills.length < RULES.kills.count || mayRaise) set(`kills ${player}`, kills.length >= RULES.kills.count);
      const isUsed = past.some(({ type, data, second: at }) => {
        return type === "command.used" && data.Player === player && at > second - 60;
      });
      if (!isUsed || mayRaise) set(`mass_command ${player}`, isUsed);
    }
    for (const rule of ["offline", "unreachable"] as const)
      set(`${rule} server`, state === rule && second - since >= RULES[rule].minutes * 60);
  };
  const tellCall = (id: string, sign: string) => {
    const name = `unanswered_modcall ${id.split(" ")[0]}`;
    told[name] = (told[name] ?? "") + sign;
  };
  const waiting = new Set<string>();
  const setCall = (id: string, isRaised: boolean) => {
    if (isRaised === waiting.has(id)) return;
    if (isRaised) waiting.add(id);
    else waiting.delete(id);
    tellCall(id, isRaised ? "+" : "-");
  };
  const endCall = (id: string) => {
    setCall(id, false);
    open.delete(id);
  };
  for (let second = 0; second <= SECONDS; second++) {
    judge(second, false);
    for (const [id, { at, leftAt, isClaimed }] of open) {
      const isGone = leftAt !== null && second - leftAt >= 60;
      const isDue = second - at >= RULES.unanswered_modcall.minutes * 60;
      setCall(id, isDue && !isGone && !isClaimed);
    }
    for (const { type, data } of recent[second] ?? []) {
      const id = `${data.Caller} ${data.Timestamp}`;
      if (type === "modcall.opened") open.set(id, { at: second, leftAt: null, isClaimed: false });
      if (type === "modcall.answered") endCall(id);
      const call = open.get(id);
      if (call && type === "modcall.claimed") setCall(id, false);
      if (call && type.startsWith("modcall.")) call.isClaimed = type === "modcall.claimed";
      for (const [one, state] of [...open]) {
        const isOf = one.startsWith(`${data.Player} `);
        if (isOf && type === "player.left") state.leftAt ??= second;
        if (isOf && type === "player.joined") state.leftAt = null;
        if (type === "server.offline") endCall(one);
      }
      if (type.startsWith("server.")) {
        state = type.slice(7) as State;
        since = second;
      }
    }
    judge(second, true);
  }
  return told;
}

test("alerts are those of the model, however the ledger is judged", () => {
  for (let seed = 1; seed <= repeat({ usual: 20, long: 2_000 }); seed++) {
    const random = makeRandom(seed);
    const history = makeHistory(random);
    const facts = history.map(({ second, type, data }, number): AlertFact => {
      const at = T0 + second * 1_000;
      return { id: `e${number}`, type, at, seenAt: at, isBackfill: false, data };
    });
    const told: Told = {};
    let states: AlertStates = NO_ALERT_STATES;
    let nextAt: number | null = null;
    let done = 0;
    const laziness = random();
    for (let second = 0; second <= SECONDS; second++) {
      const now = T0 + second * 1_000;
      const isLast = second === SECONDS;
      const isTime = nextAt !== null && nextAt <= now && random() > laziness;
      if (!isLast && !isTime && random() < laziness) continue;
      const upTo = facts.filter(({ at }) => at <= now).length;
      const state = history.slice(0, upTo).findLast(({ type }) => type.startsWith("server."))?.type;
      const server = {
        state: (state?.slice(7) ?? "online") as State,
        validUntil: Number.POSITIVE_INFINITY,
        unknownMs: 0,
        count: null,
      };
      const judged = judgeAlerts({
        rules: RULES,
        states,
        facts: facts.slice(done, upTo),
        server,
        hasMore: false,
        now,
      });
      done = upTo;
      // As after a restart.
      states = random() < 0.3 ? JSON.parse(JSON.stringify(judged.states)) : judged.states;
      nextAt = judged.nextAt;
      for (const { type, data } of judged.events) {
        const { rule, subject } = JSON.parse(data);
        const name = `${rule} ${subject}`;
        told[name] = (told[name] ?? "") + (type === "alert.raised" ? "+" : "-");
      }
    }
    expect([seed, told]).toEqual([seed, expectTold(history)]);
  }
});
