// The limits of several instances: Redis counts like the rule in core, on one server and on a cluster, and blocks are those of
// the database, whatever happens to Redis.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { FRESH_LIMIT, judgeRequest } from "../../src/core/keys/rate-limit.ts";
import { countShards, directoryName, shardOf, windowName } from "../../src/shared/names.ts";
import type { RedisAddress } from "../../src/shared/parse-address.ts";
import {
  type RedisCluster,
  type RedisServer,
  startRedis,
  startRedisCluster,
  stopRedisServers,
} from "../redis-server.ts";
import { until } from "../until.ts";
import { closeInstances, FakeDatabase, type Instance, NOW, openInstance } from "./instances.ts";

const TO_BLOCK = 520;

let single: RedisServer;
let cluster: RedisCluster;
let database: FakeDatabase;
beforeAll(async () => {
  [single, cluster] = await Promise.all([startRedis(), startRedisCluster()]);
});
afterAll(stopRedisServers);
beforeEach(async () => {
  await Promise.all([single.ask("FLUSHALL"), cluster.flush()]);
  database = new FakeDatabase();
});
afterEach(closeInstances);

const open = (options = {}) => openInstance(single.address, { database, ...options });

async function openTwo(): Promise<[Instance, Instance]> {
  return [await open(), await open()];
}

const outcomesOf = async (instance: Instance, keyId: string, times: number) =>
  (await instance.judge(keyId, times)).map(({ outcome }) => outcome);

describe.each([
  ["one Redis", () => single.address, 60],
  ["a cluster", () => cluster.address, 20],
] as [string, () => RedisAddress, number][])("on %s", (_, getAddress, numRuns) => {
  test("the script and the rule in core agree, request by request", async () => {
    let now = NOW;
    const instance = await openInstance(getAddress(), { database, limitClock: () => now });
    let keys = 0;
    const step = fc.record({
      ms: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: -120_000, max: 400_000 })),
      times: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 100, max: 450 })),
      isCounted: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const key = { keyId: `key_${++keys}`, serverId: "srv_a", label: "a" };
        let state = FRESH_LIMIT;
        now = NOW;
        for (const { ms, times, isCounted } of steps) {
          now += ms;
          const asked = Array.from({ length: times }, () => instance.limits.judge(key, now, isCounted));
          for (const verdict of await Promise.all(asked)) {
            const expected = judgeRequest(state, now, isCounted);
            expect(verdict).toEqual(expected);
            state = expected.state;
            if (verdict.blockChanged) expect(database.blocks.get(key.keyId)).toBeGreaterThanOrEqual(state.blockedUntil);
          }
          // As tidying does: a block that has ended is no block when the clock is set back.
          if (state.blockedUntil <= now) database.blocks.delete(key.keyId);
          await instance.catchUp();
        }
      }),
      { numRuns },
    );
  });

  test("parallel requests over instances get every count once, with one end of the window", async () => {
    const instances = [await openInstance(getAddress(), { database }), await openInstance(getAddress(), { database })];
    const keyIds = Array.from({ length: 40 }, (_, i) => `key_${i}`);
    for (const keyId of keyIds) {
      const verdicts = (await Promise.all(instances.map((one) => one.judge(keyId, 70)))).flat();
      const counts = verdicts.map(({ state }) => state.count).sort((a, b) => a - b);
      expect(counts).toEqual(Array.from({ length: 140 }, (_, i) => i + 1));
      expect(new Set(verdicts.map(({ state }) => state.resetAt)).size).toBe(1);
      expect(verdicts.filter(({ outcome }) => outcome === "admitted")).toHaveLength(120);
    }
  });

  test("a change that one instance announces is known to the other with its next request, of any key", async () => {
    const [one, two] = [await openInstance(getAddress(), { database }), await openInstance(getAddress(), { database })];
    for (let i = 0; i < 40; i++) {
      database.version++;
      await one.catchUp();
      await one.shared.announce(database.version);
      await two.judge(`key_${i}`);
      expect(two.version).toBe(database.version);
    }
    const { catchUps } = database;
    await two.judge("key_1", 500);
    expect(database.catchUps).toBe(catchUps);
  });
});

