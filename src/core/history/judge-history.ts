// What one reading adds to the history of a server, beside its events: minutes that are over, sessions that have ended and what
// staff did. Pure, like the judging of events, and written together with them.
import { silenceMs } from "../events/judge-state.ts";
import type { ServerMemory } from "../events/memory.ts";
import type { NewEvent } from "../events/new-event.ts";
import type { GameReading } from "../events/reading.ts";
import { type HistoryChange, NO_HISTORY } from "./history.ts";
import { judgeCounts } from "./judge-counts.ts";
import { endAllSessions, type JoinEntry, judgeSessions } from "./judge-sessions.ts";
import { countShown, findPlayerId, nameOf, readPlayers } from "./shown-players.ts";
import { findStaffActs } from "./staff-acts.ts";

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
  const vouchMs = silenceMs(intervalMs);
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
    vouchMs,
  });
  const now = isLate ? undefined : countShown(reading, players);
  const counted = now && judgeCounts(known.counts, now, at, vouchMs);
  const minutes = counted?.minutes ?? [];
  const acts = findStaffActs(events);
  const isNothing = minutes.length + ended.length + acts.length === 0;
  return {
    history: isNothing ? NO_HISTORY : { minutes, sessions: ended, acts },
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
  };
}

/** What is left when the beginning is recorded. */
export function cutHistory(history: HistoryChange, recorded: HistoryChange): HistoryChange {
  return {
    minutes: history.minutes.slice(recorded.minutes.length),
    sessions: history.sessions.slice(recorded.sessions.length),
    acts: history.acts.slice(recorded.acts.length),
  };
}

function toJoinEntries(events: readonly NewEvent[]): JoinEntry[] {
  return events.flatMap(({ type, at, data }) => {
    const { Player } = JSON.parse(data) as { Player?: unknown };
    const player = findPlayerId(Player);
    return player === undefined
      ? []
      : [{ player, name: nameOf(Player), at, isJoin: type === "player.joined" }];
  });
}
