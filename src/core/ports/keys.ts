// API keys and their tokens.
import type { ApiKey } from "../keys/api-key.ts";
import type { KeySettings } from "../keys/key-settings.ts";
import type { KeySearch } from "../keys/key-state.ts";
import type { MaybePromise } from "../maybe-promise.ts";
import type { AuditNote } from "./audit.ts";
import type { Page, PageRequest } from "./pages.ts";

export const TOKENS_IN_GRACE_MAX = 5;

export type KeyDraft = KeySettings & { readonly serverId: string; readonly tokenHash: string };

export type KeyChange = Partial<KeySettings & { readonly isSuspended: boolean }>;

/** A key as an operator sees it. */
export type KeyDetails = KeySettings & {
  readonly keyId: string;
  readonly serverId: string;
  readonly isSuspended: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
};

export type KeyFilter = {
  readonly serverId?: string | undefined;
  /** Only keys of these servers. */
  readonly serverIds?: readonly string[] | undefined;
  readonly search?: KeySearch | undefined;
};

export interface KeyStore {
  /**
   * The key of a valid token; undefined for a token that is unknown, revoked, replaced or expired. With a token in its
   * grace period, the key expires at the end of that period. Synchronous for a key in use. Throws StoreUnavailable when the
   * token is not in memory and the database is away.
   */
  find(tokenHash: string, now: number): MaybePromise<ApiKey | undefined>;
  /** Changes whenever a key that `find` has returned changes. While it stays the same, results of `find` may be cached. */
  readonly version: number;
  /** The labels of these keys, revoked ones included, and the names of people who are callers. Who does not exist is left out. */
  listLabels(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  findDetails(keyId: string): Promise<KeyDetails | undefined>;
  /** When the old tokens of the key that still work become invalid, the soonest first. */
  listGraceEnds(keyId: string, now: number): Promise<readonly number[]>;
  /**
   * Oldest first, revoked keys included. The work for a page is bounded: a page of a search may have fewer items than asked
   * for, or none, although there is a next page.
   */
  list(page: PageRequest & KeyFilter): Promise<Page<KeyDetails>>;
  /** Undefined when there is no such server. */
  create(draft: KeyDraft, now: number, note?: AuditNote): Promise<KeyDetails | undefined>;
  /** Undefined when there is no such key or it is revoked. */
  update(keyId: string, change: KeyChange, note?: AuditNote): Promise<KeyDetails | undefined>;
  /**
   * The old token works until `oldValidUntil`; when that is not after `now`, every older token of the key ends at once, also
   * those of earlier rotations. At most TOKENS_IN_GRACE_MAX old tokens of a key work at a time: the ones that would expire
   * first become invalid at once. False when there is no such key or it is revoked.
   */
  rotate(keyId: string, tokenHash: string, oldValidUntil: number, now: number, note?: AuditNote): Promise<boolean>;
  /** Revoking again changes nothing. False when there never was such a key. */
  revoke(keyId: string, now: number, note?: AuditNote): Promise<boolean>;
}

/** The use of one key in one hour that is not written yet. Code 0 counts answers without an error. */
export type HourlyUsage = {
  readonly keyId: string;
  /** The beginning of the hour. */
  readonly hour: number;
  readonly lastUsedAt: number;
  readonly counts: ReadonlyMap<number, number>;
};

export type UsageCount = { readonly hour: number; readonly code: number; readonly count: number };

export interface UsageStore {
  /**
   * Adds to the stored counts, and ignores keys, and people on a server, that do not exist. Until it resolves, reads may or may not include the
   * entries.
   */
  add(entries: readonly HourlyUsage[]): Promise<void>;
  /** From the hour that begins at `since` on, oldest first. */
  read(keyId: string, since: number): Promise<readonly UsageCount[]>;
}
