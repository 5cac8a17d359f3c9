// Players, notes and calls for a moderator as answers show them, with the parts that a key may read.
import { writeCursor } from "../events/cursor.ts";
import { sumStays, toTeamSeconds } from "../history/answer-sessions.ts";
import { toSeconds } from "../history/rounding.ts";
import { type PlacedCall, stateOfCall } from "../modcalls/mod-calls.ts";
import type { AimedCommandRow, FoundPlayer, Note, PlayerFacts } from "../ports/players.ts";
import { type SectionSet, toSectionSet } from "../sections.ts";
import type { AimedCommand, ModCallResource, NoteResource, PlayerRecord, PlayerResource } from "../wire/players.ts";
import { KNOWN_NAMES_MAX } from "./vocabulary.ts";

const KILLS = toSectionSet(["KillLogs"]);
const COMMANDS = toSectionSet(["CommandLogs"]);
const MOD_CALLS = toSectionSet(["ModCalls"]);
const ALWAYS = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

export type RecordRights = { readonly sections: SectionSet; readonly mayNote: boolean };

export function describePlayer(found: FoundPlayer): PlayerResource {
  const { player, names, firstSeenAt, lastSeenAt, ms, sessions, current, isHere } = found;
  const currentMs = current ? Math.max(0, current.until - current.joinedAt) : 0;
  return {
    player: `${names[0] ?? ""}:${player}`,
    id: player,
    names: names.slice(0, KNOWN_NAMES_MAX),
    first_seen_at: firstSeenAt,
    last_seen_at: lastSeenAt,
    seconds: toSeconds(ms + currentMs),
    sessions: sessions + (current ? 1 : 0),
    is_here: isHere,
  };
}

export function describeRecord(
  serverId: string,
  facts: PlayerFacts,
  { sections, mayNote }: RecordRights,
  now: number,
): PlayerRecord {
  const { current, teamMs, kills, deaths, commands, modCalls, notes } = facts;
  const { count, last } = modCalls;
  return {
    ...describePlayer(facts),
    teams: toTeamSeconds(sumStays(current?.stays ?? [], ALWAYS, teamMs)),
    ...(sections & KILLS && { kills, deaths }),
    ...(sections & COMMANDS && { commands: commands.map((event) => describeCommand(serverId, event)) }),
    ...(sections & MOD_CALLS && {
      modcalls: {
        count,
        last: last && { id: last.callId, opened_at: last.openedAt, state: stateOfCall(last, now) },
      },
    }),
    ...(mayNote && { notes: notes.map(describeNote) }),
  };
}

export function describeNote({ noteId, text, kind, by, at }: Note): NoteResource {
  return { note_id: noteId, text, kind, by, at };
}

/** `position` is null when it is not known, or not for this reader. */
export function describeModCall(call: PlacedCall, position: ModCallResource["position"], now: number): ModCallResource {
  const { Caller } = JSON.parse(call.data) as { readonly Caller?: unknown };
  return {
    id: call.callId,
    caller: typeof Caller === "string" ? Caller : "",
    opened_at: call.openedAt,
    state: stateOfCall(call, now),
    is_here: call.isHere,
    position,
    answered_by: call.answeredBy,
    answered_at: call.answeredAt,
    claimed_by: call.claimedBy,
    claimed_at: call.claimedAt,
  };
}

function describeCommand(serverId: string, event: AimedCommandRow): AimedCommand {
  const { Command, Player } = JSON.parse(event.data) as { readonly Command?: unknown; readonly Player?: unknown };
  const { sent_by } = JSON.parse(event.meta ?? "{}") as { readonly sent_by?: AimedCommand["sent_by"] };
  return {
    at: event.at,
    command: typeof Command === "string" ? Command : "",
    by: typeof Player === "string" ? Player : null,
    sent_by: sent_by ?? null,
    event_id: writeCursor(serverId, event),
  };
}
