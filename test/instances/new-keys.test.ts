// A key that one instance has created works at once on every other, and invented tokens cost Redis next to nothing.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mintToken } from "../../src/core/token.ts";
import { type RedisServer, startRedis } from "../redis-server.ts";
import { askAllAtOnce, writeRead } from "./crowd.ts";
import { endFleets, expectStatus, type Fleet, type Home, startFleet } from "./fleet.ts";

const INVENTED = 2_000;

let redis: RedisServer;
let fleet: Fleet;

beforeAll(async () => {
  redis = await startRedis();
  // Without fsync: on a busy disk Redis could be too slow to answer in time.
  await redis.ask("CONFIG", "SET", "appendfsync", "no");
  fleet = await startFleet({ stores: redis.url, count: 2, env: { GATEHOUSE_FRESH_MS: "600000" } });
});
afterAll(endFleets);

/** The token of a key that the first instance has just created. */
async function createKey({ serverId }: Home): Promise<string> {
  const wish = { server_id: serverId, label: "new" };
  return expectStatus(await fleet.at(0).admin("POST", "/keys", wish), 201).token;
}

test("the first request with a new key, on another instance and right after it was created, is answered", async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 100; i++) {
    // Every fifth key belongs to a new server.
    const home = await fleet.addServer();
    for (let keys = 0; keys < 5 && statuses.length < 100; keys++) {
      statuses.push((await fleet.at(1).read({ token: await createKey(home) })).status);
    }
    if (statuses.length === 100) break;
  }
  expect(statuses).toEqual(Array.from({ length: 100 }, () => 200));
});

test("a token that replaces another works at once on another instance", async () => {
  const key = await fleet.addKey(await fleet.addServer());
  for (let i = 0; i < 20; i++) {
    const { token } = expectStatus(await fleet.at(0).admin("POST", `/keys/${key.keyId}/rotate`, {}), 200);
    expect((await fleet.at(1).read({ token })).status).toBe(200);
  }
});

test("2,000 invented tokens at once are refused for a few questions to Redis, and new keys work meanwhile", async () => {
  const home = await fleet.addServer();
  await redis.ask("CONFIG", "RESETSTAT");
  const beganAt = performance.now();
  const requests = Array.from({ length: INVENTED }, () => writeRead(mintToken(randomBytes)));
  let isOver = false;
  const flood = askAllAtOnce([fleet.at(1).port], requests).finally(() => {
    isOver = true;
  });
  let valid = 0;
  do {
    expectStatus(await fleet.at(1).read({ token: await createKey(home) }), 200);
    valid++;
  } while (!isOver);
  const codes = (await flood).map(({ status, body }) => `${status} ${JSON.parse(body).code}`);
  const elapsedMs = performance.now() - beganAt;
  expect(new Set(codes)).toEqual(new Set(["401 5008"]));
  const stats = String(await redis.ask("INFO", "commandstats"));
  const scripts = Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]);
  console.log(
    `${INVENTED} invented tokens in ${Math.round(elapsedMs)} ms: ${scripts} scripts, ${valid} new keys`,
  );
  // At most a hundred catch-ups a second, the heartbeats and jobs of two instances, and the scripts for each new key.
  expect(scripts).toBeLessThan(elapsedMs / 10 + elapsedMs / 25 + 10 * valid + 20);
});
