// While Redis is away nobody is refused: reads, commands and changes go on, each instance counts by itself and says so, and
// soon after its return all is shared again.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { FaultProxy } from "../fault-proxy.ts";
import { type RedisServer, startRedis } from "../redis-server.ts";
import { until } from "../until.ts";
import { listCommands } from "./command-clients.ts";
import { endFleets, expectStatus, type Fleet, type Key, startBacking, startFleet, timeUntil } from "./fleet.ts";

const INSTANCES = 4;
const LIMIT = 120;
/** What the contract promises. */
const TOLD_WITHIN_MS = 3_000;
const SHARED_WITHIN_MS = 5_000;
/** Half a second for the one wait for Redis, and the rest for a busy machine. */
const ANSWER_WITHIN_MS = 2_000;

let redis: RedisServer;
let proxies: FaultProxy[];
let fleet: Fleet;

beforeAll(async () => {
  const backing = await startBacking();
  redis = backing.redis;
  proxies = await Promise.all(Array.from({ length: INSTANCES }, () => FaultProxy.start(redis.port)));
  fleet = await startFleet({
    ...backing.addresses,
    redis: proxies.map(({ url }) => url),
    count: INSTANCES,
    // Readings stay fresh, so that reads need nothing but their count.
    env: { GATEHOUSE_FRESH_MS: "600000", GATEHOUSE_COMMAND_INTERVAL_MS: "1" },
  });
});
afterAll(endFleets);
afterEach(async () => {
  setProxies({ kind: "pass" });
  await waitUntilShared(60_000);
});

function setProxies(mode: FaultProxy["mode"]): void {
  for (const proxy of proxies) proxy.set(mode);
}

async function saysAway(index: number): Promise<boolean> {
  const { status, notices } = await fleet.at(index).checkReadiness();
  expect(status).toBe(200);
  return notices.includes("redis_away");
}

