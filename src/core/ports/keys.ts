// API keys and their tokens.
import type { ApiKey, KeyRights } from "../api-key.ts";
import type { KeySearch } from "../key-state.ts";
import type { MaybePromise } from "../maybe-promise.ts";
import type { AuditNote } from "./audit.ts";
import type { Page, PageRequest } from "./pages.ts";

export const TOKENS_IN_GRACE_MAX = 5;

export type KeyDraft = KeyRights & {
  readonly serverId: string;
  readonly label: string;
  readonly tokenHash: string;
  readonly expiresAt: number | null;
};

export type KeyChange = Partial<KeyRights> & {
  readonly label?: string;
  readonly expiresAt?: number | null;
  readonly isSuspended?: boolean;
};

/** A key as an operator sees it. */
export type KeyDetails = KeyRights & {
  readonly keyId: string;
  readonly serverId: string;
  readonly label: string;
  readonly expiresAt: number | null;
  readonly isSuspended: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
};

export type KeyFilter = {
  readonly serverId?: string | undefined;
  readonly search?: KeySearch | undefined;
};

export interface KeyStore {
  /**
   * The key of a valid token; undefined for a token that is unknown, revoked, replaced or expired. With a token in its
   * grace period, the key expires at the end of that period. Synchronous, because every request needs it.
   */
  find(tokenHash: string, now: number): ApiKey | undefined;
  /**
   * For a token that `find` does not know: another instance may have just created its key. A shared store first fetches
   * the newest changes, once for all concurrent lookups. The embedded store returns undefined.
   */
  findNew(tokenHash: string, now: number): MaybePromise<ApiKey | undefined>;
  /** Changes whenever a key that `find` has returned changes. While it stays the same, results of `find` may be cached. */
  readonly version: number;
  /** The label of a key that `find` has returned. Undefined when the key was revoked since. */
  findLabel(keyId: string): string | undefined;
  /** The labels of these keys, revoked ones included. A key that never existed is left out. */
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
  rotate(
    keyId: string,
    tokenHash: string,
    oldValidUntil: number,
    now: number,
    note?: AuditNote,
  ): Promise<boolean>;
  /** Revoking again changes nothing. False when there never was such a key. */
  revoke(keyId: string, now: number, note?: AuditNote): Promise<boolean>;
}
