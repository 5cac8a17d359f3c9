// gatehouse doctor as a process: works before the first start, beside a running instance and with damaged folders, changes
// nothing, and never prints a secret.
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { BASE_INFO, type FakeAnswer, startFakeGameApi } from "../fake-game-api.ts";
import { makeCertificate } from "../make-certificate.ts";
import { makeDataFolder, readServer, run, runToEnd, serve, stop } from "../run-gatehouse.ts";
import { FakeClock, makeTestFolder, startGatehouse } from "../start-gatehouse.ts";
import { makeSchema4 } from "../store/old-schema.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";

type Check = { name: string; result: string; finding: string; remedy: string | null };

afterEach(cleanUp);

async function diagnose(
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<{ exitCode: number; checks: Check[]; of: (name: string) => Check[]; said: string }> {
  const { exitCode, stdout, stderr } = await runToEnd(["doctor", "--json", ...args], { cwd, env });
  expect(stderr).toBe("");
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  return { exitCode, checks, of: (name) => checks.filter((check) => check.name === name), said: stdout };
}

/** The state of a folder, to detect changes. */
function captureState(folder: string): unknown {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const { mode, mtimeMs, size, ino, uid } = statSync(join(folder, name));
      return { name, mode, mtimeMs, size, ino, uid };
    });
}

/** The data folder of a stopped demo; tests damage a copy of it. */
const template = makeTestFolder();

