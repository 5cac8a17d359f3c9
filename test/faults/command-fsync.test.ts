// The system calls of a process, seen with strace: no command is accepted before fsync, concurrent ones share one fsync, and
// none is accepted when fsync fails.
import { afterEach, expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testWith, tracing } from "../needs.ts";
import { type Listening, serve, stop } from "../run-gatehouse.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";
import { until } from "../until.ts";

const COMMANDS = "/v2/game/server/command";
const NOTICED_WITHIN_MS = 30_000;

afterEach(cleanUp);

async function start(): Promise<{ gatehouse: Listening; token: string; folder: string }> {
  const folder = makeFolder();
  const env = { GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9", GATEHOUSE_DATA_DIR: folder };
  const prepared = await startGatehouse({ folder, env });
  const { token } = await prepared.addKey(await prepared.addServer(), { commands: ["*"] });
  await prepared.stop();
  return { gatehouse: await serve({ cwd: folder, env }), token, folder };
}

/** Traces the process until `end`, which returns the lines of the trace. */
async function trace({ pid }: Listening, folder: string, rules: readonly string[]) {
  const path = join(folder, "trace");
  const tracer = Bun.spawn(["strace", "-f", "-y", "-s", "20", "-o", path, ...rules, "-p", String(pid)], {
    stderr: "ignore",
  });
  await until("strace does not attach", () => /^TracerPid:\t[1-9]/m.test(readFileSync(`/proc/${pid}/status`, "utf8")));
  return {
    async end(): Promise<string[]> {
      tracer.kill("SIGTERM");
      await tracer.exited;
      return existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
    },
  };
}

async function submit({ url }: Listening, token: string, command: string) {
  const response = await fetch(url + COMMANDS, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ command }),
  });
  return { status: response.status, body: (await response.json()) as { code?: number; command_id?: string } };
}

testWith(tracing)("no 202 is sent before its fsync, and concurrent commands share one fsync", async () => {
  const { gatehouse, token, folder } = await start();
  const tracing = await trace(gatehouse, folder, ["-e", "trace=fsync,fdatasync,pwrite64,sendto,write,writev,sendmsg"]);
  const answers = [];
  for (let i = 0; i < 5; i++) answers.push(await submit(gatehouse, token, `:h ${i}`));
  const many = Array.from({ length: 60 }, (_, index) => submit(gatehouse, token, `:h many ${index}`));
  answers.push(...(await Promise.all(many)));
  const calls = await tracing.end();
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));

  let isDirty = false;
  let promised = 0;
  let forces = 0;
  for (const call of calls) {
    if (call.includes("gatehouse.db-wal>") && call.includes("pwrite64(")) isDirty = true;
    if (/f(?:data)?sync\(\d+<[^>]*gatehouse\.db-wal>/.test(call)) {
      isDirty = false;
      forces++;
    }
    if (!call.includes("HTTP/1.1 202")) continue;
    promised++;
    expect(isDirty).toBe(false);
  }
  expect(promised).toBe(answers.length);
  expect(forces).toBeGreaterThanOrEqual(6);
  expect(forces).toBeLessThan(answers.length);
  expect(await stop(gatehouse)).toBe(0);
});

testWith(tracing)(
  "a disk that fails to keep what is written (EIO): 503/5106, nothing accepted is lost, well again without a restart",
  async () => {
    const { gatehouse, token, folder } = await start();
    const before = await submit(gatehouse, token, ":h before");
    expect(before.status).toBe(202);

    const failing = await trace(gatehouse, folder, ["-e", "inject=fsync,fdatasync:error=EIO"]);
    const refused = await Promise.all([0, 1, 2].map((index) => submit(gatehouse, token, `:h refused ${index}`)));
    await failing.end();
    for (const { status, body } of refused) expect([status, body.code]).toEqual([503, 5106]);

    let after: Awaited<ReturnType<typeof submit>> | undefined;
    await until(
      "commands are still refused",
      async () => {
        after = await submit(gatehouse, token, ":h after");
        return after.status === 202;
      },
      NOTICED_WITHIN_MS,
    );
    for (const { body } of [before, ...(after ? [after] : [])]) {
      const response = await fetch(`${gatehouse.url}${COMMANDS}/${body.command_id}`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      expect(["queued", "sending"]).toContain(((await response.json()) as { status: string }).status);
    }
    expect(await stop(gatehouse)).toBe(0);
  },
);
