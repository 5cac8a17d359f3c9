// While PostgreSQL is away reads, limits and open streams go on with what is known, and everything else is 503/5106 in time.
// Nothing accepted is lost, nothing is sent twice, and soon after its return all is well without a restart.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { mintToken } from "../../src/core/keys/token.ts";
import { FaultProxy } from "../fault-proxy.ts";
import { mounting, testWith } from "../needs.ts";
import type { PostgresServer } from "../postgres-server.ts";
import type { RedisServer } from "../redis-server.ts";
import { fill, mountDisk } from "../small-disk.ts";
import { SseReader } from "../stream-reader.ts";
import { until } from "../until.ts";
import { listCommands } from "./command-clients.ts";
import {
  type Answer,
  COMMAND,
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

const INSTANCES = 3;
const LIMIT = 120;
/** What the contract promises. */
const REFUSED_WITHIN_MS = 5_000;
const WELL_WITHIN_MS = 10_000;
/** Of half of the reads, which never wait for PostgreSQL; the rest is for a busy machine. */
const READ_WITHIN_MS = 1_000;

let postgres: PostgresServer;
let redis: RedisServer;
let proxies: FaultProxy[];
let fleet: Fleet;
let databaseUrl: string;

beforeAll(async () => {
  const backing = await startBacking();
  ({ postgres, redis } = backing);
  databaseUrl = String(backing.addresses.stores);
  proxies = await Promise.all(Array.from({ length: INSTANCES }, () => FaultProxy.start(postgres.port)));
  fleet = await startFleet({
    ...backing.addresses,
    stores: proxies.map((proxy) => proxy.postgresUrl(databaseUrl)),
    count: INSTANCES,
    env: { GATEHOUSE_COMMAND_INTERVAL_MS: "1", GATEHOUSE_UPSTREAM_TIMEOUT_MS: "1000" },
  });
});
afterAll(endFleets);
afterEach(async () => {
  setProxies({ kind: "pass" });
  await waitUntilWell(fleet, 60_000);
});

function setProxies(mode: FaultProxy["mode"]): void {
  for (const proxy of proxies) proxy.set(mode);
}

function each<T>(run: (instance: Instance, index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(fleet.instances.map(run));
}

async function saysAway(instance: Instance): Promise<boolean> {
  const { status, notices } = await instance.checkReadiness();
  // It was ready, and reads go on.
  expect(status).toBe(200);
  return notices.includes("database_away");
}

/** All instances can write again. Returns how long that took. */
async function waitUntilWell({ instances }: Fleet, deadlineMs: number): Promise<number> {
  const times = await Promise.all(
    instances.map((instance) =>
      timeUntil("PostgreSQL is not used again", deadlineMs, async () => {
        const { status } = await instance.admin("DELETE", "/blocks/key_nobody");
        return status === 404 && !(await saysAway(instance));
      }),
    ),
  );
  return Math.max(...times);
}

function expectUnavailable({ status, body, headers, ms }: Answer): void {
  expect([status, body.code]).toEqual([503, 5106]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  expect(ms).toBeLessThan(REFUSED_WITHIN_MS);
}

function deliveriesOf({ town }: Home): string[] {
  const { calls } = fleet.simulator.calls();
  return calls.filter(({ server }) => server === town).flatMap(({ command }) => command ?? []);
}

async function openStream(instance: Instance, { token }: Key): Promise<SseReader> {
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${instance.url}/v2/game/server/events/stream`, { headers });
  expect(answer.status).toBe(200);
  const reader = new SseReader(answer);
  expect((await reader.next())?.event).toBe("hello");
  return reader;
}

const ways: Record<string, readonly [goAway: () => unknown, comeBack: () => unknown]> = {
  killed: [() => postgres.kill(), () => postgres.start()],
  frozen: [() => postgres.freeze(), () => postgres.thaw()],
  "not to be reached": [() => setProxies({ kind: "closed" }), () => setProxies({ kind: "pass" })],
  "lost behind connections that have died unnoticed": [
    () => setProxies({ kind: "swallow" }),
    () => setProxies({ kind: "pass" }),
  ],
};

describe("while PostgreSQL is", () => {
  for (const [title, [goAway, comeBack]] of Object.entries(ways)) {
    test(`${title}: reads go on, the rest is refused in time, nothing is lost or sent twice, and all is well soon after`, async () => {
      const home = await fleet.addServer();
      const [key, counted] = [await fleet.addKey(home), await fleet.addKey(home)];
      await each(async (instance) => expectStatus(await instance.read(key), 200));
      const stream = await openStream(fleet.at(1), key);
      const submitted = fleet.instances.map((_, index) => `:h ${index}`);
      const pids = fleet.instances.map(({ process }) => process.pid);
      await goAway();
      let answers: Answer[];
      try {
        const refusing = Promise.all([
          each(async (instance) => expectUnavailable(await instance.admin("GET", "/commands"))),
          each(async (instance) => {
            const wish = { server_id: home.serverId, label: "refused" };
            expectUnavailable(await instance.admin("POST", "/keys", wish));
          }),
          each(async (instance) => expectUnavailable(await instance.read({ token: mintToken(randomBytes) }))),
          // Also what is in memory: another instance may have changed it.
          ...[`/servers/${home.serverId}`, `/servers/${home.serverId}/info`, "/blocks", "/roles"].map((path) =>
            each(async (instance) => expectUnavailable(await instance.admin("GET", path))),
          ),
          each(async (instance) => {
            expectUnavailable(await instance.ask("GET", "/v2/game/server/events?limit=1", key.token));
          }),
        ]);
        const submitting = each((instance, index) => instance.submit(key, submitted[index] ?? "", `${index}`));
        // Readings are older than their freshness meanwhile, so that they are made and shared as well.
        const times: number[] = [];
        for (let turn = 0; turn < 20; turn++) {
          const { status, ms } = await fleet.at(turn % INSTANCES).read(key);
          expect(status).toBe(200);
          times.push(ms);
        }
        expect(times.toSorted((a, b) => a - b)[times.length / 2]).toBeLessThan(READ_WITHIN_MS);
        // The limit is exact over all instances.
        const reads = Array.from({ length: LIMIT + 30 }, (_, index) => fleet.at(index % INSTANCES).read(counted));
        const statuses = (await Promise.all(reads)).map(({ status }) => status);
        expect(statuses.filter((status) => status === 200).length).toBe(LIMIT);
        expect((await fleet.at(0).read({ token: "gth_broken" })).body.code).toBe(5008);
        await refusing;
        answers = await submitting;
        for (const answer of answers) expectUnavailable(answer);
        await each((instance) => until("nothing is said", () => saysAway(instance), 10_000));
        await each(async (instance) => {
          expect(await instance.readMetric("gatehouse_database_up")).toBe(0);
          expect((await instance.ask("GET", "/healthz", key.token)).status).toBe(200);
        });
        // Nothing is sent that is not claimed.
        expect(deliveriesOf(home)).toEqual([]);
      } finally {
        await comeBack();
      }
      const ms = await waitUntilWell(fleet, WELL_WITHIN_MS);
      console.log(`PostgreSQL ${title}: well after ${Math.round(ms)} ms`);
      await each(async (instance) => expect(await instance.readMetric("gatehouse_database_up")).toBe(1));
      // A repeat with its Idempotency-Key is the same command, whether it was stored before or not.
      for (const [index, text] of submitted.entries())
        expectStatus(await fleet.at((index + 1) % INSTANCES).submit(key, text, `${index}`), 202);
      await until("not all is sent", () => deliveriesOf(home).length >= INSTANCES);
      await until("not all is noted", async () => {
        return (await listCommands(fleet.at(0), home)).every(({ status }) => status === "sent");
      });
      expect(deliveriesOf(home).toSorted()).toEqual(submitted);
      expect(await listCommands(fleet.at(2), home)).toHaveLength(INSTANCES);
      const { items } = expectStatus(await fleet.at(0).admin("GET", `/keys?server_id=${home.serverId}`), 200);
      expect(items.filter(({ label }: { label: string }) => label === "refused").length).toBeLessThanOrEqual(INSTANCES);
      expect((await fleet.at(1).read({ token: mintToken(randomBytes) })).body.code).toBe(5008);
      // The stream was open all the time and still is: it tells of the key's end.
      expectStatus(await fleet.at(0).admin("DELETE", `/keys/${key.keyId}`), 204);
      let last = await stream.next();
      while (last && last.event !== "bye") last = await stream.next();
      expect(last?.data).toMatchObject({ code: 5008 });
      expect(fleet.instances.map(({ process }) => process.pid)).toEqual(pids);
    });
  }

  test("away, a change of what is in memory is not believed: a new key of another instance is 503 and then answered", async () => {
    const home = await fleet.addServer();
    const known = await fleet.addKey(home);
    const [first, others] = [proxies[0], proxies.slice(1)];
    for (const proxy of others) proxy.set({ kind: "closed" });
    await until("nothing is said", () => saysAway(fleet.at(1)), 10_000);
    expect(first?.mode.kind).toBe("pass");
    const wish = { server_id: home.serverId, label: "new" };
    const key = expectStatus(await fleet.at(0).admin("POST", "/keys", wish), 201);
    expectUnavailable(await fleet.at(1).read(key));
    expectStatus(await fleet.at(1).read(known), 200);
    setProxies({ kind: "pass" });
    await timeUntil("the key is not known", WELL_WITHIN_MS, async () => {
      return (await fleet.at(1).read(key)).status === 200;
    });
  });
});

test("while both are away reads of known keys go on, each instance counting by itself, and the rest is 503", async () => {
  const home = await fleet.addServer();
  const key = await fleet.addKey(home);
  await each(async (instance) => expectStatus(await instance.read(key), 200));
  const counted = await fleet.addKey(home);
  setProxies({ kind: "closed" });
  redis.freeze();
  try {
    const admitted = await each(async (instance) => {
      let count = 0;
      for (let turn = 0; turn < LIMIT + 5; turn++) if ((await instance.read(counted)).status === 200) count++;
      return count;
    });
    expect(admitted).toEqual([LIMIT, LIMIT, LIMIT]);
    await each(async (instance) => {
      expectUnavailable(await instance.submit(key, ":h no"));
      expectUnavailable(await instance.admin("PATCH", `/keys/${key.keyId}`, { suspended: true }));
      expectUnavailable(await instance.read({ token: mintToken(randomBytes) }));
      const isSaid = async () => {
        const { status, notices } = await instance.checkReadiness();
        expect(status).toBe(200);
        return ["redis_away", "database_away"].every((code) => notices.includes(code));
      };
      await until("it does not say both", isSaid, 10_000);
    });
  } finally {
    redis.thaw();
    setProxies({ kind: "pass" });
  }
  await waitUntilWell(fleet, WELL_WITHIN_MS);
});

test("a submission whose acceptance was lost on the way is 503, runs once, and its repeat is the same command", async () => {
  const home = await fleet.addServer();
  const key = await fleet.addKey(home);
  const [proxy] = proxies;
  let isLost = 0;
  // COMMIT is the tag of a transaction's last reply; the connection is cut before the instance sees it.
  if (proxy) {
    proxy.watchReply = (piece) => {
      if (!piece.includes("COMMIT") || isLost > 0) return;
      isLost++;
      proxy.set({ kind: "lose-replies" });
    };
  }
  const answer = await fleet.at(0).submit(key, ":h lost", "a-key");
  if (proxy) proxy.watchReply = () => {};
  setProxies({ kind: "pass" });
  expect([202, 503]).toContain(answer.status);
  await waitUntilWell(fleet, WELL_WITHIN_MS);
  const again = expectStatus(await fleet.at(1).submit(key, ":h lost", "a-key"), 202);
  if (answer.status === 202) expect(again.command_id).toBe(answer.body.command_id);
  await until("it is not sent", async () => {
    const { status } = expectStatus(await fleet.at(2).ask("GET", `${COMMAND}/${again.command_id}`, key.token), 200);
    return status === "sent";
  });
  expect(deliveriesOf(home)).toEqual([":h lost"]);
});

testWith(mounting)(
  "a PostgreSQL that is full refuses what it cannot keep, reads go on, and with room again nothing accepted is lost",
  async () => {
    // The write-ahead log is elsewhere: without room for it, the whole server ends.
    const disk = await mountDisk("64m");
    const ballast = join(disk, "ballast");
    await postgres.createTablespace("small", disk);
    await postgres.ask("CREATE DATABASE small TABLESPACE small");
    const full = await startFleet({
      stores: postgres.urlOf("small"),
      redis: `${redis.url}/1`,
      count: 2,
      env: { GATEHOUSE_COMMAND_INTERVAL_MS: "1" },
    });
    const home = await full.addServer();
    const key = await full.addKey(home);
    for (const instance of full.instances) expectStatus(await instance.read(key), 200);
    await fill(ballast);
    const answers: Answer[] = [];
    try {
      // What is already in a table's pages may still be written over.
      await until("nothing is refused", async () => {
        const text = `:h ${answers.length} ${"x".repeat(900)}`;
        answers.push(await full.at(answers.length % 2).submit(key, text, `full-${answers.length}`));
        return answers.filter(({ status }) => status === 503).length > 3;
      });
      for (const answer of answers) if (![202, 429].includes(answer.status)) expectUnavailable(answer);
      for (const instance of full.instances) expectStatus(await instance.read(key), 200);
    } finally {
      rmSync(ballast);
    }
    await timeUntil("nothing is accepted again", WELL_WITHIN_MS, async () => {
      const statuses = await Promise.all(
        full.instances.map((instance, index) => instance.submit(key, ":h room", `room-${index}`)),
      );
      return statuses.every(({ status }) => status === 202);
    });
    await until("not all is sent", async () => {
      return (await listCommands(full.at(0), home)).every(({ status }) => ["sent", "failed"].includes(status));
    });
    const kept = await listCommands(full.at(1), home);
    const ids = new Set(kept.map(({ command_id }) => command_id));
    const accepted = answers.filter(({ status }) => status === 202);
    expect(accepted.filter(({ body }) => !ids.has(body.command_id))).toEqual([]);
    const sent = full.simulator.calls().calls.flatMap(({ command }) => command ?? []);
    const twice = sent.filter((text, index) => text !== ":h room" && sent.indexOf(text) !== index);
    expect(twice).toEqual([]);
  },
  120_000,
);
