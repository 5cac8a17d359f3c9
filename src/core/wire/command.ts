// Commands on the wire: as callers send them, and as callers and operators see them.
import Type from "typebox";
import { COMMAND_CHARACTERS_MAX, COMMAND_STATUSES, QUEUE_MAX } from "../commands/command.ts";
import { CommandId, EpochMs, orNull, SenderResource, type Static } from "./values.ts";

const QueuedAt = Type.Integer({ format: "int64", description: "Epoch milliseconds" });

export const NewCommand = Type.Object({
  command: Type.String({
    minLength: 1,
    description: `The command as a player would type it: 1 to ${COMMAND_CHARACTERS_MAX} characters after trimming, one line`,
  }),
});
export type NewCommand = Static<typeof NewCommand>;

export const CommandState = Type.Enum([...COMMAND_STATUSES], {
  description: "queued and sending may still change; sent, failed, unknown, expired and cancelled are final",
});

export const CommandReceipt = Type.Object({
  command_id: CommandId,
  status: Type.Literal("queued"),
  position: Type.Integer({ minimum: 1, maximum: QUEUE_MAX, description: "1 for the next to be sent" }),
  queued_at: QueuedAt,
});
export type CommandReceipt = Static<typeof CommandReceipt>;

export const CommandResource = Type.Object({
  command_id: CommandId,
  key_id: Type.String({ description: "Id of the key that sent it; of a person `per_…@srv_…`" }),
  key_label: orNull(
    Type.String(),
    "The label of that key, also when it was revoked, or the person's name; null when it is not known",
  ),
  sent_by: Type.Object(SenderResource.properties, {
    description: "Who sent it: a person or a key, by the name of that time",
  }),
  command: Type.String({ description: "The text that is sent, trimmed" }),
  status: CommandState,
  position: orNull(Type.Integer({ minimum: 1 }), "1 for the next to be sent; null when it does not wait"),
  queued_at: QueuedAt,
  sent_at: orNull(EpochMs, "When it was handed to the game API, in epoch milliseconds; null while it waits"),
  finished_at: orNull(EpochMs, "When its last state was reached, in epoch milliseconds; null before"),
  confirmed_at: orNull(
    EpochMs,
    "When the game's own command log showed it, in epoch milliseconds; null proves nothing",
  ),
  upstream_code: orNull(Type.Integer(), "The game API's code for a command that failed"),
  upstream_message: orNull(Type.String(), "What the game API said about it"),
});
export type CommandResource = Static<typeof CommandResource>;

const { command_id, ...rest } = CommandResource.properties;

/** As an operator sees it: with its server. */
export const OwnedCommandResource = Type.Object({
  command_id,
  server_id: Type.String({ description: "Id of the game server" }),
  ...rest,
});
export type OwnedCommandResource = Static<typeof OwnedCommandResource>;
