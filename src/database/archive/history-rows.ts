// The rows of the history, and the sums that are made of them.
import { DAY_MS } from "../../core/durations.ts";
import { clip, compareIds } from "../../core/history/answer-sessions.ts";
import { type CommandKind, NO_KINDS } from "../../core/history/command-kinds.ts";
import { type Counts, RESOLUTIONS, type Resolution } from "../../core/history/counts.ts";
import { HISTORY_KEPT_MS, type HistoryChange, type StaffAct } from "../../core/history/history.ts";
import { rollUp } from "../../core/history/join-counts.ts";
import type { Stay } from "../../core/history/sessions.ts";
import type { CountDetail, KeptSession, Period, Presence, StaffFacts, StaffSum } from "../../core/ports/history.ts";
import { asFields, toStorable } from "../sql.ts";

/** A question about all players finds sessions that began at most so long before its period. */
export const SESSION_REACH_MS = 31 * DAY_MS;

export type CountsRow = {
  readonly at: number;
  readonly known_ms: number;
  readonly player_ms: number;
  readonly min: number;
  readonly max: number;
  readonly queue_max: number | null;
  readonly staff_max: number | null;
  /** JSON text (see writeTeams); null when it was not asked for. */
  readonly teams: string | null;
};
export const COUNTS_COLUMNS = "at, known_ms, player_ms, min, max, queue_max, staff_max, teams";
const PLAYERS_COLUMNS = "at, known_ms, player_ms, min, max, NULL AS queue_max, NULL AS staff_max, NULL AS teams";

export function columnsOf(detail: CountDetail): string {
  return detail === "all" ? COUNTS_COLUMNS : PLAYERS_COLUMNS;
}

/** Without its name. `stays` is JSON text. */
export type StoredSession = Omit<KeptSession, "name" | "wasStaff" | "stays"> & {
  readonly wasStaff: number;
  readonly stays: string;
};
export const SESSION_FIELDS = asFields("number, player, joined_at, left_at, ended, was_staff, stays");

/** The part of a session that counts its time. */
export type SpanRow = { readonly player: string; readonly joined_at: number; readonly left_at: number };
/** The time of a player in one day, or in several; `begun`: the sessions that began then. */
export type DaysRow = { readonly player: string; readonly ms: number; readonly begun: number };

/** What a session tells about staff. */
export type StaySessionRow = SpanRow & Pick<StoredSession, "stays">;
/** How many acts of a kind a player did; the kind is empty for answers, and for commands of no kind. */
export type ActsRow = { readonly player: string; readonly kind: CommandKind | ""; readonly acts: number };
/** An answer to a call for a moderator. */
export type AnswerRow = { readonly player: string; readonly low: number; readonly high: number };

export type ResolvedCounts = Counts & { readonly resolution: Resolution };
export type PlayerDay = { readonly day: number; readonly player: string; readonly ms: number; readonly begun: number };

/**
 * What a record adds when some of its events were recorded before: an act that belongs to one of them (see NewStaffAct) was
 * counted then.
 */
export function withoutRepeated(change: HistoryChange, repeated: ReadonlySet<string>): HistoryChange {
  if (repeated.size === 0) return change;
  const isNew = ({ identity }: StaffAct & { readonly identity?: string }) =>
    identity === undefined || !repeated.has(identity);
  return { ...change, acts: change.acts.filter(isNew) };
}

/** What the finished minutes add to each resolution, one for each row. */
export function resolveMinutes(minutes: readonly Counts[]): ResolvedCounts[] {
  // Without known time there is no fewest and no most.
  const known = minutes.filter(({ knownMs }) => knownMs > 0);
  return RESOLUTIONS.flatMap((resolution) => rollUp(known, resolution).map((counts) => ({ ...counts, resolution })));
}

export function toCountsRow(counts: Counts) {
  return {
    at: counts.at,
    known_ms: Math.round(counts.knownMs),
    player_ms: Math.round(counts.playerMs),
    min: counts.min,
    max: counts.max,
    queue_max: counts.queueMax,
    staff_max: counts.staffMax,
    teams: writeTeams(counts),
  };
}

export function toCounts(row: CountsRow): Counts {
  return {
    at: row.at,
    knownMs: row.known_ms,
    playerMs: row.player_ms,
    min: row.min,
    max: row.max,
    queueMax: row.queue_max,
    staffMax: row.staff_max,
    ...parseTeams(row.teams, row.known_ms),
  };
}

