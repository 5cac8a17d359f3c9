// The rules of alerts, as an operator sets them for a server. A rule that is absent is off.

export const ALERT_RULES = [
  "kills",
  "mass_command",
  "unanswered_modcall",
  "offline",
  "unreachable",
  "players",
] as const;
export type AlertRule = (typeof ALERT_RULES)[number];

export type AlertRules = {
  readonly kills?: { readonly count: number; readonly seconds: number };
  readonly mass_command?: { readonly patterns: readonly string[] };
  readonly unanswered_modcall?: { readonly minutes: number };
  readonly offline?: { readonly minutes: number };
  readonly unreachable?: { readonly minutes: number };
  readonly players?: { readonly below?: number; readonly above?: number; readonly minutes: number };
};

export const NO_ALERTS: AlertRules = {};

export function hasRules(rules: AlertRules): boolean {
  return ALERT_RULES.some((rule) => rules[rule] !== undefined);
}

/** What suits most servers. How many players are too few or too many differs too much to be suggested. */
export const SUGGESTED_ALERTS = {
  kills: { count: 5, seconds: 60 },
  mass_command: {
    patterns: ["ban", "kick", "kill", "jail", "bring"].flatMap((name) => [`:${name} all`, `:${name} others`]),
  },
  unanswered_modcall: { minutes: 5 },
  offline: { minutes: 10 },
  unreachable: { minutes: 10 },
} as const satisfies AlertRules;

/** What is wrong with each rule that the shape of its fields does not show; empty when nothing is. */
export function findRuleProblems({ mass_command, players }: AlertRules): Readonly<Record<string, string>> {
  const problems: Record<string, string> = {};
  if (mass_command?.patterns.some((pattern) => pattern.trim() === ""))
    problems.mass_command = "must not have a blank pattern: it would fit every command";
  if (players && players.below === undefined && players.above === undefined)
    problems.players = "must have below, above or both";
  else if (players && (players.below ?? 0) > (players.above ?? Number.POSITIVE_INFINITY))
    problems.players = "must not have a below that is greater than above: every number of players would raise it";
  return problems;
}
