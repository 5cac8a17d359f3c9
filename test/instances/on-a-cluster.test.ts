// Two instances on a cluster of three primaries: the same promises, and what happens while a node is away.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../process/run-gatehouse.ts";
import { type RedisCluster, type RedisServer, startRedisCluster } from "../redis-server.ts";
import { listCommands } from "./command-clients.ts";
import { askAllAtOnce, writeRead } from "./crowd.ts";
import {
  type Answer,
  endFleets,
  expectStatus,
  type Fleet,
  type Home,
  type Key,
  startFleet,
} from "./fleet.ts";

const ANSWER_WITHIN_MS = 1_500;
const BACK_WITHIN_MS = 2_000;
/** Longer than the other nodes need to notice that one is away. */
const AWAY_MS = 2_600;
const SLOTS = 16_384;

let cluster: RedisCluster;
let fleet: Fleet;

beforeAll(async () => {
  cluster = await startRedisCluster();
  const env = { GATEHOUSE_COMMAND_INTERVAL_MS: "50", GATEHOUSE_UPSTREAM_TIMEOUT_MS: "500" };
  fleet = await startFleet({ stores: cluster.url, count: 2, env });
});
afterAll(endFleets);

/** A failed test must not affect the next one. */
afterEach(async () => {
  for (const instance of fleet.instances) {
    const isBack = async () => (await instance.admin("GET", "/blocks")).status === 200;
    const restart = async () => {
      console.log(`${instance.url} did not come back and is started anew`);
      await instance.kill();
      await instance.start();
    };
    await until("the cluster is not back", isBack, 8_000).catch(restart);
  }
});

function textsOf({ town }: Home): string[] {
  const { calls } = fleet.simulator.calls();
  return calls.filter(({ server }) => server === town).flatMap(({ command }) => command ?? []);
}

async function nodeOf(tag: string): Promise<RedisServer> {
  const slot = Number(await cluster.nodes[0]?.ask("CLUSTER", "KEYSLOT", `{${tag}}`));
  const node = cluster.nodes[Math.floor((slot * cluster.nodes.length) / SLOTS)];
  if (!node) throw new Error("that slot belongs to nobody");
  return node;
}

/** One server with a key for each node, in the order of the nodes. */
async function addOneForEachNode(): Promise<{ home: Home; key: Key }[]> {
  const found = new Map<RedisServer, Home>();
  while (found.size < cluster.nodes.length) {
    const home = await fleet.addServer();
    found.set(await nodeOf(home.serverId), home);
  }
  return Promise.all(
    cluster.nodes.map(async (node) => {
      const home = found.get(node) as Home;
      return { home, key: await fleet.addKey(home) };
    }),
  );
}

async function waitUntilHealthy(): Promise<void> {
  await until("the cluster does not come together again", async () => {
    const states = await Promise.all(
      cluster.nodes.map((node) => node.ask("CLUSTER", "INFO").catch(() => "")),
    );
    return states.every((state) => String(state).includes("cluster_state:ok"));
  });
}

test("servers on every node: read, limit, block, change, command", async () => {
  const places = await addOneForEachNode();
  const ports = fleet.instances.map(({ port }) => port);
  for (const { home, key } of places) {
    expectStatus(await fleet.at(0).read(key), 200);
    expect((await fleet.at(1).read(key)).headers.get("x-ratelimit-remaining")).toBe("118");
    const answers = await askAllAtOnce(ports, Array<string>(520).fill(writeRead(key.token)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(118);
    const bodies = answers.map(({ body }) => JSON.parse(body));
    const counts = bodies.filter(({ code }) => code === 5016).map(({ details }) => details.count);
    expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: 399 }, (_, index) => 121 + index));
    for (const instance of fleet.instances) expect((await instance.read(key)).body.code).toBe(5100);
    expectStatus(await fleet.at(0).admin("DELETE", `/blocks/${key.keyId}`), 204);

    const texts = [":h one", ":h two", ":h three", ":h four"];
    for (const [index, text] of texts.entries())
      expectStatus(await fleet.at(index % 2).submit(key, text), 202);
    await until("not all is delivered", () => textsOf(home).length === 4);
    expect(textsOf(home)).toEqual(texts);

    expectStatus(await fleet.at(1).admin("DELETE", `/keys/${key.keyId}`), 204);
    await until("the key still works", async () => (await fleet.at(0).read(key)).status === 401);
  }
});