test("the windows of a cluster are on all of its nodes, in few hash tags", () => {
  const shards = Array.from({ length: 1_000 }, (_, i) => shardOf(`key_${i}`, countShards(true)));
  expect(new Set(shards).size).toBe(16);
  expect(countShards(false)).toBe(1);
});

describe("a block", () => {
  test("is in the database before its verdict, and holds on every instance", async () => {
    const [one, two] = await openTwo();
    const verdicts = await one.judge("key_a", TO_BLOCK);
    expect(verdicts.at(-1)?.outcome).toBe("blocked");
    expect(verdicts.filter(({ outcome }) => outcome === "blocked")).toHaveLength(1);
    expect(database.blocks.get("key_a")).toBe(verdicts.at(-1)?.state.blockedUntil);
    expect(await outcomesOf(two, "key_a", 1)).toEqual(["blocked"]);
    const now = Date.now();
    expect(await two.limits.findBlocked(["key_a", "key_b"], now)).toEqual(new Set(["key_a"]));
    expect(await two.limits.listBlocks(now)).toEqual([
      { keyId: "key_a", blockedUntil: verdicts.at(-1)?.state.blockedUntil ?? 0 },
    ]);
  });

  test.each([
    ["emptied", () => single.ask("FLUSHALL")],
    ["of yesterday", () => single.ask("HSET", windowName(0, "key_a"), "count", 3, "blocked_until", 0)],
    ["full of nonsense", () => single.ask("SET", windowName(0, "key_a"), "nonsense")],
  ])("goes on when Redis is %s, and is extended as before", async (_, spoil) => {
    const [one, two] = await openTwo();
    await one.judge("key_a", TO_BLOCK);
    const until = database.blocks.get("key_a") ?? 0;
    await two.judge("key_b");
    await single.ask("DEL", windowName(0, "key_a"));
    await spoil();
    const verdicts = await two.judge("key_a", 121);
    expect(new Set(verdicts.map(({ outcome }) => outcome))).toEqual(new Set(["blocked"]));
    expect(verdicts[0]?.state.blockedUntil).toBe(until);
    expect(database.blocks.get("key_a")).toBe(until + 60_000);
  });

  test("that was brought back after Redis was emptied is not ended by an instance that does not know it yet", async () => {
    const [one, two] = await openTwo();
    await one.judge("key_a", TO_BLOCK);
    await single.ask("FLUSHALL");
    expect(await outcomesOf(one, "key_a", 1)).toEqual(["blocked"]);
    expect(two.blocks.find("key_a")).toBe(0);
    expect(await outcomesOf(two, "key_a", 1)).toEqual(["blocked"]);
  });

  test("is saved by the next request when the verdict that began it was lost", async () => {
    const instance = await open();
    await instance.judge("key_a", TO_BLOCK - 1);
    const lost = await open({ database: new FakeDatabase() });
    await lost.judge("key_a");
    expect(database.blocks.size).toBe(0);
    expect(await outcomesOf(instance, "key_a", 1)).toEqual(["blocked"]);
    expect(database.blocks.has("key_a")).toBe(true);
  });

  test("that becomes known while a request waits for Redis does not take its count from it", async () => {
    const instance = await open();
    single.freeze();
    const judged = instance.judge("key_a");
    // Its question is on its way by then.
    await Bun.sleep(10);
    database.blocks.set("key_a", Date.now() + 300_000);
    await instance.catchUp();
    single.thaw();
    expect(await judged).toMatchObject([{ outcome: "admitted", state: { count: 1 } }]);
    expect(await outcomesOf(instance, "key_a", 1)).toEqual(["blocked"]);
  });

  test("counts a request once, also when it is judged again because the instance learned of a change", async () => {
    const [, two] = await openTwo();
    const lost = await open({ database: new FakeDatabase() });
    await lost.judge("key_a", TO_BLOCK);
    database.version++;
    expect(new Set(await outcomesOf(two, "key_a", 70))).toEqual(new Set(["blocked"]));
    expect(await two.judge("key_a")).toMatchObject([{ outcome: "blocked", blockChanged: false, state: { count: 71 } }]);
  });

  test("holds while it cannot be saved, and is saved when the database is back", async () => {
    const instance = await open();
    database.isAway = true;
    await instance.judge("key_a", TO_BLOCK);
    expect(await outcomesOf(instance, "key_a", 1)).toEqual(["blocked"]);
    await single.ask("FLUSHALL");
    expect(await outcomesOf(instance, "key_a", 1)).toEqual(["blocked"]);
    expect(await instance.limits.listBlocks(Date.now())).toMatchObject([{ keyId: "key_a" }]);
    expect(database.blocks.size).toBe(0);
    database.isAway = false;
    await until("the block is not saved", () => database.blocks.has("key_a"));
    expect(await instance.limits.listBlocks(Date.now())).toHaveLength(1);
  });

  test("that cannot be saved holds on every instance after Redis was emptied", async () => {
    const [one, two] = await openTwo();
    database.isAway = true;
    await one.judge("key_a", TO_BLOCK);
    await single.ask("FLUSHALL");
    for (let i = 0; i < 3; i++) {
      for (const instance of [one, two]) expect(await outcomesOf(instance, "key_a", 1)).toEqual(["blocked"]);
    }
    expect(database.blocks.size).toBe(0);
  });
});

