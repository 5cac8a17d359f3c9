// The operator's command line as processes: with the real `gatehouse serve`, and with a fake server for answers that the real
// one never gives.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ListeningLock } from "../../src/instance/listening-lock.ts";
import { makeByHand } from "../make-certificate.ts";
import { type Listening, PROGRAM, type RunOptions, readServer, runToEnd, serve } from "../run-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

afterEach(cleanUp);

/** Each test starts several processes, and the machine may be busy. */

type Ended = { exitCode: number; stdout: string; stderr: string };

type Mistake = {
  readonly args: readonly string[];
  readonly input?: string;
  readonly exitCode: number;
  readonly words: string;
};

const NEW_KEY = ["keys", "create", "--server", "Demo", "--label", "x"];

const MISTAKES: readonly Mistake[] = [
  { args: ["servers", "add"], input: "x-y\n", exitCode: 2, words: "--name" },
  { args: ["servers", "add", "Town"], input: "", exitCode: 2, words: "standard input" },
  { args: ["servers", "add", "Town"], exitCode: 2, words: "standard input" },
  { args: ["servers", "add", "Town"], input: "nonsense\n", exitCode: 2, words: "server_key: " },
  { args: ["keys", "create", "--label", "x"], exitCode: 2, words: "--server" },
  { args: ["keys", "create", "--server", "Demo"], exitCode: 2, words: "--label" },
  { args: ["keys", "create", "--server", "Nowhere", "--label", "x"], exitCode: 3, words: "Nowhere" },
  { args: [...NEW_KEY, "--expires", "soon"], exitCode: 2, words: "--expires" },
  { args: [...NEW_KEY, "--expires", "2001-01-01"], exitCode: 2, words: "expires_at: " },
  { args: [...NEW_KEY, "--sections", "Playerz"], exitCode: 2, words: "sections" },
  { args: ["keys", "show"], exitCode: 2, words: "<key>" },
  { args: ["keys", "show", "key_nope"], exitCode: 3, words: "key_nope" },
  { args: ["keys", "update", "key_x"], exitCode: 2, words: "nothing to change" },
  { args: ["keys", "revoke", "../servers", "--yes"], exitCode: 3, words: "../servers" },
  { args: ["keys", "show", "dem"], exitCode: 3, words: "did you mean key_" },
  { args: ["keys", "list", "--state", "gone"], exitCode: 2, words: "suspended" },
  { args: ["events", "--types", "gap,plyer.*"], exitCode: 2, words: "There is no type plyer.*" },
  { args: ["webhooks", "create", "--types", "gap,gap"], exitCode: 2, words: "It has gap twice" },
  { args: ["alerts", "show", "Demo", "--all"], exitCode: 2, words: "not both" },
  { args: ["keys", "list", "--every"], exitCode: 2, words: "--help" },
  { args: ["audit", "show", "aud_none"], exitCode: 3, words: "aud_none" },
  { args: ["audit", "show", "../keys"], exitCode: 2, words: "not an id" },
  { args: ["keys", "delete"], exitCode: 2, words: "--help" },
  { args: ["audit", "--limit", "0"], exitCode: 2, words: "--limit" },
  { args: ["serve", "--prot", "1"], exitCode: 2, words: "--help" },
];

