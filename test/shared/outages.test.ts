// Redis away in every way: nobody is refused, no request waits for it longer than half a second, and after the first such wait
// none does until it answers again.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { StartRefused, StoreUnavailable } from "../../src/core/errors.ts";
import { countShards, windowName } from "../../src/shared/names.ts";
import { parseRedisAddress, type RedisAddress } from "../../src/shared/parse-address.ts";
import { RedisLink } from "../../src/shared/redis-link.ts";
import { FaultProxy } from "../fault-proxy.ts";
import { makeCertificate } from "../make-certificate.ts";
import { program, testWith } from "../needs.ts";
import { type SentinelLocks, startSentinelGroup } from "../redis-sentinel.ts";
import { type RedisServer, startRedis, startRedisCluster, stopRedisServers } from "../redis-server.ts";
import { cleanUp, findFreePort, makeFolder } from "../temporary.ts";
import { until } from "../until.ts";
import { closeInstances, FakeDatabase, type Instance, measure, openInstance } from "./instances.ts";

/** No request waits longer than half a second; the rest is for a busy machine, where the checks of deadlines come late. */
const WAIT_MAX_MS = 1_500;
/** For what must not wait at all; who waits for Redis waits for 350 ms. A busy machine delays a few requests, but not most. */
const AT_ONCE_MS = 250;
const BACK_MAX_MS = 5_000;
const TO_BLOCK = 520;

let redis: RedisServer;
let database: FakeDatabase;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  await stopRedisServers();
  await cleanUp();
});
beforeEach(async () => {
  await redis.ask("FLUSHALL");
  database = new FakeDatabase();
});
afterEach(async () => {
  closeInstances();
  // A test that failed in the middle must not fail the others.
  redis.thaw();
  if (!(await redis.ask("PING").catch(() => undefined))) await redis.start();
});

const getAddress = (url: string): RedisAddress => {
  const address = parseRedisAddress(url);
  if (!address) throw new Error(`no address: ${url}`);
  return address;
};

/** An instance with the deadlines of production. */
async function open(address = redis.address): Promise<Instance> {
  const instance = await openInstance(address, { database, isImpatient: true });
  await until("Redis is not up", () => instance.shared.isUp);
  return instance;
}

/** Ten requests, one after another: how long the slowest of them waited, and how long most did at most. */
async function judgeSlowly(instance: Instance, keyId: string): Promise<{ slowestMs: number; medianMs: number }> {
  const times: number[] = [];
  for (let i = 0; i < 10; i++) {
    const [[verdict], ms] = await measure(() => instance.judge(keyId));
    expect(verdict?.outcome).toBe("admitted");
    times.push(ms);
  }
  times.sort((a, b) => a - b);
  return { slowestMs: times.at(-1) ?? 0, medianMs: times[5] ?? 0 };
}

/** The shortest of three times. */
async function measureBest(act: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 3; i++) times.push((await measure(act))[1]);
  return Math.min(...times);
}

/** What holds while Redis is away. */
async function expectAway(instance: Instance, keyId: string): Promise<void> {
  expect((await judgeSlowly(instance, keyId)).slowestMs).toBeLessThan(WAIT_MAX_MS);
  await until("Redis counts as up", () => !instance.shared.isUp, BACK_MAX_MS);
  expect((await judgeSlowly(instance, keyId)).medianMs).toBeLessThan(AT_ONCE_MS);
  const consult = () => instance.shared.relayShare.consult("srv_a", 0);
  const consultMs = await measureBest(async () => void (await expect(consult()).rejects.toThrow(StoreUnavailable)));
  expect(consultMs).toBeLessThan(AT_ONCE_MS);
  expect(await measureBest(async () => void (await instance.shared.announce(1)))).toBeLessThan(AT_ONCE_MS);
}

/** Both count together again. */
async function expectShared(instances: readonly Instance[], keyId: string): Promise<void> {
  for (const instance of instances) await until("Redis is not back", () => instance.shared.isUp, BACK_MAX_MS);
  const verdicts = await Promise.all(instances.map((instance) => instance.judge(keyId, 70)));
  expect(verdicts.flat().filter(({ outcome }) => outcome === "admitted")).toHaveLength(120);
}

