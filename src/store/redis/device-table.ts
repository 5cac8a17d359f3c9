// Signed-in devices and open links. They are part of the record of their key, so that they are signed with it, end with it, and
// every instance learns of a change as of any change of a key.
import type { ApiKey } from "../../core/api-key.ts";
import { HOUR_MS } from "../../core/durations.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import {
  DEVICE_USE_STEP_MS,
  DEVICES_PER_KEY_MAX,
  type DeviceDetails,
  type DeviceDraft,
  type DeviceStore,
  LINKS_PER_KEY_MAX,
  type LinkDraft,
  type SignedInDevice,
} from "../../core/ports/devices.ts";
import { withDeviceUses } from "./device-uses.ts";
import type { Change, Directory } from "./directory.ts";
import { NAMES } from "./names.ts";
import type { DeviceRecord, KeyRecord } from "./records.ts";
import type { RedisLink } from "./redis-link.ts";
import { scanRecords } from "./signed-record.ts";

/** The use of a device that is not known here is kept for a while: another instance may have just signed it in. */
const UNKNOWN_USE_KEPT_MS = HOUR_MS;

export type DeviceTableParts = {
  readonly link: RedisLink;
  readonly directory: Directory;
  /** Resolves when every change that was made before the call is known. */
  readonly catchUp: () => Promise<void>;
};

/** The record with a change, and the further steps that belong to it. Undefined when there is nothing to change. */
type Prepared = { readonly record: KeyRecord; readonly steps?: Change["steps"] } | undefined;

export class DeviceTable implements DeviceStore {
  readonly #parts: DeviceTableParts;

  constructor(parts: DeviceTableParts) {
    this.#parts = parts;
  }

  find(deviceId: string, now: number): SignedInDevice | undefined {
    const { link, directory } = this.#parts;
    // Another instance may have signed the device in since the last heartbeat.
    if (!link.isUp && !directory.cache.hasDevice(deviceId))
      throw new StoreUnavailable("Redis does not answer, and the device is not known here");
    return directory.cache.findDevice(deviceId, now);
  }

  async findNew(deviceId: string, now: number): Promise<SignedInDevice | undefined> {
    const { directory, catchUp } = this.#parts;
    await catchUp();
    return directory.cache.findDevice(deviceId, now);
  }

  async findBySecret(secretHash: string, now: number): Promise<SignedInDevice | undefined> {
    const { directory, catchUp } = this.#parts;
    const known = directory.cache.findDeviceBySecret(secretHash, now);
    if (known) return known;
    await catchUp();
    return directory.cache.findDeviceBySecret(secretHash, now);
  }

  async list(keyId: string, now: number): Promise<DeviceDetails[]> {
    const { link, directory } = this.#parts;
    const found = await directory.readKey(keyId);
    if (!found || found.record.revokedAt !== null) return [];
    const used = await withDeviceUses(link, unexpired(found.record.devices, now));
    const details = used.map(({ secretHash: _, ...device }) => device);
    return details.sort((a, b) => b.createdAt - a.createdAt || (a.deviceId < b.deviceId ? -1 : 1));
  }