describe("a lifted block", () => {
  test("is over with the next request on every instance, with a fresh window", async () => {
    const [one, two] = await openTwo();
    await one.judge("key_a", TO_BLOCK);
    await two.judge("key_a");
    await one.limits.liftBlock("key_a", Date.now());
    expect(await two.judge("key_a")).toMatchObject([{ outcome: "admitted", state: { count: 1 } }]);
    expect(await one.judge("key_a")).toMatchObject([{ outcome: "admitted", state: { count: 2 } }]);
    expect(database.blocks.size).toBe(0);
    await one.judge("key_b", TO_BLOCK);
    await two.limits.liftBlock("key_b", Date.now());
    expect(await one.limits.listBlocks(Date.now())).toEqual([]);
  });

  test("is over on an instance that missed the notice when it looks into the database, though requests go on", async () => {
    const [one, two] = await openTwo();
    await one.judge("key_a", TO_BLOCK);
    await two.judge("key_a");
    await one.limits.liftBlock("key_a", Date.now());
    await single.ask("HSET", directoryName(0), "version", two.version);
    expect(two.blocks.find("key_a")).toBeGreaterThan(0);
    expect(await outcomesOf(two, "key_a", 3)).toEqual(["blocked", "blocked", "blocked"]);
    await two.catchUp();
    expect(await outcomesOf(two, "key_a", 1)).toEqual(["admitted"]);
    expect(database.blocks.size).toBe(0);
  });

  test("is not what somebody writes into Redis", async () => {
    const [one] = await openTwo();
    await one.judge("key_a", TO_BLOCK);
    const name = windowName(shardOf("key_a", 1), "key_a");
    await single.ask("DEL", name);
    await single.ask("HSET", name, "lifted_at", Date.now());
    expect(await outcomesOf(one, "key_a", 2)).toEqual(["blocked", "blocked"]);
  });

  test("does not come back while requests are made all the time", async () => {
    const [one, two] = await openTwo();
    await one.judge("key_a", TO_BLOCK);
    let isOver = false;
    const crowd = [one, two].map(async (instance) => {
      while (!isOver) await instance.judge("key_a");
    });
    await one.limits.liftBlock("key_a", Date.now());
    expect(await outcomesOf(two, "key_a", 1)).toEqual(["admitted"]);
    isOver = true;
    await Promise.all(crowd);
    expect(database.blocks.size).toBe(0);
  });

  test.each([
    ["restored from before", false],
    ["restored from before, and the next to use it announces a change", true],
  ])("stays over when Redis is %s, and a block that was not lifted holds", async (_, announces) => {
    const [one, two] = await openTwo();
    for (const keyId of ["key_a", "key_b"]) await one.judge(keyId, TO_BLOCK);
    const names = [directoryName(0), windowName(0, "key_a"), windowName(0, "key_b")];
    const dumps = await Promise.all(names.map((name) => single.ask("HGETALL", name) as Promise<string[]>));
    await one.limits.liftBlock("key_a", Date.now());
    await two.catchUp();
    await single.ask("FLUSHALL");
    for (const [index, name] of names.entries()) await single.ask("HSET", name, ...(dumps[index] ?? []));
    if (announces) await one.blocks.save("key_c", Date.now() + 60_000);
    for (const instance of [one, two]) {
      expect(await outcomesOf(instance, "key_a", 1)).toEqual(["admitted"]);
      expect(await outcomesOf(instance, "key_b", 1)).toEqual(["blocked"]);
    }
    expect(database.blocks.has("key_a")).toBe(false);
  });

  test("stays over when Redis missed that it was lifted, on an instance that knows neither block nor lift", async () => {
    const [one, two] = await openTwo();
    await one.judge("key_a", TO_BLOCK);
    const names = [directoryName(0), windowName(0, "key_a")];
    const dumps = await Promise.all(names.map((name) => single.ask("HGETALL", name) as Promise<string[]>));
    await one.limits.liftBlock("key_a", Date.now());
    await single.ask("FLUSHALL");
    for (const [index, name] of names.entries()) await single.ask("HSET", name, ...(dumps[index] ?? []));
    expect(await two.judge("key_a")).toMatchObject([{ outcome: "admitted", state: { count: 1 } }]);
    expect(await one.judge("key_a")).toMatchObject([{ outcome: "admitted", state: { count: 2 } }]);
    expect(database.blocks.size).toBe(0);
  });

  test("that could not be lifted in the database holds", async () => {
    const instance = await open();
    await instance.judge("key_a", TO_BLOCK);
    database.isAway = true;
    await expect(instance.limits.liftBlock("key_a", Date.now())).rejects.toThrow(StoreUnavailable);
    expect(await outcomesOf(instance, "key_a", 1)).toEqual(["blocked"]);
  });

  test("of a key without one changes nothing", async () => {
    const instance = await open();
    await instance.judge("key_a", 5);
    const { version } = database;
    await instance.limits.liftBlock("key_a", Date.now());
    expect(await instance.judge("key_a")).toMatchObject([{ state: { count: 6 } }]);
    expect(database.version).toBe(version);
  });
});