test("when Redis freezes, a request that waited for it opens no second window", async () => {
  const instance = await open();
  redis.freeze();
  const first = instance.judge("key_other");
  await Bun.sleep(200);
  const waited = instance.judge("key_a");
  await until("Redis counts as up", () => !instance.shared.isUp, BACK_MAX_MS);
  const verdicts = [await instance.judge("key_a", 120), await waited, await instance.judge("key_a", 120)].flat();
  expect(verdicts.filter(({ outcome }) => outcome === "admitted")).toHaveLength(120);
  await first;
});

type Outage = [what: string, begin: () => unknown, end: () => unknown];
const OUTAGES: Outage[] = [
  ["frozen", () => redis.freeze(), () => redis.thaw()],
  ["killed", () => redis.kill(), () => redis.start()],
  ["full", () => redis.ask("CONFIG", "SET", "maxmemory", "1"), () => redis.ask("CONFIG", "SET", "maxmemory", "0")],
  ["read-only", () => redis.ask("REPLICAOF", "127.0.0.1", "1"), () => redis.ask("REPLICAOF", "NO", "ONE")],
  [
    "without the replicas that it needs",
    () => redis.ask("CONFIG", "SET", "min-replicas-to-write", "1"),
    () => redis.ask("CONFIG", "SET", "min-replicas-to-write", "0"),
  ],
  [
    "not allowing scripts",
    () => redis.ask("ACL", "SETUSER", "default", "-evalsha", "-eval"),
    () => redis.ask("ACL", "SETUSER", "default", "+@all"),
  ],
];

describe.each(OUTAGES)("a Redis that is %s", (_, begin, end) => {
  test("refuses nobody and holds nobody up, and is shared again when it is back", async () => {
    const [one, two] = [await open(), await open()];
    await one.judge("key_a");
    await begin();
    try {
      await Promise.all([expectAway(one, "key_a"), expectAway(two, "key_a")]);
    } finally {
      await end();
    }
    await expectShared([one, two], "key_b");
  });
});

describe("while Redis is away", () => {
  test("each instance gives a key the whole limit, once a minute, also when Redis comes and goes", async () => {
    const [one, two] = [await open(), await open()];
    redis.freeze();
    const admitted = [];
    for (const instance of [one, two]) {
      const verdicts = await instance.judge("key_a", 130);
      admitted.push(verdicts.filter(({ outcome }) => outcome === "admitted").length);
    }
    expect(admitted).toEqual([120, 120]);
    redis.thaw();
    await until("Redis is not back", () => one.shared.isUp, BACK_MAX_MS);
    redis.freeze();
    await one.judge("key_b");
    await until("Redis counts as up", () => !one.shared.isUp);
    expect((await one.judge("key_a"))[0]?.outcome).toBe("limited");
    redis.thaw();
  });

  test("a block of before holds, one that begins is durable, and both hold when it is back and empty", async () => {
    const [one, two] = [await open(), await open()];
    await one.judge("key_a", TO_BLOCK);
    await two.catchUp();
    await redis.kill();
    for (const instance of [one, two]) {
      await until("Redis counts as up", () => !instance.shared.isUp);
      expect((await instance.judge("key_a"))[0]?.outcome).toBe("blocked");
    }
    expect((await one.judge("key_c", TO_BLOCK)).at(-1)?.outcome).toBe("blocked");
    expect(database.blocks.has("key_c")).toBe(true);
    await two.catchUp();
    expect((await two.judge("key_c"))[0]?.outcome).toBe("blocked");
    await redis.start();
    await redis.ask("FLUSHALL");
    for (const instance of [one, two]) {
      await until("Redis is not back", () => instance.shared.isUp, BACK_MAX_MS);
      for (const keyId of ["key_a", "key_c"]) expect((await instance.judge(keyId))[0]?.outcome).toBe("blocked");
    }
  });

  test("a block that is lifted stays lifted when Redis is back", async () => {
    const [one, two] = [await open(), await open()];
    await one.judge("key_a", TO_BLOCK);
    redis.freeze();
    await one.judge("key_b");
    await until("Redis counts as up", () => !one.shared.isUp);
    await one.limits.liftBlock("key_a", Date.now());
    expect((await one.judge("key_a"))[0]?.outcome).toBe("admitted");
    redis.thaw();
    await two.catchUp();
    for (const instance of [one, two]) await until("Redis is not back", () => instance.shared.isUp, BACK_MAX_MS);
    await until("the block is back", async () => (await two.judge("key_a"))[0]?.outcome === "admitted", BACK_MAX_MS);
    expect(database.blocks.size).toBe(0);
  });

  test("an instance starts, counts for itself, and shares when Redis comes", async () => {
    await redis.kill();
    const [[one, two], ms] = await measure(async () => [
      await openInstance(redis.address, { database, isImpatient: true }),
      await openInstance(redis.address, { database, isImpatient: true }),
    ]);
    // A connection is given up after a second.
    expect(ms).toBeLessThan(1_000);
    if (!one || !two) throw new Error("not opened");
    await one.shared.firstTry;
    expect(one.shared.isUp).toBe(false);
    expect((await judgeSlowly(one, "key_a")).medianMs).toBeLessThan(AT_ONCE_MS);
    await redis.start();
    await expectShared([one, two], "key_b");
  });
});

