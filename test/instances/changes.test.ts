// A change on one instance holds on all within a second. An instance that lost its connection misses no change.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../process/run-gatehouse.ts";
import { type RedisServer, startRedis } from "../redis-server.ts";
import { FaultProxy } from "./fault-proxy.ts";
import {
  type Answer,
  endFleets,
  expectStatus,
  type Fleet,
  type Home,
  type Instance,
  type Key,
  startFleet,
  timeUntil,
} from "./fleet.ts";

const EVERYWHERE_WITHIN_MS = 1_000;
const BACK_WITHIN_MS = 2_000;
/** Polls are counted reads: more frequent ones would reach the limit. */
const POLL_EVERY_MS = 60;

let redis: RedisServer;
let proxy: FaultProxy;
let fleet: Fleet;
let home: Home;

beforeAll(async () => {
  redis = await startRedis();
  proxy = await FaultProxy.start(redis.port);
  // The last instance connects through a proxy that can fail. Readings stay fresh, so that every answer is a cached one.
  const stores = [redis.url, redis.url, redis.url, proxy.url];
  fleet = await startFleet({ stores, env: { GATEHOUSE_FRESH_MS: "600000" } });
  home = await fleet.addServer();
});
afterAll(endFleets);

/** A key for which every instance has just answered from its cache. */
async function addCachedKey(on = home): Promise<Key> {
  const key = await fleet.addKey(on);
  for (const instance of fleet.instances) {
    // The first read on an instance takes over the shared snapshot, the second is a cache hit.
    expectStatus(await instance.read(key), 200);
    const again = await instance.read(key);
    expect([again.status, again.headers.get("x-cache")]).toEqual([200, "hit"]);
  }
  return key;
}

function isRefused({ status, body }: Answer, code: number): boolean {
  return status !== 200 && body.code === code;
}

async function waitForRefusal(instances: readonly Instance[], key: Key, code: number, ms: number) {
  const times = await Promise.all(
    instances.map((instance) =>
      timeUntil(`${instance.url} still does not answer ${code}`, ms, async () => {
        const answer = await instance.read(key);
        if (isRefused(answer, code)) return true;
        await Bun.sleep(POLL_EVERY_MS);
        return false;
      }),
    ),
  );
  return Math.max(...times);
}

describe("a change on one instance holds on all within a second, also while the answer is cached:", () => {
  const changes: [string, number, (by: Instance, key: Key) => Promise<Answer>][] = [
    ["a key is revoked", 5008, (by, { keyId }) => by.admin("DELETE", `/keys/${keyId}`)],
    ["a key is suspended", 5009, (by, { keyId }) => by.admin("PATCH", `/keys/${keyId}`, { suspended: true })],
    [
      "a key loses its version",
      5010,
      (by, { keyId }) => by.admin("PATCH", `/keys/${keyId}`, { versions: [] }),
    ],
    [
      "a key is bound to another address",
      5009,
      (by, { keyId }) => by.admin("PATCH", `/keys/${keyId}`, { ip_allow: ["192.0.2.1"] }),
    ],
    [
      "a key is rotated without grace",
      5008,
      (by, { keyId }) => by.admin("POST", `/keys/${keyId}/rotate`, {}),
    ],
    [
      "a key has expired",
      5008,
      (by, { keyId }) => by.admin("PATCH", `/keys/${keyId}`, { expires_at: Date.now() + 200 }),
    ],
  ];
  for (const [index, [title, code, change]] of changes.entries()) {
    test(title, async () => {
      const key = await addCachedKey();
      const by = fleet.at(index % 4);
      const answer = await change(by, key);
      expect(answer.status).toBeLessThan(300);
      const ms = await waitForRefusal(fleet.instances, key, code, EVERYWHERE_WITHIN_MS + 200);
      expect(ms).toBeLessThan(EVERYWHERE_WITHIN_MS + (title.includes("expired") ? 200 : 0));
      if (answer.body?.token === undefined) return;
      for (const instance of fleet.instances) expectStatus(await instance.read(answer.body), 200);
    });
  }

  test("a server is deleted, with its keys", async () => {
    const doomed = await fleet.addServer();
    const key = await addCachedKey(doomed);
    expectStatus(await fleet.at(1).admin("DELETE", `/servers/${doomed.serverId}`), 200);
    await waitForRefusal(fleet.instances, key, 5008, EVERYWHERE_WITHIN_MS);
  });

  test("a server gets another key: what was read with the old one is not shown any more", async () => {
    const moved = await fleet.addServer();
    const key = await addCachedKey(moved);
    const before = expectStatus(await fleet.at(0).read(key), 200).Name;
    const change = { server_key: `fleet-Moved${moved.town}` };
    expectStatus(await fleet.at(2).admin("PATCH", `/servers/${moved.serverId}`, change), 200);
    await Promise.all(
      fleet.instances.map((instance) =>
        timeUntil("the old town is still shown", EVERYWHERE_WITHIN_MS, async () => {
          const answer = await instance.read(key);
          if (answer.body.Name !== before) return true;
          await Bun.sleep(POLL_EVERY_MS);
          return false;
        }),
      ),
    );
  });

  test("rights are given back: a suspended key works again", async () => {
    const key = await addCachedKey();
    expectStatus(await fleet.at(0).admin("PATCH", `/keys/${key.keyId}`, { suspended: true }), 200);
    await waitForRefusal(fleet.instances, key, 5009, EVERYWHERE_WITHIN_MS);
    expectStatus(await fleet.at(3).admin("PATCH", `/keys/${key.keyId}`, { suspended: false }), 200);
    for (const instance of fleet.instances) {
      await timeUntil("the key is still suspended", EVERYWHERE_WITHIN_MS, async () => {
        return (await instance.read(key)).status === 200;
      });
    }
  });
});

