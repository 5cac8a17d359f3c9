// Whoever can write to Redis cannot make a key or widen one, or make up a reading: what has no valid signature is ignored.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { DEFAULT_RIGHTS } from "../../src/core/api-key.ts";
import { CLOSED_BREAKER } from "../../src/core/breaker.ts";
import { UNKNOWN_BUDGET } from "../../src/core/budget.ts";
import { StartRefused } from "../../src/core/errors.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { SharedReading, SharedStatus } from "../../src/core/ports/relay-share.ts";
import { inspectRedis, judgeRedis } from "../../src/doctor/check-redis.ts";
import { openRedisStore, type RedisStore } from "../../src/store/redis/redis-store.ts";
import { Sealer } from "../../src/store/sealer.ts";
import { type RedisServer, startRedis, stopRedisServers } from "../redis-server.ts";

const SECRET = "a secret";
const KEYS = "gatehouse:{directory}:keys";
const SERVERS = "gatehouse:{directory}:servers";
const FORGED = "f".repeat(64);
type Fields = Record<string, unknown>;

let redis: RedisServer;
let opened: RedisStore[] = [];
let warnings: string[] = [];
let serverId: string;
let keyId: string;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(stopRedisServers);
beforeEach(async () => {
  await redis.ask("FLUSHALL");
  warnings = [];
  const store = await open();
  const now = store.clock();
  serverId = (await store.servers.create({ name: "One", community: "one", serverKey: "a-b" }, now)).serverId;
  const draft = { ...DEFAULT_RIGHTS, serverId, label: "bot", expiresAt: null, tokenHash: "hash-1" };
  keyId = (await store.keys.create(draft, now))?.keyId ?? "";
});
afterEach(async () => {
  for (const store of opened) await store.close();
  opened = [];
});

async function open(signsRecords = false): Promise<RedisStore> {
  const log: Log = { debug() {}, info() {}, warn: (_, text) => warnings.push(text), error() {} };
  const settings = { address: redis.address, sealer: new Sealer(SECRET), log, commandLeaseMs: 10_000 };
  const store = await openRedisStore({ ...settings, signsRecords });
  opened.push(store);
  return store;
}

async function readText(name: string, id: string): Promise<string> {
  return String(await redis.ask("HGET", name, id));
}

/** Changes a record as somebody who can write to Redis and does not know the secret, and tells the instances. */
async function tamper(
  name: string,
  id: string,
  change: (fields: Fields) => Fields,
  toId = id,
): Promise<void> {
  const fields = JSON.parse(await readText(name, id)) as Fields;
  await redis.ask("HSET", name, toId, JSON.stringify(change(fields)));
  const version = Number(await redis.ask("INCR", "gatehouse:{directory}:version"));
  await redis.ask("ZADD", "gatehouse:{directory}:changes", version, `1 tampered${version} ${toId}`);
}

/** Whether an instance that runs already, and one that starts now, accept the token. */
async function isAccepted(tokenHash: string): Promise<[running: boolean, started: boolean]> {
  const [running, started] = [opened[0], await open()];
  const found = await running?.keys.findNew(tokenHash, running.clock());
  return [found !== undefined, started.keys.find(tokenHash, started.clock()) !== undefined];
}

