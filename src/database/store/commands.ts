// The command queues. Every change of a queue is one step with its row locked; what two instances may do to one command is
// decided by `claimed_by`, the instance that sends it.
import {
  type Command,
  type CommandEnd,
  HISTORY_LIMITS,
  type HistoryLimits,
  QUEUE_MAX,
  SERVER_DELETED,
} from "../../core/commands/command.ts";
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
  SentCommand,
} from "../../core/ports/commands.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import { asFields, type Driver, type Sql, toStorable } from "../sql.ts";
import { acceptCommand } from "./accept-command.ts";
import { addAuditEntry } from "./audit.ts";
import { CommandHistory, TEXT_HASH } from "./command-history.ts";
import { COMMAND_FIELDS, findCommand, listCommands, type StoredCommand, toCommand, toSender } from "./command-rows.ts";
import { lockQueues, QueueChanges } from "./queue-changes.ts";

/** A hold that ends further ahead than its length began before the clock was set back; this is the tolerance. */
const CLOCK_TOLERANCE_MS = 1_000;
/** How many commands are looked through in one transaction for a player to forget. */
const ERASE_STEP = 500;
const SENT_LISTED_MAX = 1_000;
const WAS_BEING_SENT = "Gatehouse stopped while this was being sent; whether the game ran it is not known.";

const IS_ABANDONED = `status = 'sending'
  AND NOT EXISTS (SELECT 1 FROM instances WHERE instance_id = commands.claimed_by)`;

type Hold = { readonly until: number; readonly hold_ms: number };

export type CommandTableDeps = {
  readonly driver: Driver;
  /** The fencing token: what another instance has claimed is not recorded. */
  readonly instanceId: () => string;
  readonly historyLimits?: HistoryLimits | undefined;
  /** Of SQLite. False when old rows are still in the files. */
  readonly truncateLog?: () => boolean;
};

export class CommandTable implements CommandQueue {
  readonly #history: CommandHistory;
  readonly #driver: Driver;
  readonly #changes: QueueChanges;
  readonly #instanceId: () => string;
  readonly #truncateLog: () => boolean;
  /** The command of each server that this process sends. */
  readonly #claimed = new Map<string, string>();
  /** The servers whose last claim was not answered, so that one of their commands may be claimed, and nobody sends it. */
  readonly #unanswered = new Set<string>();

  constructor({ driver, instanceId, historyLimits = HISTORY_LIMITS, truncateLog = () => true }: CommandTableDeps) {
    this.#history = new CommandHistory(historyLimits);
    this.#driver = driver;
    this.#changes = new QueueChanges(driver);
    this.#instanceId = instanceId;
    this.#truncateLog = truncateLog;
  }

  accept(draft: CommandDraft, now: number, waitingMax = QUEUE_MAX): Promise<Acceptance> {
    return this.#changes.make(draft.serverId, (sql) => acceptCommand(sql, this.#history, draft, now, waitingMax));
  }

