// gatehouse migrate: from the embedded store to a real Redis and back, without any loss.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_RIGHTS } from "../../src/core/api-key.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { PortableItem, PortableStore } from "../../src/core/ports/portable-store.ts";
import { hashToken, mintToken } from "../../src/core/token.ts";
import { openRedisStore } from "../../src/store/redis/redis-store.ts";
import { Sealer } from "../../src/store/sealer.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { type RedisServer, startRedis, stopRedisServers } from "../redis-server.ts";
import { cleanUp, makeFolder, readServer, runToEnd, serve, stop } from "./run-gatehouse.ts";

const SECRET = "a secret for two stores, long enough";
const MASTER_KEY = "m".repeat(40);
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
const env = { GATEHOUSE_SECRET: SECRET, GATEHOUSE_MASTER_KEY: MASTER_KEY };

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(stopRedisServers);
afterEach(cleanUp);

function openEmbedded(folder: string): PortableStore {
  const path = join(folder, "gatehouse.db");
  return openSqliteStore({ path, sealer: new Sealer(SECRET), log: SILENT, clock: Date.now });
}

async function readAll(store: PortableStore): Promise<PortableItem[]> {
  const items: PortableItem[] = [];
  for await (const item of store.readItems()) items.push(item);
  await store.close();
  return items;
}

/** Two servers, keys of every kind, a block, commands that wait. */
async function fill(folder: string): Promise<string> {
  const store = openEmbedded(folder);
  const now = Date.now();
  const one = await store.servers.create(
    { name: "One", community: "one", serverKey: "one-Key", isSimulated: true },
    now,
  );
  const two = await store.servers.create({ name: "Two", community: null, serverKey: "two-Key" }, now);
  await store.servers.update(two.serverId, {
    serverKey: "two-Other",
    isWatched: false,
    publicStatus: { slug: "two", showsJoinKey: true },
  });
  const token = mintToken(randomBytes);
  const draft = (serverId: string, tokenHash: string) => {
    return { ...DEFAULT_RIGHTS, serverId, label: "bot", expiresAt: null, tokenHash };
  };
  const key = await store.keys.create(
    { ...draft(one.serverId, hashToken(token)), ipAllow: ["127.0.0.0/8"] },
    now,
  );
  const spammer = await store.keys.create(draft(two.serverId, "spam"), now);
  const revoked = await store.keys.create(draft(two.serverId, "gone"), now);
  const rotated = await store.keys.create({ ...draft(two.serverId, "old"), expiresAt: now + 9e9 }, now);
  if (!key || !spammer || !revoked || !rotated) throw new Error("no keys were made");
  await store.keys.revoke(revoked.keyId, now);
  await store.keys.rotate(rotated.keyId, "new", now + 3_600_000, now);
  await store.keys.update(rotated.keyId, { isSuspended: true, commands: [":h"], sections: 3 });
  await store.usage.add([
    { keyId: key.keyId, hour: now - (now % 3_600_000), lastUsedAt: now, counts: new Map([[0, 1]]) },
  ]);
  for (let i = 0; i < 520; i++) await store.limits.judge(spammer, now, true);
  for (const text of [":h first", ":h second"]) {
    const { serverId } = two;
    await store.commands.accept({ serverId, keyId: rotated.keyId, text, idempotencyKey: text.slice(3) }, now);
  }
  await store.close();
  return token;
}

