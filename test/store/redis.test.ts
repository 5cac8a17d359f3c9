// The shared store passes the contract of a store, on one Redis and on a cluster of three. Beyond that, all instances learn
// what one has changed.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DEFAULT_RIGHTS } from "../../src/core/api-key.ts";
import { CLOSED_BREAKER } from "../../src/core/breaker.ts";
import { StartRefused, StoreUnavailable } from "../../src/core/errors.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { SharedStatus } from "../../src/core/ports/relay-share.ts";
import { FRESH_LIMIT, judgeRequest } from "../../src/core/rate-limit.ts";
import { REPLY_DEADLINE_MS, type RedisAddress } from "../../src/store/redis/redis-link.ts";
import {
  openRedisStore,
  type RedisStore,
  type RedisStoreSettings,
} from "../../src/store/redis/redis-store.ts";
import { signRecord } from "../../src/store/redis/signed-record.ts";
import { Sealer } from "../../src/store/sealer.ts";
import { until } from "../process/run-gatehouse.ts";
import {
  type RedisCluster,
  type RedisServer,
  startRedis,
  startRedisCluster,
  stopRedisServers,
} from "../redis-server.ts";
import { describeDevices } from "./device-contract.ts";
import { describeStore, type RefusableStoreHarness } from "./store-contract.ts";

const NOW = 1_800_000_000_000;
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
/** What a store must be able to write in order to start and to beat. */
const VITAL = ["settings", "instances", "version", "changes", "counter", "probe"];

/** Most tests are not about deadlines, so their stores wait as long as a busy machine needs. */
const PATIENCE_MS = 10_000;

let single: RedisServer;
let cluster: RedisCluster;
beforeAll(async () => {
  [single, cluster] = await Promise.all([startRedis(), startRedisCluster()]);
});
afterAll(stopRedisServers);

/** The stores of the current test. One that stays open would be counted as an instance by the next test. */
const opened = new Set<RedisStore>();
afterEach(async () => {
  for (const store of opened) await store.close();
  opened.clear();
});

async function open(
  address: RedisAddress,
  { secret = "a secret", ...own }: Partial<RedisStoreSettings> & { readonly secret?: string } = {},
): Promise<RedisStore> {
  const settings = { address, log: SILENT, sealer: new Sealer(secret), commandLeaseMs: 10_000 };
  const store = await openRedisStore({ ...settings, replyDeadlineMs: PATIENCE_MS, ...own });
  opened.add(store);
  return store;
}

function createHarness(getNodes: () => readonly RedisServer[], getAddress: () => RedisAddress) {
  return async (): Promise<RefusableStoreHarness> => {
    const askAll = (...args: string[]) => Promise.all(getNodes().map((node) => node.ask(...args)));
    const allow = async () => {
      await askAll("ACL", "SETUSER", "default", "resetkeys", "allkeys");
    };
    await askAll("FLUSHALL");
    return {
      open: () => open(getAddress(), { clock: () => NOW }),
      // A killed instance leaves Redis unchanged; the old store is simply not closed.
      async crash() {},
      async refuse(what) {
        const writable = VITAL.map((name) => `~gatehouse:{directory}:${name}`);
        // Everything but the audit log can be written; or nothing but the audit log and what is vital.
        const rules =
          what === "notes"
            ? ["~gatehouse:{directory}:[^a]*", "~gatehouse:{[^d]*"]
            : ["~gatehouse:{directory}:audit", ...writable];
        await askAll("ACL", "SETUSER", "default", "resetkeys", "%R~*", ...rules);
      },
      allow,
      dispose: allow,
    };
  };
}

