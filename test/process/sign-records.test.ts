// gatehouse sign-records: after an update from a version that did not sign the records in Redis.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { DEFAULT_RIGHTS } from "../../src/core/api-key.ts";
import type { Log } from "../../src/core/ports/log.ts";
import { hashToken, mintToken } from "../../src/core/token.ts";
import { DEMO_SERVER_KEY } from "../../src/demo.ts";
import { openRedisStore } from "../../src/store/redis/redis-store.ts";
import { Sealer } from "../../src/store/sealer.ts";
import { type RedisServer, startRedis, stopRedisServers } from "../redis-server.ts";
import { cleanUp, makeFolder, readServer, runToEnd, serve, stop } from "./run-gatehouse.ts";

const SECRET = "a secret for signed records, long enough";
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(stopRedisServers);
afterEach(cleanUp);

/** The demo server and a key as an older version has stored them. Returns the key's token. */
async function fillUnsigned(): Promise<string> {
  const settings = {
    address: redis.address,
    sealer: new Sealer(SECRET),
    log: SILENT,
    commandLeaseMs: 10_000,
  };
  const store = await openRedisStore(settings);
  const now = store.clock();
  const draft = { name: "Demo", community: null, serverKey: DEMO_SERVER_KEY };
  const { serverId } = await store.servers.create(draft, now);
  const token = mintToken(randomBytes);
  const tokenHash = hashToken(token);
  await store.keys.create({ ...DEFAULT_RIGHTS, serverId, label: "bot", expiresAt: null, tokenHash }, now);
  await store.close();
  for (const name of ["servers", "keys"]) {
    const hash = `gatehouse:{directory}:${name}`;
    const [id, text] = (await redis.ask("HGETALL", hash)) as string[];
    await redis.ask(
      "HSET",
      hash,
      id ?? "",
      (text ?? "").replace(/,"mac":"[^"]*"|"isSimulated":false,|"isWatched":true,|"publicStatus":null,/g, ""),
    );
  }
  return token;
}

test("an older version's records keep it from starting until they are signed; then its keys work", async () => {
  const cwd = makeFolder();
  const token = await fillUnsigned();
  const env = {
    GATEHOUSE_SECRET: SECRET,
    GATEHOUSE_MASTER_KEY: "m".repeat(40),
    GATEHOUSE_STORE: redis.url,
  };
  const refused = await runToEnd(["serve", "--port", "0"], { cwd, env });
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("gatehouse sign-records");
  const diagnosed = await runToEnd(["doctor"], { cwd, env });
  expect(diagnosed.stdout).toContain(
    "Servers and keys in Redis without a valid signature, which Gatehouse ignores: 2.",
  );

  const wrong = await runToEnd(["sign-records"], { cwd, env: { ...env, GATEHOUSE_SECRET: "x".repeat(40) } });
  expect(wrong.exitCode).toBe(1);
  const signed = await runToEnd(["sign-records"], { cwd, env });
  expect(signed).toMatchObject({ exitCode: 0, stderr: "", stdout: "Signed servers: 1, keys: 1.\n" });

  const gatehouse = await serve({ cwd, env });
  expect((await readServer(gatehouse.url, token)).status).toBe(200);
  const whileRunning = await runToEnd(["sign-records"], { cwd, env });
  expect(whileRunning.exitCode).toBe(1);
  expect(whileRunning.stderr).toContain("stop them first");
  expect(await stop(gatehouse)).toBe(0);
  const again = await runToEnd(["sign-records", "--json"], { cwd, env });
  expect(JSON.parse(again.stdout)).toEqual({ servers: 0, keys: 0, altered: 0 });
});

test("without a Redis there is nothing to sign", async () => {
  const { exitCode, stderr } = await runToEnd(["sign-records"], { cwd: makeFolder(), env: {} });
  expect(exitCode).toBe(2);
  expect(stderr).toContain("the embedded store needs no signatures");
});