beforeAll(async () => {
  const gatehouse = await startGatehouse({ folder: join(template, "data") });
  await gatehouse.stop();
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

function makeStopped(): { cwd: string; data: string; path: string } {
  const cwd = makeFolder();
  const data = join(cwd, "data");
  cpSync(join(template, "data"), data, { recursive: true });
  chmodSync(data, 0o700);
  // Our own process has another umask than `gatehouse serve`.
  for (const name of readdirSync(data)) chmodSync(join(data, name), 0o600);
  return { cwd, data, path: join(data, "gatehouse.db") };
}

test("keys that a local proxy's callers could all use are named, unless the proxy is trusted", async () => {
  const { cwd, data } = makeStopped();
  const gatehouse = await startGatehouse({ folder: data });
  const server = await gatehouse.addServer();
  await gatehouse.addKey(server, { ipAllow: ["127.0.0.0/8", "::1"] });
  await gatehouse.stop();
  const [warning] = (await diagnose(cwd)).of("address lists");
  expect(warning).toMatchObject({
    result: "warning",
    remedy: expect.stringContaining("GATEHOUSE_TRUST_PROXY"),
  });
  expect(warning?.finding).toContain('The key "test" may be used');
  const trusting = await diagnose(cwd, { GATEHOUSE_TRUST_PROXY: "127.0.0.1" });
  expect(trusting.of("address lists")).toMatchObject([{ result: "ok" }]);
});

describe("files that it creates", () => {
  test("nothing, where nothing was ever started", async () => {
    const cwd = makeFolder();
    const { exitCode, checks } = await diagnose(cwd);
    expect(exitCode).toBe(0);
    expect(checks.map(({ name }) => name)).toEqual([
      "settings",
      "data folder",
      "store",
      "archive",
      "server keys",
      "address lists",
      "instance",
      "disk",
      "clock",
      "TLS",
      "exposure",
      "game API",
      "open files",
    ]);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("nothing, in the folder of a stopped instance", async () => {
    const { cwd, data } = makeStopped();
    const before = captureState(data);
    const { exitCode, of } = await diagnose(cwd);
    expect(exitCode).toBe(0);
    expect(of("store")).toMatchObject([{ result: "ok", finding: expect.stringContaining("1 server and 1 key") }]);
    expect(of("instance")).toMatchObject([{ result: "skipped" }]);
    expect(captureState(data)).toEqual(before);
  });

  test("nothing, in the folder of a killed instance, whose log it reads all the same", async () => {
    const cwd = makeFolder();
    await stop(await serve({ cwd }), "SIGKILL");
    const before = captureState(join(cwd, "data"));
    const { exitCode, of } = await diagnose(cwd);
    expect(exitCode).toBe(0);
    expect(of("store")).toMatchObject([{ result: "ok", finding: expect.stringContaining("1 server and 1 key") }]);
    expect(captureState(join(cwd, "data"))).toEqual(before);
  });

  test("a running instance, which is not affected, and which it calls", async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd });
    const { exitCode, of } = await diagnose(cwd, { GATEHOUSE_PORT: String(gatehouse.port) });
    expect(exitCode).toBe(0);
    expect(of("store")).toMatchObject([{ result: "ok" }]);
    expect(of("instance")).toMatchObject([{ result: "ok", finding: expect.stringContaining(gatehouse.url) }]);
    const token = readFileSync(join(cwd, "data", "demo.key"), "utf8").trim();
    expect((await readServer(gatehouse.url, token)).status).toBe(200);
    expect(await stop(gatehouse)).toBe(0);
  });
});

describe("broken folders", () => {
  test.each<[string, (data: string, path: string) => void, string, RegExp]>([
    ["a secret that others can read", (data) => chmodSync(join(data, "secret.key"), 0o644), "data folder", /0644/],
    ["a folder that others can write to", (data) => chmodSync(data, 0o777), "data folder", /0777/],
    ["a lost secret", (data) => rmSync(join(data, "secret.key")), "store", /missing/],
    [
      "another secret",
      (data) => writeFileSync(join(data, "secret.key"), "canary-of-another-secret-altogether\n"),
      "store",
      /not the one/,
    ],
    ["half a database", (_, path) => truncateSync(path, statSync(path).size / 2), "store", /damaged/],
    ["a text instead of a database", (_, path) => writeFileSync(path, "Dear diary,\n"), "store", /not a Gatehouse/],
    [
      "a database of the future",
      (_, path) => {
        const db = new Database(path);
        db.exec("PRAGMA user_version = 9999");
        db.close();
        for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
      },
      "store",
      /newer/,
    ],
    [
      "a master key that is too short",
      (data) => writeFileSync(join(data, "master.key"), "canary-too-short\n"),
      "data folder",
      /master\.key/,
    ],
  ])("%s: exit code 1, a remedy, no secret, and nothing is changed", async (_, harm, name, words) => {
    const { cwd, data, path } = makeStopped();
    harm(data, path);
    const before = captureState(data);
    const { exitCode, of, said } = await diagnose(cwd);
    expect(exitCode).toBe(1);
    const failures = of(name).filter(({ result }) => result === "failure");
    expect(failures).toMatchObject([{ finding: expect.stringMatching(words), remedy: expect.stringMatching(/\w{3}/) }]);
    expect(captureState(data)).toEqual(before);
    for (const file of readdirSync(data).filter((file) => file.endsWith(".key"))) {
      expect(said).not.toContain(readFileSync(join(data, file), "utf8").trim());
    }
  });

  test("every wrong setting is reported, and the rest is still checked", async () => {
    const { cwd } = makeStopped();
    const env = {
      GATEHOUSE_PORT: "many",
      GATEHOUSE_MASTER_KEY: "canary-short",
      GATEHOUSE_LOG_LEVEL: "loud",
      GATEHOUSE_PROT: "8080",
    };
    const { exitCode, of, said } = await diagnose(cwd, env);
    expect(exitCode).toBe(1);
    const results = of("settings").map(({ result }) => result);
    expect(results).toEqual(["failure", "failure", "failure", "warning"]);
    expect(of("store")).toMatchObject([{ result: "ok" }]);
    expect(said).not.toContain("canary");
  });

  test("a .env that cannot be read is a failure, not a crash", async () => {
    const cwd = makeFolder();
    mkdirSync(join(cwd, ".env"));
    const { exitCode, of } = await diagnose(cwd);
    expect(exitCode).toBe(1);
    expect(of("settings")).toMatchObject([{ result: "failure", finding: expect.stringContaining(".env") }]);
  });
});

describe("TLS", () => {
  test("a certificate that ends soon is a warning, with its names; rubbish is a failure", async () => {
    const cwd = makeFolder();
    const { cert, key } = await makeCertificate();
    const [certPath, keyPath] = [join(cwd, "cert.pem"), join(cwd, "key.pem")];
    writeFileSync(certPath, cert);
    writeFileSync(keyPath, key, { mode: 0o600 });
    const env = { GATEHOUSE_TLS_CERT: certPath, GATEHOUSE_TLS_KEY: keyPath };
    const soon = await diagnose(cwd, env);
    expect(soon.exitCode).toBe(0);
    expect(soon.of("TLS")).toMatchObject([
      { result: "warning", finding: expect.stringMatching(/(127\.0\.0\.1|gatehouse\.test) expires/) },
    ]);
    writeFileSync(certPath, "rubbish");
    const broken = await diagnose(cwd, env);
    expect(broken.exitCode).toBe(1);
    expect(broken.of("TLS")).toMatchObject([{ result: "failure" }]);
    expect(broken.of("settings")).toMatchObject([{ result: "failure" }]);
  });
});

describe("the game API", () => {
  test("is called once and without a key; its clock is compared with ours", async () => {
    // The clock is an hour late; the duration of the call on a busy machine is small compared to that.
    const tellLate = () => new Date(Date.now() - 3_600_000).toUTCString();
    const api = startFakeGameApi(() => {
      return Response.json({ code: 0 }, { status: 404, headers: { Date: tellLate() } });
    });
    undoLater(() => api.stop());
    const { exitCode, of } = await diagnose(makeFolder(), { GATEHOUSE_UPSTREAM_URL: api.url });
    expect(exitCode).toBe(0);
    expect(of("game API")).toMatchObject([{ result: "ok", finding: expect.stringContaining("JSON") }]);
    expect(of("clock")).toMatchObject([
      { result: "warning", finding: expect.stringMatching(/\b(3599|36\d\d) s ahead/) },
    ]);
    expect(api.calls.length).toBe(1);
    expect(api.calls[0]?.headers.has("server-key")).toBe(false);
  });

  test.each([
    ["a web page", () => new Response("<!doctype html><p>x"), /web page/],
    ["nothing there", () => new Response("404 page not found", { status: 404 }), /without the JSON/],
  ])("an address with %s is not called ok", async (_, answer, words) => {
    const other = startFakeGameApi(answer);
    undoLater(() => other.stop());
    const { of } = await diagnose(makeFolder(), { GATEHOUSE_UPSTREAM_URL: other.url });
    expect(of("game API")).toMatchObject([{ result: "warning", finding: expect.stringMatching(words) }]);
  });

  test.each([
    ["a closed port", "http://127.0.0.1:9", /No connection/],
    ["a name that does not exist", "http://gatehouse.invalid", /cannot be resolved/],
  ])("%s is a failure", async (_, url, words) => {
    const { exitCode, of } = await diagnose(makeFolder(), { GATEHOUSE_UPSTREAM_URL: url });
    expect(exitCode).toBe(1);
    expect(of("game API")).toMatchObject([{ result: "failure", finding: expect.stringMatching(words) }]);
  });

  test("silence is a failure when the timeout is over", async () => {
    const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    undoLater(() => silent.stop(true));
    const env = {
      GATEHOUSE_UPSTREAM_URL: `http://127.0.0.1:${silent.port}`,
      GATEHOUSE_UPSTREAM_TIMEOUT_MS: "300",
    };
    const { exitCode, of } = await diagnose(makeFolder(), env);
    expect(exitCode).toBe(1);
    expect(of("game API")).toMatchObject([{ finding: expect.stringContaining("300 ms") }]);
  });

  test("an untrusted certificate is a failure", async () => {
    const tls = await makeCertificate();
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch: () => new Response("") });
    undoLater(() => server.stop(true));
    const env = { GATEHOUSE_UPSTREAM_URL: `https://127.0.0.1:${server.port}` };
    const { exitCode, of } = await diagnose(makeFolder(), env);
    expect(exitCode).toBe(1);
    expect(of("game API")).toMatchObject([{ finding: expect.stringContaining("not trusted") }]);
  });
});

