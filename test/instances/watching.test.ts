// Two instances watch together: one reads for both, also without Redis, readings for callers count, and another goes on when
// the one that watches is killed. A webhook of the game that comes to both counts once, and so does a claim.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { INSTANCE_LEASE_MS } from "../../src/core/ports/instance-lease.ts";
import { HOLD_EVERY_MS } from "../../src/gateway/instances/lease-holder.ts";
import { FaultProxy } from "../fault-proxy.ts";
import { HookSigner, makeCommand, makeHookBody } from "../signed-hooks.ts";
import { SseReader } from "../stream-reader.ts";
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
  timeUntil,
} from "./fleet.ts";

const INTERVAL_MS = 600;
/** Two instances that watch apart would make twice as many calls. */
const CALLS_TOLERANCE = 1.3;
const CALLER_EVERY_MS = 150;
const CALLER_READS = 30;
/** For a machine that does other work too. The rules of the lease are tested with a fake clock. */
const LOADED_FACTOR = 4;

const EVENTS = "/v2/game/server/events";

const signer = new HookSigner();

let fleet: Fleet;
let proxies: readonly FaultProxy[];

beforeAll(async () => {
  const { redis, addresses } = await startBacking();
  proxies = await Promise.all([FaultProxy.start(redis.port), FaultProxy.start(redis.port)]);
  fleet = await startFleet({
    ...addresses,
    redis: proxies.map(({ url }) => url),
    count: 2,
    env: {
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
afterAll(endFleets);

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
});

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
    const path = `${EVENTS}?after=earliest&types=custom.*,call.opened&limit=500`;
    const { items } = expectStatus(await instance.ask("GET", path, key.token), 200);
    const told = items.filter(({ source }: { source: string }) => source === "webhook");
    expect(told.map(({ type }: { type: string }) => type).toSorted()).toEqual(["call.opened", "custom.command"]);
  }
  await fleet.at(0).admin("DELETE", `/servers/${home.serverId}`);
});

const MOD_CALLS = "/v2/game/server/modcalls";

async function listCalls(token: string): Promise<readonly { readonly id: string }[]> {
  return expectStatus(await fleet.at(0).ask("GET", MOD_CALLS, token), 200).items;
}

/** Makes somebody call for a moderator, and returns the path of the claim. */
async function openCall({ town }: Home, { token }: Key): Promise<string> {
  await until("the server is not read", async () => {
    return (await fleet.at(0).ask("GET", "/v2/game/server/players", token)).body.items.length > 0;
  });
  // Calls of before may be answered at any time; that of a burst never is.
  const known = new Set((await listCalls(token)).map(({ id }) => id));
  fleet.simulator.arm({ kind: "burst", list: "ModCalls", count: 1, times: 1, server: town });
  const findNew = async () => (await listCalls(token)).find(({ id }) => !known.has(id));
  await until("nobody calls", async () => (await findNew()) !== undefined);
  return `${MOD_CALLS}/${(await findNew())?.id}/claim`;
}

