// Answers questions about the past of a server, from what the archive has written and what the memory of the server still holds.
import { alignPeriod, answerPlayers, type CountRights } from "../../core/history/answer-players.ts";
import {
  describePlaytime,
  describeSession,
  isAfterPlace,
  joinSessions,
  listCurrentSessions,
  type SessionPosition,
  toOpenPresence,
  touches,
} from "../../core/history/answer-sessions.ts";
import { answerStaff, listStaffNow } from "../../core/history/answer-staff.ts";
import {
  type Counts,
  RESOLUTION_KEPT_MS,
  RESOLUTION_MS,
  RESOLUTIONS,
  type Resolution,
} from "../../core/history/counts.ts";
import { HISTORY_KEPT_MS } from "../../core/history/history.ts";
import { listOpenMinutes } from "../../core/history/join-counts.ts";
import { answerPeaks, planPeaks } from "../../core/history/peaks.ts";
import type { TimeZone } from "../../core/history/time-zone.ts";
import type { HistoryStore, OpenHistory, Period } from "../../core/ports/history.ts";
import type {
  PeaksResource,
  PlayersHistory,
  PlaytimeResource,
  PresentHistory,
  SessionResource,
  StaffResource,
} from "../../core/wire/history.ts";

/** How often a question is asked again because a reading was recorded meanwhile. */
const ATTEMPTS_MAX = 2;
/** More are never there at one moment. */
const PRESENT_MAX = 1_000;
const MINUTE_MS = RESOLUTION_MS["1m"];

/** `now` is the time up to which the answer goes. */
export type Question = { readonly serverId: string; readonly period: Period; readonly now: number };

export type PageQuestion<Place> = Question & {
  /** Undefined for the first page. */
  readonly place: Place | undefined;
  readonly limit: number;
};

/** `next` is null on the last page. */
export type HistoryPage<T, Place> = { readonly items: readonly T[]; readonly next: Place | null };

export class HistoryReader {
  constructor(private readonly store: HistoryStore) {}

