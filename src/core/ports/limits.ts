// The request limit of every key, and the spam blocks.
import type { KeyIdentity } from "../keys/api-key.ts";
import type { Verdict } from "../keys/rate-limit.ts";
import type { MaybePromise } from "../maybe-promise.ts";
import type { AuditNote } from "./audit.ts";

export type Block = { readonly keyId: string; readonly blockedUntil: number };

/** The blocks that must last. Every change is durable and known to all instances when it resolves. */
export interface BlockStore {
  /** When the key's block ends; 0 without one. Synchronous, because all blocks are in memory. */
  find(keyId: string): number;
  save(keyId: string, blockedUntil: number): MaybePromise<void>;
  /** Ends a block that is in force. Without one nothing changes. */
  lift(keyId: string, now: number, note?: AuditNote): Promise<void>;
  /** The blocks in force. */
  list(now: number): Promise<readonly Block[]>;
}

/** A store's own reference to the limit of one key. Nobody else looks inside. */
export type LimitHandle = object;

export interface LimitStore {
  /** A handle that saves `judge` the lookup of a key in use. Undefined when the store has none. */
  openHandle(keyId: string): LimitHandle | undefined;
  /**
   * Judges one request of the key with `judgeRequest` and saves the next state, atomically. A block that began or was
   * extended is durable before the verdict is returned, or as soon as the database accepts writes again. Counts may be lost
   * by a restart.
   */
  judge(key: KeyIdentity, now: number, isCounted: boolean, handle?: LimitHandle | undefined): MaybePromise<Verdict>;
  /** Those of the keys that are blocked. */
  findBlocked(keyIds: readonly string[], now: number): Promise<ReadonlySet<string>>;
  /** The blocks in force. */
  listBlocks(now: number): Promise<readonly Block[]>;
  /** Ends the block and starts a fresh window. Without a block nothing changes. */
  liftBlock(keyId: string, now: number, note?: AuditNote): Promise<void>;
  /** Saves what could not be saved before. */
  close(): Promise<void>;
}
