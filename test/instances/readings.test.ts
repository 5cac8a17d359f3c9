// All instances use what one has read: one call per freshness period, also when an instance dies during a call, and one
// budget.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../process/run-gatehouse.ts";
import { type RedisServer, startRedis } from "../redis-server.ts";
import {
  endFleets,
  expectStatus,
  type Fleet,
  type Home,
  type Instance,
  type Key,
  startFleet,
} from "./fleet.ts";

/** A reading is dated when its answer has arrived, and clocks agree within a few milliseconds. */
const SLACK_MS = 30;

function readsOf(fleet: Fleet, { town }: Home) {
  return fleet.simulator.calls().calls.filter(({ kind, server }) => kind === "read" && server === town);
}

/** Reads on all instances in parallel for a while; every answer must be 200. */
async function readSteadily(fleet: Fleet, key: Key, ms: number, everyMs: number): Promise<number> {
  const endAt = performance.now() + ms;
  const counts = fleet.instances.map(async (instance) => {
    let count = 0;
    for (; performance.now() < endAt; count++) {
      expectStatus(await instance.read(key), 200);
      await Bun.sleep(everyMs);
    }
    return count;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

describe("four instances on one Redis", () => {
  const FRESH_MS = 400;
  let fleet: Fleet;
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await startRedis();
    const env = { GATEHOUSE_FRESH_MS: String(FRESH_MS), GATEHOUSE_UPSTREAM_TIMEOUT_MS: "8000" };
    fleet = await startFleet({ stores: redis.url, env });
  });
  afterAll(endFleets);
  afterEach(() => fleet.simulator.clearFaults());

  test("call once per freshness period, however steadily all of them are read", async () => {
    const home = await fleet.addServer();
    const keys = await Promise.all([fleet.addKey(home), fleet.addKey(home), fleet.addKey(home)]);
    const beganAt = Date.now();
    const counts = await Promise.all(keys.map((key) => readSteadily(fleet, key, 3_000, 120)));
    const ms = Date.now() - beganAt;
    const times = readsOf(fleet, home).map(({ at }) => at);
    console.log(`${counts.reduce((sum, count) => sum + count)} reads, ${times.length} calls in ${ms} ms`);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(FRESH_MS - SLACK_MS);
    expect(times.length).toBeLessThanOrEqual(Math.ceil(ms / FRESH_MS) + 1);
    // There are enough calls, so that readings are never old.
    expect(times.length).toBeGreaterThanOrEqual(Math.floor(ms / (2 * FRESH_MS)));
  });

  test("serve no reading that somebody else has written into Redis", async () => {
    const home = await fleet.addServer();
    const key = await fleet.addKey(home);
    expectStatus(await fleet.at(0).read(key), 200);
    const name = `gatehouse:{${home.serverId}}:shared`;
    const shared = JSON.parse(String(await redis.ask("HGET", name, "reading")));
    for (let turn = 0; turn < 20; turn++) {
      const base = shared.parts.base.replace(/"Name":"[^"]*"/, '"Name":"Forged"');
      const forged = { ...shared, fetchedAt: Date.now() + 100, parts: { ...shared.parts, base } };
      await redis.ask("HSET", name, "reading", JSON.stringify(forged));
      await redis.ask("HINCRBY", name, "version", 1);
      for (const { body } of await Promise.all(fleet.instances.map((instance) => instance.read(key))))
        expect(body.Name).not.toBe("Forged");
      await Bun.sleep(FRESH_MS / 5);
    }
  }, 15_000);

  test("answer a thousand first reads of one server with one call", async () => {
    const home = await fleet.addServer();
    const keys = await Promise.all(Array.from({ length: 10 }, () => fleet.addKey(home)));
    fleet.simulator.arm({ kind: "slow", ms: 200, times: 1 });
    const reads = Array.from({ length: 1_000 }, (_, index) => {
      return fleet.at(index % 4).read(keys[index % 10] as Key);
    });
    for (const answer of await Promise.all(reads)) expectStatus(answer, 200);
    const calls = readsOf(fleet, home);
    const [first] = calls;
    expect(calls.filter(({ at }) => at < (first?.at ?? 0) + FRESH_MS).length).toBe(1);
  });

  test("share failures: a server that is offline is called for once per freshness period", async () => {
    const answer = await fleet.at(0).admin("POST", "/servers", { name: "Gone", server_key: "offline-Gone" });
    const home = { serverId: expectStatus(answer, 201).server_id as string, town: "Gone" };
    const key = await fleet.addKey(home);
    const endAt = performance.now() + 1_300;
    while (performance.now() < endAt) {
      const answers = await Promise.all(fleet.instances.map((instance) => instance.read(key)));
      for (const { body, headers } of answers) {
        expect(body).toMatchObject({ code: 5019, upstream_code: 3002 });
        expect(headers.get("retry-after")).toBe("1");
      }
      await Bun.sleep(100);
    }
    const times = readsOf(fleet, home).map(({ at }) => at);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(FRESH_MS - SLACK_MS);
  });

  test("share a bad server key: it is not tried again by anybody until it is set anew", async () => {
    const answer = await fleet.at(0).admin("POST", "/servers", { name: "Bad", server_key: "invalid-Bad" });
    const home = { serverId: expectStatus(answer, 201).server_id as string, town: "Bad" };
    const key = await fleet.addKey(home);
    for (let turn = 0; turn < 12; turn++) {
      const { body } = await fleet.at(turn % 4).read(key);
      expect(body).toMatchObject({ code: 5019, upstream_code: 2002 });
    }
    expect(readsOf(fleet, home).length).toBe(1);
    const change = { server_key: "good-Bad" };
    expectStatus(await fleet.at(1).admin("PATCH", `/servers/${home.serverId}`, change), 200);
    for (const instance of fleet.instances) {
      await until("the new key is not used", async () => (await instance.read(key)).status === 200);
    }
  });

  test("pause together when the game API has refused one of them", async () => {
    const PAUSE_MS = 2_000;
    const homes = await Promise.all([0, 1, 2, 3].map(() => fleet.addServer()));
    const keys = await Promise.all(homes.map((home) => fleet.addKey(home)));
    const readAll = () => Promise.all(keys.map((key, index) => fleet.at(index).read(key)));
    for (const answer of await readAll()) expectStatus(answer, 200);
    fleet.simulator.arm({ kind: "rate-limit", retry_after: PAUSE_MS / 1000, times: 1, target: "reads" });
    await until("nobody was refused", async () => {
      return (await readAll()).some(({ status }) => status === 400);
    });
    const refusedAt = fleet.simulator.calls().calls.findLast(({ status }) => status === 429)?.at ?? 0;
    await until("the pause does not end", async () => {
      const answers = await readAll();
      if (answers.every(({ status }) => status === 200)) return Date.now() > refusedAt + PAUSE_MS;
      for (const { status, headers, body } of answers) {
        if (status === 200) continue;
        expect(body).toMatchObject({ code: 5019, upstream_code: 4001 });
        expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      }
      await Bun.sleep(100);
      return false;
    });
    // Calls that were under way at that moment may still arrive; no call was begun after it.
    const { calls } = fleet.simulator.calls();
    expect(calls.filter(({ at }) => at > refusedAt + 100 && at < refusedAt + PAUSE_MS - 50)).toEqual([]);
  });

  test("go on together when an operator ends the pause on one of them", async () => {
    const home = await fleet.addServer();
    const key = await fleet.addKey(home);
    fleet.simulator.arm({ kind: "rate-limit", retry_after: 3_600, times: 1, target: "reads" });
    expect((await fleet.at(0).read(key)).body).toMatchObject({ upstream_code: 4001 });
    await until("the others do not pause", async () => {
      const shown = await Promise.all(fleet.instances.map((one) => one.admin("GET", "/upstream")));
      return shown.every(({ body }) => body.pause_reason === "named_by_game_api");
    });
    expect((await fleet.at(1).admin("POST", "/upstream/resume")).body).toMatchObject({ paused_until: null });
    await until("the others still pause", async () => {
      const answers = await Promise.all(fleet.instances.map((one) => one.read(key)));
      return answers.every(({ status }) => status === 200);
    });
    const { items } = (await fleet.at(2).admin("GET", "/audit?limit=1")).body;
    expect(items).toMatchObject([{ action: "upstream.resumed", target: "upstream" }]);
  });

  test("while paused, one that may not call answers with what another has just read", async () => {
    const PAUSE_MS = 2_000;
    const [home, other] = [await fleet.addServer(), await fleet.addServer()];
    const [key, otherKey] = [await fleet.addKey(home), await fleet.addKey(other)];
    await until("the new key is not known everywhere", async () => {
      return (
        (await fleet.at(1).read(key)).status !== 401 && (await fleet.at(1).read(otherKey)).status !== 401
      );
    });
    await Bun.sleep(FRESH_MS);
    fleet.simulator.arm({
      kind: "rate-limit",
      retry_after: PAUSE_MS / 1000,
      times: 1,
      target: "reads",
      server: other.town,
    });
    expectStatus(await fleet.at(0).read(key), 200);
    expect((await fleet.at(1).read(otherKey)).body).toMatchObject({ code: 5019, upstream_code: 4001 });
    expectStatus(await fleet.at(1).read(key), 200);
  });

  test("a pause that a read has met on one holds the commands of all, at once", async () => {
    const PAUSE_MS = 2_000;
    const home = await fleet.addServer();
    const key = await fleet.addKey(home);
    await until("the key is not known everywhere", async () => (await fleet.at(1).read(key)).status === 200);
    await Bun.sleep(FRESH_MS);
    fleet.simulator.arm({ kind: "rate-limit", retry_after: PAUSE_MS / 1000, times: 1, target: "reads" });
    await until("nobody was refused", async () => (await fleet.at(0).read(key)).body.upstream_code === 4001);
    const refusedAt = fleet.simulator.calls().calls.findLast(({ status }) => status === 429)?.at ?? 0;
    expectStatus(await fleet.at(1).submit(key, ":h after the pause"), 202);
    const sentAt = () =>
      fleet.simulator.calls().calls.find(({ command }) => command === ":h after the pause")?.at;
    await until("the command is not sent", () => sentAt() !== undefined);
    expect(sentAt()).toBeGreaterThanOrEqual(refusedAt + PAUSE_MS - 50);
  });

  describe("when the one that calls", () => {
    /** Begins a slow call on the instance and returns its later answer. */
    async function askSlowly(home: Home, key: Key, holder: Instance, ms: number) {
      fleet.simulator.arm({ kind: "slow", ms, times: 1, server: home.town, target: "reads" });
      const answer = holder.read(key).catch(() => undefined);
      await until("the game API is not asked", () => readsOf(fleet, home).length === 1);
      return { answer };
    }

    async function expectOthersGoOn(key: Key, others: readonly Instance[]): Promise<void> {
      const answers = await Promise.all(others.map((instance) => instance.read(key)));
      for (const answer of answers) expectStatus(answer, 200);
      const longest = Math.max(...answers.map(({ ms }) => ms));
      console.log(`the others went on after ${Math.round(longest)} ms`);
      expect(longest).toBeLessThan(3_000);
    }

    test("is frozen in the middle, the others go on within 3 s, and its late result does no harm", async () => {
      const home = await fleet.addServer();
      const key = await fleet.addKey(home);
      const holder = fleet.at(1);
      const { answer } = await askSlowly(home, key, holder, 600);
      holder.freeze();
      const others = fleet.instances.filter((instance) => instance !== holder);
      await expectOthersGoOn(key, others);
      holder.thaw();
      expect((await answer)?.status).toBe(200);
      await readSteadily(fleet, key, 1_000, 100);
      const times = readsOf(fleet, home).map(({ at }) => at);
      // Two calls because of the frozen instance, then one per period again.
      const later = times.slice(2);
      const gaps = later.slice(1).map((at, index) => at - (later[index] ?? 0));
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(FRESH_MS - SLACK_MS);
    });

    test("is killed in the middle, the others go on within 3 s", async () => {
      const home = await fleet.addServer();
      const key = await fleet.addKey(home);
      const holder = fleet.at(2);
      await askSlowly(home, key, holder, 7_000);
      await holder.kill();
      await expectOthersGoOn(
        key,
        fleet.instances.filter((instance) => instance !== holder),
      );
      await holder.start();
      expectStatus(await holder.read(key), 200);
    });

    test("is only slow, no other calls", async () => {
      const home = await fleet.addServer();
      const key = await fleet.addKey(home);
      const { answer } = await askSlowly(home, key, fleet.at(3), 2_800);
      const others = [0, 1, 2].map((index) => fleet.at(index).read(key));
      for (const answer of await Promise.all(others)) expectStatus(answer, 200);
      expect((await answer)?.status).toBe(200);
      expect(readsOf(fleet, home).length).toBe(1);
    });
  });
});

test("a global key that one instance has seen refused is used by nobody, also after a restart, until a server key is set", async () => {
  const redis = await startRedis();
  const env = { GATEHOUSE_UPSTREAM_GLOBAL_KEY: "application", GATEHOUSE_FRESH_MS: "1" };
  const fleet = await startFleet({ stores: redis.url, count: 3, env });
  const homes = [await fleet.addServer(), await fleet.addServer()] as const;
  const keys = [await fleet.addKey(homes[0]), await fleet.addKey(homes[1])] as const;
  const countReads = () => fleet.simulator.calls().calls.filter(({ kind }) => kind === "read").length;
  const isRefused = async (instance: Instance) => {
    return (await (await fetch(`${instance.url}/readyz`)).text()).includes("GATEHOUSE_UPSTREAM_GLOBAL_KEY");
  };
  const expectRefused = async (instance: Instance) => {
    for (const key of keys)
      expect((await instance.read(key)).body).toMatchObject({ code: 5019, upstream_code: 2003 });
  };
  fleet.simulator.arm({ kind: "code", code: 2003, times: 1 });
  expect((await fleet.at(0).read(keys[0])).body).toMatchObject({ code: 5019, upstream_code: 2003 });
  for (const instance of fleet.instances) {
    await until("the refusal is not known everywhere", () => isRefused(instance));
    await expectRefused(instance);
  }
  for (const instance of fleet.instances) {
    await instance.kill();
    await instance.start();
    await expectRefused(instance);
  }
  expect(countReads()).toBe(1);

  const another = await startFleet({
    stores: redis.url,
    count: 1,
    env: { ...env, GATEHOUSE_UPSTREAM_URL: fleet.simulator.url, GATEHOUSE_UPSTREAM_GLOBAL_KEY: "another" },
  });
  expectStatus(await another.at(0).read(keys[0]), 200);
  await expectRefused(fleet.at(2));

  const change = { server_key: `fleet-${homes[1].town}` };
  expectStatus(await fleet.at(1).admin("PATCH", `/servers/${homes[1].serverId}`, change), 200);
  for (const instance of fleet.instances) {
    await until("the key is not tried again", async () => !(await isRefused(instance)));
    for (const key of keys) expectStatus(await instance.read(key), 200);
  }
  await endFleets();
});

describe("the budget of the game API", () => {
  const READ_LIMIT = 35;
  let fleet: Fleet;

  beforeAll(async () => {
    const redis = await startRedis();
    const env = { GATEHOUSE_FRESH_MS: "300" };
    fleet = await startFleet({ stores: redis.url, env, simulator: { readLimit: READ_LIMIT } });
  });
  afterAll(endFleets);

  async function addHomes(count: number): Promise<{ home: Home; key: Key }[]> {
    const homes = await Promise.all(Array.from({ length: count }, () => fleet.addServer()));
    return Promise.all(homes.map(async (home) => ({ home, key: await fleet.addKey(home) })));
  }

  test("is one for all: many servers read on four instances at once never meet its limit", async () => {
    const homes = await addHomes(60);
    const beganAt = Date.now();
    const rounds = await Promise.all(
      [0, 1, 2].map(async (round) => {
        await Bun.sleep(round * 1_500);
        return Promise.all(homes.map(({ key }, index) => fleet.at((index + round) % 4).read(key)));
      }),
    );
    const { calls, totals } = fleet.simulator.calls();
    const reads = calls.filter(({ kind }) => kind === "read");
    console.log(`${reads.length} calls in ${Date.now() - beganAt} ms, ${totals.limited} of them refused`);
    expect(totals.limited).toBe(0);
    expect(reads.length).toBeLessThanOrEqual(READ_LIMIT);
    // Almost the whole budget is used.
    expect(reads.length).toBeGreaterThanOrEqual(READ_LIMIT - 5);
    for (const { status, body } of rounds.flat()) {
      if (status !== 200) expect(body).toMatchObject({ code: 5019, upstream_code: 4001 });
    }
  });
});
