// With a shared Redis, doctor makes no call that the instances would not make.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { pauseBudget } from "../../src/core/budget.ts";
import type { Log } from "../../src/core/ports/log.ts";
import { identifyUpstream } from "../../src/core/upstream-notes.ts";
import { runChecks } from "../../src/doctor/run-checks.ts";
import { openRedisStore, type RedisStore } from "../../src/store/redis/redis-store.ts";
import { Sealer } from "../../src/store/sealer.ts";
import { type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { type RedisServer, startRedis, stopRedisServers } from "../redis-server.ts";
import { makeTestFolder } from "../start-gatehouse.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
const GLOBAL_KEY = "canary-global-key";
const folder = makeTestFolder();
let redis: RedisServer;
let store: RedisStore;
let api: FakeGameApi;

beforeAll(async () => {
  redis = await startRedis();
  const sealer = new Sealer("a secret");
  store = await openRedisStore({ address: redis.address, sealer, log: SILENT, commandLeaseMs: 10_000 });
  api = startFakeGameApi();
});
beforeEach(async () => {
  await redis.ask("DEL", "gatehouse:{budget}:budget", "gatehouse:{budget}:refused-global-keys");
  api.calls.length = 0;
});
afterAll(async () => {
  await store.close();
  await api.stop();
  await stopRedisServers();
  rmSync(folder, { recursive: true, force: true });
});

async function checkGameApi(storeUrl = redis.url) {
  const overrides = {
    GATEHOUSE_STORE: storeUrl,
    GATEHOUSE_ARCHIVE: "off",
    GATEHOUSE_SECRET: "a secret that is long enough for the settings",
    GATEHOUSE_UPSTREAM_URL: api.url,
    GATEHOUSE_UPSTREAM_GLOBAL_KEY: GLOBAL_KEY,
  };
  const findings = await runChecks({ folder, overrides, testsKeys: true, acceptsAllCertificates: false });
  return findings.filter(({ name }) => name === "game API");
}

test("without a note it calls", async () => {
  expect(await checkGameApi()).toMatchObject([{ result: "ok" }]);
  expect(api.calls).toHaveLength(1);
});

test("during a pause of the instances nothing is called, and the time left is told", async () => {
  const hint = { limit: null, remaining: null, resetAt: null, retryAfterMs: 600_000 };
  await store.relayShare.changeBudget((budget) => pauseBudget(budget, hint, store.clock()));
  const words = expect.stringMatching(/for (10m|9m \d+s) more/);
  expect(await checkGameApi()).toMatchObject([{ result: "skipped", finding: words }]);
  expect(api.calls).toEqual([]);
});

test("a refused application key is reported without a call", async () => {
  const failure = { code: 2003, message: "No.", isRateLimit: false };
  await store.relayShare.saveGlobalKeyFailure(identifyUpstream(api.url, GLOBAL_KEY), failure);
  expect(await checkGameApi()).toMatchObject([{ result: "failure" }]);
  expect(api.calls).toEqual([]);
});

test("with a Redis that cannot be reached, nothing is called", async () => {
  expect(await checkGameApi("redis://127.0.0.1:9")).toMatchObject([{ result: "skipped" }]);
  expect(api.calls).toEqual([]);
});
