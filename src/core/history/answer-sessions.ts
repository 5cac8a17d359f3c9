// Answers who was there and for how long: sessions that have ended together with those that have not.
import type { KeptSession, OpenHistory, Period, Presence } from "../ports/history.ts";
import type { PlaytimeResource, SessionResource } from "../wire/history.ts";
import { toSeconds } from "./rounding.ts";
import type { OpenSession, Session, Stay } from "./sessions.ts";

const ALWAYS: Period = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** A session that has not ended, with the time until which it is known to last. */
export type CurrentSession = Session & { readonly until: number };

/**
 * Where a page of sessions ends: behind all that began later. Of those that began at the same time the open ones come first, by
 * player, then the others, newest number first.
 */
export type SessionPosition = {
  readonly joinedAt: number;
  /** Undefined for an open session. */
  readonly number: number | undefined;
  readonly player: string;
};

export type ListedSession = (KeptSession & { readonly until?: undefined }) | (CurrentSession & { number?: undefined });

/** The open sessions as they are at `now`. Nobody knows of a time for which no reading with players is valid. */
export function listCurrentSessions(open: OpenHistory, now: number): CurrentSession[] {
  const validUntil = Math.min(now, endOfValidity(open));
  return Array.from(open.sessions, ([player, session]) => toCurrentSession(player, session, validUntil));
}

/** Whether the newest reading with players is still valid. */
export function isVouchedFor(open: OpenHistory, now: number): boolean {
  return now <= endOfValidity(open);
}

function endOfValidity({ counts, seenAt }: OpenHistory): number {
  const validMs = counts.last ? counts.last.until - counts.last.at : 0;
  return seenAt === null ? 0 : seenAt + validMs;
}

function toCurrentSession(player: string, session: OpenSession, validUntil: number): CurrentSession {
  const { name, joinedAt, wasStaff, team, absence } = session;
  const until = Math.max(joinedAt, absence ? Math.min(absence.seenUntil, validUntil) : validUntil);
  const last: Stay[] = team && team.since < until ? [{ team: team.name, from: team.since, to: until }] : [];
  return { player, name, joinedAt, leftAt: null, ended: null, wasStaff, stays: [...session.stays, ...last], until };
}

/** When it ended, or until when it is known to last. */
export function endOf(session: Session & { readonly until?: number | undefined }): number {
  return session.until ?? session.leftAt ?? session.joinedAt;
}

/** Whether a part of it is in the period. One without a length is where it began. */
export function touches(session: Session & { readonly until?: number | undefined }, { from, to }: Period): boolean {
  return session.joinedAt < to && (endOf(session) > from || session.joinedAt >= from);
}

export function describeSession(session: ListedSession): SessionResource {
  const { player, name, joinedAt, leftAt, ended, stays } = session;
  return {
    player: `${name}:${player}`,
    id: player,
    joined_at: joinedAt,
    left_at: leftAt,
    seconds: toSeconds(Math.max(0, endOf(session) - joinedAt)),
    ended,
    teams: toTeamSeconds(sumStays(stays, ALWAYS)),
  };
}

export function toTeamSeconds(teamMs: Readonly<Record<string, number>>): Record<string, number> {
  const teams = Object.entries(teamMs).map(([team, ms]): [string, number] => [team, toSeconds(ms)]);
  return Object.fromEntries(teams);
}

/** The milliseconds in each team that are in the period, added to those that are known already. */
export function sumStays(
  stays: Iterable<Stay>,
  period: Period,
  known: Readonly<Record<string, number>> = {},
): Record<string, number> {
  const ms = new Map(Object.entries(known));
  for (const { team, ...time } of stays) {
    const length = clip(time, period);
    if (length > 0) ms.set(team, (ms.get(team) ?? 0) + length);
  }
  return Object.fromEntries(ms);
}

/** How much of a time is in the period, in milliseconds. */
export function clip(time: Period, { from, to }: Period): number {
  return Math.max(0, Math.min(time.to, to) - Math.max(time.from, from));
}

/** Newest first; see SessionPosition for those that began at the same time. */
export function compareSessions(a: ListedSession, b: ListedSession): number {
  if (a.joinedAt !== b.joinedAt) return b.joinedAt - a.joinedAt;
  if (a.number === undefined || b.number === undefined) {
    if (a.number === b.number) return compareIds(a.player, b.player);
    return a.number === undefined ? -1 : 1;
  }
  return b.number - a.number;
}

/** Whether an open session comes after the place. */
export function isAfterPlace({ joinedAt, player }: CurrentSession, place: SessionPosition): boolean {
  if (joinedAt !== place.joinedAt) return joinedAt < place.joinedAt;
  return place.number === undefined && compareIds(player, place.player) > 0;
}

/** One page, and the place of its last session when there are more. `ended` has one more than a page, if there is one. */
export function joinSessions(
  current: readonly CurrentSession[],
  ended: readonly KeptSession[],
  limit: number,
): { readonly sessions: ListedSession[]; readonly next: SessionPosition | null } {
  const all: ListedSession[] = [...current, ...ended].sort(compareSessions);
  const sessions = all.slice(0, limit);
  const last = sessions.at(-1);
  if (!last || all.length <= limit) return { sessions, next: null };
  return { sessions, next: { joinedAt: last.joinedAt, number: last.number, player: last.player } };
}

/** For how long each player of an open session was there in the period. */
export function toOpenPresence(current: readonly CurrentSession[], period: Period): Presence[] {
  return current
    .filter((session) => touches(session, period))
    .map(({ player, name, joinedAt, until }) => {
      return { player, name, ms: clip({ from: joinedAt, to: until }, period), sessions: 1 };
    });
}

export function describePlaytime({ player, name, ms, sessions }: Presence): PlaytimeResource {
  return { player: `${name}:${player}`, id: player, seconds: toSeconds(ms), sessions };
}

/** Ids are numbers that may be too large for one. */
export function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
