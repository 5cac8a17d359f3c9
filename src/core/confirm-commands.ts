// Finds commands in the game's own log. Pure. An entry confirms one command at most, and a command is never sent again
// because no entry was found: the log is short and may have holes.
import type { SentCommand } from "./ports/commands.ts";

/** How the game names whoever runs commands through its API. */
const REMOTE = /^remote server(?::|$)/i;
/** Clocks differ a little, and the log has whole seconds. */
const EARLY_MS = 5_000;
const LATE_MS = 60_000;
/** An older command will not turn up any more. */
export const CONFIRM_WITHIN_MS = 10 * 60_000;

export type LogEntry = { readonly Player?: string; readonly Timestamp?: number; readonly Command?: string };
export type Confirmation = { readonly commandId: string; readonly loggedAt: number };

/** `sent` oldest first, with those that are confirmed already: their entries are spoken for. */
export function confirmCommands(sent: readonly SentCommand[], log: readonly LogEntry[]): Confirmation[] {
  const entries = log
    .filter(({ Player, Timestamp, Command }) => {
      return REMOTE.test(Player ?? "") && typeof Timestamp === "number" && typeof Command === "string";
    })
    .map(({ Timestamp = 0, Command = "" }) => ({
      text: Command.trim(),
      at: Timestamp * 1000,
      isTaken: false,
    }))
    .sort((a, b) => a.at - b.at);

  for (const { text, loggedAt } of sent) {
    const entry = entries.find((one) => !one.isTaken && one.at === loggedAt && one.text === text);
    if (entry) entry.isTaken = true;
  }
  const confirmations: Confirmation[] = [];
  for (const { commandId, text, sentAt, loggedAt } of sent) {
    if (loggedAt !== null) continue;
    const entry = entries.find((one) => {
      return !one.isTaken && one.text === text && one.at >= sentAt - EARLY_MS && one.at <= sentAt + LATE_MS;
    });
    if (!entry) continue;
    entry.isTaken = true;
    confirmations.push({ commandId, loggedAt: entry.at });
  }
  return confirmations;
}
