// One instance on a PostgreSQL without Redis: a second is refused, one that was killed can be followed soon, and one that was
// frozen and wakes beside its successor writes nothing and ends.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type PostgresServer, startPostgres } from "../postgres-server.ts";
import { runToEnd } from "../run-gatehouse.ts";
import { makeFolder } from "../temporary.ts";
import { until } from "../until.ts";
import { endFleets, expectStatus, Instance, MASTER_KEY, SECRET } from "./fleet.ts";

/** What the contract promises. */
const FOLLOWED_WITHIN_MS = 15_000;

let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(endFleets);

function environment(store: string): Record<string, string> {
  return {
    GATEHOUSE_STORE: store,
    GATEHOUSE_SECRET: SECRET,
    GATEHOUSE_MASTER_KEY: MASTER_KEY,
    GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9",
    GATEHOUSE_WATCH: "off",
  };
}

async function start(store: string): Promise<Instance> {
  const instance = new Instance(environment(store));
  await instance.start();
  return instance;
}

function addServer(instance: Instance, name: string) {
  return instance.admin("POST", "/servers", { name, server_key: `alone-${name}` });
}

async function listNames(instance: Instance): Promise<string[]> {
  const { items } = expectStatus(await instance.admin("GET", "/servers"), 200);
  return items.map(({ name }: { name: string }) => name);
}

test("a second instance ends with 1 and a sentence that names GATEHOUSE_REDIS, and the first goes on", async () => {
  const store = await postgres.createDatabase();
  const first = await start(store);
  const env = { GATEHOUSE_PORT: "0", ...environment(store) };
  const second = await runToEnd(["serve"], { cwd: makeFolder(), env });
  expect(second.exitCode).toBe(1);
  expect(second.stdout).not.toContain("listening on");
  expect(second.stderr).toContain("GATEHOUSE_REDIS");
  expectStatus(await addServer(first, "Town"), 201);
  expect(await first.stop()).toBe(0);
  const next = await start(store);
  expect(await listNames(next)).toEqual(["Town"]);
  await next.stop();
});

test("after a kill -9 of the first, another starts within 15 s", async () => {
  const store = await postgres.createDatabase();
  const first = await start(store);
  expectStatus(await addServer(first, "Town"), 201);
  await first.kill();
  const beganAt = performance.now();
  const second = await start(store);
  await until("it is not ready", async () => (await second.checkReadiness()).status === 200);
  expect(performance.now() - beganAt).toBeLessThan(FOLLOWED_WITHIN_MS);
  expect(await listNames(second)).toEqual(["Town"]);
  await second.stop();
});

test("one that was frozen and wakes beside its successor writes nothing and ends with 1", async () => {
  const store = await postgres.createDatabase();
  const first = await start(store);
  const { server_id } = expectStatus(await addServer(first, "Town"), 201);
  const wish = { server_id, label: "bot", commands: ["*"] };
  const key = expectStatus(await first.admin("POST", "/keys", wish), 201);
  first.freeze();
  const second = await start(store);
  await until("it is not ready", async () => (await second.checkReadiness()).status === 200);
  // The frozen one finds these in its sockets when it wakes.
  const asked = [
    addServer(first, "Late"),
    first.admin("PATCH", `/servers/${server_id}`, { name: "Changed late" }),
    first.admin("DELETE", `/keys/${key.key_id}`),
    first.submit(key, ":h late"),
  ].map((answer) => answer.then(({ status }) => status).catch(() => 0));
  first.thaw();
  expect(await first.process.exited).toBe(1);
  expect(first.process.stderr).toContain("GATEHOUSE_REDIS");
  // Whatever it answered, it promised nothing.
  for (const status of await Promise.all(asked)) expect([0, 503]).toContain(status);
  expect(await listNames(second)).toEqual(["Town"]);
  expect((await second.admin("GET", `/keys/${key.key_id}`)).body.revoked_at).toBeNull();
  expect((await second.admin("GET", "/commands")).body.items).toEqual([]);
  await second.stop();
});