describe("a running Gatehouse", () => {
  let folder: string;
  let gatehouse: Listening;

  beforeEach(async () => {
    folder = makeFolder();
    // A watched server would not stay unread.
    gatehouse = await serve({ cwd: folder, env: { GATEHOUSE_WATCH: "off" } });
  });

  /** Runs a command as an operator on the same machine, in the folder of the instance. */
  function operate(args: readonly string[], options: Partial<RunOptions> = {}): Promise<Ended> {
    const env = { GATEHOUSE_PORT: String(gatehouse.port), ...options.env };
    return runToEnd(args, { cwd: folder, ...options, env });
  }

  async function operateJson(args: readonly string[], options: Partial<RunOptions> = {}) {
    const { exitCode, stdout, stderr } = await operate([...args, "--json"], options);
    expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: "" });
    return stdout === "" ? undefined : JSON.parse(stdout);
  }

  test("a server is added with its key from standard input, shown, given another key, and removed", async () => {
    const added = await operateJson(["servers", "add", "My town", "--community", "my_town"], {
      input: "first-key\n",
    });
    expect(added).toMatchObject({ name: "My town", community: "my_town" });
    const shown = await operate(["servers", "show", "My town"]);
    expect(shown.stdout).toContain(added.server_id);
    const listed = await operate(["servers", "list", "--ids"]);
    expect(listed.stdout).toMatch(new RegExp(`^${added.server_id} +My town +not asked +- +never$`, "m"));
    const set = await operate(["servers", "set", "My town", "--watch", "off"]);
    expect(set.stdout).toMatch(/^watching +off: /m);
    expect((await operate(["servers", "list"])).stdout).toMatch(/^My town +is not watched$/m);
    const bare = await operate(["servers", "set", "My town"]);
    expect(bare).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--watch") });
    const changed = await operate(["servers", "set-key", added.server_id], { input: "second-key" });
    expect(changed).toMatchObject({ exitCode: 0, stderr: "" });
    const removed = await operate(["servers", "remove", "My town", "--yes"]);
    expect(removed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("0 keys revoked") });
    expect(await operate(["servers", "show", added.server_id])).toMatchObject({ exitCode: 3, stdout: "" });
  });

  test("a server's key is tested once with --check: the result is told, and is exit code 1 if it is not accepted", async () => {
    const add = (name: string, input: string, more: readonly string[] = []) =>
      operate(["servers", "add", name, "--check", ...more], { input: `${input}\n` });
    expect(await add("Good", "good-Key")).toMatchObject({
      ...{ exitCode: 0, stderr: "" },
      stdout: expect.stringMatching(/The game API accepts the key: .+, \d+ of \d+ players\./),
    });
    expect(await add("Off", "offline-Key")).toMatchObject({
      ...{ exitCode: 0, stdout: expect.stringContaining("accepts the key; the server is offline") },
    });
    const bad = await add("Bad", "invalid-Key");
    expect(bad.exitCode).toBe(1);
    expect(bad.stdout).toMatch(/refuses the key: .+ \(2002\)/);
    expect(bad.stdout).toContain("gatehouse servers set-key srv_");
    const json = await add("Worse", "banned-Key", ["--json"]);
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...{ name: "Worse", check: { result: "refused", upstream_code: 2004 } },
    });

    const listed = await operate(["servers", "list"]);
    expect(listed.stdout).toMatch(/^Good +online +\d+ +(now|\d+ seconds? ago)$/m);
    expect(listed.stdout).toMatch(/^Off +offline +0 /m);
    expect(listed.stdout).toMatch(/^Bad +key refused +- +never$/m);
    expect(listed.stdout).toMatch(/^Bad +.+ \(2002\), /m);
    const mended = await operate(["servers", "set-key", "Bad", "--check"], { input: "better-Key\n" });
    expect(mended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("accepts the key") });
  });

  test("a key's whole life: created with few rights, used, changed, suspended, resumed, rotated, revoked", async () => {
    const created = await operateJson([
      "keys",
      "create",
      ...["--server", "Demo", "--label", "bot", "--sections", "players", "--expires", "30d"],
    ]);
    const { key_id: keyId, token } = created;
    expect(created).toMatchObject({ label: "bot", sections: ["Players"], commands: [], suspended: false });
    expect((await readServer(gatehouse.url, token, "?Players=true")).status).toBe(200);
    expect((await readServer(gatehouse.url, token, "?Staff=true")).status).toBe(403);

    await operateJson(["keys", "update", keyId, "--sections", "Players,Staff", "--expires", "never"]);
    expect((await readServer(gatehouse.url, token, "?Staff=true")).status).toBe(200);
    await operateJson(["keys", "suspend", keyId]);
    expect((await readServer(gatehouse.url, token)).status).toBe(403);
    await operateJson(["keys", "resume", keyId]);
    expect((await readServer(gatehouse.url, token)).status).toBe(200);

    const shown = await operate(["keys", "show", keyId]);
    expect(shown.stdout).toMatch(/^sections +Players, Staff$/m);
    expect(shown.stdout).toMatch(/^requests +\d+$/m);
    expect(shown.stdout).toMatch(/^last 24 hours +[·▁▂▃▄▅▆▇█]{24} /m);
    expect(shown.stdout).not.toContain(token);

    const rotated = await operateJson(["keys", "rotate", keyId, "--grace", "10m"]);
    expect((await readServer(gatehouse.url, token)).status).toBe(200);
    expect((await readServer(gatehouse.url, rotated.token)).status).toBe(200);
    const again = await operate(["keys", "rotate", keyId, "--yes"]);
    const newest = /^gth_\w{36}$/m.exec(again.stdout)?.[0] ?? "";
    expect(again.stdout).toContain("shown only now");
    expect((await readServer(gatehouse.url, newest)).status).toBe(200);

    expect(await operateJson(["keys", "revoke", keyId, "--yes"])).toEqual({});
    expect((await readServer(gatehouse.url, newest)).status).toBe(401);
    const listed = await operate(["keys", "list", "--server", "Demo", "--all", "--ids"]);
    expect(listed.stdout).toMatch(new RegExp(`^${keyId} +bot +Demo +revoked`, "m"));

    const audit = await operate(["audit", "--limit", "3", "--ids"]);
    expect(audit.stdout).toMatch(/^aud_\w+ +\d{4}-\d\d-\d\d [\d:]{5} +master key +key\.revoked +bot /m);
    const entryId = /^aud_\w+/m.exec(audit.stdout)?.[0] ?? "";
    const entry = await operate(["audit", "show", entryId]);
    expect(entry.stdout).toMatch(new RegExp(`^target +bot \\(${keyId}\\)$`, "m"));
    expect(entry.stdout).toMatch(/^by +master key [0-9a-f]{8} at 127\.0\.0\.1$/m);
    for (const secret of [token, rotated.token, newest]) {
      expect(audit.stdout + entry.stdout).not.toContain(secret);
    }
  });

  test("keys are found by label, server and state; revoked ones are left out unless they are asked for", async () => {
    const make = (label: string) =>
      operateJson(["keys", "create", "--server", "Demo", "--label", label, "--commands", "h"]);
    const [status, bot, twin] = [await make("Status page"), await make("My bot"), await make("my BOT")];
    expect(status.commands).toEqual([":h"]);
    const labelsOf = async (...args: string[]) => {
      const { items } = await operateJson(["keys", "list", ...args]);
      return items.map(({ label }: { label: string }) => label).sort();
    };
    expect(await labelsOf("--label", "BOT")).toEqual(["My bot", "my BOT"]);
    expect(await labelsOf("--label", "bot", "--server", "Demo", "--state", "suspended")).toEqual([]);

    const shown = await operate(["keys", "show", "status PAGE"]);
    expect(shown.stdout).toMatch(new RegExp(`^key +${status.key_id}$`, "m"));
    expect(shown.stdout).toMatch(/^server +Demo \(srv_\w+\)$/m);
    const ambiguous = await operate(["keys", "suspend", "My bot"]);
    expect(ambiguous).toMatchObject({ exitCode: 2, stdout: "" });
    for (const { key_id } of [bot, twin]) expect(ambiguous.stderr).toContain(key_id);
    expect(ambiguous.stderr).toContain("Demo, active");

    await operateJson(["keys", "revoke", twin.key_id, "--yes"]);
    expect(await operate(["keys", "suspend", "My bot"])).toMatchObject({ exitCode: 0 });
    expect(await labelsOf("--state", "suspended")).toEqual(["My bot"]);
    expect(await labelsOf()).toEqual(["My bot", "Status page", "demo"]);
    expect(await labelsOf("--all")).toEqual(["My bot", "Status page", "demo", "my BOT"]);
    expect(await labelsOf("--state", "revoked")).toEqual(["my BOT"]);
    const table = await operate(["keys", "list"]);
    expect(table.stdout).toMatch(/^My bot +Demo +suspended +never +never$/m);
    expect(table.stdout).not.toContain("my BOT");
    expect(table.stdout).toContain("Not shown: 1 revoked; --all shows them.");
    const revoked = await operate(["keys", "revoke", "Status page", "--yes"]);
    expect(revoked.stdout).toBe(`Status page (${status.key_id}) is revoked\n`);
  });

  test("a command that was sent through the gateway is listed and shown", async () => {
    const key = await operateJson(["keys", "create", "--server", "Demo", "--label", "c", "--commands", ":h"]);
    const accepted = await fetch(`${gatehouse.url}/v2/game/server/command`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key.token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ command: ":h hello" }),
    });
    const { command_id: commandId } = (await accepted.json()) as { command_id: string };
    const listed = await operate(["commands", "list", "--server", "Demo", "--ids"]);
    expect(listed.stdout).toMatch(new RegExp(`^${commandId} .* :h hello$`, "m"));
    const shown = await operate(["commands", "show", commandId]);
    expect(shown.stdout).toMatch(new RegExp(`^by +c \\(${key.key_id}\\)$`, "m"));
    expect(shown.stdout).toMatch(/^server +Demo \(srv_\w+\)$/m);
    expect(await operate(["commands", "show", "cmd_nope"])).toMatchObject({ exitCode: 3, stdout: "" });
  });

  test("on a terminal a server is removed after its name was typed, and what goes with it said", async () => {
    for (const [typed, exitCode] of [
      ["Dem", 1],
      ["Demo", 0],
    ] as const) {
      let printed = "";
      const data = (_: unknown, chunk: Uint8Array) => {
        printed += Buffer.from(chunk).toString();
      };
      const child = Bun.spawn([PROGRAM, "servers", "delete", "Demo"], { cwd: folder, terminal: { data } });
      await until("nothing was asked", () => printed.includes("Type its name"));
      expect(printed).toMatch(/events, history, webhooks, alerts and map, and what people may\s+do/);
      child.terminal?.write(`${typed}\r`);
      expect(await child.exited).toBe(exitCode);
    }
    expect((await operateJson(["servers", "list"])).items).toEqual([]);
  });

  test("alerts of every server are set at once, and it is said that no webhook tells them", async () => {
    await operateJson(["servers", "add", "My town"], { input: "first-key\n" });
    const applied = await operate(["alerts", "suggest", "--apply", "--all", "--yes"]);
    expect(applied.stdout).toMatch(/^Demo +kills, mass command, unanswered modcall, offline, unreachable$/m);
    expect(applied.stdout).toContain("No webhook tells the alerts of Demo, My town");
    const webhook = ["webhooks", "create", "--server", "Demo", "--label", "w", "--format", "standard"];
    const input = "https://receiver.example/x\n";
    expect((await operate([...webhook, "--types", "alert.*"], { input })).exitCode).toBe(0);
    const changed = await operate(["alerts", "set", "--all", "--kills", "off"]);
    expect(changed.stdout).toMatch(/^My town +mass command, unanswered modcall, offline, unreachable$/m);
    expect(changed.stdout).toContain("No webhook tells the alerts of My town:");
    expect((await operate(["alerts", "show", "Demo"])).stdout).not.toContain("No webhook");
    expect((await operateJson(["alerts", "off", "--all", "--yes"])).items).toHaveLength(2);
    expect(await operateJson(["alerts", "show", "My town"])).toEqual({});
  });

  test("a change that cannot be undone needs --yes where there is no terminal", async () => {
    const { items } = await operateJson(["keys", "list"]);
    const keyId = items[0].key_id;
    for (const args of [
      ["keys", "revoke", keyId],
      ["keys", "rotate", keyId],
      ["servers", "remove", "Demo"],
      ["servers", "delete", "Demo"],
    ]) {
      const ended = await operate(args, { input: "y\n" });
      expect(ended).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("--yes") });
    }
    const token = readFileSync(join(folder, "data/demo.key"), "utf8").trim();
    expect((await readServer(gatehouse.url, token)).status).toBe(200);
  });

  test("a mistake ends with its exit code and a sentence that says what to do", async () => {
    for (const { args, input, exitCode, words } of MISTAKES) {
      const ended = await operate(args, input === undefined ? {} : { input });
      expect({ args, ...ended }).toEqual({
        args,
        exitCode,
        stdout: "",
        stderr: expect.stringContaining(words),
      });
      expect(ended.stderr).not.toMatch(/\n\s+at /);
    }
  });

  test("the master key comes from a file, standard input, the environment or the data folder; else exit code 4", async () => {
    const masterKey = readFileSync(join(folder, "data/master.key"), "utf8").trim();
    const elsewhere = makeFolder();
    writeFileSync(join(elsewhere, "key"), `${masterKey}\n`);
    const from = { cwd: elsewhere, env: { GATEHOUSE_URL: gatehouse.url } };
    const list = ["servers", "list"];
    const ways: Promise<Ended>[] = [
      runToEnd([...list, "--allow-http", "--master-key-file", "key"], from),
      runToEnd([...list, "--allow-http", "--master-key-file", "-"], { ...from, input: `${masterKey}\n` }),
      runToEnd([...list, "--allow-http"], {
        ...from,
        env: { ...from.env, GATEHOUSE_MASTER_KEY: masterKey },
      }),
      runToEnd([...list, "--data-dir", join(folder, "data")], from),
      runToEnd(["servers", "add", "Both", "--allow-http", "--master-key-file", "-"], {
        ...from,
        input: `${masterKey}\nboth-keys\n`,
      }),
    ];
    for (const ended of await Promise.all(ways)) expect(ended).toMatchObject({ exitCode: 0, stderr: "" });

    const missing = await runToEnd(list, from);
    expect(missing).toMatchObject({
      exitCode: 4,
      stdout: "",
      stderr: expect.stringContaining("--master-key-file"),
    });
    const wrong = "w".repeat(40);
    const refused = await runToEnd([...list, "--allow-http"], {
      ...from,
      env: { ...from.env, GATEHOUSE_MASTER_KEY: wrong },
    });
    expect(refused).toMatchObject({ exitCode: 4, stdout: "" });
    expect(refused.stderr).not.toContain(wrong);
  });
});

