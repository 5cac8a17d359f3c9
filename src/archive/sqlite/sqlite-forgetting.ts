// Forgetting a player in the embedded archive, one step at a time.
import type { Database } from "bun:sqlite";
import type { ForgottenPlayer } from "../../core/events/forget-player.ts";
import type { MemoryPart } from "../../core/events/memory-text.ts";
import { truncateLog } from "../../sqlite/database-file.ts";
import {
  advance,
  eraseFromEvents,
  eraseFromMemory,
  FORGET_DELIVERIES_STEP,
  FORGET_EVENTS_STEP,
  FORGET_HISTORIES_STEP,
  FORGET_LEDGERS_STEP,
  FORGOTTEN_LISTED_MAX,
  type ForgettableEvent,
  type Forgetting,
  learnNames,
  listRememberedNames,
  type Phase,
} from "../forgetting.ts";
import type { SqliteHistory } from "./sqlite-history.ts";

type ForgettingRow = { player: string; phase: Phase; ledger: number; number: number; names: string };

export class SqliteForgetting {
  readonly #db: Database;
  readonly #history: SqliteHistory;
  /** The log of changes still has rows of a forgotten player as they were. */
  #isTruncationDue = false;

  constructor(db: Database, history: SqliteHistory) {
    this.#db = db;
    this.#history = history;
  }

  start(player: string): void {
    this.#db
      .query(
        `INSERT INTO forgettings (player, phase, ledger, number, names) VALUES (?, 'names', 0, 0, '[]')
         ON CONFLICT DO UPDATE SET phase = 'names' WHERE phase = 'elsewhere'`,
      )
      .run(player);
  }

  /** True when there is more to do. */
  continue(): boolean {
    this.#truncateLog();
    return this.#db.transaction(() => this.#continue()).immediate();
  }

  listForgotten(): ForgottenPlayer[] {
    return this.#db
      .query<ForgettingRow, [number]>("SELECT * FROM forgettings WHERE phase = 'elsewhere' LIMIT ?")
      .all(FORGOTTEN_LISTED_MAX)
      .map(({ player, names }) => ({ id: player, names: JSON.parse(names) }));
  }

  finish(player: string): void {
    this.#db.query("DELETE FROM forgettings WHERE player = ? AND phase = 'elsewhere'").run(player);
    this.#isTruncationDue = true;
    this.#truncateLog();
  }

  #truncateLog(): void {
    if (this.#isTruncationDue) this.#isTruncationDue = !truncateLog(this.#db);
  }

