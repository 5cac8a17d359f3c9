// How `gatehouse serve` starts: what it prints, creates and reads, and when it refuses to start.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseConfig } from "../../src/instance/config.ts";
import { startFakeGameApi } from "../fake-game-api.ts";
import { program, testWith } from "../needs.ts";
import { makeDataFolder, readServer, run, runToEnd, serve, stop } from "../run-gatehouse.ts";
import { cleanUp, findFreePort, makeFolder, undoLater } from "../temporary.ts";

const TOKEN = /gth_[0-9A-Za-z]{36}/;
const SECRET_FILES = ["demo.key", "master.key", "secret.key"];

afterEach(cleanUp);

function readSecret(cwd: string, name: string): string {
  return readFileSync(join(cwd, "data", name), "utf8").trim();
}

/** The lines of standard output that a user would copy. */
function findLine(stdout: string, start: string): string | undefined {
  return stdout
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line.startsWith(start));
}

describe("with nothing configured", () => {
  testWith(program("curl"))(
    "the first start prints key, master key and a curl line that works exactly as printed",
    async () => {
      const cwd = makeFolder();
      const gatehouse = await serve({ cwd });
      const token = readSecret(cwd, "demo.key");
      expect(gatehouse.stdout.match(TOKEN)?.[0]).toBe(token);
      expect(gatehouse.stdout).toContain(readSecret(cwd, "master.key"));
      for (const page of ["/", "/docs"]) {
        expect(findLine(gatehouse.stdout, page === "/" ? "dashboard" : "reference")).toEndWith(gatehouse.url + page);
      }

      const line = findLine(gatehouse.stdout, "curl ") ?? "";
      expect(line).toContain(gatehouse.url);
      const info = await Bun.$`sh -c ${line}`.cwd(cwd).quiet().json();
      expect(info).toMatchObject({ Name: expect.any(String), Players: expect.any(Array) });
      expect(await stop(gatehouse)).toBe(0);
    },
  );

  test("the second start prints the same key, which still works, and no master key", async () => {
    const cwd = makeFolder();
    await stop(await serve({ cwd }));
    const token = readSecret(cwd, "demo.key");
    const masterKey = readSecret(cwd, "master.key");

    const second = await serve({ cwd });
    expect(second.stdout.match(TOKEN)?.[0]).toBe(token);
    expect(second.stdout).not.toContain(masterKey);
    expect(readSecret(cwd, "master.key")).toBe(masterKey);
    expect((await readServer(second.url, token)).status).toBe(200);
  });

  test("a start that came to nothing was no first start: the next one prints the master key", async () => {
    const cwd = makeFolder();
    const busy = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    undoLater(() => busy.stop(true));
    const refused = await runToEnd(["serve"], { cwd, env: { GATEHOUSE_PORT: String(busy.port) } });
    expect(refused.exitCode).toBe(1);
    expect(refused.stdout).toBe("");

    const first = await serve({ cwd });
    expect(first.stdout).toContain(readSecret(cwd, "master.key"));
  });

  test("the secrets are files that only their owner can read", async () => {
    const cwd = makeFolder();
    await serve({ cwd });
    for (const name of SECRET_FILES) expect([name, modeOf(join(cwd, "data", name))]).toEqual([name, 0o600]);
    expect(modeOf(join(cwd, "data"))).toBe(0o700);
    for (const name of readdirSync(join(cwd, "data"))) {
      expect([name, modeOf(join(cwd, "data", name)) & 0o077]).toEqual([name, 0]);
    }
  });

  function modeOf(path: string): number {
    return statSync(path).mode & 0o777;
  }
});

