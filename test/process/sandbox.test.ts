// gatehouse sandbox: what a bot's tests get from it, and that nothing of it is left.
import { afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM, run, runToEnd } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";
import { until } from "../until.ts";

afterEach(cleanUp);

function parseVariables(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .trim()
      .split("\n")
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );
}

test("the variables that it prints are all that a bot's tests need, faults and a burst of kills on demand", async () => {
  const cwd = makeFolder();
  const sandbox = run(["sandbox"], {
    cwd,
    env: { TMPDIR: cwd, GATEHOUSE_PORT: "1", GATEHOUSE_UPSTREAM_URL: "nonsense" },
  });
  await sandbox.waitForLine("GATEHOUSE_SIMULATOR_URL=");
  const variables = parseVariables(sandbox.stdout);
  const { GATEHOUSE_URL: url, GATEHOUSE_KEY: key, GATEHOUSE_SIMULATOR_URL: simulator } = variables;
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const ask = async (path: string) =>
    (await fetch(`${url}${path}`, { headers })).json() as Promise<{ items?: unknown[]; next?: string }>;
  expect(await ask("/v2/game/server?Players=true")).toMatchObject({ Players: expect.any(Array) });
  const facade = await fetch(`${url}/v2/server`, { headers: { "server-key": variables.GATEHOUSE_FACADE_KEY ?? "" } });
  expect(facade.status).toBe(200);
  const admin = { Authorization: `Bearer ${variables.GATEHOUSE_MASTER_KEY}` };
  expect((await fetch(`${url}/admin/servers`, { headers: admin })).status).toBe(200);

  const body = JSON.stringify({ command: ":h hello" });
  const sent = (await (await fetch(`${url}/v2/game/server/command`, { method: "POST", headers, body })).json()) as {
    command_id: string;
  };
  expect(await ask(`/v2/game/server/command/${sent.command_id}?wait=25`)).toMatchObject({ status: "sent" });

  const { next } = await ask("/v2/game/server/events?limit=1");
  const burst = { kind: "burst", list: "KillLogs", count: 5, times: 1 };
  await fetch(`${simulator}/_faults`, { method: "POST", body: JSON.stringify(burst) });
  await until("the kills are not told", async () => {
    const { items } = await ask(`/v2/game/server/events?after=${next}&types=player.killed`);
    return (items ?? []).length >= 5;
  });

  sandbox.kill("SIGTERM");
  expect(await sandbox.exited).toBe(0);
  expect(readdirSync(cwd)).toEqual([]);
});

test("it ends with the process that started it, and leaves nothing", async () => {
  const cwd = makeFolder();
  const file = join(cwd, "sandbox.env");
  const script = '"$0" sandbox > sandbox.env & echo $!; while ! grep -q SIMULATOR sandbox.env; do sleep 0.1; done';
  const shell = Bun.spawnSync(["sh", "-c", script, PROGRAM], { cwd, env: { PATH: process.env.PATH, TMPDIR: cwd } });
  const pid = shell.stdout.toString().trim();
  await until("it is still there", () => !existsSync(`/proc/${pid}`));
  const { GATEHOUSE_URL: url } = parseVariables(await Bun.file(file).text());
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  expect(readdirSync(cwd)).toEqual(["sandbox.env"]);
});

test("one that is stopped while it starts, or whose terminal is closed, leaves nothing", async () => {
  const cwd = makeFolder();
  const starting = run(["sandbox"], { cwd, env: { TMPDIR: cwd } });
  await until("it has not begun", () => readdirSync(cwd).length > 0);
  starting.kill("SIGTERM");
  expect(await starting.exited).toBe(0);
  expect(readdirSync(cwd)).toEqual([]);
  const running = run(["sandbox"], { cwd, env: { TMPDIR: cwd } });
  await running.waitForLine("GATEHOUSE_SIMULATOR_URL=");
  running.kill("SIGHUP");
  expect(await running.exited).toBe(0);
  expect(readdirSync(cwd)).toEqual([]);
});

test("a command runs with the variables, and its exit code is the sandbox's", async () => {
  const cwd = makeFolder();
  const env = { TMPDIR: cwd };
  const script = 'curl -sf -H "Authorization: Bearer $GATEHOUSE_KEY" "$GATEHOUSE_URL/v2/game/key" && exit 7';
  const ended = await runToEnd(["sandbox", "--players", "3", "--", "sh", "-c", script], { cwd, env });
  expect(ended).toMatchObject({ exitCode: 7, stdout: expect.stringContaining('"label":"sandbox"') });
  const killed = await runToEnd(["sandbox", "--", "sh", "-c", "kill -9 $$"], { cwd, env });
  expect(killed.exitCode).toBe(137);
  const unknown = await runToEnd(["sandbox", "--", "no-such-program"], { cwd, env });
  expect(unknown).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("there is no program no-such-program"),
  });
  expect(readdirSync(cwd)).toEqual([]);
});
