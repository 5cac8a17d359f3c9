// Signed-in devices: browsers that may ask for short-lived tokens of a key. And the one-time links that sign one in.
import type { ApiKey } from "../api-key.ts";
import type { MaybePromise } from "../maybe-promise.ts";
import type { AuditNote } from "./audit.ts";

/** One more ends the device that has not been used for the longest time. */
export const DEVICES_PER_KEY_MAX = 20;
/** One more ends the oldest open link. */
export const LINKS_PER_KEY_MAX = 5;
/** A use is not recorded again within this time: recording is a write. */
export const DEVICE_USE_STEP_MS = 60_000;

export type DeviceDraft = {
  readonly deviceId: string;
  readonly secretHash: string;
  readonly expiresAt: number;
  /** Which browser on which system, as far as it is known; empty when it is not. */
  readonly description: string;
};

/** A device as an operator sees it. */
export type DeviceDetails = Omit<DeviceDraft, "secretHash"> & {
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
};

/** A device that is signed in now, with its key, which may be suspended. */
export type SignedInDevice = {
  readonly deviceId: string;
  readonly expiresAt: number;
  readonly key: ApiKey;
};

export type LinkDraft = { readonly secretHash: string; readonly expiresAt: number };

/**
 * A device ends when it expires, when somebody ends it, and with its key: a revoked or expired key has no devices. A rotation
 * ends all open links of the key, and its devices together with the old token. Every end of a device changes `keys.version`.
 */
export interface DeviceStore {
  /** Synchronous, because every request with a short-lived token needs it. */
  find(deviceId: string, now: number): SignedInDevice | undefined;
  /** For a device that `find` does not know: another instance may have just signed it in. */
  findNew(deviceId: string, now: number): MaybePromise<SignedInDevice | undefined>;
  findBySecret(secretHash: string, now: number): Promise<SignedInDevice | undefined>;
  /** The newest first. */
  list(keyId: string, now: number): Promise<readonly DeviceDetails[]>;
  /**
   * Signs a device in with a token of the key. It ends with that token at the latest. False when the token is none of the key,
   * or no longer: it is checked together with the write, so that no device outlives a rotation.
   */
  add(keyId: string, tokenHash: string, draft: DeviceDraft, now: number, note?: AuditNote): Promise<boolean>;
  /** Records the use, unless one was recorded within the last DEVICE_USE_STEP_MS. */
  recordUse(deviceId: string, now: number): Promise<void>;
  /** False when the key has no such device. */
  end(keyId: string, deviceId: string, now: number, note?: AuditNote): Promise<boolean>;
  /** False when there is no such key or it is revoked. */
  addLink(keyId: string, draft: LinkDraft, now: number, note?: AuditNote): Promise<boolean>;
  /** The key of an open link. */
  findLink(secretHash: string, now: number): Promise<ApiKey | undefined>;
  /** Ends the link and signs the device in, atomically. False when the link is not open: of several callers one gets true. */
  redeemLink(secretHash: string, draft: DeviceDraft, now: number, note?: AuditNote): Promise<boolean>;
}
