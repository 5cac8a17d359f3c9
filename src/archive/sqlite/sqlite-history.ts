// The history in SQLite: what a record adds to it, what is too old, and how a player is forgotten. Synchronous, like the ledgers. Questions about it are in
// sqlite-history-questions.ts, because they have a thread of their own.
import type { Database } from "bun:sqlite";
import { FORGOTTEN_ID, FORGOTTEN_NAME } from "../../core/events/forget-player.ts";
import { RESOLUTION_KEPT_MS, RESOLUTIONS, type Resolution } from "../../core/history/counts.ts";
import type { HistoryChange } from "../../core/history/history.ts";
import { addCounts } from "../../core/history/join-counts.ts";
import { FORGET_HISTORY_ROWS } from "../forgetting.ts";
import {
  COUNTS_COLUMNS,
  type CountsRow,
  historyCutoff,
  listNames,
  type PlayerDay,
  type ResolvedCounts,
  resolveMinutes,
  splitIntoDays,
  toActRow,
  toCounts,
  toCountsRow,
  toSessionRow,
} from "../history-rows.ts";
import { PRUNE_LEDGERS_MAX } from "../ledger-rules.ts";

type SqliteValue = string | number | null;
type OldRow = Readonly<Record<string, SqliteValue>>;

export class SqliteHistory {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(ledger: number, change: HistoryChange): void {
    for (const counts of resolveMinutes(change.minutes)) this.#addCounts(ledger, counts);
    for (const session of change.sessions) this.#addSession(ledger, toSessionRow(session));
    for (const day of splitIntoDays(change.sessions)) this.#addDay(ledger, day);
    for (const act of change.acts) this.#addAct(ledger, toActRow(act));
    for (const { player, name, isNewest } of listNames(change)) {
      this.#db
        .query(
          `INSERT INTO player_names (ledger, player, name) VALUES (?1, ?2, ?3)
           ON CONFLICT DO UPDATE SET name = excluded.name WHERE ?4 = 1 AND name <> excluded.name`,
        )
        .run(ledger, player, name, isNewest ? 1 : 0);
    }
  }

