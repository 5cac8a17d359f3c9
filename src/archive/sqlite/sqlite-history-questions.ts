// Questions about the history in SQLite. Only reads, so that it can run in a thread of its own on a read-only connection.
import type { Database } from "bun:sqlite";
import type { MemoryPart } from "../../core/events/memory-text.ts";
import { type Counts, RESOLUTION_MS, type Resolution } from "../../core/history/counts.ts";
import type {
  CountDetail,
  KeptSession,
  OpenHistory,
  Period,
  Presence,
  SessionsRequest,
  StaffFacts,
} from "../../core/ports/history.ts";
import { OPEN_PARTS, STAFF_PARTS, toListedStaff, toOpenHistory } from "../history-parts.ts";
import {
  type ActsRow,
  type AnswerRow,
  type CountsRow,
  columnsOf,
  type DaysRow,
  daysOf,
  edgesOf,
  listStaff,
  PresenceSum,
  SESSION_REACH_MS,
  type SessionRow,
  type SpanRow,
  type StaySessionRow,
  sumStaff,
  toCounts,
  toKeptSession,
} from "../history-rows.ts";

type SqliteValue = string | number | null;

/** Sessions that touch a period: ?2 is its beginning, ?3 its end, ?4 the earliest time at which they may have begun. */
const TOUCHES = "ledger = ?1 AND joined_at < ?3 AND joined_at >= ?4 AND (left_at > ?2 OR joined_at >= ?2)";
const SESSION_COLUMNS = "sessions.number, sessions.player, joined_at, left_at, ended, was_staff, stays";

export class SqliteHistoryQuestions {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  readCounts(
    serverId: string,
    resolution: Resolution,
    { from, to }: Period,
    detail: CountDetail = "all",
  ): Counts[] {
    return this.#db
      .query<CountsRow, SqliteValue[]>(
        `SELECT ${columnsOf(detail)} FROM counts JOIN ledgers USING (ledger)
         WHERE server_id = ? AND resolution = ? AND at > ? AND at < ? ORDER BY at`,
      )
      .all(serverId, resolution, from - RESOLUTION_MS[resolution], to)
      .map(toCounts);
  }