const createSingle = createHarness(
  () => [single],
  () => single.address,
);
const createCluster = createHarness(
  () => cluster.nodes,
  () => cluster.address,
);
describeStore("the store on one Redis", createSingle);
describeStore("the store on a cluster", createCluster);
describeDevices("the store on one Redis", createSingle);
describeDevices("the store on a cluster", createCluster);

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

  test("a device or link of one works on the other at once, and a device that one ends is gone on the other soon", async () => {
    const [one, two] = await openTwo();
    const now = one.clock();
    const server = await one.servers.create({ name: "One", community: null, serverKey: "a-b" }, now);
    const key = await one.keys.create(draftOf(server.serverId, "hash-1"), now);
    const keyId = key?.keyId ?? "";
    const device = { deviceId: "dev_1", secretHash: "d-1", expiresAt: now + 60_000, description: "" };
    await one.devices.add(keyId, "hash-1", device, now);
    expect(await two.devices.findBySecret("d-1", now)).toMatchObject({ deviceId: "dev_1", key: { keyId } });
    await one.devices.addLink(keyId, { secretHash: "l-1", expiresAt: now + 60_000 }, now);
    const other = { ...device, deviceId: "dev_2", secretHash: "d-2" };
    expect(await two.devices.redeemLink("l-1", other, now)).toBe(true);
    expect(await one.devices.findNew("dev_2", now)).toMatchObject({ deviceId: "dev_2" });
    const version = two.keys.version;
    await one.devices.end(keyId, "dev_1", now);
    await until("the device works on", () => two.devices.find("dev_1", now) === undefined);
    expect(two.keys.version).not.toBe(version);
    await closeAll([one, two]);
  });

  test("what one adds, changes or revokes, the other knows soon", async () => {
    const [one, two] = await openTwo();
    const server = await one.servers.create({ name: "One", community: null, serverKey: "a-b" }, one.clock());
    const key = await one.keys.create(draftOf(server.serverId, "hash-1"), one.clock());
    const keyId = key?.keyId ?? "";
    await until("the key is not known", () => two.keys.find("hash-1", two.clock()) !== undefined);
    expect(two.servers.find(server.serverId)).toEqual(server);
    await one.keys.update(keyId, { isSuspended: true });
    await until(
      "not suspended",
      () => two.keys.find("hash-1", two.clock())?.grant.isSuspended === true,
      1_000,
    );
    await one.keys.revoke(keyId, one.clock());
    await until("not revoked", () => two.keys.find("hash-1", two.clock()) === undefined);
    await closeAll([one, two]);
  });

  test("2,000 unknown tokens cost a handful of questions, and a key created meanwhile is found among them", async () => {
    const [one, two] = await openTwo();
    const server = await one.servers.create({ name: "One", community: null, serverKey: "a-b" }, one.clock());
    await single.ask("CONFIG", "RESETSTAT");
    const beganAt = performance.now();
    const findInvented = () =>
      Array.from({ length: 1_000 }, (_, i) => two.keys.findNew(`invented-${i}`, two.clock()));
    const before = findInvented();
    const key = await one.keys.create(draftOf(server.serverId, "hash-1"), one.clock());
    const created = two.keys.findNew("hash-1", two.clock());
    const after = findInvented();
    expect(await created).toMatchObject({ keyId: key?.keyId });
    const invented = await Promise.all([...before, ...after]);
    expect(invented.filter((found) => found !== undefined)).toEqual([]);
    const elapsedMs = performance.now() - beganAt;
    const stats = String(await single.ask("INFO", "commandstats"));
    const scripts = Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]);
    const heartbeats = 2 * Math.ceil(elapsedMs / 250 + 1);
    // One script creates the key.
    expect(scripts - 1 - heartbeats).toBeLessThanOrEqual(5);
    await closeAll([one, two]);
  });

  test("an unknown token is never refused while Redis does not answer, and no caller waits longer than the deadline", async () => {
    const frozen = await startRedis();
    const store = await open(frozen.address, { replyDeadlineMs: REPLY_DEADLINE_MS });
    const outcomes: unknown[] = [];
    frozen.freeze();
    const beganAt = performance.now();
    const find = (tokenHash: string) => {
      return store.keys.findNew(tokenHash, store.clock()).then(
        (found) => outcomes.push(found),
        (error: unknown) => outcomes.push(error instanceof StoreUnavailable),
      );
    };
    await Promise.all(Array.from({ length: 500 }, (_, i) => find(`early-${i}`)));
    // Twice the deadline of a reply, and some slack for a busy machine.
    expect(performance.now() - beganAt).toBeLessThan(2 * REPLY_DEADLINE_MS + 5_000);
    await Promise.all(Array.from({ length: 500 }, (_, i) => find(`late-${i}`)));
    expect(outcomes).toEqual(Array.from({ length: 1_000 }, () => true));
    frozen.thaw();
    await until("Redis is not back", () => store.isReachable);
    expect(await store.keys.findNew("late-1", store.clock())).toBeUndefined();
    await store.close();
    await frozen.stop();
  });

  test("a process that is held up before each of its scripts accepts, claims and records a command all the same", async () => {
    await single.ask("FLUSHALL");
    const store = await open(single.address, { replyDeadlineMs: 1_000 });
    const server = await store.servers.create({ name: "One", community: null, serverKey: "a-b" }, NOW);
    const { serverId } = server;
    /** The script is written only afterwards, when its deadline has passed. */
    const holdUp = <T>(answer: Promise<T>): Promise<T> => {
      Bun.sleepSync(1_500);
      return answer;
    };
    const draft = { serverId, keyId: "key_1", text: ":h", idempotencyKey: undefined };
    const acceptance = await holdUp(store.commands.accept(draft, store.clock()));
    const claim = await holdUp(store.commands.claim(serverId, store.clock(), 0));
    if (!("receipt" in acceptance) || claim.kind !== "claimed") throw new Error("not claimed");
    const { commandId } = claim.command;
    expect(commandId).toBe(acceptance.receipt.commandId);
    const sent = { status: "sent", upstreamCode: null, upstreamMessage: null } as const;
    await holdUp(store.commands.settle(commandId, sent, store.clock()));
    expect(await store.commands.find(commandId)).toMatchObject({ status: "sent" });
    expect(store.isReachable).toBe(true);
  });

  test("thousands of changes at once are all learned, also when one of them has very many ids", async () => {
    const [one, two] = await openTwo();
    const draft = { name: "Old", community: null, serverKey: "a-b" };
    const servers = [await one.servers.create(draft, NOW), await one.servers.create(draft, NOW)];
    // An earlier version of Gatehouse listed every key of a deleted server in one change.
    const ids = servers.map(({ serverId }) => serverId);
    const program = `
      for i = 1, 5000 do
        local version = redis.call('INCR', KEYS[2])
        for index = 1, (i == 2000 and 3000 or 1) do
          redis.call('ZADD', KEYS[3], version, index .. ' change' .. i .. ' -')
        end
        if i == 2500 then redis.call('ZADD', KEYS[3], version, '2 change' .. i .. ' ' .. ARGV[1]) end
        if i == 5000 then redis.call('ZADD', KEYS[3], version, '2 change' .. i .. ' ' .. ARGV[2]) end
      end
      redis.call('HSET', KEYS[1], ARGV[1], ARGV[3], ARGV[2], ARGV[4])`;
    const renamed = ids.map(async (id) => {
      const { mac: _, ...record } = JSON.parse(
        String(await single.ask("HGET", "gatehouse:{directory}:servers", id)),
      );
      return signRecord(new Sealer("a secret"), id, { ...record, name: "New" });
    });
    const names = ["servers", "version", "changes"].map((name) => `gatehouse:{directory}:${name}`);
    await single.ask("EVAL", program, 3, ...names, ...ids, ...(await Promise.all(renamed)));
    for (const store of [one, two]) {
      await store.keys.findNew("an unknown token", NOW);
      expect(ids.map((id) => store.servers.find(id)?.name)).toEqual(["New", "New"]);
    }
    await closeAll([one, two]);
  });

  test("a revocation is not missed by an instance that was away while it happened", async () => {
    const [one, two] = await openTwo();
    const server = await one.servers.create({ name: "One", community: null, serverKey: "a-b" }, one.clock());
    const key = await one.keys.create(draftOf(server.serverId, "hash-1"), one.clock());
    await until("the key is not known", () => two.keys.find("hash-1", two.clock()) !== undefined);
    // All connections are cut, before and after the key is revoked.
    const cut = () => single.ask("CLIENT", "KILL", "TYPE", "normal").catch(() => {});
    await cut();
    const canWrite = () =>
      one.settings.save("a", "1").then(
        () => true,
        () => false,
      );
    await until("the line is not back", canWrite);
    await one.keys.revoke(key?.keyId ?? "", one.clock());
    await cut();
    await until("not revoked", () => two.keys.find("hash-1", two.clock()) === undefined);
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
    await until("one does not see two", () => one.instances === 2);
    await two.close();
    await until("one still sees two", () => one.instances === 1);
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
        if (!lease) throw new Error("another instance holds the lease");
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

    test("is no news for the instance that has published it, and is for the others", async () => {
      const { store, share, serverId, publish } = await setUpShare();
      const version = await publish(sharedStatusOf(1, false));
      expect(await share.peek(serverId, version)).toBeNull();
      expect((await share.peek(serverId, version - 1))?.version).toBe(version);
      await share.amend(serverId, sharedStatusOf(1, true));
      expect((await share.peek(serverId, version))?.status).toEqual(sharedStatusOf(1, true));
      await store.close();
    });

    test("is not overwritten by the result of an older key, with or without a lease", async () => {
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

    test("is stored in the form that instances of version 0.1 can read, and so is the budget", async () => {
      const { store, share, serverId, publish } = await setUpShare();
      await publish(sharedStatusOf(1, true));
      const text = String(await single.ask("HGET", `gatehouse:{${serverId}}:shared`, "standing"));
      expect(JSON.parse(text)).toMatchObject(sharedStatusOf(1, true));
      await share.changeBudget((found) => ({ ...found, hasAnswer: true, backoffMs: 20_000 }));
      const stored = JSON.parse(String(await single.ask("GET", "gatehouse:{budget}:budget")));
      expect(stored).toMatchObject({ isTold: true, ownPauseMs: 20_000, limit: null, windowMs: 60_000 });
      await store.close();
    });
  });

  describe("the lease of the instance that watches", () => {
    const leaseKey = "gatehouse:{budget}:watch-lease";

    async function openPair() {
      await single.ask("FLUSHALL");
      return [await open(single.address), await open(single.address)] as const;
    }

    test("is held by one instance, as long as it renews it", async () => {
      const [one, two] = await openPair();
      for (let i = 0; i < 3; i++) {
        expect(await one.watchLease.hold()).toBe(true);
        expect(await two.watchLease.hold()).toBe(false);
      }
      await Promise.all([one.close(), two.close()]);
    });

    test("is taken by one of those that ask at once", async () => {
      const [one, two] = await openPair();
      const held = await Promise.all([one, two, one, two].map(({ watchLease }) => watchLease.hold()));
      expect([held[0] !== held[1], held[0] === held[2], held[1] === held[3]]).toEqual([true, true, true]);
      await Promise.all([one.close(), two.close()]);
    });

    test("ends well before ten seconds when its holder dies, and another takes it", async () => {
      const [one, two] = await openPair();
      await one.watchLease.hold();
      await one.close();
      const msLeft = Number(await single.ask("PTTL", leaseKey));
      expect(msLeft).toBeGreaterThan(0);
      expect(msLeft).toBeLessThanOrEqual(5_000);
      await single.ask("PEXPIRE", leaseKey, "1");
      while ((await single.ask("EXISTS", leaseKey)) !== 0);
      expect(await two.watchLease.hold()).toBe(true);
      await two.close();
    });

    test("is free at once when its holder gives it up, and nobody gives up another's", async () => {
      const [one, two] = await openPair();
      await one.watchLease.hold();
      await two.watchLease.release();
      expect(await two.watchLease.hold()).toBe(false);
      await one.watchLease.release();
      expect(await two.watchLease.hold()).toBe(true);
      await Promise.all([one.close(), two.close()]);
    });
  });

  describe("deleting a server with very many keys", () => {
    /** Writes the records directly into Redis: creating the keys one by one would take a minute. */
    async function fillServer(
      store: RedisStore,
      keys: number,
    ): Promise<{ serverId: string; lastId: string }> {
      const draft = { name: `${keys} keys`, community: null, serverKey: "a-b" };
      const { serverId } = await store.servers.create(draft, store.clock());
      const sealer = new Sealer("a secret");
      const idOf = (seq: number) => `key_${String(seq).padStart(20, "0")}`;
      for (let done = 0; done < keys; done += 1_000) {
        const seqs = Array.from({ length: Math.min(1_000, keys - done) }, (_, i) => done + i + 100);
        const records = seqs.flatMap((seq) => {
          const { tokenHash, ...rest } = draftOf(serverId, `hash-${seq}`);
          const tokens = [{ tokenHash, validUntil: null }];
          const record = { ...rest, keyId: idOf(seq), isSuspended: false, createdAt: NOW, revokedAt: null };
          return [idOf(seq), signRecord(sealer, idOf(seq), { ...record, seq, tokens })];
        });
        const order = seqs.flatMap((seq) => [seq, idOf(seq)]);
        await single.ask("HSET", "gatehouse:{directory}:keys", ...records);
        await single.ask("ZADD", "gatehouse:{directory}:key-order", ...order);
        await single.ask("ZADD", `gatehouse:{directory}:keys-of:${serverId}`, ...order);
      }
      return { serverId, lastId: idOf(keys + 99) };
    }

    /** Two instances with a server that has this many keys. */
    async function openFilled(keys: number) {
      await single.ask("FLUSHALL");
      const filler = await open(single.address);
      const filled = await fillServer(filler, keys);
      await filler.close();
      const [one, two] = [await open(single.address), await open(single.address)];
      expect(two.keys.find("hash-100", two.clock())).toBeDefined();
      return { one, two, keys, ...filled };
    }

    const note = {
      at: NOW,
      action: "server.deleted",
      actor: { fingerprint: "x", address: "::1" },
      details: {},
    } as const;

    /** Redis accepts the first step and refuses the batches, because the keys cannot be written. */
    async function interruptDeletion(store: RedisStore, serverId: string): Promise<void> {
      const writable = ["~gatehouse:{directory}:[^k]*", "~gatehouse:{[^d]*"];
      await single.ask("ACL", "SETUSER", "default", "resetkeys", "%R~*", ...writable);
      expect(store.servers.delete(serverId, NOW, note)).rejects.toThrow(StoreUnavailable);
      await until("the server is still there", () => store.servers.find(serverId) === undefined);
      await single.ask("ACL", "SETUSER", "default", "resetkeys", "allkeys");
    }

    async function expectAllRevoked(store: RedisStore, serverId: string, keys: number): Promise<void> {
      const { items } = await store.keys.list({ serverId, limit: keys + 1 });
      expect(items.map(({ revokedAt }) => revokedAt)).toEqual(Array.from({ length: keys }, () => NOW));
      const texts = (await single.ask("HVALS", "gatehouse:{directory}:keys")) as string[];
      expect(texts.filter((text) => !text.includes(`"revokedAt":${NOW}`))).toEqual([]);
      expect(texts.filter((text) => text.includes("tokenHash"))).toEqual([]);
      expect((await store.audit.list({ limit: 10 })).items).toMatchObject([note]);
      expect(await single.ask("KEYS", "*deletion*")).toEqual([]);
    }

    test("20,000 keys are revoked, in small steps, and every instance refuses them soon", async () => {
      const { one, two, keys, serverId, lastId } = await openFilled(20_000);
      await single.ask("CONFIG", "RESETSTAT");
      const deleting = one.servers.delete(serverId, NOW);
      await until("the other still has it", () => two.servers.find(serverId) === undefined);
      for (const token of ["hash-100", "hash-20099"])
        expect(await two.keys.findNew(token, two.clock())).toBeUndefined();
      expect(await deleting).toEqual({ revokedKeys: keys, failedCommands: 0 });
      expect((await two.keys.findDetails(lastId))?.revokedAt).toBe(NOW);
      const stats = String(await single.ask("INFO", "commandstats"));
      // At most a hundred keys per script.
      expect(Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1])).toBeGreaterThanOrEqual(keys / 100);
      // No instance reads the keys again: most of these are made by the scripts themselves.
      const reads = Number(/cmdstat_hmget:calls=(\d+)/.exec(stats)?.[1]);
      expect(reads).toBeLessThan(2 * (keys / 100));
      await closeAll([one, two]);
    });

    test("one that was interrupted is finished by repeating it, on any instance, with the whole number", async () => {
      const { one, two, keys, serverId } = await openFilled(250);
      await interruptDeletion(one, serverId);
      await until("the other still has it", () => two.servers.find(serverId) === undefined);
      for (const store of [one, two]) {
        expect(store.keys.find("hash-100", NOW)).toBeUndefined();
        const { items } = await store.keys.list({ serverId, limit: keys });
        expect(items.every(({ revokedAt }) => revokedAt === NOW)).toBe(true);
      }
      expect(await two.servers.delete(serverId, NOW + 1, note)).toEqual({
        revokedKeys: keys,
        failedCommands: 0,
      });
      await expectAllRevoked(two, serverId, keys);
      expect(await one.servers.delete(serverId, NOW + 2, note)).toEqual({
        revokedKeys: 0,
        failedCommands: 0,
      });
      await closeAll([one, two]);
    });

    test("one that was interrupted is finished by tidying on any instance", async () => {
      const { one, two, keys, serverId } = await openFilled(250);
      await interruptDeletion(one, serverId);
      await two.tidy({ now: NOW, usage: 0, audit: 0, commands: 0 });
      await expectAllRevoked(two, serverId, keys);
      await closeAll([one, two]);
    });

    test("one whose instance dies half-way is finished by another, which counts what was done before", async () => {
      const { one, two, keys, serverId } = await openFilled(5_000);
      const outcome = one.servers.delete(serverId, NOW, note).catch((error: unknown) => error);
      // Replies come in the order of the requests, so some of the fifty batches are done after these requests.
      while (one.servers.find(serverId)) await one.settings.find("a");
      for (let i = 0; i < 5; i++) await one.settings.find("a");
      await one.close();
      expect(await outcome).toBeInstanceOf(StoreUnavailable);
      const progress = `gatehouse:{directory}:deletion:${serverId}`;
      const done = Number(await single.ask("HGET", progress, "revoked_keys"));
      expect(done).toBeGreaterThan(0);
      expect(done).toBeLessThan(keys);
      expect(await two.servers.delete(serverId, NOW + 1, note)).toEqual({
        revokedKeys: keys,
        failedCommands: 0,
      });
      await expectAllRevoked(two, serverId, keys);
      await two.close();
    });
  });

  test("a store that may wait writes though Redis hesitates longer than a request would wait", async () => {
    const store = await open(single.address, { replyDeadlineMs: 10_000 });
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

  describe("the note of a cancelled command that could not be delivered at once", () => {
    const NOTE = {
      at: NOW,
      action: "command.cancelled",
      actor: { fingerprint: "x", address: "::1" },
      details: {},
    } as const;

    const allow = (...rules: string[]) =>
      single.ask("ACL", "SETUSER", "default", "resetkeys", "%R~*", ...rules);
    afterEach(() => allow("~*", "+@all"));

    /** Two instances, and a cancelled command whose note is in the outbox. Their clock stands still. */
    async function cancelUndelivered() {
      await single.ask("FLUSHALL");
      let now = NOW;
      const stores = [
        await open(single.address, { clock: () => now }),
        await open(single.address, { clock: () => now }),
      ] as const;
      const [one, two] = stores;
      const { serverId } = await one.servers.create({ name: "One", community: null, serverKey: "a-b" }, NOW);
      await until("the server is not known", () => two.servers.find(serverId) !== undefined);
      const draft = { serverId, keyId: "key_1", text: ":h hello", idempotencyKey: undefined };
      const accepted = await one.commands.accept(draft, NOW);
      const commandId = "receipt" in accepted ? accepted.receipt.commandId : "";
      await allow("~gatehouse:{directory}:[^a]*", "~gatehouse:{[^d]*");
      expect(await one.commands.cancel(serverId, commandId, NOW, NOTE)).toMatchObject({ isCancelled: true });
      expect((await one.audit.list({ limit: 9 })).items).toEqual([]);
      return { stores, serverId, commandId, setNow: (time: number) => (now = time) };
    }

    const outboxOf = (serverId: string) => single.ask("HLEN", `gatehouse:{${serverId}}:audit-outbox`);

    test("is delivered once, by whichever instances look at the server next", async () => {
      const { stores, serverId, commandId } = await cancelUndelivered();
      await allow("~*");
      const looks = Array.from({ length: 20 }, (_, i) => stores[i % 2]?.commands.listWaitingServers());
      await Promise.all(looks);
      expect((await stores[1].audit.list({ limit: 9 })).items).toMatchObject([
        { ...NOTE, target: commandId },
      ]);
      expect(await outboxOf(serverId)).toBe(0);
      await closeAll(stores);
    });

    test("is delivered once though the instance that delivered it could not take it out of the outbox", async () => {
      const { stores, serverId } = await cancelUndelivered();
      const [one, two] = stores;
      await allow("~*", "-hdel");
      await one.commands.listWaitingServers();
      expect((await two.audit.list({ limit: 9 })).items).toHaveLength(1);
      expect(await outboxOf(serverId)).toBe(1);
      // Its id is kept as long as it is in the outbox, however long that takes.
      const later = NOW + 25 * 3_600_000;
      await expect(one.tidy({ now: later, usage: 0, audit: 0, commands: 0 })).rejects.toThrow(
        StoreUnavailable,
      );
      await allow("~*", "+hdel");
      await two.tidy({ now: later, usage: 0, audit: 0, commands: 0 });
      expect((await two.audit.list({ limit: 9 })).items).toHaveLength(1);
      expect(await outboxOf(serverId)).toBe(0);
      expect(await single.ask("HLEN", "gatehouse:{directory}:delivered-notes")).toBe(0);
      await closeAll(stores);
    });

    test("keeps its server marked until it is delivered, though nothing waits there any more", async () => {
      const { stores, serverId, setNow } = await cancelUndelivered();
      const [one] = stores;
      const listMarked = () => single.ask("ZRANGE", "gatehouse:{directory}:waiting", 0, -1);
      setNow(NOW + 120_000);
      for (let i = 0; i < 3; i++) await one.commands.listWaitingServers();
      expect(await listMarked()).toEqual([serverId]);
      await allow("~*");
      await one.commands.listWaitingServers();
      expect(await outboxOf(serverId)).toBe(0);
      await one.commands.listWaitingServers();
      expect(await listMarked()).toEqual([]);
      await closeAll(stores);
    });

    test("is delivered by tidying when its server has lost its mark", async () => {
      const { stores, serverId } = await cancelUndelivered();
      await allow("~*");
      await single.ask("DEL", "gatehouse:{directory}:waiting");
      await stores[0].tidy({ now: NOW, usage: 0, audit: 0, commands: 0 });
      expect((await stores[1].audit.list({ limit: 9 })).items).toHaveLength(1);
      expect(await outboxOf(serverId)).toBe(0);
      await closeAll(stores);
    });
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
    // Tidying sends a DEL for each deleted server that it still remembers.
    expect(said).not.toContain("cmdstat_del:");
    await closeAll([...stores]);
  });

  test("an instance logs that its Redis was emptied", async () => {
    await single.ask("FLUSHALL");
    const said: string[] = [];
    const log: Log = { ...SILENT, error: (_, message) => said.push(message) };
    const store = await open(single.address, { log });
    const draft = { name: "One", community: null, serverKey: "a-b" };
    const { serverId } = await store.servers.create(draft, store.clock());
    // A heartbeat that has seen the other instance has also seen the change before it.
    const other = await open(single.address);
    await until("the other is not seen", () => store.instances === 2);
    await other.close();
    await single.ask("FLUSHALL");
    await until("the server is not forgotten", () => store.servers.find(serverId) === undefined);
    expect(said).toEqual([expect.stringContaining("Redis is empty")]);
    await store.close();
  });

  test("an instance with another secret is refused", async () => {
    const [one, two] = await openTwo();
    expect(open(single.address, { secret: "another secret" })).rejects.toThrow(StartRefused);
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
  const store = await open(single.address, { clock: () => now });
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
});
