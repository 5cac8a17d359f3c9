// A Redis that is emptied, restored from yesterday or replaced by an empty one loses nothing that lasts, and nothing needs a
// restart. Whoever writes into it gains no right.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { FaultProxy } from "../fault-proxy.ts";
import { type RedisServer, startRedis } from "../redis-server.ts";
import { makeFolder } from "../temporary.ts";
import { until } from "../until.ts";
import {
  endFleets,
  expectStatus,
  type Fleet,
  type Home,
  type Instance,
  type Key,
  startBacking,
  startFleet,
} from "./fleet.ts";

const INSTANCES = 3;
/** Nothing is sent during this test but the first command of each server. */
const PACE_MS = 600_000;

let redis: RedisServer;
let proxy: FaultProxy;
let fleet: Fleet;

beforeAll(async () => {
  const backing = await startBacking();
  redis = backing.redis;
  proxy = await FaultProxy.start(redis.port);
  fleet = await startFleet({
    ...backing.addresses,
    redis: proxy.url,
    count: INSTANCES,
    env: { GATEHOUSE_COMMAND_INTERVAL_MS: String(PACE_MS), GATEHOUSE_FRESH_MS: "100" },
  });
});
afterAll(endFleets);

type Lasting = {
  readonly home: Home;
  readonly key: Key;
  readonly blocked: Key;
  readonly revoked: Key;
  /** Of a server whose server key the game API has refused. */
  readonly badTown: string;
  readonly badKey: Key;
};

/** One of everything that lasts. */
async function makeLasting(): Promise<Lasting> {
  const home = await fleet.addServer();
  const [key, blocked, revoked] = [await fleet.addKey(home), await fleet.addKey(home), await fleet.addKey(home)];
  expectStatus(await fleet.at(0).admin("DELETE", `/keys/${revoked.keyId}`), 204);
  await Promise.all(Array.from({ length: 530 }, () => fleet.at(1).read(blocked)));
  for (const text of [":h sent", ":h waits", ":h waits too"])
    expectStatus(await fleet.at(2).submit(key, text, text.replaceAll(" ", "-")), 202);
  await until("the first is not sent", async () => {
    const { items } = (await fleet.at(0).admin("GET", `/commands?server_id=${home.serverId}`)).body;
    return items.some(({ status }: { status: string }) => status === "sent");
  });
  const badTown = `Bad${home.town}`;
  const bad = { name: badTown, server_key: `invalid-${badTown}` };
  const serverId = expectStatus(await fleet.at(0).admin("POST", "/servers", bad), 201).server_id;
  const badKey = await fleet.addKey({ serverId, town: badTown });
  expect((await fleet.at(1).read(badKey)).body).toMatchObject({ upstream_code: 2002 });
  return { home, key, blocked, revoked, badTown, badKey };
}

/** What the game said last is no promise of Redis: it is read again. When a key was used last is written later. */
const PASSING = [
  ...["state", "players", "max_players", "queue", "open_modcalls", "open_calls"],
  ...["last_read_at", "last_error", "watching", "last_used_at", "confirmed_at"],
];

/** Everything that an operator can see of what lasts. */
async function capture(instance: Instance): Promise<object> {
  const paths = ["/servers", "/keys", "/blocks", "/commands", "/audit"];
  const lists = await Promise.all(
    paths.map(async (path) => {
      const { items } = expectStatus(await instance.admin("GET", `${path}?limit=200`), 200);
      const isPassing = (name: string) => PASSING.includes(name);
      return items.map((item: object) => Object.fromEntries(Object.entries(item).filter(([name]) => !isPassing(name))));
    }),
  );
  return Object.fromEntries(paths.map((path, index) => [path, lists[index]]));
}

/** What all instances tell, once it is the same: a notice that is lost with Redis is found within a second. */
async function captureEverywhere() {
  let first: object = {};
  await until("they do not tell the same", async () => {
    const [one, ...others] = await Promise.all(fleet.instances.map(capture));
    first = one ?? {};
    return others.every((other) => Bun.deepEquals(other, first));
  });
  return first;
}

async function waitUntilShared(): Promise<void> {
  for (const instance of fleet.instances) {
    await until("Redis is not used again", async () => {
      return !(await instance.checkReadiness()).notices.includes("redis_away");
    });
  }
}

const losses: Record<string, () => Promise<void>> = {
  "emptied with FLUSHALL": async () => void (await redis.ask("FLUSHALL")),
  "restored from yesterday": restore,
  "replaced by an empty one": async () => {
    const empty = await startRedis(["--appendonly", "no"]);
    proxy.targetPort = empty.port;
    await redis.kill();
    redis = empty;
  },
};

