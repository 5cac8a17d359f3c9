// The command queues. All state is on disk, so after a crash only the command that was being sent has to be repaired.
import type { Database } from "bun:sqlite";
import {
  type Command,
  type CommandEnd,
  type CommandStatus,
  IDEMPOTENCY_KEPT_MS,
  isSameCommand,
  QUEUE_MAX,
  SERVER_DELETED,
} from "../../core/command.ts";
import { type ForgottenPlayer, PlayerEraser } from "../../core/events/forget-player.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type {
  Acceptance,
  Cancellation,
  Claim,
  CommandDraft,
  CommandFilter,
  CommandQueue,
  QueueReport,
  Receipt,
  SentCommand,
} from "../../core/ports/commands.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import { truncateLog } from "../../sqlite/database-file.ts";
import { findServerOf, newCommandId } from "../command-id.ts";
import type { AuditLog } from "./audit-log.ts";
import type { CommandHistory } from "./command-history.ts";
import type { GroupCommit } from "./group-commit.ts";
import { toPage, toSeq } from "./pages.ts";
import { translateSqliteErrors } from "./sqlite-errors.ts";

/** A hold that ends further ahead than its length began before the clock was set back; this is the tolerance. */
const CLOCK_TOLERANCE_MS = 1_000;
/** How many commands are looked through in one transaction for a player to forget. */
const ERASE_STEP = 500;
const WAS_BEING_SENT = "Gatehouse stopped while this was being sent; whether the game ran it is not known.";
const WAS_RESTORED = "This waited when the backup was made; whether it was sent since is not known.";

/** In which a command may be meant by the same text again. */
const SAME_STATUSES: readonly CommandStatus[] = ["queued", "sending", "sent", "unknown"];

/** For a restored backup: a command that waited then may have been sent since, so it must not be sent again. */
export function markWaitingAsUnknown(db: Database, now: number): void {
  const hasCommands = db.query("SELECT 1 FROM sqlite_schema WHERE name = 'commands'").get() !== null;
  if (!hasCommands) return;
  db.query(
    "UPDATE commands SET status = 'unknown', finished_at = ?, upstream_message = ? WHERE status = 'queued'",
  ).run(now, WAS_RESTORED);
}

type CommandRow = {
  seq: number;
  command_id: string;
  server_id: string;
  key_id: string;
  command: string;
  status: CommandStatus;
  accepted_position: number;
  queued_at: number;
  sent_at: number | null;
  finished_at: number | null;
  confirmed_at: number | null;
  upstream_code: number | null;
  upstream_message: string | null;
  position: number | null;
};

/** Adds the position in the queue to each row. */
const SELECT = `
  SELECT *, CASE WHEN status = 'queued' THEN (
    SELECT count(*) FROM commands AS ahead
    WHERE ahead.server_id = commands.server_id AND ahead.status = 'queued' AND ahead.seq <= commands.seq
  ) END AS position FROM commands`;

export class SqliteCommandQueue implements CommandQueue {
  readonly #db: Database;
  readonly #groupCommit: GroupCommit;
  readonly #audit: AuditLog;
  readonly #history: CommandHistory;

  constructor(db: Database, groupCommit: GroupCommit, audit: AuditLog, history: CommandHistory) {
    this.#db = db;
    this.#groupCommit = groupCommit;
    this.#audit = audit;
    this.#history = history;
  }

  /** After a crash: whether a command that was being sent has arrived is unknown. */
  recover(now: number): void {
    this.#db
      .query(
        "UPDATE commands SET status = 'unknown', finished_at = ?, upstream_message = ? WHERE status = 'sending'",
      )
      .run(now, WAS_BEING_SENT);
  }

