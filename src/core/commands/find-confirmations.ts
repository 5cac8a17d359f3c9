// Finds sent commands in the game's own command log, which confirms that the game ran them. Pure. The log is short and may
// have gaps, so a command is never sent again because it is missing there.
import type { SentCommand } from "../ports/commands.ts";
import { hashText } from "./command.ts";

/** The player name that the game logs for commands sent through its API. */
const REMOTE_PLAYER = /^remote server(?::|$)/i;
const REMOTE_NAME = /"remote server[:"]/i;
/** A log entry may be this much earlier than `sentAt`, because clocks differ and the log has whole seconds. */
const EARLY_MS = 5_000;
const LATE_MS = 60_000;
/** Commands that were sent longer ago are no longer looked for. */
export const CONFIRM_WITHIN_MS = 10 * 60_000;

export type LogEntry = { readonly Player?: string; readonly Timestamp?: number; readonly Command?: string };
export type Confirmation = { readonly commandId: string; readonly loggedAt: number };

/** `loggedAt` and `commandId` of each command that the log shows for the first time. */
export function findConfirmations(sent: readonly SentCommand[], log: readonly LogEntry[]): Confirmation[] {
  const unconfirmed = new Set(sent.filter(({ loggedAt }) => loggedAt === null).map((one) => one.commandId));
  const confirmations: Confirmation[] = [];
  for (const [entry, { commandId }] of matchCommands(sent, log)) {
    if (unconfirmed.has(commandId)) confirmations.push({ commandId, loggedAt: loggedTime(entry) });
  }
  return confirmations;
}

/**
 * The command that each entry of the log tells of. `sent` is oldest first and includes confirmed commands, because their
 * entries must not confirm another command. An entry tells of at most one command.
 */
export function matchCommands<E extends LogEntry>(
  sent: readonly SentCommand[],
  log: readonly E[],
): ReadonlyMap<E, SentCommand> {
  const entries = log.filter(isRemoteEntry).sort((a, b) => loggedTime(a) - loggedTime(b));
  const byText = Map.groupBy(entries, ({ Command }) => Command?.trim() ?? "");
  const findEntries = ({ text, textHash }: SentCommand) => {
    if (textHash === undefined) return byText.get(text);
    return byText.entries().find(([logged]) => hashText(logged) === textHash)?.[1];
  };
  const matches = new Map<E, SentCommand>();
  const match = (command: SentCommand, isInTime: (at: number) => boolean) => {
    const entry = findEntries(command)?.find((one) => !matches.has(one) && isInTime(loggedTime(one)));
    if (entry) matches.set(entry, command);
  };
  for (const command of sent) {
    if (command.loggedAt !== null) match(command, (at) => at === command.loggedAt);
  }
  for (const command of sent) {
    const { sentAt, loggedAt } = command;
    if (loggedAt === null) match(command, (at) => at >= sentAt - EARLY_MS && at <= sentAt + LATE_MS);
  }
  return matches;
}

/** False when no entry of the log tells of a command that came through the game's API. `log` is the text of JSON.stringify. */
export function mayHaveRemoteEntry(log: string): boolean {
  return REMOTE_NAME.test(log);
}

/** Whether an entry tells of a command that came through the game's API. */
export function isRemoteEntry({ Player, Timestamp, Command }: LogEntry): boolean {
  return REMOTE_PLAYER.test(Player ?? "") && typeof Timestamp === "number" && typeof Command === "string";
}

function loggedTime({ Timestamp = 0 }: LogEntry): number {
  return Timestamp * 1000;
}
