// Accepts a command into the queue of its server, or finds the command that the request means. Runs with the queue locked.
import { randomBytes } from "node:crypto";
import { type CommandStatus, IDEMPOTENCY_KEPT_MS, isSameCommand } from "../../core/commands/command.ts";
import { randomBase62 } from "../../core/keys/token.ts";
import type { Acceptance, CommandDraft } from "../../core/ports/commands.ts";
import type { Sql } from "../sql.ts";
import type { CommandHistory } from "./command-history.ts";
import { COMMAND_FIELDS, type StoredCommand, toReceipt } from "./command-rows.ts";

const ID_LENGTH = 20;
const PAGE = 100;

const COUNT_WAITING = "SELECT count(*) AS waiting FROM commands WHERE server_id = ?1 AND status = 'queued'";
// In SQLite, a count within this statement would make it twice as slow.
const INSERT = `INSERT INTO commands
  (command_id, server_id, key_id, command, status, idempotency_key, accepted_position, queued_at, sent_by)
  VALUES (?1, ?2, ?3, ?4, 'queued', ?5, ?6, ?7, ?8)`;

type Known = Acceptance | undefined;

/** All questions are sent at once. */
export async function acceptCommand(
  sql: Sql,
  history: CommandHistory,
  draft: CommandDraft,
  now: number,
  waitingMax: number,
): Promise<Acceptance> {
  const { serverId, keyId, text, idempotencyKey, joinsSame } = draft;
  const sentBy = draft.sentBy ? JSON.stringify(draft.sentBy) : null;
  const counting = sql.get<{ waiting: number }>(COUNT_WAITING, serverId);
  if (idempotencyKey !== undefined || joinsSame) {
    const [repeated, receipt, same, hasRoom] = await Promise.all([
      findRepeated(sql, draft, now),
      history.findReceipt(sql, draft, now),
      findSame(sql, history, draft, now),
      idempotencyKey === undefined || history.hasRoomForReceipts(sql, keyId, now),
      counting,
    ]);
    const known = repeated ?? receipt ?? same;
    if (known) return known;
    if (!hasRoom) return { declined: "full" };
  }
  const position = ((await counting)?.waiting ?? 0) + 1;
  if (position > waitingMax) return { declined: "full" };
  const commandId = `cmd_${randomBase62(ID_LENGTH, randomBytes)}`;
  await sql.run(INSERT, commandId, serverId, keyId, text, idempotencyKey ?? null, position, now, sentBy);
  return { receipt: { commandId, position, queuedAt: now } };
}

async function findRepeated(sql: Sql, { keyId, text, idempotencyKey }: CommandDraft, now: number): Promise<Known> {
  if (idempotencyKey === undefined) return undefined;
  const row = await sql.get<StoredCommand>(
    `SELECT ${COMMAND_FIELDS} FROM commands WHERE key_id = ?1 AND idempotency_key = ?2`,
    ...[keyId, idempotencyKey],
  );
  if (!row) return undefined;
  if (now - row.queuedAt >= IDEMPOTENCY_KEPT_MS) {
    await sql.run("UPDATE commands SET idempotency_key = NULL WHERE seq = ?1", row.seq);
    return undefined;
  }
  return row.text === text ? { receipt: toReceipt(row) } : { declined: "mismatch" };
}

async function findSame(sql: Sql, history: CommandHistory, draft: CommandDraft, now: number): Promise<Known> {
  if (!draft.joinsSame) return undefined;
  const [open, sent, unknown, erased] = await Promise.all([
    findOpen(sql, draft),
    findEnded(sql, draft, "sent", now),
    findEnded(sql, draft, "unknown", now),
    history.findErased(sql, draft, now),
  ]);
  return open ?? sent ?? unknown ?? erased;
}

async function findOpen(sql: Sql, { serverId, keyId, text }: CommandDraft): Promise<Known> {
  const row = await sql.get<StoredCommand>(
    `SELECT ${COMMAND_FIELDS} FROM commands ${sql.dialect.indexedBy("commands_by_status")}
     WHERE server_id = ?1 AND status IN ('queued', 'sending') AND key_id = ?2 AND command = ?3
     ORDER BY seq DESC LIMIT 1`,
    ...[serverId, keyId, text],
  );
  return row && { receipt: toReceipt(row) };
}

/** The newest first. They end in the order of their queue, so that all after one that ended too long ago did so too. */
async function findEnded(
  sql: Sql,
  { serverId, keyId, text }: CommandDraft,
  status: CommandStatus,
  now: number,
): Promise<Known> {
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const rows = await sql.all<StoredCommand>(
      `SELECT ${COMMAND_FIELDS} FROM commands ${sql.dialect.indexedBy("commands_by_status")}
       WHERE server_id = ?1 AND status BETWEEN ?2 AND ?2 AND seq < ?3
       ORDER BY status DESC, seq DESC LIMIT ${PAGE}`,
      ...[serverId, status, before],
    );
    for (const row of rows) {
      if (!isSameCommand(row, now)) return undefined;
      if (row.keyId === keyId && row.text === text) return { receipt: toReceipt(row) };
    }
    const last = rows.at(PAGE - 1);
    if (!last) return undefined;
    before = last.seq;
  }
}