describe("a version in Redis", () => {
  test.each([["9007199254740991"], ["1e300"], ["77"]])("that nobody has made is overwritten: %s", async (wrong) => {
    const instance = await open();
    await single.ask("HSET", directoryName(0), "version", wrong);
    await instance.judge("key_a", 300);
    await until("it is still there", async () => (await single.ask("HGET", directoryName(0), "version")) === "1");
    const { catchUps } = database;
    expect(catchUps).toBeLessThanOrEqual(3);
    await instance.judge("key_a");
    expect(database.catchUps).toBe(catchUps);
    database.version++;
    await instance.shared.announce(2);
    expect(await single.ask("HGET", directoryName(0), "version")).toBe("2");
  });

  test.each(["nonsense", "nan", "-5", "inf"])("that is no version counts as none: %s", async (wrong) => {
    const instance = await open();
    await single.ask("HSET", directoryName(0), "version", wrong);
    expect(await outcomesOf(instance, "key_a", 1)).toEqual(["admitted"]);
    await instance.shared.announce(5);
    expect(await single.ask("HGET", directoryName(0), "version")).toBe("5");
  });

  test("makes requests wait once for a database that is away, and not again", async () => {
    const instance = await open({
      onVersion: () => Promise.withResolvers<void>().promise,
    });
    await single.ask("HSET", directoryName(0), "version", 2);
    expect(await outcomesOf(instance, "key_a", 1)).toEqual(["admitted"]);
    const startedAt = performance.now();
    for (let i = 0; i < 20; i++) await instance.judge("key_a");
    // Each would wait for half a second.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(await single.ask("HGET", directoryName(0), "version")).toBe("2");
  });
});
