// The operator's action on commands: cancelling one that still waits.
import type { Command } from "../../core/command.ts";
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import type { Actor } from "../../core/ports/audit.ts";
import type { CommandQueue } from "../../core/ports/commands.ts";
import { NOT_FOUND } from "../../core/refuse-field.ts";
import type { CommandMeter } from "./command-meter.ts";

export const NO_LONGER_WAITS = refuse(ERRORS.conflict, { details: { command_id: "no longer waits" } });

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
  const note = { at: now, action: "command.cancelled", actor, details };
  const found = await commands.cancel(command.serverId, commandId, now, note);
  if (!found) return NOT_FOUND;
  if (!found.isCancelled) return NO_LONGER_WAITS;
  meter.count("cancelled");
  return found.command;
}
