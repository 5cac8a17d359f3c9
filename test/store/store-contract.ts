// The contract of core/ports/store.ts as tests. Every store passes this suite unchanged.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { HistoryLimits } from "../../src/core/commands/command.ts";
import { HOUR_MS } from "../../src/core/durations.ts";
import { StoreUnavailable } from "../../src/core/errors.ts";
import type { KeyIdentity } from "../../src/core/keys/api-key.ts";
import { DEFAULT_SETTINGS } from "../../src/core/keys/key-settings.ts";
import { KEY_STATES, type KeySearch } from "../../src/core/keys/key-state.ts";
import { BLOCK_MS, FRESH_LIMIT, judgeRequest, WINDOW_MS } from "../../src/core/keys/rate-limit.ts";
import { toAbilitySet } from "../../src/core/keys/rights.ts";
import type { Actor, AuditEntry, AuditNote } from "../../src/core/ports/audit.ts";
import { type HourlyUsage, type KeyDraft, TOKENS_IN_GRACE_MAX } from "../../src/core/ports/keys.ts";
import { SlugTaken } from "../../src/core/ports/servers.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { ALL_SECTIONS, toSectionSet } from "../../src/core/sections.ts";

/** A store that can be opened again with its data. */
export type StoreHarness = {
  open(historyLimits?: HistoryLimits): Promise<Store>;
  /** Leaves the data as a killed process would: the store is not closed. */
  crash(): Promise<void>;
  dispose(): Promise<void>;
};

export type RefusableStoreHarness = StoreHarness & {
  /** From now on all writes of this kind fail: audit notes, or servers, keys and blocks. */
  refuse(what: "notes" | "changes"): Promise<void>;
  /** Accepts all writes again. */
  allow(): Promise<void>;
};

/** Those that `refuse("changes")` is about; not roles, which every start looks for and adds. */
export const CHANGED_TABLES: readonly string[] = [
  ...["servers", "keys", "tokens", "blocks"],
  ...["people", "person_servers", "person_sessions", "invitations", "passkeys"],
];

const NOW = 1_800_000_000_000;
const KEY_A: KeyIdentity = { keyId: "key_a", serverId: "srv_a" };
const KEY_B: KeyIdentity = { keyId: "key_b", serverId: "srv_a" };
const HOUR = NOW - (NOW % HOUR_MS);
/** More keys than one batch of a search reads. */
const MANY = 1_250;
const ADDED_AT_ONCE = 50;
const ACTOR: Actor = { kind: "master", id: "0123abcd", name: "master key", address: "203.0.113.7" };

function noteOf(action: string, at = NOW): AuditNote {
  return { at, action, actor: ACTOR, details: { after: { action } } };
}

function usageOf(keyId: string, hour: number, counts: Readonly<Record<number, number>>): HourlyUsage {
  const entries = Object.entries(counts).map(([code, count]) => [Number(code), count] as const);
  return { keyId, hour, lastUsedAt: hour + 1, counts: new Map(entries) };
}

