// How instances start and stop on PostgreSQL and Redis: what they refuse in one clear sentence, what they wait for, and that
// they never print a password.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { FaultProxy } from "../fault-proxy.ts";
import { makeCertificate } from "../make-certificate.ts";
import { program, testWith } from "../needs.ts";
import { type PostgresServer, startPostgres } from "../postgres-server.ts";
import { type RedisServer, startRedis } from "../redis-server.ts";
import { runToEnd } from "../run-gatehouse.ts";
import { findFreePort, makeFolder } from "../temporary.ts";
import { until } from "../until.ts";
import { endFleets, Instance, MASTER_KEY, SECRET, timeUntil } from "./fleet.ts";

const PASSWORD = "open-sesame-4711";
/** What the contract promises. */
const LISTENS_WITHIN_MS = 10_000;
const WELL_WITHIN_MS = 10_000;
/** For a machine that does other work too. */
const LOADED_FACTOR = 2;

let postgres: PostgresServer;
let redis: RedisServer;

beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis(["--appendonly", "no"])]);
});
afterAll(endFleets);

type Env = Readonly<Record<string, string>>;

function environment(store: string, redisUrl: string | undefined, more: Env = {}): Env {
  return {
    GATEHOUSE_PORT: "0",
    GATEHOUSE_STORE: store,
    ...(redisUrl !== undefined && { GATEHOUSE_REDIS: redisUrl }),
    GATEHOUSE_SECRET: SECRET,
    GATEHOUSE_MASTER_KEY: MASTER_KEY,
    GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9",
    GATEHOUSE_WATCH: "off",
    GATEHOUSE_LOG_LEVEL: "trace",
    ...more,
  };
}

async function start(env: Env): Promise<Instance> {
  const instance = new Instance(env);
  await instance.start();
  return instance;
}

async function startInVain(env: Env, exitCode = 1): Promise<string> {
  const ended = await runToEnd(["serve"], { cwd: makeFolder(), env });
  const said = ended.stdout + ended.stderr;
  expect({ exitCode: ended.exitCode, said }).toMatchObject({ exitCode });
  expect(ended.stdout).not.toContain("listening on");
  for (const secret of [PASSWORD, SECRET, MASTER_KEY, "sesame"]) expect(said).not.toContain(secret);
  // A sentence, not a stack trace.
  expect(said).not.toMatch(/^\s+at /m);
  return said;
}

async function isWell(instance: Instance): Promise<boolean> {
  const { status, notices } = await instance.checkReadiness();
  return status === 200 && !notices.some((code) => code.endsWith("_away"));
}

