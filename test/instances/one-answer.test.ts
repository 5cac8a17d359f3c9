// Every instance tells the same about servers, pauses, alerts and health, whichever of them asks the game API, with Redis and
// without it.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { OWN_NOTICES } from "../../src/core/notice-codes.ts";
import type { Readiness } from "../../src/core/wire/health.ts";
import { FaultProxy } from "../fault-proxy.ts";
import { runToEnd } from "../run-gatehouse.ts";
import { makeFolder } from "../temporary.ts";
import { until } from "../until.ts";
import {
  endFleets,
  expectStatus,
  type Fleet,
  type Instance,
  MASTER_KEY,
  SECRET,
  startBacking,
  startFleet,
} from "./fleet.ts";

const INSTANCES = 3;
const WATCH_EVERY_MS = 400;

let fleet: Fleet;
let toRedis: FaultProxy;
let env: Record<string, string>;

beforeAll(async () => {
  const { redis, addresses } = await startBacking();
  toRedis = await FaultProxy.start(redis.port);
  env = {
    GATEHOUSE_WATCH: "on",
    GATEHOUSE_WATCH_INTERVAL_MS: String(WATCH_EVERY_MS),
    GATEHOUSE_FRESH_MS: "100",
    GATEHOUSE_REDIS: toRedis.url,
    GATEHOUSE_STORE: String(addresses.stores),
  };
  fleet = await startFleet({ ...addresses, redis: toRedis.url, count: INSTANCES, env });
});
afterAll(endFleets);

async function addNamed(name: string, serverKey: string): Promise<string> {
  const draft = { name, server_key: serverKey };
  return expectStatus(await fleet.at(0).admin("POST", "/servers", draft), 201).server_id;
}

/** What an instance tells of every server, without the moments that differ from one second to the next. */
async function tellServers(instance: Instance): Promise<string[]> {
  const { items } = expectStatus(await instance.admin("GET", "/servers"), 200);
  return items.map(
    // biome-ignore lint/suspicious/noExplicitAny: single fields of a resource.
    ({ name, state, watching, last_error, last_read_at, players }: any) =>
      `${name}: ${state}, ${watching.state}, ${last_error?.upstream_code}, read ${last_read_at !== null}, players ${players !== null}`,
  );
}

async function tellUpstream(instance: Instance): Promise<object> {
  const { paused_until, pause_reason, resumed_at, failing_servers, refused_keys, global_key_refused } = expectStatus(
    await instance.admin("GET", "/upstream"),
    200,
  );
  return { paused_until, pause_reason, resumed_at, failing_servers, refused_keys, global_key_refused };
}

/** All of it; only what an instance says of itself may have begun at another time on each. */
async function tellNotices(instance: Instance): Promise<Readiness["notices"]> {
  const { body } = await instance.ask("GET", "/readyz", MASTER_KEY);
  return (body as Readiness).notices.map(({ since, ...notice }) => {
    return OWN_NOTICES.has(notice.code) || since === undefined ? notice : { ...notice, since };
  });
}

/** Resolves with what all instances tell, once all tell the same and `isSo` is true of it. */
async function waitUntilSame<T>(tell: (instance: Instance) => Promise<T>, isSo: (told: T) => boolean): Promise<T> {
  let told: T[] = [];
  await until("they do not tell the same", async () => {
    told = await Promise.all(fleet.instances.map(tell));
    return Bun.deepEquals(told, Array<T>(INSTANCES).fill(told[0] as T)) && isSo(told[0] as T);
  }).catch((error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(told, null, 2)}`);
  });
  return told[0] as T;
}

async function listDoctorFindings(instance: Instance): Promise<string> {
  const own = { ...env, GATEHOUSE_MASTER_KEY: MASTER_KEY, GATEHOUSE_PORT: String(instance.port) };
  const { stdout } = await runToEnd(["doctor", "--json"], {
    cwd: makeFolder(),
    env: {
      ...own,
      GATEHOUSE_SECRET: SECRET,
      GATEHOUSE_UPSTREAM_URL: fleet.simulator.url,
    },
  });
  return stdout;
}

const SHARING = { "with Redis": () => {}, "without Redis": () => toRedis.set({ kind: "closed" }) };

for (const [title, begin] of Object.entries(SHARING)) {
  describe(`${title}, all instances tell the same`, () => {
    beforeAll(async () => {
      begin();
      const isAway = title === "without Redis";
      await waitUntilSame(tellNotices, (notices) => notices.some(({ code }) => code === "redis_away") === isAway);
    });

    test("state of every server: online, offline, and with a refused key", async () => {
      const suffix = title.replaceAll(" ", "");
      await addNamed(`Good ${suffix}`, `fleet-Good${suffix}`);
      await addNamed(`Gone ${suffix}`, `offline-Gone${suffix}`);
      await addNamed(`Bad ${suffix}`, `invalid-Bad${suffix}`);
      const told = await waitUntilSame(tellServers, (servers) => {
        const own = servers.filter((server) => server.includes(suffix)).join();
        return ["online", "offline", "key_refused"].every((state) => own.includes(`: ${state},`));
      });
      expect(told.join()).not.toContain("not_asked");
    });

    test("health: the notices and what doctor finds name the refused key", async () => {
      const notices = await waitUntilSame(tellNotices, (all) => all.some(({ message }) => message.includes("Bad")));
      expect(notices.find(({ code }) => code === "server_keys_refused")).toMatchObject({ since: expect.any(Number) });
      for (const instance of fleet.instances) {
        const found = await listDoctorFindings(instance);
        for (const { message } of notices) expect(found).toContain(JSON.stringify(message).slice(1, -1));
      }
    });

    test("a game API that fails, and since when", async () => {
      fleet.simulator.arm({ kind: "code", code: 1001 });
      const isFailing = ({ code }: Readiness["notices"][number]) => code === "upstream_failing";
      const failing = await waitUntilSame(
        async (instance) => (await tellNotices(instance)).filter(isFailing),
        // Those that are read seldom fail later.
        ([notice]) => (notice?.count ?? 0) > 0,
      );
      expect(failing).toMatchObject([{ since: expect.any(Number) }]);
      await fleet.simulator.clearFaults();
      await waitUntilSame(tellNotices, (all) => !all.some(isFailing));
    });

    test("pause, its end and who ended it", async () => {
      fleet.simulator.arm({ kind: "rate-limit", retry_after: 600, times: 1, target: "reads" });
      const since = async (instance: Instance) =>
        (await tellNotices(instance)).find(({ code }) => code === "upstream_paused")?.since;
      expect(await waitUntilSame(since, (at) => at !== undefined)).toBeNumber();
      await waitUntilSame(tellUpstream, (told) => JSON.stringify(told).includes("named_by_game_api"));
      expectStatus(await fleet.at(2).admin("POST", "/upstream/resume"), 200);
      await waitUntilSame(tellUpstream, (told) => JSON.stringify(told).includes('"paused_until":null'));
      await fleet.simulator.clearFaults();
    });

    test("rules of alerts", async () => {
      const { items } = expectStatus(await fleet.at(0).admin("GET", "/servers"), 200);
      const path = `/servers/${items[0].server_id}/alerts`;
      const rules = { kills: { count: title.length, seconds: 10 } };
      expectStatus(await fleet.at(1).admin("PUT", path, rules), 200);
      for (const instance of fleet.instances)
        expect(expectStatus(await instance.admin("GET", path), 200)).toMatchObject(rules);
    });
  });
}
