// The parameters that several operations share.
import Type from "typebox";
import { TYPES_LENGTH_MAX, TYPES_MAX } from "../../core/events/event-types.ts";
import { COMMUNITY_SHAPE } from "../../core/game-server.ts";
import { KEY_STATES } from "../../core/key-state.ts";
import { CORNER_MAX } from "../../core/map-image.ts";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "../../core/page-size.ts";
import { SECTIONS } from "../../core/sections.ts";
import { CommandState } from "../../core/wire/command.ts";
import { EVENTS_LIMIT_DEFAULT, EVENTS_LIMIT_MAX, WAIT_SECONDS_MAX } from "../../core/wire/event.ts";
import { CommandId, DeviceId, TEXT_LENGTH_MAX } from "../../core/wire/values.ts";
import { WebhookId } from "../../core/wire/webhook.ts";
import type { Parameter } from "./operation.ts";

export const COMMUNITY: Parameter = {
  name: "community",
  in: "path",
  description: "The server's community. A server without one accepts any.",
  schema: Type.String({ pattern: COMMUNITY_SHAPE.source }),
  example: "cedar",
};

export const IF_NONE_MATCH: Parameter = {
  name: "If-None-Match",
  in: "header",
  description: "The `ETag` of an earlier answer.",
  schema: Type.String(),
};

export const IDEMPOTENCY_KEY: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A value of your own, new for each command. Repeating the request with the same value and the same command gets the same answer and queues nothing again. Remembered for 24 hours.",
  schema: Type.String({ pattern: "^[\\x21-\\x7e]{1,255}$" }),
  example: "7f3c2f8e-9a51-4a53-b1f6-0d3f0a6f2c11",
};

export const SECTION_PARAMETERS: readonly Parameter[] = SECTIONS.map((name) => ({
  name,
  in: "query",
  description: `Include \`${name}\`. Anything but exactly \`true\` leaves it out.`,
  schema: Type.Boolean(),
}));

export const CORNER_PARAMETERS: readonly Parameter[] = [
  { name: "left", description: "The game's X at the left edge of the picture.", example: -1560 },
  { name: "top", description: "The game's Z at the top edge. Z grows downwards.", example: -1560 },
  { name: "right", description: "The game's X at the right edge; more than `left`.", example: 1560 },
  { name: "bottom", description: "The game's Z at the bottom edge; more than `top`.", example: 1560 },
].map((corner) => ({
  ...corner,
  in: "query",
  schema: Type.Integer({ minimum: -CORNER_MAX, maximum: CORNER_MAX }),
}));

export const PAGE_PARAMETERS: readonly Parameter[] = [
  {
    name: "limit",
    in: "query",
    description: "How many items a page has.",
    schema: Type.Integer({ minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT }),
  },
  {
    name: "cursor",
    in: "query",
    description: "The `next` of the page before.",
    schema: Type.String({ maxLength: 300 }),
  },
];

export const EVENT_PARAMETERS: readonly Parameter[] = [
  {
    name: "after",
    in: "query",
    description:
      "Where to begin: the `next` of the answer before, the `id` of an event (you get what follows it), `earliest` (with the oldest kept event) or `now` (with the next one that comes). Without it you get the newest `limit` events.",
    schema: Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }),
  },
  {
    name: "types",
    in: "query",
    description: `Only these types, separated by commas; \`player.*\` stands for all that begin with \`player.\` and that your key may read. At most ${TYPES_MAX} names. A gap comes with every type that it concerns.`,
    schema: Type.String({ pattern: "^[a-z.*]+(,[a-z.*]+)*$", maxLength: TYPES_LENGTH_MAX }),
    example: "player.*,modcall.opened",
  },
  {
    name: "limit",
    in: "query",
    description: "How many events an answer has at most. It may have fewer while `has_more` is true.",
    schema: Type.Integer({ minimum: 1, maximum: EVENTS_LIMIT_MAX, default: EVENTS_LIMIT_DEFAULT }),
  },
  {
    name: "wait",
    in: "query",
    description:
      "Seconds to wait for an event when there is none yet. The answer comes with the first one. Does not go with `before`; `HEAD` never waits.",
    schema: Type.Integer({ minimum: 0, maximum: WAIT_SECONDS_MAX, default: 0 }),
  },
  {
    name: "before",
    in: "query",
    description:
      "Instead of `after`, for reading backwards: `now` for the newest page, then the `previous` of the answer before. With the `id` of an event you get that event and those before it. The items are oldest first all the same.",
    schema: Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }),
  },
  {
    name: "player",
    in: "query",
    description:
      "Only events that name the player with this id: in a log entry, `player.changed` or a staff list. Gaps name nobody and are left out.",
    schema: Type.String({ pattern: "^[0-9]{1,20}$" }),
  },
];