export function describeStore(name: string, createHarness: () => Promise<RefusableStoreHarness>): void {
  describe(`${name} fulfils the contract of a store`, () => {
    let harness: RefusableStoreHarness;
    let store: Store;

    beforeEach(async () => {
      harness = await createHarness();
      store = await harness.open();
    });
    afterEach(() => harness.dispose());

    async function reopen(): Promise<void> {
      await harness.crash();
      store = await harness.open();
    }

    function addServer(serverKey = "abc-def") {
      return store.servers.create({ name: "One", community: "town", serverKey }, NOW);
    }

    async function addKey(serverId: string, tokenHash: string, change: Partial<KeyDraft> = {}) {
      const draft = { ...DEFAULT_SETTINGS, serverId, label: "bot", tokenHash, ...change };
      const key = await store.keys.create(draft, NOW);
      if (!key) throw new Error("no key was created");
      return key;
    }

    /** Newest first. */
    async function readAudit(): Promise<AuditEntry[]> {
      const entries: AuditEntry[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.audit.list({ limit: 2, cursor });
        entries.push(...page.items);
        cursor = page.next ?? undefined;
      } while (cursor !== undefined);
      return entries;
    }

    async function actionsOf(): Promise<string[]> {
      return (await readAudit()).map((entry) => entry.action);
    }

    async function judgeTimes(key: KeyIdentity, times: number, now = NOW) {
      let verdict = await store.limits.judge(key, now, true);
      for (let i = 1; i < times; i++) verdict = await store.limits.judge(key, now, true);
      return verdict;
    }

    describe("servers", () => {
      test("a created server is found, also after a crash", async () => {
        const server = await addServer();
        expect(server.serverId).toMatch(/^srv_[0-9A-Za-z]+$/);
        expect(server).toMatchObject({ name: "One", community: "town", createdAt: NOW });
        await reopen();
        expect(await store.servers.find(server.serverId)).toEqual(server);
      });

      test("the upstream key can be read, decrypted, also after a crash", async () => {
        const server = await addServer("secret-key");
        await reopen();
        expect(await store.servers.readServerKey(server.serverId)).toBe("secret-key");
        expect(await store.servers.readServerKey("srv_unknown")).toBeUndefined();
      });

      test("a changed upstream key is read at once, and that of a deleted server no more", async () => {
        const { serverId } = await addServer("old-key");
        const other = await addServer("other-key");
        expect(await store.servers.readServerKey(serverId)).toBe("old-key");
        await store.servers.update(serverId, { serverKey: "new-key" });
        expect(await store.servers.readServerKey(serverId)).toBe("new-key");
        await store.servers.update(serverId, { name: "Renamed" });
        expect(await store.servers.readServerKey(serverId)).toBe("new-key");
        expect(await store.servers.readServerKey(other.serverId)).toBe("other-key");
        await store.servers.delete(serverId, NOW);
        expect(await store.servers.readServerKey(serverId)).toBeUndefined();
      });

      test("setting an upstream key, even the same one, increases the revision; other changes do not", async () => {
        const server = await addServer("old-key");
        const renamed = await store.servers.update(server.serverId, { name: "Two", community: null });
        expect(renamed).toEqual({ ...server, name: "Two", community: null });
        const rekeyed = await store.servers.update(server.serverId, { serverKey: "old-key" });
        expect(rekeyed?.keyRevision).toBe(server.keyRevision + 1);
        await store.servers.update(server.serverId, { serverKey: "new-key" });
        await reopen();
        expect(await store.servers.readServerKey(server.serverId)).toBe("new-key");
        expect((await store.servers.find(server.serverId))?.keyRevision).toBe(server.keyRevision + 2);
        expect(await store.servers.update("srv_unknown", { name: "x" })).toBeUndefined();
      });

      test("the mark of a simulated server is kept, also after a crash, and changes only when it is told to", async () => {
        const real = await addServer();
        const draft = { name: "Two", community: null, serverKey: "two-Key", isSimulated: true };
        const simulated = await store.servers.create(draft, NOW);
        expect([real.isSimulated, simulated.isSimulated]).toEqual([false, true]);
        await store.servers.update(simulated.serverId, { name: "Three", serverKey: "three-Key" });
        await reopen();
        expect(store.servers.find(simulated.serverId)?.isSimulated).toBe(true);
        await store.servers.update(simulated.serverId, { isSimulated: false });
        await store.servers.update(real.serverId, { isSimulated: true });
        await reopen();
        const marks = (await store.servers.list({ limit: 9 })).items.map(({ isSimulated }) => isSimulated);
        expect(marks).toEqual([true, false]);
        expect(store.servers.find(real.serverId)?.keyRevision).toBe(real.keyRevision);
      });

      test("a server is watched unless it is told otherwise, also after a crash", async () => {
        const one = await addServer();
        const draft = { name: "Two", community: null, serverKey: "two-Key", isWatched: false };
        const two = await store.servers.create(draft, NOW);
        expect([one.isWatched, two.isWatched]).toEqual([true, false]);
        await store.servers.update(two.serverId, { name: "Three", serverKey: "three-Key" });
        await reopen();
        expect(store.servers.find(two.serverId)?.isWatched).toBe(false);
        await store.servers.update(two.serverId, { isWatched: true });
        await store.servers.update(one.serverId, { isWatched: false });
        await reopen();
        const marks = (await store.servers.list({ limit: 9 })).items.map(({ isWatched }) => isWatched);
        expect(marks).toEqual([false, true]);
        expect(store.servers.find(one.serverId)?.keyRevision).toBe(one.keyRevision);
      });

      test("a slug belongs to one server, also when two want it at once and after a crash", async () => {
        const [one, two] = [await addServer("one-Key"), await addServer("two-Key")];
        expect(one.publicStatus).toBeNull();
        const wanted = { slug: "cedar", showsJoinKey: true };
        const outcomes = await Promise.allSettled(
          [one, two].map(({ serverId }) => store.servers.update(serverId, { publicStatus: wanted })),
        );
        const draft = { name: "Three", community: null, serverKey: "three-Key", publicStatus: wanted };
        outcomes.push(...(await Promise.allSettled([store.servers.create(draft, NOW)])));
        const refused = outcomes.filter((outcome) => outcome.status === "rejected");
        expect(refused.map(({ reason }) => reason instanceof SlugTaken)).toEqual([true, true]);
        const holder = store.servers.findBySlug("cedar")?.serverId ?? "";
        expect([one.serverId, two.serverId]).toContain(holder);
        expect((await store.servers.list({ limit: 9 })).items).toHaveLength(2);
        await reopen();
        expect(store.servers.findBySlug("cedar")).toMatchObject({ serverId: holder, publicStatus: wanted });
        await store.servers.update(holder, { name: "Changed" });
        expect(store.servers.find(holder)?.publicStatus).toEqual(wanted);
        await store.servers.update(holder, { publicStatus: { slug: "oak", showsJoinKey: false } });
        expect(store.servers.findBySlug("cedar")).toBeUndefined();
        const three = await store.servers.create(draft, NOW);
        expect(store.servers.findBySlug("cedar")?.serverId).toBe(three.serverId);
        await store.servers.update(holder, { publicStatus: null });
        await store.servers.delete(three.serverId, NOW);
        expect([store.servers.findBySlug("cedar"), store.servers.findBySlug("oak")]).toEqual([undefined, undefined]);
        const four = await store.servers.create({ ...draft, name: "Four" }, NOW);
        await reopen();
        expect(store.servers.findBySlug("cedar")?.serverId).toBe(four.serverId);
      });

      test("all servers are at hand, and a deleted one is not among them", async () => {
        const [one, two] = [await addServer("one-Key"), await addServer("two-Key")];
        const ids = () => Array.from(store.servers.all(), ({ serverId }) => serverId).sort();
        expect(ids()).toEqual([one.serverId, two.serverId].sort());
        await store.servers.delete(one.serverId, NOW);
        expect(ids()).toEqual([two.serverId]);
      });

      test("deleted servers are listed, also after a crash, until they are forgotten; others never", async () => {
        const [first, second] = [await addServer(), await addServer()];
        await addServer();
        expect(await store.servers.listDeleted()).toEqual([]);
        await store.servers.delete(first.serverId, NOW);
        await store.servers.delete(second.serverId, NOW + 5);
        await store.servers.delete("srv_unknown", NOW);
        await reopen();
        expect([...(await store.servers.listDeleted())].sort()).toEqual([first.serverId, second.serverId].sort());
        await store.tidy({ now: NOW + 9, usage: NOW, audit: NOW + 1, commands: 0 });
        expect(await store.servers.listDeleted()).toEqual([second.serverId]);
      });

      test("servers are listed oldest first, in pages, each once", async () => {
        const ids: string[] = [];
        for (let i = 0; i < 5; i++) ids.push((await addServer()).serverId);
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await store.servers.list({ limit: 2, cursor });
          seen.push(...page.items.map((server) => server.serverId));
          cursor = page.next ?? undefined;
        } while (cursor !== undefined);
        expect(seen).toEqual(ids);
      });

      test("deleting a server revokes its keys and no others", async () => {
        const [toDelete, other] = [await addServer(), await addServer()];
        const first = await addKey(toDelete.serverId, "hash-1");
        await addKey(toDelete.serverId, "hash-2");
        await addKey(other.serverId, "hash-3");
        expect(await store.servers.delete(toDelete.serverId, NOW + 5)).toEqual({
          revokedKeys: 2,
          failedCommands: 0,
        });
        expect(await store.servers.delete(toDelete.serverId, NOW + 5)).toEqual({
          revokedKeys: 0,
          failedCommands: 0,
        });
        expect(await store.servers.delete("srv_unknown", NOW + 5)).toBeUndefined();
        await reopen();
        expect(await store.servers.find(toDelete.serverId)).toBeUndefined();
        expect(await store.keys.find("hash-1", NOW)).toBeUndefined();
        expect(await store.keys.find("hash-2", NOW)).toBeUndefined();
        expect((await store.keys.find("hash-3", NOW))?.serverId).toBe(other.serverId);
        expect((await store.keys.findDetails(first.keyId))?.revokedAt).toBe(NOW + 5);
      });

      test("deleting a deleted server again changes nothing, also after a crash, and it accepts no change and no key", async () => {
        const { serverId } = await addServer();
        await store.servers.delete(serverId, NOW);
        await reopen();
        expect(await store.servers.delete(serverId, NOW + 1)).toMatchObject({ revokedKeys: 0 });
        expect(await store.servers.update(serverId, { name: "Back" })).toBeUndefined();
        expect(await store.servers.readServerKey(serverId)).toBeUndefined();
        const draft = { ...DEFAULT_SETTINGS, serverId, label: "bot", tokenHash: "hash-1" };
        expect(await store.keys.create(draft, NOW)).toBeUndefined();
        expect((await store.servers.list({ limit: 10 })).items).toEqual([]);
      });

      test("deleting a server revokes only the keys that were not revoked before", async () => {
        const { serverId } = await addServer();
        const early = await addKey(serverId, "hash-1");
        await addKey(serverId, "hash-2");
        await store.keys.revoke(early.keyId, NOW + 1);
        expect(await store.servers.delete(serverId, NOW + 2)).toMatchObject({ revokedKeys: 1 });
        expect((await store.keys.findDetails(early.keyId))?.revokedAt).toBe(NOW + 1);
      });

      test("deleting a server ends the tokens in their grace period and the blocks of its keys", async () => {
        const { serverId } = await addServer();
        const { keyId } = await addKey(serverId, "old");
        await store.keys.rotate(keyId, "new", NOW + 1000, NOW);
        await judgeTimes({ keyId, serverId }, 520);
        await store.servers.delete(serverId, NOW);
        const check = async () => {
          expect(await store.keys.find("old", NOW)).toBeUndefined();
          expect(await store.keys.find("new", NOW)).toBeUndefined();
          expect(await store.limits.listBlocks(NOW)).toEqual([]);
        };
        await check();
        await reopen();
        await check();
      });

      test("a server with thousands of keys is deleted with all of them, at once", async () => {
        const [doomed, other] = [await addServer(), await addServer()];
        await addKey(other.serverId, "hash-other");
        for (let i = 0; i < MANY; i += ADDED_AT_ONCE) {
          const batch = Array.from({ length: ADDED_AT_ONCE }, (_, j) => `hash-${i + j}`);
          await Promise.all(batch.map((tokenHash) => addKey(doomed.serverId, tokenHash)));
        }
        const deleted = await store.servers.delete(doomed.serverId, NOW + 5, noteOf("server.deleted"));
        expect(deleted).toEqual({ revokedKeys: MANY, failedCommands: 0 });
        const check = async () => {
          for (let i = 0; i < MANY; i++) expect(await store.keys.find(`hash-${i}`, NOW)).toBeUndefined();
          expect((await store.keys.find("hash-other", NOW))?.serverId).toBe(other.serverId);
          const page = { limit: MANY + 1, serverId: doomed.serverId };
          const revokedAt = (await store.keys.list(page)).items.map((key) => key.revokedAt);
          expect(revokedAt).toEqual(Array.from({ length: MANY }, () => NOW + 5));
          expect(await actionsOf()).toEqual(["server.deleted"]);
        };
        await check();
        await reopen();
        await check();
        expect(await store.servers.delete(doomed.serverId, NOW + 6)).toMatchObject({ revokedKeys: 0 });
      });

      test("the keys of a deleted server read as revoked and take no change", async () => {
        const { serverId } = await addServer();
        const key = await addKey(serverId, "hash-1");
        await store.servers.delete(serverId, NOW + 5);
        expect(await store.keys.findDetails(key.keyId)).toEqual({ ...key, revokedAt: NOW + 5 });
        expect(await store.keys.update(key.keyId, { label: "new" })).toBeUndefined();
        expect(await store.keys.rotate(key.keyId, "hash-new", NOW + 10, NOW)).toBe(false);
      });

      test("a server is found by its exact name as long as it has that name", async () => {
        const first = await addServer();
        await store.servers.update(first.serverId, { name: "Älpha 🚓" });
        expect(await store.servers.findByName("One")).toBeUndefined();
        await reopen();
        expect((await store.servers.findByName("Älpha 🚓"))?.serverId).toBe(first.serverId);
        for (const other of ["älpha 🚓", "Älpha", "Älpha 🚓 ", "", "%", "*", "__proto__"]) {
          expect(await store.servers.findByName(other)).toBeUndefined();
        }
        await store.servers.delete(first.serverId, NOW);
        expect(await store.servers.findByName("Älpha 🚓")).toBeUndefined();
        const second = await store.servers.create({ name: "Älpha 🚓", community: null, serverKey: "a-b" }, NOW);
        expect(await store.servers.findByName("Älpha 🚓")).toEqual(second);
      });
    });

    describe("keys", () => {
      test("a created key is found by its token's hash with all its rights, also after a crash", async () => {
        const server = await addServer();
        const rights = {
          versions: ["v1", "v2"] as const,
          sections: toSectionSet(["Players", "Queue"]),
          commands: [":h"],
          may: toAbilitySet(["webhooks"]),
          ipAllow: ["10.0.0.0/8"],
          expiresAt: NOW + 1000,
        };
        const details = await addKey(server.serverId, "hash-1", rights);
        expect(details.keyId).toMatch(/^key_[0-9A-Za-z]+$/);
        expect(details).toMatchObject({ ...rights, label: "bot", createdAt: NOW, isSuspended: false });
        expect(details).toMatchObject({ lastUsedAt: null, revokedAt: null });
        await reopen();
        const may = toAbilitySet(["webhooks", "claim", "notes"]);
        const key = await store.keys.find("hash-1", NOW);
        expect(key).toMatchObject({
          keyId: details.keyId,
          serverId: server.serverId,
          grant: { versions: ["v1", "v2"], sections: rights.sections, commands: [":h"], may },
          expiresAt: NOW + 1000,
        });
        expect(key?.grant.allowedFrom?.has("10.1.2.3")).toBe(true);
        expect(key?.grant.allowedFrom?.has("11.1.2.3")).toBe(false);
        expect(await store.keys.findDetails(details.keyId)).toEqual(details);
      });

      test("a key without an address list may be used from any address", async () => {
        const server = await addServer();
        await addKey(server.serverId, "hash-1");
        expect(await store.keys.find("hash-1", NOW)).toMatchObject({
          grant: { allowedFrom: null, sections: ALL_SECTIONS },
        });
      });

      test("no key is created for an unknown server", async () => {
        const draft = { ...DEFAULT_SETTINGS, label: "bot", tokenHash: "hash-1" };
        expect(await store.keys.create({ ...draft, serverId: "srv_unknown" }, NOW)).toBeUndefined();
        expect(await store.keys.find("hash-1", NOW)).toBeUndefined();
      });

      test("a token's key has its label, also after a change and a crash", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "hash-1", { label: "Älpha" });
        expect((await store.keys.find("hash-1", NOW))?.label).toBe("Älpha");
        await store.keys.update(keyId, { label: "renamed" });
        expect((await store.keys.find("hash-1", NOW))?.label).toBe("renamed");
        await reopen();
        expect((await store.keys.find("hash-1", NOW))?.label).toBe("renamed");
      });

      test("labels of many keys are listed, revoked ones included, and unknown ids are left out", async () => {
        const [server, doomed] = [await addServer(), await addServer()];
        const { keyId } = await addKey(server.serverId, "hash-1", { label: "Älpha" });
        const revoked = await addKey(server.serverId, "hash-2", { label: "gone" });
        const orphan = await addKey(doomed.serverId, "hash-3", { label: "orphan" });
        await store.keys.update(keyId, { label: "renamed" });
        await store.keys.revoke(revoked.keyId, NOW);
        await store.servers.delete(doomed.serverId, NOW);
        await reopen();
        const keyIds = [keyId, revoked.keyId, orphan.keyId, "key_unknown"];
        expect(await store.keys.listLabels(keyIds)).toEqual(
          new Map([
            [keyId, "renamed"],
            [revoked.keyId, "gone"],
            [orphan.keyId, "orphan"],
          ]),
        );
        expect((await store.keys.listLabels([])).size).toBe(0);
      });

      test("a change takes effect on the next lookup and survives a crash", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "hash-1");
        await store.keys.update(keyId, { isSuspended: true, sections: 0, label: "new", ipAllow: ["::1"] });
        const check = async () => {
          const key = await store.keys.find("hash-1", NOW);
          expect(key).toMatchObject({ keyId, grant: { isSuspended: true, sections: 0 } });
          expect(key?.grant.allowedFrom?.has("::1")).toBe(true);
          expect((await store.keys.findDetails(keyId))?.label).toBe("new");
        };
        await check();
        await reopen();
        await check();
        expect(await store.keys.update("key_unknown", { label: "x" })).toBeUndefined();
      });

      test("after a rotation the old token works until its grace period is over, also after a crash", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "old");
        expect(await store.keys.rotate(keyId, "new", NOW + 1000, NOW)).toBe(true);
        const check = async () => {
          expect((await store.keys.find("new", NOW))?.keyId).toBe(keyId);
          expect((await store.keys.find("old", NOW + 999))?.keyId).toBe(keyId);
          expect(await store.keys.find("old", NOW + 1000)).toBeUndefined();
        };
        await check();
        await reopen();
        await check();
        expect(await store.keys.rotate("key_unknown", "x", NOW, NOW)).toBe(false);
      });

      test("with an old token the key expires with the grace period, or earlier if the key itself does", async () => {
        const server = await addServer();
        const expiring = await addKey(server.serverId, "expiring-0", { expiresAt: NOW + 500 });
        const { keyId } = await addKey(server.serverId, "old");
        await store.keys.rotate(keyId, "new", NOW + 1000, NOW);
        await store.keys.rotate(expiring.keyId, "expiring-1", NOW + 1000, NOW);
        expect((await store.keys.find("old", NOW))?.expiresAt).toBe(NOW + 1000);
        expect((await store.keys.find("new", NOW))?.expiresAt).toBeNull();
        for (const token of ["expiring-0", "expiring-1"]) {
          expect((await store.keys.find(token, NOW))?.expiresAt).toBe(NOW + 500);
          expect(await store.keys.find(token, NOW + 500)).toBeUndefined();
        }
      });

      test("every change to a key changes the version before it returns", async () => {
        const [server, toDelete] = [await addServer(), await addServer("Deleted")];
        const { keyId } = await addKey(server.serverId, "hash-1");
        await addKey(toDelete.serverId, "hash-2");
        const changes = [
          () => store.keys.update(keyId, { isSuspended: true }),
          () => store.keys.rotate(keyId, "hash-3", NOW + 1000, NOW),
          () => store.keys.revoke(keyId, NOW),
          () => store.servers.delete(toDelete.serverId, NOW),
        ];
        for (const change of changes) {
          const before = store.keys.version;
          expect(store.keys.version).toBe(before);
          await change();
          expect(store.keys.version).not.toBe(before);
        }
      });

      test("at most TOKENS_IN_GRACE_MAX old tokens of a key work; one more ends the one that would expire first", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "token-0");
        const other = await addKey(server.serverId, "other-0");
        await store.keys.rotate(other.keyId, "other-1", NOW + 1, NOW);
        // token-2 expires first, then token-0, token-1 and so on.
        const untilOf = (index: number) => NOW + (index === 2 ? 1_000 : 10_000 + index);
        for (let i = 0; i < TOKENS_IN_GRACE_MAX; i++) {
          await store.keys.rotate(keyId, `token-${i + 1}`, untilOf(i), NOW);
        }
        const working = async () => {
          const found: number[] = [];
          for (let i = 0; i <= TOKENS_IN_GRACE_MAX + 2; i++) {
            if (await store.keys.find(`token-${i}`, NOW)) found.push(i);
          }
          return found;
        };
        const all = Array.from({ length: TOKENS_IN_GRACE_MAX + 3 }, (_, i) => i);
        expect(await working()).toEqual(all.slice(0, -2));
        await store.keys.rotate(keyId, `token-${TOKENS_IN_GRACE_MAX + 1}`, untilOf(TOKENS_IN_GRACE_MAX), NOW);
        expect(await working()).toEqual(all.slice(0, -1).filter((i) => i !== 2));
        await store.keys.rotate(keyId, `token-${TOKENS_IN_GRACE_MAX + 2}`, untilOf(TOKENS_IN_GRACE_MAX + 1), NOW);
        const left = all.filter((i) => i !== 2 && i !== 0);
        expect(await working()).toEqual(left);
        await reopen();
        expect(await working()).toEqual(left);
        expect((await store.keys.find("other-0", NOW))?.keyId).toBe(other.keyId);
      });

      test("a rotation without grace ends every older token of the key at once, and no other key's", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "token-0");
        const other = await addKey(server.serverId, "other-0");
        await store.keys.rotate(other.keyId, "other-1", NOW + 1000, NOW);
        await store.keys.rotate(keyId, "token-1", NOW + 30_000, NOW);
        await store.keys.rotate(keyId, "token-2", NOW + 20_000, NOW);
        await store.keys.rotate(keyId, "token-3", NOW + 5, NOW + 5);
        const check = async () => {
          for (const old of ["token-0", "token-1", "token-2"]) {
            expect(await store.keys.find(old, NOW + 5)).toBeUndefined();
          }
          expect((await store.keys.find("token-3", NOW + 5))?.keyId).toBe(keyId);
          expect((await store.keys.find("other-0", NOW + 5))?.keyId).toBe(other.keyId);
          expect(await store.keys.listGraceEnds(keyId, NOW + 5)).toEqual([]);
          expect(await store.keys.listGraceEnds(other.keyId, NOW + 5)).toEqual([NOW + 1000]);
        };
        await check();
        await reopen();
        await check();
      });

      test("the ends of the grace periods are listed while the tokens work, the soonest first", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "token-0");
        expect(await store.keys.listGraceEnds(keyId, NOW)).toEqual([]);
        await store.keys.rotate(keyId, "token-1", NOW + 2000, NOW);
        await store.keys.rotate(keyId, "token-2", NOW + 1000, NOW);
        await reopen();
        expect(await store.keys.listGraceEnds(keyId, NOW)).toEqual([NOW + 1000, NOW + 2000]);
        expect(await store.keys.listGraceEnds(keyId, NOW + 1000)).toEqual([NOW + 2000]);
        await store.keys.revoke(keyId, NOW);
        expect(await store.keys.listGraceEnds(keyId, NOW)).toEqual([]);
        expect(await store.keys.listGraceEnds("key_unknown", NOW)).toEqual([]);
      });

      test("expired tokens do not count toward TOKENS_IN_GRACE_MAX", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "token-0");
        for (let i = 0; i < TOKENS_IN_GRACE_MAX - 1; i++) {
          await store.keys.rotate(keyId, `token-${i + 1}`, NOW + 10, NOW);
        }
        const last = TOKENS_IN_GRACE_MAX - 1;
        for (let i = last; i < last + TOKENS_IN_GRACE_MAX; i++) {
          await store.keys.rotate(keyId, `token-${i + 1}`, NOW + 1000, NOW + 10);
        }
        for (let i = last; i <= last + TOKENS_IN_GRACE_MAX; i++) {
          expect((await store.keys.find(`token-${i}`, NOW + 10))?.keyId).toBe(keyId);
        }
      });

      test("a change applies to an old token in its grace period too", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "old");
        await store.keys.rotate(keyId, "new", NOW + 1000, NOW);
        await store.keys.update(keyId, { isSuspended: true });
        expect((await store.keys.find("old", NOW))?.grant.isSuspended).toBe(true);
      });

      test("no token of a revoked key works, its details can still be read, and it cannot be changed", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "old");
        await store.keys.rotate(keyId, "new", NOW + 1000, NOW);
        expect(await store.keys.revoke(keyId, NOW + 1)).toBe(true);
        expect(await store.keys.revoke(keyId, NOW + 2)).toBe(true);
        expect(await store.keys.revoke("key_unknown", NOW)).toBe(false);
        await reopen();
        expect(await store.keys.find("old", NOW)).toBeUndefined();
        expect(await store.keys.find("new", NOW)).toBeUndefined();
        expect((await store.keys.findDetails(keyId))?.revokedAt).toBe(NOW + 1);
        expect(await store.keys.update(keyId, { label: "x" })).toBeUndefined();
        expect(await store.keys.rotate(keyId, "x", NOW, NOW)).toBe(false);
      });

      test("keys are listed for some servers, page by page and searched, and for none", async () => {
        const [one, two, three] = [await addServer(), await addServer(), await addServer()];
        const first = await addKey(one.serverId, "hash-1");
        await addKey(two.serverId, "hash-2");
        const third = await addKey(three.serverId, "hash-3");
        const serverIds = [three.serverId, one.serverId];
        const page = await store.keys.list({ limit: 1, serverIds });
        expect(page.items.map((key) => key.keyId)).toEqual([first.keyId]);
        const rest = await store.keys.list({ limit: 1, serverIds, cursor: page.next ?? "" });
        expect([rest.items.map((key) => key.keyId), rest.next]).toEqual([[third.keyId], null]);
        const found = await store.keys.list({ limit: 9, serverIds, search: { state: "active", now: NOW } });
        expect(found.items.map((key) => key.keyId)).toEqual([first.keyId, third.keyId]);
        expect(await store.keys.list({ limit: 9, serverIds: [] })).toEqual({ items: [], next: null });
      });

      test("keys are listed oldest first, for one server or for all, revoked ones included", async () => {
        const [one, two] = [await addServer(), await addServer()];
        const first = await addKey(one.serverId, "hash-1");
        const second = await addKey(two.serverId, "hash-2");
        const third = await addKey(one.serverId, "hash-3");
        await store.keys.revoke(first.keyId, NOW);
        const idsOf = async (serverId?: string) => {
          const page = await store.keys.list({ limit: 10, ...(serverId && { serverId }) });
          expect(page.next).toBeNull();
          return page.items.map((key) => key.keyId);
        };
        expect(await idsOf()).toEqual([first.keyId, second.keyId, third.keyId]);
        expect(await idsOf(one.serverId)).toEqual([first.keyId, third.keyId]);
        const page = await store.keys.list({ limit: 2 });
        expect((await store.keys.list({ limit: 2, cursor: page.next ?? "" })).items).toHaveLength(1);
      });
    });

    describe("the search for keys", () => {
      /** All pages, each with at most `limit` ids. */
      async function search(wanted: Omit<KeySearch, "now">, limit = 10, serverId?: string) {
        const pages: string[][] = [];
        let cursor: string | undefined;
        do {
          const filter = { serverId, search: { ...wanted, now: NOW } };
          const { items, next } = await store.keys.list({ limit, cursor, ...filter });
          pages.push(items.map((key) => key.keyId));
          cursor = next ?? undefined;
        } while (cursor !== undefined);
        return pages;
      }

      test("a key is found by a part of its label in any case, of one server or of all, in pages, oldest first", async () => {
        const [one, two] = [await addServer(), await addServer()];
        const ids: string[] = [];
        for (const [index, label] of ["Bot 1", "мой БОТ", "bOT 50%", "other", "robot_x"].entries()) {
          const { serverId } = index === 2 ? two : one;
          ids.push((await addKey(serverId, `hash-${index}`, { label })).keyId);
        }
        const at = (...places: number[]) => places.map((place) => ids[place] ?? "");
        expect(await search({ label: "bot" })).toEqual([at(0, 2, 4)]);
        expect(await search({ label: "bot" }, 2)).toEqual([at(0, 2), at(4)]);
        expect(await search({ label: "BOT" }, 10, one.serverId)).toEqual([at(0, 4)]);
        expect(await search({ label: "Мой бот" })).toEqual([at(1)]);
        expect(await search({ label: "%" })).toEqual([at(2)]);
        expect(await search({ label: "_" })).toEqual([at(4)]);
        expect(await search({ label: "nothing" })).toEqual([[]]);
        expect(await search({ label: "bot" }, 10, "srv_unknown")).toEqual([[]]);
      });

      test("a key is found by its state; of several states it has the one that is hardest to undo", async () => {
        const { serverId } = await addServer();
        const doomed = await addServer();
        const ended = { expiresAt: NOW };
        const active = await addKey(serverId, "active", { expiresAt: NOW + 1 });
        const blocked = await addKey(serverId, "blocked");
        const suspended = await addKey(serverId, "suspended");
        const expired = await addKey(serverId, "expired", ended);
        const revoked = await addKey(serverId, "revoked", ended);
        const orphan = await addKey(doomed.serverId, "orphan");
        for (const { keyId } of [suspended, expired, revoked]) await store.keys.update(keyId, { isSuspended: true });
        for (const { keyId } of [blocked, suspended, expired, revoked]) await judgeTimes({ keyId, serverId }, 520);
        await store.keys.revoke(revoked.keyId, NOW);
        const deleting = store.servers.delete(doomed.serverId, NOW);
        // As soon as the server is gone, its keys count as revoked.
        while (store.servers.find(doomed.serverId)) await new Promise((resolve) => setImmediate(resolve));
        const states = { active, blocked, suspended, expired };
        const check = async () => {
          for (const state of KEY_STATES) {
            const expected = state === "revoked" ? [revoked.keyId, orphan.keyId] : [states[state].keyId];
            expect(await search({ state })).toEqual([expected]);
          }
          expect(await search({ state: "blocked" }, 10, serverId)).toEqual([[blocked.keyId]]);
          expect(await search({ state: "blocked" }, 10, doomed.serverId)).toEqual([[]]);
          expect(await search({ state: "blocked", label: "another" })).toEqual([[]]);
        };
        await check();
        await deleting;
        await reopen();
        await check();
        await store.limits.liftBlock(blocked.keyId, NOW);
        expect(await search({ state: "blocked" })).toEqual([[]]);
        expect(await search({ state: "active" }, 1)).toEqual([[active.keyId], [blocked.keyId]]);
      });

      test("the pages of a search have no gaps and no repeats among thousands of keys, also while keys change", async () => {
        const { serverId } = await addServer();
        const ids: string[] = [];
        for (let i = 0; i < MANY; i += ADDED_AT_ONCE) {
          const labels = Array.from({ length: ADDED_AT_ONCE }, (_, j) => ((i + j) % 7 === 0 ? "odd" : "even"));
          const adding = labels.map((label, j) => addKey(serverId, `hash-${i + j}`, { label }));
          for (const { keyId, label } of await Promise.all(adding)) if (label === "odd") ids.push(keyId);
        }
        const found: string[] = [];
        let cursor: string | undefined;
        let isFirst = true;
        do {
          const filter = { search: { label: "ODD", state: "active", now: NOW } as const };
          const { items, next } = await store.keys.list({ limit: 100, cursor, ...filter });
          found.push(...items.map((key) => key.keyId));
          // A key that was listed already leaves the search.
          if (isFirst) await store.keys.update(found[0] ?? "", { isSuspended: true });
          isFirst = false;
          cursor = next ?? undefined;
        } while (cursor !== undefined);
        expect(found.toSorted()).toEqual(ids.toSorted());
      });
    });

    describe("limits and blocks", () => {
      test("of many keys the blocked ones are found, until their block ends", async () => {
        const { blockedUntil } = (await judgeTimes(KEY_A, 520)).state;
        await judgeTimes(KEY_B, 5);
        const keyIds = [KEY_B.keyId, KEY_A.keyId, "key_unknown"];
        expect(await store.limits.findBlocked(keyIds, NOW)).toEqual(new Set([KEY_A.keyId]));
        await reopen();
        expect(await store.limits.findBlocked(keyIds, blockedUntil - 1)).toEqual(new Set([KEY_A.keyId]));
        expect(await store.limits.findBlocked(keyIds, blockedUntil)).toEqual(new Set());
        expect(await store.limits.findBlocked([], NOW)).toEqual(new Set());
      });

      test("requests with and without the handle of a key are counted together, before and after a lifted block", async () => {
        const { serverId } = await addServer();
        const { keyId } = await addKey(serverId, "hash-1");
        const key = { keyId, serverId };
        const handle = store.limits.openHandle(keyId);
        for (let i = 1; i <= 3; i++) {
          const given = i % 2 ? handle : undefined;
          expect((await store.limits.judge(key, NOW, true, given)).state.count).toBe(i);
        }
        await judgeTimes(key, 520);
        expect((await store.limits.judge(key, NOW, true, handle)).outcome).toBe("blocked");
        await store.limits.liftBlock(keyId, NOW);
        expect((await store.limits.judge(key, NOW, true, handle)).state.count).toBe(1);
      });

      test("the verdicts are those of judgeRequest, request by request", async () => {
        let state = FRESH_LIMIT;
        for (let i = 0; i < 700; i++) {
          const now = NOW + i * 7;
          const isCounted = i % 5 !== 0;
          const expected = judgeRequest(state, now, isCounted);
          expect(await store.limits.judge(KEY_A, now, isCounted)).toEqual(expected);
          state = expected.state;
        }
      });

      test("concurrent requests get every count once", async () => {
        const verdicts = await Promise.all(Array.from({ length: 300 }, () => store.limits.judge(KEY_A, NOW, true)));
        const counts = verdicts.map((verdict) => verdict.state.count).sort((a, b) => a - b);
        expect(counts).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
        expect(new Set(verdicts.map((verdict) => verdict.state.resetAt))).toEqual(new Set([NOW + WINDOW_MS]));
      });

      test("the requests of one key do not count for another", async () => {
        await judgeTimes(KEY_A, 200);
        expect((await store.limits.judge(KEY_B, NOW, true)).state.count).toBe(1);
      });

      test("a block and its extension survive a crash", async () => {
        const server = await addServer();
        const key = await addKey(server.serverId, "hash-1");
        await judgeTimes(key, 520);
        await reopen();
        const still = await store.limits.judge(key, NOW + 1, true);
        expect(still).toMatchObject({ outcome: "blocked", state: { blockedUntil: NOW + BLOCK_MS } });
        await judgeTimes(key, 120, NOW + 1);
        await reopen();
        const extended = await store.limits.judge(key, NOW + 2, true);
        expect(extended.state.blockedUntil).toBe(NOW + BLOCK_MS + 60_000);
        const over = await store.limits.judge(key, NOW + BLOCK_MS + 60_000, true);
        expect(over).toMatchObject({ outcome: "admitted", state: { count: 1 } });
      });

      test("blocks in force are listed, and lifting one starts a fresh window, also after a crash", async () => {
        const server = await addServer();
        const key = await addKey(server.serverId, "hash-1");
        await judgeTimes(key, 520);
        expect(await store.limits.listBlocks(NOW)).toEqual([{ keyId: key.keyId, blockedUntil: NOW + BLOCK_MS }]);
        expect(await store.limits.listBlocks(NOW + BLOCK_MS)).toEqual([]);
        await store.limits.liftBlock(key.keyId, NOW);
        expect(await store.limits.listBlocks(NOW)).toEqual([]);
        await reopen();
        expect(await store.limits.judge(key, NOW, true)).toMatchObject({
          outcome: "admitted",
          state: { count: 1 },
        });
      });

      test("all lookups of a key share one count", async () => {
        const server = await addServer();
        const { keyId, serverId } = await addKey(server.serverId, "hash-1");
        const before = await store.keys.find("hash-1", NOW);
        await judgeTimes({ keyId, serverId }, 519);
        const after = await store.keys.find("hash-1", NOW);
        if (!before || !after) throw new Error("the key is not found");
        expect((await store.limits.judge(before, NOW, true)).outcome).toBe("blocked");
        expect((await store.limits.judge(after, NOW, true)).outcome).toBe("blocked");
        await store.limits.liftBlock(keyId, NOW);
        expect((await store.limits.judge(before, NOW, true)).state.count).toBe(1);
        expect((await store.limits.judge(after, NOW, true)).state.count).toBe(2);
        expect((await store.limits.judge({ keyId, serverId }, NOW, true)).state.count).toBe(3);
      });

      test("lifting a block that does not exist changes nothing", async () => {
        await judgeTimes(KEY_A, 3);
        await store.limits.liftBlock("key_b", NOW);
        expect((await store.limits.judge(KEY_A, NOW, true)).state.count).toBe(4);
      });
    });

    describe("the audit log", () => {
      test("the note of a change is stored with its target, newest first, also after a crash", async () => {
        const server = await store.servers.create(
          { name: "One", community: null, serverKey: "a-b" },
          NOW,
          noteOf("server.created", NOW),
        );
        const draft = { ...DEFAULT_SETTINGS, serverId: server.serverId, label: "bot" };
        const key = await store.keys.create({ ...draft, tokenHash: "old" }, NOW, noteOf("key.created", NOW + 1));
        const keyId = key?.keyId ?? "";
        await store.servers.update(server.serverId, { name: "Two" }, noteOf("server.changed", NOW + 2));
        await store.keys.update(keyId, { label: "new" }, noteOf("key.changed", NOW + 3));
        await store.keys.rotate(keyId, "new", NOW + 1000, NOW, noteOf("key.rotated", NOW + 4));
        await judgeTimes({ keyId, serverId: server.serverId }, 520);
        await store.limits.liftBlock(keyId, NOW + 5, noteOf("block.lifted", NOW + 5));
        await store.keys.revoke(keyId, NOW + 6, noteOf("key.revoked", NOW + 6));
        await store.servers.delete(server.serverId, NOW + 7, noteOf("server.deleted", NOW + 7));
        const expected = [
          ["server.deleted", server.serverId],
          ["key.revoked", keyId],
          ["block.lifted", keyId],
          ["key.rotated", keyId],
          ["key.changed", keyId],
          ["server.changed", server.serverId],
          ["key.created", keyId],
          ["server.created", server.serverId],
        ].map(([action = "", target = ""], index) => ({
          ...noteOf(action, NOW + 7 - index),
          id: expect.any(String),
          target,
          // Only the store knows the id of a new server.
          ...(action === "server.created" && { serverId: server.serverId }),
        }));
        expect(await readAudit()).toEqual(expected);
        await reopen();
        expect(await readAudit()).toEqual(expected);
      });

      test("a change without a note, or without effect, stores no note", async () => {
        const { serverId } = await addServer();
        const { keyId } = await addKey(serverId, "hash-1");
        await store.keys.update(keyId, { label: "new" });
        const note = noteOf("nothing");
        await store.servers.update("srv_unknown", { name: "x" }, note);
        await store.servers.delete("srv_unknown", NOW, note);
        const draft = { ...DEFAULT_SETTINGS, label: "bot", tokenHash: "hash-2" };
        await store.keys.create({ ...draft, serverId: "srv_unknown" }, NOW, note);
        await store.keys.update("key_unknown", { label: "x" }, note);
        await store.keys.rotate("key_unknown", "x", NOW, NOW, note);
        await store.keys.revoke("key_unknown", NOW, note);
        await store.limits.liftBlock("key_unknown", NOW, note);
        await store.limits.liftBlock(keyId, NOW, note);
        await store.keys.revoke(keyId, NOW);
        await store.keys.revoke(keyId, NOW, note);
        await store.keys.update(keyId, { label: "x" }, note);
        await store.keys.rotate(keyId, "x", NOW, NOW, note);
        await store.servers.delete(serverId, NOW);
        await store.servers.delete(serverId, NOW, note);
        expect(await readAudit()).toEqual([]);
      });

      test("when the note cannot be stored, the change is not made, also after a crash", async () => {
        const server = await addServer();
        const { serverId } = server;
        const details = await addKey(serverId, "hash-1");
        const { keyId } = details;
        await judgeTimes(details, 520);
        await harness.refuse("notes");
        await expectNoChange(serverId, keyId);
        const check = async () => {
          expect((await store.servers.list({ limit: 10 })).items).toEqual([server]);
          expect(await store.servers.readServerKey(serverId)).toBe("abc-def");
          expect((await store.keys.list({ limit: 10 })).items).toEqual([details]);
          expect(await store.keys.find("hash-1", NOW)).toMatchObject({
            keyId,
            grant: { isSuspended: false },
          });
          for (const hash of ["hash-2", "hash-3"]) expect(await store.keys.find(hash, NOW)).toBeUndefined();
          expect(await store.servers.findByName("New")).toBeUndefined();
          expect(await store.limits.listBlocks(NOW)).toHaveLength(1);
        };
        await check();
        await reopen();
        await check();
      });

      test("when the change cannot be made, the note is not stored", async () => {
        const { serverId } = await addServer();
        const { keyId } = await addKey(serverId, "hash-1");
        await judgeTimes({ keyId, serverId }, 520);
        await harness.refuse("changes");
        await expectNoChange(serverId, keyId);
        expect(await readAudit()).toEqual([]);
        await reopen();
        expect(await readAudit()).toEqual([]);
        expect(await store.keys.find("hash-1", NOW)).toMatchObject({ keyId, grant: { isSuspended: false } });
      });

      /** Tries every change with a note. Each must throw StoreUnavailable. */
      async function expectNoChange(serverId: string, keyId: string): Promise<void> {
        const note = noteOf("impossible");
        const draft = { ...DEFAULT_SETTINGS, serverId, label: "bot", tokenHash: "hash-2" };
        const changes = {
          createServer: () => store.servers.create({ name: "New", community: null, serverKey: "x-y" }, NOW, note),
          updateServer: () => store.servers.update(serverId, { name: "New", serverKey: "x-y" }, note),
          deleteServer: () => store.servers.delete(serverId, NOW, note),
          createKey: () => store.keys.create(draft, NOW, note),
          updateKey: () => store.keys.update(keyId, { isSuspended: true }, note),
          rotateKey: () => store.keys.rotate(keyId, "hash-3", NOW + 1000, NOW, note),
          revokeKey: () => store.keys.revoke(keyId, NOW, note),
          liftBlock: () => store.limits.liftBlock(keyId, NOW, note),
        };
        for (const [name, change] of Object.entries(changes)) {
          const outcome = await change().then(
            () => "done",
            (error: unknown) => (error instanceof StoreUnavailable ? "unavailable" : error),
          );
          expect([name, outcome]).toEqual([name, "unavailable"]);
        }
      }

      describe("the note of a cancelled command", () => {
        async function addCommand() {
          const { serverId } = await addServer();
          const { keyId } = await addKey(serverId, "hash-1");
          const draft = { serverId, keyId, text: ":h hello", idempotencyKey: undefined };
          const accepted = await store.commands.accept(draft, NOW);
          if ("declined" in accepted) throw new Error("the queue is full");
          const { commandId } = accepted.receipt;
          const cancel = () => store.commands.cancel(serverId, commandId, NOW, noteOf("command.cancelled"));
          return { serverId, commandId, cancel };
        }

        test("is kept with the cancellation, over a crash too, and a command that no longer waits gets none", async () => {
          const { serverId, commandId, cancel } = await addCommand();
          expect(await cancel()).toMatchObject({ isCancelled: true });
          expect(await cancel()).toMatchObject({ isCancelled: false });
          expect(await store.commands.cancel(serverId, "cmd_unknown", NOW, noteOf("nothing"))).toBeUndefined();
          const expected = [{ ...noteOf("command.cancelled"), id: expect.any(String), target: commandId }];
          expect(await readAudit()).toEqual(expected);
          await reopen();
          await store.commands.listWaitingServers();
          expect(await readAudit()).toEqual(expected);
        });

        test("is kept if and only if the command was cancelled, also when the audit log takes nothing at that moment", async () => {
          const { commandId, cancel } = await addCommand();
          await harness.refuse("notes");
          await cancel().catch((error: unknown) => expect(error).toBeInstanceOf(StoreUnavailable));
          await reopen();
          await harness.allow();
          for (let i = 0; i < 2; i++) await store.commands.listWaitingServers();
          const status = (await store.commands.find(commandId))?.status;
          expect(await actionsOf()).toEqual(status === "cancelled" ? ["command.cancelled"] : []);
          if (status === "queued") expect(await cancel()).toMatchObject({ isCancelled: true });
          expect(await actionsOf()).toEqual(["command.cancelled"]);
        });
      });

      test("details are read as they were written, whatever they contain", async () => {
        const details = {
          before: { name: "\u0000'; DROP TABLE audit; -- 🚓", list: [1, [null], {}] },
          after: { name: "", time: NOW, flag: false, __proto__: 1 },
        };
        await store.servers.create({ name: "One", community: null, serverKey: "a-b" }, NOW, {
          ...noteOf("server.created"),
          details,
        });
        await reopen();
        expect((await readAudit())[0]?.details).toEqual(details);
      });

      test("pages have no gaps and no repeats while entries are added, and entries of the same time keep their order", async () => {
        const { serverId } = await addServer();
        for (let i = 0; i < 5; i++) await store.servers.update(serverId, { name: `n${i}` }, noteOf(`a${i}`));
        const first = await store.audit.list({ limit: 2 });
        expect(first.items.map((entry) => entry.action)).toEqual(["a4", "a3"]);
        await store.servers.update(serverId, { name: "later" }, noteOf("later"));
        const second = await store.audit.list({ limit: 2, cursor: first.next ?? "" });
        expect(second.items.map((entry) => entry.action)).toEqual(["a2", "a1"]);
        const third = await store.audit.list({ limit: 2, cursor: second.next ?? "" });
        expect(third).toMatchObject({ items: [{ action: "a0" }], next: null });
        expect(await actionsOf()).toEqual(["later", "a4", "a3", "a2", "a1", "a0"]);
      });

      test("an entry is found by its id, and no other text finds one", async () => {
        const { serverId } = await addServer();
        for (const name of ["a", "b", "c"]) await store.servers.update(serverId, { name }, noteOf(name));
        await reopen();
        for (const entry of await readAudit()) expect(await store.audit.find(entry.id)).toEqual(entry);
        for (const id of ["aud_zz", "aud_", "aud_0", "", "1", "aud_1 OR 1", "aud_99999999999", "aud_-1"]) {
          expect([id, await store.audit.find(id)]).toEqual([id, undefined]);
        }
      });

      test("the id of an entry is never reused, also after older entries are deleted", async () => {
        const { serverId } = await addServer();
        const rename = (name: string, at: number) => store.servers.update(serverId, { name }, noteOf(name, at));
        await rename("a", NOW);
        await rename("b", NOW);
        const deleted = (await readAudit()).map((entry) => entry.id);
        await store.tidy({ now: NOW, usage: NOW, audit: NOW + 1, commands: 0 });
        await reopen();
        await rename("c", NOW + 1);
        const [entry] = await readAudit();
        expect(entry?.action).toBe("c");
        expect(deleted).not.toContain(entry?.id ?? "");
      });
    });

    describe("usage", () => {
      test("cells are summed by hour and code, oldest first, also after a crash", async () => {
        const { keyId } = await addKey((await addServer()).serverId, "hash-1");
        const next = HOUR + HOUR_MS;
        await store.usage.add([usageOf(keyId, next, { 0: 1 }), usageOf(keyId, HOUR, { 0: 2, 5016: 3 })]);
        await store.usage.add([usageOf(keyId, HOUR, { 5016: 4, 5009: 1 })]);
        await store.usage.add([]);
        await reopen();
        await store.usage.add([usageOf(keyId, next, { 0: 5 })]);
        const counts = await store.usage.read(keyId, 0);
        expect(counts.map(({ hour }) => hour)).toEqual([HOUR, HOUR, HOUR, next]);
        expect(counts.toSorted((a, b) => a.hour - b.hour || a.code - b.code)).toEqual([
          { hour: HOUR, code: 0, count: 2 },
          { hour: HOUR, code: 5009, count: 1 },
          { hour: HOUR, code: 5016, count: 7 },
          { hour: next, code: 0, count: 6 },
        ]);
      });

      test("two entries of one key and hour in one call are both counted", async () => {
        const { keyId } = await addKey((await addServer()).serverId, "hash-1");
        await store.usage.add([usageOf(keyId, HOUR, { 0: 2 }), usageOf(keyId, HOUR, { 0: 3 })]);
        expect(await store.usage.read(keyId, 0)).toEqual([{ hour: HOUR, code: 0, count: 5 }]);
      });

      test("only the key's own usage since the given hour is read", async () => {
        const { serverId } = await addServer();
        const [mine, other] = [await addKey(serverId, "hash-1"), await addKey(serverId, "hash-2")];
        await store.usage.add([
          usageOf(mine.keyId, HOUR - HOUR_MS, { 0: 1 }),
          usageOf(mine.keyId, HOUR, { 0: 2 }),
          usageOf(other.keyId, HOUR, { 0: 9 }),
        ]);
        expect(await store.usage.read(mine.keyId, HOUR)).toEqual([{ hour: HOUR, code: 0, count: 2 }]);
        expect(await store.usage.read(mine.keyId, HOUR + 1)).toEqual([]);
        expect(await store.usage.read("key_unknown", 0)).toEqual([]);
      });

      test("the time of the last use is stored with the key and never goes back", async () => {
        const { keyId } = await addKey((await addServer()).serverId, "hash-1");
        const useAt = (lastUsedAt: number) => store.usage.add([{ ...usageOf(keyId, HOUR, { 0: 1 }), lastUsedAt }]);
        await useAt(NOW);
        await useAt(NOW - 5);
        await reopen();
        expect((await store.keys.findDetails(keyId))?.lastUsedAt).toBe(NOW);
        expect((await store.keys.list({ limit: 1 })).items[0]?.lastUsedAt).toBe(NOW);
        await useAt(NOW + 1);
        expect((await store.keys.findDetails(keyId))?.lastUsedAt).toBe(NOW + 1);
      });

      test("a change to a key does not change the time of its last use", async () => {
        const { keyId } = await addKey((await addServer()).serverId, "hash-1");
        await store.usage.add([usageOf(keyId, HOUR, { 0: 1 })]);
        expect((await store.keys.update(keyId, { label: "new" }))?.lastUsedAt).toBe(HOUR + 1);
      });

      test("the usage of a revoked key can still be read", async () => {
        const { keyId } = await addKey((await addServer()).serverId, "hash-1");
        await store.usage.add([usageOf(keyId, HOUR, { 0: 1 })]);
        await store.keys.revoke(keyId, NOW);
        expect(await store.usage.read(keyId, 0)).toEqual([{ hour: HOUR, code: 0, count: 1 }]);
        expect((await store.keys.findDetails(keyId))?.lastUsedAt).toBe(HOUR + 1);
      });

      test("entries of unknown keys are ignored, and the others are counted", async () => {
        const { keyId } = await addKey((await addServer()).serverId, "hash-1");
        await store.usage.add([usageOf("key_unknown", HOUR, { 0: 1 }), usageOf(keyId, HOUR, { 0: 1 })]);
        expect(await store.usage.read(keyId, 0)).toEqual([{ hour: HOUR, code: 0, count: 1 }]);
        expect(await store.usage.read("key_unknown", 0)).toEqual([]);
        expect(await store.keys.findDetails("key_unknown")).toBeUndefined();
      });
    });

    describe("tidying", () => {
      test("deletes usage and notes from before the given times, to the millisecond, and nothing newer", async () => {
        const { serverId } = await addServer();
        const { keyId } = await addKey(serverId, "hash-1");
        for (const at of [NOW - 1, NOW, NOW + 1]) {
          await store.servers.update(serverId, { name: `at ${at}` }, noteOf(`at ${at}`, at));
        }
        const hours = [HOUR - HOUR_MS, HOUR, HOUR + HOUR_MS];
        await store.usage.add(hours.map((hour) => usageOf(keyId, hour, { 0: 1, 5009: 1 })));
        await store.tidy({ now: NOW, usage: HOUR, audit: NOW, commands: 0 });
        await reopen();
        expect(await actionsOf()).toEqual([`at ${NOW + 1}`, `at ${NOW}`]);
        const left = await store.usage.read(keyId, 0);
        expect(left.map(({ hour }) => hour)).toEqual([HOUR, HOUR, HOUR + HOUR_MS, HOUR + HOUR_MS]);
        expect((await store.keys.findDetails(keyId))?.lastUsedAt).toBe(HOUR + HOUR_MS + 1);
      });

      test("deletes any number of entries without blocking the event loop", async () => {
        const { keyId } = await addKey((await addServer()).serverId, "hash-1");
        const codes = Array.from({ length: 1_201 }, (_, code) => [code, 1]);
        await store.usage.add([usageOf(keyId, HOUR, Object.fromEntries(codes))]);
        let turns = 0;
        const timer = setInterval(() => turns++, 0);
        await store.tidy({ now: NOW, usage: HOUR + 1, audit: NOW, commands: 0 });
        clearInterval(timer);
        expect(await store.usage.read(keyId, 0)).toEqual([]);
        expect(turns).toBeGreaterThan(0);
      });

      test("deletes no valid token: the current one and those in their grace period still work", async () => {
        const { keyId } = await addKey((await addServer()).serverId, "over");
        await store.keys.rotate(keyId, "in-grace", NOW + 10, NOW);
        await store.keys.rotate(keyId, "current", NOW + 1000, NOW);
        await store.tidy({ now: NOW + 10, usage: NOW, audit: NOW, commands: 0 });
        const check = async () => {
          expect(await store.keys.find("over", NOW + 10)).toBeUndefined();
          expect((await store.keys.find("in-grace", NOW + 999))?.keyId).toBe(keyId);
          expect((await store.keys.find("current", NOW + 5000))?.keyId).toBe(keyId);
        };
        await check();
        await reopen();
        await check();
      });

      test("deletes no servers, keys, settings and blocks in force", async () => {
        const server = await addServer();
        const details = await addKey(server.serverId, "hash-1");
        const gone = await addKey(server.serverId, "hash-2");
        await store.keys.revoke(gone.keyId, NOW);
        await store.settings.save("a", "1");
        await judgeTimes(details, 520);
        await store.tidy({ now: NOW + 1, usage: NOW + 1, audit: NOW + 1, commands: 0 });
        await reopen();
        expect((await store.servers.list({ limit: 10 })).items).toEqual([server]);
        expect((await store.keys.list({ limit: 10 })).items).toEqual([details, { ...gone, revokedAt: NOW }]);
        expect(await store.settings.find("a")).toBe("1");
        expect(await store.limits.listBlocks(NOW + 1)).toEqual([
          { keyId: details.keyId, blockedUntil: NOW + BLOCK_MS },
        ]);
      });

      test("a recently deleted server can still be deleted again without effect", async () => {
        const { serverId } = await addServer();
        await store.servers.delete(serverId, NOW);
        await store.tidy({ now: NOW + 1, usage: NOW, audit: NOW, commands: 0 });
        expect(await store.servers.delete(serverId, NOW + 1)).toMatchObject({ revokedKeys: 0 });
      });
    });

    test("settings survive a crash, with their last value", async () => {
      expect(await store.settings.find("a")).toBeUndefined();
      await store.settings.save("a", "1");
      await store.settings.save("a", "2");
      await reopen();
      expect(await store.settings.find("a")).toBe("2");
    });

    test("a setting keeps the value of whoever was first, also of several at once", async () => {
      const values = await Promise.all(["1", "2", "3"].map((value) => store.settings.saveIfAbsent("a", value)));
      await reopen();
      const stored = (await store.settings.find("a")) ?? "";
      expect(values).toEqual([stored, stored, stored]);
    });

    test("an audit entry about something that is not in the store is kept", async () => {
      const note = noteOf("upstream.resumed");
      await store.audit.add("upstream", note);
      await reopen();
      expect(await readAudit()).toMatchObject([{ ...note, target: "upstream" }]);
    });

    test("the health check of a working store succeeds", async () => {
      expect(await store.checkHealth()).toBeUndefined();
    });
  });
}
