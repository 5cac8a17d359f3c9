// What is remembered of a server to judge its alerts: what counts toward each rule, and which alerts are raised. Values are
// never changed, only replaced, so states that are the same object as before need no writing.
import type { LedgerPosition } from "../events/cursor.ts";
import { type AlertRules, NO_ALERTS } from "./rules.ts";

/** Whom an alert is about. `player` is the id; null when the game tells none. */
export type AlertSubject = { readonly player: string | null; readonly subject: string };

/** When, and the id of the event. */
export type Kill = readonly [at: number, id: string];

export type KillerState = AlertSubject & {
  /** Oldest first. */
  readonly kills: readonly Kill[];
  /** The ids of the kills that raised the alert; null while it is not raised. */
  readonly raised: readonly string[] | null;
};

/** A raised alert: there is no other state of this rule. */
export type CommandState = AlertSubject & { readonly lastAt: number; readonly ids: readonly string[] };

/** A call for a moderator that nobody has answered. `stamp` is the game's own time of it. */
export type CallState = AlertSubject & {
  readonly at: number;
  readonly stamp: number | null;
  readonly id: string;
  readonly isRaised: boolean;
  /** Somebody is on the way. */
  readonly isClaimed?: boolean;
  /** Since when the caller is known to be gone. */
  readonly leftAt?: number | null;
  /** That was long enough ago, and the alert is over. */
  readonly isGone?: boolean;
};

/** A condition that lasts. `unknownMs` is the counter of ServerMemory at its beginning. */
export type Span = { readonly since: number; readonly unknownMs: number; readonly isRaised: boolean };

export type OutageState = Span & {
  readonly state: "offline" | "unreachable";
  /** The event that told it; null when it lasted before the rule was set. */
  readonly id: string | null;
};

export type AlertStates = {
  /** The rules that these were judged by. */
  readonly rules: AlertRules;
  readonly killers: readonly KillerState[];
  readonly commands: readonly CommandState[];
  readonly calls: readonly CallState[];
  readonly outage: OutageState | null;
  readonly below: Span | null;
  readonly above: Span | null;
};

/** `place`: the ledger was judged up to here; null while there are no rules. */
export type AlertMemory = { readonly place: LedgerPosition | null; readonly states: AlertStates };

export const NO_ALERT_STATES: AlertStates = {
  rules: NO_ALERTS,
  killers: [],
  commands: [],
  calls: [],
  outage: null,
  below: null,
  above: null,
};

export const NO_ALERT_MEMORY: AlertMemory = { place: null, states: NO_ALERT_STATES };

/** More are not remembered; the oldest go first, and those that are raised last. */
export const KILLERS_MAX = 100;
export const KILLS_MAX = 2_000;
export const COMMANDS_MAX = 100;
export const CALLS_MAX = 200;
/** The most events that one alert names. */
export const ALERT_EVENTS_MAX = 100;

/** Drops what is over a ceiling, but never the last item, which is new. Returns what is kept and what was dropped. */
export function cutOldest<T>(
  items: readonly T[],
  max: number,
  timeOf: (item: T) => number,
  isRaised: (item: T) => boolean,
): { readonly kept: readonly T[]; readonly dropped: readonly T[] } {
  if (items.length <= max) return { kept: items, dropped: [] };
  const byAge = items.slice(0, -1).sort((a, b) => Number(isRaised(a)) - Number(isRaised(b)) || timeOf(a) - timeOf(b));
  const dropped = new Set(byAge.slice(0, items.length - max));
  return { kept: items.filter((item) => !dropped.has(item)), dropped: [...dropped] };
}

export function hasRaised({ killers, commands, calls, outage, below, above }: AlertStates): boolean {
  const spans = [outage, below, above];
  if (commands.length > 0 || spans.some((span) => span?.isRaised)) return true;
  return killers.some(({ raised }) => raised !== null) || calls.some(({ isRaised }) => isRaised);
}
