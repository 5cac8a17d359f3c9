// A change that one instance makes counts with the next request on every other, within a second while Redis is away, and an
// instance that lost its database misses none.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { FaultProxy } from "../fault-proxy.ts";
import { SseReader } from "../stream-reader.ts";
import { until } from "../until.ts";
import {
  type Answer,
  endFleets,
  expectStatus,
  type Fleet,
  type Home,
  type Instance,
  type Key,
  startBacking,
  startFleet,
  timeUntil,
} from "./fleet.ts";

/** What the contract promises, without Redis and for streams. */
const EVERYWHERE_WITHIN_MS = 1_000;
/** What the contract promises when the database is back. */
const BACK_WITHIN_MS = 10_000;
/** Polls are counted reads: more frequent ones would reach the limit. */
const POLL_EVERY_MS = 60;

let fleet: Fleet;
let home: Home;
/** All instances use one line to Redis; the last one has a line of its own to PostgreSQL. */
let toRedis: FaultProxy;
let toPostgres: FaultProxy;

beforeAll(async () => {
  const { postgres, redis, addresses } = await startBacking();
  toRedis = await FaultProxy.start(redis.port);
  toPostgres = await FaultProxy.start(postgres.port);
  const url = String(addresses.stores);
  // Readings stay fresh, so that every answer is a cached one.
  fleet = await startFleet({
    stores: [url, url, url, toPostgres.postgresUrl(url)],
    redis: toRedis.url,
    env: { GATEHOUSE_FRESH_MS: "600000" },
  });
  home = await fleet.addServer();
});
afterAll(endFleets);
afterEach(async () => {
  toRedis.set({ kind: "pass" });
  toPostgres.set({ kind: "pass" });
  for (const instance of fleet.instances) {
    await until("not all is well again", async () => {
      const { status, notices } = await instance.checkReadiness();
      return status === 200 && notices.every((code) => !code.endsWith("_away"));
    });
  }
});

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

async function waitForRefusal(instances: readonly Instance[], key: Key, code: number, ms: number) {
  const times = await Promise.all(
    instances.map((instance) =>
      timeUntil(`${instance.url} still does not answer ${code}`, ms, async () => {
        const { status, body } = await instance.read(key);
        if (status !== 200 && body.code === code) return true;
        await Bun.sleep(POLL_EVERY_MS);
        return false;
      }),
    ),
  );
  return Math.max(...times);
}

async function losesRedis(): Promise<void> {
  toRedis.set({ kind: "closed" });
  for (const instance of fleet.instances) {
    await until("Redis is not missed", async () => {
      return (await instance.checkReadiness()).notices.includes("redis_away");
    });
  }
}

type Change = {
  readonly title: string;
  readonly code: number;
  make(by: Instance, key: Key): Promise<Answer>;
};

const patch =
  (change: object): Change["make"] =>
  (by, { keyId }) =>
    by.admin("PATCH", `/keys/${keyId}`, change);

const changes: readonly Change[] = [
  { title: "a key is revoked", code: 5008, make: (by, { keyId }) => by.admin("DELETE", `/keys/${keyId}`) },
  { title: "a key is suspended", code: 5009, make: patch({ suspended: true }) },
  { title: "a key loses its version", code: 5010, make: patch({ versions: [] }) },
  { title: "a key is bound to another address", code: 5009, make: patch({ ip_allow: ["192.0.2.1"] }) },
  {
    title: "a key is rotated without grace",
    code: 5008,
    make: (by, { keyId }) => by.admin("POST", `/keys/${keyId}/rotate`, {}),
  },
];

describe("a change on one instance counts with the next request on every other, also while the answer is cached:", () => {
  for (const [index, { title, code, make }] of changes.entries()) {
    test(title, async () => {
      const key = await addCachedKey();
      const answer = await make(fleet.at(index % 4), key);
      expect(answer.status).toBeLessThan(300);
      const next = await Promise.all(fleet.instances.map((instance) => instance.read(key)));
      expect(next.map(({ body }) => body.code)).toEqual([code, code, code, code]);
      if (answer.body?.token === undefined) return;
      for (const instance of fleet.instances) expectStatus(await instance.read(answer.body), 200);
    });
  }

  test("a key expires", async () => {
    const key = await addCachedKey();
    const expiresAt = Date.now() + 2_000;
    expectStatus(await patch({ expires_at: expiresAt })(fleet.at(0), key), 200);
    // The clock of all instances is the database's, which may be some milliseconds behind.
    await until("time stands still", () => Date.now() > expiresAt + 50);
    for (const instance of fleet.instances) expect((await instance.read(key)).body.code).toBe(5008);
  });

  test("a server is deleted, with its keys", async () => {
    const doomed = await fleet.addServer();
    const key = await addCachedKey(doomed);
    expectStatus(await fleet.at(1).admin("DELETE", `/servers/${doomed.serverId}`), 200);
    for (const instance of fleet.instances) expect((await instance.read(key)).body.code).toBe(5008);
  });

  test("a server gets another key: what was read with the old one is not shown any more", async () => {
    const moved = await fleet.addServer();
    const key = await addCachedKey(moved);
    const before = expectStatus(await fleet.at(0).read(key), 200).OwnerId;
    const change = { server_key: `fleet-Moved${moved.town}` };
    expectStatus(await fleet.at(2).admin("PATCH", `/servers/${moved.serverId}`, change), 200);
    for (const instance of fleet.instances) {
      expect(expectStatus(await instance.read(key), 200).OwnerId).not.toBe(before);
    }
  });

  test("rights are given back: a suspended key works again", async () => {
    const key = await addCachedKey();
    expectStatus(await fleet.at(0).admin("PATCH", `/keys/${key.keyId}`, { suspended: true }), 200);
    for (const instance of fleet.instances) expect((await instance.read(key)).body.code).toBe(5009);
    expectStatus(await fleet.at(3).admin("PATCH", `/keys/${key.keyId}`, { suspended: false }), 200);
    for (const instance of fleet.instances) expectStatus(await instance.read(key), 200);
  });

  test("a server and a key are new: the first request on every instance is answered", async () => {
    for (let turn = 0; turn < 10; turn++) {
      const fresh = await fleet.addServer();
      const wish = { server_id: fresh.serverId, label: "new" };
      const key = expectStatus(await fleet.at(turn % 4).admin("POST", "/keys", wish), 201);
      for (const instance of fleet.instances) expectStatus(await instance.read(key), 200);
    }
  });
});

