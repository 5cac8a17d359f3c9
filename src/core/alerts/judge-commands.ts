// The rule `mass_command`: somebody uses a command that begins like one of the patterns.
import { type AlertFact, cutText, isSameSubject, type Report, toSubject } from "./alert-events.ts";
import { ALERT_EVENTS_MAX, COMMANDS_MAX, type CommandState, cutOldest } from "./alert-states.ts";
import type { AlertWords } from "./alert-words.ts";
import type { AlertRules } from "./rules.ts";

type Rule = NonNullable<AlertRules["mass_command"]>;
type Commands = readonly CommandState[];

/** The alert is over when the player used no such command for this long. */
export const MASS_COMMAND_MS = 60_000;

/** Without case, and runs of blanks as one. */
export function normaliseCommand(text: string): string {
  return text.trimStart().replace(/\s+/g, " ").toLowerCase();
}

export function isMassCommand(command: string, { patterns }: Rule): boolean {
  const normalised = normaliseCommand(command);
  return patterns.some((pattern) => normalised.startsWith(normaliseCommand(pattern)));
}

export function noteCommand(commands: Commands, rule: Rule, fact: AlertFact, report: Report): Commands {
  const { Player, Command } = fact.data;
  const user = toSubject(Player);
  if (!user || typeof Command !== "string" || !isMassCommand(Command, rule)) return commands;
  const at = Math.min(fact.at, fact.seenAt);
  const known = commands.find((one) => isSameSubject(one, user));
  if (known) {
    const ids = known.ids.length < ALERT_EVENTS_MAX ? [...known.ids, fact.id] : known.ids;
    const changed = { ...known, lastAt: Math.max(known.lastAt, at), ids };
    return commands.map((one) => (one === known ? changed : one));
  }
  const words: AlertWords = { code: "used", command: cutText(Command) };
  report({ type: "alert.raised", rule: "mass_command", ...user, words, events: [fact.id] });
  const added = [...commands, { ...user, lastAt: at, ids: [fact.id] }];
  const { kept, dropped } = cutOldest(
    added,
    COMMANDS_MAX,
    ({ lastAt }) => lastAt,
    () => true,
  );
  for (const one of dropped) reportCleared(one, { code: "too_many" }, report);
  return kept;
}

export function clearCommands(commands: Commands, time: number, report: Report): Commands {
  const isOver = ({ lastAt }: CommandState) => lastAt + MASS_COMMAND_MS <= time;
  for (const one of commands) {
    if (isOver(one)) reportCleared(one, { code: "used_no_more" }, report);
  }
  return commands.some(isOver) ? commands.filter((one) => !isOver(one)) : commands;
}

export function clearAllCommands(commands: Commands, words: AlertWords, report: Report): Commands {
  for (const one of commands) reportCleared(one, words, report);
  return [];
}

export function listCommandTimes(commands: Commands): number[] {
  return commands.map(({ lastAt }) => lastAt + MASS_COMMAND_MS);
}

function reportCleared({ player, subject, ids }: CommandState, words: AlertWords, report: Report): void {
  report({ type: "alert.cleared", rule: "mass_command", player, subject, words, events: ids });
}