  async readPlayers(
    { serverId, period, now }: Question,
    resolution: Resolution,
    rights: CountRights,
  ): Promise<PlayersHistory> {
    const aligned = alignPeriod(period, resolution);
    const detail = rights.players || rights.queue ? "all" : "players";
    const { open, answer } = await this.#readTogether(serverId, () =>
      this.store.readCounts(serverId, resolution, aligned, detail),
    );
    const counts = [...answer, ...listOpenMinutes(open.counts, now)];
    return answerPlayers(period, resolution, counts, rights);
  }

  async readPeaks({ serverId, period, now }: Question, zone: TimeZone): Promise<PeaksResource> {
    const plans = planPeaks(period, zone, now);
    const { open, answer } = await this.#readTogether(serverId, () =>
      Promise.all(
        plans.map(({ resolution, period: part }) => this.store.readCounts(serverId, resolution, part, "players")),
      ),
    );
    const written = answer.flatMap((counts, index) => withLength(counts, plans[index]?.resolution ?? "1h"));
    const { from, to } = alignPeriod(period, "5m");
    const unwritten = listOpenMinutes(open.counts, now).filter(({ at }) => at >= from && at < to);
    return answerPeaks(zone, [...written, ...withLength(unwritten, "1m")]);
  }

  /** Newest first. `player` is an id; undefined for everybody. */
  async listSessions(
    { serverId, period, now, place, limit }: PageQuestion<SessionPosition>,
    player: string | undefined,
  ): Promise<HistoryPage<SessionResource, SessionPosition>> {
    const after = place && { joinedAt: place.joinedAt, number: place.number ?? Number.MAX_SAFE_INTEGER };
    const { open, answer } = await this.#readTogether(serverId, () =>
      this.store.listSessions({ serverId, ...period, player, after, limit: limit + 1 }),
    );
    const current = listCurrentSessions(open, now).filter((session) => {
      if (player !== undefined && session.player !== player) return false;
      return touches(session, period) && (!place || isAfterPlace(session, place));
    });
    const { sessions, next } = joinSessions(current, answer, limit);
    return { items: sessions.map(describeSession), next };
  }

  /** Who was there at a moment. Nothing is known of one to come. */
  async readPresent(serverId: string, at: number, now: number): Promise<PresentHistory> {
    const resolution = RESOLUTIONS.find((one) => now - at <= (RESOLUTION_KEPT_MS[one] ?? Number.POSITIVE_INFINITY));
    const period = alignPeriod({ from: at, to: at + 1 }, resolution ?? "1d");
    const { open, answer } = await this.#readTogether(serverId, () =>
      Promise.all([
        this.store.listSessions({ serverId, from: at, to: at + 1, limit: PRESENT_MAX }),
        this.store.readCounts(serverId, resolution ?? "1d", period, "players"),
        this.store.isInGap(serverId, at),
      ]),
    );
    const [ended, counts, isInGap] = answer;
    const current = listCurrentSessions(open, now).filter(({ joinedAt, until }) => joinedAt <= at && until >= at);
    const { sessions } = joinSessions(current, ended, PRESENT_MAX);
    const { last } = open.counts;
    const isKept = !isInGap && now - at <= HISTORY_KEPT_MS;
    const around = { ...period, to: Math.min(period.to, now) };
    const isBefore = () => isKnownIn(around, [...counts, ...listOpenMinutes(open.counts, now)], sessions.length > 0);
    const known = isKept && at <= now && last !== null && at <= last.until && (at >= last.at || isBefore());
    return { at, known, items: sessions.map(describeSession) };
  }

  /** Most time first. The place is how many come before. */
  async listPlaytime({
    serverId,
    period,
    now,
    place: offset = 0,
    limit,
  }: PageQuestion<number>): Promise<HistoryPage<PlaytimeResource, number>> {
    const page = { offset, limit: limit + 1 };
    const { answer } = await this.#readTogether(serverId, (open) => {
      const presence = toOpenPresence(listCurrentSessions(open, now), period);
      return this.store.sumPresence(serverId, period, presence, page);
    });
    return { items: answer.slice(0, limit).map(describePlaytime), next: answer.length > limit ? offset + limit : null };
  }

  /** Most time first. The place is how many come before. */
  async listStaff({
    serverId,
    period,
    now,
    place: offset = 0,
    limit,
  }: PageQuestion<number>): Promise<HistoryPage<StaffResource, number>> {
    const { open, answer } = await this.#readTogether(serverId, (before) =>
      this.store.readStaff(serverId, period, listStaffNow(listCurrentSessions(before, now), period)),
    );
    const all = answerStaff(period, answer, listCurrentSessions(open, now));
    const end = offset + limit;
    return { items: all.slice(offset, end), next: all.length > end ? end : null };
  }

  /**
   * What is written and what is still open are read one after the other. When a minute or a session has ended in between, it would
   * be in both, so both are read again.
   */
  async #readTogether<T>(
    serverId: string,
    read: (open: OpenHistory) => Promise<T>,
  ): Promise<{ readonly open: OpenHistory; readonly answer: T }> {
    let open = await this.store.readOpenHistory(serverId);
    for (let attempt = 1; ; attempt++) {
      const answer = await read(open);
      const after = await this.store.readOpenHistory(serverId);
      if (attempt === ATTEMPTS_MAX || isStillOpen(open, after)) return { open, answer };
      open = after;
    }
  }
}

/** Whether nothing of what was open has ended. */
function isStillOpen(before: OpenHistory, after: OpenHistory): boolean {
  if (openMinuteOf(before) !== openMinuteOf(after)) return false;
  for (const [player, { joinedAt }] of before.sessions)
    if (after.sessions.get(player)?.joinedAt !== joinedAt) return false;
  return true;
}

/** Whether a moment of the period counts as known: most of it is, or a part of it while somebody was there. */
function isKnownIn({ from, to }: Period, counts: readonly Counts[], isAnybodyThere: boolean): boolean {
  const knownMs = counts.filter(({ at }) => at >= from && at < to).reduce((sum, one) => sum + one.knownMs, 0);
  return knownMs > 0 && (isAnybodyThere || 2 * knownMs >= to - from);
}

function openMinuteOf({ counts: { minute, last } }: OpenHistory): number | undefined {
  return minute?.at ?? (last ? Math.floor(last.at / MINUTE_MS) * MINUTE_MS : undefined);
}

function withLength(counts: readonly Counts[], resolution: Resolution) {
  return counts.map((one) => ({ counts: one, lengthMs: RESOLUTION_MS[resolution] }));
}
