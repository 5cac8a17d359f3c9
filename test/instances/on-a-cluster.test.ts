// Two instances whose Redis is a cluster of three primaries: the same promises, and nobody is refused while a node is away.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startPostgres } from "../postgres-server.ts";
import { type RedisCluster, type RedisServer, startRedisCluster } from "../redis-server.ts";
import { until } from "../until.ts";
import { askAllAtOnce, writeRead } from "./crowd.ts";
import { endFleets, expectStatus, type Fleet, type Key, startFleet } from "./fleet.ts";

/** Enough that every node has windows of some. */
const KEYS = 12;
/** Half a second for the one wait for Redis, and the rest for a busy machine. */
const ANSWER_WITHIN_MS = 2_000;
/** Longer than the other nodes need to notice that one is away. */
const AWAY_MS = 3_000;
/** What the contract promises, once the cluster itself is well. */
const SHARED_WITHIN_MS = 5_000;

let cluster: RedisCluster;
let fleet: Fleet;

beforeAll(async () => {
  const [postgres, started] = await Promise.all([startPostgres(), startRedisCluster()]);
  cluster = started;
  fleet = await startFleet({
    stores: await postgres.createDatabase(),
    redis: cluster.url,
    count: 2,
    env: { GATEHOUSE_COMMAND_INTERVAL_MS: "50" },
  });
});
afterAll(endFleets);

async function addKeys(): Promise<Key[]> {
  const home = await fleet.addServer();
  const keys: Key[] = [];
  while (keys.length < KEYS) keys.push(await fleet.addKey(home));
  return keys;
}

/** On keys that were never used. */
async function expectShared(keys: readonly Key[]): Promise<void> {
  for (const key of keys) {
    const left: (string | null)[] = [];
    for (const instance of fleet.instances) {
      const { headers } = await instance.read(key);
      left.push(headers.get("x-ratelimit-remaining"));
    }
    expect(left).toEqual(["119", "118"]);
  }
}

async function waitUntilWell(): Promise<void> {
  await until("the cluster does not come together again", async () => {
    const asking = cluster.nodes.map((node) => node.ask("CLUSTER", "INFO").catch(() => ""));
    return (await Promise.all(asking)).every((state) => String(state).includes("cluster_state:ok"));
  });
  for (const instance of fleet.instances) {
    const isShared = async () => !(await instance.checkReadiness()).notices.includes("redis_away");
    await until("Redis is not shared again", isShared, SHARED_WITHIN_MS);
  }
}

test("limits, blocks, changes, readings and commands are the same on both instances, whatever node has them", async () => {
  const keys = await addKeys();
  await expectShared(keys);
  const names = await Promise.all(fleet.instances.map(async (one) => (await one.read(keys[0] as Key)).body.Name));
  expect(new Set(names).size).toBe(1);
  for (const key of keys.slice(0, 3)) {
    const ports = fleet.instances.map(({ port }) => port);
    const answers = await askAllAtOnce(ports, Array<string>(520).fill(writeRead(key.token)));
    const used = key === keys[0] ? 4 : 2;
    expect(answers.filter(({ status }) => status === 200).length).toBe(120 - used);
    for (const instance of fleet.instances) expect((await instance.read(key)).body.code).toBe(5100);
    expectStatus(await fleet.at(0).admin("DELETE", `/blocks/${key.keyId}`), 204);
    for (const instance of fleet.instances) expectStatus(await instance.read(key), 200);
    expectStatus(await fleet.at(1).submit(key, ":h hello"), 202);
    expectStatus(await fleet.at(1).admin("DELETE", `/keys/${key.keyId}`), 204);
    for (const instance of fleet.instances) expect((await instance.read(key)).body.code).toBe(5008);
  }
  const sizes = await Promise.all(cluster.nodes.map((node) => node.ask("DBSIZE")));
  for (const size of sizes) expect(Number(size)).toBeGreaterThan(0);
});

describe("while one node is away nobody is refused, and all is shared soon after its return:", () => {
  async function expectGoodService(goAway: () => unknown, comeBack: () => unknown): Promise<void> {
    const [keys, fresh] = [await addKeys(), await addKeys()];
    await goAway();
    try {
      const endAt = performance.now() + AWAY_MS;
      await Promise.all(
        keys.map(async (key, index) => {
          const instance = fleet.at(index % 2);
          for (let turn = 0; performance.now() < endAt; turn++) {
            const answer = await instance.read(key);
            expectStatus(answer, 200);
            expect(answer.ms).toBeLessThan(ANSWER_WITHIN_MS);
            if (turn % 10 === 0) expectStatus(await instance.submit(key, `:h ${index} ${turn}`), 202);
            await Bun.sleep(60);
          }
        }),
      );
    } finally {
      await comeBack();
    }
    await waitUntilWell();
    await expectShared(fresh);
  }

  test.each([0, 1, 2])(
    "node %d is frozen",
    async (index) => {
      const node = cluster.nodes[index] as RedisServer;
      await expectGoodService(
        () => node.freeze(),
        () => node.thaw(),
      );
    },
    60_000,
  );

  test("a node is killed and started again", async () => {
    const node = cluster.nodes[1] as RedisServer;
    await expectGoodService(
      () => node.kill(),
      () => node.start(),
    );
  });

  test("every node is emptied", async () => {
    const fresh = await addKeys();
    await cluster.flush();
    await expectShared(fresh);
  });
});
