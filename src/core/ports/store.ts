// The store: everything Gatehouse keeps about servers, keys and commands.
import type { AuditStore } from "./audit.ts";
import type { CommandQueue } from "./commands.ts";
import type { KeyStore } from "./keys.ts";
import type { LimitStore } from "./limits.ts";
import type { ServerStore } from "./servers.ts";
import type { SettingStore } from "./settings.ts";
import type { UsageStore } from "./usage.ts";

/** Entries older than these times are deleted. */
export type TidyTimes = {
  readonly now: number;
  readonly usage: number;
  readonly audit: number;
  readonly commands: number;
};

/**
 * Every method throws StoreUnavailable when it cannot keep its promise; nothing has changed then, unless the answer of a
 * remote store was lost on the way. A change that has returned survives a crash, and the next lookup sees it. A note
 * handed to a change is written to the audit log with it, both or neither; a change that finds nothing to change writes
 * no note.
 */
export interface Store {
  readonly servers: ServerStore;
  readonly keys: KeyStore;
  readonly limits: LimitStore;
  readonly usage: UsageStore;
  readonly audit: AuditStore;
  readonly settings: SettingStore;
  readonly commands: CommandQueue;
  /** Deletes tokens whose grace period is over and entries older than the given times, and finishes interrupted deletions. */
  tidy(before: TidyTimes): Promise<void>;
  /** Throws StoreUnavailable when the store cannot be read or written now. */
  checkHealth(): Promise<void>;
  close(): Promise<void>;
}
