// What one reading adds to the history of a server, beside its events: minutes that are over, sessions that have ended and what
// staff did: commands used and calls answered. Pure, like the judging of events, and written together with them.
import { timeOf } from "../events/elements.ts";
import { silenceMs } from "../events/judge-state.ts";
import type { ServerMemory } from "../events/memory.ts";
import type { NewEvent } from "../events/new-event.ts";
import type { GameReading } from "../events/reading.ts";
import { findCommandKind } from "./command-kinds.ts";
import { type HistoryChange, type NewStaffAct, NO_HISTORY, type SeenPlayer } from "./history.ts";
import { judgeCounts } from "./join-counts.ts";
import { endAllSessions, type JoinEntry, judgeSessions } from "./judge-sessions.ts";
import type { OpenSessions } from "./sessions.ts";
import { countShown, findPlayerId, nameOf, readPlayers } from "./shown-players.ts";

/** More minutes do not wait to be recorded; then nothing is known of them. */
export const WAITING_MINUTES_MAX = 240;
/** While as many ended sessions of a server wait, readings that end more are dropped, as with too many events. */
export const WAITING_SESSIONS_MAX = 2_000;

export type HistoryMemory = Pick<ServerMemory, "counts" | "sessions" | "playersShownAt">;
/** What was known before the reading. */
export type KnownHistory = HistoryMemory & Pick<ServerMemory, "lists">;
export type JudgedHistory = { readonly history: HistoryChange; readonly memory: HistoryMemory };

/** What the log lists of the reading have told. */
export type ToldEntries = {
  /** All new entries. */
  readonly events: readonly NewEvent[];
  /** Those of the join log, in the game's order. */
  readonly joins: readonly NewEvent[];
  /** Entries of the join log were missed. */
  readonly hasJoinGap: boolean;
};

export type HistoryContext = {
  readonly intervalMs: number;
  /** Readings before this one were dropped. */
  readonly wasLost: boolean;
  /** The reading came after a newer one, so only its log entries count. */
  readonly isLate: boolean;
};

export function judgeHistory(
  known: KnownHistory,
  reading: GameReading,
  { events, joins, hasJoinGap }: ToldEntries,
  { intervalMs, wasLost, isLate }: HistoryContext,
): JudgedHistory {
  const { at, offline, sections } = reading;
  const validMs = silenceMs(intervalMs);
  const players = isLate ? undefined : readPlayers(reading);
  const { ended, open } = judgeSessions(known.sessions, {
    at,
    players,
    entries: toJoinEntries(joins),
    hasLog: offline !== null || Array.isArray(sections.JoinLogs),
    hasGap: hasJoinGap,
    newestAt: known.lists.JoinLogs.newestAt,
    wasLost,
    shownAt: known.playersShownAt,
    validMs,
  });
  const now = isLate ? undefined : countShown(reading, players);
  const counted = now && judgeCounts(known.counts, now, at, validMs);
  const minutes = counted?.minutes ?? [];
  const acts = findStaffActs(events);
  const seen = findSeen(known.sessions, open);
  const isNothing = minutes.length + ended.length + acts.length + seen.length === 0;
  return {
    history: isNothing ? NO_HISTORY : { minutes, sessions: ended, acts, seen },
    memory: {
      counts: counted?.memory ?? known.counts,
      sessions: open,
      playersShownAt: players ? at : known.playersShownAt,
    },
  };
}

/** Nobody knows what the open sessions have become: their entries were missed, or the game server is another one. */
export function breakOffSessions(known: HistoryMemory): JudgedHistory {
  const { sessions, playersShownAt } = known;
  if (sessions.size === 0) return { history: NO_HISTORY, memory: known };
  return {
    history: { ...NO_HISTORY, sessions: endAllSessions(sessions, playersShownAt) },
    memory: { ...known, sessions: new Map() },
  };
}

/** First one, then the other, with as many minutes as may wait: the first ones, so that each part stays the beginning. */
export function joinHistories(first: HistoryChange, second: HistoryChange): HistoryChange {
  if (second === NO_HISTORY) return first;
  if (first === NO_HISTORY) return second;
  return {
    minutes: [...first.minutes, ...second.minutes].slice(0, WAITING_MINUTES_MAX),
    sessions: [...first.sessions, ...second.sessions],
    acts: [...first.acts, ...second.acts],
    seen: [...first.seen, ...second.seen],
  };
}

/** What is left when the beginning is recorded. */
export function cutHistory(history: HistoryChange, recorded: HistoryChange): HistoryChange {
  return {
    minutes: history.minutes.slice(recorded.minutes.length),
    sessions: history.sessions.slice(recorded.sessions.length),
    acts: history.acts.slice(recorded.acts.length),
    seen: history.seen.slice(recorded.seen.length),
  };
}

/** A session that did not change is the same object, so most are not looked at. */
function findSeen(before: OpenSessions, open: OpenSessions): SeenPlayer[] {
  if (before === open) return [];
  return Array.from(open).flatMap(([player, session]) => {
    const known = before.get(player);
    const isSame = known === session || (known?.name === session.name && known.joinedAt === session.joinedAt);
    return isSame ? [] : [{ player, name: session.name, at: session.joinedAt }];
  });
}

function toJoinEntries(events: readonly NewEvent[]): JoinEntry[] {
  return events.flatMap(({ type, at, data }) => {
    const { Player } = JSON.parse(data) as { Player?: unknown };
    const player = findPlayerId(Player);
    return player === undefined ? [] : [{ player, name: nameOf(Player), at, isJoin: type === "player.joined" }];
  });
}

/** What staff did: commands used in the game, and calls for a moderator that were answered. An entry that was there before the first reading counts when its time is known: a command has one, an answer has none. Commands that came through the game's API have no player's id, except those that a person sent through Gatehouse whose player is known. */
export function findStaffActs(events: readonly NewEvent[]): NewStaffAct[] {
  return events.flatMap((event) => {
    const act =
      event.type === "command.used"
        ? toCommandAct(event)
        : event.type === "modcall.answered"
          ? toAnswerAct(event)
          : undefined;
    return act ? [act] : [];
  });
}

function toCommandAct(event: NewEvent): NewStaffAct | undefined {
  const command = JSON.parse(event.data) as { Player?: unknown; Command?: unknown };
  if (event.isBackfill && timeOf(command, "Timestamp") === null) return undefined;
  return toAct(event, event.staff ?? command.Player, { waited: null, kind: findCommandKind(command.Command) });
}

function toAnswerAct(event: NewEvent): NewStaffAct | undefined {
  if (event.isBackfill) return undefined;
  const call = JSON.parse(event.data) as { Moderator?: unknown };
  const calledAt = timeOf(call, "Timestamp");
  if (calledAt === null) return undefined;
  const meta = JSON.parse(event.meta ?? "{}") as { answered_between?: readonly [number, number] };
  const [since, until] = meta.answered_between ?? [calledAt, event.seenAt];
  // The game's clock may be ahead of ours.
  const low = Math.max(0, since - calledAt);
  return toAct(event, call.Moderator, { waited: [low, Math.max(low, until - calledAt)], kind: null });
}

function toAct(
  event: NewEvent,
  reference: unknown,
  what: Pick<NewStaffAct, "waited" | "kind">,
): NewStaffAct | undefined {
  const player = findPlayerId(reference);
  if (player === undefined) return undefined;
  const { at, identity } = event;
  return { player, name: nameOf(reference), at, ...what, ...(identity === null ? {} : { identity }) };
}
