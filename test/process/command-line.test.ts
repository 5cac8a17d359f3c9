// The command line: help, version, wrong usage, and the simulator as a separate program.
import { afterEach, expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { readdirSync } from "node:fs";
import manifest from "../../package.json" with { type: "json" };
import { makeDataFolder, PROGRAM, readServer, runToEnd, serve, stop } from "../run-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

afterEach(cleanUp);

/** The subcommands, as the help lists them. */
async function listCommands(cwd: string): Promise<string[]> {
  const { exitCode, stdout } = await runToEnd(["--help"], { cwd });
  expect(exitCode).toBe(0);
  const listed = stdout.slice(stdout.indexOf("Commands:")).matchAll(/^ {2}([a-z-]+)/gm);
  return Array.from(listed, (match) => match[1] ?? "");
}

test("--help works for gatehouse and every subcommand, and leaves nothing behind", async () => {
  const cwd = makeFolder();
  const commands = await listCommands(cwd);
  expect(commands).toContain("serve");
  expect(commands).toContain("simulate");
  const helps = commands
    .filter((name) => name !== "help")
    .map(async (name) => {
      const { exitCode, stdout, stderr } = await runToEnd([name, "--help"], { cwd });
      expect({ name, exitCode, stderr }).toEqual({ name, exitCode: 0, stderr: "" });
      expect(stdout).toContain(`gatehouse ${name}`);
    });
  await Promise.all(helps);
  expect(readdirSync(cwd)).toEqual([]);
});

test.each([
  ["completion", "bash"],
  ["alerts", "suggest"],
] as const)("%s %s ends quietly when nobody reads its output any more", async (command, argument) => {
  const [cwd, args] = [makeFolder(), [command, argument]];
  const script = 'exec 3> >(true); wait $!; "$@" >&3';
  const child = Bun.spawn(["bash", "-c", script, "bash", PROGRAM, ...args], { cwd, stdin: "ignore", stderr: "pipe" });
  const [exitCode, stderr] = await Promise.all([child.exited, child.stderr.text()]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: "" });
});

