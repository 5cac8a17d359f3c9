// The state of every key's limit, and the spam blocks.
import type { KeyIdentity } from "../api-key.ts";
import type { MaybePromise } from "../maybe-promise.ts";
import type { Verdict } from "../rate-limit.ts";
import type { AuditNote } from "./audit.ts";

export type Block = { readonly keyId: string; readonly blockedUntil: number };

export interface LimitStore {
  /**
   * Judges one request of the key with `judgeRequest` as one atomic step and keeps the next state. A block that began
   * or grew is durable before the verdict is returned, or as soon as the disk accepts writes again. A restart may
   * forget counts.
   */
  judge(key: KeyIdentity, now: number, isCounted: boolean): MaybePromise<Verdict>;
  /** The blocks in force. */
  listBlocks(now: number): Promise<readonly Block[]>;
  /** The key starts with a fresh window. Without a block nothing changes. */
  liftBlock(keyId: string, now: number, note?: AuditNote): Promise<void>;
}