describe("it does not start, and says why", () => {
  test.each([
    ["a slash", `redis://:${PASSWORD}/x@127.0.0.1:6379`],
    ["an at sign", `redis://user:hello@${PASSWORD}@127.0.0.1:6379`],
    ["a percent sign", `redis://:${PASSWORD}%@127.0.0.1:6379`],
    ["a wrong port behind it", `redis://:${PASSWORD}@127.0.0.1:port`],
  ])("with a password in the address of Redis that has %s in it", async (_, url) => {
    expect(await startInVain(environment(postgres.urlOf(), url), 2)).toContain("GATEHOUSE_REDIS");
  });

  test("with a Redis as the store, or a Redis beside SQLite: it says what to write instead", async () => {
    const asStore = await startInVain(environment(`redis://:${PASSWORD}@127.0.0.1:6379`, undefined), 2);
    expect(asStore).toContain("GATEHOUSE_STORE=postgres://");
    expect(asStore).toContain("GATEHOUSE_REDIS=redis://");
    expect(await startInVain(environment("sqlite", redis.url), 2)).toMatch(
      /GATEHOUSE_REDIS.*GATEHOUSE_STORE to a postgres/,
    );
  });

  test("with a wrong password of Redis, with none, and with one where none is wanted", async () => {
    const url = await postgres.createDatabase();
    const guarded = await startRedis();
    await guarded.ask("CONFIG", "SET", "requirepass", "another-word");
    for (const address of [guarded.url, guarded.url.replace("//", `//:${PASSWORD}@`)]) {
      expect(await startInVain(environment(url, address))).toMatch(/GATEHOUSE_REDIS.*(password|AUTH)/i);
    }
    const needless = redis.url.replace("//", `//:${PASSWORD}@`);
    expect(await startInVain(environment(url, needless))).toMatch(/GATEHOUSE_REDIS.*(password|AUTH)/i);
  });

  test("with another secret, a secret of its own, or a master key of its own beside others", async () => {
    const url = await postgres.createDatabase();
    const first = await start(environment(url, redis.url));
    const other = { GATEHOUSE_SECRET: "quite-another-secret-0123456789abcdef" };
    const starts = [other, { GATEHOUSE_SECRET: "" }].map((more) => startInVain(environment(url, redis.url, more)));
    for (const said of await Promise.all(starts)) expect(said).toContain("GATEHOUSE_SECRET");
    const said = await startInVain(environment(url, redis.url, { GATEHOUSE_MASTER_KEY: "" }));
    expect(said).toContain("GATEHOUSE_MASTER_KEY");
    expect(await isWell(first)).toBe(true);
    await first.stop();
  });

  test("with another Redis, or none, beside instances that share one", async () => {
    const url = await postgres.createDatabase();
    const other = await startRedis(["--appendonly", "no"]);
    const first = await start(environment(url, redis.url));
    const proxy = await FaultProxy.start(other.port);
    proxy.set({ kind: "closed" });
    const late = await start(environment(url, proxy.url));
    proxy.set({ kind: "pass" });
    // At once, because each looks for the shared Redis for some seconds.
    const starts = [other.url, `${redis.url}/7`, undefined].map((address) => startInVain(environment(url, address)));
    for (const said of await Promise.all(starts)) expect(said).toContain("GATEHOUSE_REDIS");
    // Its Redis was away at its start.
    expect(await late.process.exited).toBe(1);
    expect(late.process.stderr).toContain("GATEHOUSE_REDIS");
    const second = await start(environment(url, redis.url));
    await until("the second is not seen", async () => (await first.countInstances()) === 2);
    for (const instance of [first, second]) expect(await instance.stop()).toBe(0);
    // Nobody shares a Redis any more, so that another one may be chosen.
    const moved = await start(environment(url, other.url));
    expect(await moved.stop()).toBe(0);
  });
});

describe("without PostgreSQL", () => {
  test("it listens within ten seconds, is alive and not ready, and goes on when PostgreSQL comes", async () => {
    const own = await startPostgres();
    const url = await own.createDatabase();
    await own.kill();
    const beganAt = performance.now();
    const instance = await start(environment(url, redis.url));
    expect(performance.now() - beganAt).toBeLessThan(LISTENS_WITHIN_MS);
    const ask = (path: string) => instance.ask("GET", path, "gth_nobody");
    expect((await ask("/healthz")).status).toBe(200);
    expect([(await ask("/readyz")).status, (await ask("/readyz")).body.code]).toEqual([503, 5106]);
    expect((await ask("/v2/game/server")).body.code).toBe(5106);
    // What needs no database is as ever, and clients of the game API are answered in its form.
    for (const path of ["/v1", "/v1/game/server"])
      expect([(await ask(path)).status, (await ask(path)).body.code]).toEqual([500, 5018]);
    for (const path of ["/v2/server", "/erlc/v1/server/players"])
      expect([(await ask(path)).status, (await ask(path)).body.code]).toEqual([500, 1002]);
    await own.start();
    const ms = await timeUntil("it does not go on", LOADED_FACTOR * WELL_WITHIN_MS, () => isWell(instance));
    console.log(`it went on after ${Math.round(ms)} ms`);
    const server = { name: "Town", server_key: "fleet-Town" };
    expect((await instance.admin("POST", "/servers", server)).status).toBe(201);
    expect(await instance.stop()).toBe(0);
    await own.stop();
  });

  test("it listens as well when PostgreSQL is frozen, and can be stopped while it waits", async () => {
    const own = await startPostgres();
    const url = await own.createDatabase();
    own.freeze();
    const beganAt = performance.now();
    const instance = await start(environment(url, undefined));
    expect(performance.now() - beganAt).toBeLessThan(LISTENS_WITHIN_MS);
    expect((await instance.ask("GET", "/readyz", "gth_nobody")).status).toBe(503);
    expect(await instance.stop()).toBe(0);
    own.thaw();
  });
});

