// The usage of keys as an operator sees it: by code and hour, for 30 days, also after a restart.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { HOUR_MS } from "../../src/core/durations.ts";
import { BASE_INFO } from "../fake-game-api.ts";
import { startSharedServices, stopSharedServices } from "../shared-services.ts";
import { FakeClock, makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { until } from "../until.ts";
import { createOperator, type KeyBody, type NewKeyBody, type ServerBody } from "./operator.ts";
import { openStage } from "./stage.ts";

const PATH = "/v2/game/server";
const DAYS_30_MS = 30 * 24 * HOUR_MS;

let server: ServerBody;
let key: NewKeyBody;

const { game: api, gatehouse, operator } = await openStage();
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

test("a key's usage has all requests, and the refused ones by code", async () => {
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

test("HEAD, 304, the limit and the block count too; requests that are refused before authentication do not", async () => {
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

test("hours are listed oldest first, each with its own counts, and only hours with requests", async () => {
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

test("a revoked key's usage can still be read, and refused requests with it are not counted", async () => {
  await ask();
  await operator.revoke(key);
  await ask();
  expect((await operator.showKey(key)).usage).toMatchObject({ requests: 1, refusals: {} });
});

test("usage of 30 days is shown, older usage is left out", async () => {
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

test("usage and last_used_at survive a restart and continue from there; the start deletes usage that is too old", async () => {
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
  const readAll = () => third.app.store.usage.read(mine.key_id, 0);
  await until("the old usage is not deleted", async () => (await readAll()).length === 1);
  expect(await readAll()).toEqual([{ hour: hourOf(usedAt) + HOUR_MS, code: 0, count: 1 }]);
  await third.app.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a store that refuses usage delays neither callers nor operators, and later gets every count once", async () => {
  const folder = makeTestFolder();
  const env = { GATEHOUSE_UPSTREAM_URL: api.url };
  const first = await startGatehouse({ folder, env });
  const { usage } = first.app.store;
  const mine = await createOperator(first).addKey(await createOperator(first).addServer());
  const addUsage = usage.add;
  const refused = Promise.withResolvers<void>();
  usage.add = () => {
    refused.resolve();
    return Promise.reject(new Error("the disk is full"));
  };
  for (let i = 0; i < 2; i++) await first.get(PATH, mine.token);
  await refused.promise;
  expect((await createOperator(first).showKey(mine)).usage.requests).toBe(2);
  await first.get(PATH, mine.token);
  expect((await createOperator(first).showKey(mine)).usage.requests).toBe(3);
  usage.add = addUsage;
  await first.app.stop();
  expect(first.logLines.filter((line) => line.includes("usage cannot be written now"))).toHaveLength(1);

  const second = await startGatehouse({ folder, env, clock: first.clock });
  expect((await createOperator(second).showKey(mine)).usage.requests).toBe(3);
  await second.app.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(["SQLite", "PostgreSQL"])("use that is not written yet, on %s,", (kind) => {
  let env: Record<string, string>;
  const started: TestGatehouse[] = [];
  const folders: string[] = [];

  beforeAll(async () => {
    env = {
      GATEHOUSE_UPSTREAM_URL: api.url,
      GATEHOUSE_MASTER_KEY: "usage-master-key-0123456789abcdefgh",
      GATEHOUSE_SECRET: "usage-secret-0123456789abcdefghijkl",
      ...(kind === "PostgreSQL" && (await startSharedServices())),
    };
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map(({ app }) => app.stop()));
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  afterAll(stopSharedServices);

  async function start(options: { folder: string; clock?: FakeClock }): Promise<TestGatehouse> {
    const one = await startGatehouse({ ...options, env });
    started.push(one);
    return one;
  }

  async function startWithKey() {
    const folder = makeTestFolder();
    folders.push(folder);
    const first = await start({ folder });
    const by = createOperator(first);
    const mine = await by.addKey(await by.addServer(), { sections: [] });
    return { folder, first, by, mine };
  }

  test("is in every admin answer at once, although the store never takes it", async () => {
    const { first, by, mine } = await startWithKey();
    const { usage } = first.app.store;
    const addUsage = usage.add;
    const giveUp = Promise.withResolvers<void>();
    usage.add = () => giveUp.promise;
    for (let i = 1; i <= 3; i++) {
      first.clock.advance(1_000);
      await first.get(PATH, mine.token);
      const listed = (await by.list<KeyBody>("/admin/keys")).find(({ key_id }) => key_id === mine.key_id);
      expect(listed?.last_used_at).toBe(first.clock.now);
      expect((await by.changeKey(mine, { label: `renamed ${i}` })).last_used_at).toBe(first.clock.now);
      expect(await by.showKey(mine)).toMatchObject({ last_used_at: first.clock.now, usage: { requests: i } });
    }
    usage.add = addUsage;
    giveUp.resolve();
  });

  test("is shown once while the store has it and has not answered yet", async () => {
    const { first, by, mine } = await startWithKey();
    const { usage } = first.app.store;
    const addUsage = usage.add.bind(usage);
    const [taken, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    usage.add = async (entries) => {
      const refused = await addUsage(entries);
      taken.resolve();
      await held.promise;
      return refused;
    };
    for (let i = 0; i < 3; i++) await first.get(PATH, mine.token);
    await taken.promise;
    await first.get(PATH, mine.token);
    const shown = by.showKey(mine);
    // The lists have no counts, so they need not wait.
    await by.list<KeyBody>("/admin/keys");
    held.resolve();
    expect((await shown).usage.requests).toBe(4);
    expect((await by.showKey(mine)).usage.requests).toBe(4);
  });

  test("is written when Gatehouse stops: after the start everything is as it was shown", async () => {
    const { folder, first, by, mine } = await startWithKey();
    for (const path of [PATH, PATH, `${PATH}?Staff=true`]) {
      first.clock.advance(1_000);
      await first.get(path, mine.token);
    }
    const shown = await by.showKey(mine);
    expect(shown.usage).toMatchObject({ requests: 3, refusals: { 5011: 1 } });
    expect(shown.last_used_at).toBe(first.clock.now);
    await first.app.stop();
    started.splice(0);
    const second = await start({ folder, clock: first.clock });
    expect(await createOperator(second).showKey(mine)).toEqual(shown);
  });
});

test("two instances show the same in the end, and never more than there was", async () => {
  const env = {
    GATEHOUSE_UPSTREAM_URL: api.url,
    GATEHOUSE_MASTER_KEY: "usage-master-key-0123456789abcdefgh",
    GATEHOUSE_SECRET: "usage-secret-0123456789abcdefghijkl",
    ...(await startSharedServices()),
  };
  const clock = new FakeClock();
  const instances = [await startGatehouse({ env, clock }), await startGatehouse({ env, clock })];
  const [first] = instances;
  if (!first) throw new Error("nothing was started");
  const mine = await createOperator(first).addKey(await createOperator(first).addServer());
  // Two requests with the first instance, three with the second; an unknown key is not counted.
  for (const [index, instance] of instances.entries()) {
    await until("the key is not known everywhere", async () => (await instance.get(PATH, mine.token)).ok);
    for (let i = 0; i < index + 1; i++) await instance.get(PATH, mine.token);
  }
  for (const instance of instances) {
    await until("the other's use is not shown", async () => {
      const { requests } = (await createOperator(instance).showKey(mine)).usage;
      expect(requests).toBeLessThanOrEqual(5);
      return requests === 5;
    });
  }
  await Promise.all(instances.map((instance) => instance.stop()));
  await stopSharedServices();
});
