// How an instance starts on Redis: what it refuses in one clear sentence, what it warns of, and that it never prints a
// password.
import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { program, testWith } from "../needs.ts";
import { makeCertificate } from "../process/make-certificate.ts";
import { makeFolder, runToEnd, stop, until } from "../process/run-gatehouse.ts";
import { type RedisServer, startRedis } from "../redis-server.ts";
import { endFleets, Instance, MASTER_KEY, SECRET } from "./fleet.ts";

const PASSWORD = "open-sesame-4711";

afterEach(endFleets);

function environment(store: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    GATEHOUSE_PORT: "0",
    GATEHOUSE_STORE: store,
    GATEHOUSE_SECRET: SECRET,
    GATEHOUSE_MASTER_KEY: MASTER_KEY,
    GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9",
    GATEHOUSE_LOG_LEVEL: "trace",
    ...more,
  };
}

async function startInVain(env: Readonly<Record<string, string>>, exitCode = 1): Promise<string> {
  // A Redis that does not answer is tried for ten seconds; a busy machine needs more than the rest of the usual deadline.
  const ended = await runToEnd(["serve"], { cwd: makeFolder(), env });
  const said = ended.stdout + ended.stderr;
  expect({ exitCode: ended.exitCode, said }).toMatchObject({ exitCode });
  expect(ended.stdout).not.toContain("listening on");
  for (const secret of [PASSWORD, SECRET, MASTER_KEY, "sesame"]) expect(said).not.toContain(secret);
  // A sentence, not a stack trace.
  expect(said).not.toMatch(/^\s+at /m);
  return said;
}

/** Starts an instance, and then its Redis after the instance has found none. */
async function startLater(redis: RedisServer): Promise<Instance> {
  const instance = new Instance(environment(redis.url));
  const started = instance.start();
  await instance.process.waitForLine("trying again", "stderr");
  await redis.start();
  await started;
  return instance;
}

describe("it does not start, and says why", () => {
  test("on a Redis that is not there, has no node, never answers, or is none", async () => {
    const [gone, frozen] = await Promise.all([startRedis(), startRedis()]);
    await gone.kill();
    frozen.freeze();
    const other = Bun.serve({ port: 0, fetch: () => new Response("hello") });
    // In parallel, because each one retries for a while before it gives up.
    const said = await Promise.all(
      [
        `redis://:${PASSWORD}@127.0.0.1:${gone.port}`,
        `redis+cluster://:${PASSWORD}@127.0.0.1:${gone.port}`,
        frozen.url,
        `redis://127.0.0.1:${other.port}`,
      ].map((store) => startInVain(environment(store))),
    );
    await other.stop(true);
    for (const text of said) {
      expect(text).toContain("GATEHOUSE_STORE");
      expect(text).toContain("trying again");
    }
    expect(said[0]).toMatch(/refused|not there|ECONNREFUSED/i);
  });

  test("with a wrong password, with none, and with one where none is wanted", async () => {
    const redis = await startRedis();
    await redis.ask("CONFIG", "SET", "requirepass", "another-word");
    const wrong = await startInVain(environment(`redis://:${PASSWORD}@127.0.0.1:${redis.port}`));
    expect(wrong).toMatch(/password|WRONGPASS/i);
    expect(await startInVain(environment(redis.url))).toMatch(/NOAUTH|authentication/i);
    const open = await startRedis();
    const needless = await startInVain(environment(`redis://:${PASSWORD}@127.0.0.1:${open.port}`));
    expect(needless).toMatch(/password|AUTH/);
    // It does not retry, because a retry would not help.
    expect(wrong + needless).not.toContain("trying again");
  });

  test.each([
    ["a slash", `redis://:${PASSWORD}/x@127.0.0.1:6379`],
    ["an at sign", `redis://user:hello@${PASSWORD}@127.0.0.1:6379`],
    ["a percent sign", `redis://:${PASSWORD}%@127.0.0.1:6379`],
    ["a wrong port behind it", `redis://:${PASSWORD}@127.0.0.1:port`],
  ])("with a password in the address that has %s in it", async (_, store) => {
    expect(await startInVain(environment(store), 2)).toContain("GATEHOUSE_STORE");
  });

  test("with another secret than the others have", async () => {
    const redis = await startRedis();
    const first = new Instance(environment(redis.url));
    await first.start();
    const other = { GATEHOUSE_SECRET: "quite-another-secret-0123456789abcdef" };
    expect(await startInVain(environment(redis.url, other))).toContain("GATEHOUSE_SECRET");
    // A secret that is generated in another data folder is another one too.
    expect(await startInVain(environment(redis.url, { GATEHOUSE_SECRET: "" }))).toContain("GATEHOUSE_SECRET");
  });

  test("with a master key made up in another data folder", async () => {
    const redis = await startRedis();
    const first = new Instance(environment(redis.url));
    await first.start();
    const said = await startInVain(environment(redis.url, { GATEHOUSE_MASTER_KEY: "" }));
    expect(said).toContain("GATEHOUSE_MASTER_KEY");
  });
});