/** Puts back the copy that the test has made. */
let copy = "";
async function save(): Promise<void> {
  copy = join(makeFolder(), "dump.rdb");
  await redis.ask("SAVE");
  copyFileSync(join(redis.folder, "dump.rdb"), copy);
}
async function restore(): Promise<void> {
  await redis.kill();
  rmSync(join(redis.folder, "dump.rdb"), { force: true });
  copyFileSync(copy, join(redis.folder, "dump.rdb"));
  await redis.start();
}

describe("a Redis that is", () => {
  for (const [title, lose] of Object.entries(losses)) {
    test(`${title} loses nothing that lasts, and changes go on as before`, async () => {
      const yesterday = await makeLasting();
      await save();
      const { home, key, blocked, revoked, badTown, badKey } = await makeLasting();
      // What yesterday's Redis does not know.
      expectStatus(await fleet.at(1).admin("DELETE", `/keys/${yesterday.key.keyId}`), 204);
      expectStatus(await fleet.at(1).admin("DELETE", `/blocks/${yesterday.blocked.keyId}`), 204);
      const before = await captureEverywhere();
      const pids = fleet.instances.map(({ process }) => process.pid);
      await lose();
      await waitUntilShared();
      for (const instance of fleet.instances) {
        expect(await capture(instance)).toEqual(before);
        expectStatus(await instance.read(key), 200);
        expect((await instance.read(blocked)).body.code).toBe(5100);
        // A block that was lifted may come back with an old Redis, for as long as it had left.
        if (lose !== restore) expectStatus(await instance.read(yesterday.blocked), 200);
        for (const { token } of [revoked, yesterday.key, yesterday.revoked])
          expect((await instance.read({ token })).body.code).toBe(5008);
        const again = await instance.submit(key, ":h waits", ":h-waits");
        expect([again.status, again.body.status]).toEqual([202, "queued"]);
      }
      // A bad server key is not tried again.
      for (const instance of fleet.instances) {
        expect((await instance.read(badKey)).body).toMatchObject({ upstream_code: 2002 });
      }
      expect(fleet.simulator.calls().calls.filter(({ server }) => server === badTown)).toHaveLength(1);
      // Changes count with the next request again.
      const other = await fleet.addKey(home);
      for (const instance of fleet.instances) expectStatus(await instance.read(other), 200);
      expectStatus(await fleet.at(2).admin("DELETE", `/keys/${other.keyId}`), 204);
      for (const instance of fleet.instances) expect((await instance.read(other)).body.code).toBe(5008);
      expect(fleet.instances.map(({ process }) => process.pid)).toEqual(pids);
    });
  }

  test("emptied again and again under load refuses nobody", async () => {
    const home = await fleet.addServer();
    const keys = await Promise.all(Array.from({ length: 6 }, () => fleet.addKey(home)));
    let isOver = false;
    const reading = Promise.all(
      keys.map(async (key, index) => {
        const odd: unknown[] = [];
        for (let turn = 0; !isOver && turn < 110; turn++) {
          const { status, body } = await fleet.at(index % INSTANCES).read(key);
          if (status !== 200) odd.push(body);
        }
        return odd;
      }),
    );
    for (let turn = 0; turn < 20; turn++) await redis.ask("FLUSHALL");
    isOver = true;
    expect((await reading).flat()).toEqual([]);
  });
});

test("a pause that the game API has asked for outlives the Redis", async () => {
  const home = await fleet.addServer();
  const key = await fleet.addKey(home);
  fleet.simulator.arm({ kind: "rate-limit", retry_after: 3_600, times: 1, target: "reads" });
  await until("nobody was refused", async () => (await fleet.at(0).read(key)).body.upstream_code === 4001);
  await redis.ask("FLUSHALL");
  const { next } = fleet.simulator.calls();
  for (const instance of fleet.instances) {
    await until("the pause is not known", async () => {
      return (await instance.admin("GET", "/upstream")).body.pause_reason === "named_by_game_api";
    });
    expect((await instance.read(key)).body).toMatchObject({ code: 5019, upstream_code: 4001 });
  }
  expect(fleet.simulator.calls(next).calls).toEqual([]);
  expectStatus(await fleet.at(1).admin("POST", "/upstream/resume"), 200);
  for (const instance of fleet.instances) {
    await until("the pause goes on", async () => (await instance.read(key)).status === 200);
  }
});
