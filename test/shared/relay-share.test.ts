// What instances share about the game API. Whoever can write to Redis can make up no reading, failure or budget, and can put no
// old one back.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Log } from "../../src/core/ports/log.ts";
import type { RelayShare, SharedReading, SharedStatus } from "../../src/core/ports/relay-share.ts";
import { CLOSED_BREAKER } from "../../src/core/readings/breaker.ts";
import { UNKNOWN_BUDGET } from "../../src/core/readings/budget.ts";
import { applyNews, createStatus } from "../../src/gateway/readings/server-status.ts";
import { BUDGET_NAME, knownName, leaseName } from "../../src/shared/names.ts";
import { type RedisServer, startRedis, stopRedisServers } from "../redis-server.ts";
import { until } from "../until.ts";
import { closeInstances, NOW, openInstance } from "./instances.ts";

const FRESH_MS = 5_000;
const MINUTE_MS = 60_000;
const SERVER = "srv_a";
const failure = { code: 2002, message: "invalid", isRateLimit: false };
const status: SharedStatus = {
  keyRevision: 1,
  remembered: null,
  breaker: CLOSED_BREAKER,
  breakerFailure: null,
  lastFailure: null,
  lastCallAt: 0,
};
const reading: SharedReading = {
  parts: { base: '{"Name":"Town"', sections: [], misfits: 0 },
  fetchedAt: NOW,
  keyRevision: 1,
};
const refused: SharedStatus = { ...status, remembered: { failure, at: NOW, forMs: null } };

let redis: RedisServer;
let now: number;
let warnings: string[];
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(stopRedisServers);
beforeEach(async () => {
  await redis.ask("FLUSHALL");
  now = NOW;
  warnings = [];
});
afterEach(closeInstances);

async function open(secret?: string): Promise<RelayShare> {
  const log: Log = { debug() {}, info() {}, warn: (_, text) => warnings.push(text), error() {} };
  const { shared } = await openInstance(redis.address, { log, clock: () => now, ...(secret && { secret }) });
  return shared.relayShare;
}

async function publish(share: RelayShare, published = status, id = SERVER, read = reading): Promise<number> {
  const known = await share.peek(id, 0);
  const { lease } = await share.consult(id, known?.version ?? 0);
  if (!lease) throw new Error("another instance holds the lease");
  return share.publish(lease, published, read);
}

const readField = async (field: string, id = SERVER) => String(await redis.ask("HGET", knownName(id), field));

describe("what one instance has published", () => {
  test("is taken over by another with the same secret, and by none with another", async () => {
    const [one, two, stranger] = [await open(), await open(), await open("another secret")];
    expect(await publish(one)).toBe(1);
    expect(await two.peek(SERVER, 0)).toEqual({ version: 1, status, reading });
    expect(await two.consult(SERVER, 0)).toEqual({ lease: null, news: { version: 1, status, reading } });
    expect(await two.peek(SERVER, 1)).toBeNull();
    await one.changeBudget((budget) => ({ ...budget, remaining: 7 }));
    expect(await two.changeBudget(() => undefined)).toEqual({ ...UNKNOWN_BUDGET, remaining: 7 });
    expect(warnings).toEqual([]);
    expect(await stranger.peek(SERVER, 0)).toEqual({ version: 1, status: null, reading: null });
  });

  test("is kept for a day, a refused key too, because the database remembers it", async () => {
    const share = await open();
    for (const published of [status, refused]) {
      await publish(share, published);
      const ttlMs = Number(await redis.ask("PTTL", knownName(SERVER)));
      expect(ttlMs).toBeGreaterThan(86_400_000 - MINUTE_MS);
      expect(ttlMs).toBeLessThanOrEqual(86_400_000);
    }
  });

  test("is not overwritten by the result of an older key, with or without a lease", async () => {
    const share = await open();
    await publish(share, { ...status, keyRevision: 2 });
    expect(await publish(share, status)).toBe(0);
    await share.amend(SERVER, status);
    expect((await share.peek(SERVER, 0))?.status?.keyRevision).toBe(2);
  });

  test("that a key is refused stays, unless the one that says otherwise has called", async () => {
    const share = await open();
    await publish(share, refused);
    await share.amend(SERVER, status);
    expect(await share.peek(SERVER, 0)).toEqual({ version: 1, status: refused, reading: null });
    await publish(share, status);
    expect(await share.peek(SERVER, 0)).toEqual({ version: 2, status, reading });
  });
});