test("--version prints the version", async () => {
  const { exitCode, stdout } = await runToEnd(["--version"], { cwd: makeFolder() });
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${manifest.version}\n` });
});

test.each([
  ["an unknown command", ["serv"]],
  ["an unknown option", ["serve", "--prot", "1"]],
  ["a superfluous argument", ["serve", "now"]],
  ["an option without its value", ["serve", "--port"]],
  ["a value that makes no sense", ["simulate", "--port", "many"]],
  ["a value out of range", ["simulate", "--log-window", "0"]],
  ["an address that is none", ["simulate", "--webhook", "nowhere"]],
])("%s: an exit code other than 0, a sentence on standard error, and nothing is started", async (_, args) => {
  const cwd = makeFolder();
  const { exitCode, stdout, stderr } = await runToEnd(args, { cwd });
  expect(exitCode).not.toBe(0);
  expect(stdout).toBe("");
  expect(stderr).toStartWith("error: ");
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(readdirSync(cwd)).toEqual([]);
});

test("no command at all: the help, and an exit code other than 0", async () => {
  const { exitCode, stdout, stderr } = await runToEnd([], { cwd: makeFolder() });
  expect(exitCode).not.toBe(0);
  expect(stdout + stderr).toContain("Usage: gatehouse");
});

test("an unknown command gets a hint: the one that was meant, and where the help is", async () => {
  const { exitCode, stderr } = await runToEnd(["serv"], { cwd: makeFolder() });
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("serve");
  expect(stderr).toContain("--help");
});

test("simulate --port 0 prints its line, serves, creates nothing, and ends on SIGTERM", async () => {
  const cwd = makeFolder();
  const simulator = await serve({ cwd }, ["simulate", "--port", "0"]);
  expect(simulator.stdout).toContain("its players are made up and no game is called");
  expect(simulator.stdout).toContain(`GATEHOUSE_UPSTREAM_URL=${simulator.url} gatehouse serve`);
  const response = await fetch(`${simulator.url}/v2/server?Players=true`, {
    headers: { "server-key": "demo-town" },
  });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ Name: expect.any(String), Players: expect.any(Array) });
  expect(await stop(simulator)).toBe(0);
  expect(readdirSync(cwd)).toEqual([]);
});

test("simulate --log-window 4 shows four entries in each log list", async () => {
  const simulator = await serve({ cwd: makeFolder() }, ["simulate", "--port", "0", "--log-window", "4"]);
  const response = await fetch(`${simulator.url}/v2/server?JoinLogs=true&CommandLogs=true`, {
    headers: { "server-key": "demo-town" },
  });
  const { JoinLogs, CommandLogs } = (await response.json()) as Record<string, unknown[]>;
  expect([JoinLogs?.length, CommandLogs?.length]).toEqual([4, 4]);
});

test("simulate --webhook signs what it sends with the key that it prints: the probe first, then what happens", async () => {
  const arrived: { readonly headers: Headers; readonly body: string }[] = [];
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      arrived.push({ headers: request.headers, body: await request.text() });
      return new Response(null, { status: 204 });
    },
  });
  undoLater(() => receiver.stop(true));
  const url = `http://127.0.0.1:${receiver.port}/hooks/game`;
  const options = ["--port", "0", "--speed", "600", "--webhook", url];
  const simulator = await serve({ cwd: makeFolder() }, ["simulate", ...options]);
  const [, printed = ""] = /GATEHOUSE_GAME_PUBLIC_KEY=(\S+)/.exec(simulator.stdout) ?? [];
  const key = createPublicKey({ key: Buffer.from(printed, "base64"), format: "der", type: "spki" });
  await until("no probe came", () => arrived.length > 0);
  await (await fetch(`${simulator.url}/v2/server`, { headers: { "server-key": "demo-Town" } })).text();
  await until("no custom command came", () => arrived.some(({ body }) => body.includes("CustomCommand")));
  const [probe, ...others] = arrived.map(({ body }) => JSON.parse(body));
  expect(probe).toMatchObject({ server: "global", events: [{ event: "WebhookProbe" }] });
  expect(new Set(others.map(({ server }) => server))).toEqual(new Set(["Town"]));
  for (const { headers, body } of arrived) {
    const signed = Buffer.from((headers.get("x-signature-timestamp") ?? "") + body);
    const signature = Buffer.from(headers.get("x-signature-ed25519") ?? "", "hex");
    expect(verify(null, signed, key, signature)).toBe(true);
  }
  expect(await stop(simulator)).toBe(0);
});

test.each([
  ["--players", "501", "500 at most"],
  ["--speed", "0.0001", "from 0.001 to 1000000"],
  ["--speed", "2000000", "from 0.001 to 1000000"],
  ["--read-limit", "1000000001", "1000000000 at most"],
  ["--command-interval", "1000000001", "1000000000 at most"],
])("simulate %s %s is refused with the range that the simulator accepts", async (option, value, range) => {
  const { exitCode, stderr } = await runToEnd(["simulate", "--port", "0", option, value], {
    cwd: makeFolder(),
  });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(range);
});

test("simulate accepts the largest values", async () => {
  const options = ["--players", "500", "--speed", "1000000", "--read-limit", "1000000000"];
  const simulator = await serve({ cwd: makeFolder() }, ["simulate", "--port", "0", ...options]);
  expect(await stop(simulator)).toBe(0);
});

test("a simulator whose port is in use: exit code 1, and one clear sentence", async () => {
  const cwd = makeFolder();
  const first = await serve({ cwd }, ["simulate", "--port", "0"]);
  const { exitCode, stderr } = await runToEnd(["simulate", "--port", String(first.port)], { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("in use");
  expect(stderr).not.toMatch(/\n\s+at /);
});

test("Gatehouse reads through a simulator of its own process", async () => {
  const simulator = await serve({ cwd: makeFolder() }, ["simulate", "--port", "0", "--read-limit", "0"]);
  const { folder, token } = await makeDataFolder();
  const env = { GATEHOUSE_DATA_DIR: folder, GATEHOUSE_UPSTREAM_URL: simulator.url };
  const gatehouse = await serve({ cwd: folder, env });
  const response = await readServer(gatehouse.url, token, "?Players=true");
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ Name: expect.any(String), Players: expect.any(Array) });
});
