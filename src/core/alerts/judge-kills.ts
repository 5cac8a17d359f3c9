// The rule `kills`: somebody kills many players in a short time. The window is over the times that the game tells, so that a
// reading that comes late counts like one that comes at once.
import { type AlertFact, isSameSubject, type Report, toSubject } from "./alert-events.ts";
import { ALERT_EVENTS_MAX, cutOldest, KILLERS_MAX, KILLS_MAX, type Kill, type KillerState } from "./alert-states.ts";
import type { AlertWords } from "./alert-words.ts";
import type { AlertRules } from "./rules.ts";

type Rule = NonNullable<AlertRules["kills"]>;
type Killers = readonly KillerState[];

/** Kills are remembered for this long beyond the window, because the next reading may show older ones. */
const LATE_MS = 300_000;

export function noteKill(killers: Killers, rule: Rule, fact: AlertFact, report: Report): Killers {
  const { Killer, Killed } = fact.data;
  const killer = toSubject(Killer);
  const killed = toSubject(Killed);
  if (!killer || (killed && isSameSubject(killer, killed))) return killers;
  const known = killers.find((one) => isSameSubject(one, killer)) ?? { ...killer, kills: [], raised: null };
  const kill: Kill = [Math.min(fact.at, fact.seenAt), fact.id];
  const kills = addKill(known.kills, kill, rule);
  const spree = known.raised ? undefined : findSpree(kills, kill, rule);
  if (spree) {
    const words: AlertWords = { code: "kills", count: spree.length, seconds: rule.seconds };
    const events = spree.map(([, id]) => id).slice(-ALERT_EVENTS_MAX);
    report({ type: "alert.raised", rule: "kills", ...killer, words, events });
    return bound([...without(killers, known), { ...killer, kills, raised: events }], fact, rule, report);
  }
  return bound([...without(killers, known), { ...known, ...killer, kills }], fact, rule, report);
}

/** Clears the alerts whose window has fewer kills at this time. */
export function clearKills(killers: Killers, rule: Rule, time: number, report: Report): Killers {
  const after = killers.map((killer) => {
    if (!killer.raised) return killer;
    const kills = killer.kills.filter(([at]) => at > time - rule.seconds * 1_000);
    if (kills.length >= rule.count) return killer;
    reportCleared(killer, { code: "fewer_kills", count: rule.count, seconds: rule.seconds }, report);
    return { ...killer, kills, raised: null };
  });
  return after.some((killer, index) => killer !== killers[index]) ? after : killers;
}

export function clearAllKills(killers: Killers, words: AlertWords, report: Report): Killers {
  for (const killer of killers) reportCleared(killer, words, report);
  return [];
}

/** When raised alerts clear, if nothing happens. */
export function listKillTimes(killers: Killers, rule: Rule): number[] {
  return killers.flatMap(({ kills, raised }) => {
    const last = kills.at(-rule.count);
    return raised && last ? [last[0] + rule.seconds * 1_000] : [];
  });
}

function addKill(kills: readonly Kill[], kill: Kill, rule: Rule): readonly Kill[] {
  const sorted = [...kills, kill].sort((a, b) => a[0] - b[0]);
  return dropOld(sorted, sorted.at(-1)?.[0] ?? 0, rule).slice(-ALERT_EVENTS_MAX);
}

function dropOld(kills: readonly Kill[], time: number, { seconds }: Rule): readonly Kill[] {
  const oldest = time - seconds * 1_000 - LATE_MS;
  return kills.some(([at]) => at <= oldest) ? kills.filter(([at]) => at > oldest) : kills;
}

/** The kills of a window that has enough of them, this one among them. */
function findSpree(kills: readonly Kill[], kill: Kill, { count, seconds }: Rule): readonly Kill[] | undefined {
  const place = kills.indexOf(kill);
  for (let first = Math.max(0, place - count + 1); first <= place; first++) {
    const from = kills[first]?.[0] ?? 0;
    const last = kills[first + count - 1];
    if (last && last[0] < from + seconds * 1_000)
      return kills.filter(([at]) => at >= from && at < from + seconds * 1_000);
  }
  return undefined;
}

function bound(killers: Killers, { seenAt }: AlertFact, rule: Rule, report: Report): Killers {
  const recent = killers.flatMap((killer) => {
    if (killer.raised) return [killer];
    const kills = dropOld(killer.kills, seenAt, rule);
    return kills.length === 0 ? [] : [kills === killer.kills ? killer : { ...killer, kills }];
  });
  let total = recent.reduce((sum, { kills }) => sum + kills.length, 0);
  let max = Math.min(KILLERS_MAX, recent.length);
  const timeOf = ({ kills }: KillerState) => kills.at(-1)?.[0] ?? 0;
  const isRaised = ({ raised }: KillerState) => raised !== null;
  let cut = cutOldest(recent, max, timeOf, isRaised);
  while (total > KILLS_MAX && max > 1) {
    cut = cutOldest(recent, --max, timeOf, isRaised);
    total = cut.kept.reduce((sum, { kills }) => sum + kills.length, 0);
  }
  for (const killer of cut.dropped) reportCleared(killer, { code: "too_many" }, report);
  return cut.kept;
}

function reportCleared({ raised, player, subject }: KillerState, words: AlertWords, report: Report): void {
  if (raised) report({ type: "alert.cleared", rule: "kills", player, subject, words, events: raised });
}

function without(killers: Killers, known: KillerState): Killers {
  return killers.filter((killer) => killer !== known);
}
