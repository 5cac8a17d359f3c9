// Players, notes about them and their calls for a moderator, on the wire.
import Type from "typebox";
import {
  AIMED_COMMANDS_MAX,
  KNOWN_NAMES_MAX,
  MOD_CALL_STATES,
  NOTE_KINDS,
  NOTE_LENGTH_MAX,
  NOTES_MAX,
} from "../players/vocabulary.ts";
import { pageOf } from "./page.ts";
import { Location } from "./server-info.ts";
import { bodyOf, Count, EpochMs, EventCursor, orNull, type Static, time, WhoResource } from "./values.ts";

export const ModCallId = Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$", description: "Id of the call" });
export const ModCallStateName = Type.Enum([...MOD_CALL_STATES], {
  description:
    "waiting; claimed (somebody is on the way); answered (in the game); left (the caller left a minute ago or more); expired (an hour old)",
});

export const ModCallResource = Type.Object({
  id: ModCallId,
  caller: Type.String({ description: "Name and id, as the game writes them: `Name:id`" }),
  opened_at: time("When it was opened, by the game's clock"),
  state: ModCallStateName,
  is_here: Type.Boolean({ description: "Whether the newest reading shows the caller" }),
  position: orNull(Location, "Where the caller is; null when that is not known, or not for this key"),
  answered_by: orNull(Type.String(), "Who answered it in the game, as `Name:id`"),
  answered_at: orNull(EpochMs, "When the answer was seen, in epoch milliseconds"),
  claimed_by: orNull(WhoResource, "Who is on the way, or was"),
  claimed_at: orNull(EpochMs, "Since when, in epoch milliseconds"),
});
export type ModCallResource = Static<typeof ModCallResource>;
export const ModCallPage = pageOf(ModCallResource);
export type ModCallPage = Static<typeof ModCallPage>;

export const ClaimChange = bodyOf({
  take: Type.Optional(
    Type.Boolean({ description: "must be true to take over a call that somebody else has claimed, or false" }),
  ),
});

export const PlayerResource = Type.Object({
  player: Type.String({ description: "The newest name, and the id: `Name:id`" }),
  id: Type.String({ description: "The id alone" }),
  names: Type.Array(Type.String(), { maxItems: KNOWN_NAMES_MAX, description: "Newest first" }),
  first_seen_at: time("When the player was first seen"),
  last_seen_at: time("When the player was last seen"),
  seconds: Type.Integer({ minimum: 0, description: "How long the player was there in all, in seconds" }),
  sessions: Type.Integer({ minimum: 0, description: "How often the player came" }),
  is_here: Type.Boolean({ description: "Whether the newest reading shows the player" }),
});
export type PlayerResource = Static<typeof PlayerResource>;
export const PlayerPage = pageOf(PlayerResource);
export type PlayerPage = Static<typeof PlayerPage>;

export const NoteId = Type.String({ pattern: "^note_[0-9A-Za-z]+$", description: "Id of the note" });
/** Line breaks and tabs are allowed, other control characters are not. */
const NOTE_TEXT =
  "^(?=[\\s\\S]*\\S)(?:\\r\\n|[^\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])+$";
const NoteText = Type.String({
  minLength: 1,
  maxLength: NOTE_LENGTH_MAX,
  pattern: NOTE_TEXT,
  description: `must be a text of 1 to ${NOTE_LENGTH_MAX} characters, without control characters but line breaks and tabs`,
});
const NoteKindName = Type.Enum([...NOTE_KINDS], { description: "must be note or warning" });

export const NewNote = bodyOf({ text: NoteText, kind: NoteKindName });
export type NewNote = Static<typeof NewNote>;

export const NoteResource = Type.Object({
  note_id: NoteId,
  text: Type.String(),
  kind: NoteKindName,
  by: WhoResource,
  at: time("When it was written"),
});
export type NoteResource = Static<typeof NoteResource>;
export const NotePage = pageOf(NoteResource);
export type NotePage = Static<typeof NotePage>;

export const AimedCommand = Type.Object({
  at: time("When it was used"),
  command: Type.String(),
  by: orNull(Type.String(), "Who used it in the game, as `Name:id`"),
  sent_by: orNull(WhoResource, "Who sent it through Gatehouse; null for a command typed in the game"),
  event_id: EventCursor,
});
export type AimedCommand = Static<typeof AimedCommand>;

export const PlayerRecord = Type.Object({
  ...PlayerResource.properties,
  teams: Type.Record(Type.String(), Count, { description: "Seconds in each team, as far as readings showed it" }),
  kills: Type.Optional(Type.Integer({ minimum: 0, description: "Only for keys with the section KillLogs" })),
  deaths: Type.Optional(Type.Integer({ minimum: 0, description: "Only for keys with the section KillLogs" })),
  commands: Type.Optional(
    Type.Array(AimedCommand, {
      maxItems: AIMED_COMMANDS_MAX,
      description: "The newest that were aimed at the player, newest first; only for keys with the section CommandLogs",
    }),
  ),
  modcalls: Type.Optional(
    Type.Object(
      {
        count: Count,
        last: orNull(
          Type.Object({ id: ModCallId, opened_at: time("When it was opened"), state: ModCallStateName }),
          "The newest; null for none",
        ),
      },
      { description: "Calls for a moderator by the player; only for keys with the section ModCalls" },
    ),
  ),
  notes: Type.Optional(
    Type.Array(NoteResource, {
      maxItems: NOTES_MAX,
      description: "Newest first; only for those who may write notes",
    }),
  ),
});
export type PlayerRecord = Static<typeof PlayerRecord>;
