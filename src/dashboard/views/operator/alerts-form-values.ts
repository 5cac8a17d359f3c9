// The fields of the form for alert rules, and the rules that they mean. Pure.
import type { AlertRule, AlertRules } from "../../../core/alerts/rules.ts";
import type { AlertRulesResource } from "../../../core/wire/alerts.ts";

/** The fields with a number, by the rule they are of, with the smallest and the largest value. */
export const NUMBER_FIELDS = {
  kills: { count: [2, 100], seconds: [1, 3_600] },
  unanswered_modcall: { minutes: [1, 10_080] },
  offline: { minutes: [1, 10_080] },
  unreachable: { minutes: [1, 10_080] },
  players: { below: [1, 1_000], above: [0, 1_000], minutes: [1, 10_080] },
} as const satisfies Partial<Record<AlertRule, Readonly<Record<string, readonly [number, number]>>>>;
export type NumberRule = keyof typeof NUMBER_FIELDS;

export const PATTERNS_MAX = 50;
export const PATTERN_LENGTH_MAX = 100;

/** `fields` has the texts of all fields, as `kills.count`; those of a rule that is off are kept while the form is open. */
export type AlertTexts = {
  readonly on: readonly AlertRule[];
  readonly fields: Readonly<Record<string, string>>;
};

export type FieldProblem =
  | { readonly name: "range"; readonly min: number; readonly max: number }
  | { readonly name: "noPattern" | "patterns" | "crowd" | "order" };

export type ParsedAlerts = {
  readonly rules: AlertRulesResource;
  /** By field; empty when the rules can be set. */
  readonly problems: Readonly<Record<string, FieldProblem>>;
};

/** `suggested` fills the fields of rules that are off, so that switching one on is enough. */
export function writeAlertTexts(rules: AlertRules, suggested: AlertRules): AlertTexts {
  const fields: Record<string, string> = { "players.minutes": "10" };
  for (const given of [suggested, rules]) {
    for (const [rule, values] of Object.entries(given)) {
      for (const [field, value] of Object.entries(values)) {
        fields[`${rule}.${field}`] = Array.isArray(value) ? value.join("\n") : String(value);
      }
    }
  }
  return { on: Object.keys(rules) as AlertRule[], fields };
}

export function parseAlertTexts({ on, fields }: AlertTexts): ParsedAlerts {
  const problems: Record<string, FieldProblem> = {};
  const rules: Record<string, object> = {};
  for (const rule of on) {
    if (rule === "mass_command") rules[rule] = { patterns: parsePatterns(fields, problems) };
    else rules[rule] = parseNumbers(rule, fields, problems);
  }
  return { rules: rules as AlertRulesResource, problems };
}

function parsePatterns(
  fields: AlertTexts["fields"],
  problems: Record<string, FieldProblem>,
): readonly string[] {
  const lines = (fields["mass_command.patterns"] ?? "").split("\n").map((line) => line.trim());
  const patterns = [...new Set(lines.filter((line) => line !== ""))];
  if (patterns.length === 0) problems["mass_command.patterns"] = { name: "noPattern" };
  else if (patterns.length > PATTERNS_MAX || patterns.some((text) => text.length > PATTERN_LENGTH_MAX))
    problems["mass_command.patterns"] = { name: "patterns" };
  return patterns;
}

function parseNumbers(
  rule: NumberRule,
  fields: AlertTexts["fields"],
  problems: Record<string, FieldProblem>,
): Readonly<Record<string, number>> {
  const values: Record<string, number> = {};
  for (const [field, [min, max]] of Object.entries(NUMBER_FIELDS[rule])) {
    const text = (fields[`${rule}.${field}`] ?? "").trim();
    // Either end of the number of players may be left out.
    if (text === "" && (field === "below" || field === "above")) continue;
    const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) values[field] = value;
    else problems[`${rule}.${field}`] = { name: "range", min, max };
  }
  if (rule === "players") judgeCrowd(values, fields, problems);
  return values;
}

function judgeCrowd(
  { below, above }: Readonly<Record<string, number>>,
  fields: AlertTexts["fields"],
  problems: Record<string, FieldProblem>,
): void {
  const isEmpty = (field: string) => (fields[`players.${field}`] ?? "").trim() === "";
  if (isEmpty("below") && isEmpty("above")) problems["players.below"] = { name: "crowd" };
  // Every number of players would be one or the other.
  else if (below !== undefined && above !== undefined && below > above)
    problems["players.below"] = { name: "order" };
}
