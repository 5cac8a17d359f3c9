// When players came and left, from the join log and the shown players together. The log says when, the players say who is there:
// neither is complete, so each makes up for what the other lacks. A session that did not change stays the same object.
import {
  type EndedSession,
  OPEN_SESSIONS_MAX,
  type OpenSession,
  type OpenSessions,
  type SessionEnd,
  STAYS_MAX,
  type Stay,
} from "./sessions.ts";
import type { ShownPlayer, ShownPlayers } from "./shown-players.ts";

/** An entry of the join log that no reading showed before. */
export type JoinEntry = {
  readonly player: string;
  readonly name: string;
  readonly at: number;
  readonly isJoin: boolean;
};

/** What a reading says about sessions. */
export type SessionReading = {
  readonly at: number;
  /** Undefined when the reading did not have them, or came late. */
  readonly players: ShownPlayers | undefined;
  /** Oldest first, in the game's order. */
  readonly entries: readonly JoinEntry[];
  /** Whether the reading had the join log, or said that the server is offline: only then is a missing entry a fact. */
  readonly hasLog: boolean;
  /** Entries of the join log were missed. */
  readonly hasGap: boolean;
  /** The newest time of the entries that were known before; null when there was none. */
  readonly newestAt: number | null;
  /** Readings before it were dropped. */
  readonly wasLost: boolean;
  /** When a reading last showed the players; null for never. */
  readonly shownAt: number | null;
  /** For how long a reading is valid at most. */
  readonly validMs: number;
};

export type JudgedSessions = { readonly ended: readonly EndedSession[]; readonly open: OpenSessions };

/** Readings in a row without the player, after which a session without an entry has ended. */
const ABSENT_READINGS = 2;

export function judgeSessions(open: OpenSessions, reading: SessionReading): JudgedSessions {
  return new SessionJudge(open, reading).judge();
}

/** Nobody knows how they went on. */
export function endAllSessions(open: OpenSessions, shownAt: SessionReading["shownAt"]): EndedSession[] {
  return Array.from(open, ([player, session]) => {
    const seenUntil = lastSeen(session, shownAt);
    return endSession(player, session, seenUntil, "gap", seenUntil);
  });
}

/** Until when the player is known to have been there. */
function lastSeen({ joinedAt, absence }: OpenSession, shownAt: number | null): number {
  return Math.max(joinedAt, absence?.seenUntil ?? shownAt ?? joinedAt);
}

/** `validUntil`: until when the last reading that showed the player is valid for the team. */
function endSession(
  player: string,
  session: OpenSession,
  at: number,
  ended: SessionEnd,
  validUntil: number,
): EndedSession {
  const { name, joinedAt, wasStaff } = session;
  // A time of the log may be earlier than a reading that showed the player: the log has whole seconds, and a clock of its own.
  const leftAt = Math.max(joinedAt, at);
  const stays = endStay(session, validUntil)
    .map(({ team, from, to }) => ({ team, from: Math.max(from, joinedAt), to: Math.min(to, leftAt) }))
    .filter(({ from, to }) => from < to);
  return { player, name, joinedAt, leftAt, ended, wasStaff, stays };
}

/** All stays, with the one that lasts as over. */
function endStay({ team, stays }: OpenSession, to: number): readonly Stay[] {
  if (!team || to <= team.since) return stays;
  return [...stays, { team: team.name, from: team.since, to }].slice(-STAYS_MAX);
}

/** Works through one reading. */
class SessionJudge {
  readonly #reading: SessionReading;
  /** Copied before the first change. */
  #open: OpenSessions;
  #copy: Map<string, OpenSession> | undefined;
  readonly #ended: EndedSession[] = [];
  /** When the sessions were over that this reading has ended, by player. */
  readonly #leftAt = new Map<string, number>();
  /** Those whose session an entry of this reading has ended. */
  readonly #gone = new Set<string>();
  /** Those whose session an entry of this reading has begun. */
  readonly #come = new Set<string>();
  #isFull = false;

  constructor(open: OpenSessions, reading: SessionReading) {
    this.#open = open;
    this.#reading = reading;
  }

  judge(): JudgedSessions {
    const { players, entries, hasGap } = this.#reading;
    if (players && hasGap) this.#endUnknown();
    for (const entry of entries) {
      if (entry.isJoin) this.#takeJoin(entry);
      else this.#takeLeave(entry);
    }
    if (players) {
      for (const [player, shown] of players) this.#takeShown(player, shown);
      this.#takeAbsent(players);
    }
    return { ended: this.#ended, open: this.#open };
  }

  /** After a time without readings whose entries were missed too, nobody knows who left and came again. */
  #endUnknown(): void {
    for (const [player, session] of this.#open) {
      if (this.#isUnseen(session)) this.#end(player, session, this.#lastSeen(session), "gap");
    }
  }

  #takeJoin(entry: JoinEntry): void {
    const { player, name, at } = entry;
    const session = this.#open.get(player);
    if (!session) {
      const joinedAt = this.#placeJoin(entry);
      if (joinedAt !== undefined) this.#beginLogged(player, name, joinedAt);
    } else if (at > session.joinedAt) {
      const leftAt = Math.min(this.#lastSeen(session), at);
      const isUnknown = this.#reading.hasGap || this.#isUnseen(session);
      this.#end(player, session, leftAt, isUnknown ? "gap" : "vanished");
      this.#beginLogged(player, name, at);
    } else if (!session.isLogged) {
      const { notBefore = at, ...rest } = session;
      const joinedAt = Math.min(session.joinedAt, Math.max(at, notBefore));
      this.#set(player, { ...rest, name, joinedAt, isLogged: true });
    }
  }

  /** When the session begins of a player who has none; undefined for an entry that is too old to tell of one. */
  #placeJoin({ player, at }: JoinEntry): number | undefined {
    const { at: readAt, players, shownAt, newestAt } = this.#reading;
    const leftAt = this.#leftAt.get(player) ?? at;
    if (newestAt === null || at >= newestAt) return Math.max(at, leftAt);
    // The log has left it out before, and what it tells of may be in a session already.
    return players?.has(player) ? Math.max(Math.min(shownAt ?? at, readAt), leftAt) : undefined;
  }