test.each(["frozen", "killed"])(
  "a cluster with a %s node: its keys are counted here, the others are shared, and nobody waits twice",
  async (how) => {
    const cluster = await startRedisCluster();
    for (const node of cluster.nodes) await node.ask("CONFIG", "SET", "cluster-require-full-coverage", "no");
    const instance = await open(cluster.address);
    const keyIds = Array.from({ length: 48 }, (_, i) => `key_${i}`);
    for (const keyId of keyIds) await instance.judge(keyId);
    const [node] = cluster.nodes;
    if (how === "frozen") node?.freeze();
    else await node?.kill();
    const waits: number[] = [];
    for (const keyId of keyIds) {
      const [[verdict], ms] = await measure(() => instance.judge(keyId));
      expect(verdict?.outcome).toBe("admitted");
      waits.push(ms);
    }
    expect(Math.max(...waits)).toBeLessThan(WAIT_MAX_MS);
    // One, and those that a busy machine delays as long. If each waited, it would be 16: the keys of the lost node are a third.
    expect(waits.filter((ms) => ms > AT_ONCE_MS).length).toBeLessThanOrEqual(8);
    const verdicts = await Promise.all(keyIds.map((keyId) => instance.judge(keyId)));
    const counts = verdicts.map(([verdict]) => verdict?.state.count);
    // Those of the other nodes go on, those of the lost one have begun anew.
    expect(counts.filter((count) => count === 3).length).toBeGreaterThan(10);
    expect(counts.filter((count) => count === 2).length).toBeGreaterThan(5);
    if (how === "frozen") node?.thaw();
    else await node?.start();
    await until("the node is not back", () => instance.shared.isUp, BACK_MAX_MS);
  },
);

test("a cluster whose nodes are all frozen: who has waited for one of them waits for no other", async () => {
  const cluster = await startRedisCluster();
  const link = new RedisLink(cluster.address, { debug() {}, info() {}, warn() {}, error() {} });
  const names = Array.from({ length: countShards(true) }, (_, shard) => windowName(shard, "key_a"));
  await until("the cluster is not up", () => link.isUp);
  for (const name of names) await link.send(name, "HGET", name, "count");
  for (const node of cluster.nodes) node.freeze();
  const [first = ""] = names;
  await expect(link.send(first, "HGET", first, "count")).rejects.toThrow(StoreUnavailable);
  expect(names.filter((name) => link.isUpFor(name))).toEqual([]);
  for (const node of cluster.nodes) node.thaw();
  await until("the cluster is not back", () => link.isUp, BACK_MAX_MS);
  link.close();
});

