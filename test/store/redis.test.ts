// The shared store keeps the promise of a store, on one Redis and on a cluster of three; and its own: what one instance
// changes, all know.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { DEFAULT_RIGHTS } from "../../src/core/api-key.ts";
import { CLOSED_BREAKER } from "../../src/core/breaker.ts";
import { StartRefused } from "../../src/core/errors.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { SharedStatus } from "../../src/core/ports/relay-share.ts";
import { FRESH_LIMIT, judgeRequest } from "../../src/core/rate-limit.ts";
import type { RedisAddress } from "../../src/store/redis/redis-link.ts";
import { openRedisStore, type RedisStore } from "../../src/store/redis/redis-store.ts";
import { createSealer } from "../../src/store/sealer.ts";
import { until } from "../process/run-gatehouse.ts";
import {
  type RedisCluster,
  type RedisServer,
  startRedis,
  startRedisCluster,
  stopRedisServers,
} from "../redis-server.ts";
import { describeStore, type RefusableStoreHarness } from "./store-contract.ts";

const NOW = 1_800_000_000_000;
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
/** What a store must be able to write to in order to live at all. */
const LIVING = ["settings", "instances", "version", "changes", "counter", "probe"];

setDefaultTimeout(20_000);

let single: RedisServer;
let cluster: RedisCluster;
beforeAll(async () => {
  [single, cluster] = await Promise.all([startRedis(), startRedisCluster()]);
});
afterAll(stopRedisServers);

function open(address: RedisAddress, secret = "a secret", clock?: () => number): Promise<RedisStore> {
  const settings = { address, log: SILENT, sealer: createSealer(secret), commandLeaseMs: 10_000 };
  return openRedisStore({ ...settings, ...(clock && { clock }) });
}

function createHarness(getNodes: () => readonly RedisServer[], getAddress: () => RedisAddress) {
  return async (): Promise<RefusableStoreHarness> => {
    const opened: RedisStore[] = [];
    const askAll = (...args: string[]) => Promise.all(getNodes().map((node) => node.ask(...args)));
    await askAll("FLUSHALL");
    return {
      async open() {
        const store = await open(getAddress(), "a secret", () => NOW);
        opened.push(store);
        return store;
      },
      // A killed instance leaves Redis as it is; the one before is not closed in order.
      async crash() {},
      async refuse(what) {
        const writable = LIVING.map((name) => `~gatehouse:{directory}:${name}`);
        // Everything but the audit log; or nothing but it, and what a store lives on.
        const rules =
          what === "notes"
            ? ["~gatehouse:{directory}:[^a]*", "~gatehouse:{[^d]*"]
            : ["~gatehouse:{directory}:audit", ...writable];
        await askAll("ACL", "SETUSER", "default", "resetkeys", "%R~*", ...rules);
      },
      async dispose() {
        await askAll("ACL", "SETUSER", "default", "resetkeys", "allkeys");
        for (const store of opened) await store.close();
      },
    };
  };
}

describeStore(
  "the store on one Redis",
  createHarness(
    () => [single],
    () => single.address,
  ),
);
describeStore(
  "the store on a cluster",
  createHarness(
    () => cluster.nodes,
    () => cluster.address,
  ),
);