test("everything arrives as it was, there and back, and the keys work on", async () => {
  await redis.ask("FLUSHALL");
  const [cwd, back] = [makeFolder(), makeFolder()];
  const token = await fill(cwd);
  // Longer than a request would wait for it.
  await redis.ask("CLIENT", "PAUSE", "2500", "ALL");
  const there = await runToEnd(
    ["migrate", "--from", "sqlite", "--to", redis.url, "--data-dir", cwd, "--json"],
    { cwd, env },
  );
  expect(there).toMatchObject({ exitCode: 0, stderr: "" });
  expect(JSON.parse(there.stdout)).toEqual({ servers: 2, keys: 4, blocks: 1, commands: 2 });

  const again = await runToEnd(["migrate", "--from", redis.url, "--to", "sqlite", "--data-dir", back], {
    cwd,
    env,
  });
  expect(again).toMatchObject({ exitCode: 0, stderr: "" });
  const items = await readAll(openEmbedded(cwd));
  expect(items.map(({ kind }) => kind)).toEqual([
    ...["server", "server", "key", "key", "key", "key"],
    ...["block", "command", "command"],
  ] as PortableItem["kind"][]);
  expect(await readAll(openEmbedded(back))).toEqual(items);

  const gatehouse = await serve({ cwd, env: { ...env, GATEHOUSE_STORE: redis.url } });
  expect((await readServer(gatehouse.url, token)).status).toBe(200);
  expect(await stop(gatehouse)).toBe(0);
});

test("a store into which a migration was killed half-way is not served", async () => {
  await redis.ask("FLUSHALL");
  const cwd = makeFolder();
  await fill(cwd);
  // The target refuses the commands, which are written last.
  await redis.ask(
    "ACL",
    "SETUSER",
    "default",
    "resetkeys",
    "~gatehouse:{directory}:*",
    "~gatehouse:{budget}:*",
  );
  const args = ["migrate", "--from", "sqlite", "--to", redis.url, "--data-dir", cwd];
  const half = await runToEnd(args, { cwd, env });
  await redis.ask("ACL", "SETUSER", "default", "allkeys");
  expect(half.exitCode).not.toBe(0);
  expect(await redis.ask("HLEN", "gatehouse:{directory}:servers")).toBe(2);
  const served = await runToEnd(["serve", "--port", "0"], {
    cwd,
    env: { ...env, GATEHOUSE_STORE: redis.url },
  });
  expect(served).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("was not finished") });
});

test("a store that is in use, or not empty, is refused, and nothing is changed", async () => {
  await redis.ask("FLUSHALL");
  const cwd = makeFolder();
  await fill(cwd);
  const move = (from: string, to: string) => {
    return runToEnd(["migrate", "--from", from, "--to", to, "--data-dir", cwd], { cwd, env });
  };
  const sealer = new Sealer(SECRET);
  const user = await openRedisStore({ address: redis.address, sealer, log: SILENT, commandLeaseMs: 1_000 });
  expect(await move("sqlite", redis.url)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("stop"),
  });
  await user.close();
  const embedded = openEmbedded(cwd);
  const inUse = await move("sqlite", redis.url);
  expect(inUse).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("another Gatehouse") });
  await embedded.close();
  expect((await move("sqlite", redis.url)).exitCode).toBe(0);
  const full = await move("sqlite", redis.url);
  expect(full).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("not empty") });
  expect((await move("sqlite", "sqlite")).exitCode).toBe(2);
  const wrong = await move("sqlite", "redis://user:canary@nowhere.invalid:1/x/y");
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).not.toContain("canary");
});

test("a Redis with a record that is ignored is not moved, because that record would be left behind", async () => {
  await redis.ask("FLUSHALL");
  const [cwd, back] = [makeFolder(), makeFolder()];
  await fill(cwd);
  const move = (...stores: string[]) => runToEnd(["migrate", ...stores], { cwd, env });
  expect((await move("--from", "sqlite", "--to", redis.url, "--data-dir", cwd)).exitCode).toBe(0);
  const keys = "gatehouse:{directory}:keys";
  const texts = (await redis.ask("HVALS", keys)) as string[];
  const text = texts.find((record) => record.includes('"revokedAt":null')) ?? "";
  await redis.ask("HSET", keys, JSON.parse(text).keyId, text.replace('"label":"bot"', '"label":"other"'));
  const refused = await move("--from", redis.url, "--to", "sqlite", "--data-dir", back);
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("1 servers and keys") });
  expect(existsSync(join(back, "gatehouse.db"))).toBe(false);
});

