// How much keys were used, as an operator sees it: by code, by hour, for 30 days, over restarts.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { createOperator, type KeyBody, type NewKeyBody, type Operator, type ServerBody } from "./operator.ts";

const PATH = "/v2/game/server";
const HOUR_MS = 3_600_000;
const DAYS_30_MS = 30 * 24 * HOUR_MS;

let api: FakeGameApi;
let gatehouse: TestGatehouse;
let operator: Operator;
let server: ServerBody;
let key: NewKeyBody;

beforeAll(async () => {
  api = startFakeGameApi();
  gatehouse = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: api.url } });
  operator = createOperator(gatehouse);
});
afterAll(async () => {
  await gatehouse.stop();
  await api.stop();
});
beforeEach(async () => {
  api.answer = () => Response.json(BASE_INFO);
  gatehouse.clock.advance(HOUR_MS);
  server = await operator.addServer({ community: "town" });
  key = await operator.addKey(server, { sections: ["Players"] });
});

const hourOf = (time: number) => time - (time % HOUR_MS);

async function ask(path = PATH, token = key.token): Promise<void> {
  await (await gatehouse.get(path, token)).text();
}

test("a key's usage tells all requests, and the refused ones by code", async () => {
  for (let i = 0; i < 3; i++) await ask();
  await ask(`${PATH}?Staff=true`);
  await ask(`${PATH}?Staff=true`);
  await ask("/v2/elsewhere/game/server");
  await operator.changeKey(key, { versions: [] });
  await ask();
  await operator.changeKey(key, { versions: ["v2"] });
  gatehouse.clock.advance(10_000);
  api.answer = () => Response.json({ code: 9999, message: "no" }, { status: 500 });
  await ask();
  const totals = { requests: 8, refusals: { 5009: 1, 5010: 1, 5011: 2, 5019: 1 } };
  expect((await operator.showKey(key)).usage).toEqual({
    ...totals,
    hours: [{ hour: hourOf(gatehouse.clock.now), ...totals }],
  });
});

test("HEAD, 304, the limit and the block count too; what never reached the key does not", async () => {
  const answer = await gatehouse.get(PATH, key.token);
  await gatehouse.get(PATH, key.token, { "If-None-Match": answer.headers.get("etag") ?? "" });
  await fetch(gatehouse.url + PATH, { method: "HEAD", headers: { Authorization: `Bearer ${key.token}` } });
  await ask(`${PATH}/nothing`);
  await ask(PATH, `${key.token}x`);
  await ask("/v1/server");
  await fetch(gatehouse.url + PATH, { method: "PUT", headers: { Authorization: `Bearer ${key.token}` } });
  expect((await operator.showKey(key)).usage).toMatchObject({ requests: 3, refusals: {} });
  await Promise.all(Array.from({ length: 518 }, () => ask()));
  expect((await operator.showKey(key)).usage).toMatchObject({
    requests: 521,
    refusals: { 5016: 399, 5100: 2 },
  });
});

test("hours are told oldest first, each with its own counts, and only those in which there was something", async () => {
  const first = hourOf(gatehouse.clock.now);
  gatehouse.clock.now = first + HOUR_MS - 1;
  await ask();
  gatehouse.clock.advance(1);
  await ask();
  await ask(`${PATH}?Staff=true`);
  gatehouse.clock.advance(5 * HOUR_MS);
  await ask();
  expect((await operator.showKey(key)).usage).toEqual({
    requests: 4,
    refusals: { 5011: 1 },
    hours: [
      { hour: first, requests: 1, refusals: {} },
      { hour: first + HOUR_MS, requests: 2, refusals: { 5011: 1 } },
      { hour: first + 6 * HOUR_MS, requests: 1, refusals: {} },
    ],
  });
});