test("without Redis it starts, says so, and shares when Redis comes", async () => {
  const own = await startRedis(["--appendonly", "no"]);
  const url = await postgres.createDatabase();
  await own.kill();
  const instances = [await start(environment(url, own.url)), await start(environment(url, own.url))];
  for (const instance of instances) {
    await until("nothing is said", async () => {
      const { status, notices } = await instance.checkReadiness();
      expect(status).toBe(200);
      return notices.includes("redis_away");
    });
  }
  await own.start();
  for (const instance of instances) await timeUntil("Redis is not shared", 5_000, () => isWell(instance));
  for (const instance of instances) expect(await instance.stop()).toBe(0);
});

test("with users, passwords and a number of its own it works, and says no password in any log", async () => {
  const own = await startRedis(["--user", "gate", "on", `>${PASSWORD}`, "~*", "&*", "+@all"]);
  const url = await postgres.createDatabase();
  const proxy = await FaultProxy.start(postgres.port);
  const store = proxy.postgresUrl(url).replace("//gatehouse@", `//gatehouse:${PASSWORD}@`);
  const instance = await start(environment(store, `redis://gate:${PASSWORD}@127.0.0.1:${own.port}/3`));
  const server = { name: "Town", server_key: "fleet-Town" };
  expect((await instance.admin("POST", "/servers", server)).status).toBe(201);
  await own.kill();
  proxy.set({ kind: "closed" });
  const says = (text: string) => instance.process.stderr.includes(text);
  await until("the losses are not logged", () => says("PostgreSQL is away") && says("Redis is away"));
  await own.start();
  proxy.set({ kind: "pass" });
  await until("it does not recover", () => isWell(instance));
  expect((await instance.admin("GET", "/servers")).body.items).toMatchObject([{ name: "Town" }]);
  expect(String(await own.ask("INFO", "keyspace"))).not.toContain("db0:");
  expect(await instance.stop()).toBe(0);
  expect(instance.process.stderr + instance.process.stdout).not.toContain(PASSWORD);
});

describe("it stops in order, with exit code 0,", () => {
  test.each([
    ["Redis is frozen", "redis"],
    ["PostgreSQL is frozen", "postgres"],
    ["PostgreSQL is killed", "killed"],
  ])("also while %s", async (_, kind) => {
    const [ownPostgres, ownRedis] = await Promise.all([startPostgres(), startRedis(["--appendonly", "no"])]);
    const instance = await start(environment(await ownPostgres.createDatabase(), ownRedis.url));
    if (kind === "redis") ownRedis.freeze();
    else if (kind === "postgres") ownPostgres.freeze();
    else await ownPostgres.kill();
    const beganAt = performance.now();
    expect(await instance.stop()).toBe(0);
    expect(performance.now() - beganAt).toBeLessThan(10_000);
    ownPostgres.thaw();
  });

  test("and is not counted any more at once", async () => {
    const url = await postgres.createDatabase();
    const [first, second] = [await start(environment(url, redis.url)), await start(environment(url, redis.url))];
    await until("the second is not seen", async () => (await first.countInstances()) === 2);
    expect(await second.stop()).toBe(0);
    await timeUntil("it is still counted", 2_000, async () => (await first.countInstances()) === 1);
    await first.stop();
  });
});

describe("over TLS", () => {
  async function startTlsRedis() {
    const folder = makeFolder();
    const { cert, key } = await makeCertificate();
    const [certPath, keyPath] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    writeFileSync(certPath, cert);
    writeFileSync(keyPath, key);
    const tlsPort = findFreePort();
    await startRedis([
      ...["--tls-port", String(tlsPort), "--tls-cert-file", certPath, "--tls-key-file", keyPath],
      ...["--tls-auth-clients", "no", "--tls-ca-cert-file", certPath, "--appendonly", "no"],
    ]);
    return { url: `rediss://127.0.0.1:${tlsPort}`, certPath };
  }

  testWith(program("openssl"))("an untrusted certificate of Redis is refused at the start", async () => {
    const { url } = await startTlsRedis();
    const said = await startInVain(environment(await postgres.createDatabase(), url));
    expect(said).toMatch(/certificate|self.signed/i);
  });

  testWith(program("openssl"))("one whose authority the operator names in NODE_EXTRA_CA_CERTS works", async () => {
    const { url, certPath } = await startTlsRedis();
    const store = await postgres.createDatabase();
    const instance = await start(environment(store, url, { NODE_EXTRA_CA_CERTS: certPath }));
    await until("Redis is not used", () => isWell(instance));
    expect(await instance.readMetric("gatehouse_redis_up")).toBe(1);
    await instance.stop();
  });
});
