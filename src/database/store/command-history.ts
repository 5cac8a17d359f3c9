// Keeps the history of commands within its limits: drops the oldest finished commands of a server, and keeps the receipts
// of those whose idempotency keys are still remembered. Takes forgotten players out of their texts. Every method runs
// inside a transaction.
import {
  type HistoryLimits,
  hashText,
  IDEMPOTENCY_KEPT_MS,
  isSameCommand,
  QUEUE_MAX,
} from "../../core/commands/command.ts";
import { CONFIRM_WITHIN_MS } from "../../core/commands/find-confirmations.ts";
import { HOUR_MS } from "../../core/durations.ts";
import type { PlayerEraser } from "../../core/events/forget-player.ts";
import type { Acceptance, CommandDraft } from "../../core/ports/commands.ts";
import type { Row, Sql, Value } from "../sql.ts";
import { COMMAND_FIELDS, RECEIPT_FIELDS, type StoredCommand, type StoredReceipt, toReceipt } from "./command-rows.ts";
import { RECEIPTS } from "./migrations.ts";
import { lockQueues } from "./queue-changes.ts";

type Counts = { readonly finished: number; readonly cancelled: number };
type KeptReceipt = { readonly row: StoredCommand; readonly idempotencyKey: string };
type Erased = { readonly row: StoredCommand; readonly command: string; readonly message: string | null };

/** `nextSeq`: where the next step begins; undefined after the last. `isOpen`: a command that is not finished names the player. */
export type EraseStep = { readonly nextSeq: number | undefined; readonly isOpen: boolean };

/** Begins the idempotency keys that we make ourselves. Those of callers have no blank. */
const OWN_KEY = "same text ";
const OWN_KEYS_END = `${OWN_KEY}~`;

/** A column of `commands`: the hash of the text as it was sent, when it is kept because the text was changed. */
export const TEXT_HASH = `(SELECT text_hash FROM receipts WHERE receipts.key_id = commands.key_id
  AND receipts.idempotency_key = '${OWN_KEY}' || commands.command_id) AS "textHash"`;

export class CommandHistory {
  constructor(private readonly limits: HistoryLimits) {}

  /** Counts commands that were just finished, with their queue locked, and drops at most QUEUE_MAX that are too many now. */
  async add(sql: Sql, serverId: string, counts: Counts, now: number): Promise<void> {
    if (counts.finished === 0) return;
    await this.#dropBeyondLimits(sql, serverId, await addCounts(sql, serverId, counts), now, QUEUE_MAX);
  }

  /** Drops at most `max` finished commands of the server, if there are too many. Returns how many. */
  async drop(sql: Sql, serverId: string, now: number, max: number): Promise<number> {
    await lockQueues(sql, [serverId]);
    const counts = await addCounts(sql, serverId, { finished: 0, cancelled: 0 });
    return this.#dropBeyondLimits(sql, serverId, counts, now, max);
  }

  /** The servers with more finished commands than are kept. */
  async listOverfull(sql: Sql): Promise<string[]> {
    const { finishedMax, cancelledMax } = this.limits;
    const rows = await sql.all<{ server_id: string }>(
      "SELECT server_id FROM queues WHERE finished > ?1 OR cancelled > ?2",
      ...[finishedMax, cancelledMax],
    );
    return rows.map((row) => row.server_id);
  }

  /** Deletes at most `max` commands that finished before `time`, and returns how many. */
  async deleteBefore(sql: Sql, time: number, max: number): Promise<number> {
    const found = await sql.all<{ seq: number; server_id: string }>(
      "SELECT seq, server_id FROM commands WHERE finished_at < ?1 ORDER BY finished_at LIMIT ?2",
      ...[time, max],
    );
    if (found.length === 0) return 0;
    await lockQueues(sql, [...new Set(found.map((row) => row.server_id))]);
    await deleteCommands(sql, sql.dialect.valuesOf("?1", "integer"), JSON.stringify(found.map(({ seq }) => seq)));
    return found.length;
  }

  /** The answer for an idempotency key whose command was dropped; undefined when the key is not remembered. */
  async findReceipt(
    sql: Sql,
    { keyId, text, idempotencyKey }: CommandDraft,
    now: number,
  ): Promise<Acceptance | undefined> {
    if (idempotencyKey === undefined) return undefined;
    const row = await sql.get<StoredReceipt & { text_hash: string }>(
      `SELECT ${RECEIPT_FIELDS}, text_hash FROM receipts WHERE key_id = ?1 AND idempotency_key = ?2`,
      ...[keyId, idempotencyKey],
    );
    if (!row || !isRemembered(row, now)) return undefined;
    return hashText(text) === row.text_hash ? { receipt: toReceipt(row) } : { declined: "mismatch" };
  }