test.each([
  ["full", ["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "SET", "maxmemory", "0"], "OOM"],
  ["a replica", ["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"], "READONLY"],
])("doctor reports that a Redis refuses writes: one that is %s", async (_, spoil, mend, reason) => {
  await redis.ask(...spoil);
  try {
    const found = await runToEnd(["doctor"], {
      cwd: makeFolder(),
      env: { ...env, GATEHOUSE_STORE: redis.url },
    });
    expect(found.exitCode).toBe(1);
    expect(found.stdout).toContain(`Redis refuses writes: ${reason}`);
  } finally {
    await redis.ask(...mend);
  }
});

test("doctor checks Redis, and backup says that it does not support it", async () => {
  await redis.ask("FLUSHALL");
  const cwd = makeFolder();
  const withRedis = { ...env, GATEHOUSE_STORE: redis.url };
  const { stdout, exitCode } = await runToEnd(["doctor", "--json"], { cwd, env: withRedis });
  const { checks } = JSON.parse(stdout) as { checks: { name: string; result: string; finding: string }[] };
  expect(checks.find(({ name }) => name === "store")).toMatchObject({ result: "ok" });
  expect(exitCode).toBe(0);
  await redis.ask("CONFIG", "SET", "appendfsync", "everysec");
  const lax = await runToEnd(["doctor"], { cwd, env: withRedis });
  await redis.ask("CONFIG", "SET", "appendfsync", "always");
  expect(lax.stdout).toContain("appendfsync everysec");
  const gone = await runToEnd(["doctor"], { cwd, env: { ...env, GATEHOUSE_STORE: "redis://127.0.0.1:1" } });
  expect(gone).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("Redis cannot be used") });
  const backup = await runToEnd(["backup"], { cwd, env: withRedis });
  expect(backup).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Redis") });
  expect(existsSync(join(cwd, "data"))).toBe(false);
});

test("an address with a password comes from a file, standard input or GATEHOUSE_STORE, never from an argument", async () => {
  await redis.ask("FLUSHALL");
  await redis.ask("ACL", "SETUSER", "mover", "on", ">canary-password", "allkeys", "allchannels", "+@all");
  const address = redis.url.replace("redis://", "redis://mover:canary-password@");
  const cwd = makeFolder();
  await fill(cwd);
  const args = ["migrate", "--data-dir", cwd, "--json"];
  const there = [...args, "--from", "sqlite"];
  for (const option of ["--to", "--from"]) {
    const ended = await runToEnd([...args, option, address], { cwd, env });
    expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
    expect(ended.stderr).toContain(`${option}-file`);
    expect(ended.stderr).not.toContain("canary");
  }
  const moved = JSON.stringify({ servers: 2, keys: 4, blocks: 1, commands: 2 });
  writeFileSync(join(cwd, "address"), `${address}\n`);
  const ways = [
    () => runToEnd([...there, "--to-file", "address"], { cwd, env }),
    () => runToEnd([...there, "--to", "-"], { cwd, env, input: `${address}\n` }),
    () => runToEnd(there, { cwd, env: { ...env, GATEHOUSE_STORE: address } }),
  ];
  for (const migrate of ways) {
    expect(await migrate()).toEqual({ exitCode: 0, stdout: `${moved}\n`, stderr: "" });
    await redis.ask("FLUSHALL");
  }
});

test.each([
  [[], "--from"],
  [["--from", "sqlite"], "--to"],
  [["--from", "sqlite", "--to-file", "nowhere"], "does not exist"],
  [["--from", "sqlite", "--to", "-"], "standard input"],
  [["--from", "sqlite", "--to", "sqlite", "--to-file", "x"], "not both"],
])("migrate %j says what is missing, with exit code 2", async (args, words) => {
  const ended = await runToEnd(["migrate", ...args], { cwd: makeFolder(), env });
  expect(ended).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining(words) });
});