  /** The ledgers with rows that are too old. */
  listPrunable(now: number): number[] {
    const { at } = historyCutoff(now);
    const counts = listKept(now).map(({ resolution, cutoff }) => {
      return `EXISTS (SELECT 1 FROM counts c WHERE c.ledger = l.ledger AND resolution = '${resolution}' AND c.at < ${cutoff})`;
    });
    const conditions = [
      ...counts,
      `EXISTS (SELECT 1 FROM sessions s WHERE s.ledger = l.ledger AND s.joined_at < ${at} AND s.left_at < ${at})`,
      `EXISTS (SELECT 1 FROM staff_acts a WHERE a.ledger = l.ledger AND a.at < ${at})`,
    ];
    // Prepared without a cache, because the times are part of it.
    const statement = this.#db.prepare<{ ledger: number }, []>(
      `SELECT l.ledger FROM ledgers l WHERE ${conditions.join(" OR ")} LIMIT ${PRUNE_LEDGERS_MAX}`,
    );
    try {
      return statement.all().map(({ ledger }) => ledger);
    } finally {
      statement.finalize();
    }
  }

  /** Deletes at most `limit` rows that are too old, and the names that nothing needs any more. Returns how many rows. */
  prune(ledger: number, now: number, limit: number): number {
    const { at, day } = historyCutoff(now);
    let left = limit;
    for (const { resolution, cutoff } of listKept(now)) {
      const rows = this.#find(
        "SELECT resolution, at FROM counts WHERE ledger = ? AND resolution = ? AND at < ? ORDER BY at LIMIT ?",
        [ledger, resolution, cutoff, left],
      );
      left -= this.#delete("counts", ledger, ["resolution", "at"], rows);
    }
    const sessions = this.#find(
      `SELECT joined_at, number, player FROM sessions INDEXED BY sessions_by_time
       WHERE ledger = ?1 AND joined_at < ?2 AND left_at < ?2
       ORDER BY joined_at LIMIT ?3`,
      [ledger, at, left],
    );
    left -= this.#delete("sessions", ledger, ["player", "joined_at", "number"], sessions);
    const gone = new Set(sessions.map(({ player }) => String(player)));
    const deleteDays = this.#db.query("DELETE FROM player_days WHERE ledger = ? AND player = ? AND day < ?");
    for (const player of gone) deleteDays.run(ledger, player, day);
    const acts = this.#find(
      "SELECT at, number, player FROM staff_acts WHERE ledger = ? AND at < ? ORDER BY at LIMIT ?",
      [ledger, at, left],
    );
    left -= this.#delete("staff_acts", ledger, ["at", "number"], acts);
    for (const { player } of acts) gone.add(String(player));
    this.#deleteUnusedNames(ledger, gone);
    return limit - left;
  }

  findName(ledger: number, player: string): string | undefined {
    return this.#db
      .query<{ name: string }, [number, string]>(
        "SELECT name FROM player_names WHERE ledger = ? AND player = ?",
      )
      .get(ledger, player)?.name;
  }

  /** Takes a player out, in steps of bounded size. True when there is more to do. */
  forget(ledger: number, player: string): boolean {
    this.#forgetDays(ledger, player);
    const sessions = this.#find(
      "SELECT joined_at, number FROM sessions WHERE ledger = ? AND player = ? LIMIT ?",
      [ledger, player, FORGET_HISTORY_ROWS],
    );
    const acts = this.#find("SELECT at, number FROM staff_acts WHERE ledger = ? AND player = ? LIMIT ?", [
      ledger,
      player,
      FORGET_HISTORY_ROWS,
    ]);
    const forgetSession = this.#db.query<unknown, SqliteValue[]>(
      "UPDATE sessions SET player = ?1 WHERE ledger = ?2 AND player = ?3 AND joined_at = ?4 AND number = ?5",
    );
    for (const { joined_at, number } of sessions)
      forgetSession.run(FORGOTTEN_ID, ledger, player, joined_at ?? 0, number ?? 0);
    const forgetAct = this.#db.query<unknown, SqliteValue[]>(
      "UPDATE staff_acts SET player = ? WHERE ledger = ? AND at = ? AND number = ?",
    );
    for (const { at, number } of acts) forgetAct.run(FORGOTTEN_ID, ledger, at ?? 0, number ?? 0);
    if (
      this.#db.query("DELETE FROM player_names WHERE ledger = ? AND player = ?").run(ledger, player).changes >
      0
    ) {
      this.#db
        .query("INSERT OR REPLACE INTO player_names (ledger, player, name) VALUES (?, ?, ?)")
        .run(ledger, FORGOTTEN_ID, FORGOTTEN_NAME);
    }
    return sessions.length === FORGET_HISTORY_ROWS || acts.length === FORGET_HISTORY_ROWS;
  }

  #forgetDays(ledger: number, player: string): void {
    const rows = this.#db
      .query<{ day: number; ms: number; begun: number }, [number, string]>(
        "SELECT day, ms, begun FROM player_days WHERE ledger = ? AND player = ?",
      )
      .all(ledger, player);
    const remove = this.#db.query("DELETE FROM player_days WHERE ledger = ? AND day = ? AND player = ?");
    for (const { day, ms, begun } of rows) {
      remove.run(ledger, day, player);
      this.#addDay(ledger, { day, player: FORGOTTEN_ID, ms, begun });
    }
  }

  #addDay(ledger: number, { day, player, ms, begun }: PlayerDay): void {
    this.#db
      .query(
        `INSERT INTO player_days (ledger, day, player, ms, begun) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET ms = ms + excluded.ms, begun = begun + excluded.begun`,
      )
      .run(ledger, day, player, ms, begun);
  }

  #addCounts(ledger: number, counts: ResolvedCounts): void {
    const { resolution, at } = counts;
    const found = this.#db
      .query<CountsRow, [number, Resolution, number]>(
        `SELECT ${COUNTS_COLUMNS} FROM counts WHERE ledger = ? AND resolution = ? AND at = ?`,
      )
      .get(ledger, resolution, at);
    const row = toCountsRow(found ? addCounts(toCounts(found), counts) : counts);
    this.#db
      .query<unknown, SqliteValue[]>(
        `INSERT OR REPLACE INTO counts (ledger, resolution, ${COUNTS_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        ledger,
        resolution,
        at,
        row.known_ms,
        row.player_ms,
        row.min,
        row.max,
        row.queue_max,
        row.staff_max,
        row.teams,
      );
  }

  #addSession(ledger: number, row: ReturnType<typeof toSessionRow>): void {
    this.#db
      .query(
        `INSERT INTO sessions (ledger, joined_at, number, player, left_at, ended, was_staff, stays)
         SELECT ?1, ?2, coalesce(max(number) + 1, 0), ?3, ?4, ?5, ?6, ?7 FROM sessions INDEXED BY sessions_by_time
         WHERE ledger = ?1 AND joined_at = ?2`,
      )
      .run(ledger, row.joined_at, row.player, row.left_at, row.ended, row.was_staff ? 1 : 0, row.stays);
  }

  #addAct(ledger: number, { player, at, low, high }: ReturnType<typeof toActRow>): void {
    this.#db
      .query(
        `INSERT INTO staff_acts (ledger, at, number, player, low, high)
         SELECT ?1, ?2, coalesce(max(number) + 1, 0), ?3, ?4, ?5 FROM staff_acts WHERE ledger = ?1 AND at = ?2`,
      )
      .run(ledger, at, player, low, high);
  }

  #find(sql: string, values: readonly SqliteValue[]): OldRow[] {
    return this.#db.query<OldRow, SqliteValue[]>(sql).all(...values);
  }

  #delete(table: string, ledger: number, key: readonly string[], rows: readonly OldRow[]): number {
    const place = key.map((column) => `${column} = ?`).join(" AND ");
    const remove = this.#db.query<unknown, SqliteValue[]>(
      `DELETE FROM ${table} WHERE ledger = ? AND ${place}`,
    );
    for (const row of rows) remove.run(ledger, ...key.map((column) => row[column] ?? null));
    return rows.length;
  }

  #deleteUnusedNames(ledger: number, players: ReadonlySet<string>): void {
    const remove = this.#db.query(
      `DELETE FROM player_names WHERE ledger = ?1 AND player = ?2
         AND NOT EXISTS (SELECT 1 FROM sessions WHERE ledger = ?1 AND player = ?2)
         AND NOT EXISTS (SELECT 1 FROM staff_acts WHERE ledger = ?1 AND player = ?2)`,
    );
    for (const player of players) remove.run(ledger, player);
  }
}

/** The resolutions that are not kept for ever, each with the time before which its rows go. */
function listKept(now: number): { readonly resolution: Resolution; readonly cutoff: number }[] {
  return RESOLUTIONS.flatMap((resolution) => {
    const kept = RESOLUTION_KEPT_MS[resolution];
    return kept === null ? [] : [{ resolution, cutoff: now - kept }];
  });
}
