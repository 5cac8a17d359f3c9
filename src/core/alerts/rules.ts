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
