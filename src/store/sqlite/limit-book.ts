// The state of every key's limit, in memory, and the blocks among them, on disk too.
import type { Database } from "bun:sqlite";
import type { Block, Log } from "../../core/ports.ts";
import { FRESH_LIMIT, judgeRequest, type LimitState, type Verdict } from "../../core/rate-limit.ts";

const SAVE_AGAIN_MS = 1_000;

type Changing<T> = { -readonly [K in keyof T]: T[K] };

export class LimitBook {
  readonly #db: Database;
  readonly #log: Log;
  /** One entry a key that was used at least once, so never more than there are keys. */
  readonly #states = new Map<string, Changing<LimitState>>();
  /** Keys whose blocks the disk has refused; tried again each second, and before closing. */
  readonly #unsaved = new Set<string>();
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(db: Database, log: Log) {
    this.#db = db;
    this.#log = log;
    const blocks = db.query<Block, []>("SELECT key_id AS keyId, blocked_until AS blockedUntil FROM blocks");
    for (const block of blocks.all()) this.learn(block);
  }

  learn({ keyId, blockedUntil }: Block): void {
    this.#states.set(keyId, { ...FRESH_LIMIT, blockedUntil });
  }

  judge(keyId: string, now: number, isCounted: boolean): Verdict {
    const kept = this.#states.get(keyId);
    const verdict = judgeRequest(kept ?? FRESH_LIMIT, now, isCounted);
    const { state } = verdict;
    if (kept) {
      // Changed in place: to keep every new state would be a hundred thousand objects a window that outlive their request.
      kept.resetAt = state.resetAt;
      kept.count = state.count;
      kept.blockedUntil = state.blockedUntil;
    } else {
      this.#states.set(keyId, { ...state });
    }
    if (verdict.blockChanged) {
      const { blockedUntil } = state;
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