test("behind TLS of its own the local Gatehouse is found and trusted by its certificate, whatever name it is for", async () => {
  const folder = makeFolder();
  const { cert, key } = makeByHand();
  writeFileSync(join(folder, "cert.pem"), cert);
  writeFileSync(join(folder, "key.pem"), key);
  chmodSync(join(folder, "key.pem"), 0o600);
  const tls = { GATEHOUSE_TLS_CERT: "cert.pem", GATEHOUSE_TLS_KEY: "key.pem" };
  const gatehouse = await serve({ cwd: folder, env: tls });
  const list = ["servers", "list"];
  const local = { GATEHOUSE_PORT: String(gatehouse.port), GATEHOUSE_HOST: "0.0.0.0" };

  expect(await runToEnd(list, { cwd: folder, env: { ...tls, ...local } })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("Demo"),
  });
  const stranger = await runToEnd([...list, "--url", gatehouse.url], { cwd: folder });
  expect(stranger).toMatchObject({ exitCode: 5, stderr: expect.stringContaining("--ca-file") });
  // The certificate does not have this name, and the name is checked for an address that was given.
  const named = await runToEnd([...list, "--url", gatehouse.url, "--ca-file", "cert.pem"], { cwd: folder });
  expect(named).toMatchObject({ exitCode: 5, stderr: expect.stringContaining("another name") });
  writeFileSync(join(folder, "other.pem"), makeByHand().cert);
  const other = await runToEnd(list, { cwd: folder, env: { ...local, GATEHOUSE_TLS_CERT: "other.pem" } });
  expect(other).toMatchObject({ exitCode: 5, stdout: "" });
});