describe("an instance that lost its connection misses nothing:", () => {
  async function revokeWhile(isAway: () => unknown, comeBack: () => unknown): Promise<number> {
    const [revoked, suspended] = [await addCachedKey(), await addCachedKey()];
    const doomed = await fleet.addServer();
    const orphan = await addCachedKey(doomed);
    await isAway();
    expectStatus(await fleet.at(0).admin("DELETE", `/keys/${revoked.keyId}`), 204);
    expectStatus(await fleet.at(1).admin("PATCH", `/keys/${suspended.keyId}`, { suspended: true }), 200);
    expectStatus(await fleet.at(2).admin("DELETE", `/servers/${doomed.serverId}`), 200);
    await comeBack();
    const last = [fleet.at(3)];
    const times = await Promise.all([
      waitForRefusal(last, revoked, 5008, BACK_WITHIN_MS),
      waitForRefusal(last, suspended, 5009, BACK_WITHIN_MS),
      waitForRefusal(last, orphan, 5008, BACK_WITHIN_MS),
    ]);
    return Math.max(...times);
  }

  test("all connections are killed by Redis", async () => {
    const kill = () => redis.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    const key = await addCachedKey();
    await kill();
    // Instances that were cut off answer 503 for a moment, so the change is retried.
    await timeUntil("the key could not be revoked", BACK_WITHIN_MS, async () => {
      return (await fleet.at(0).admin("DELETE", `/keys/${key.keyId}`)).status === 204;
    });
    await kill();
    await waitForRefusal(fleet.instances, key, 5008, BACK_WITHIN_MS);
  });

  test("the connection was cut and could not be opened again", async () => {
    const reader = await addCachedKey();
    await revokeWhile(
      async () => {
        proxy.set({ kind: "closed" });
        // Without Redis it answers from its cache.
        expectStatus(await fleet.at(3).read(reader), 200);
      },
      () => proxy.set({ kind: "pass" }),
    );
  });

  test("the connection was silent for a while, and its data arrives late", async () => {
    await revokeWhile(
      () => proxy.set({ kind: "hold" }),
      () => proxy.set({ kind: "pass" }),
    );
  });

  test("the connection went dead without an error, and only a new one works", async () => {
    const reader = await addCachedKey();
    await revokeWhile(
      async () => {
        proxy.set({ kind: "swallow" });
        expectStatus(await fleet.at(3).read(reader), 200);
      },
      () => proxy.set({ kind: "pass" }),
    );
  });
});

test("an instance that comes back to a Redis that has lost its last change, as after a failover, misses no revocation", async () => {
  const older = await startRedis();
  const line = await FaultProxy.start(older.port);
  const pair = await startFleet({ stores: [older.url, line.url], count: 2 });
  const [first, second] = [pair.at(0), pair.at(1)];
  const place = await pair.addServer();
  const [doomed, other] = [await pair.addKey(place), await pair.addKey(place)];
  expectStatus(await second.read(doomed), 200);

  const copy = makeFolder();
  cpSync(join(older.folder, "appendonlydir"), copy, { recursive: true });
  expectStatus(await first.admin("PATCH", `/keys/${other.keyId}`, { suspended: true }), 200);
  await waitForRefusal([second], other, 5009, EVERYWHERE_WITHIN_MS);

  line.set({ kind: "closed" });
  await older.kill();
  rmSync(join(older.folder, "appendonlydir"), { recursive: true });
  cpSync(copy, join(older.folder, "appendonlydir"), { recursive: true });
  await older.start();
  await timeUntil("the key could not be revoked", 5_000, async () => {
    return (await first.admin("DELETE", `/keys/${doomed.keyId}`)).status === 204;
  });
  line.set({ kind: "pass" });
  await waitForRefusal([second], doomed, 5008, BACK_WITHIN_MS);
});
