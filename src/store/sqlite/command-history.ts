// Keeps the history of commands within its limits: drops the oldest finished commands of a server, and keeps the receipts
// of those whose idempotency keys are still remembered. Every method must run inside a transaction.
import type { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { type HistoryLimits, IDEMPOTENCY_KEPT_MS } from "../../core/command.ts";
import { HOUR_MS } from "../../core/durations.ts";
import type { Acceptance, CommandDraft } from "../../core/ports/commands.ts";

type DroppedRow = {
  seq: number;
  key_id: string;
  idempotency_key: string | null;
  command_id: string;
  command: string;
  accepted_position: number;
  queued_at: number;
};

type ReceiptRow = Pick<DroppedRow, "command_id" | "accepted_position" | "queued_at"> & {
  text_hash: Uint8Array;
};

export class CommandHistory {
  readonly #db: Database;
  readonly #limits: HistoryLimits;

  constructor(db: Database, limits: HistoryLimits) {
    this.#db = db;
    this.#limits = limits;
  }

  /** Drops at most `max` finished commands of the server, if there are too many. Returns how many. */
  drop(serverId: string, now: number, max: number): number {
    const { finishedMax, cancelledMax } = this.#limits;
    const counts = this.#db
      .query<{ finished: number; cancelled: number }, [string]>(
        "SELECT finished, cancelled FROM command_counts WHERE server_id = ?",
      )
      .get(serverId);
    if (!counts || (counts.finished <= finishedMax && counts.cancelled <= cancelledMax)) return 0;
    const cancelled = this.#dropOldest(
      serverId,
      "INDEXED BY commands_by_status WHERE status = 'cancelled'",
      now,
      Math.min(counts.cancelled - cancelledMax, max),
    );
    const others = this.#dropOldest(
      serverId,
      "INDEXED BY commands_of_server WHERE finished_at IS NOT NULL",
      now,
      Math.min(counts.finished - cancelled - finishedMax, max - cancelled),
    );
    return cancelled + others;
  }

  /** The servers with more finished commands than are kept. */
  listOverfull(): string[] {
    const { finishedMax, cancelledMax } = this.#limits;
    return this.#db
      .query<{ server_id: string }, [number, number]>(
        "SELECT server_id FROM command_counts WHERE finished > ? OR cancelled > ?",
      )
      .all(finishedMax, cancelledMax)
      .map((row) => row.server_id);
  }

  /** The answer for an idempotency key whose command was dropped; undefined when the key is not remembered. */
  findReceipt({ keyId, text, idempotencyKey }: CommandDraft, now: number): Acceptance | undefined {
    if (idempotencyKey === undefined) return undefined;
    const row = this.#db
      .query<ReceiptRow, [string, string]>("SELECT * FROM receipts WHERE key_id = ? AND idempotency_key = ?")
      .get(keyId, idempotencyKey);
    if (!row || !isRemembered(row, now)) return undefined;
    if (!hashOf(text).equals(row.text_hash)) return { declined: "mismatch" };
    const { command_id, accepted_position, queued_at } = row;
    return { receipt: { commandId: command_id, position: accepted_position, queuedAt: queued_at } };
  }

  hasRoomForReceipts(keyId: string, now: number): boolean {
    const row = this.#db
      .query<{ count: number | null }, [string, number]>(
        "SELECT sum(receipts) AS count FROM receipt_counts WHERE key_id = ? AND hour >= ?",
      )
      .get(keyId, hourOf(now - IDEMPOTENCY_KEPT_MS));
    return (row?.count ?? 0) < this.#limits.receiptsMax;
  }

  /** Deletes at most `max` receipts that are no longer remembered, and returns how many. */
  deleteReceipts(now: number, max: number): number {
    const time = now - IDEMPOTENCY_KEPT_MS;
    this.#db.query("DELETE FROM receipt_counts WHERE hour < ?").run(hourOf(time));
    return this.#db
      .query(
        `DELETE FROM receipts WHERE (key_id, idempotency_key) IN
         (SELECT key_id, idempotency_key FROM receipts WHERE queued_at <= ? LIMIT ?)`,
      )
      .run(time, max).changes;
  }

  deleteEmptyCounts(): void {
    this.#db.query("DELETE FROM command_counts WHERE finished = 0").run();
  }

  #dropOldest(serverId: string, condition: string, now: number, count: number): number {
    if (count <= 0) return 0;
    const rows = this.#db
      .query<DroppedRow, [string, number]>(
        `SELECT seq, key_id, idempotency_key, command_id, command, accepted_position, queued_at
         FROM commands ${condition} AND server_id = ? ORDER BY seq LIMIT ?`,
      )
      .all(serverId, count);
    for (const row of rows) {
      if (row.idempotency_key !== null && isRemembered(row, now)) this.#saveReceipt(row, row.idempotency_key);
      this.#db.query("DELETE FROM commands WHERE seq = ?").run(row.seq);
    }
    return rows.length;
  }

  #saveReceipt(row: DroppedRow, idempotencyKey: string): void {
    const { key_id, command_id, command, accepted_position, queued_at } = row;
    this.#db
      .query("INSERT OR REPLACE INTO receipts VALUES (?, ?, ?, ?, ?, ?)")
      .run(key_id, idempotencyKey, command_id, hashOf(command), accepted_position, queued_at);
    this.#db
      .query("INSERT INTO receipt_counts VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET receipts = receipts + 1")
      .run(key_id, hourOf(queued_at));
  }
}

function isRemembered(row: { queued_at: number }, now: number): boolean {
  return now - row.queued_at < IDEMPOTENCY_KEPT_MS;
}

function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function hourOf(time: number): number {
  return Math.floor(time / HOUR_MS);
}
