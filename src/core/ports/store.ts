// The store: all durable data.
import type { AuditStore } from "./audit.ts";
import type { CommandQueue } from "./commands.ts";
import type { KeyStore, UsageStore } from "./keys.ts";
import type { LimitStore } from "./limits.ts";
import type {
  InvitationStore,
  PasskeyStore,
  PeopleStore,
  RoleStore,
  SessionStore,
  UsedChallengeStore,
} from "./people.ts";
import type { ServerStore } from "./servers.ts";

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
  readonly people: PeopleStore;
  readonly roles: RoleStore;
  readonly sessions: SessionStore;
  readonly invitations: InvitationStore;
  readonly passkeys: PasskeyStore;
  readonly challenges: UsedChallengeStore;
  readonly limits: LimitStore;
  readonly usage: UsageStore;
  readonly audit: AuditStore;
  readonly settings: SettingStore;
  readonly commands: CommandQueue;
  /**
   * Deletes tokens whose grace period is over, sessions, invitations and challenges that have expired, and entries older than
   * the given times. One instance at a time does it.
   */
  tidy(before: TidyTimes): Promise<void>;
  /** Resolves when what other instances have changed before is known here. Throws StoreUnavailable when it cannot be known. */
  catchUp(): Promise<void>;
  /** Throws StoreUnavailable when the store cannot be read or written now. */
  checkHealth(): Promise<void>;
  close(): Promise<void>;
}

/** Named values for internal use. */
export interface SettingStore {
  find(name: string): Promise<string | undefined>;
  save(name: string, value: string): Promise<void>;
  /**
   * Changes a setting that other instances follow: they are told. `change` makes the new value from the stored one, within
   * the transaction; undefined leaves it as it is.
   */
  amend(name: string, change: (value: string | undefined) => string | undefined): Promise<void>;
  /** Saves the value unless the setting exists already. Returns the value that is stored afterwards. */
  saveIfAbsent(name: string, value: string): Promise<string>;
}
