// The contract of core/ports/devices.ts as tests. Every store passes this suite unchanged.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DEFAULT_RIGHTS } from "../../src/core/api-key.ts";
import { DAY_MS } from "../../src/core/durations.ts";
import { StoreUnavailable } from "../../src/core/errors.ts";
import type { AuditNote } from "../../src/core/ports/audit.ts";
import {
  DEVICE_USE_STEP_MS,
  DEVICES_PER_KEY_MAX,
  type DeviceDraft,
  LINKS_PER_KEY_MAX,
} from "../../src/core/ports/devices.ts";
import type { PortableItem, PortableStore } from "../../src/core/ports/portable-store.ts";
import type { Store } from "../../src/core/ports/store.ts";
import type { RefusableStoreHarness } from "./store-contract.ts";

const NOW = 1_800_000_000_000;
const NOTE: AuditNote = {
  at: NOW,
  action: "device.added",
  actor: { fingerprint: "key_a", address: "203.0.113.7" },
  details: { after: { device_id: "dev_1" } },
};

function draftOf(name: string | number, expiresAt = NOW + DAY_MS): DeviceDraft {
  return {
    deviceId: `dev_${name}`,
    secretHash: `secret ${name}`,
    expiresAt,
    description: "Firefox, Windows",
  };
}

