// What the events have as `data` that is not an element of a section: what Gatehouse itself writes.
import Type from "typebox";
import { ALERT_RULES } from "../alerts/rules.ts";
import { SECTIONS } from "../sections.ts";
import { EpochMs, orNull, SenderResource, type Static, WhoResource } from "./values.ts";

export const Gap = Type.Object(
  {
    section: Type.Enum([...SECTIONS, "*"], { description: "`*`: everything that is compared between readings" }),
    reason: Type.Enum(["no_overlap", "not_watched", "archive", "server_replaced", "retention"]),
    from: orNull(EpochMs, "In epoch milliseconds; null where unknown"),
    to: orNull(EpochMs, "In epoch milliseconds; null where unknown"),
  },
  { description: "Something may be missing between these times" },
);
export type Gap = Static<typeof Gap>;
export type GapReason = Gap["reason"];

export const ServerStateData = Type.Object({
  upstream_code: orNull(Type.Integer(), "The game API's code; null when online"),
  upstream_message: orNull(Type.String(), "What the game API said; null when online"),
});
export type ServerStateData = Static<typeof ServerStateData>;

export const StaffMember = Type.Object({
  Role: Type.Enum(["Admins", "Mods", "Helpers"]),
  UserId: Type.String({ description: "An id as text" }),
  Name: Type.String(),
});
export type StaffMember = Static<typeof StaffMember>;

export const CustomCommand = Type.Object({
  Command: Type.String(),
  Argument: Type.String(),
  Player: Type.String({ description: "An id as text" }),
});
export type CustomCommand = Static<typeof CustomCommand>;

export const Alert = Type.Object({
  rule: Type.Enum([...ALERT_RULES]),
  subject: Type.String({ description: "`Name:id` of a player, or `server`" }),
  text: Type.String({ description: "A short English sentence" }),
});
export type Alert = Static<typeof Alert>;

export const EventMeta = Type.Partial(
  Type.Object({
    before: Type.Unknown({
      description: "What was before: the changed fields of a player or the settings, or the queue",
    }),
    changed: Type.Array(Type.String(), { description: "The fields of a call that changed" }),
    answered_between: Type.Array(EpochMs, {
      minItems: 2,
      maxItems: 2,
      description:
        "When a call for a moderator was answered: after the first time and before the second, in epoch milliseconds",
    }),
    command_id: Type.String({ description: "Of a command that was sent through Gatehouse" }),
    sent_by: Type.Object(SenderResource.properties, { description: "Who sent that command" }),
    by: WhoResource,
    targets: Type.Array(Type.String(), {
      description: "The players that a command was aimed at, as `Name:id`, as far as its first argument names them",
    }),
    events: Type.Array(Type.String(), { description: "The ids of the events that an alert is about" }),
    code: Type.String({ description: "What an alert says, in one word, such as `kills`" }),
    values: Type.Record(Type.String(), Type.Union([Type.Integer(), Type.String()]), {
      description: "The numbers and texts in the sentence of an alert, such as `count`",
    }),
  }),
  { description: "What Gatehouse adds to some events" },
);
export type EventMeta = Static<typeof EventMeta>;
