// The history of a server on the wire.
import Type from "typebox";
import { COMMAND_KINDS } from "../history/command-kinds.ts";
import { RESOLUTIONS } from "../history/counts.ts";
import { SESSION_ENDS } from "../history/sessions.ts";
import { pageOf } from "./page.ts";
import { Count, EpochMs, orNull, type Static, time } from "./values.ts";

export const POINTS_MAX = 1_000;
export const HISTORY_LIMIT_DEFAULT = 100;
export const HISTORY_LIMIT_MAX = 500;

const PlayerName = Type.String({ description: "Name and id, as the game writes them: `Name:id`" });
const PlayerId = Type.String({ description: "The id alone" });
const Seconds = Type.Integer({ minimum: 0, description: "How long the player was there, in seconds" });
const Teams = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
  description: "Seconds in each team, as far as readings showed it",
});

export const PlayersPoint = Type.Object({
  at: time("When it begins"),
  known: Type.Number({
    minimum: 0,
    maximum: 1,
    description: "For how much of the time readings vouch, from 0 (nothing is known, the other fields are null) to 1",
  }),
  min: orNull(Count, "The fewest players"),
  avg: orNull(Type.Number({ minimum: 0 }), "Players on average over the known time"),
  max: orNull(Count, "The most players"),
  queue_max: Type.Optional(orNull(Count, "The most that waited to join; only for keys with the section Queue")),
  staff_max: Type.Optional(
    orNull(Count, "The most players with a permission above Normal; only for keys with the section Players"),
  ),
  teams: Type.Optional(
    orNull(
      Type.Record(Type.String(), Type.Number({ minimum: 0 })),
      "Players of each team on average over the time in which readings showed the players, null when none did; only for keys with the section Players",
    ),
  ),
});
export type PlayersPoint = Static<typeof PlayersPoint>;

export const PlayersHistory = Type.Object({
  resolution: Type.Enum([...RESOLUTIONS]),
  points: Type.Array(PlayersPoint, { maxItems: POINTS_MAX, description: "Oldest first, without holes" }),
});
export type PlayersHistory = Static<typeof PlayersHistory>;

export const SessionResource = Type.Object({
  player: PlayerName,
  id: PlayerId,
  joined_at: time("When the player came, or was first seen"),
  left_at: orNull(EpochMs, "When the player left, or was last seen, in epoch milliseconds; null while there"),
  seconds: Seconds,
  ended: orNull(
    Type.Enum([...SESSION_ENDS]),
    "log (the game told it), vanished (absent from two readings in a row without a log entry), gap (nobody was looking), or null while there",
  ),
  teams: Teams,
});
export type SessionResource = Static<typeof SessionResource>;
export const SessionPage = pageOf(SessionResource);
export type SessionPage = Static<typeof SessionPage>;

export const PresentHistory = Type.Object({
  at: time("The moment that was asked about"),
  known: Type.Boolean({ description: "Whether readings tell of that moment; when not, somebody may be missing" }),
  items: Type.Array(SessionResource, { description: "Their sessions, the one that began last first" }),
});
export type PresentHistory = Static<typeof PresentHistory>;

export const PlaytimeResource = Type.Object({
  player: PlayerName,
  id: PlayerId,
  seconds: Seconds,
  sessions: Type.Integer({ minimum: 0, description: "Sessions that touch the period" }),
});
export type PlaytimeResource = Static<typeof PlaytimeResource>;
export const PlaytimePage = pageOf(PlaytimeResource);
export type PlaytimePage = Static<typeof PlaytimePage>;

const COMMAND_COUNTS = Object.fromEntries(COMMAND_KINDS.map((kind) => [kind, Count])) as Record<
  (typeof COMMAND_KINDS)[number],
  typeof Count
>;
export const StaffResource = Type.Object({
  player: PlayerName,
  id: PlayerId,
  seconds: Seconds,
  teams: Teams,
  role: orNull(Type.String(), "The staff list on which the newest reading has them: Admins, Mods or Helpers"),
  commands: Type.Integer({ minimum: 0, description: "Commands used in the game" }),
  commands_by_kind: Type.Object(COMMAND_COUNTS, {
    description: "How many of them were of these kinds; the others are in `commands` only",
  }),
  modcalls_answered: Type.Integer({ minimum: 0, description: "Calls for a moderator answered" }),
  median_between: orNull(
    Type.Array(Type.Number({ minimum: 0 }), { minItems: 2, maxItems: 2 }),
    "The median of how long callers waited, in seconds: at least and at most, because readings show only that a call was answered between two of them; null without answers",
  ),
});
export type StaffResource = Static<typeof StaffResource>;
export const StaffPage = pageOf(StaffResource);
export type StaffPage = Static<typeof StaffPage>;

export const PeaksResource = Type.Object({
  tz: Type.String({ description: "The time zone of the table" }),
  table: Type.Array(
    Type.Array(orNull(Type.Number({ minimum: 0 }), "Players on average; null where nothing is known"), {
      minItems: 24,
      maxItems: 24,
    }),
    {
      minItems: 7,
      maxItems: 7,
      description: "A row for each day of the week, Monday first, with a value for each hour",
    },
  ),
});
export type PeaksResource = Static<typeof PeaksResource>;