describe("a record that was not written with the secret", () => {
  const FORGERIES: [what: string, change: (fields: Fields) => Fields][] = [
    ["an own token", (fields) => ({ ...fields, tokens: [{ tokenHash: FORGED, validUntil: null }] })],
    [
      "an own token and no signature",
      ({ mac: _, ...fields }) => ({ ...fields, tokens: [{ tokenHash: FORGED, validUntil: null }] }),
    ],
    [
      "an own token and an invented signature",
      (fields) => ({ ...fields, tokens: [{ tokenHash: FORGED, validUntil: null }], mac: "A".repeat(43) }),
    ],
    [
      "an own token behind the signature",
      ({ tokens: _, ...fields }) => ({ ...fields, tokens: [{ tokenHash: FORGED, validUntil: null }] }),
    ],
  ];

  test.each(FORGERIES)(
    "with %s makes no key, on instances that run and that start, and is logged once",
    async (_, change) => {
      await tamper(KEYS, keyId, change, "key_forged0000000000000");
      expect(await isAccepted(FORGED)).toEqual([false, false]);
      expect(await isAccepted("hash-1")).toEqual([true, true]);
      const store = opened[0];
      expect(await store?.keys.findDetails("key_forged0000000000000")).toBeUndefined();
      expect(warnings.filter((text) => text.includes("no valid signature"))).not.toEqual([]);
    },
  );

  test.each<[string, (fields: Fields) => Fields]>([
    ["more commands", (fields) => ({ ...fields, commands: ["*"] })],
    ["another server", (fields) => ({ ...fields, serverId: "srv_other" })],
    ["no end", (fields) => ({ ...fields, expiresAt: 4_000_000_000_000 })],
    ["another order of its fields", ({ label, ...fields }) => ({ ...fields, label })],
  ])("that gives a key %s makes it unknown", async (_, change) => {
    await tamper(KEYS, keyId, change);
    expect(await isAccepted("hash-1")).toEqual([false, false]);
  });

  test("of one key cannot stand for another", async () => {
    await tamper(KEYS, keyId, (fields) => fields, "key_another000000000000");
    const store = await open();
    expect(await store.keys.findDetails("key_another000000000000")).toBeUndefined();
    expect(store.keys.find("hash-1", store.clock())?.keyId).toBe(keyId);
  });

  test("of a server makes the server and its keys unknown", async () => {
    await tamper(SERVERS, serverId, (fields) => ({ ...fields, community: null }));
    expect(await isAccepted("hash-1")).toEqual([false, false]);
    expect((await open()).servers.find(serverId)).toBeUndefined();
  });

  test("and is no JSON, or no record, breaks nothing", async () => {
    for (const [index, text] of ["", "{", "null", "[]", '"x"', '{"revokedAt":1}'].entries()) {
      await redis.ask("HSET", KEYS, `key_broken${index}`, text);
      await redis.ask("ZADD", "gatehouse:{directory}:key-order", 1_000 + index, `key_broken${index}`);
    }
    const store = await open();
    expect((await store.keys.list({ limit: 50 })).items.map((key) => key.keyId)).toEqual([keyId]);
    expect(store.keys.find("hash-1", store.clock())?.keyId).toBe(keyId);
  });
});

describe("records of an older version, which has not signed them", () => {
  const unsign = async () => {
    for (const [name, id] of [
      [SERVERS, serverId],
      [KEYS, keyId],
    ] as const) {
      await tamper(name, id, ({ mac: _, ...fields }) => fields);
    }
    for (const store of opened) await store.close();
    opened = [];
  };

  test("keep an instance from starting, with what to do, until they were signed", async () => {
    await unsign();
    expect(open()).rejects.toThrow(StartRefused);
    expect(open()).rejects.toThrow("gatehouse sign-records");
    const tool = await open(true);
    expect(await tool.signRecords()).toEqual({ servers: 1, keys: 1, altered: 0 });
    expect(await tool.signRecords()).toEqual({ servers: 0, keys: 0, altered: 0 });
    expect(await isAccepted("hash-1")).toEqual([true, true]);
    const store = await open();
    expect(await store.servers.readServerKey(serverId)).toBe("a-b");
    expect(await store.keys.update(keyId, { label: "renamed" })).toMatchObject({ label: "renamed" });
  });

  test("are not signed together with those that somebody has altered", async () => {
    await tamper(KEYS, keyId, ({ mac, ...fields }) => ({ ...fields, commands: ["*"], mac }));
    const tool = await open(true);
    expect(await tool.signRecords()).toEqual({ servers: 0, keys: 0, altered: 1 });
    expect(await isAccepted("hash-1")).toEqual([false, false]);
  });
});

test("revoked keys stay readable, also those that were revoked with their server", async () => {
  const [store] = opened;
  await store?.servers.delete(serverId, 77);
  expect((await store?.keys.findDetails(keyId))?.revokedAt).toBe(77);
  const started = await open();
  expect((await started.keys.list({ limit: 5 })).items).toMatchObject([
    { keyId, revokedAt: 77, label: "bot" },
  ]);
  expect(warnings).toEqual([]);
});

test("a revoked key does not come back to life", async () => {
  const [store] = opened;
  const before = JSON.parse(await readText(KEYS, keyId)) as Fields;
  await store?.keys.revoke(keyId, 77);
  await tamper(KEYS, keyId, (fields) => ({ ...fields, revokedAt: null, tokens: before.tokens }));
  expect(await isAccepted("hash-1")).toEqual([false, false]);
});

test("doctor counts the records that are ignored, and says what to do", async () => {
  const sealer = new Sealer(SECRET);
  const judge = async () =>
    judgeRedis(await inspectRedis(redis.address, sealer)).map(({ finding }) => finding);
  expect((await judge()).some((finding) => finding.includes("signature"))).toBe(false);
  await tamper(KEYS, keyId, (fields) => ({ ...fields, commands: ["*"] }), "key_forged0000000000000");
  expect(await judge()).toContain(
    "Servers and keys in Redis without a valid signature, which Gatehouse ignores: 1.",
  );
});