const all = <T>(run: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(fleet.instances.map((_, index) => run(index)));

/** Returns how long it took. */
async function waitUntilShared(deadlineMs: number): Promise<number> {
  const times = await all((index) =>
    timeUntil(`instance ${index} still says redis_away`, deadlineMs, async () => !(await saysAway(index))),
  );
  return Math.max(...times);
}

/** Every instance counts in one window, on a key that nobody has used. */
async function expectShared(fresh: Key): Promise<void> {
  const left: string[] = [];
  for (const instance of fleet.instances) {
    const answer = await instance.read(fresh);
    expectStatus(answer, 200);
    left.push(answer.headers.get("x-ratelimit-remaining") ?? "");
  }
  expect(left).toEqual(["119", "118", "117", "116"]);
}

/** Reads on all instances in parallel. Returns how many each has admitted. */
function readInTurns(key: Key, count: number): Promise<number[]> {
  return all(async (index) => {
    let admitted = 0;
    for (let turn = 0; turn < count; turn++) {
      const { status, body, ms } = await fleet.at(index).read(key);
      expect(ms).toBeLessThan(ANSWER_WITHIN_MS);
      if (status === 200) admitted++;
      else expect([status, body.code]).toEqual([429, 5016]);
    }
    return admitted;
  });
}

const ways: Record<string, readonly [goAway: () => unknown, comeBack: () => unknown]> = {
  killed: [() => redis.kill(), () => redis.start()],
  frozen: [() => redis.freeze(), () => redis.thaw()],
  "loading its data": [
    () => setProxies({ kind: "refuse", error: "LOADING Redis is loading the dataset in memory" }),
    () => setProxies({ kind: "pass" }),
  ],
  "a replica, that takes no writes": [
    () => redis.ask("REPLICAOF", "127.0.0.1", 1),
    () => redis.ask("REPLICAOF", "NO", "ONE"),
  ],
  "out of memory": [
    () => redis.ask("CONFIG", "SET", "maxmemory", "1"),
    () => redis.ask("CONFIG", "SET", "maxmemory", "0"),
  ],
  "lost behind connections that have died unnoticed": [
    () => setProxies({ kind: "swallow" }),
    () => setProxies({ kind: "pass" }),
  ],
};

describe("while Redis is", () => {
  for (const [title, [goAway, comeBack]] of Object.entries(ways)) {
    test(`${title}: nobody is refused, each instance counts to 120 by itself and says so, and all is shared soon after`, async () => {
      const home = await fleet.addServer();
      const [key, fresh] = [await fleet.addKey(home), await fleet.addKey(home)];
      // The reading is known everywhere, so that no read calls the game API.
      await all(async (index) => expectStatus(await fleet.at(index).read(await fleet.addKey(home)), 200));
      const texts = fleet.instances.map((_, index) => `:h meanwhile ${index}`);
      await goAway();
      try {
        const beganAt = performance.now();
        const [admitted] = await Promise.all([
          readInTurns(key, LIMIT + 5),
          all(async (index) => expectStatus(await fleet.at(index).submit(key, texts[index] ?? ""), 202)),
          all(async (index) => {
            const wish = { server_id: home.serverId, label: `meanwhile ${index}` };
            const made = expectStatus(await fleet.at(index).admin("POST", "/keys", wish), 201);
            expectStatus(await fleet.at(index).read(made), 200);
          }),
          all((index) => until("nothing is said", () => saysAway(index))),
        ]);
        console.log(`Redis ${title}: told after ${Math.round(performance.now() - beganAt)} ms at most`);
        expect(admitted).toEqual([LIMIT, LIMIT, LIMIT, LIMIT]);
        for (const instance of fleet.instances) {
          expect(await instance.readMetric("gatehouse_redis_up")).toBe(0);
          expectStatus(await instance.admin("GET", "/servers"), 200);
        }
        await until("commands are not sent without Redis", async () => {
          return (await listCommands(fleet.at(0), home)).every(({ status }) => status === "sent");
        });
        // Changes go on as well.
        expectStatus(await fleet.at(1).admin("PATCH", `/keys/${fresh.keyId}`, { label: "renamed" }), 200);
      } finally {
        await comeBack();
      }
      const ms = await waitUntilShared(SHARED_WITHIN_MS);
      console.log(`Redis ${title}: shared again after ${Math.round(ms)} ms`);
      await expectShared(fresh);
      for (const instance of fleet.instances) expect(await instance.readMetric("gatehouse_redis_up")).toBe(1);

      const kept = (await listCommands(fleet.at(0), home)).map(({ command }) => command);
      expect(kept.toSorted()).toEqual(texts);
      const path = `/keys?server_id=${home.serverId}&limit=200`;
      const { items } = expectStatus(await fleet.at(0).admin("GET", path), 200);
      const labels = items.map((item: { label: string }) => item.label);
      expect(labels).toEqual(expect.arrayContaining(["renamed", ...texts.map((text) => text.slice(3))]));
    });
  }

  test("frozen, the notice comes within three seconds on an instance that nobody asks", async () => {
    redis.freeze();
    try {
      const times = await all((index) => timeUntil("nothing is said", 10_000, () => saysAway(index)));
      expect(Math.max(...times)).toBeLessThan(TOLD_WITHIN_MS);
    } finally {
      redis.thaw();
    }
  });

  test("frozen, one request waits for it and the others do not", async () => {
    const key = await fleet.addKey(await fleet.addServer());
    expectStatus(await fleet.at(0).read(key), 200);
    redis.freeze();
    try {
      const times: number[] = [];
      for (let turn = 0; turn < 40; turn++) times.push((await fleet.at(0).read(key)).ms);
      // One, and two that a busy machine may delay as long.
      expect(times.filter((ms) => ms > 300).length).toBeLessThanOrEqual(3);
      expect(Math.max(...times)).toBeLessThan(ANSWER_WITHIN_MS);
    } finally {
      redis.thaw();
    }
  });
});

test("when Redis has lost its scripts, callers notice nothing", async () => {
  const [home, left] = [await fleet.addServer(), [] as (string | null)[]];
  const key = await fleet.addKey(home);
  for (const instance of fleet.instances) {
    await redis.ask("SCRIPT", "FLUSH");
    left.push((await instance.read(key)).headers.get("x-ratelimit-remaining"));
  }
  expect(left).toEqual(["119", "118", "117", "116"]);
});

test("every instance tells the same about servers that callers read, also while only one of them is without Redis", async () => {
  const homes = [await fleet.addServer(), await fleet.addServer()] as const;
  const keys = [await fleet.addKey(homes[0]), await fleet.addKey(homes[1])] as const;
  proxies[0]?.set({ kind: "closed" });
  await until("nothing is said", () => saysAway(0));
  expectStatus(await fleet.at(1).read(keys[0]), 200);
  expectStatus(await fleet.at(0).read(keys[1]), 200);
  for (const instance of fleet.instances)
    for (const { serverId } of homes)
      await until("a reading is not told", async () => {
        return expectStatus(await instance.admin("GET", `/servers/${serverId}`), 200).state === "online";
      });
});

test("however long the connection was dead, all is shared five seconds after its return", async () => {
  // At different moments of the reconnection.
  const times = await all(async (index) => {
    const proxy = proxies[index] as FaultProxy;
    proxy.set({ kind: "swallow" });
    await until("nothing is said", () => saysAway(index));
    await Bun.sleep(index * 750);
    proxy.set({ kind: "pass" });
    return timeUntil("Redis is not back", 20_000, async () => !(await saysAway(index)));
  });
  console.log(`back after ${times.map(Math.round).join(", ")} ms`);
  expect(Math.max(...times)).toBeLessThan(SHARED_WITHIN_MS);
});

test("a Redis that comes and goes does not give callers a new window each time", async () => {
  const key = await fleet.addKey(await fleet.addServer());
  const [proxy] = proxies;
  let admitted = 0;
  for (let outage = 0; outage < 3; outage++) {
    proxy?.set({ kind: "closed" });
    for (let turn = 0; turn < LIMIT - 20; turn++) {
      if ((await fleet.at(0).read(key)).status === 200) admitted++;
    }
    proxy?.set({ kind: "pass" });
    await until("Redis is not back", async () => !(await saysAway(0)));
    // One request that Redis judges.
    await fleet.at(0).read(key);
  }
  expect(admitted).toBeLessThanOrEqual(LIMIT);
});

describe("a spam block", () => {
  async function flood(key: Key, index: number): Promise<number> {
    await Promise.all(Array.from({ length: 540 }, () => fleet.at(index).read(key)));
    const { body } = await fleet.at(index).read(key);
    expect(body.code).toBe(5100);
    return body.blocked_until;
  }

  test("holds on every instance while Redis is away, and when it is back empty", async () => {
    const key = await fleet.addKey(await fleet.addServer());
    const blockedUntil = await flood(key, 0);
    const expectBlocked = () =>
      all(async (index) => {
        const { body } = await fleet.at(index).read(key);
        expect(body).toMatchObject({ code: 5100, blocked_until: blockedUntil });
      });
    await expectBlocked();
    setProxies({ kind: "closed" });
    await expectBlocked();
    await redis.ask("FLUSHALL");
    setProxies({ kind: "pass" });
    await waitUntilShared(SHARED_WITHIN_MS);
    await expectBlocked();
  });

  test("that begins while Redis is away counts on every instance within a second, and when it is back", async () => {
    const key = await fleet.addKey(await fleet.addServer());
    setProxies({ kind: "closed" });
    await all((index) => until("nothing is said", () => saysAway(index)));
    const blockedUntil = await flood(key, 0);
    const isBlocked = async (index: number) => {
      const { body } = await fleet.at(index).read(key);
      return body.blocked_until === blockedUntil;
    };
    const times = await all((index) => timeUntil("it is not blocked", 4_000, () => isBlocked(index)));
    expect(Math.max(...times)).toBeLessThan(1_000);
    setProxies({ kind: "pass" });
    await waitUntilShared(SHARED_WITHIN_MS);
    expect(await all(isBlocked)).toEqual([true, true, true, true]);
  });

  test("that is lifted while Redis is away is over on every instance within a second, and when it is back", async () => {
    const key = await fleet.addKey(await fleet.addServer());
    await flood(key, 1);
    setProxies({ kind: "closed" });
    expectStatus(await fleet.at(2).admin("DELETE", `/blocks/${key.keyId}`), 204);
    const isFree = async (index: number) => (await fleet.at(index).read(key)).status === 200;
    const times = await all((index) => timeUntil("it is still blocked", 4_000, () => isFree(index)));
    expect(Math.max(...times)).toBeLessThan(1_000);
    setProxies({ kind: "pass" });
    await waitUntilShared(SHARED_WITHIN_MS);
    expect(await all(isFree)).toEqual([true, true, true, true]);
  });
});

test("after a failover behind one address, the old primary is left for the new one", async () => {
  const newer = await startRedis(["--appendonly", "no"]);
  await newer.ask("REPLICAOF", "127.0.0.1", redis.port);
  await until("the replica is not connected", async () => {
    return String(await newer.ask("INFO", "replication")).includes("master_link_status:up");
  });
  await newer.ask("REPLICAOF", "NO", "ONE");
  for (const proxy of proxies) proxy.targetPort = newer.port;
  // It keeps running with its connections open, but refuses writes.
  await redis.ask("REPLICAOF", "127.0.0.1", newer.port);
  const fresh = await fleet.addKey(await fleet.addServer());
  const ms = await timeUntil("not all use the new primary", 20_000, async () => {
    // The question itself is one connection.
    const clients = /connected_clients:(\d+)/.exec(String(await newer.ask("INFO", "clients")))?.[1];
    return Number(clients) > INSTANCES && (await all(saysAway)).every((isAway) => !isAway);
  });
  expect(ms).toBeLessThan(SHARED_WITHIN_MS);
  await expectShared(fresh);
  redis = newer;
});