  #continue(): boolean {
    const find = "SELECT * FROM forgettings WHERE phase <> 'elsewhere' LIMIT 1";
    const row = this.#db.query<ForgettingRow, []>(find).get();
    if (!row) return false;
    this.#save(row.player, this.#step({ ...row, names: JSON.parse(row.names) }));
    return this.#db.query(find).get() !== null;
  }

  #step(progress: Forgetting): Forgetting {
    switch (progress.phase) {
      case "names": {
        const events = this.#listLinked(progress);
        const learned = learnNames(
          progress,
          events.flatMap(({ data, meta }) => [data, meta]),
        );
        return advance(learned, events.at(-1), events.length === FORGET_EVENTS_STEP);
      }
      case "staff": {
        const ledgers = this.#listLedgers(progress, FORGET_LEDGERS_STEP);
        const texts = ledgers.flatMap((ledger) => {
          const kept = this.#history.findName(ledger, progress.player);
          return listRememberedNames(this.#listParts(ledger), progress.player, kept);
        });
        return advance(learnNames(progress, texts), placeOf(ledgers), ledgers.length === FORGET_LEDGERS_STEP);
      }
      case "memory": {
        const ledgers = this.#listLedgers(progress, FORGET_LEDGERS_STEP);
        for (const ledger of ledgers) this.#eraseMemory(progress, ledger);
        return advance(progress, placeOf(ledgers), ledgers.length === FORGET_LEDGERS_STEP);
      }
      case "history": {
        const ledgers = this.#listLedgers(progress, FORGET_HISTORIES_STEP);
        for (const ledger of ledgers) {
          // The same ledger again: what was erased is not found any more.
          if (this.#history.forget(ledger, progress.player))
            return { ...progress, ledger: ledger - 1, number: 0 };
        }
        return advance(progress, placeOf(ledgers), ledgers.length === FORGET_HISTORIES_STEP);
      }
      case "deliveries": {
        const ledgers = this.#listLedgersWithWebhooks(progress);
        for (const ledger of ledgers) this.#eraseAnswers(ledger);
        return advance(progress, placeOf(ledgers), ledgers.length === FORGET_DELIVERIES_STEP);
      }
      case "texts": {
        const events = this.#listUnlinked(progress);
        this.#write(eraseFromEvents(progress, events));
        return advance(progress, events.at(-1), events.length === FORGET_EVENTS_STEP);
      }
      case "links": {
        const events = this.#listLinked(progress);
        this.#write(eraseFromEvents(progress, events));
        const unlink = this.#db.query(
          "DELETE FROM event_players WHERE ledger = ? AND player = ? AND number = ?",
        );
        for (const { ledger, number } of events) unlink.run(ledger, progress.player, number);
        return advance(progress, events.at(-1), events.length === FORGET_EVENTS_STEP);
      }
      case "elsewhere":
        return progress;
    }
  }

  #save(player: string, progress: Forgetting): void {
    const { phase, ledger, number, names } = progress;
    this.#db
      .query("UPDATE forgettings SET phase = ?, ledger = ?, number = ?, names = ? WHERE player = ?")
      .run(phase, ledger, number, JSON.stringify(names), player);
  }

  #listLinked({ player, ledger, number }: Forgetting): ForgettableEvent[] {
    return this.#db
      .query<ForgettableEvent, (string | number)[]>(
        `SELECT ledger, number, kind, data, meta FROM ledgers
           CROSS JOIN event_players USING (ledger) CROSS JOIN events USING (ledger, number)
         WHERE ledgers.ledger >= ?2 AND player = ?1 AND (ledger, number) > (?2, ?3)
         ORDER BY ledger, number LIMIT ?4`,
      )
      .all(player, ledger, number, FORGET_EVENTS_STEP);
  }

  #listUnlinked({ player, ledger, number }: Forgetting): ForgettableEvent[] {
    const rows = this.#db
      .query<ForgettableEvent & { is_linked: number }, (string | number)[]>(
        `SELECT ledger, number, kind, data, meta, EXISTS
           (SELECT 1 FROM event_players p WHERE p.ledger = e.ledger AND p.player = ?1 AND p.number = e.number) AS is_linked
         FROM events e WHERE (ledger, number) > (?2, ?3) ORDER BY ledger, number LIMIT ?4`,
      )
      .all(player, ledger, number, FORGET_EVENTS_STEP);
    // An event that is left out here must not change, so its texts are emptied; its place still counts.
    return rows.map((row) => (row.is_linked === 1 ? { ...row, data: "null", meta: null } : row));
  }

  #listLedgers({ ledger }: Forgetting, limit: number): number[] {
    return this.#db
      .query<{ ledger: number }, [number, number]>(
        "SELECT ledger FROM ledgers WHERE ledger > ? ORDER BY ledger LIMIT ?",
      )
      .all(ledger, limit)
      .map((row) => row.ledger);
  }

  #listLedgersWithWebhooks({ ledger }: Forgetting): number[] {
    return this.#db
      .query<{ ledger: number }, [number, number]>(
        "SELECT DISTINCT ledger FROM webhooks WHERE ledger > ? ORDER BY ledger LIMIT ?",
      )
      .all(ledger, FORGET_DELIVERIES_STEP)
      .map((row) => row.ledger);
  }

  /** The archive cannot open what receivers said, and any of it may name the player. */
  #eraseAnswers(ledger: number): void {
    this.#db
      .query("UPDATE deliveries SET sealed_answer = NULL WHERE ledger = ? AND sealed_answer IS NOT NULL")
      .run(ledger);
  }

  #listParts(ledger: number): MemoryPart[] {
    return this.#db.query<MemoryPart, [number]>("SELECT part, text FROM memory WHERE ledger = ?").all(ledger);
  }

  /** The version changes, so that a writer that remembers the player has to load the memory again. */
  #eraseMemory(progress: Forgetting, ledger: number): void {
    const parts = eraseFromMemory(progress, this.#listParts(ledger));
    if (parts.length === 0) return;
    const write = this.#db.query("INSERT OR REPLACE INTO memory (ledger, part, text) VALUES (?, ?, ?)");
    for (const { part, text } of parts) write.run(ledger, part, text);
    this.#db.query("UPDATE ledgers SET version = version + 1 WHERE ledger = ?").run(ledger);
  }

  #write(events: readonly ForgettableEvent[]): void {
    const write = this.#db.query("UPDATE events SET data = ?, meta = ? WHERE ledger = ? AND number = ?");
    for (const { ledger, number, data, meta } of events) write.run(data, meta, ledger, number);
  }
}

function placeOf(ledgers: readonly number[]): { ledger: number; number: number } | undefined {
  const ledger = ledgers.at(-1);
  return ledger === undefined ? undefined : { ledger, number: 0 };
}