  accept(draft: CommandDraft, now: number, waitingMax = QUEUE_MAX): Promise<Acceptance> {
    return this.#groupCommit.run(
      () =>
        this.#findRepeated(draft, now) ??
        this.#history.findReceipt(draft, now) ??
        this.#findSame(draft, now) ??
        this.#insert(draft, now, waitingMax),
    );
  }

  claim(serverId: string, now: number, holdMs: number): Promise<Claim> {
    return this.#groupCommit.run(() => {
      const head = this.#findHead(serverId);
      if (!head) return { kind: "empty" };
      if (this.#isSending(serverId)) return { kind: "busy" };
      const until = this.#findHold(serverId, now);
      if (until !== undefined) return { kind: "wait", until, headQueuedAt: head.queued_at };
      this.#db.query("UPDATE commands SET status = 'sending', sent_at = ? WHERE seq = ?").run(now, head.seq);
      this.#saveHold(serverId, now, holdMs);
      return {
        kind: "claimed",
        command: { ...toCommand(head), status: "sending", sentAt: now, position: null },
      };
    });
  }

  hold(serverId: string, now: number, holdMs: number): Promise<void> {
    return this.#groupCommit.run(() => this.#saveHold(serverId, now, holdMs));
  }

  requeue(commandId: string): Promise<void> {
    return this.#groupCommit.run(() => {
      this.#db
        .query(
          "UPDATE commands SET status = 'queued', sent_at = NULL WHERE command_id = ? AND status = 'sending'",
        )
        .run(commandId);
    });
  }

  settle(commandId: string, end: CommandEnd, now: number): Promise<void> {
    return this.#groupCommit.run(() => {
      this.#db
        .query(
          `UPDATE commands SET status = ?, sent_at = iif(?, NULL, sent_at), finished_at = ?, upstream_code = ?,
             upstream_message = ? WHERE command_id = ? AND status = 'sending'`,
        )
        .run(end.status, end.isUnsent ?? false, now, end.upstreamCode, end.upstreamMessage, commandId);
      const serverId = findServerOf(commandId);
      if (serverId !== undefined) this.#history.drop(serverId, now, QUEUE_MAX);
    });
  }

  expire(serverId: string, cutoff: number, now: number): Promise<number> {
    return this.#groupCommit.run(() => {
      const { changes } = this.#db
        .query(
          `UPDATE commands SET status = 'expired', finished_at = ?
           WHERE server_id = ? AND status = 'queued' AND queued_at < ?`,
        )
        .run(now, serverId, cutoff);
      if (changes > 0) this.#history.drop(serverId, now, QUEUE_MAX);
      return changes;
    });
  }

  cancel(
    serverId: string,
    commandId: string,
    now: number,
    note?: AuditNote,
  ): Promise<Cancellation | undefined> {
    return this.#groupCommit.run(() => {
      const { changes } = this.#db
        .query(
          `UPDATE commands SET status = 'cancelled', finished_at = ?
           WHERE command_id = ? AND server_id = ? AND status = 'queued'`,
        )
        .run(now, commandId, serverId);
      const row = this.#findRow(commandId);
      if (!row || row.server_id !== serverId) return undefined;
      const isCancelled = changes > 0;
      if (isCancelled && note) this.#audit.add(commandId, note);
      if (isCancelled) this.#history.drop(serverId, now, QUEUE_MAX);
      return { command: toCommand(row), isCancelled };
    });
  }

  async find(commandId: string): Promise<Command | undefined> {
    const row = translateSqliteErrors(() => this.#findRow(commandId));
    return row && toCommand(row);
  }

  async list({
    limit,
    cursor,
    serverId,
    keyId,
    status,
  }: PageRequest & CommandFilter): Promise<Page<Command>> {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : toSeq(cursor);
    // Conditions that are not needed are left out, because SQLite would not use the indexes with optional ones.
    const filters = [
      // The plus keeps SQLite from reading the commands of all keys of the server.
      ...(keyId === undefined ? [] : [{ condition: "key_id = ?", value: keyId }]),
      ...(serverId === undefined
        ? []
        : [{ condition: keyId === undefined ? "server_id = ?" : "+server_id = ?", value: serverId }]),
      ...(status === undefined ? [] : [{ condition: "status = ?", value: status }]),
      { condition: "seq < ?", value: before },
    ];
    const conditions = filters.map(({ condition }) => condition).join(" AND ");
    const rows = translateSqliteErrors(() =>
      this.#db
        .query<CommandRow, (string | number)[]>(`${SELECT} WHERE ${conditions} ORDER BY seq DESC LIMIT ?`)
        .all(...filters.map(({ value }) => value), limit + 1),
    );
    return toPage(rows, limit, toCommand);
  }

  async listWaitingServers(): Promise<readonly string[]> {
    const rows = translateSqliteErrors(() =>
      this.#db
        .query<{ server_id: string }, []>("SELECT DISTINCT server_id FROM commands WHERE status = 'queued'")
        .all(),
    );
    return rows.map((row) => row.server_id);
  }

  async listSent(serverId: string, since: number): Promise<readonly SentCommand[]> {
    return translateSqliteErrors(() =>
      this.#db
        .query<SentCommand, [string, number]>(
          `SELECT command_id AS commandId, command AS text, sent_at AS sentAt, logged_at AS loggedAt FROM commands
           WHERE server_id = ? AND status IN ('sent', 'unknown') AND sent_at >= ?
           ORDER BY sent_at DESC LIMIT 1000`,
        )
        .all(serverId, since)
        .reverse(),
    );
  }

  confirm(commandId: string, loggedAt: number, now: number): Promise<void> {
    return this.#groupCommit.run(() => {
      this.#db
        .query(
          "UPDATE commands SET confirmed_at = ?, logged_at = ? WHERE command_id = ? AND confirmed_at IS NULL",
        )
        .run(now, loggedAt, commandId);
    });
  }

  async report(): Promise<QueueReport> {
    const row = translateSqliteErrors(() =>
      this.#db
        .query<QueueReport, []>(
          "SELECT count(*) AS waiting, min(queued_at) AS oldestQueuedAt FROM commands WHERE status = 'queued'",
        )
        .get(),
    );
    return row ?? { waiting: 0, oldestQueuedAt: null };
  }

  async forgetPlayer(player: ForgottenPlayer, now: number): Promise<boolean> {
    const eraser = new PlayerEraser(player);
    let hasOpen = false;
    for (let seq: number | undefined = 0; seq !== undefined; ) {
      const from: number = seq;
      const { nextSeq, isOpen } = await this.#groupCommit.run(() =>
        this.#history.erase(eraser, from, now, ERASE_STEP),
      );
      hasOpen ||= isOpen;
      seq = nextSeq;
    }
    return translateSqliteErrors(() => truncateLog(this.#db)) && !hasOpen;
  }

  failWaiting(serverId: string, now: number, reason = SERVER_DELETED): Promise<number> {
    return this.#groupCommit.run(() => this.failWaitingNow(serverId, now, reason));
  }

  /** Must run inside a transaction. */
  failWaitingNow(serverId: string, now: number, reason: string): number {
    this.#db.query("DELETE FROM command_pace WHERE server_id = ?").run(serverId);
    const { changes } = this.#db
      .query(
        `UPDATE commands SET status = 'failed', finished_at = ?, upstream_message = ?
         WHERE server_id = ? AND status = 'queued'`,
      )
      .run(now, reason, serverId);
    this.#history.drop(serverId, now, QUEUE_MAX);
    return changes;
  }

  /** Deletes at most `max` finished commands and returns how many. Must run inside a transaction. */
  deleteBefore(time: number, max: number): number {
    return this.#db
      .query("DELETE FROM commands WHERE seq IN (SELECT seq FROM commands WHERE finished_at < ? LIMIT ?)")
      .run(time, max).changes;
  }

  /** Must run inside a transaction. */
  deleteExpiredHolds(now: number): void {
    this.#db.query("DELETE FROM command_pace WHERE until < ?").run(now);
  }

  #findRepeated({ keyId, text, idempotencyKey }: CommandDraft, now: number): Acceptance | undefined {
    if (idempotencyKey === undefined) return undefined;
    const row = this.#db
      .query<CommandRow, [string, string]>("SELECT * FROM commands WHERE key_id = ? AND idempotency_key = ?")
      .get(keyId, idempotencyKey);
    if (!row) return undefined;
    if (now - row.queued_at >= IDEMPOTENCY_KEPT_MS) {
      this.#db.query("UPDATE commands SET idempotency_key = NULL WHERE seq = ?").run(row.seq);
      return undefined;
    }
    return row.command === text ? { receipt: toReceipt(row) } : { declined: "mismatch" };
  }

  #findSame({ serverId, keyId, text, joinsSame }: CommandDraft, now: number): Acceptance | undefined {
    if (!joinsSame) return undefined;
    for (const status of SAME_STATUSES) {
      // The newest first. They end in the order of their queue, so that all after one that ended too long ago did so too.
      const rows = this.#db
        .query<CommandRow, [string, string]>(
          `SELECT * FROM commands INDEXED BY commands_by_status
           WHERE server_id = ? AND status = ? ORDER BY seq DESC`,
        )
        .iterate(serverId, status);
      for (const row of rows) {
        if (!isSameCommand({ status, finishedAt: row.finished_at }, now)) break;
        if (row.key_id === keyId && row.command === text) return { receipt: toReceipt(row) };
      }
    }
    return this.#history.findErased({ serverId, keyId, text, idempotencyKey: undefined }, now);
  }

  #insert(
    { serverId, keyId, text, idempotencyKey }: CommandDraft,
    now: number,
    waitingMax: number,
  ): Acceptance {
    const waiting = this.#db
      .query<{ count: number }, [string]>(
        "SELECT count(*) AS count FROM commands WHERE server_id = ? AND status = 'queued'",
      )
      .get(serverId);
    const position = (waiting?.count ?? 0) + 1;
    if (position > waitingMax) return { declined: "full" };
    const isRemembering = idempotencyKey !== undefined;
    if (isRemembering && !this.#history.hasRoomForReceipts(keyId, now)) return { declined: "full" };
    const commandId = newCommandId(serverId);
    this.#db
      .query(
        `INSERT INTO commands
           (command_id, server_id, key_id, command, status, idempotency_key, accepted_position, queued_at)
         VALUES (?, ?, ?, ?, 'queued', ?, ?, ?)`,
      )
      .run(commandId, serverId, keyId, text, idempotencyKey ?? null, position, now);
    return { receipt: { commandId, position, queuedAt: now } };
  }

  #findHead(serverId: string): CommandRow | undefined {
    const query = `${SELECT} WHERE server_id = ? AND status = 'queued' ORDER BY seq LIMIT 1`;
    return this.#db.query<CommandRow, [string]>(query).get(serverId) ?? undefined;
  }

  #findRow(commandId: string): CommandRow | undefined {
    return this.#db.query<CommandRow, [string]>(`${SELECT} WHERE command_id = ?`).get(commandId) ?? undefined;
  }

  #isSending(serverId: string): boolean {
    const query = "SELECT 1 FROM commands WHERE server_id = ? AND status = 'sending' LIMIT 1";
    return this.#db.query(query).get(serverId) !== null;
  }

  /** When the hold ends. After the clock was set back, it lasts as long as it is, from now. */
  #findHold(serverId: string, now: number): number | undefined {
    const hold = this.#db
      .query<{ until: number; hold_ms: number }, [string]>("SELECT * FROM command_pace WHERE server_id = ?")
      .get(serverId);
    if (!hold || hold.until <= now) return undefined;
    if (hold.until - now <= hold.hold_ms + CLOCK_TOLERANCE_MS) return hold.until;
    this.#saveHold(serverId, now, hold.hold_ms);
    return now + hold.hold_ms;
  }

  #saveHold(serverId: string, now: number, holdMs: number): void {
    this.#db
      .query(
        "INSERT INTO command_pace VALUES (?1, ?2, ?3) ON CONFLICT (server_id) DO UPDATE SET until = ?2, hold_ms = ?3",
      )
      .run(serverId, now + holdMs, holdMs);
  }
}

function toReceipt(row: CommandRow): Receipt {
  return { commandId: row.command_id, position: row.accepted_position, queuedAt: row.queued_at };
}

function toCommand(row: CommandRow): Command {
  return {
    commandId: row.command_id,
    serverId: row.server_id,
    keyId: row.key_id,
    text: row.command,
    status: row.status,
    position: row.position,
    queuedAt: row.queued_at,
    sentAt: row.sent_at,
    finishedAt: row.finished_at,
    confirmedAt: row.confirmed_at,
    upstreamCode: row.upstream_code,
    upstreamMessage: row.upstream_message,
  };
}