describe("while one node is away, every answer comes in time, and all is well soon after its return:", () => {
  async function watch(key: Key, ms: number): Promise<Answer[]> {
    const endAt = performance.now() + ms;
    const answers: Answer[] = [];
    await Promise.all(
      fleet.instances.map(async (instance) => {
        while (performance.now() < endAt) {
          answers.push(await instance.read(key));
          answers.push(await instance.submit(key, ":h meanwhile"));
          await Bun.sleep(100);
        }
      }),
    );
    return answers;
  }

  async function expectGoodService(goAway: () => unknown, comeBack: () => unknown) {
    const places = await addOneForEachNode();
    for (const { key } of places) expectStatus(await fleet.at(0).submit(key, ":h before"), 202);
    await goAway();
    const answers = await Promise.all(places.map(({ key }) => watch(key, AWAY_MS))).finally(comeBack);
    const all = answers.flat();
    const longest = Math.max(...all.map(({ ms }) => ms));
    console.log(`the longest of ${all.length} answers took ${Math.round(longest)} ms`);
    const odd = all.filter(({ status, body }) => status > 202 && ![5016, 5106, 5015].includes(body.code));
    expect({ isLate: longest > ANSWER_WITHIN_MS, odd }).toEqual({ isLate: false, odd: [] });

    await waitUntilHealthy();
    const beganAt = performance.now();
    for (const { key } of places) {
      for (const [index, instance] of fleet.instances.entries()) {
        await until(
          `instance ${index} does not accept commands again`,
          async () => (await instance.submit(key, ":h after", `after-${index}`)).status === 202,
          BACK_WITHIN_MS,
        );
      }
    }
    console.log(`back after ${Math.round(performance.now() - beganAt)} ms`);
    // Accepted keys exist, refused ones do not.
    for (const [index, { home }] of places.entries()) {
      const kept = (await listCommands(fleet.at(1), home)).map(({ command }) => command);
      const meanwhile = answers[index]?.filter(({ status }) => status === 202).map(() => ":h meanwhile");
      expect(kept.toSorted()).toEqual([":h after", ":h after", ":h before", ...(meanwhile ?? [])]);
    }
  }

  test("a node that has not the directory is frozen", async () => {
    const directory = await nodeOf("directory");
    const node = cluster.nodes.find((one) => one !== directory) as RedisServer;
    await expectGoodService(
      () => node.freeze(),
      () => node.thaw(),
    );
  });

  test("the node that has the directory is frozen", async () => {
    const node = await nodeOf("directory");
    await expectGoodService(
      () => node.freeze(),
      () => node.thaw(),
    );
  });

  test("the node that has the directory is killed and started again", async () => {
    const node = await nodeOf("directory");
    await expectGoodService(
      () => node.kill(),
      () => node.start(),
    );
  });
});

test("what is refused on the other nodes because one is frozen has not happened", async () => {
  const directory = await nodeOf("directory");
  const places = await addOneForEachNode();
  const frozen = cluster.nodes.findIndex((node) => node !== directory);
  const node = cluster.nodes[frozen] as RedisServer;
  const { home, key } = places[frozen] as (typeof places)[number];
  const instance = fleet.at(0);
  const outcomes = new Map<string, number>();
  node.freeze();
  const endAt = performance.now() + 1_600;
  const reading = instance.read(key);
  // The node with the directory works all the time; only another one is away.
  await Promise.all(
    Array.from({ length: 16 }, async (_, worker) => {
      for (let count = 0; performance.now() < endAt; count++) {
        const label = `made ${worker} ${count}`;
        const { status } = await instance.admin("POST", "/keys", { server_id: home.serverId, label });
        outcomes.set(label, status);
      }
    }),
  ).finally(() => node.thaw());
  expect((await reading).ms).toBeLessThan(ANSWER_WITHIN_MS);
  await waitUntilHealthy();
  const labels = new Set<string>();
  for (let cursor = ""; ; ) {
    const path = `/keys?server_id=${home.serverId}&limit=200${cursor}`;
    const page = expectStatus(await fleet.at(1).admin("GET", path), 200);
    for (const { label } of page.items) labels.add(label);
    if (page.next === null) break;
    cursor = `&cursor=${page.next}`;
  }
  const all = [...outcomes];
  const lost = all.filter(([label, status]) => status === 201 && !labels.has(label));
  const madeLate = all.filter(([label, status]) => status !== 201 && labels.has(label));
  const refused = all.filter(([, status]) => status === 503);
  console.log(`${all.length} keys, ${refused.length} refused, ${madeLate.length} of them made all the same`);
  expect({ lost, madeLate }).toEqual({ lost: [], madeLate: [] });
});