describe("while Redis is away a change counts on every instance within a second:", () => {
  for (const [index, { title, code, make }] of changes.entries()) {
    test(title, async () => {
      const key = await addCachedKey();
      await losesRedis();
      const answer = await make(fleet.at(index % 4), key);
      expect(answer.status).toBeLessThan(300);
      const ms = await waitForRefusal(fleet.instances, key, code, 4 * EVERYWHERE_WITHIN_MS);
      expect(ms).toBeLessThan(EVERYWHERE_WITHIN_MS);
    });
  }

  test("a key is new: its first request on every instance is answered", async () => {
    await losesRedis();
    const wish = { server_id: home.serverId, label: "new" };
    const key = expectStatus(await fleet.at(2).admin("POST", "/keys", wish), 201);
    for (const instance of fleet.instances) expectStatus(await instance.read(key), 200);
  });
});

describe("a stream ends within a second of a change that another instance made:", () => {
  /** Opens a stream on the second instance. `ended` resolves with its last message when it has ended. */
  async function openStream({ token }: Key) {
    const headers = { Authorization: `Bearer ${token}` };
    const answer = await fetch(`${fleet.at(1).url}/v2/game/server/events/stream`, { headers });
    expect(answer.status).toBe(200);
    const reader = new SseReader(answer);
    expect((await reader.next())?.event).toBe("hello");
    const ended = (async () => {
      for (let last: string | undefined; ; ) {
        const message = await reader.next();
        if (!message) return last;
        last = message.event;
      }
    })();
    return { ended };
  }

  for (const isRedisAway of [false, true]) {
    test(`a key is revoked${isRedisAway ? " while Redis is away" : ""}`, async () => {
      const key = await fleet.addKey(home);
      const { ended } = await openStream(key);
      if (isRedisAway) await losesRedis();
      expectStatus(await fleet.at(0).admin("DELETE", `/keys/${key.keyId}`), 204);
      const beganAt = performance.now();
      await ended;
      expect(performance.now() - beganAt).toBeLessThan(EVERYWHERE_WITHIN_MS);
    });
  }

  test("a key is blocked", async () => {
    const key = await fleet.addKey(home);
    const { ended } = await openStream(key);
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    await Promise.all(Array.from({ length: 530 }, () => fleet.at(0).read(key)));
    await timeUntil("the stream goes on", 4 * EVERYWHERE_WITHIN_MS, () => isOver);
  });
});

describe("an instance that lost its database misses no change when it is back:", () => {
  async function changeWhile(goAway: () => unknown, comeBack: () => unknown): Promise<void> {
    const [revoked, suspended] = [await addCachedKey(), await addCachedKey()];
    const doomed = await fleet.addServer();
    const orphan = await addCachedKey(doomed);
    const reader = await addCachedKey();
    await goAway();
    expectStatus(await fleet.at(0).admin("DELETE", `/keys/${revoked.keyId}`), 204);
    expectStatus(await fleet.at(1).admin("PATCH", `/keys/${suspended.keyId}`, { suspended: true }), 200);
    expectStatus(await fleet.at(2).admin("DELETE", `/servers/${doomed.serverId}`), 200);
    // It goes on with what it knows.
    expectStatus(await fleet.at(3).read(reader), 200);
    await comeBack();
    const last = [fleet.at(3)];
    await Promise.all([
      waitForRefusal(last, revoked, 5008, BACK_WITHIN_MS),
      waitForRefusal(last, suspended, 5009, BACK_WITHIN_MS),
      waitForRefusal(last, orphan, 5008, BACK_WITHIN_MS),
    ]);
  }

  test("its connections were cut and could not be opened again", async () => {
    await changeWhile(
      () => toPostgres.set({ kind: "closed" }),
      () => toPostgres.set({ kind: "pass" }),
    );
  });

  test("its connections were silent for a while, and their data arrives late", async () => {
    await changeWhile(
      () => toPostgres.set({ kind: "hold" }),
      () => toPostgres.set({ kind: "pass" }),
    );
  });

  test("its connections went dead without an error, and only new ones work", async () => {
    await changeWhile(
      () => toPostgres.set({ kind: "swallow" }),
      () => toPostgres.set({ kind: "pass" }),
    );
  });
});