test("no instance listens: exit code 5, and how to start one", async () => {
  const env = { GATEHOUSE_URL: "http://127.0.0.1:1", GATEHOUSE_MASTER_KEY: "m".repeat(32) };
  const ended = await runToEnd(["keys", "list"], { cwd: makeFolder(), env });
  expect(ended).toMatchObject({
    exitCode: 5,
    stdout: "",
    stderr: expect.stringContaining("gatehouse serve"),
  });
});

describe("the master key is not sent to a process that only took the port", () => {
  const MASTER_KEY = "m".repeat(40);
  const LIST = ["keys", "list"];

  /** Answers everything, and remembers what it was sent. */
  function takePort(port: number, tls?: { cert: string; key: string }) {
    const seen: string[] = [];
    const server = Bun.serve({
      port,
      hostname: "127.0.0.1",
      ...(tls && { tls }),
      fetch(request) {
        seen.push(`${new URL(request.url).pathname} ${request.headers.get("authorization")}`);
        return Response.json({ items: [], next: null });
      },
    });
    undoLater(() => server.stop(true));
    return { seen, port: String(server.port) };
  }

  test("of an instance that was killed", async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd });
    const masterKey = readFileSync(join(cwd, "data/master.key"), "utf8").trim();
    const env = { GATEHOUSE_PORT: String(gatehouse.port) };
    expect(await runToEnd(LIST, { cwd, env })).toMatchObject({ exitCode: 0 });
    gatehouse.kill("SIGKILL");
    await gatehouse.exited;
    const { seen } = takePort(gatehouse.port);
    const byUrl = await runToEnd([...LIST, "--url", gatehouse.url], { cwd });
    for (const ended of [await runToEnd(LIST, { cwd, env }), byUrl]) {
      expect(ended).toMatchObject({ exitCode: 5, stdout: "" });
      expect(ended.stderr).toContain("is not the Gatehouse of ./data");
      expect(ended.stderr).toContain("--allow-http");
    }
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.join()).not.toContain(masterKey);
  });

  test("beside an instance that listens at another port or address", async () => {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd });
    const { seen, port } = takePort(0);
    expect(await runToEnd(LIST, { cwd, env: { GATEHOUSE_PORT: port } })).toMatchObject({ exitCode: 5 });
    const other = await runToEnd([...LIST, "--url", `http://127.0.0.2:${gatehouse.port}`], { cwd });
    expect(other).toMatchObject({ exitCode: 5 });
    expect(seen).toEqual(["/healthz null"]);
  });

  test("with --allow-http it is sent, because the operator said so", async () => {
    const { seen, port } = takePort(0);
    const env = { GATEHOUSE_PORT: port, GATEHOUSE_MASTER_KEY: MASTER_KEY };
    const ended = await runToEnd([...LIST, "--allow-http"], { cwd: makeFolder(), env });
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(seen).toContain(`/admin/keys Bearer ${MASTER_KEY}`);
  });

  test("nor over plain HTTP to another machine, which is not even called", async () => {
    const env = { GATEHOUSE_URL: "http://192.0.2.1:8080", GATEHOUSE_MASTER_KEY: MASTER_KEY };
    const ended = await runToEnd(LIST, { cwd: makeFolder(), env });
    expect(ended).toMatchObject({ exitCode: 5, stderr: expect.stringContaining("https://") });
  });

  test("over TLS with a certificate that is trusted, but not the configured one", async () => {
    const cwd = makeFolder();
    const [own, other] = [makeByHand(), makeByHand("other.test")];
    writeFileSync(join(cwd, "cert.pem"), own.cert);
    writeFileSync(join(cwd, "trusted.pem"), other.cert);
    const local = { GATEHOUSE_TLS_CERT: "cert.pem", GATEHOUSE_MASTER_KEY: MASTER_KEY };
    const impostor = takePort(0, other);
    const refused = await runToEnd([...LIST, "--ca-file", "trusted.pem"], {
      cwd,
      env: { ...local, GATEHOUSE_PORT: impostor.port },
    });
    expect(refused).toMatchObject({ exitCode: 5, stderr: expect.stringContaining("another certificate") });
    expect(impostor.seen).toEqual([]);
    const real = takePort(0, own);
    const done = await runToEnd(LIST, { cwd, env: { ...local, GATEHOUSE_PORT: real.port } });
    expect(done).toMatchObject({ exitCode: 0 });
  });

  test("not even when the runtime is told to trust every certificate", async () => {
    const { seen, port } = takePort(0, makeByHand());
    const env = { GATEHOUSE_MASTER_KEY: MASTER_KEY, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    const ended = await runToEnd([...LIST, "--url", `https://127.0.0.1:${port}`], { cwd: makeFolder(), env });
    expect(ended.exitCode).toBe(5);
    expect(ended.stderr).toContain("its certificate is self-signed");
    expect(seen).toEqual([]);
  });
});

