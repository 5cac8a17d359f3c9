// The limit of every key when this is the only instance: the windows are in memory, and a restart forgets them.
import type { KeyIdentity } from "../core/keys/api-key.ts";
import { FRESH_LIMIT, judgeRequest, type LimitState, type Verdict } from "../core/keys/rate-limit.ts";
import type { MaybePromise } from "../core/maybe-promise.ts";
import type { AuditNote } from "../core/ports/audit.ts";
import type { Block, BlockStore, LimitHandle, LimitStore } from "../core/ports/limits.ts";
import type { Log } from "../core/ports/log.ts";
import { UnsavedBlocks } from "./unsaved-blocks.ts";

/** Mutable: a new object for each request would be work for the garbage collector. */
type MutableLimit = { resetAt: number; count: number; blockedUntil: number };

export class MemoryLimits implements LimitStore {
  readonly #blocks: BlockStore;
  readonly #unsaved: UnsavedBlocks;
  /** One entry per key that was used since the start. */
  readonly #limits = new Map<string, MutableLimit>();

  constructor(blocks: BlockStore, log: Log) {
    this.#blocks = blocks;
    this.#unsaved = new UnsavedBlocks(blocks, log);
  }

  openHandle(keyId: string): LimitHandle {
    return this.#limitOf(keyId);
  }

  judge({ keyId }: KeyIdentity, now: number, isCounted: boolean, handle?: LimitHandle): MaybePromise<Verdict> {
    const limit = (handle as MutableLimit | undefined) ?? this.#limitOf(keyId);
    const verdict = judgeRequest(limit, now, isCounted);
    assign(limit, verdict.state);
    if (!verdict.blockChanged) return verdict;
    return this.#unsaved.save(keyId, verdict.state.blockedUntil).then(() => verdict);
  }

  async findBlocked(keyIds: readonly string[], now: number): Promise<Set<string>> {
    return new Set(keyIds.filter((keyId) => this.#blockedUntil(keyId) > now));
  }

  async listBlocks(now: number): Promise<readonly Block[]> {
    return this.#unsaved.listAll(now);
  }

  async liftBlock(keyId: string, now: number, note?: AuditNote): Promise<void> {
    if (this.#blockedUntil(keyId) <= now) return;
    await this.#unsaved.lift(keyId, now, note);
    const limit = this.#limits.get(keyId);
    if (limit) assign(limit, FRESH_LIMIT);
  }

  async close(): Promise<void> {
    await this.#unsaved.close();
  }

  #blockedUntil(keyId: string): number {
    return this.#limits.get(keyId)?.blockedUntil ?? this.#blocks.find(keyId);
  }

  #limitOf(keyId: string): MutableLimit {
    const known = this.#limits.get(keyId);
    if (known) return known;
    const fresh = { ...FRESH_LIMIT, blockedUntil: this.#blocks.find(keyId) };
    this.#limits.set(keyId, fresh);
    return fresh;
  }
}

function assign(limit: MutableLimit, { resetAt, count, blockedUntil }: LimitState): void {
  limit.resetAt = resetAt;
  limit.count = count;
  limit.blockedUntil = blockedUntil;
}