  readOpenHistory(serverId: string): OpenHistory {
    return toOpenHistory(this.#readParts(serverId, OPEN_PARTS));
  }

  listSessions({ serverId, player, from, to, after, limit }: SessionsRequest): KeptSession[] {
    return this.#inOneState(() => {
      const ledger = this.#findLedger(serverId);
      const earliest = player === undefined ? from - SESSION_REACH_MS : 0;
      const values: SqliteValue[] = [ledger, from, to, earliest, limit];
      const pageOn = after ? "AND joined_at <= ?6 AND (joined_at < ?6 OR sessions.number < ?7)" : "";
      if (after) values.push(after.joinedAt, after.number);
      const ofPlayer = player === undefined ? "" : `AND sessions.player = ?${values.push(player)}`;
      return this.#db
        .query<SessionRow, SqliteValue[]>(
          `SELECT ${SESSION_COLUMNS}, name FROM sessions LEFT JOIN player_names USING (ledger, player)
           WHERE ${TOUCHES} ${pageOn} ${ofPlayer} ORDER BY joined_at DESC, sessions.number DESC LIMIT ?5`,
        )
        .all(...values)
        .map(toKeptSession);
    });
  }

  sumPresence(
    serverId: string,
    period: Period,
    open: readonly Presence[],
    page: { readonly offset: number; readonly limit: number },
  ): Presence[] {
    return this.#inOneState(() => {
      const ledger = this.#findLedger(serverId);
      const sum = new PresenceSum(period);
      const { first, end } = daysOf(period);
      if (first < end) sum.addDays(this.#sumDays(ledger, first, end));
      for (const edge of edgesOf(period)) sum.addSpans(edge, this.#listSpans(ledger, edge));
      const found = sum.listPage(open, page);
      const names = this.#findNames(
        ledger,
        found.map(({ player }) => player),
      );
      return found.map((one) => ({ ...one, name: one.name ?? names.get(one.player) ?? "" }));
    });
  }

  readStaff(serverId: string, period: Period, also: readonly string[]): StaffFacts {
    return this.#inOneState(() => {
      const ledger = this.#findLedger(serverId);
      const { from, to } = period;
      const listed = toListedStaff(this.#readParts(serverId, STAFF_PARTS));
      const acts = this.#countActs(ledger, period);
      const answers = this.#db
        .query<AnswerRow, SqliteValue[]>(
          `SELECT player, low, high FROM staff_acts INDEXED BY staff_answers
           WHERE ledger = ? AND at >= ? AND at < ? AND low IS NOT NULL ORDER BY at`,
        )
        .all(ledger, from, to);
      const wasStaff = this.#db
        .query<{ player: string }, SqliteValue[]>(
          `SELECT DISTINCT player FROM sessions INDEXED BY sessions_of_staff WHERE was_staff = 1 AND ${TOUCHES}`,
        )
        .all(ledger, from, to, from - SESSION_REACH_MS);
      const players = listStaff(acts, wasStaff, [...listed.keys()], also);
      const names = this.#findNames(ledger, players);
      const sessions = this.#db
        .query<StaySessionRow, SqliteValue[]>(
          `SELECT player, joined_at, left_at, stays
           FROM json_each(?5) AS players CROSS JOIN sessions
           WHERE player = players.value AND ${TOUCHES}`,
        )
        .all(ledger, from, to, 0, JSON.stringify(players));
      const nameOf = (player: string) => names.get(player) ?? listed.get(player);
      return { members: sumStaff(period, players, nameOf, sessions, acts, answers), listed };
    });
  }

  /** Goes from player to player in the index, because sorting the acts of a year takes longer than counting them. */
  #countActs(ledger: number, { from, to }: Period): ActsRow[] {
    return this.#db
      .query<ActsRow, SqliteValue[]>(
        `WITH RECURSIVE acting (player) AS (
           SELECT min(player) FROM staff_acts INDEXED BY staff_acts_by_player WHERE ledger = ?1
           UNION ALL
           SELECT (SELECT min(player) FROM staff_acts INDEXED BY staff_acts_by_player
                   WHERE ledger = ?1 AND player > acting.player)
           FROM acting WHERE acting.player IS NOT NULL)
         SELECT * FROM (SELECT player, (SELECT count(*) FROM staff_acts a INDEXED BY staff_acts_by_player
             WHERE a.ledger = ?1 AND a.player = acting.player AND a.at >= ?2 AND a.at < ?3) AS acts
           FROM acting WHERE player IS NOT NULL) WHERE acts > 0`,
      )
      .all(ledger, from, to);
  }

  /** All queries of a question see one state. */
  #inOneState<T>(work: () => T): T {
    return this.#db.transaction(work).deferred();
  }

  /** 0, which no ledger has, for a server without one. */
  #findLedger(serverId: string): number {
    const row = this.#db
      .query<{ ledger: number }, [string]>("SELECT ledger FROM ledgers WHERE server_id = ?")
      .get(serverId);
    return row?.ledger ?? 0;
  }

  #readParts(serverId: string, parts: readonly string[]): MemoryPart[] {
    return this.#db
      .query<MemoryPart, [string, string]>(
        `SELECT part, text FROM memory JOIN ledgers USING (ledger)
         WHERE server_id = ? AND part IN (SELECT value FROM json_each(?))`,
      )
      .all(serverId, JSON.stringify(parts));
  }

  #sumDays(ledger: number, first: number, end: number): DaysRow[] {
    return this.#db
      .query<DaysRow, SqliteValue[]>(
        `SELECT player, sum(ms) AS ms, sum(begun) AS begun FROM player_days
         WHERE ledger = ? AND day >= ? AND day < ? GROUP BY player`,
      )
      .all(ledger, first, end);
  }

  #listSpans(ledger: number, { from, to }: Period): SpanRow[] {
    return this.#db
      .query<SpanRow, SqliteValue[]>(
        `SELECT player, joined_at, left_at FROM sessions INDEXED BY sessions_by_time WHERE ${TOUCHES}`,
      )
      .all(ledger, from, to, from - SESSION_REACH_MS);
  }

  #findNames(ledger: number, players: readonly string[]): Map<string, string> {
    const rows = this.#db
      .query<{ player: string; name: string }, [number, string]>(
        "SELECT player, name FROM player_names WHERE ledger = ? AND player IN (SELECT value FROM json_each(?))",
      )
      .all(ledger, JSON.stringify(players));
    return new Map(rows.map(({ player, name }) => [player, name]));
  }
}