describe("with sentinels", () => {
  async function expectReplaced(how: "killed" | "frozen", locks: SentinelLocks): Promise<void> {
    const group = await startSentinelGroup(locks);
    const address = getAddress(group.url);
    const [one, two] = [await open(address), await open(address)];
    const keyOf = (name: string) => `${name} ${group.url}`;
    await one.judge(keyOf("a"), TO_BLOCK);
    const primary = await group.findPrimary();
    if (how === "frozen") primary.freeze();
    else await primary.kill();
    await Promise.all([expectAway(one, keyOf("b")), expectAway(two, keyOf("b"))]);
    await until("no failover", async () => (await group.findPrimary()) !== primary);
    await expectShared([one, two], keyOf("c"));
    for (const instance of [one, two]) {
      await instance.catchUp();
      expect((await instance.judge(keyOf("a")))[0]?.outcome).toBe("blocked");
    }
    if (how === "frozen") primary.thaw();
  }

  /** The old one becomes a replica by order, and is left for the new one. */
  async function expectLeft(): Promise<void> {
    const group = await startSentinelGroup();
    const instance = await open(getAddress(group.url));
    const primary = await group.findPrimary();
    await instance.judge("key_a");
    await group.failOver();
    await until("no failover", async () => (await group.findPrimary()) !== primary);
    await until("the old one is no replica", async () => {
      // It closes its connections when it becomes one.
      const facts = await primary.ask("INFO", "replication").catch(() => "");
      return String(facts).includes("role:slave");
    });
    const current = await group.findPrimary();
    await until(
      "the old primary is used",
      async () => {
        const [verdict] = await instance.judge("key_b");
        expect(verdict?.outcome).toBe("admitted");
        const keys = (await current.ask("KEYS", "*window:key_b")) as string[];
        return instance.shared.isUp && keys.length === 1;
      },
      BACK_MAX_MS,
    );
  }

  test("a primary that is killed, frozen or made a replica is left for the new one, which all share, also with passwords", async () => {
    // At the same time, because they mostly wait for the sentinels.
    await Promise.all([
      expectReplaced("killed", {}),
      expectReplaced("frozen", { password: "secret", areSentinelsLocked: true }),
      expectReplaced("killed", { password: "secret" }),
      expectLeft(),
    ]);
  });
});

describe("what no retry can solve is told at the start", () => {
  test.each([
    ["a wrong password", () => `redis://:wrong@127.0.0.1:${redis.port}`],
    ["a database that there is not", () => `redis://127.0.0.1:${redis.port}/99`],
  ])("%s", async (_, urlOf) => {
    const instance = await openInstance(getAddress(urlOf()), { database, isImpatient: true });
    await expect(instance.shared.firstTry).rejects.toThrow(StartRefused);
  });
});

test("a Redis without a free connection at the start is away, and shared once one is free", async () => {
  const proxy = await FaultProxy.start(redis.port);
  proxy.set({ kind: "refuse", error: "ERR max number of clients reached" });
  const instance = await openInstance(getAddress(proxy.url), { database, isImpatient: true });
  await instance.shared.firstTry;
  expect((await instance.judge("key_a"))[0]?.outcome).toBe("admitted");
  proxy.set({ kind: "pass" });
  await until("Redis is not shared", () => instance.shared.isUp);
});

describe("over TLS", () => {
  async function startTlsRedis() {
    const folder = makeFolder();
    const { cert, key } = await makeCertificate();
    const [certPath, keyPath] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    writeFileSync(certPath, cert);
    writeFileSync(keyPath, key);
    const tlsPort = findFreePort();
    await startRedis([
      ...["--tls-port", String(tlsPort), "--tls-cert-file", certPath, "--tls-key-file", keyPath],
      ...["--tls-auth-clients", "no", "--tls-ca-cert-file", certPath],
    ]);
    return { url: `rediss://127.0.0.1:${tlsPort}`, certPath };
  }

  testWith(program("openssl"))("an untrusted certificate is refused, and one that is trusted works", async () => {
    const { url, certPath } = await startTlsRedis();
    const instance = await openInstance(getAddress(url), { database, isImpatient: true });
    await expect(instance.shared.firstTry).rejects.toThrow(/certificate/);
    // The runtime reads the authorities that it trusts at its start.
    const script = `
      import { parseRedisAddress } from "./src/shared/parse-address.ts";
      import { RedisLink } from "./src/shared/redis-link.ts";
      const log = { debug() {}, info() {}, warn() {}, error() {} };
      const link = new RedisLink(parseRedisAddress(${JSON.stringify(url)}), log);
      await link.firstTry;
      console.log(link.isUp, await link.send("a", "PING"));
      link.close();`;
    const child = Bun.spawn([process.execPath, "--no-env-file", "-e", script], {
      cwd: join(import.meta.dir, "../.."),
      env: { NODE_EXTRA_CA_CERTS: certPath },
    });
    expect(await new Response(child.stdout).text()).toBe("true PONG\n");
  });
});