describe("a stand-in for the admin API", () => {
  function standIn(answer: (url: URL, request: Request) => Response): Partial<RunOptions> & { cwd: string } {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => answer(new URL(request.url), request),
    });
    undoLater(() => server.stop(true));
    const env = { GATEHOUSE_URL: `http://127.0.0.1:${server.port}`, GATEHOUSE_MASTER_KEY: "m".repeat(32) };
    const cwd = makeFolder();
    mkdirSync(join(cwd, "data"));
    // It stands for an instance on this data folder, so the command line trusts it.
    const lock = ListeningLock.hold(join(cwd, "data"), "127.0.0.1", server.port ?? 0);
    undoLater(() => lock.release());
    return { cwd, env };
  }

  const command = {
    command_id: "cmd_1",
    server_id: "srv_1",
    key_id: "key_1",
    key_label: "bot",
    sent_by: { kind: "key", id: "key_1", name: "bot" },
    command: ":h \x1b[31mhello\u202e",
    status: "queued",
    position: 1,
    queued_at: 1_800_000_000_000,
    sent_at: null,
    finished_at: null,
    confirmed_at: null,
    upstream_code: null,
    upstream_message: null,
  };

  test("what players wrote changes nothing on the operator's screen, and --json has it as it came", async () => {
    const options = standIn(() => Response.json({ items: [command], next: null }));
    const table = await runToEnd(["commands", "list"], options);
    expect(table.stdout).toContain(":h \\x1b[31mhello\\u{202e}");
    const json = await runToEnd(["commands", "list", "--json"], options);
    expect(JSON.parse(json.stdout)).toEqual({ items: [command], next: null });
  });

  test("a server whose key could not be tested is printed all the same, because it was added", async () => {
    const options = standIn(({ pathname }) => {
      return pathname.endsWith("/info")
        ? Response.json({ code: 5106, message: "unavailable", retry_after: 1 }, { status: 503 })
        : Response.json({ server_id: "srv_1", name: "One", state: "not_asked" }, { status: 201 });
    });
    const args = ["servers", "add", "One", "--check", "--json"];
    const { exitCode, stdout } = await runToEnd(args, { ...options, input: "a-b\n" });
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      server_id: "srv_1",
      check: { result: "unclear", upstream_code: null, upstream_message: expect.stringContaining("store") },
    });
  });

  test("alerts of all servers are set past one that fails, which is named", async () => {
    const set: string[] = [];
    const options = standIn(({ pathname }, { method }) => {
      const items = ["One", "Two", "Three"].map((name) => ({ server_id: `srv_${name}`, name }));
      if (pathname === "/admin/servers") return Response.json({ items, next: null });
      if (pathname.includes("srv_Two"))
        return Response.json({ code: 5106, message: "unavailable", retry_after: 1 }, { status: 503 });
      if (method === "PUT") set.push(pathname);
      return Response.json({});
    });
    const { exitCode, stdout, stderr } = await runToEnd(["alerts", "off", "--all", "--yes"], options);
    expect(set).toEqual(["/admin/servers/srv_One/alerts", "/admin/servers/srv_Three/alerts"]);
    expect(stdout).toMatch(/^One +off\nThree +off$/m);
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/^gatehouse: not Two: .*; the same command again sets them too\n$/);
  });

  test("one command is shown by its id, and --json prints the answer unchanged", async () => {
    const answer = '{ "command_id": "cmd_1",  "status": "sent" }';
    const options = standIn(({ pathname }) => {
      return pathname === "/admin/commands/cmd_1"
        ? new Response(answer)
        : Response.json({ code: 5020, message: "not_found" }, { status: 404 });
    });
    const shown = await runToEnd(["commands", "show", "cmd_1", "--json"], options);
    expect(shown).toEqual({ exitCode: 0, stdout: `${answer}\n`, stderr: "" });
    expect(await runToEnd(["commands", "show", "cmd_2"], options)).toMatchObject({ exitCode: 3, stdout: "" });
  });

  test("an answer of another shape ends with a sentence, not with a stack", async () => {
    const options = standIn(() => Response.json({ key_id: "key_1" }));
    const { exitCode, stdout, stderr } = await runToEnd(["keys", "show", "key_1"], options);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^gatehouse: .*--json.*\n$/);
  });

  test("a proxy for outgoing traffic is not used for calls to this machine", async () => {
    const { cwd, env } = standIn(() => Response.json({ items: [], next: null }));
    const proxies = { HTTP_PROXY: "http://127.0.0.1:1", http_proxy: "http://127.0.0.1:1" };
    expect(await runToEnd(["blocks", "list"], { cwd, env: { ...env, ...proxies } })).toMatchObject({
      exitCode: 0,
    });
  });

  test("filters reach the API; a name that two servers have is refused with their ids", async () => {
    const queries: string[] = [];
    const options = standIn((url) => {
      if (url.pathname === "/admin/servers") {
        const items = ["srv_1", "srv_2"].map((server_id) => ({ server_id, name: "Twin" }));
        return Response.json({ items, next: null });
      }
      queries.push(url.search);
      return Response.json({ items: [], next: null });
    });
    const filters = ["--server", "srv_9", "--status", "failed", "--limit", "7"];
    expect((await runToEnd(["commands", "list", ...filters], options)).exitCode).toBe(0);
    expect(queries).toEqual(["?server_id=srv_9&status=failed&limit=7"]);
    const twins = await runToEnd(["keys", "list", "--server", "Twin"], options);
    expect(twins).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("srv_1, srv_2") });
  });

  test("a pause of the game API is shown, and ended with --yes only", async () => {
    const asked: string[] = [];
    const upstream = {
      ...{
        paused_until: Date.now() + 3_600_000,
        paused_since: Date.now(),
        pause_reason: "named_by_game_api",
      },
      ...{ resumed_at: null, limit: 35, remaining: 0, reset_at: Date.now() + 60_000 },
      ...{ global_key_refused: false, failing_servers: 0, refused_keys: 0 },
    };
    const options = standIn((url, { method }) => {
      asked.push(`${method} ${url.pathname}`);
      return Response.json(method === "POST" ? { ...upstream, paused_until: null } : upstream);
    });
    const { stdout } = await runToEnd(["upstream", "show"], options);
    expect(stdout).toMatch(/^paused until +\S.* \(in (1 hour|60 minutes)\)$/m);
    expect(stdout).toContain("the game API said how long to wait");
    expect(JSON.parse((await runToEnd(["upstream", "show", "--json"], options)).stdout)).toEqual(upstream);
    expect(await runToEnd(["upstream", "resume"], options)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/banned.*--yes/s),
    });
    expect(asked).not.toContain("POST /admin/upstream/resume");
    expect(await runToEnd(["upstream", "resume", "--yes"], options)).toMatchObject({ exitCode: 0 });
    expect(asked.at(-1)).toBe("POST /admin/upstream/resume");
  });

  test("blocks are listed and lifted", async () => {
    const asked: string[] = [];
    const block = { key_id: "key_1", server_id: "srv_1", label: "bot", blocked_until: Date.now() + 60_000 };
    const options = standIn((url, { method }) => {
      asked.push(`${method} ${url.pathname}`);
      return method === "DELETE" ? new Response(null, { status: 204 }) : Response.json({ items: [block], next: null });
    });
    expect((await runToEnd(["blocks", "list"], options)).stdout).toMatch(/^bot +srv_1 +in \d+[smh] /m);
    expect((await runToEnd(["blocks", "list", "--ids"], options)).stdout).toMatch(/^key_1 +bot +srv_1 /m);
    expect(await runToEnd(["blocks", "lift", "key_1"], options)).toMatchObject({ exitCode: 0 });
    expect(asked).toContain("DELETE /admin/blocks/key_1");
  });

  test("the block of a person is lifted by the name or the id, and one of several by the id on its server", async () => {
    const lifted: string[] = [];
    const blocks = ["per_1@srv_1", "per_2@srv_1", "per_2@srv_2"].map((key_id) => {
      const [person = "", server_id] = key_id.split("@");
      return { key_id, server_id, label: `Robin ${person.at(-1)}`, blocked_until: Date.now() + 60_000 };
    });
    const options = standIn((url, { method }) => {
      if (method === "DELETE") lifted.push(decodeURIComponent(url.pathname.split("/").at(-1) ?? ""));
      return method === "DELETE" ? new Response(null, { status: 204 }) : Response.json({ items: blocks, next: null });
    });
    for (const given of ["robin 1", "per_1", "per_1@srv_1", "per_2@srv_2", "per_3@srv_1"])
      expect(await runToEnd(["blocks", "lift", given], options)).toMatchObject({ exitCode: 0 });
    expect(lifted).toEqual(["per_1@srv_1", "per_1@srv_1", "per_1@srv_1", "per_2@srv_2", "per_3@srv_1"]);
    expect(await runToEnd(["blocks", "lift", "Robin 2"], options)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("per_2@srv_1, per_2@srv_2"),
    });
  });

  test("a person is shown with the usage on each server", async () => {
    const person = { person_id: "per_1", name: "Robin", is_operator: false, player_id: null, chat_id: null };
    const more = { servers: [], disabled: false, created_at: 0, last_seen_at: null, passkeys: 0, sessions: 0 };
    const usage = [{ server_id: "srv_1", requests: 812, refusals: { 5016: 12 }, hours: [] }];
    const options = standIn(({ pathname }) =>
      pathname === "/admin/people/per_1"
        ? Response.json({ ...person, ...more, usage })
        : Response.json({ items: [{ server_id: "srv_1", name: "North Town" }], next: null }),
    );
    const { stdout } = await runToEnd(["people", "show", "per_1"], options);
    expect(stdout).toMatch(/^on +North Town$/m);
    expect(stdout).toMatch(/^requests +812$/m);
    expect(stdout).toMatch(/^refusals +5016 × 12$/m);
  });

  test("thousands of rows reach a pipe whole", async () => {
    const options = standIn((url) => {
      const start = Number(url.searchParams.get("cursor") ?? 0);
      const items = Array.from({ length: 200 }, (_, index) => ({
        server_id: `srv_${start + index}`,
        name: "n".repeat(100),
        community: null,
        created_at: 0,
        simulated: false,
        watch: true,
        state: "online",
        players: 3,
        last_read_at: 0,
        last_error: null,
      }));
      return Response.json({ items, next: start + 200 < 10_000 ? String(start + 200) : null });
    });
    const table = await runToEnd(["servers", "list"], options);
    expect(table.stdout.trimEnd().split("\n")).toHaveLength(10_001);
    const json = await runToEnd(["servers", "list", "--json"], options);
    expect(JSON.parse(json.stdout).items).toHaveLength(10_000);
  });
});