test("a Redis that comes a moment later is waited for", async () => {
  const redis = await startRedis();
  await redis.kill();
  const { process, url } = await startLater(redis);
  expect(process.stderr).toContain("trying again");
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

describe("it warns, in the log, of a Redis that may lose what it was given", () => {
  test.each([
    ["appendonly", ["--appendonly", "no"]],
    ["appendfsync", ["--appendfsync", "everysec"]],
    ["maxmemory-policy", ["--maxmemory-policy", "allkeys-lru"]],
  ])("%s", async (name, settings) => {
    const redis = await startRedis(settings);
    const instance = new Instance(environment(redis.url));
    await instance.start();
    const lines = instance.process.stderr.split("\n").filter((line) => line.includes('"level":40'));
    expect(lines.filter((line) => line.includes(name)).length).toBe(1);
    expect(lines.filter((line) => line.includes("Redis has")).length).toBe(1);
  });

  test("and not of one that keeps everything", async () => {
    const redis = await startRedis();
    const instance = new Instance(environment(redis.url));
    await instance.start();
    expect(instance.process.stderr).not.toContain("Redis has");
  });
});

test("with a user, a password and a database of its own it works, and says neither in any log", async () => {
  const redis = await startRedis(["--user", "gate", "on", `>${PASSWORD}`, "~*", "&*", "+@all"]);
  const instance = new Instance(environment(`redis://gate:${PASSWORD}@127.0.0.1:${redis.port}/3`));
  await instance.start();
  const server = { name: "Town", server_key: "fleet-Town" };
  expect((await instance.admin("POST", "/servers", server)).status).toBe(201);
  expect(String(await redis.ask("INFO", "keyspace"))).toContain("db3:");
  expect(String(await redis.ask("INFO", "keyspace"))).not.toContain("db0:");
  await redis.kill();
  await until("the loss is not logged", () => instance.process.stderr.includes("Redis does not answer"));
  await redis.start();
  await until("the return is not logged", () => instance.process.stderr.includes("Redis answers again"));
  expect((await instance.admin("GET", "/servers")).body.items).toMatchObject([{ name: "Town" }]);
  expect(instance.process.stderr + instance.process.stdout).not.toContain(PASSWORD);
});

describe("it stops in order, with exit code 0,", () => {
  test.each([
    ["killed", (redis: RedisServer) => redis.kill()],
    ["frozen", (redis: RedisServer) => redis.freeze()],
  ])("also while Redis is %s", async (_, goAway) => {
    const redis = await startRedis();
    const instance = new Instance(environment(redis.url));
    await instance.start();
    await goAway(redis);
    const beganAt = performance.now();
    expect(await stop(instance.process)).toBe(0);
    expect(performance.now() - beganAt).toBeLessThan(5_000);
  });

  test("and is not counted any more at once", async () => {
    const redis = await startRedis();
    const [first, second] = [new Instance(environment(redis.url)), new Instance(environment(redis.url))];
    await first.start();
    await second.start();
    expect(await redis.ask("ZCARD", "gatehouse:{directory}:instances")).toBe(2);
    expect(await stop(second.process)).toBe(0);
    expect(await redis.ask("ZCARD", "gatehouse:{directory}:instances")).toBe(1);
  });
});

describe("over TLS", () => {
  async function startTlsRedis() {
    const folder = makeFolder();
    const { cert, key } = await makeCertificate();
    const [certPath, keyPath] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    writeFileSync(certPath, cert);
    writeFileSync(keyPath, key);
    const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const tlsPort = probe.port;
    probe.stop(true);
    await startRedis([
      ...["--tls-port", String(tlsPort), "--tls-cert-file", certPath, "--tls-key-file", keyPath],
      ...["--tls-auth-clients", "no", "--tls-ca-cert-file", certPath],
    ]);
    return { url: `rediss://127.0.0.1:${tlsPort}`, certPath };
  }

  testWith(program("openssl"))("an untrusted certificate is refused at the start", async () => {
    const { url } = await startTlsRedis();
    expect(await startInVain(environment(url))).toMatch(/certificate|self.signed/i);
  });

  testWith(program("openssl"))(
    "one whose authority the operator names in NODE_EXTRA_CA_CERTS works",
    async () => {
      const { url, certPath } = await startTlsRedis();
      const instance = new Instance(environment(url, { NODE_EXTRA_CA_CERTS: certPath }));
      await instance.start();
      const server = { name: "Town", server_key: "fleet-Town" };
      expect((await instance.admin("POST", "/servers", server)).status).toBe(201);
    },
  );
});