export function toSessionRow(session: HistoryChange["sessions"][number]) {
  return {
    player: session.player,
    joined_at: Math.round(session.joinedAt),
    left_at: Math.round(session.leftAt),
    ended: session.ended ?? "gap",
    was_staff: session.wasStaff ? 1 : 0,
    stays: writeStays(session.stays),
  };
}

export function toKeptSession(stored: StoredSession & { readonly name: string | null }): KeptSession {
  const { name, wasStaff, stays, ...session } = stored;
  return { ...session, name: name ?? "", wasStaff: wasStaff === 1, stays: parseStays(stays) };
}

export function toActRow({ player, at, waited, kind }: StaffAct) {
  const [low, high] = waited ?? [null, null];
  return {
    player,
    at: Math.round(at),
    low: low === null ? null : Math.round(low),
    high: high === null ? null : Math.round(high),
    kind: kind ?? "",
  };
}

/** The time of the sessions in each day, and where they began, one for each player and day. */
export function splitIntoDays(sessions: HistoryChange["sessions"]): PlayerDay[] {
  const days = new Map<string, PlayerDay>();
  for (const { player, joinedAt, leftAt } of sessions) {
    // What is older is not kept, and a wrong clock must not make days without end.
    const from = Math.max(joinedAt, leftAt - HISTORY_KEPT_MS);
    for (let day = dayOf(from); day <= dayOf(Math.max(from, leftAt)); day++) {
      const key = `${day} ${player}`;
      const ms = Math.max(0, Math.round(Math.min(leftAt, (day + 1) * DAY_MS) - Math.max(from, day * DAY_MS)));
      const begun = day === dayOf(joinedAt) ? 1 : 0;
      const found = days.get(key);
      if (ms > 0 || begun > 0)
        days.set(key, { day, player, ms: ms + (found?.ms ?? 0), begun: begun + (found?.begun ?? 0) });
    }
  }
  return [...days.values()];
}

/**
 * The names that a change tells. Those of sessions are the newest that is known (`isNewest`); an act may be an old one that is
 * told late, so its name counts only when there is none.
 */
export function listNames({ sessions, acts }: HistoryChange): { player: string; name: string; isNewest: boolean }[] {
  const names = new Map<string, { player: string; name: string; isNewest: boolean }>();
  for (const { player, name } of acts) names.set(player, { player, name: toStorable(name), isNewest: false });
  for (const { player, name } of sessions) names.set(player, { player, name: toStorable(name), isNewest: true });
  return [...names.values()];
}

/** The whole days of a period; `first` is the first, `end` the one after the last. They are equal when there is none. */
export function daysOf({ from, to }: Period): { readonly first: number; readonly end: number } {
  const first = Math.ceil(from / DAY_MS);
  return { first, end: Math.max(first, Math.floor(to / DAY_MS)) };
}

/** The parts of a period that are before and after its whole days; the first also tells what runs at the beginning. */
export function edgesOf(period: Period): readonly Period[] {
  const { first, end } = daysOf(period);
  if (first === end) return [period];
  return [
    { from: period.from, to: first * DAY_MS },
    { from: end * DAY_MS, to: period.to },
  ];
}

/**
 * Adds up what a period consists of: whole days, and sessions that touch its edges. A session counts where it began, and
 * one that began before the period counts once, at its beginning.
 */
export class PresenceSum {
  readonly #sums = new Map<string, { ms: number; sessions: number }>();

  constructor(private readonly period: Period) {}

  addDays(rows: readonly DaysRow[]): void {
    for (const { player, ms, begun } of rows) this.#add(player, ms, begun);
  }

  addSpans(edge: Period, rows: readonly SpanRow[]): void {
    for (const { player, joined_at, left_at } of rows) {
      const ms = clip({ from: joined_at, to: left_at }, edge);
      const isBegunHere = joined_at >= edge.from && joined_at < edge.to;
      const isRunning = edge.from === this.period.from && joined_at < edge.from;
      this.#add(player, ms, isBegunHere || isRunning ? 1 : 0);
    }
  }

