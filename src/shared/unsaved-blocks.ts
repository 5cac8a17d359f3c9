// Blocks on their way into the database. Until they are saved they hold in this instance, and saving is retried.
import type { AuditNote } from "../core/ports/audit.ts";
import type { Block, BlockStore } from "../core/ports/limits.ts";
import type { Log } from "../core/ports/log.ts";

const RETRY_MS = 1_000;

export class UnsavedBlocks {
  /** When each block ends, by the id of its key. */
  readonly #ends = new Map<string, number>();
  readonly #saving = new Map<string, Promise<void>>();
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** Whether the last attempt failed: then nobody waits for the next one. */
  #isFailing = false;

  constructor(
    private readonly blocks: BlockStore,
    private readonly log: Log,
  ) {}

  /** 0 when the key has none. */
  find(keyId: string): number {
    return this.#ends.size === 0 ? 0 : (this.#ends.get(keyId) ?? 0);
  }

  /** Resolves when the block is saved, or when that failed and is retried. Never throws. */
  async save(keyId: string, blockedUntil: number): Promise<void> {
    if (this.#ends.get(keyId) !== blockedUntil)
      this.log.warn({ key_id: keyId, blocked_until: blockedUntil }, "a key is blocked for spam");
    this.#ends.set(keyId, blockedUntil);
    const saved = this.#saving.get(keyId) ?? this.#start(keyId);
    if (!this.#isFailing) await saved;
  }

  /** The saved blocks, and those that are not saved yet. */
  async listAll(now: number): Promise<Block[]> {
    const saved = await this.blocks.list(now);
    const unsaved = Array.from(this.#ends, ([keyId, blockedUntil]) => ({ keyId, blockedUntil }));
    const isSaved = ({ keyId }: Block) => !this.#ends.has(keyId);
    return [...saved.filter(isSaved), ...unsaved.filter(({ blockedUntil }) => blockedUntil > now)];
  }

  /** Ends the block in the database too. When that fails, the block stays. */
  async lift(keyId: string, now: number, note: AuditNote | undefined): Promise<void> {
    await this.#saving.get(keyId);
    const end = this.find(keyId);
    this.#ends.delete(keyId);
    try {
      await this.blocks.lift(keyId, now, note);
    } catch (error) {
      if (end > 0) void this.save(keyId, end);
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const keyId of [...this.#ends.keys()]) await (this.#saving.get(keyId) ?? this.#start(keyId));
    clearTimeout(this.#retry);
  }

  #start(keyId: string): Promise<void> {
    const saving = this.#saveNow(keyId).finally(() => this.#saving.delete(keyId));
    this.#saving.set(keyId, saving);
    return saving;
  }

  async #saveNow(keyId: string): Promise<void> {
    try {
      // It may be extended meanwhile.
      for (let end = this.#ends.get(keyId); end !== undefined; end = this.#ends.get(keyId)) {
        await this.blocks.save(keyId, end);
        if (this.#ends.get(keyId) === end) this.#ends.delete(keyId);
      }
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        this.log.error({ err: error, key_id: keyId }, "a spam block could not be saved; it is tried again");
      this.#isFailing = true;
      this.#retry ??= setTimeout(() => this.#retryAll(), RETRY_MS).unref();
    }
  }

  #retryAll(): void {
    this.#retry = undefined;
    for (const keyId of this.#ends.keys()) if (!this.#saving.has(keyId)) void this.#start(keyId);
  }
}