describe("server keys", () => {
  test("are tested only on request, once each; for a refused one the server is named, never the key", async () => {
    const folder = makeFolder();
    const gatehouse = await startGatehouse({
      folder,
      env: { GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9" },
    });
    const refused = await gatehouse.addServer({ name: "Old \x1b[31mTown", serverKey: "invalid-CanaryA" });
    await gatehouse.addServer({ name: "Good Town", serverKey: "good-CanaryB" });
    await gatehouse.stop();
    const simulator = await serve({ cwd: makeFolder() }, ["simulate", "--port", "0"]);
    const countCalls = async () => {
      const { calls } = (await (await fetch(`${simulator.url}/_calls`)).json()) as { calls?: unknown[] };
      return calls?.filter((call) => JSON.stringify(call).includes("/v2/server")).length;
    };
    const env = { GATEHOUSE_UPSTREAM_URL: simulator.url, GATEHOUSE_DATA_DIR: folder };

    const quiet = await diagnose(folder, env);
    expect(quiet.of("server keys")).toMatchObject([{ result: "skipped" }]);
    expect(await countCalls()).toBe(0);

    const asked = await diagnose(folder, env, ["--ask-keys"]);
    expect(asked.exitCode).toBe(1);
    expect(asked.of("server keys")).toMatchObject([
      { result: "failure", finding: expect.stringContaining(refused.serverId) },
      { result: "ok", finding: expect.stringContaining("2 of 2") },
    ]);
    expect(await countCalls()).toBe(2);
    const shown = await runToEnd(["doctor", "--ask-keys"], { cwd: folder, env });
    expect(shown.stdout).toContain("Old ");
    for (const said of [asked.said, shown.stdout]) expect(said).not.toMatch(/Canary|\x1b/);
  });
});

describe("what an instance has noted about the game API", () => {
  const GOOD = "good-CanaryE";
  const BAD = "bad-CanaryF";

  /** A stopped instance whose two servers were read once, by the machine's clock, with these answers. */
  async function makeNoted(answer: FakeAnswer, env: Readonly<Record<string, string>> = {}) {
    const folder = makeFolder();
    const api = startFakeGameApi(answer);
    undoLater(() => api.stop());
    const settings = { ...env, GATEHOUSE_UPSTREAM_URL: api.url };
    const clock = new FakeClock();
    clock.now = Date.now();
    const gatehouse = await startGatehouse({ folder, env: settings, clock });
    const bad = await gatehouse.addServer({ name: "Bad Town", serverKey: BAD });
    const good = await gatehouse.addServer({ name: "Good Town", serverKey: GOOD });
    for (const server of [bad, good]) {
      await gatehouse.get("/v2/game/server", (await gatehouse.addKey(server)).token);
    }
    await gatehouse.stop();
    const asking = { ...settings, GATEHOUSE_DATA_DIR: folder };
    const diagnoseNoted = async (overrides: Readonly<Record<string, string>> = {}) => {
      api.calls.length = 0;
      const diagnosis = await diagnose(folder, { ...asking, ...overrides }, ["--ask-keys"]);
      return { ...diagnosis, keys: api.calls.map(({ headers }) => headers.get("server-key")) };
    };
    return { folder, api, bad, settings, diagnose: diagnoseNoted };
  }

  const refuse = (code: number) => Response.json({ code, message: "No." }, { status: 403 });
  const limit = () => Response.json({ code: 4001, message: "Slow.", retry_after: 600 }, { status: 429 });
  const refuseBad: FakeAnswer = ({ headers }) =>
    headers.get("server-key") === BAD ? refuse(2002) : Response.json(BASE_INFO);

  test("a refused key is reported and not asked again, until it is replaced", async () => {
    const noted = await makeNoted(refuseBad);
    const before = captureState(noted.folder);
    const { exitCode, of, keys, said } = await noted.diagnose();
    expect(exitCode).toBe(1);
    expect(of("server keys")).toMatchObject([
      { result: "failure", finding: expect.stringContaining(`${noted.bad.serverId}), so it was not tested`) },
      { result: "ok", finding: expect.stringContaining("1 of 2") },
    ]);
    expect(keys).toEqual([null, GOOD]);
    expect(said).not.toContain("Canary");
    expect(captureState(noted.folder)).toEqual(before);

    const gatehouse = await startGatehouse({ folder: noted.folder, env: noted.settings });
    const path = `/admin/servers/${noted.bad.serverId}`;
    expect((await gatehouse.admin("PATCH", path, { server_key: "new-CanaryG" })).status).toBe(200);
    await gatehouse.stop();
    expect((await noted.diagnose()).keys).toEqual([null, "new-CanaryG", GOOD]);
  });

  test("during a pause nothing is called, and the time left is told; a lifted pause and another game API are called", async () => {
    const noted = await makeNoted(limit);
    noted.api.answer = () => Response.json(BASE_INFO);
    const { exitCode, of, keys } = await noted.diagnose();
    expect(exitCode).toBe(0);
    const words = expect.stringMatching(/paused after a 429, for (10m|9m \d+s) more\.$/);
    expect(of("game API")).toMatchObject([{ result: "skipped", finding: words }]);
    expect(of("server keys")).toMatchObject([{ result: "skipped", finding: words }]);
    expect(keys).toEqual([]);
    expect((await noted.diagnose({ GATEHOUSE_UPSTREAM_URL: `${noted.api.url}/moved` })).keys).toHaveLength(3);

    const db = new Database(join(noted.folder, "gatehouse.db"));
    db.query("INSERT INTO settings VALUES ('upstream-lifted-at', ?)").run(String(Date.now()));
    db.close();
    expect((await noted.diagnose()).keys).toHaveLength(3);
  });

  test("a refused application key is reported and nothing is called; without that key it does not count", async () => {
    const noted = await makeNoted(() => refuse(2003), { GATEHOUSE_UPSTREAM_GLOBAL_KEY: "CanaryH" });
    const { exitCode, of, keys, said } = await noted.diagnose();
    expect(exitCode).toBe(1);
    expect(of("game API")).toMatchObject([
      { result: "failure", remedy: expect.stringContaining("GATEHOUSE_UPSTREAM_GLOBAL_KEY") },
    ]);
    expect(of("server keys")).toMatchObject([{ result: "skipped" }]);
    expect(keys).toEqual([]);
    expect(said).not.toContain("Canary");
    noted.api.answer = () => Response.json(BASE_INFO);
    expect((await noted.diagnose({ GATEHOUSE_UPSTREAM_GLOBAL_KEY: "" })).keys).toHaveLength(3);
  });

  test("a limit that the first call meets ends the test of the keys before it begins", async () => {
    const noted = await makeNoted(() => Response.json(BASE_INFO));
    noted.api.answer = limit;
    const { of, keys } = await noted.diagnose();
    expect(keys).toEqual([null]);
    expect(of("game API")).toMatchObject([{ result: "warning" }]);
    expect(of("server keys")).toMatchObject([{ result: "skipped" }]);
  });

  test("with a store that cannot be read, nothing is called", async () => {
    const noted = await makeNoted(() => Response.json(BASE_INFO));
    writeFileSync(join(noted.folder, "gatehouse.db"), "Dear diary,\n");
    const { of, keys } = await noted.diagnose();
    expect(keys).toEqual([]);
    expect(of("game API")).toMatchObject([{ result: "skipped", finding: expect.stringContaining("store") }]);
  });
});

describe("on the command line", () => {
  test("text for people has the remedies, and no colours where there is no terminal", async () => {
    const { cwd, data } = makeStopped();
    chmodSync(join(data, "secret.key"), 0o644);
    const { exitCode, stdout } = await runToEnd(["doctor"], { cwd });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^failure +data folder +secret\.key is open to other users/m);
    expect(stdout).toContain("chmod 600");
    expect(stdout).toContain("1 failure, 1 warning.");
    expect(stdout).not.toContain("\x1b");
  });

  test("a wrong option is exit code 2", async () => {
    const { exitCode, stdout } = await runToEnd(["doctor", "--cure"], { cwd: makeFolder() });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  });

  test("--data-dir names the folder", async () => {
    const { folder } = await makeDataFolder();
    const { of } = await diagnose(makeFolder(), {}, ["--data-dir", folder]);
    expect(of("store")).toMatchObject([{ result: "ok" }]);
  });

  test("a data folder behind a link is judged by the folder, not by the link", async () => {
    const { cwd, data } = makeStopped();
    symlinkSync(data, join(cwd, "link"));
    const { exitCode, of } = await diagnose(makeFolder(), {}, ["--data-dir", join(cwd, "link")]);
    expect(exitCode).toBe(0);
    expect(of("data folder")).toMatchObject([{ result: "ok" }]);
  });

  test("a limit on open files that is too low is reported", async () => {
    const child = run(["doctor", "--json"], { cwd: makeFolder(), before: "ulimit -n 1000" });
    expect(await child.exited).toBe(0);
    const { checks } = JSON.parse(child.stdout) as { checks: Check[] };
    const isLinux = process.platform === "linux";
    expect(checks.at(-1)).toMatchObject({ name: "open files", result: isLinux ? "warning" : "skipped" });
  });

  test("--ready is 0 for an instance that is ready, also over TLS and past proxies, and 1 for none", async () => {
    const cwd = makeFolder();
    const { cert, key } = await makeCertificate();
    writeFileSync(join(cwd, "cert.pem"), cert);
    writeFileSync(join(cwd, "key.pem"), key, { mode: 0o600 });
    const env = {
      GATEHOUSE_TLS_CERT: join(cwd, "cert.pem"),
      GATEHOUSE_TLS_KEY: join(cwd, "key.pem"),
      HTTPS_PROXY: "http://127.0.0.1:9",
    };
    const gatehouse = await serve({ cwd, env });
    const asking = { cwd, env: { ...env, GATEHOUSE_PORT: String(gatehouse.port) } };
    expect(await runToEnd(["doctor", "--ready"], asking)).toMatchObject({ exitCode: 0 });
    await stop(gatehouse);
    const { exitCode, stderr } = await runToEnd(["doctor", "--ready"], asking);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("not ready");
  });
});

