// The limit state of every key, in memory. Blocks are also on disk, because they must survive a restart.
import type { Database } from "bun:sqlite";
import type { KeyIdentity } from "../../core/api-key.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { Block, LimitHandle, LimitStore } from "../../core/ports/limits.ts";
import type { Log } from "../../core/ports/log.ts";
import { FRESH_LIMIT, judgeRequest, type LimitState, type Verdict } from "../../core/rate-limit.ts";
import type { TransactionRunner } from "./transaction-runner.ts";

const SAVE_RETRY_MS = 1_000;

/** Mutable: a new object for each request would be work for the garbage collector. */
type MutableLimit = { resetAt: number; count: number; blockedUntil: number };

export class LimitTable implements LimitStore {
  readonly #db: Database;
  readonly #log: Log;
  readonly #transactions: TransactionRunner;
  /** One entry per key that was used since the start. */
  readonly #limits = new Map<string, MutableLimit>();
  /** Keys whose block could not be saved. Saving is retried every second, and at closing. */
  readonly #unsaved = new Set<string>();
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(db: Database, transactions: TransactionRunner, log: Log) {
    this.#db = db;
    this.#log = log;
    this.#transactions = transactions;
    const blocks = db.query<Block, []>("SELECT key_id AS keyId, blocked_until AS blockedUntil FROM blocks");
    for (const block of blocks.all()) this.loadBlock(block);
  }

  /** Adds a block that is on disk already. */
  loadBlock({ keyId, blockedUntil }: Block): void {
    assign(this.#limitOf(keyId), { ...FRESH_LIMIT, blockedUntil });
  }

  openHandle(keyId: string): LimitHandle {
    return this.#limitOf(keyId);
  }

  judge({ keyId }: KeyIdentity, now: number, isCounted: boolean, handle?: LimitHandle): Verdict {
    const limit = (handle as MutableLimit | undefined) ?? this.#limitOf(keyId);
    const verdict = judgeRequest(limit, now, isCounted);
    assign(limit, verdict.state);
    if (verdict.blockChanged) {
      const { blockedUntil } = verdict.state;
      this.#log.warn({ key_id: keyId, blocked_until: blockedUntil }, "a key is blocked for spam");
      this.#save(keyId, blockedUntil);
    }
    return verdict;
  }

  async findBlocked(keyIds: readonly string[], now: number): Promise<Set<string>> {
    return new Set(keyIds.filter((keyId) => (this.#limits.get(keyId)?.blockedUntil ?? 0) > now));
  }

  async listBlocks(now: number): Promise<Block[]> {
    const blocks: Block[] = [];
    for (const [keyId, { blockedUntil }] of this.#limits) {
      if (blockedUntil > now) blocks.push({ keyId, blockedUntil });
    }
    return blocks;
  }

  async liftBlock(keyId: string, now: number, note?: AuditNote): Promise<void> {
    const limit = this.#limits.get(keyId);
    if (!limit || limit.blockedUntil <= now) return;
    this.#transactions.writeAudited(keyId, note, () => this.deleteSaved(keyId));
    assign(limit, FRESH_LIMIT);
    this.#unsaved.delete(keyId);
  }

  /** Deletes the block on disk only. Must run inside a transaction. */
  deleteSaved(keyId: string): void {
    this.#db.query("DELETE FROM blocks WHERE key_id = ?").run(keyId);
  }

  /** Drops the state of a revoked key. */
  remove(keyId: string): void {
    this.#limits.delete(keyId);
    this.#unsaved.delete(keyId);
  }

  close(): void {
    this.#retrySaving();
    clearTimeout(this.#retry);
  }

  #limitOf(keyId: string): MutableLimit {
    const known = this.#limits.get(keyId);
    if (known) return known;
    const fresh = { ...FRESH_LIMIT };
    this.#limits.set(keyId, fresh);
    return fresh;
  }

  #retrySaving(): void {
    for (const keyId of this.#unsaved) this.#save(keyId, this.#limits.get(keyId)?.blockedUntil ?? 0);
  }

  /** When saving fails, the block is still in force in this process. */
  #save(keyId: string, blockedUntil: number): void {
    try {
      this.#db
        .query("INSERT INTO blocks VALUES (?1, ?2) ON CONFLICT (key_id) DO UPDATE SET blocked_until = ?2")
        .run(keyId, blockedUntil);
      this.#unsaved.delete(keyId);
    } catch (error) {
      if (!this.#unsaved.has(keyId))
        this.#log.error({ err: error, key_id: keyId }, "a spam block could not be saved");
      this.#unsaved.add(keyId);
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => this.#retrySaving(), SAVE_RETRY_MS);
      this.#retry.unref();
    }
  }
}

function assign(limit: MutableLimit, { resetAt, count, blockedUntil }: LimitState): void {
  limit.resetAt = resetAt;
  limit.count = count;
  limit.blockedUntil = blockedUntil;
}