  async claim(serverId: string, now: number, holdMs: number): Promise<Claim> {
    const isUnanswered = this.#unanswered.has(serverId);
    let commandId: string | undefined;
    try {
      const claim = await this.#changes.make(serverId, async (sql): Promise<Claim> => {
        if (isUnanswered) await this.#putBackUnanswered(sql, serverId);
        const found = await this.#claim(sql, serverId, now, holdMs);
        if (found.kind !== "claimed") return found;
        // Already here, so that another claim within the same transaction does not put it back.
        commandId = found.command.commandId;
        this.#claimed.set(serverId, commandId);
        return found;
      });
      this.#unanswered.delete(serverId);
      return claim;
    } catch (error) {
      this.#unanswered.add(serverId);
      if (this.#claimed.get(serverId) === commandId) this.#claimed.delete(serverId);
      throw error;
    }
  }

  hold(serverId: string, now: number, holdMs: number): Promise<void> {
    return this.#changes.make(serverId, (sql) => saveHold(sql, serverId, now, holdMs));
  }

  requeue(commandId: string): Promise<void> {
    return this.#endClaim(commandId, async (sql) => {
      await sql.run(
        `UPDATE commands SET status = 'queued', sent_at = NULL, claimed_by = NULL
         WHERE command_id = ?1 AND status = 'sending' AND claimed_by = ?2`,
        ...[commandId, this.#instanceId()],
      );
    });
  }

  settle(commandId: string, end: CommandEnd, now: number): Promise<void> {
    return this.#endClaim(commandId, async (sql, serverId) => {
      const finished = await sql.run(
        `UPDATE commands SET status = ?3, finished_at = ?4, upstream_code = ?5, upstream_message = ?6
           ${end.isUnsent ? ", sent_at = NULL" : ""}
         WHERE command_id = ?1 AND status = 'sending' AND claimed_by = ?2`,
        commandId,
        this.#instanceId(),
        end.status,
        now,
        end.upstreamCode,
        end.upstreamMessage === null ? null : toStorable(end.upstreamMessage),
      );
      await this.#history.add(sql, serverId, { finished, cancelled: 0 }, now);
    });
  }

  async expire(serverId: string, cutoff: number, now: number): Promise<number> {
    const isOld = "server_id = ?1 AND status = 'queued' AND queued_at < ?2";
    // Nearly always there is none, and then nothing is locked and written.
    const old = await this.#driver.query((sql) =>
      sql.get(`SELECT 1 AS found FROM commands WHERE ${isOld} LIMIT 1`, serverId, cutoff),
    );
    if (!old) return 0;
    return this.#changes.make(serverId, async (sql) => {
      const finished = await sql.run(
        `UPDATE commands SET status = 'expired', finished_at = ?3 WHERE ${isOld}`,
        ...[serverId, cutoff, now],
      );
      await this.#history.add(sql, serverId, { finished, cancelled: 0 }, now);
      return finished;
    });
  }

  cancel(serverId: string, commandId: string, now: number, note?: AuditNote): Promise<Cancellation | undefined> {
    return this.#changes.make(serverId, async (sql) => {
      const [finished, command] = await Promise.all([
        sql.run(
          `UPDATE commands SET status = 'cancelled', finished_at = ?3
           WHERE command_id = ?1 AND server_id = ?2 AND status = 'queued'`,
          ...[commandId, serverId, now],
        ),
        findCommand(sql, commandId),
      ]);
      if (command?.serverId !== serverId) return undefined;
      if (finished > 0) {
        await addAuditEntry(sql, commandId, note);
        await this.#history.add(sql, serverId, { finished, cancelled: finished }, now);
      }
      return { command, isCancelled: finished > 0 };
    });
  }

  find(commandId: string): Promise<Command | undefined> {
    return this.#driver.query((sql) => findCommand(sql, commandId));
  }

  list(page: PageRequest & CommandFilter): Promise<Page<Command>> {
    return this.#driver.query((sql) => listCommands(sql, page));
  }

  async listWaitingServers(): Promise<readonly string[]> {
    const rows = await this.#driver.query((sql) =>
      sql.all<{ server_id: string }>("SELECT DISTINCT server_id FROM commands WHERE status = 'queued'"),
    );
    return rows.map((row) => row.server_id);
  }

  async listSent(serverId: string, since: number): Promise<readonly SentCommand[]> {
    const rows = await this.#driver.query((sql) =>
      sql.all<SentCommand & Pick<StoredCommand, "sentBy" | "keyId"> & { readonly textHash: string | null }>(
        `SELECT command AS text, ${asFields("command_id, sent_at, logged_at, key_id, sent_by")}, ${TEXT_HASH}
         FROM commands WHERE server_id = ?1 AND status IN ('sent', 'unknown') AND sent_at >= ?2
         ORDER BY sent_at DESC LIMIT ${SENT_LISTED_MAX}`,
        ...[serverId, since],
      ),
    );
    return rows.toReversed().map(({ commandId, text, textHash, sentAt, loggedAt, ...sender }) => {
      return { commandId, sentBy: toSender(sender), text, ...(textHash !== null && { textHash }), sentAt, loggedAt };
    });
  }

  async confirm(commandId: string, loggedAt: number, now: number): Promise<void> {
    await this.#driver.transact((sql) =>
      sql.run(
        "UPDATE commands SET confirmed_at = ?2, logged_at = ?3 WHERE command_id = ?1 AND confirmed_at IS NULL",
        ...[commandId, now, loggedAt],
      ),
    );
  }

  async report(): Promise<QueueReport> {
    const row = await this.#driver.query((sql) =>
      sql.get<QueueReport>(
        `SELECT count(*) AS waiting, min(queued_at) AS "oldestQueuedAt" FROM commands WHERE status = 'queued'`,
      ),
    );
    return row ?? { waiting: 0, oldestQueuedAt: null };
  }

  async forgetPlayer(player: ForgottenPlayer, now: number): Promise<boolean> {
    const eraser = new PlayerEraser(player);
    let hasOpen = false;
    for (let seq: number | undefined = 0; seq !== undefined; ) {
      const from: number = seq;
      const { nextSeq, isOpen } = await this.#driver.transact((sql) =>
        this.#history.erase(sql, eraser, from, now, ERASE_STEP),
      );
      hasOpen ||= isOpen;
      seq = nextSeq;
    }
    // In turn with the other queries: a log cannot be emptied within a transaction.
    const isEmptied = await this.#driver.query(async () => this.#truncateLog());
    return isEmptied && !hasOpen;
  }

  failWaiting(serverId: string, now: number, reason = SERVER_DELETED): Promise<number> {
    return this.#changes.make(serverId, (sql) => failWaiting(sql, this.#history, serverId, now, reason));
  }

  /** Deletes commands that finished before that time or are too many, and what is kept for them. */
  async tidy(
    now: number,
    finishedBefore: number,
    deleteInBatches: (deleteBatch: (sql: Sql) => Promise<number>) => Promise<void>,
    batchMax: number,
  ): Promise<void> {
    await deleteInBatches((sql) => this.#history.deleteBefore(sql, finishedBefore, batchMax));
    await deleteInBatches((sql) => this.#history.deleteReceipts(sql, now, batchMax));
    // A history that an older version has let grow.
    for (const serverId of await this.#driver.query((sql) => this.#history.listOverfull(sql)))
      await deleteInBatches((sql) => this.#history.drop(sql, serverId, now, batchMax));
    await deleteInBatches((sql) => deleteIdleQueues(sql, now, batchMax));
  }

  async #claim(sql: Sql, serverId: string, now: number, holdMs: number): Promise<Claim> {
    const [head, sending, hold] = await Promise.all([
      sql.get<StoredCommand>(
        `SELECT ${COMMAND_FIELDS} FROM commands WHERE server_id BETWEEN ?1 AND ?1 AND status = 'queued'
         ORDER BY server_id, seq LIMIT 1`,
        serverId,
      ),
      sql.get("SELECT 1 AS found FROM commands WHERE server_id = ?1 AND status = 'sending' LIMIT 1", serverId),
      sql.get<Hold>("SELECT until, hold_ms FROM queues WHERE server_id = ?1", serverId),
    ]);
    if (!head) return { kind: "empty" };
    if (sending) return { kind: "busy" };
    if (hold && hold.until > now) {
      const until = await findHoldEnd(sql, serverId, hold, now);
      return { kind: "wait", until, headQueuedAt: head.queuedAt };
    }
    await Promise.all([
      sql.run(
        "UPDATE commands SET status = 'sending', sent_at = ?2, claimed_by = ?3 WHERE seq = ?1",
        ...[head.seq, now, this.#instanceId()],
      ),
      saveHold(sql, serverId, now, holdMs),
    ]);
    const command = toCommand({ ...head, status: "sending", sentAt: now, position: null });
    return { kind: "claimed", command };
  }

  async #putBackUnanswered(sql: Sql, serverId: string): Promise<void> {
    await sql.run(
      `UPDATE commands SET status = 'queued', sent_at = NULL, claimed_by = NULL
       WHERE server_id = ?1 AND status = 'sending' AND claimed_by = ?2 AND command_id <> ?3`,
      ...[serverId, this.#instanceId(), this.#claimed.get(serverId) ?? ""],
    );
  }

  /** Does nothing for a command that this process has not claimed. */
  async #endClaim(commandId: string, end: (sql: Sql, serverId: string) => Promise<void>): Promise<void> {
    const serverId = this.#claimed.keys().find((one) => this.#claimed.get(one) === commandId);
    if (serverId === undefined) return;
    await this.#changes.make(serverId, (sql) => end(sql, serverId));
    if (this.#claimed.get(serverId) === commandId) this.#claimed.delete(serverId);
  }
}

/** Fails the waiting commands of a server and ends its hold, inside the transaction of its deletion. Returns how many. */
export async function failWaitingCommands(
  sql: Sql,
  serverId: string,
  now: number,
  reason: string,
  limits: HistoryLimits = HISTORY_LIMITS,
): Promise<number> {
  await lockQueues(sql, [serverId]);
  return failWaiting(sql, new CommandHistory(limits), serverId, now, reason);
}

/**
 * Of an instance that died: whether a command that it was sending has arrived is unknown. To be called after its row of
 * `instances` was deleted, in the same transaction or later.
 */
export async function markAbandoned(sql: Sql, now: number, limits = HISTORY_LIMITS): Promise<void> {
  const found = await sql.all<{ server_id: string }>(`SELECT DISTINCT server_id FROM commands WHERE ${IS_ABANDONED}`);
  if (found.length === 0) return;
  const serverIds = found.map((row) => row.server_id);
  await lockQueues(sql, serverIds);
  const history = new CommandHistory(limits);
  for (const serverId of serverIds) {
    const finished = await sql.run(
      `UPDATE commands SET status = 'unknown', finished_at = ?2, upstream_message = ?3
       WHERE server_id = ?1 AND ${IS_ABANDONED}`,
      ...[serverId, now, WAS_BEING_SENT],
    );
    await history.add(sql, serverId, { finished, cancelled: 0 }, now);
  }
}

async function failWaiting(
  sql: Sql,
  history: CommandHistory,
  serverId: string,
  now: number,
  reason: string,
): Promise<number> {
  const [, finished] = await Promise.all([
    saveHold(sql, serverId, 0, 0),
    sql.run(
      `UPDATE commands SET status = 'failed', finished_at = ?2, upstream_message = ?3
       WHERE server_id = ?1 AND status = 'queued'`,
      ...[serverId, now, reason],
    ),
  ]);
  await history.add(sql, serverId, { finished, cancelled: 0 }, now);
  return finished;
}

/** Deletes the rows of queues that say nothing any more. */
function deleteIdleQueues(sql: Sql, now: number, max: number): Promise<number> {
  const { isIn, forUpdateSkipLocked } = sql.dialect;
  const idle = `SELECT server_id FROM queues WHERE until <= ?1 AND finished = 0
    AND NOT EXISTS (SELECT 1 FROM commands WHERE commands.server_id = queues.server_id)
    LIMIT ?2 ${forUpdateSkipLocked}`;
  return sql.run(`DELETE FROM queues WHERE ${isIn("server_id", idle)}`, now, max);
}

/** After the clock was set back, a hold lasts as long as it is, from now. */
async function findHoldEnd(sql: Sql, serverId: string, hold: Hold, now: number): Promise<number> {
  if (hold.until - now <= hold.hold_ms + CLOCK_TOLERANCE_MS) return hold.until;
  await saveHold(sql, serverId, now, hold.hold_ms);
  return now + hold.hold_ms;
}

async function saveHold(sql: Sql, serverId: string, now: number, holdMs: number): Promise<void> {
  await sql.run(
    `INSERT INTO queues (server_id, until, hold_ms, finished, cancelled) VALUES (?1, ?2, ?3, 0, 0)
     ON CONFLICT (server_id) DO UPDATE SET until = ?2, hold_ms = ?3`,
    serverId,
    // The game API may name a fraction of a millisecond.
    Math.ceil(now + holdMs),
    Math.ceil(holdMs),
  );
}
