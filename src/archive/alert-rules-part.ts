// The part of a server's memory that holds its alert rules, as both archives write and read it alone.
import type { AlertRules } from "../core/alerts/rules.ts";
import { NOTHING_KNOWN } from "../core/events/memory.ts";
import { type MemoryPart, parseMemory, writeChangedParts } from "../core/events/memory-text.ts";

export const ALERT_RULES_PART = "alertRules";

export function writeAlertRules(rules: AlertRules): MemoryPart[] {
  // A copy, because a part that is the same object as before would not be written.
  return writeChangedParts(NOTHING_KNOWN, { ...NOTHING_KNOWN, [ALERT_RULES_PART]: { ...rules } });
}

/** `text` is undefined when rules were never set. */
export function parseAlertRules(text: string | undefined): AlertRules {
  return parseMemory(text === undefined ? [] : [{ part: ALERT_RULES_PART, text }])[ALERT_RULES_PART];
}