  async hasRoomForReceipts(sql: Sql, keyId: string, now: number): Promise<boolean> {
    const rows = await sql.all<{ receipts: number }>(
      "SELECT receipts FROM receipt_counts WHERE key_id = ?1 AND hour >= ?2",
      ...[keyId, hourOf(now - IDEMPOTENCY_KEPT_MS)],
    );
    return rows.reduce((sum, row) => sum + row.receipts, 0) < this.limits.receiptsMax;
  }

  /** Deletes at most `max` receipts that are no longer remembered, and returns how many. */
  async deleteReceipts(sql: Sql, now: number, max: number): Promise<number> {
    const time = now - IDEMPOTENCY_KEPT_MS;
    await sql.run("DELETE FROM receipt_counts WHERE hour < ?1", hourOf(time));
    return sql.run(
      `DELETE FROM receipts WHERE (key_id, idempotency_key) IN
       (SELECT key_id, idempotency_key FROM receipts WHERE queued_at <= ?1 LIMIT ?2)`,
      ...[time, max],
    );
  }

  /**
   * Takes a player out of the texts of at most `max` finished commands, from `seq` on. What a repeated request and the game's log
   * are compared with is kept as a receipt, which has only a hash of the text.
   */
  async erase(sql: Sql, eraser: PlayerEraser, seq: number, now: number, max: number): Promise<EraseStep> {
    const rows = await sql.all<StoredCommand>(
      `SELECT ${COMMAND_FIELDS} FROM commands WHERE seq >= ?1 ORDER BY seq LIMIT ?2`,
      ...[seq, max],
    );
    const last = rows.at(max - 1);
    const nextSeq = last && last.seq + 1;
    const naming = eraseAll(eraser, rows);
    if (naming.length === 0) return { nextSeq, isOpen: false };
    await lockQueues(sql, [...new Set(naming.map(({ row }) => row.serverId))]);
    // Again, because commands may have finished or been dropped until the lock.
    const locked = await sql.all<StoredCommand>(
      `SELECT ${COMMAND_FIELDS} FROM commands WHERE ${sql.dialect.isAmong("seq", "?1", "integer")} ORDER BY seq`,
      JSON.stringify(naming.map(({ row }) => row.seq)),
    );
    const { finished = [], open = [] } = Object.groupBy(eraseAll(eraser, locked), ({ row }) =>
      row.finishedAt === null ? "open" : "finished",
    );
    await this.#erase(sql, finished, now);
    return { nextSeq, isOpen: open.length > 0 };
  }

  /** The receipt of a command with this text that isSameCommand is true for and whose text was erased. */
  async findErased(sql: Sql, { serverId, keyId, text }: CommandDraft, now: number): Promise<Acceptance | undefined> {
    const row = await sql.get<StoredReceipt & Pick<StoredCommand, "status" | "finishedAt">>(
      `SELECT r.command_id AS "commandId", r.accepted_position AS "acceptedPosition", r.queued_at AS "queuedAt", status,
         finished_at AS "finishedAt" FROM receipts r JOIN commands c ON c.command_id = r.command_id
       WHERE r.key_id = ?1 AND r.idempotency_key BETWEEN ?2 AND ?3 AND text_hash = ?4 AND server_id = ?5
       ORDER BY r.queued_at DESC LIMIT 1`,
      ...[keyId, OWN_KEY, OWN_KEYS_END, hashText(text), serverId],
    );
    if (!row || !isSameCommand(row, now)) return undefined;
    return { receipt: toReceipt(row) };
  }