describe("what instances share about the game API", () => {
  const BUDGET = "gatehouse:{budget}:budget";
  const REFUSED_KEYS = "gatehouse:{budget}:refused-global-keys";
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
    fetchedAt: 1_800_000_000_000,
    keyRevision: 1,
  };
  const nameOf = (id: string) => `gatehouse:{${id}}:shared`;

  async function publish(store: RedisStore, id = serverId): Promise<void> {
    const known = await store.relayShare.peek(id, 0);
    const { lease } = await store.relayShare.consult(id, known?.version ?? 0);
    if (!lease) throw new Error("another instance holds the lease");
    expect(await store.relayShare.publish(lease, status, reading)).toBeGreaterThan(0);
  }

  test("is taken over by another instance with the same secret", async () => {
    const [one, two] = [await open(), await open()];
    await publish(one);
    expect(await two.relayShare.peek(serverId, 0)).toEqual({ version: 1, status, reading });
    expect((await two.relayShare.consult(serverId, 0)).news).toEqual({ version: 1, status, reading });
    await one.relayShare.changeBudget((budget) => ({ ...budget, remaining: 7 }));
    expect(await two.relayShare.changeBudget(() => undefined)).toEqual({ ...UNKNOWN_BUDGET, remaining: 7 });
    await one.relayShare.saveGlobalKeyFailure("api", failure);
    expect(await two.relayShare.findGlobalKeyFailure("api")).toEqual(failure);
    expect(warnings).toEqual([]);
  });

  const forged = JSON.stringify({ ...reading, parts: { ...reading.parts, base: '{"Name":"Forged"' } });
  const FORGERIES: [what: string, forge: (text: string) => string | Promise<string>][] = [
    ["without a signature", () => forged],
    [
      "with the signature of another",
      (text) => `${forged.slice(0, -1)},${text.slice(text.indexOf('"mac"'))}`,
    ],
    ["at another time", (text) => text.replace('"fetchedAt":1', '"fetchedAt":2')],
    ["of another key of the server", (text) => text.replace('"keyRevision":1', '"keyRevision":2')],
    ["that is a status", () => readText(nameOf(serverId), "standing")],
    ["that is no JSON", () => "{"],
  ];
  test.each(FORGERIES)("a reading %s counts as absent, and so does such a failure", async (_, forge) => {
    const store = await open();
    await publish(store);
    const name = nameOf(serverId);
    await redis.ask("HSET", name, "reading", await forge(await readText(name, "reading")));
    expect(await store.relayShare.peek(serverId, 0)).toEqual({ version: 1, status, reading: null });
    expect(warnings).toHaveLength(1);
    // The next instance that asks may call, and what it publishes counts again.
    await publish(store);
    expect((await store.relayShare.peek(serverId, 0))?.reading).toEqual(reading);

    const refused = { ...status, keyRevision: 9, remembered: { failure, at: 1, forMs: null } };
    await redis.ask("HSET", name, "standing", JSON.stringify(refused));
    expect((await store.relayShare.peek(serverId, 0))?.status).toBeNull();
    await publish(store);
    expect((await store.relayShare.peek(serverId, 0))?.status).toEqual(status);
  });

  test("a reading of another server counts as absent", async () => {
    const store = await open();
    const draft = { name: "Two", community: null, serverKey: "c-d" };
    const { serverId: otherId } = await store.servers.create(draft, store.clock());
    await publish(store);
    const copied = ["standing", "reading"].map(async (field) => [
      field,
      await readText(nameOf(serverId), field),
    ]);
    await redis.ask("HSET", nameOf(otherId), "version", 5, ...(await Promise.all(copied)).flat());
    expect(await store.relayShare.peek(otherId, 0)).toEqual({ version: 5, status: null, reading: null });
  });

  test("a forged budget or refusal of the global key is ignored and replaced", async () => {
    const store = await open();
    const huge = { isTold: true, limit: 1e9, remaining: 1e9, resetAt: 9e15, windowMs: 1, ownPauseMs: 0 };
    await redis.ask("SET", BUDGET, JSON.stringify(huge));
    await redis.ask("HSET", REFUSED_KEYS, "api", JSON.stringify(failure));
    expect(await store.relayShare.changeBudget(() => undefined)).toEqual(UNKNOWN_BUDGET);
    expect(await store.relayShare.findGlobalKeyFailure("api")).toBeNull();
    await store.relayShare.changeBudget((budget) => ({ ...budget, remaining: 3 }));
    const other = await open();
    expect((await other.relayShare.changeBudget(() => undefined)).remaining).toBe(3);
  });
});
