// Finds sent commands in the game's own command log, which confirms that the game ran them. Pure. The log is short and may
// have gaps, so a command is never sent again because it is missing there.
import type { SentCommand } from "./ports/commands.ts";

/** The player name that the game logs for commands sent through its API. */
const REMOTE_PLAYER = /^remote server(?::|$)/i;
/** A log entry may be this much earlier than `sentAt`, because clocks differ and the log has whole seconds. */
const EARLY_MS = 5_000;
const LATE_MS = 60_000;
/** Commands that were sent longer ago are no longer looked for. */
export const CONFIRM_WITHIN_MS = 10 * 60_000;

export type LogEntry = { readonly Player?: string; readonly Timestamp?: number; readonly Command?: string };
export type Confirmation = { readonly commandId: string; readonly loggedAt: number };

/**
 * `sent` is oldest first and includes confirmed commands, because their log entries must not confirm another command.
 * An entry confirms at most one command.
 */
export function findConfirmations(sent: readonly SentCommand[], log: readonly LogEntry[]): Confirmation[] {
  const entries = log
    .filter(({ Player, Timestamp, Command }) => {
      return REMOTE_PLAYER.test(Player ?? "") && typeof Timestamp === "number" && typeof Command === "string";
    })
    .map(({ Timestamp = 0, Command = "" }) => ({
      text: Command.trim(),
      at: Timestamp * 1000,
      isMatched: false,
    }))
    .sort((a, b) => a.at - b.at);

  for (const { text, loggedAt } of sent) {
    const entry = entries.find((one) => !one.isMatched && one.at === loggedAt && one.text === text);
    if (entry) entry.isMatched = true;
  }
  const confirmations: Confirmation[] = [];
  for (const { commandId, text, sentAt, loggedAt } of sent) {
    if (loggedAt !== null) continue;
    const entry = entries.find((one) => {
      return !one.isMatched && one.text === text && one.at >= sentAt - EARLY_MS && one.at <= sentAt + LATE_MS;
    });
    if (!entry) continue;
    entry.isMatched = true;
    confirmations.push({ commandId, loggedAt: entry.at });
  }
  return confirmations;
}