  /** Most first; of equal ones the smaller id first. The names are those of `open`. */
  listPage(
    open: readonly Presence[],
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): { player: string; name: string | undefined; ms: number; sessions: number }[] {
    for (const { player, ms, sessions } of open) this.#add(player, ms, sessions);
    const names = new Map(open.map(({ player, name }) => [player, name]));
    return [...this.#sums]
      .map(([player, sum]) => ({ player, name: names.get(player), ...sum }))
      .filter(({ ms, sessions }) => ms > 0 || sessions > 0)
      .toSorted((one, other) => other.ms - one.ms || compareIds(one.player, other.player))
      .slice(offset, offset + limit);
  }

  #add(player: string, ms: number, sessions: number): void {
    const sum = this.#sums.get(player);
    if (!sum) {
      this.#sums.set(player, { ms, sessions });
      return;
    }
    sum.ms += ms;
    sum.sessions += sessions;
  }
}

/** Everybody whom the question about staff is about. */
export function listStaff(
  ...groups: readonly (readonly { readonly player: string }[] | readonly string[])[]
): string[] {
  return [...new Set(groups.flat().map((one) => (typeof one === "string" ? one : one.player)))];
}

/** What each of the players did in the period. */
export function sumStaff(
  period: Period,
  players: readonly string[],
  nameOf: (player: string) => string | undefined,
  listed: StaffFacts["listed"],
  sessions: readonly StaySessionRow[],
  acts: readonly ActsRow[],
  answers: readonly AnswerRow[],
): StaffSum[] {
  const sums = new Map(
    players.map((player) => {
      return [
        player,
        { ms: 0, teamMs: new Map<string, number>(), acts: 0, byKind: { ...NO_KINDS }, waits: [] as [number, number][] },
      ];
    }),
  );
  for (const { player, joined_at, left_at, stays } of sessions) {
    const sum = sums.get(player);
    if (!sum) continue;
    sum.ms += clip({ from: joined_at, to: left_at }, period);
    for (const { team, from, to } of parseStays(stays)) {
      const ms = clip({ from, to }, period);
      if (ms > 0) sum.teamMs.set(team, (sum.teamMs.get(team) ?? 0) + ms);
    }
  }
  for (const { player, kind, acts: count } of acts) {
    const sum = sums.get(player);
    if (!sum) continue;
    sum.acts += count;
    if (kind !== "") sum.byKind[kind] = count;
  }
  for (const { player, low, high } of answers) sums.get(player)?.waits.push([low, high]);
  return Array.from(sums, ([player, sum]) => ({
    player,
    name: nameOf(player) ?? "",
    ms: sum.ms,
    teamMs: Object.fromEntries(sum.teamMs),
    commands: sum.acts - sum.waits.length,
    byKind: sum.byKind,
    role: listed.get(player)?.role ?? null,
    waits: sum.waits,
  }));
}

/** Rows that are older need not be kept: `at` for times, `day` for whole days. */
export function historyCutoff(now: number): { readonly at: number; readonly day: number } {
  const at = now - HISTORY_KEPT_MS;
  // A day that is kept in part goes too, so that every day that is kept has its sessions, and with them the names.
  return { at, day: Math.floor(at / DAY_MS) + 1 };
}

function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}

/** The time in each team; as `[teamKnownMs, teams]` when the teams were not known all of the known time. */
function writeTeams({ knownMs, teamKnownMs, teamMs }: Counts): string {
  return JSON.stringify(teamKnownMs === knownMs ? teamMs : [Math.round(teamKnownMs), teamMs]);
}

function parseTeams(text: string | null, knownMs: number): Pick<Counts, "teamKnownMs" | "teamMs"> {
  if (text === null) return { teamKnownMs: 0, teamMs: {} };
  const teams = JSON.parse(text) as Counts["teamMs"] | [number, Counts["teamMs"]];
  if (!Array.isArray(teams)) return { teamKnownMs: knownMs, teamMs: teams };
  const [teamKnownMs, teamMs] = teams;
  return { teamKnownMs, teamMs };
}

/** As `[team, from, to]`, because there are many of them. */
function writeStays(stays: readonly Stay[]): string {
  return JSON.stringify(stays.map(({ team, from, to }) => [team, from, to]));
}

export function parseStays(text: string): Stay[] {
  return (JSON.parse(text) as [string, number, number][]).map(([team, from, to]) => ({ team, from, to }));
}
