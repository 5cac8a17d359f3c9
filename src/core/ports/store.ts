// The store: all durable data.
import type { AuditStore } from "./audit.ts";
import type { CommandQueue } from "./commands.ts";
import type { DeviceStore } from "./devices.ts";
import type { KeyStore } from "./keys.ts";
import type { LimitStore } from "./limits.ts";
import type { ServerStore } from "./servers.ts";
import type { SettingStore } from "./settings.ts";
import type { UsageStore } from "./usage.ts";

/** Usage, audit entries and commands older than these times are deleted. */
export type TidyTimes = {
  readonly now: number;
  readonly usage: number;
  readonly audit: number;
  readonly commands: number;
};

/**
 * A method that cannot do its work throws StoreUnavailable. Then nothing has changed, unless the reply of a remote store
 * was lost. When a change has returned, it is durable and the next lookup sees it. The audit note of a change is written
 * atomically with it; a change that has no effect writes no note.
 */
export interface Store {
  readonly servers: ServerStore;
  readonly keys: KeyStore;
  readonly devices: DeviceStore;
  readonly limits: LimitStore;
  readonly usage: UsageStore;
  readonly audit: AuditStore;
  readonly settings: SettingStore;
  readonly commands: CommandQueue;
  /** Deletes tokens whose grace period is over, expired devices and links, and entries older than the given times, and finishes interrupted deletions. */
  tidy(before: TidyTimes): Promise<void>;
  /** Throws StoreUnavailable when the store cannot be read or written now. */
  checkHealth(): Promise<void>;
  close(): Promise<void>;
}