export function describeDevices(name: string, createHarness: () => Promise<RefusableStoreHarness>): void {
  describe(`${name} fulfils the contract of devices`, () => {
    let harness: RefusableStoreHarness;
    let store: Store;
    let serverId: string;
    let keyId: string;
    /** Of the current token of the key. */
    let tokenHash: string;

    beforeEach(async () => {
      harness = await createHarness();
      store = await harness.open();
      ({ serverId } = await store.servers.create({ name: "One", community: null, serverKey: "a-b" }, NOW));
      tokenHash = "hash-1";
      keyId = await addKey(tokenHash);
    });
    afterEach(() => harness.dispose());

    async function addKey(tokenHash: string, expiresAt: number | null = null): Promise<string> {
      const draft = { ...DEFAULT_RIGHTS, serverId, label: "bot", expiresAt, tokenHash };
      const key = await store.keys.create(draft, NOW);
      if (!key) throw new Error("no key was created");
      return key.keyId;
    }

    async function reopen(): Promise<void> {
      await harness.crash();
      store = await harness.open();
    }

    async function listIds(of = keyId, now = NOW): Promise<string[]> {
      return (await store.devices.list(of, now)).map(({ deviceId }) => deviceId);
    }

    /** Found neither by its id nor by its secret, and not listed. */
    async function hasEnded(device: string | number, now = NOW): Promise<boolean> {
      const { deviceId, secretHash } = draftOf(device);
      const found = [
        store.devices.find(deviceId, now) ?? (await store.devices.findNew(deviceId, now)),
        await store.devices.findBySecret(secretHash, now),
        (await listIds(keyId, now)).find((id) => id === deviceId),
      ];
      const ended = found.filter((one) => one === undefined).length;
      expect([0, found.length]).toContain(ended);
      return ended === found.length;
    }

    test("a device is found by its id and its secret with its key, and is listed, also after a crash", async () => {
      expect(await store.devices.add(keyId, tokenHash, draftOf(1), NOW)).toBe(true);
      for (let round = 0; round < 2; round++) {
        const found = store.devices.find("dev_1", NOW);
        expect(found).toMatchObject({ deviceId: "dev_1", expiresAt: NOW + DAY_MS, key: { keyId, serverId } });
        expect(await store.devices.findBySecret("secret 1", NOW)).toEqual(found);
        expect(await store.devices.list(keyId, NOW)).toEqual([
          {
            deviceId: "dev_1",
            createdAt: NOW,
            lastUsedAt: null,
            expiresAt: NOW + DAY_MS,
            description: "Firefox, Windows",
          },
        ]);
        await reopen();
      }
      expect(store.devices.find("dev_2", NOW)).toBeUndefined();
      expect(await store.devices.findBySecret("dev_1", NOW)).toBeUndefined();
    });

    test("a device of no key, or of a revoked one, is not added", async () => {
      expect(await store.devices.add("key_none", tokenHash, draftOf(1), NOW, NOTE)).toBe(false);
      await store.keys.revoke(keyId, NOW);
      expect(await store.devices.add(keyId, tokenHash, draftOf(2), NOW, NOTE)).toBe(false);
      expect(await store.devices.addLink(keyId, { secretHash: "link", expiresAt: NOW + 1 }, NOW)).toBe(false);
      expect((await store.audit.list({ limit: 9 })).items).toEqual([]);
    });

    test("a device is added with a token of its key only, and ends with a token in its grace period", async () => {
      await addKey("hash-2");
      for (const other of ["hash-2", "hash-9"])
        expect(await store.devices.add(keyId, other, draftOf(1), NOW, NOTE)).toBe(false);
      await store.keys.rotate(keyId, "hash-3", NOW + 5, NOW);
      expect(await store.devices.add(keyId, "hash-1", draftOf(1), NOW)).toBe(true);
      expect([await hasEnded(1, NOW + 4), await hasEnded(1, NOW + 5)]).toEqual([false, true]);
      expect(await store.devices.add(keyId, "hash-1", draftOf(2), NOW + 5, NOTE)).toBe(false);
      expect(await store.devices.add(keyId, "hash-3", draftOf(3), NOW + 5)).toBe(true);
      expect((await store.audit.list({ limit: 9 })).items).toEqual([]);
    });

    test("a device ends at its expiry, to the millisecond", async () => {
      await store.devices.add(keyId, tokenHash, draftOf(1, NOW + 5), NOW);
      expect(await hasEnded(1, NOW + 4)).toBe(false);
      expect(await hasEnded(1, NOW + 5)).toBe(true);
    });

    test("a device that was ended is gone at once, also after a crash, and changes the version of the keys; others stay", async () => {
      const other = await addKey("hash-2");
      await store.devices.add(keyId, tokenHash, draftOf(1), NOW);
      await store.devices.add(keyId, tokenHash, draftOf(2), NOW);
      expect(await store.devices.end(other, "dev_1", NOW, NOTE)).toBe(false);
      expect(await store.devices.end(keyId, "dev_9", NOW, NOTE)).toBe(false);
      const { version } = store.keys;
      expect(await store.devices.end(keyId, "dev_1", NOW, NOTE)).toBe(true);
      expect(store.keys.version).not.toBe(version);
      expect(await store.devices.end(keyId, "dev_1", NOW, NOTE)).toBe(false);
      await reopen();
      expect(await hasEnded(1)).toBe(true);
      expect(await hasEnded(2)).toBe(false);
      expect((await store.audit.list({ limit: 9 })).items).toHaveLength(1);
    });

    test("devices and links end with their key, also when its server is deleted", async () => {
      await store.devices.add(keyId, tokenHash, draftOf(1), NOW);
      await store.devices.addLink(keyId, { secretHash: "link 1", expiresAt: NOW + DAY_MS }, NOW);
      await store.keys.revoke(keyId, NOW);
      expect(await hasEnded(1)).toBe(true);
      expect(await store.devices.findLink("link 1", NOW)).toBeUndefined();
      expect(await store.devices.redeemLink("link 1", draftOf(3), NOW)).toBe(false);
      tokenHash = "hash-2";
      keyId = await addKey(tokenHash);
      await store.devices.add(keyId, tokenHash, draftOf(2), NOW);
      await store.devices.addLink(keyId, { secretHash: "link 2", expiresAt: NOW + DAY_MS }, NOW);
      await store.servers.delete(serverId, NOW, NOTE);
      expect(await hasEnded(2)).toBe(true);
      expect(await store.devices.findLink("link 2", NOW)).toBeUndefined();
    });

    test("a link that is made while its key is revoked does not stay open", async () => {
      const added = store.devices.addLink(keyId, { secretHash: "link", expiresAt: NOW + 1 }, NOW);
      const revoked = store.keys.revoke(keyId, NOW);
      await Promise.all([added, revoked]);
      expect(await store.devices.findLink("link", NOW)).toBeUndefined();
      expect(await store.devices.redeemLink("link", draftOf(1), NOW)).toBe(false);
    });

    test("of several who end a device at once, one succeeds and leaves a note", async () => {
      await store.devices.add(keyId, tokenHash, draftOf(1), NOW);
      const ends = [1, 2, 3].map(() => store.devices.end(keyId, "dev_1", NOW, NOTE));
      expect((await Promise.all(ends)).toSorted()).toEqual([false, false, true]);
      expect((await store.audit.list({ limit: 9 })).items).toHaveLength(1);
    });

    test("an expired key has no devices and no links", async () => {
      tokenHash = "hash-2";
      keyId = await addKey(tokenHash, NOW + 5);
      await store.devices.add(keyId, tokenHash, draftOf(1), NOW);
      await store.devices.addLink(keyId, { secretHash: "link", expiresAt: NOW + DAY_MS }, NOW);
      expect(store.devices.find("dev_1", NOW + 4)?.key.keyId).toBe(keyId);
      expect(store.devices.find("dev_1", NOW + 5)).toBeUndefined();
      expect(await store.devices.findLink("link", NOW + 5)).toBeUndefined();
    });

    test("a suspended key is found through its device as suspended", async () => {
      await store.devices.add(keyId, tokenHash, draftOf(1), NOW);
      await store.keys.update(keyId, { isSuspended: true });
      expect(store.devices.find("dev_1", NOW)?.key.grant.isSuspended).toBe(true);
    });

    test("a rotation without grace ends the devices and links of the key at once", async () => {
      await store.devices.add(keyId, tokenHash, draftOf(1), NOW);
      await store.devices.addLink(keyId, { secretHash: "link", expiresAt: NOW + DAY_MS }, NOW);
      await store.keys.rotate(keyId, "hash-2", NOW, NOW);
      expect(await hasEnded(1)).toBe(true);
      expect(await store.devices.findLink("link", NOW)).toBeUndefined();
    });

    test("a rotation with grace ends the devices with the old token and the links at once; later devices are not concerned", async () => {
      await store.devices.add(keyId, tokenHash, draftOf(1), NOW);
      await store.devices.add(keyId, tokenHash, draftOf(2, NOW + 500), NOW);
      await store.devices.addLink(keyId, { secretHash: "link", expiresAt: NOW + DAY_MS }, NOW);
      tokenHash = "hash-2";
      await store.keys.rotate(keyId, tokenHash, NOW + 1_000, NOW);
      await store.devices.add(keyId, tokenHash, draftOf(3), NOW);
      await reopen();
      expect(await store.devices.findLink("link", NOW)).toBeUndefined();
      expect([await hasEnded(1, NOW + 999), await hasEnded(1, NOW + 1_000)]).toEqual([false, true]);
      expect([await hasEnded(2, NOW + 499), await hasEnded(2, NOW + 500)]).toEqual([false, true]);
      expect(await hasEnded(3, NOW + 1_000)).toBe(false);
    });

    test("one device more than DEVICES_PER_KEY_MAX ends the one that has not been used for the longest time", async () => {
      for (let i = 0; i < DEVICES_PER_KEY_MAX; i++)
        await store.devices.add(keyId, tokenHash, draftOf(i), NOW + i);
      const later = NOW + DEVICE_USE_STEP_MS;
      await store.devices.recordUse("dev_0", later);
      await store.devices.add(keyId, tokenHash, draftOf("new"), later + 1);
      expect(await hasEnded(1, later + 1)).toBe(true);
      expect(await listIds(keyId, later + 1)).toHaveLength(DEVICES_PER_KEY_MAX);
      expect(await hasEnded(0, later + 1)).toBe(false);
      await store.devices.add(await addKey("hash-2"), "hash-2", draftOf("other"), later + 2);
      expect(await listIds(keyId, later + 2)).toHaveLength(DEVICES_PER_KEY_MAX);
    });

    test("expired devices do not count toward DEVICES_PER_KEY_MAX", async () => {
      await store.devices.add(keyId, tokenHash, draftOf("kept"), NOW);
      for (let i = 1; i < DEVICES_PER_KEY_MAX; i++)
        await store.devices.add(keyId, tokenHash, draftOf(i, NOW + 5), NOW);
      await store.devices.add(keyId, tokenHash, draftOf("new"), NOW + 5);
      expect((await listIds(keyId, NOW + 5)).sort()).toEqual(["dev_kept", "dev_new"]);
    });

    test("a use is recorded, once within DEVICE_USE_STEP_MS, and that of an unknown device is ignored", async () => {
      await store.devices.add(keyId, tokenHash, draftOf(1), NOW);
      const lastUse = async () => (await store.devices.list(keyId, NOW))[0]?.lastUsedAt;
      await store.devices.recordUse("dev_1", NOW + 1);
      await store.devices.recordUse("dev_1", NOW + DEVICE_USE_STEP_MS);
      expect(await lastUse()).toBe(NOW + 1);
      await store.devices.recordUse("dev_1", NOW + 1 + DEVICE_USE_STEP_MS);
      await reopen();
      expect(await lastUse()).toBe(NOW + 1 + DEVICE_USE_STEP_MS);
      await store.devices.recordUse("dev_none", NOW);
      expect(await listIds()).toEqual(["dev_1"]);
    });

    test("a link is redeemed once, signs the device in, and its note is stored with it, also after a crash", async () => {
      await store.devices.addLink(keyId, { secretHash: "link", expiresAt: NOW + 5 }, NOW);
      await reopen();
      expect((await store.devices.findLink("link", NOW))?.keyId).toBe(keyId);
      expect(await store.devices.redeemLink("link", draftOf(1), NOW, NOTE)).toBe(true);
      expect(await store.devices.redeemLink("link", draftOf(2), NOW, NOTE)).toBe(false);
      await reopen();
      expect(await store.devices.findLink("link", NOW)).toBeUndefined();
      expect(await listIds()).toEqual(["dev_1"]);
      const { items } = await store.audit.list({ limit: 9 });
      expect(items).toMatchObject([{ ...NOTE, target: keyId }]);
    });

    test("of many who redeem a link at once, one succeeds", async () => {
      await store.devices.addLink(keyId, { secretHash: "link", expiresAt: NOW + 5 }, NOW);
      const tries = Array.from({ length: 5 }, (_, i) => store.devices.redeemLink("link", draftOf(i), NOW));
      expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
      expect(await listIds()).toHaveLength(1);
    });

    test("an expired or unknown link is not redeemed", async () => {
      await store.devices.addLink(keyId, { secretHash: "link", expiresAt: NOW + 5 }, NOW);
      expect(await store.devices.findLink("link", NOW + 5)).toBeUndefined();
      expect(await store.devices.redeemLink("link", draftOf(1), NOW + 5, NOTE)).toBe(false);
      expect(await store.devices.redeemLink("other", draftOf(1), NOW, NOTE)).toBe(false);
      expect(await listIds()).toEqual([]);
      expect((await store.audit.list({ limit: 9 })).items).toEqual([]);
    });

    test("one link more than LINKS_PER_KEY_MAX ends the oldest", async () => {
      for (let i = 0; i <= LINKS_PER_KEY_MAX; i++)
        await store.devices.addLink(keyId, { secretHash: `link ${i}`, expiresAt: NOW + 5 }, NOW);
      expect(await store.devices.findLink("link 0", NOW)).toBeUndefined();
      for (let i = 1; i <= LINKS_PER_KEY_MAX; i++)
        expect((await store.devices.findLink(`link ${i}`, NOW))?.keyId).toBe(keyId);
    });

    test("when the note cannot be stored, nothing is added, ended or redeemed", async () => {
      await store.devices.add(keyId, tokenHash, draftOf(1), NOW);
      await store.devices.addLink(keyId, { secretHash: "link", expiresAt: NOW + 5 }, NOW);
      await harness.refuse("notes");
      const changes = [
        () => store.devices.add(keyId, tokenHash, draftOf(2), NOW, NOTE),
        () => store.devices.end(keyId, "dev_1", NOW, NOTE),
        () => store.devices.redeemLink("link", draftOf(3), NOW, NOTE),
        () => store.devices.addLink(keyId, { secretHash: "other", expiresAt: NOW + 5 }, NOW, NOTE),
      ];
      for (const change of changes) {
        const failure = await change().catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(StoreUnavailable);
      }
      await harness.allow();
      await reopen();
      expect(await listIds()).toEqual(["dev_1"]);
      expect((await store.devices.findLink("link", NOW))?.keyId).toBe(keyId);
      expect(await store.devices.findLink("other", NOW)).toBeUndefined();
    });

    test("tidying deletes no device and no link that still works", async () => {
      await store.devices.add(keyId, tokenHash, draftOf(1), NOW);
      await store.devices.recordUse("dev_1", NOW);
      await store.devices.addLink(keyId, { secretHash: "link", expiresAt: NOW + 5 * DAY_MS }, NOW);
      const later = NOW + DAY_MS - 1;
      await store.tidy({ now: later, usage: later, audit: later, commands: later });
      expect(await hasEnded(1, later)).toBe(false);
      expect((await store.devices.list(keyId, later))[0]?.lastUsedAt).toBe(NOW);
      expect((await store.devices.findLink("link", later))?.keyId).toBe(keyId);
    });

    test("devices are items of their key, and can be written as such into another store", async () => {
      await store.devices.add(keyId, tokenHash, draftOf(1), NOW);
      await store.devices.add(keyId, tokenHash, draftOf(2), NOW);
      await store.devices.recordUse("dev_2", NOW + DEVICE_USE_STEP_MS);
      const items = await readAll(store as PortableStore);
      const key = items.find(({ kind }) => kind === "key");
      expect(key).toMatchObject({
        devices: [
          { ...draftOf(1), createdAt: NOW, lastUsedAt: null },
          { ...draftOf(2), lastUsedAt: NOW + DEVICE_USE_STEP_MS },
        ],
      });
      await harness.dispose();
      harness = await createHarness();
      store = await harness.open();
      await (store as PortableStore).writeItems(items);
      await reopen();
      expect(await readAll(store as PortableStore)).toEqual(items);
      expect(await store.devices.findBySecret("secret 1", NOW)).toMatchObject({ deviceId: "dev_1" });
    });
  });
}

async function readAll(store: PortableStore): Promise<PortableItem[]> {
  const items: PortableItem[] = [];
  for await (const item of store.readItems()) items.push(item);
  return items;
}
