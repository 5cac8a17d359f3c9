// Two instances on one Redis and one PostgreSQL watch together: one reads for both, readings for callers count, another goes on
// when the one that watches is killed, and nobody watches without Redis. A webhook of the game that comes to both counts once.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { INSTANCE_LEASE_MS } from "../../src/core/ports/instance-lease.ts";
import { HOLD_EVERY_MS } from "../../src/gateway/instances/lease-holder.ts";
import { startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { until } from "../process/run-gatehouse.ts";
import { startRedis } from "../redis-server.ts";
import { HookSigner, makeCommand, makeHookBody } from "../signed-hooks.ts";
import { FaultProxy } from "./fault-proxy.ts";
import {
  endFleets,
  expectStatus,
  type Fleet,
  type Home,
  type Instance,
  startFleet,
  timeUntil,
} from "./fleet.ts";

const INTERVAL_MS = 600;
/** Two instances that watch apart would make twice as many calls. */
const CALLS_TOLERANCE = 1.3;
const CALLER_EVERY_MS = 150;
const CALLER_READS = 30;
/** For a machine that does other work too. The rules of the lease are tested with a fake clock. */
const LOADED_FACTOR = 4;

const signer = new HookSigner();

let fleet: Fleet;
let proxies: readonly FaultProxy[];

beforeAll(async () => {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  proxies = await Promise.all([FaultProxy.start(redis.port), FaultProxy.start(redis.port)]);
  fleet = await startFleet({
    stores: proxies.map(({ url }) => url),
    count: 2,
    env: {
      GATEHOUSE_ARCHIVE: await postgres.createDatabase(),
      GATEHOUSE_WATCH: "on",
      GATEHOUSE_WATCH_INTERVAL_MS: String(INTERVAL_MS),
      GATEHOUSE_FRESH_MS: "50",
      GATEHOUSE_GAME_PUBLIC_KEY: signer.publicKey,
      GATEHOUSE_LOG_LEVEL: "info",
    },
  });
});
afterEach(() => {
  for (const proxy of proxies) proxy.set({ kind: "pass" });
});
afterAll(async () => {
  await endFleets();
  await stopPostgresServers();
});

function callsFor({ town }: Home, since = 0): number[] {
  const { calls } = fleet.simulator.calls(since);
  return calls.filter(({ kind, server }) => kind === "read" && server === town).map(({ at }) => at);
}

function hasWatched(instance: Instance): boolean {
  return instance.process.stderr.includes("this instance watches the game servers now");
}

/** The instance that watches, and the other one. */
async function findWatcher(): Promise<[Instance, Instance]> {
  await until("nobody watches", () => fleet.instances.some(hasWatched));
  const [one, other] = [fleet.at(0), fleet.at(1)];
  return hasWatched(one) ? [one, other] : [other, one];
}

/** How many calls came sooner after the call before than the watcher makes them. */
function countSoon(times: readonly number[]): number {
  return times.filter((at, index) => at - (times[index - 1] ?? 0) < 0.8 * INTERVAL_MS).length;
}

test("one instance reads each server once an interval for both", async () => {
  const homes = [await fleet.addServer(), await fleet.addServer(), await fleet.addServer()];
  await until("the servers are not watched", () => homes.every((home) => callsFor(home).length >= 8), 60_000);
  for (const home of homes) {
    const times = callsFor(home);
    const ms = (times.at(-1) ?? 0) - (times[0] ?? 0);
    expect(times.length - 1).toBeLessThanOrEqual(Math.ceil((ms / INTERVAL_MS) * CALLS_TOLERANCE));
  }
  expect(fleet.instances.filter(hasWatched)).toHaveLength(1);
  for (const { serverId } of homes) await fleet.at(0).admin("DELETE", `/servers/${serverId}`);
}, 90_000);

test("the watcher makes no call for a server that callers of the other instance have just read", async () => {
  const home = await fleet.addServer();
  const [, other] = await findWatcher();
  await until("the server is not known", async () => {
    return (await other.admin("GET", `/servers/${home.serverId}`)).status === 200;
  });
  for (let read = 0; read < CALLER_READS; read++) {
    expectStatus(await other.admin("GET", `/servers/${home.serverId}/info`), 200);
    await Bun.sleep(CALLER_EVERY_MS);
  }
  // Calls of the watcher would come on top, in the midst of those for the caller.
  expect(countSoon(callsFor(home))).toBeLessThanOrEqual(CALLER_READS);
});

test("a webhook whose signature another instance has seen is a repeat, at the same time and later", async () => {
  const home = await fleet.addServer();
  const key = await fleet.addKey(home);
  const now = Date.now();
  const startedAt = Math.floor(now / 1000);
  const call = { team: "Fire", players: [], callNumber: 70_000, startedAt };
  const started = { event: "EmergencyCallStarted", timestamp: startedAt, origin: "server", data: call };
  const body = makeHookBody(home.town, makeCommand(now, "once"), started);
  const headers = signer.sign(body, now);
  const tell = async ({ url }: Instance) =>
    (await fetch(`${url}/hooks/game`, { method: "POST", headers, body })).status;
  const both = [fleet.at(0), fleet.at(1)];
  expect(await Promise.all(both.map(tell))).toEqual([204, 204]);
  for (const instance of both) expect(await tell(instance)).toBe(204);
  for (const instance of both) {
    const path = "/v2/game/server/events?after=earliest&types=custom.*,call.opened&limit=500";
    const { items } = expectStatus(await instance.ask("GET", path, key.token), 200);
    const told = items.filter(({ source }: { source: string }) => source === "webhook");
    expect(told.map(({ type }: { type: string }) => type).toSorted()).toEqual([
      "call.opened",
      "custom.command",
    ]);
  }
  await fleet.at(0).admin("DELETE", `/servers/${home.serverId}`);
});

test("nobody watches without Redis; when it is back watching goes on, and a short outage makes no gap", async () => {
  const home = await fleet.addServer();
  const path = `/servers/${home.serverId}/events?after=earliest&limit=500`;
  await until("the server is not watched", () => callsFor(home).length >= 2);
  for (const proxy of proxies) proxy.set({ kind: "closed" });
  for (const instance of fleet.instances) {
    await until("Redis is not missed", async () => (await fetch(`${instance.url}/readyz`)).status === 503);
  }
  // Calls that were under way when Redis went.
  await Bun.sleep(INTERVAL_MS);
  const before = callsFor(home).length;
  await Bun.sleep(4 * INTERVAL_MS);
  expect(callsFor(home).length).toBe(before);

  fleet.simulator.arm({ kind: "burst", list: "KillLogs", count: 1, times: 1, server: home.town });
  for (const proxy of proxies) proxy.set({ kind: "pass" });
  await until("watching does not go on", () => callsFor(home).length >= before + 2);
  const read = async () => expectStatus(await fleet.at(0).admin("GET", path), 200).items;
  const isTold = async () => (await read()).some(({ type }: { type: string }) => type === "player.killed");
  await until("the entry is not recorded", isTold);
  expect((await read()).filter(({ type }: { type: string }) => type === "gap")).toEqual([]);
}, 90_000);

test("when the instance that watches is killed, the other goes on after its lease", async () => {
  const home = await fleet.addServer();
  const dueMs = INSTANCE_LEASE_MS + HOLD_EVERY_MS + INTERVAL_MS;
  expect(dueMs).toBeLessThan(10_000);
  await until("the server is not watched", () => callsFor(home).length >= 2);
  // After the outage either may have taken the lease.
  for (const instance of fleet.instances) await instance.kill();
  await fleet.at(0).start();
  await until("the first does not watch", () => hasWatched(fleet.at(0)));
  await fleet.at(1).start();
  await until("the second is not there", async () => (await fleet.at(0).countInstances()) === 2);
  const { next } = fleet.simulator.calls();
  await until("the server is not watched", () => callsFor(home, next).length >= 2);
  expect(hasWatched(fleet.at(1))).toBe(false);
  await fleet.at(0).kill();
  const after = fleet.simulator.calls().next;
  const ms = await timeUntil("nobody goes on", LOADED_FACTOR * dueMs, () => callsFor(home, after).length > 0);
  console.log(`another instance went on after ${Math.round(ms)} ms`);
  expect(hasWatched(fleet.at(1))).toBe(true);
}, 120_000);
