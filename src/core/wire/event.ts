// Events on the wire, as every reader of a ledger gets them.
import Type from "typebox";
import { EVENT_TYPES } from "../events/event-types.ts";
import { EventCursor, type Static, time } from "./values.ts";

export const EVENTS_LIMIT_DEFAULT = 100;
export const EVENTS_LIMIT_MAX = 500;
export const WAIT_SECONDS_MAX = 25;

export const EventSourceName = Type.Enum(["log", "diff", "webhook", "gateway"], {
  description:
    "log: one of the four log lists; diff: two readings compared; webhook: told by the game; gateway: told by Gatehouse itself",
});

export const EventResource = Type.Object({
  id: Type.String({
    pattern: "^[A-Za-z0-9_-]{1,64}$",
    description: "Its cursor: unique, opaque, valid for every key of the server",
  }),
  type: Type.Enum([...EVENT_TYPES], { description: "What happened" }),
  at: time("When it happened; the game tells whole seconds, and where it tells nothing this is `seen_at`"),
  seen_at: time("When Gatehouse learned of it"),
  source: EventSourceName,
  backfill: Type.Boolean({
    description: "Whether it was there before the server's first reading; nothing to react to",
  }),
  data: Type.Record(Type.String(), Type.Unknown(), {
    description:
      "The game's own element with its own field names, as a read gives it; integers may exceed 2^53. Of a gap: `section`, `reason`, `from` and `to`. Of custom.command: `Command`, `Argument` and `Player`, an id as text. Of custom.unknown: `Event` and `Data`. Of server.online, server.offline and server.unreachable: `upstream_code` and `upstream_message`, null when online. Of alert.raised and alert.cleared: `rule`, `subject` and `text`",
  }),
  meta: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        "What Gatehouse adds: `before` of a change, `changed` fields of a call, `answered_between` of a call for a moderator, `by` of its claim, `command_id` and `sent_by` of a command of ours, `targets` of any command, `events` that an alert is about",
    }),
  ),
});
export type EventResource = Static<typeof EventResource>;

export const EventPage = Type.Object({
  items: Type.Array(EventResource, { description: "Oldest first" }),
  next: EventCursor,
  previous: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9_-]{1,64}$",
      description: "Only when reading backwards: the `before` of the page with older events",
    }),
  ),
  has_more: Type.Boolean({
    description: "Whether there are more events in the direction of reading; they may not pass the filter",
  }),
});
export type EventPage = Static<typeof EventPage>;