const [, TYPES] = EVENT_PARAMETERS;

export const STREAM_PARAMETERS: readonly Parameter[] = [
  {
    name: "after",
    in: "query",
    description:
      "Where to begin: the `id` of the last message that you have handled, a `next` of a page, `earliest` or `now`. Without it, and without the two below: now.",
    schema: Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }),
  },
  ...(TYPES ? [TYPES] : []),
  {
    name: "last_event_id",
    in: "query",
    description: "The same as `after`, and wins over it. For clients that cannot send headers of their own.",
    schema: Type.String({ pattern: "^[A-Za-z0-9_-]{0,64}$" }),
  },
  {
    name: "Last-Event-ID",
    in: "header",
    description:
      "The same as `after`, and wins over both. Readers of Server-Sent Events send it by themselves.",
    schema: Type.String({ pattern: "^[A-Za-z0-9_-]{0,64}$" }),
  },
];

export const STATUS: Parameter = {
  name: "status",
  in: "query",
  description: "Only commands in this state.",
  schema: CommandState,
};

export const OF_SERVER: Parameter = {
  name: "server_id",
  in: "query",
  description: "Only those of this game server.",
  schema: Type.String({ pattern: "^srv_[0-9A-Za-z_]{1,76}$" }),
};

export const KEY_SEARCH: readonly Parameter[] = [
  OF_SERVER,
  {
    name: "label",
    in: "query",
    description: "Only keys with this in their label; upper and lower case are the same.",
    schema: Type.String({ maxLength: TEXT_LENGTH_MAX }),
  },
  {
    name: "state",
    in: "query",
    description: "Only keys in this state.",
    schema: Type.Enum([...KEY_STATES]),
  },
];

export const COMMAND_ID: Parameter = {
  name: "command_id",
  in: "path",
  description: "The command's id.",
  schema: CommandId,
  example: "cmd_zRH77T5ZugEUB3g6rBBK",
};

export const SERVER_ID: Parameter = {
  name: "server_id",
  in: "path",
  description: "The game server's id.",
  schema: Type.String({ pattern: "^srv_[0-9A-Za-z]+$" }),
  example: "srv_5tqX0PpV3mYbL1nKcD7w",
};

export const KEY_ID: Parameter = {
  name: "key_id",
  in: "path",
  description: "The key's id.",
  schema: Type.String({ pattern: "^key_[0-9A-Za-z]+$" }),
  example: "key_0Ka4qbuWLQDNnkIAG3EZ",
};

export const DEVICE_ID: Parameter = {
  name: "device_id",
  in: "path",
  description: "The device's id.",
  schema: DeviceId,
  example: "dev_9fWc2LrT6yQxB4mHsZ1k",
};

export const WEBHOOK_ID: Parameter = {
  name: "webhook_id",
  in: "path",
  description: "The webhook's id.",
  schema: WebhookId,
  example: "hook_3uGk8sYc2RzNqT5vBw1x",
};

export const AUDIT_ID: Parameter = {
  name: "entry_id",
  in: "path",
  description: "The entry's id.",
  schema: Type.String({ pattern: "^aud_[0-9a-z]+$" }),
  example: "aud_2s",
};

export const PLAYER_ID: Parameter = {
  name: "player_id",
  in: "path",
  description: "The player's id: the number after the colon in `Name:id`.",
  schema: Type.String({ pattern: "^[0-9]+$" }),
  example: "3801422",
};

/** The parameter that `:id` stands for in a path of the route table. */
export function idParameterOf(path: string): Parameter {
  if (path.includes("/command")) return COMMAND_ID;
  if (path.startsWith("/admin/audit")) return AUDIT_ID;
  if (path.startsWith("/admin/players")) return PLAYER_ID;
  if (path.startsWith("/admin/webhooks")) return WEBHOOK_ID;
  return path.startsWith("/admin/servers") ? SERVER_ID : KEY_ID;
}
