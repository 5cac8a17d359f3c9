// The promise of core/ports.ts as tests. Every store passes this suite unchanged.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { DEFAULT_RIGHTS } from "../../src/core/api-key.ts";
import type { KeyDraft, Store } from "../../src/core/ports.ts";
import { BLOCK_MS, FRESH_LIMIT, judgeRequest, WINDOW_MS } from "../../src/core/rate-limit.ts";
import { ALL_SECTIONS, toSectionSet } from "../../src/core/sections.ts";

/** One store that can be closed and opened again with what it kept. */
export type StoreHarness = {
  open(): Promise<Store>;
  /** As if the process had been killed: nothing is closed in order. */
  crash(): Promise<void>;
  dispose(): Promise<void>;
};

const NOW = 1_800_000_000_000;

export function describeStore(name: string, createHarness: () => Promise<StoreHarness>): void {
  describe(`${name} keeps the promise of a store`, () => {
    let harness: StoreHarness;
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
      return store.createServer({ name: "One", community: "town", serverKey }, NOW);
    }

    async function addKey(serverId: string, tokenHash: string, change: Partial<KeyDraft> = {}) {
      const draft = { ...DEFAULT_RIGHTS, serverId, label: "bot", expiresAt: null, tokenHash, ...change };
      const key = await store.createKey(draft, NOW);
      if (!key) throw new Error("no key was made");
      return key;
    }

    async function ask(keyId: string, times: number, now = NOW) {
      let verdict = await store.judge(keyId, now, true);
      for (let i = 1; i < times; i++) verdict = await store.judge(keyId, now, true);
      return verdict;
    }

    describe("servers", () => {
      test("a created server is found, also after a crash", async () => {
        const server = await addServer();
        expect(server.serverId).toMatch(/^srv_[0-9A-Za-z]+$/);
        expect(server).toMatchObject({ name: "One", community: "town", createdAt: NOW });
        await reopen();
        expect(await store.findServer(server.serverId)).toEqual(server);
      });

      test("the upstream key comes back in the clear for the relay, also after a crash", async () => {
        const server = await addServer("secret-key");
        await reopen();
        expect(await store.readServerKey(server.serverId)).toBe("secret-key");
        expect(await store.readServerKey("srv_unknown")).toBeUndefined();
      });

      test("setting an upstream key raises the revision, the same key again too; other changes do not", async () => {
        const server = await addServer("old-key");
        const renamed = await store.updateServer(server.serverId, { name: "Two", community: null });
        expect(renamed).toEqual({ ...server, name: "Two", community: null });
        const rekeyed = await store.updateServer(server.serverId, { serverKey: "old-key" });
        expect(rekeyed?.keyRevision).toBe(server.keyRevision + 1);
        await store.updateServer(server.serverId, { serverKey: "new-key" });
        await reopen();
        expect(await store.readServerKey(server.serverId)).toBe("new-key");
        expect((await store.findServer(server.serverId))?.keyRevision).toBe(server.keyRevision + 2);
        expect(await store.updateServer("srv_unknown", { name: "x" })).toBeUndefined();
      });

      test("servers are listed oldest first, page by page, each once", async () => {
        const ids: string[] = [];
        for (let i = 0; i < 5; i++) ids.push((await addServer()).serverId);
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await store.listServers({ limit: 2, cursor });
          seen.push(...page.items.map((server) => server.serverId));
          cursor = page.next ?? undefined;
        } while (cursor !== undefined);
        expect(seen).toEqual(ids);
      });

      test("deleting a server revokes its keys and leaves others alone", async () => {
        const [doomed, other] = [await addServer(), await addServer()];
        const first = await addKey(doomed.serverId, "hash-1");
        await addKey(doomed.serverId, "hash-2");
        await addKey(other.serverId, "hash-3");
        expect(await store.deleteServer(doomed.serverId, NOW + 5)).toEqual({ revokedKeys: 2 });
        expect(await store.deleteServer(doomed.serverId, NOW + 5)).toEqual({ revokedKeys: 0 });
        expect(await store.deleteServer("srv_unknown", NOW + 5)).toBeUndefined();
        await reopen();
        expect(await store.findServer(doomed.serverId)).toBeUndefined();
        expect(await store.findKey("hash-1", NOW)).toBeUndefined();
        expect(await store.findKey("hash-2", NOW)).toBeUndefined();
        expect((await store.findKey("hash-3", NOW))?.serverId).toBe(other.serverId);
        expect((await store.findKeyDetails(first.keyId))?.revokedAt).toBe(NOW + 5);
      });
    });

    describe("keys", () => {
      test("a created key is found by its token's hash with all its rights, also after a crash", async () => {
        const server = await addServer();
        const rights = {
          versions: ["v1", "v2"] as const,
          sections: toSectionSet(["Players", "Queue"]),
          commands: [":h"],
          ipAllow: ["10.0.0.0/8"],
          expiresAt: NOW + 1000,
        };
        const details = await addKey(server.serverId, "hash-1", rights);
        expect(details.keyId).toMatch(/^key_[0-9A-Za-z]+$/);
        expect(details).toMatchObject({ ...rights, label: "bot", createdAt: NOW, isSuspended: false });
        expect(details).toMatchObject({ lastUsedAt: null, revokedAt: null });
        await reopen();
        const key = await store.findKey("hash-1", NOW);
        expect(key).toMatchObject({ keyId: details.keyId, serverId: server.serverId, commands: [":h"] });
        expect(key).toMatchObject({
          versions: ["v1", "v2"],
          sections: rights.sections,
          expiresAt: NOW + 1000,
        });
        expect(key?.allowedFrom?.has("10.1.2.3")).toBe(true);
        expect(key?.allowedFrom?.has("11.1.2.3")).toBe(false);
        expect(await store.findKeyDetails(details.keyId)).toEqual(details);
      });

      test("a key without an address list may be used from anywhere", async () => {
        const server = await addServer();
        await addKey(server.serverId, "hash-1");
        expect(await store.findKey("hash-1", NOW)).toMatchObject({
          allowedFrom: null,
          sections: ALL_SECTIONS,
        });
      });

      test("no key is made for a server that is not there", async () => {
        const draft = { ...DEFAULT_RIGHTS, label: "bot", expiresAt: null, tokenHash: "hash-1" };
        expect(await store.createKey({ ...draft, serverId: "srv_unknown" }, NOW)).toBeUndefined();
        expect(await store.findKey("hash-1", NOW)).toBeUndefined();
      });

      test("a change takes effect on the very next lookup and survives a crash", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "hash-1");
        await store.updateKey(keyId, { isSuspended: true, sections: 0, label: "new", ipAllow: ["::1"] });
        const check = async () => {
          const key = await store.findKey("hash-1", NOW);
          expect(key).toMatchObject({ keyId, isSuspended: true, sections: 0 });
          expect(key?.allowedFrom?.has("::1")).toBe(true);
          expect((await store.findKeyDetails(keyId))?.label).toBe("new");
        };
        await check();
        await reopen();
        await check();
        expect(await store.updateKey("key_unknown", { label: "x" })).toBeUndefined();
      });

      test("after a rotation the old token works until its grace is over, over a restart too", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "old");
        expect(await store.rotateKey(keyId, "new", NOW + 1000, NOW)).toBe(true);
        const check = async () => {
          expect((await store.findKey("new", NOW))?.keyId).toBe(keyId);
          expect((await store.findKey("old", NOW + 999))?.keyId).toBe(keyId);
          expect(await store.findKey("old", NOW + 1000)).toBeUndefined();
        };
        await check();
        await reopen();
        await check();
        expect(await store.rotateKey("key_unknown", "x", NOW, NOW)).toBe(false);
      });

      test("a change is seen through an old token in its grace", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "old");
        await store.rotateKey(keyId, "new", NOW + 1000, NOW);
        await store.updateKey(keyId, { isSuspended: true });
        expect((await store.findKey("old", NOW))?.isSuspended).toBe(true);
      });

      test("a revoked key is gone at once with all its tokens, stays readable, and cannot be changed", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "old");
        await store.rotateKey(keyId, "new", NOW + 1000, NOW);
        expect(await store.revokeKey(keyId, NOW + 1)).toBe(true);
        expect(await store.revokeKey(keyId, NOW + 2)).toBe(true);
        expect(await store.revokeKey("key_unknown", NOW)).toBe(false);
        await reopen();
        expect(await store.findKey("old", NOW)).toBeUndefined();
        expect(await store.findKey("new", NOW)).toBeUndefined();
        expect((await store.findKeyDetails(keyId))?.revokedAt).toBe(NOW + 1);
        expect(await store.updateKey(keyId, { label: "x" })).toBeUndefined();
        expect(await store.rotateKey(keyId, "x", NOW, NOW)).toBe(false);
      });

      test("keys are listed oldest first, for one server or for all, revoked ones included", async () => {
        const [one, two] = [await addServer(), await addServer()];
        const first = await addKey(one.serverId, "hash-1");
        const second = await addKey(two.serverId, "hash-2");
        const third = await addKey(one.serverId, "hash-3");
        await store.revokeKey(first.keyId, NOW);
        const idsOf = async (serverId?: string) => {
          const page = await store.listKeys({ limit: 10, ...(serverId && { serverId }) });
          expect(page.next).toBeNull();
          return page.items.map((key) => key.keyId);
        };
        expect(await idsOf()).toEqual([first.keyId, second.keyId, third.keyId]);
        expect(await idsOf(one.serverId)).toEqual([first.keyId, third.keyId]);
        const page = await store.listKeys({ limit: 2 });
        expect((await store.listKeys({ limit: 2, cursor: page.next ?? "" })).items).toHaveLength(1);
      });
    });

    describe("limits and blocks", () => {
      test("the verdicts are those of the rule in core, request by request", async () => {
        let state = FRESH_LIMIT;
        for (let i = 0; i < 700; i++) {
          const now = NOW + i * 7;
          const isCounted = i % 5 !== 0;
          const expected = judgeRequest(state, now, isCounted);
          expect(await store.judge("key_a", now, isCounted)).toEqual(expected);
          state = expected.state;
        }
      });

      test("parallel requests get every count once", async () => {
        const verdicts = await Promise.all(
          Array.from({ length: 300 }, () => store.judge("key_a", NOW, true)),
        );
        const counts = verdicts.map((verdict) => verdict.state.count).sort((a, b) => a - b);
        expect(counts).toEqual(Array.from({ length: 300 }, (_, i) => i + 1));
        expect(new Set(verdicts.map((verdict) => verdict.state.resetAt))).toEqual(new Set([NOW + WINDOW_MS]));
      });

      test("one key's requests do not count for another", async () => {
        await ask("key_a", 200);
        expect((await store.judge("key_b", NOW, true)).state.count).toBe(1);
      });

      test("a block and its extension survive a crash", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "hash-1");
        await ask(keyId, 520);
        await reopen();
        const still = await store.judge(keyId, NOW + 1, true);
        expect(still).toMatchObject({ outcome: "blocked", state: { blockedUntil: NOW + BLOCK_MS } });
        await ask(keyId, 120, NOW + 1);
        await reopen();
        const extended = await store.judge(keyId, NOW + 2, true);
        expect(extended.state.blockedUntil).toBe(NOW + BLOCK_MS + 60_000);
        const over = await store.judge(keyId, NOW + BLOCK_MS + 60_000, true);
        expect(over).toMatchObject({ outcome: "admitted", state: { count: 1 } });
      });

      test("blocks in force are listed, and lifting one gives a fresh window for good", async () => {
        const server = await addServer();
        const { keyId } = await addKey(server.serverId, "hash-1");
        await ask(keyId, 520);
        expect(await store.listBlocks(NOW)).toEqual([{ keyId, blockedUntil: NOW + BLOCK_MS }]);
        expect(await store.listBlocks(NOW + BLOCK_MS)).toEqual([]);
        await store.liftBlock(keyId);
        expect(await store.listBlocks(NOW)).toEqual([]);
        await reopen();
        expect(await store.judge(keyId, NOW, true)).toMatchObject({
          outcome: "admitted",
          state: { count: 1 },
        });
      });

      test("lifting a block that is not there changes nothing else", async () => {
        await ask("key_a", 3);
        await store.liftBlock("key_b");
        expect((await store.judge("key_a", NOW, true)).state.count).toBe(4);
      });
    });

    test("settings are kept over a crash, and the last value counts", async () => {
      expect(await store.findSetting("a")).toBeUndefined();
      await store.saveSetting("a", "1");
      await store.saveSetting("a", "2");
      await reopen();
      expect(await store.findSetting("a")).toBe("2");
    });

    test("a healthy store says so", async () => {
      expect(await store.checkHealth()).toBeUndefined();
    });
  });
}
