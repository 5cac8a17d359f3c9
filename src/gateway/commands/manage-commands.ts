// The operator's action on commands: cancelling one that still waits.
import type { Command } from "../../core/commands/command.ts";
import { ERRORS, NOT_FOUND, type Refusal, refuseField, StoreUnavailable } from "../../core/errors.ts";
import type { Actor } from "../../core/ports/audit.ts";
import type { CommandQueue } from "../../core/ports/commands.ts";
import type { KeyStore } from "../../core/ports/keys.ts";
import type { CommandMeter } from "../meters.ts";

export const NO_LONGER_WAITS = refuseField(
  "command_id",
  { code: "waits_no_more", text: "no longer waits" },
  ERRORS.conflict,
);

export async function cancelCommand(
  commands: CommandQueue,
  meter: CommandMeter,
  commandId: string,
  actor: Actor,
  now: number,
): Promise<Command | Refusal> {
  const command = await commands.find(commandId);
  if (!command) return NOT_FOUND;
  const details = { before: { status: "queued" }, after: { status: "cancelled" } };
  const note = { at: now, action: "command.cancelled", actor, details, serverId: command.serverId };
  const found = await commands.cancel(command.serverId, commandId, now, note);
  if (!found) return NOT_FOUND;
  if (!found.isCancelled) return NO_LONGER_WAITS;
  meter.count("cancelled");
  return found.command;
}

/** By key id. Empty when the store cannot be read: a missing label must not hide what became of a command. */
export async function readSenderLabels(
  keys: Pick<KeyStore, "listLabels">,
  commands: readonly Command[],
): Promise<ReadonlyMap<string, string>> {
  if (commands.length === 0) return new Map();
  try {
    return await keys.listLabels([...new Set(commands.map(({ keyId }) => keyId))]);
  } catch (error) {
    if (error instanceof StoreUnavailable) return new Map();
    throw error;
  }
}
