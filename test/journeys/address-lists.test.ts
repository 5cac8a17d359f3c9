// Address lists of keys behind a proxy: operators are told when the lists are compared with the address of a proxy.
import { afterEach, expect, test } from "bun:test";
import { HOUR_MS } from "../../src/core/durations.ts";
import type { Readiness } from "../../src/core/wire/health.ts";
import { BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { cleanUp, undoLater } from "../temporary.ts";

const FORWARDED = { "X-Forwarded-For": "203.0.113.7" };
const LOCAL_LIST = { ipAllow: ["127.0.0.0/8"] };

afterEach(cleanUp);

async function start(env: Record<string, string> = {}): Promise<TestGatehouse> {
  const api = startFakeGameApi(() => Response.json(BASE_INFO));
  undoLater(() => api.stop());
  const gatehouse = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: api.url, ...env } });
  undoLater(() => gatehouse.stop());
  return gatehouse;
}

async function readNotices(gatehouse: TestGatehouse, token?: string): Promise<Readiness["notices"]> {
  const answer = await gatehouse.get("/readyz", token);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as Readiness).notices;
}

const warningsOf = ({ logLines }: TestGatehouse) => logLines.filter((line) => line.includes("proxy"));

test("a proxy that is not trusted, with a key that has an address list, is logged once and told to operators", async () => {
  const gatehouse = await start();
  const { token } = await gatehouse.addKey(await gatehouse.addServer(), LOCAL_LIST);
  // The list has the proxy's own address, so it lets everybody behind the proxy in.
  for (let i = 0; i < 5; i++) {
    expect((await gatehouse.get("/v2/game/server", token, FORWARDED)).status).toBe(200);
  }
  expect(warningsOf(gatehouse)).toHaveLength(1);
  expect(JSON.parse(warningsOf(gatehouse)[0] ?? "")).toMatchObject({ address: "127.0.0.1", level: 40 });
  expect(await readNotices(gatehouse, gatehouse.masterKey)).toMatchObject([
    {
      code: "untrusted_proxy",
      message: expect.stringContaining("from 127.0.0.1, which GATEHOUSE_TRUST_PROXY does not name"),
      remedy: expect.stringContaining("GATEHOUSE_TRUST_PROXY=127.0.0.1"),
      address: "127.0.0.1",
    },
  ]);

  expect(await readNotices(gatehouse)).toEqual([]);
  expect(await readNotices(gatehouse, "wrong".repeat(10))).toEqual([]);
  expect(await readNotices(gatehouse, token)).toEqual([]);

  gatehouse.clock.advance(HOUR_MS + 1);
  expect(await readNotices(gatehouse, gatehouse.masterKey)).toEqual([]);
});

test("a refused request of such a key is told too", async () => {
  const gatehouse = await start();
  const { token } = await gatehouse.addKey(await gatehouse.addServer(), { ipAllow: ["203.0.113.7"] });
  expect((await gatehouse.get("/v2/game/server", token, FORWARDED)).status).toBe(403);
  expect(await readNotices(gatehouse, gatehouse.masterKey)).toHaveLength(1);
});

test("nobody is warned of a trusted proxy, of direct requests, or of keys without an address list", async () => {
  const trusting = await start({ GATEHOUSE_TRUST_PROXY: "127.0.0.1" });
  const local = await trusting.addKey(await trusting.addServer(), LOCAL_LIST);
  expect((await trusting.get("/v2/game/server", local.token, FORWARDED)).status).toBe(403);

  const direct = await start();
  const server = await direct.addServer();
  const listed = await direct.addKey(server, LOCAL_LIST);
  const open = await direct.addKey(server);
  expect((await direct.get("/v2/game/server", listed.token)).status).toBe(200);
  expect((await direct.get("/v2/game/server", open.token, FORWARDED)).status).toBe(200);

  for (const gatehouse of [trusting, direct]) {
    expect(warningsOf(gatehouse)).toEqual([]);
    expect(await readNotices(gatehouse, gatehouse.masterKey)).toEqual([]);
  }
});