  async add(
    keyId: string,
    tokenHash: string,
    draft: DeviceDraft,
    now: number,
    note?: AuditNote,
  ): Promise<boolean> {
    return this.#change(keyId, note, async (old) => {
      const token = old.tokens.find((one) => one.tokenHash === tokenHash);
      const validUntil = token ? (token.validUntil ?? Number.POSITIVE_INFINITY) : 0;
      if (validUntil <= now) return undefined;
      return this.#addTo(old, { ...draft, expiresAt: Math.min(draft.expiresAt, validUntil) }, now);
    });
  }

  async recordUse(deviceId: string, now: number): Promise<void> {
    const { link } = this.#parts;
    const name = NAMES.deviceUses;
    const time = (await link.send(name, "HGET", name, deviceId)) as string | null;
    if (now - Number(time ?? 0) < DEVICE_USE_STEP_MS) return;
    await link.send(name, "HSET", name, deviceId, now);
  }

  async end(keyId: string, deviceId: string, now: number, note?: AuditNote): Promise<boolean> {
    return this.#change(keyId, note, async (old) => {
      const devices = unexpired(old.devices, now);
      const rest = devices.filter((device) => device.deviceId !== deviceId);
      if (rest.length === devices.length) return undefined;
      return { record: { ...old, devices: rest }, steps: [["HDEL", NAMES.deviceUses, deviceId]] };
    });
  }

  async addLink(keyId: string, draft: LinkDraft, now: number, note?: AuditNote): Promise<boolean> {
    return this.#change(keyId, note, async (old) => {
      const links = [...unexpired(old.links, now), draft].slice(-LINKS_PER_KEY_MAX);
      return { record: { ...old, links } };
    });
  }

  async findLink(secretHash: string, now: number): Promise<ApiKey | undefined> {
    const { directory, catchUp } = this.#parts;
    const known = directory.cache.findLinkKey(secretHash, now);
    if (known) return known;
    await catchUp();
    return directory.cache.findLinkKey(secretHash, now);
  }

  async redeemLink(secretHash: string, draft: DeviceDraft, now: number, note?: AuditNote): Promise<boolean> {
    const key = await this.findLink(secretHash, now);
    if (!key) return false;
    return this.#change(key.keyId, note, async (old) => {
      // Read from Redis, not from the cache: another instance may have redeemed the link.
      const links = unexpired(old.links, now);
      const rest = links.filter((link) => link.secretHash !== secretHash);
      if (rest.length === links.length) return undefined;
      return this.#addTo({ ...old, links: rest }, draft, now);
    });
  }

  /** Deletes the uses of devices that have ended. */
  async forgetUses(now: number): Promise<void> {
    const { link, directory } = this.#parts;
    for await (const pairs of scanRecords(link, NAMES.deviceUses)) {
      const ended = pairs.filter(
        ([deviceId, time]) =>
          !directory.cache.hasDevice(deviceId) && now - Number(time) > UNKNOWN_USE_KEPT_MS,
      );
      const ids = ended.map(([deviceId]) => deviceId);
      if (ids.length > 0) await link.send(NAMES.deviceUses, "HDEL", NAMES.deviceUses, ...ids);
    }
  }

  async #addTo(old: KeyRecord, draft: DeviceDraft, now: number): Promise<Prepared> {
    const used = await withDeviceUses(this.#parts.link, unexpired(old.devices, now));
    const byUse = used.toSorted((a, b) => (b.lastUsedAt ?? b.createdAt) - (a.lastUsedAt ?? a.createdAt));
    const kept: DeviceRecord[] = byUse
      .slice(0, DEVICES_PER_KEY_MAX - 1)
      .map(({ lastUsedAt: _, ...device }) => device);
    const ended = byUse.slice(DEVICES_PER_KEY_MAX - 1).map(({ deviceId }) => deviceId);
    const record = { ...old, devices: [...kept, { ...draft, createdAt: now }] };
    return ended.length === 0 ? { record } : { record, steps: [["HDEL", NAMES.deviceUses, ...ended]] };
  }

  /** False when there is no such key, it is revoked, or there is nothing to change. */
  async #change(
    keyId: string,
    note: AuditNote | undefined,
    prepare: (old: KeyRecord) => Promise<Prepared>,
  ): Promise<boolean> {
    const { directory } = this.#parts;
    const isDone = await directory.change(async () => {
      const found = await directory.readKey(keyId);
      if (!found || found.record.revokedAt !== null) return undefined;
      const prepared = await prepare(found.record);
      if (!prepared) return undefined;
      return {
        result: true,
        change: {
          checks: [[NAMES.keys, keyId, found.text]],
          steps: [directory.stepToStore(NAMES.keys, keyId, prepared.record), ...(prepared.steps ?? [])],
          changed: [keyId],
          audit: note && { target: keyId, note },
        },
      };
    });
    return isDone ?? false;
  }
}

function unexpired<T extends { readonly expiresAt: number }>(
  all: readonly T[] | undefined,
  now: number,
): T[] {
  return (all ?? []).filter(({ expiresAt }) => expiresAt > now);
}
