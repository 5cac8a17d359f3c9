// Keeps the history of commands within its limits: drops the oldest finished commands of a server, and keeps the receipts
// of those whose idempotency keys are still remembered. Takes forgotten players out of their texts. Every method must run
// inside a transaction.
import type { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import {
  type CommandStatus,
  type HistoryLimits,
  IDEMPOTENCY_KEPT_MS,
  isSameCommand,
} from "../../core/command.ts";
import { HOUR_MS } from "../../core/durations.ts";
import type { PlayerEraser } from "../../core/events/forget-player.ts";
import type { Acceptance, CommandDraft, Receipt } from "../../core/ports/commands.ts";

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

type ErasableRow = DroppedRow & {
  status: CommandStatus;
  finished_at: number | null;
  upstream_message: string | null;
};

/** `nextSeq`: where the next step begins; undefined after the last. `isOpen`: a command that is not finished names the player. */
export type EraseStep = { readonly nextSeq: number | undefined; readonly isOpen: boolean };

/** Begins the idempotency keys that we make ourselves. Those of callers have no blank. */
const OWN_KEY = "same text ";

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
    return { receipt: toReceipt(row) };
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

  /**
   * Takes a player out of the texts of at most `max` finished commands, from `seq` on. What a repeated request is compared with
   * is kept as a receipt, which has only a hash of the text.
   */
  erase(eraser: PlayerEraser, seq: number, now: number, max: number): EraseStep {
    const rows = this.#db
      .query<ErasableRow, [number, number]>("SELECT * FROM commands WHERE seq >= ? ORDER BY seq LIMIT ?")
      .all(seq, max);
    let isOpen = false;
    for (const row of rows) {
      const command = eraser.eraseCommand(row.command);
      const message = row.upstream_message === null ? null : eraser.eraseText(row.upstream_message);
      if (command === row.command && message === row.upstream_message) continue;
      if (row.finished_at === null) isOpen = true;
      else this.#erase(row, command, message, now);
    }
    const last = rows.length < max ? undefined : rows.at(-1);
    return { nextSeq: last && last.seq + 1, isOpen };
  }

  /** The receipt of a command with this text that isSameCommand is true for and whose text was erased. */
  findErased({ serverId, keyId, text }: CommandDraft, now: number): Acceptance | undefined {
    const row = this.#db
      .query<
        ReceiptRow & { status: CommandStatus; finished_at: number },
        [string, string, Uint8Array, string]
      >(
        `SELECT r.*, status, finished_at FROM receipts r JOIN commands USING (command_id)
         WHERE r.key_id = ?1 AND r.idempotency_key BETWEEN ?2 AND ?2 || '~' AND text_hash = ?3 AND server_id = ?4
         ORDER BY r.queued_at DESC LIMIT 1`,
      )
      .get(keyId, OWN_KEY, hashOf(text), serverId);
    if (!row || !isSameCommand({ status: row.status, finishedAt: row.finished_at }, now)) return undefined;
    return { receipt: toReceipt(row) };
  }

  deleteEmptyCounts(): void {
    this.#db.query("DELETE FROM command_counts WHERE finished = 0").run();
  }

  #erase(row: ErasableRow, command: string, message: string | null, now: number): void {
    if (row.idempotency_key !== null && isRemembered(row, now)) this.#saveReceipt(row, row.idempotency_key);
    const ownKey = OWN_KEY + row.command_id;
    // The first receipt has the hash of the text as it was sent.
    const isKept = this.#db
      .query("SELECT 1 FROM receipts WHERE key_id = ? AND idempotency_key = ?")
      .get(row.key_id, ownKey);
    if (!isKept && isSameCommand({ status: row.status, finishedAt: row.finished_at }, now))
      this.#saveReceipt(row, ownKey);
    this.#db
      .query("UPDATE commands SET command = ?, upstream_message = ?, idempotency_key = NULL WHERE seq = ?")
      .run(command, message, row.seq);
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

function toReceipt({ command_id, accepted_position, queued_at }: Omit<ReceiptRow, "text_hash">): Receipt {
  return { commandId: command_id, position: accepted_position, queuedAt: queued_at };
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
