// The state of every key's limit, in memory, and the blocks among them, on disk too.
import type { Database } from "bun:sqlite";
import type { KeyIdentity } from "../../core/api-key.ts";
import type { Block, Log } from "../../core/ports.ts";
import { FRESH_LIMIT, judgeRequest, type LimitState, type Verdict } from "../../core/rate-limit.ts";

const SAVE_AGAIN_MS = 1_000;

export class LimitBook {
  readonly #db: Database;
  readonly #log: Log;
  /** One entry a key that was looked for at least once, so never more than there are keys. */
  readonly #states = new Map<string, LimitState>();
  /** Keys whose blocks the disk has refused; tried again each second, and before closing. */
  readonly #unsaved = new Set<string>();
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(db: Database, log: Log) {
    this.#db = db;
    this.#log = log;
    const blocks = db.query<Block, []>("SELECT key_id AS keyId, blocked_until AS blockedUntil FROM blocks");
    for (const block of blocks.all()) this.learn(block);
  }

  /** The state of this key's limit, as it will be at any time: it is changed in place. */
  of(keyId: string): LimitState {
    const kept = this.#states.get(keyId);
    if (kept) return kept;
    const fresh = { ...FRESH_LIMIT };
    this.#states.set(keyId, fresh);
    return fresh;
  }

  learn({ keyId, blockedUntil }: Block): void {
    change(this.of(keyId), { ...FRESH_LIMIT, blockedUntil });
  }

  judge({ keyId, limit = this.of(keyId) }: KeyIdentity, now: number, isCounted: boolean): Verdict {
    const verdict = judgeRequest(limit, now, isCounted);
    change(limit, verdict.state);
    if (verdict.blockChanged) {
      const { blockedUntil } = verdict.state;
      this.#log.warn({ key_id: keyId, blocked_until: blockedUntil }, "a key is blocked for spam");
      this.#save(keyId, blockedUntil);
    }
    return verdict;
  }

  listBlocks(now: number): Block[] {
    const blocks: Block[] = [];
    for (const [keyId, { blockedUntil }] of this.#states) {
      if (blockedUntil > now) blocks.push({ keyId, blockedUntil });
    }
    return blocks;
  }

  isBlocked(keyId: string, now: number): boolean {
    return (this.#states.get(keyId)?.blockedUntil ?? 0) > now;
  }

  /** Takes the block off the disk; it stays in force until it is forgotten too. */
  deleteSaved(keyId: string): void {
    this.#db.query("DELETE FROM blocks WHERE key_id = ?").run(keyId);
  }

  startOver(keyId: string): void {
    change(this.of(keyId), FRESH_LIMIT);
    this.#unsaved.delete(keyId);
  }

  /** For a key that is no more. */
  forget(keyId: string): void {
    this.#states.delete(keyId);
    this.#unsaved.delete(keyId);
  }

  close(): void {
    this.saveMissed();
    clearTimeout(this.#retry);
  }

  saveMissed(): void {
    for (const keyId of this.#unsaved) this.#save(keyId, this.#states.get(keyId)?.blockedUntil ?? 0);
  }

  /** A block holds in this process even while the disk refuses it, and is saved when there is room again. */
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
      this.#retry = setTimeout(() => this.saveMissed(), SAVE_AGAIN_MS);
      this.#retry.unref();
    }
  }
}

/** In place: to keep every new state would be a hundred thousand objects a window that outlive their request. */
function change(
  kept: { -readonly [K in keyof LimitState]: LimitState[K] },
  { resetAt, count, blockedUntil }: LimitState,
): void {
  kept.resetAt = resetAt;
  kept.count = count;
  kept.blockedUntil = blockedUntil;
}