describe("servers and the upstream that they were made for", () => {
  async function makeBoth(): Promise<string> {
    const folder = makeFolder();
    const onSimulator = await startGatehouse({ folder });
    await onSimulator.addServer({ name: "Play town", serverKey: "play-CanaryC" });
    await onSimulator.stop();
    const env = { GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9" };
    const onGameApi = await startGatehouse({ folder, env });
    await onGameApi.addServer({ name: "Real town", serverKey: "real-CanaryD" });
    await onGameApi.stop();
    return folder;
  }

  test("those that are parked are named, with what to do", async () => {
    const folder = await makeBoth();
    const onSimulator = await diagnose(folder, { GATEHOUSE_DATA_DIR: folder });
    expect(onSimulator.of("servers")).toMatchObject([
      {
        result: "warning",
        finding: expect.stringContaining(": Real town."),
        remedy: expect.stringContaining("GATEHOUSE_UPSTREAM_URL"),
      },
    ]);
    const api = startFakeGameApi();
    undoLater(() => api.stop());
    const env = { GATEHOUSE_DATA_DIR: folder, GATEHOUSE_UPSTREAM_URL: api.url };
    expect((await diagnose(folder, env)).of("servers")).toMatchObject([
      { result: "warning", finding: expect.stringContaining(": Demo, Play town.") },
    ]);
  });

  test("keys of the simulator are not tested with a real game API, also in a database of an older version", async () => {
    const folder = await makeBoth();
    const api = startFakeGameApi();
    undoLater(() => api.stop());
    const env = { GATEHOUSE_DATA_DIR: folder, GATEHOUSE_UPSTREAM_URL: api.url };
    const askedKeys = async () => {
      api.calls.length = 0;
      await diagnose(folder, env, ["--ask-keys"]);
      return api.calls.flatMap(({ headers }) => headers.get("server-key") ?? []);
    };
    expect(await askedKeys()).toEqual(["real-CanaryD"]);
    const db = new Database(join(folder, "gatehouse.db"));
    makeSchema4(db);
    db.close();
    expect(await askedKeys()).toEqual(["play-CanaryC", "real-CanaryD"]);
  });

  test("a running instance tells doctor their names, and the master key is not sent for it", async () => {
    const folder = await makeBoth();
    const env = { GATEHOUSE_DATA_DIR: folder };
    const instance = await serve({ cwd: folder, env });
    const port = new URL(instance.url).port;
    const { of } = await diagnose(folder, { ...env, GATEHOUSE_PORT: port });
    expect(of("instance")).toMatchObject([
      { result: "warning", finding: expect.stringContaining("Parked: Real town.") },
    ]);
    expect(of("servers")).toEqual([]);
    await stop(instance);

    const seen: string[] = [];
    const impostor = Bun.serve({
      ...{ port: Number(port), hostname: "127.0.0.1" },
      fetch(request) {
        seen.push(request.headers.get("authorization") ?? "");
        return Response.json({ status: "ready", notices: [] });
      },
    });
    undoLater(() => impostor.stop(true));
    // With one listener the lock in the folder leads to it, whoever has the port now.
    const lone = await startGatehouse({ folder });
    await diagnose(folder, { ...env, GATEHOUSE_PORT: port });
    expect(seen).toEqual([]);
    await lone.stop();
    const holder = await startGatehouse({ folder, env: { GATEHOUSE_ADMIN_PORT: "0" } });
    undoLater(() => holder.stop());
    await diagnose(folder, { ...env, GATEHOUSE_PORT: port });
    expect(seen).toEqual([expect.stringMatching(/^Bearer [0-9a-f]{64}$/)]);
    expect(seen.join()).not.toContain(holder.masterKey);
  });
});

test("doctor names what is open to others: .env, unchecked certificates, plain HTTP outside of this machine", async () => {
  const cwd = makeFolder();
  const lines = [
    `GATEHOUSE_MASTER_KEY=${"m".repeat(40)}`,
    "GATEHOUSE_STORE=postgres://me:canary-password@127.0.0.1:1/gatehouse",
  ];
  writeFileSync(join(cwd, ".env"), `${lines.join("\n")}\n`);
  chmodSync(join(cwd, ".env"), 0o644);
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0", GATEHOUSE_HOST: "0.0.0.0", GATEHOUSE_STORE: "sqlite" };
  const open = await diagnose(cwd, env);
  expect(open.exitCode).toBe(1);
  const findings = open.of("exposure").map(({ finding }) => finding);
  expect(findings).toEqual([
    expect.stringContaining("Other users can read GATEHOUSE_MASTER_KEY, GATEHOUSE_STORE in .env"),
    expect.stringContaining("NODE_TLS_REJECT_UNAUTHORIZED"),
    expect.stringContaining("0.0.0.0 without TLS"),
  ]);
  expect(open.said).not.toContain("canary");
  chmodSync(join(cwd, ".env"), 0o600);
  const closed = await diagnose(cwd, { GATEHOUSE_STORE: "sqlite" });
  expect(closed.of("exposure")).toMatchObject([{ result: "ok" }]);
});