test("last_used_at is the time of the last request, refused or not, in the key and in the list", async () => {
  const lastUsed = async () => {
    const shown = (await operator.showKey(key)).last_used_at;
    const listed = (await operator.list<KeyBody>("/admin/keys")).find((one) => one.key_id === key.key_id);
    expect(listed?.last_used_at).toBe(shown);
    return shown ?? Number.NaN;
  };
  expect((await operator.showKey(key)).last_used_at).toBeNull();
  for (const path of [PATH, `${PATH}?Staff=true`]) {
    gatehouse.clock.advance(7_000);
    const usedAt = gatehouse.clock.now;
    await ask(path);
    const changed = await operator.changeKey(key, { label: "renamed" });
    expect(changed.last_used_at).toBe(usedAt);
    expect(Math.abs((await lastUsed()) - usedAt)).toBeLessThanOrEqual(5_000);
    gatehouse.clock.advance(60_000);
    expect(Math.abs((await lastUsed()) - usedAt)).toBeLessThanOrEqual(5_000);
  }
});

test("use is the key's: tokens of one key count together, keys of one server apart", async () => {
  const rotated = await operator.rotate(key, { grace_seconds: 60 });
  const other = await operator.addKey(server);
  await ask();
  await ask(PATH, rotated.token);
  await ask(PATH, other.token);
  expect((await operator.showKey(key)).usage.requests).toBe(2);
  expect((await operator.showKey(other)).usage.requests).toBe(1);
});

test("a revoked key's usage can still be read, and refused requests with it are nobody's", async () => {
  await ask();
  await operator.revoke(key);
  await ask();
  expect((await operator.showKey(key)).usage).toMatchObject({ requests: 1, refusals: {} });
});

test("30 days are told, what is older is left out", async () => {
  const begin = hourOf(gatehouse.clock.now);
  await ask();
  gatehouse.clock.now = begin + DAYS_30_MS - 1;
  await ask(`${PATH}?Staff=true`);
  expect((await operator.showKey(key)).usage.requests).toBe(2);
  gatehouse.clock.advance(HOUR_MS);
  const { usage } = await operator.showKey(key);
  expect(usage).toMatchObject({ requests: 1, refusals: { 5011: 1 } });
  expect(usage.hours).toHaveLength(1);
});

test("usage and last_used_at survive a restart, and go on from there; the start forgets what is too old", async () => {
  const folder = makeTestFolder();
  const env = { GATEHOUSE_UPSTREAM_URL: api.url };
  const first = await startGatehouse({ folder, env });
  const { clock } = first;
  const mine = await createOperator(first).addKey(await createOperator(first).addServer());
  for (let i = 0; i < 3; i++) await first.get(PATH, mine.token);
  const usedAt = clock.now;
  await first.app.stop();

  clock.advance(HOUR_MS);
  const second = await startGatehouse({ folder, env, clock });
  const shown = await createOperator(second).showKey(mine);
  expect(shown.last_used_at).toBe(usedAt);
  expect(shown.usage.requests).toBe(3);
  await second.get(PATH, mine.token);
  expect((await createOperator(second).showKey(mine)).usage).toMatchObject({
    requests: 4,
    hours: [{ requests: 3 }, { requests: 1 }],
  });
  await second.app.stop();

  clock.now = hourOf(usedAt) + DAYS_30_MS + HOUR_MS;
  const third = await startGatehouse({ folder, env, clock });
  expect(await third.app.store.usage.read(mine.key_id, 0)).toEqual([
    { hour: hourOf(usedAt) + HOUR_MS, code: 0, count: 1 },
  ]);
  await third.app.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a store that takes no usage holds up neither callers nor operators, and gets it all once later", async () => {
  const { store } = gatehouse.app;
  const addUsage = store.usage.add;
  store.usage.add = () => Promise.reject(new Error("the disk is full"));
  await ask();
  await ask();
  expect((await operator.showKey(key)).usage.requests).toBe(0);
  store.usage.add = addUsage;
  await ask();
  expect((await operator.showKey(key)).usage.requests).toBe(3);
  expect((await operator.showKey(key)).usage.requests).toBe(3);
});