describe("standard output and standard error", () => {
  test("one line says where it listens, with the real port, and the port answers", async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd });
    const lines = gatehouse.stdout.split("\n").filter((line) => line.includes("listening on"));
    expect(lines).toEqual([`gatehouse listening on ${gatehouse.url}`]);
    expect(gatehouse.port).toBeGreaterThan(0);
    expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${gatehouse.url}/readyz`)).status).toBe(200);
  });

  test("a configured port is the one in the line", async () => {
    const cwd = makeFolder();
    const port = findFreePort();
    const gatehouse = await serve({ cwd, env: { GATEHOUSE_PORT: String(port) } });
    expect(gatehouse.url).toBe(`http://127.0.0.1:${port}`);
    const byOption = await serve({ cwd: makeFolder(), env: { GATEHOUSE_PORT: String(port) } }, [
      "serve",
      "--port",
      "0",
    ]);
    expect(byOption.port).not.toBe(port);
  });

  test("an IPv6 address is printed so that it can be used", async () => {
    const gatehouse = await serve({ cwd: makeFolder(), env: { GATEHOUSE_HOST: "::1" } });
    expect(gatehouse.url).toBe(`http://[::1]:${gatehouse.port}`);
    expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200);
  });

  test("logs are JSON lines on standard error, and nothing of them is on standard output", async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd, env: { GATEHOUSE_LOG_LEVEL: "debug" } });
    const saidAtStart = gatehouse.stdout;
    await readServer(gatehouse.url, readSecret(cwd, "demo.key"));
    await fetch(`${gatehouse.url}/nowhere`);
    await stop(gatehouse);
    expect(gatehouse.stdout).toBe(saidAtStart);
    const lines = gatehouse.stderr.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number), msg: expect.any(String) });
  });

  test("--json prints the facts as one line before the listening line", async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd }, ["serve", "--json"]);
    const [facts = "", ...rest] = gatehouse.stdout.trimEnd().split("\n");
    expect(JSON.parse(facts)).toMatchObject({ url: gatehouse.url, api_key: readSecret(cwd, "demo.key") });
    expect(rest).toEqual([`gatehouse listening on ${gatehouse.url}`]);
  });
});

test("no secret is in the database's files, nor in the logs at their most talkative", async () => {
  const cwd = makeFolder();
  const gatehouse = await serve({ cwd, env: { GATEHOUSE_LOG_LEVEL: "trace" } });
  const [token = "", masterKey = "", secret = ""] = SECRET_FILES.map((name) => readSecret(cwd, name));
  const canary = "gth_000000000000000000000000000000000000";
  await readServer(gatehouse.url, token, "?Players=true");
  await readServer(gatehouse.url, canary);
  await readServer(gatehouse.url, masterKey);
  await fetch(`${gatehouse.url}/v2/${token}/game/server?token=${token}`, {
    headers: { Authorization: `Bearer ${masterKey}` },
  });
  await fetch(`${gatehouse.url}/readyz`);

  const searched = new Map([["logs", Buffer.from(gatehouse.stderr)]]);
  const files = readdirSync(join(cwd, "data")).filter((name) => name.startsWith("gatehouse.db"));
  for (const name of files) searched.set(name, readFileSync(join(cwd, "data", name)));
  await stop(gatehouse);
  searched.set("logs to the end", Buffer.from(gatehouse.stderr));
  searched.set("database after the end", readFileSync(join(cwd, "data", "gatehouse.db")));

  expect(files).toContain("gatehouse.db-wal");
  for (const [where, bytes] of searched) {
    for (const [what, text] of Object.entries({ token, masterKey, secret, canary, serverKey: "demo-Town" })) {
      expect({ where, what, isThere: bytes.includes(text) }).toEqual({ where, what, isThere: false });
    }
  }
});

test("with a game API of its own, Gatehouse creates no server and no key, and says which API it is", async () => {
  const api = startFakeGameApi();
  undoLater(() => api.stop());
  const cwd = makeFolder();
  const gatehouse = await serve({ cwd, env: { GATEHOUSE_UPSTREAM_URL: api.url } });
  expect(gatehouse.stdout).not.toMatch(TOKEN);
  expect(gatehouse.stdout).toContain(api.url);
  expect(existsSync(join(cwd, "data", "demo.key"))).toBe(false);
  expect(gatehouse.stdout).toContain("There is no game server yet");
  await stop(gatehouse);
  expect(api.calls).toHaveLength(0);
});

test("an unreachable game API is no reason not to start", async () => {
  const { folder, token } = await makeDataFolder();
  const env = { GATEHOUSE_DATA_DIR: folder, GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9" };
  const gatehouse = await serve({ cwd: folder, env });
  const response = await readServer(gatehouse.url, token);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 5019, message: "game_api_error", upstream_code: 0 });
});

