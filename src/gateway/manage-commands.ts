// What an operator does with commands: takes one back that still waits, whoever sent it.
import type { Command } from "../core/command.ts";
import { ERRORS, type Refusal, refuse } from "../core/errors.ts";
import type { Actor, Store } from "../core/ports.ts";
import type { CommandMeter } from "./command-meter.ts";
import { NOT_FOUND } from "./refuse-field.ts";

export const NO_LONGER_WAITS = refuse(ERRORS.conflict, { details: { command_id: "no longer waits" } });

export async function cancelCommand(
  store: Store,
  meter: CommandMeter,
  commandId: string,
  actor: Actor,
  now: number,
): Promise<Command | Refusal> {
  const command = await store.commands.find(commandId);
  if (!command) return NOT_FOUND;
  const found = await store.commands.cancel(command.serverId, commandId, now);
  if (!found) return NOT_FOUND;
  if (!found.isCancelled) return NO_LONGER_WAITS;
  meter.count("cancelled");
  const details = { before: { status: "queued" }, after: { status: "cancelled" } };
  await store.noteChange(commandId, { at: now, action: "command.cancelled", actor, details });
  return found.command;
}