describe("instances on one Redis", () => {
  async function openTwo(): Promise<[RedisStore, RedisStore]> {
    await single.ask("FLUSHALL");
    return [await open(single.address), await open(single.address)];
  }

  async function closeAll(stores: readonly RedisStore[]): Promise<void> {
    for (const store of stores) await store.close();
  }

  const draftOf = (serverId: string, tokenHash: string) => {
    return { ...DEFAULT_RIGHTS, serverId, label: "bot", expiresAt: null, tokenHash };
  };

  test("what one adds, changes or revokes, the other knows within a second", async () => {
    const [one, two] = await openTwo();
    const server = await one.servers.create({ name: "One", community: null, serverKey: "a-b" }, one.clock());
    const key = await one.keys.create(draftOf(server.serverId, "hash-1"), one.clock());
    const keyId = key?.keyId ?? "";
    await until("the key is not known", () => two.keys.find("hash-1", two.clock()) !== undefined, 1_000);
    expect(two.servers.find(server.serverId)).toEqual(server);
    await one.keys.update(keyId, { isSuspended: true });
    await until(
      "not suspended",
      () => two.keys.find("hash-1", two.clock())?.grant.isSuspended === true,
      1_000,
    );
    await one.keys.revoke(keyId, one.clock());
    await until("not revoked", () => two.keys.find("hash-1", two.clock()) === undefined, 1_000);
    await closeAll([one, two]);
  });

  test("a revocation is not missed by an instance that was away while it happened", async () => {
    const [one, two] = await openTwo();
    const server = await one.servers.create({ name: "One", community: null, serverKey: "a-b" }, one.clock());
    const key = await one.keys.create(draftOf(server.serverId, "hash-1"), one.clock());
    await until("the key is not known", () => two.keys.find("hash-1", two.clock()) !== undefined, 1_000);
    // All connections of everybody are cut, again and again, while the key is revoked.
    const cut = () => single.ask("CLIENT", "KILL", "TYPE", "normal").catch(() => {});
    await cut();
    const canWrite = () =>
      one.settings.save("a", "1").then(
        () => true,
        () => false,
      );
    await until("the line is not back", canWrite, 5_000);
    await one.keys.revoke(key?.keyId ?? "", one.clock());
    await cut();
    await until("not revoked", () => two.keys.find("hash-1", two.clock()) === undefined, 3_000);
    await closeAll([one, two]);
  });

  test("parallel requests over instances get every count once, with one end of the window", async () => {
    const stores = [...(await openTwo()), await open(single.address), await open(single.address)];
    const key = { keyId: "key_a", serverId: "srv_a" };
    const asked = Array.from({ length: 2_000 }, (_, i) =>
      stores[i % stores.length]?.limits.judge(key, 0, true),
    );
    const verdicts = (await Promise.all(asked)).filter((verdict) => verdict !== undefined);
    expect(verdicts.filter(({ outcome }) => outcome === "admitted")).toHaveLength(120);
    expect(verdicts.filter(({ outcome }) => outcome === "limited")).toHaveLength(399);
    const counts = verdicts.filter(({ outcome }) => outcome !== "blocked").map(({ state }) => state.count);
    expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: 519 }, (_, i) => i + 1));
    const resets = verdicts.filter(({ outcome }) => outcome === "admitted").map(({ state }) => state.resetAt);
    expect(new Set(resets).size).toBe(1);
    await closeAll(stores);
  });

  test("each instance counts the others, and forgets those that left", async () => {
    const [one, two] = await openTwo();
    await until("one does not see two", () => one.instances === 2, 2_000);
    await two.close();
    await until("one still sees two", () => one.instances === 1, 2_000);
    await one.close();
  });

  describe("what is known of a server", () => {
    const failure = { code: 2002, message: "invalid", isRateLimit: false };
    const sharedStatusOf = (keyRevision: number, isRefused: boolean): SharedStatus => ({
      keyRevision,
      remembered: isRefused ? { failure, at: NOW, forMs: null } : null,
      breaker: CLOSED_BREAKER,
      breakerFailure: null,
      lastFailure: null,
      lastCallAt: 0,
    });

    async function setUpShare() {
      await single.ask("FLUSHALL");
      const store = await open(single.address);
      const draft = { name: "One", community: null, serverKey: "a-b" };
      const { serverId } = await store.servers.create(draft, store.clock());
      const share = store.relayShare;
      const publish = async (status: SharedStatus) => {
        const { lease } = await share.consult(serverId, (await share.peek(serverId, 0))?.version ?? 0);
        if (!lease) throw new Error("somebody else is asking");
        return share.publish(lease, status, null);
      };
      const readStatus = async () => (await share.peek(serverId, 0))?.status;
      return { store, share, serverId, publish, readStatus };
    }

    test("is kept for a day, that its key is refused for as long as it has that key", async () => {
      const { store, share, serverId, publish } = await setUpShare();
      const keptMs = () => single.ask("PTTL", `gatehouse:{${serverId}}:shared`);
      await publish(sharedStatusOf(1, true));
      expect(await keptMs()).toBe(-1);
      await share.amend(serverId, sharedStatusOf(1, false));
      expect(await keptMs()).toBe(-1);
      await publish(sharedStatusOf(2, false));
      expect(await keptMs()).toBeGreaterThan(80_000_000);
      await store.servers.delete(serverId, store.clock());
      expect(await keptMs()).toBe(-2);
      await store.close();
    });

    test("is no news for whoever has told it, and is for the others", async () => {
      const { store, share, serverId, publish } = await setUpShare();
      const version = await publish(sharedStatusOf(1, false));
      expect(await share.peek(serverId, version)).toBeNull();
      expect((await share.peek(serverId, version - 1))?.version).toBe(version);
      await share.amend(serverId, sharedStatusOf(1, true));
      expect((await share.peek(serverId, version))?.status).toEqual(sharedStatusOf(1, true));
      await store.close();
    });

    test("is not overwritten by what an older key has met, whoever tells it", async () => {
      const { store, share, serverId, publish, readStatus } = await setUpShare();
      await publish(sharedStatusOf(2, true));
      await share.amend(serverId, sharedStatusOf(1, false));
      expect(await readStatus()).toEqual(sharedStatusOf(2, true));
      await publish(sharedStatusOf(1, true));
      expect(await readStatus()).toEqual(sharedStatusOf(2, true));
      await publish(sharedStatusOf(3, false));
      expect(await readStatus()).toEqual(sharedStatusOf(3, false));
      await store.close();
    });
  });

  test("a store that may wait writes though Redis hesitates longer than a request would wait", async () => {
    const settings = { address: single.address, log: SILENT, sealer: createSealer("a secret") };
    const store = await openRedisStore({ ...settings, commandLeaseMs: 10_000, answerWithinMs: 10_000 });
    await single.ask("CLIENT", "PAUSE", "1000", "ALL");
    const note = {
      at: store.clock(),
      action: "server.created",
      actor: { fingerprint: "x", address: "::1" },
      details: {},
    } as const;
    await store.servers.create({ name: "Slow", community: null, serverKey: "a-b" }, store.clock(), note);
    expect((await store.audit.list({ limit: 1 })).items).toMatchObject([{ action: "server.created" }]);
    await store.close();
  });

  test("servers that were deleted long ago are forgotten by every instance, whichever tidies first", async () => {
    await single.ask("FLUSHALL");
    const stores = [await open(single.address), await open(single.address)] as const;
    const [one, two] = stores;
    const now = one.clock();
    const { serverId } = await one.servers.create({ name: "Gone", community: null, serverKey: "a-b" }, now);
    await until("the server is not known", () => two.servers.find(serverId) !== undefined);
    await one.servers.delete(serverId, now);
    await until("the server is known", () => two.servers.find(serverId) === undefined);
    const later = now + 1;
    for (const store of stores) await store.tidy({ now: later, usage: later, audit: later, commands: later });
    await single.ask("CONFIG", "RESETSTAT");
    for (const store of stores) await store.tidy({ now: later, usage: later, audit: later, commands: later });
    const said = String(await single.ask("INFO", "commandstats"));
    // The only one that a server which is remembered costs.
    expect(said).not.toContain("cmdstat_del:");
    await closeAll([...stores]);
  });

  test("a Redis that was emptied under an instance is told of in its log", async () => {
    await single.ask("FLUSHALL");
    const said: string[] = [];
    const log: Log = { ...SILENT, error: (_, message) => said.push(message) };
    const store = await openRedisStore({
      address: single.address,
      log,
      sealer: createSealer("a secret"),
      commandLeaseMs: 10_000,
    });
    const draft = { name: "One", community: null, serverKey: "a-b" };
    const { serverId } = await store.servers.create(draft, store.clock());
    // Whoever has seen another instance has seen its own change, too.
    const other = await open(single.address);
    await until("the other is not seen", () => store.instances === 2);
    await other.close();
    await single.ask("FLUSHALL");
    await until("the server is not forgotten", () => store.servers.find(serverId) === undefined, 2_000);
    expect(said).toEqual([expect.stringContaining("Redis is empty")]);
    await store.close();
  });

  test("an instance with another secret is refused", async () => {
    const [one, two] = await openTwo();
    expect(open(single.address, "another secret")).rejects.toThrow(StartRefused);
    await closeAll([one, two]);
  });

  test("has neither an upstream key nor a token in what it keeps", async () => {
    const [one, two] = await openTwo();
    const server = await one.servers.create(
      { name: "One", community: null, serverKey: "canary-ServerKey" },
      one.clock(),
    );
    await one.keys.create(draftOf(server.serverId, "hash-1"), one.clock());
    expect(await two.servers.readServerKey(server.serverId)).toBe("canary-ServerKey");
    for (const name of (await single.ask("KEYS", "*")) as string[]) {
      const dump = (await single.ask("DUMP", name)) as string | null;
      expect(dump ?? "").not.toContain("canary");
    }
    await closeAll([one, two]);
  });
});

test("the limit's script and the rule in core agree, request by request", async () => {
  await single.ask("FLUSHALL");
  let now = NOW;
  const store = await open(single.address, "a secret", () => now);
  let keys = 0;
  const step = fc.record({
    ms: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: -120_000, max: 400_000 })),
    times: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 100, max: 450 })),
    isCounted: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const key = { keyId: `key_${++keys}`, serverId: "srv_a" };
      let state = FRESH_LIMIT;
      now = NOW;
      for (const { ms, times, isCounted } of steps) {
        now += ms;
        const asked = Array.from({ length: times }, () => store.limits.judge(key, now, isCounted));
        for (const verdict of await Promise.all(asked)) {
          const expected = judgeRequest(state, now, isCounted);
          expect(verdict).toEqual(expected);
          state = expected.state;
        }
      }
    }),
    { numRuns: 60 },
  );
  await store.close();
}, 60_000);
