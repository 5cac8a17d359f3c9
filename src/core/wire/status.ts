// What everybody may see of a server whose status is public. Nothing here names a player.
import Type from "typebox";
import { Count, EpochMs, orNull, type Static, time } from "./values.ts";

export const PUBLIC_STATES = ["online", "offline", "unreachable", "unknown"] as const;
export type PublicState = (typeof PUBLIC_STATES)[number];

const COUNT_OF_HOUR = "null when nothing of the hour is known";

export const StatusHour = Type.Object({
  at: time("When the hour begins"),
  known: Type.Number({ minimum: 0, maximum: 1, description: "For how much of the hour there are readings" }),
  min: orNull(Count, `The fewest players; ${COUNT_OF_HOUR}`),
  avg: orNull(Type.Number({ minimum: 0 }), `Players on average, over the known time; ${COUNT_OF_HOUR}`),
  max: orNull(Count, `The most players; ${COUNT_OF_HOUR}`),
});
export type StatusHour = Static<typeof StatusHour>;

export const StatusOutage = Type.Object({
  state: Type.Enum(["offline", "unreachable"]),
  from: time("When it began"),
  to: orNull(EpochMs, "When it ended, in epoch milliseconds; null while it lasts"),
});
export type StatusOutage = Static<typeof StatusOutage>;

export const StatusResource = Type.Object({
  name: Type.String(),
  state: Type.Enum([...PUBLIC_STATES], {
    description: "online, offline, unreachable (readings fail), or unknown (there is no reading that is young enough)",
  }),
  players: orNull(Count, "Null while the server is unreachable or unknown"),
  max_players: orNull(Count, "How many can play; null when no reading said so"),
  queue: orNull(Count, "How many wait to join; null while the server is unreachable or unknown"),
  join_key: orNull(
    Type.String(),
    "What joins the server in the game; null when the operator does not show it, and while the server is not online",
  ),
  read_at: orNull(EpochMs, "When the last good reading was made, in epoch milliseconds; null for none"),
  age_seconds: orNull(Count, "How old that reading is; null for none"),
  history: orNull(
    Type.Array(StatusHour),
    "The last 168 hours, oldest first, the current one last; null while the history cannot be read",
  ),
  outages: orNull(
    Type.Array(StatusOutage),
    "When the server was not online in the last seven days, newest first; null while that cannot be read",
  ),
});
export type StatusResource = Static<typeof StatusResource>;

export const StatusBadge = Type.Object(
  {
    schemaVersion: Type.Literal(1),
    label: Type.String(),
    message: Type.String(),
    color: Type.String(),
    cacheSeconds: Type.Integer({ minimum: 1 }),
  },
  { description: "What shields.io reads from an endpoint" },
);
export type StatusBadge = Static<typeof StatusBadge>;