test("of two who claim a call on two instances one wins, and a stream of the other tells it", async () => {
  const home = await fleet.addServer();
  const [one, other] = [await fleet.addKey(home), await fleet.addKey(home)];
  const path = await openCall(home, one);
  const streams = await Promise.all(
    fleet.instances.map(async ({ url }) => {
      const headers = { Authorization: `Bearer ${one.token}` };
      const stream = new SseReader(await fetch(`${url}${EVENTS}/stream?types=modcall.claimed`, { headers }));
      await stream.take(1);
      return stream;
    }),
  );
  const answers = await Promise.all([
    fleet.at(0).ask("POST", path, one.token),
    fleet.at(1).ask("POST", path, other.token),
  ]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const [winner, loser] = answers[0]?.status === 200 ? [one, other] : [other, one];
  const refused = answers.find(({ status }) => status === 409);
  expect(refused?.body).toMatchObject({ code: 5104, details: { claimed_by: { kind: "key", id: winner.keyId } } });
  for (const stream of streams) {
    const [claimed] = await stream.take(1);
    expect(claimed).toMatchObject({ event: "modcall.claimed", data: { meta: { by: { id: winner.keyId } } } });
    await stream.cancel();
  }
  for (const instance of fleet.instances) {
    const { body } = await instance.ask("GET", `${MOD_CALLS}?state=claimed`, loser.token);
    expect(body.items).toMatchObject([{ claimed_by: { id: winner.keyId } }]);
  }
  await fleet.at(0).admin("DELETE", `/servers/${home.serverId}`);
});

test("an id with a NUL, which PostgreSQL cannot search for, is the id of nothing", async () => {
  const home = await fleet.addServer();
  const { token } = await fleet.addKey(home);
  const requests = [
    ["GET", "/players/%00"],
    ["GET", "/players/1%00/notes"],
    ["POST", "/players/%00/notes", { text: "Hm", kind: "note" }],
    ["POST", "/modcalls/a%00b/claim"],
    ["DELETE", "/modcalls/%00/claim"],
    ["GET", "/command/cmd_%00?wait=1"],
  ] as const;
  for (const [method, path, body] of requests) {
    const answer = await fleet.at(0).ask(method, `/v2/game/server${path}`, token, body);
    expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 404, 5020]);
  }
  await fleet.at(0).admin("DELETE", `/servers/${home.serverId}`);
});

test("without Redis one instance goes on watching, at the same pace and without a gap", async () => {
  const home = await fleet.addServer();
  const path = `/servers/${home.serverId}/events?after=earliest&limit=500`;
  await until("the server is not watched", () => callsFor(home).length >= 2);
  const watchedBefore = fleet.instances.map(hasWatched);
  for (const proxy of proxies) proxy.set({ kind: "closed" });
  for (const instance of fleet.instances) {
    await until("Redis is not missed", async () => {
      return (await instance.checkReadiness()).notices.includes("redis_away");
    });
  }
  const { next } = fleet.simulator.calls();
  fleet.simulator.arm({ kind: "burst", list: "KillLogs", count: 1, times: 1, server: home.town });
  await until("watching does not go on", () => callsFor(home, next).length >= 8);
  expect(countSoon(callsFor(home, next).slice(1))).toBeLessThanOrEqual(2);
  expect(fleet.instances.map(hasWatched)).toEqual(watchedBefore);
  for (const instance of fleet.instances) {
    const read = async () => expectStatus(await instance.admin("GET", path), 200).items;
    const isTold = async () => (await read()).some(({ type }: { type: string }) => type === "player.killed");
    await until("the entry is not recorded", isTold);
    expect((await read()).filter(({ type }: { type: string }) => type === "gap")).toEqual([]);
  }
});

test("kill -9 loses no claim, note or known player, and the other instance goes on watching after the lease", async () => {
  const home = await fleet.addServer();
  const dueMs = INSTANCE_LEASE_MS + HOLD_EVERY_MS + INTERVAL_MS;
  expect(dueMs).toBeLessThan(10_000);
  await until("the server is not watched", () => callsFor(home).length >= 2);
  const key = await fleet.addKey(home);
  const claim = await openCall(home, key);
  const claimed = expectStatus(await fleet.at(0).ask("POST", claim, key.token), 200);
  const { items: players } = (await fleet.at(0).ask("GET", "/v2/game/server/players", key.token)).body;
  const player = `/v2/game/server/players/${players[0].id}`;
  const note = { text: "Asked twice.\nThen stopped.", kind: "note" };
  const written = expectStatus(await fleet.at(0).ask("POST", `${player}/notes`, key.token, note), 201);
  for (const instance of fleet.instances) await instance.kill();
  await fleet.at(0).start();
  await until("the first does not watch", () => hasWatched(fleet.at(0)));
  const { items: calls } = (await fleet.at(0).ask("GET", `${MOD_CALLS}?state=claimed,left,expired,answered`, key.token))
    .body;
  const { claimed_by, claimed_at } = claimed;
  expect(calls).toContainEqual(expect.objectContaining({ id: claimed.id, claimed_by, claimed_at }));
  expect((await fleet.at(0).ask("GET", player, key.token)).body).toMatchObject({ id: players[0].id, notes: [written] });
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
});