describe("settings", () => {
  test(".env of the caller's folder is read, and the environment wins over it", async () => {
    const cwd = makeFolder();
    const lines = [
      "# a comment",
      "GATEHOUSE_DATA_DIR=./from-file",
      'GATEHOUSE_LOG_LEVEL="silent"',
      "GATEHOUSE_PORT=0",
      "",
    ];
    writeFileSync(join(cwd, ".env"), lines.join("\n"));
    const quiet = await serve({ cwd });
    expect(existsSync(join(cwd, "from-file", "gatehouse.db"))).toBe(true);
    await stop(quiet);
    expect(quiet.stderr).toBe("");

    const loud = await serve({
      cwd,
      env: { GATEHOUSE_LOG_LEVEL: "info", GATEHOUSE_DATA_DIR: "./from-environment" },
    });
    expect(existsSync(join(cwd, "from-environment", "gatehouse.db"))).toBe(true);
    await stop(loud);
    expect(loud.stderr).not.toBe("");
  });

  test("every fault is named at once, the exit code is 2, and nothing is created", async () => {
    const cwd = makeFolder();
    const bad = {
      GATEHOUSE_PORT: "70000",
      GATEHOUSE_STORE: "mysql://user:canary-password@db",
      GATEHOUSE_REDIS: "http://user:canary-password@redis",
      GATEHOUSE_MASTER_KEY: "canary-short",
      GATEHOUSE_SECRET: "canary of thirty-one characters",
      GATEHOUSE_METRICS_TOKEN: "canary-of-thirty-one-characters",
      GATEHOUSE_UPSTREAM_URL: "not a url",
      GATEHOUSE_UPSTREAM_TIMEOUT_MS: "0",
      GATEHOUSE_FRESH_MS: "-1",
      GATEHOUSE_STALE_MS: "1.5",
      GATEHOUSE_COMMAND_INTERVAL_MS: "soon",
      GATEHOUSE_COMMAND_TTL_MS: "1e3",
      GATEHOUSE_TLS_CERT: "/nowhere/cert.pem",
      GATEHOUSE_TRUST_PROXY: "127.0.0.1, 300.1.1.1",
      GATEHOUSE_CORS_ORIGINS: "https://example.org/path",
      GATEHOUSE_PUBLIC_URL: "https://example.org/",
      GATEHOUSE_DISCORD_CLIENT_ID: "not a number",
      GATEHOUSE_DISCORD_CLIENT_SECRET: "canary with spaces",
      GATEHOUSE_DISCORD_URL: "http://discord.example",
      GATEHOUSE_UNKNOWN_FIELDS: "keep",
      GATEHOUSE_LOG_LEVEL: "loud",
      GATEHOUSE_LOG_FORMAT: "xml",
      GATEHOUSE_WEBHOOKS_RETRY_MS: "5000,soon",
      GATEHOUSE_WEBHOOKS_PRIVATE: "yes",
    };
    const { exitCode, stdout, stderr } = await runToEnd(["serve"], { cwd, env: bad });
    expect(exitCode).toBe(2);
    expect(stdout).toBe("");
    for (const name of Object.keys(bad)) expect(stderr).toContain(name);
    expect(stderr).toContain("GATEHOUSE_TLS_KEY");
    expect(stderr).not.toContain("canary");
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test.each([
    ["https://api.example/v2", "https://api.example"],
    ["https://api.example/v1/", "https://api.example"],
    ["https://api.example/server", "https://api.example"],
    ["https://api.example:8443/game/v2/server//", "https://api.example:8443/game"],
  ])("a game API address %s: exit code 2, and the address to write instead", async (url, instead) => {
    const { exitCode, stderr } = await runToEnd(["serve"], {
      cwd: makeFolder(),
      env: { GATEHOUSE_UPSTREAM_URL: url },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(new RegExp(`GATEHOUSE_UPSTREAM_URL .*: write ${RegExp.escape(instead)}$`, "m"));
  });

  test("names that only look like the path of the game API are no fault", () => {
    for (const url of ["http://server", "https://v2", "https://a.example/v2x", "https://a.example/servers"]) {
      expect(parseConfig({ GATEHOUSE_UPSTREAM_URL: url }).upstreamUrl).toBe(url);
    }
  });

  test("simulator names the built-in simulator, as no address does", () => {
    for (const environment of [{}, { GATEHOUSE_UPSTREAM_URL: "simulator" }])
      expect(parseConfig(environment).upstreamUrl).toBeUndefined();
    expect(() => parseConfig({ GATEHOUSE_UPSTREAM_URL: "simulate" })).toThrow("must be `simulator`");
  });

  test("the waits of webhooks are a list of whole numbers from 1 ms to five days, and nothing else", () => {
    const retryMs = (text: string) => parseConfig({ GATEHOUSE_WEBHOOKS_RETRY_MS: text }).webhookRetryMs;
    expect(retryMs("")).toEqual([5_000, 30_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000]);
    expect(retryMs("1")).toEqual([1]);
    expect(retryMs(" 100, 200 ,432000000")).toEqual([100, 200, 432_000_000]);
    const wrong = ["0", "-1", "1.5", "1e3", "5000,", ",5000", "1,,2", "5 000", "5000;30000", "432000001", "soon"];
    for (const text of [...wrong, Array(101).fill("1").join(",")])
      expect(() => retryMs(text)).toThrow("GATEHOUSE_WEBHOOKS_RETRY_MS");
  });

  test("webhooks go to private addresses only when that is allowed in so many words", () => {
    const isAllowed = (text: string) => {
      return parseConfig({ GATEHOUSE_WEBHOOKS_PRIVATE: text }).allowsPrivateWebhooks;
    };
    expect([isAllowed(""), isAllowed("deny"), isAllowed("allow")]).toEqual([false, false, true]);
    for (const text of ["yes", "true", "1", "ALLOW", "allowed"])
      expect(() => isAllowed(text)).toThrow("GATEHOUSE_WEBHOOKS_PRIVATE");
  });

  test("an unknown setting causes a warning, and Gatehouse starts", async () => {
    const gatehouse = await serve({ cwd: makeFolder(), env: { GATEHOUSE_PROT: "8081" } });
    const line = await gatehouse.waitForLine("GATEHOUSE_PROT", "stderr");
    expect(JSON.parse(line)).toMatchObject({ level: 40 });
  });

  test("a port in use: exit code 1, and one clear sentence", async () => {
    const first = await serve({ cwd: makeFolder() });
    const { exitCode, stdout, stderr } = await runToEnd(["serve"], {
      cwd: makeFolder(),
      env: { GATEHOUSE_PORT: String(first.port) },
    });
    expect(exitCode).toBe(1);
    expect(stdout).not.toContain("listening on");
    expect(stderr).toContain(`127.0.0.1:${first.port}`);
    expect(stderr).toMatch(/in use/);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
  });

  test.each([
    ["a file", "/dev/null"],
    ["below a file", "/dev/null/data"],
  ])("a data folder that is %s: exit code 2, and one clear sentence", async (_, path) => {
    const { exitCode, stderr } = await runToEnd(["serve"], {
      cwd: makeFolder(),
      env: { GATEHOUSE_PORT: "0", GATEHOUSE_DATA_DIR: path },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(path);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test("a host that is not ours: exit code 1, and one clear sentence", async () => {
    const child = run(["serve"], {
      cwd: makeFolder(),
      env: { GATEHOUSE_PORT: "0", GATEHOUSE_HOST: "192.0.2.1" },
    });
    expect(await child.exited).toBe(1);
    expect(child.stderr).toContain("192.0.2.1");
    expect(child.stderr).not.toMatch(/\n\s+at /);
  });
});

describe("when things are not as they should be", () => {
  test("a log that cannot be written does not end the service", async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd, before: "exec 2>&-", env: { GATEHOUSE_LOG_LEVEL: "debug" } });
    for (let i = 0; i < 20; i++) expect((await fetch(`${gatehouse.url}/nowhere`)).status).toBe(404);
    expect((await readServer(gatehouse.url, readSecret(cwd, "demo.key"))).status).toBe(200);
    expect(await stop(gatehouse)).toBe(0);
  });

  test("a log on a full disk does not end the service", async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd, before: "exec 2>/dev/full", env: { GATEHOUSE_LOG_LEVEL: "debug" } });
    for (let i = 0; i < 20; i++) expect((await fetch(`${gatehouse.url}/nowhere`)).status).toBe(404);
    expect(await stop(gatehouse)).toBe(0);
  });

  test("a master.key that is too short is refused", async () => {
    const cwd = makeFolder();
    await stop(await serve({ cwd }));
    writeFileSync(join(cwd, "data", "master.key"), "short\n");
    const { exitCode, stderr } = await runToEnd(["serve"], { cwd, env: { GATEHOUSE_PORT: "0" } });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("master.key");
  });

  test("a lost secret.key is reported, and no new one is generated", async () => {
    const cwd = makeFolder();
    await stop(await serve({ cwd }));
    rmSync(join(cwd, "data", "secret.key"));
    const { exitCode, stderr } = await runToEnd(["serve"], { cwd, env: { GATEHOUSE_PORT: "0" } });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("secret.key is missing");
    expect(existsSync(join(cwd, "data", "secret.key"))).toBe(false);
  });

  test("of several first starts at once one serves, and its secrets are the ones that are kept", async () => {
    const cwd = makeFolder();
    const starts = Array.from({ length: 4 }, () => run(["serve"], { cwd, env: { GATEHOUSE_PORT: "0" } }));
    const lines = await Promise.allSettled(starts.map((start) => start.waitForLine("listening on")));
    const winners = starts.filter((_, index) => lines[index]?.status === "fulfilled");
    expect(winners).toHaveLength(1);
    for (const winner of winners) winner.kill("SIGKILL");
    await Promise.all(starts.map((start) => start.exited));
    const again = await serve({ cwd });
    expect((await readServer(again.url, readSecret(cwd, "demo.key"))).status).toBe(200);
  });
});