  /** With BETWEEN for the reason that `findScan` in command-rows.ts gives. */
  async #dropBeyondLimits(sql: Sql, serverId: string, counts: Counts, now: number, max: number): Promise<number> {
    const { finishedMax, cancelledMax } = this.limits;
    const cancelled = await this.#dropOldest(
      sql,
      serverId,
      `${sql.dialect.indexedBy("commands_by_status")}
       WHERE server_id = ?1 AND status BETWEEN 'cancelled' AND 'cancelled' ORDER BY status, seq`,
      now,
      Math.min(counts.cancelled - cancelledMax, max),
    );
    const others = await this.#dropOldest(
      sql,
      serverId,
      `${sql.dialect.indexedBy("commands_of_server")}
       WHERE server_id BETWEEN ?1 AND ?1 AND finished_at IS NOT NULL ORDER BY server_id, seq`,
      now,
      Math.min(counts.finished - cancelled - finishedMax, max - cancelled),
    );
    return cancelled + others;
  }

  async #dropOldest(sql: Sql, serverId: string, inOrder: string, now: number, count: number): Promise<number> {
    if (count <= 0) return 0;
    const oldest = `SELECT seq FROM commands ${inOrder} LIMIT ?2`;
    const rows = await deleteCommands(sql, oldest, serverId, count);
    await this.#saveReceipts(
      sql,
      rows.flatMap((row) => toKeptReceipt(row, now)),
    );
    return rows.length;
  }

  async #erase(sql: Sql, erased: readonly Erased[], now: number): Promise<void> {
    if (erased.length === 0) return;
    const ownKeys = JSON.stringify(erased.map(({ row }) => OWN_KEY + row.commandId));
    // The first receipt has the hash of the text as it was sent.
    const kept = await sql.all<{ idempotency_key: string }>(
      `SELECT idempotency_key FROM receipts WHERE ${sql.dialect.isAmong("key_id", "?1", "text")}
       AND ${sql.dialect.isAmong("idempotency_key", "?2", "text")}`,
      ...[JSON.stringify([...new Set(erased.map(({ row }) => row.keyId))]), ownKeys],
    );
    const keptKeys = new Set(kept.map((row) => row.idempotency_key));
    const receipts = erased.flatMap(({ row }) => {
      const idempotencyKey = OWN_KEY + row.commandId;
      const isLogged = row.sentAt !== null && Math.abs(now - row.sentAt) < CONFIRM_WITHIN_MS;
      const own =
        (isLogged || isSameCommand(row, now)) && !keptKeys.has(idempotencyKey) ? [{ row, idempotencyKey }] : [];
      return [...toKeptReceipt(row, now), ...own];
    });
    await this.#saveReceipts(sql, receipts);
    await sql.runEach(
      "UPDATE commands SET command = ?1, upstream_message = ?2, idempotency_key = NULL WHERE seq = ?3",
      erased.map(({ row, command, message }) => [command, message, row.seq]),
    );
  }

  async #saveReceipts(sql: Sql, receipts: readonly KeptReceipt[]): Promise<void> {
    if (receipts.length === 0) return;
    const rows = receipts.map(
      ({ row, idempotencyKey }): Row => ({
        key_id: row.keyId,
        idempotency_key: idempotencyKey,
        command_id: row.commandId,
        text_hash: hashText(row.text),
        accepted_position: row.acceptedPosition,
        queued_at: row.queuedAt,
      }),
    );
    const hours = Map.groupBy(receipts, ({ row }) => `${hourOf(row.queuedAt)} ${row.keyId}`);
    await sql.insertAll(
      RECEIPTS,
      rows,
      `ON CONFLICT (key_id, idempotency_key) DO UPDATE SET command_id = excluded.command_id,
         text_hash = excluded.text_hash, accepted_position = excluded.accepted_position,
         queued_at = excluded.queued_at`,
    );
    await sql.runEach(
      `INSERT INTO receipt_counts (key_id, hour, receipts) VALUES (?1, ?2, ?3)
       ON CONFLICT (key_id, hour) DO UPDATE SET receipts = receipt_counts.receipts + excluded.receipts`,
      [...hours.values()].map((own) => [own[0]?.row.keyId ?? "", hourOf(own[0]?.row.queuedAt ?? 0), own.length]),
    );
  }
}

/** Deletes the commands whose numbers a sub-select gives, with their queues locked, and counts them no more. */
async function deleteCommands(sql: Sql, select: string, ...values: readonly Value[]): Promise<StoredCommand[]> {
  const rows = await sql.all<StoredCommand>(
    `DELETE FROM commands WHERE ${sql.dialect.isIn("seq", select)} RETURNING ${COMMAND_FIELDS}`,
    ...values,
  );
  for (const [serverId, own] of Map.groupBy(rows, ({ serverId }) => serverId)) {
    const cancelled = own.filter(({ status }) => status === "cancelled").length;
    await addCounts(sql, serverId, { finished: -own.length, cancelled: -cancelled });
  }
  return rows;
}

async function addCounts(sql: Sql, serverId: string, { finished, cancelled }: Counts): Promise<Counts> {
  const counts = await sql.get<Counts>(
    `INSERT INTO queues (server_id, until, hold_ms, finished, cancelled) VALUES (?1, 0, 0, ?2, ?3)
     ON CONFLICT (server_id) DO UPDATE SET finished = queues.finished + ?2, cancelled = queues.cancelled + ?3
     RETURNING finished, cancelled`,
    ...[serverId, finished, cancelled],
  );
  return counts ?? { finished: 0, cancelled: 0 };
}

/** The rows that name the player, with their texts without it. */
function eraseAll(eraser: PlayerEraser, rows: readonly StoredCommand[]): Erased[] {
  return rows.flatMap((row) => {
    const { text, upstreamMessage } = row;
    const command = eraser.eraseCommand(text);
    const message = upstreamMessage === null ? null : eraser.eraseText(upstreamMessage);
    return command === text && message === upstreamMessage ? [] : [{ row, command, message }];
  });
}

function toKeptReceipt(row: StoredCommand, now: number): KeptReceipt[] {
  const { idempotencyKey } = row;
  return idempotencyKey !== null && isRemembered(row, now) ? [{ row, idempotencyKey }] : [];
}

function isRemembered({ queuedAt }: StoredReceipt, now: number): boolean {
  return now - queuedAt < IDEMPOTENCY_KEPT_MS;
}

function hourOf(time: number): number {
  return Math.floor(time / HOUR_MS);
}