describe("the lease to call for a server", () => {
  test("is held by one instance at a time, and released by publishing", async () => {
    const [one, two] = [await open(), await open()];
    const { lease } = await one.consult(SERVER, 0);
    expect(await two.consult(SERVER, 0)).toEqual({ lease: null, news: null });
    if (lease) await one.publish(lease, status, reading);
    expect((await two.consult(SERVER, 1)).lease).not.toBeNull();
    if (lease) expect(await one.publish(lease, status, reading)).toBe(0);
  });

  test("that somebody has planted without an end keeps nobody from calling", async () => {
    const share = await open();
    await redis.ask("SET", leaseName(SERVER), "planted");
    expect((await share.consult(SERVER, 0)).lease).not.toBeNull();
    await redis.ask("SET", leaseName("srv_b"), "planted", "PX", 86_400_000);
    expect((await share.consult("srv_b", 0)).lease).not.toBeNull();
  });
});

describe("forged", () => {
  const forged = JSON.stringify({ ...reading, parts: { ...reading.parts, base: '{"Name":"Forged"' } });
  const FORGERIES: [what: string, forge: (text: string) => string | Promise<string>][] = [
    ["without a signature", () => forged],
    ["with the signature of another", (text) => text.slice(0, 44) + forged],
    ["at another time", (text) => text.replace('"fetchedAt":1', '"fetchedAt":2')],
    ["of another key of the server", (text) => text.replace('"keyRevision":1', '"keyRevision":2')],
    ["that is a status", () => readField("status")],
    ["that is no JSON", () => "{"],
    ["that is empty", () => ""],
  ];
  test.each(FORGERIES)("a reading %s counts as absent, and so does such a failure", async (_, forge) => {
    const share = await open();
    await publish(share);
    await redis.ask("HSET", knownName(SERVER), "reading", await forge(await readField("reading")));
    expect(await share.peek(SERVER, 0)).toEqual({ version: 1, status, reading: null });
    expect(warnings).toHaveLength(1);
    // The next instance that asks may call, and what it publishes counts again.
    await until("it is still there", async () => (await redis.ask("EXISTS", knownName(SERVER))) === 0);
    await publish(share);
    expect((await share.peek(SERVER, 0))?.reading).toEqual(reading);

    const unsigned = JSON.stringify({ ...refused, keyRevision: 9, at: now });
    await redis.ask("HSET", knownName(SERVER), "status", `${"x".repeat(43)}.${unsigned}`);
    expect((await share.peek(SERVER, 0))?.status).toBeNull();
    await until("it is still there", async () => (await redis.ask("EXISTS", knownName(SERVER))) === 0);
    await publish(share);
    expect((await share.peek(SERVER, 0))?.status).toEqual(status);
  });

  test("readings of another server count as absent", async () => {
    const share = await open();
    await publish(share);
    const fields = ["status", await readField("status"), "reading", await readField("reading")];
    await redis.ask("HSET", knownName("srv_b"), "version", 5, ...fields);
    expect(await share.peek("srv_b", 0)).toEqual({ version: 5, status: null, reading: null });
  });

  test("budgets are ignored and replaced", async () => {
    const share = await open();
    const huge = { ...UNKNOWN_BUDGET, hasAnswer: true, limit: 1e9, remaining: 1e9, resetAt: 9e15 };
    await redis.ask("SET", BUDGET_NAME, `${"x".repeat(43)}.${JSON.stringify(huge)}`);
    expect(await share.changeBudget(() => undefined)).toEqual(UNKNOWN_BUDGET);
    await share.changeBudget((budget) => ({ ...budget, remaining: 3 }));
    expect((await (await open()).changeBudget(() => undefined)).remaining).toBe(3);
  });
});

describe("put back", () => {
  /** Publishes, then puts that back later, as somebody who can write to Redis. */
  async function replay(published: SharedStatus, laterMs: number) {
    const share = await open();
    await publish(share, published);
    const copy = await redis.ask("HGETALL", knownName(SERVER));
    now = NOW + laterMs;
    await publish(share, { ...status, keyRevision: 1 }, SERVER, { ...reading, fetchedAt: now });
    await redis.ask("DEL", knownName(SERVER));
    await redis.ask("HSET", knownName(SERVER), ...(copy as string[]));
    return share.peek(SERVER, 0);
  }

  test("a reading that is not fresh any more is not served", async () => {
    const news = await replay(status, FRESH_MS);
    const mine = createStatus({ serverId: SERVER, keyRevision: 1 }, now);
    if (news) applyNews(mine, news, FRESH_MS, now);
    expect(news?.reading).toEqual(reading);
    expect(mine.hit).toBeUndefined();
  });

  test("a status of a minute ago is ignored: an open breaker is over by then", async () => {
    const breaker = { failures: 9, openMs: MINUTE_MS, openUntil: NOW + MINUTE_MS };
    const open = { ...status, breaker, breakerFailure: failure };
    expect((await replay(open, MINUTE_MS - 1))?.status).toEqual(open);
    await redis.ask("FLUSHALL");
    now = NOW;
    expect((await replay(open, MINUTE_MS))?.status).toBeNull();
  });

  test("a status of a clock that is ahead is ignored", async () => {
    expect((await replay(status, -2_000))?.status).toBeNull();
  });
});