  #takeLeave({ player, at }: JoinEntry): void {
    const session = this.#open.get(player);
    if (!session) return;
    const isOlder = at < session.joinedAt && (session.isLogged || this.#reading.players?.has(player));
    if (isOlder) return;
    this.#end(player, session, at, "log");
    this.#gone.add(player);
  }

  #takeShown(player: string, shown: ShownPlayer): void {
    const session = this.#open.get(player);
    if (session) {
      const learned = this.#learn(session, shown);
      if (learned !== session) this.#set(player, learned);
      // A log that is ahead of the players: one who is still there is shown by the next reading too.
    } else if (!this.#gone.has(player)) this.#beginShown(player, shown);
  }

  #takeAbsent(players: ShownPlayers): void {
    const { hasLog, hasGap } = this.#reading;
    for (const [player, session] of this.#open) {
      if (players.has(player)) continue;
      const seenUntil = this.#lastSeen(session);
      const isUnknown = !this.#come.has(player) && (hasGap || this.#isUnseen(session));
      const readings = (session.absence?.readings ?? 0) + (hasLog ? 1 : 0);
      if (hasLog && isUnknown) this.#end(player, session, seenUntil, "gap");
      else if (readings >= ABSENT_READINGS) this.#end(player, session, seenUntil, "vanished");
      else if (session.absence?.readings !== readings)
        this.#set(player, { ...session, absence: { readings, seenUntil } });
    }
  }

  #beginLogged(player: string, name: string, joinedAt: number): void {
    this.#gone.delete(player);
    this.#come.add(player);
    const absence = { readings: 0, seenUntil: joinedAt };
    this.#begin(player, { name, joinedAt, isLogged: true, wasStaff: false, team: null, stays: [], absence });
  }

  #beginShown(player: string, { name, team, isStaff }: ShownPlayer): void {
    const { at, shownAt } = this.#reading;
    const notBefore = this.#leftAt.get(player) ?? shownAt;
    this.#begin(player, {
      name,
      joinedAt: at,
      isLogged: false,
      ...(notBefore === null ? {} : { notBefore: Math.min(notBefore, at) }),
      wasStaff: isStaff,
      team: team === null ? null : { name: team, since: at },
      stays: [],
      absence: null,
    });
  }

  #begin(player: string, session: OpenSession): void {
    if (this.#open.size >= OPEN_SESSIONS_MAX) this.#makeRoom();
    if (!this.#isFull) this.#set(player, session);
  }

  #makeRoom(): void {
    if (this.#isFull) return;
    for (const [player, session] of this.#open) {
      if (!session.absence || this.#reading.players?.has(player)) continue;
      this.#end(player, session, this.#lastSeen(session), "gap");
      return;
    }
    this.#isFull = true;
  }

  /** Returns the same session when the reading shows nothing new. */
  #learn(session: OpenSession, shown: ShownPlayer): OpenSession {
    const { team, wasStaff } = session;
    const isSameTeam = shown.team === null || shown.team === team?.name;
    const isSame = shown.name === session.name && (wasStaff || !shown.isStaff) && session.absence === null;
    const isKnownTime = !team || this.#isValidAt(session, team.since);
    if (isSame && isSameTeam && isKnownTime) return session;
    const learned = { ...session, name: shown.name, wasStaff: wasStaff || shown.isStaff, absence: null };
    return isSameTeam && isKnownTime ? learned : { ...learned, ...this.#changeTeam(session, shown.team) };
  }

  /** Whether the player is known to have been in the same team since that time until now. */
  #isValidAt(session: OpenSession, since: number): boolean {
    const { at, validMs } = this.#reading;
    return at >= since && at - this.#lastSeen(session) <= validMs;
  }

  #changeTeam(session: OpenSession, name: string | null): Pick<OpenSession, "team" | "stays"> {
    const { at, validMs } = this.#reading;
    const stays = endStay(session, Math.min(at, this.#lastSeen(session) + validMs));
    return {
      team: name === null ? null : { name, since: at },
      // After the clock was set back, stays may lie ahead.
      stays: stays.filter(({ to }) => to <= at),
    };
  }

  /** Whether so much time has passed since the player was shown that nobody knows what happened meanwhile. */
  #isUnseen({ absence }: OpenSession): boolean {
    const { at, shownAt, validMs, wasLost } = this.#reading;
    return wasLost || at - (absence?.seenUntil ?? shownAt ?? at) > validMs;
  }

  #lastSeen(session: OpenSession): number {
    return lastSeen(session, this.#reading.shownAt);
  }

  #end(player: string, session: OpenSession, at: number, how: SessionEnd): void {
    const validUntil = this.#lastSeen(session) + this.#reading.validMs;
    const ended = endSession(player, session, at, how, validUntil);
    this.#ended.push(ended);
    this.#leftAt.set(player, ended.leftAt);
    this.#change().delete(player);
  }

  #set(player: string, session: OpenSession): void {
    this.#change().set(player, session);
  }

  #change(): Map<string, OpenSession> {
    this.#copy ??= new Map(this.#open);
    this.#open = this.#copy;
    return this.#copy;
  }
}
