// Two faults at once: fsync fails, so a change is refused, and then the process is killed. What was refused must not come
// back at the next start, although its pages were complete in the write-ahead log.
import { afterEach, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { testWith, tracing } from "../needs.ts";
import { type Listening, serve, stop } from "../run-gatehouse.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const COMMANDS = "/v2/game/server/command";

afterEach(cleanUp);

/** A data folder with a server and a key, the simulator as its game API, and the requests of a caller and an operator. */
async function prepare() {
  const folder = makeFolder();
  const simulator = await startSimulator({ commandIntervalMs: 0 });
  undoLater(() => simulator.stop());
  const env = {
    GATEHOUSE_UPSTREAM_URL: simulator.url,
    GATEHOUSE_DATA_DIR: folder,
    GATEHOUSE_COMMAND_INTERVAL_MS: "1",
  };
  const prepared = await startGatehouse({ folder, env });
  const server = await prepared.addServer();
  const { token, keyId } = await prepared.addKey(server, { commands: ["*"] });
  await prepared.stop();
  const masterKey = readFileSync(join(folder, "master.key"), "utf8").trim();
  return {
    folder,
    serverId: server.serverId,
    keyId,
    token,
    start: () => serve({ cwd: folder, env }),
    sentCommands: () => simulator.calls().calls.flatMap(({ command }) => (command === undefined ? [] : [command])),
    submit: (to: Listening, command: string) => ask(to, "POST", COMMANDS, token, { command }),
    admin: (to: Listening, method: string, path: string, body?: object) => ask(to, method, path, masterKey, body),
  };
}

async function ask({ url }: Listening, method: string, path: string, bearer: string, body?: object) {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${bearer}`, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Answer };
}

type Answer = {
  code?: number;
  command_id?: string;
  status?: string;
  items?: { label?: string; name?: string; key_id?: string; command?: string }[];
};

/** Lets every fsync of the process fail until it is killed. */
async function failFsync({ pid }: Listening): Promise<void> {
  const rules = ["-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync,fdatasync:error=EIO"];
  const tracer = Bun.spawn(["strace", ...rules, "-p", String(pid)], { stderr: "ignore" });
  undoLater(async () => {
    tracer.kill("SIGTERM");
    await tracer.exited;
  });
  await until("strace does not attach", () => /^TracerPid:\t[1-9]/m.test(readFileSync(`/proc/${pid}/status`, "utf8")));
}

type Stage = Awaited<ReturnType<typeof prepare>>;

/** Each change is refused while fsync fails; `expectNothing` is called after kill -9 and a new start. */
const CHANGES: {
  readonly name: string;
  readonly change: (stage: Stage, gatehouse: Listening) => Promise<{ status: number; body: Answer }>;
  readonly expectNothing: (stage: Stage, gatehouse: Listening) => Promise<void>;
}[] = [
  {
    name: "a command is not sent, and not listed",
    change: ({ submit }, gatehouse) => submit(gatehouse, ":h refused"),
    async expectNothing({ admin, serverId }, gatehouse) {
      const { body } = await admin(gatehouse, "GET", `/admin/commands?server_id=${serverId}`);
      expect(body.items?.map(({ command }) => command)).not.toContain(":h refused");
    },
  },
  {
    name: "a new key does not exist",
    change: ({ admin, serverId }, gatehouse) =>
      admin(gatehouse, "POST", "/admin/keys", { server_id: serverId, label: "refused" }),
    async expectNothing({ admin }, gatehouse) {
      const { body } = await admin(gatehouse, "GET", "/admin/keys");
      expect(body.items?.map(({ label }) => label)).not.toContain("refused");
    },
  },
  {
    name: "a new server does not exist",
    change: ({ admin }, gatehouse) =>
      admin(gatehouse, "POST", "/admin/servers", { name: "refused", server_key: "abc-Refused" }),
    async expectNothing({ admin }, gatehouse) {
      const { body } = await admin(gatehouse, "GET", "/admin/servers");
      expect(body.items?.map(({ name }) => name)).not.toContain("refused");
    },
  },
  {
    name: "a rotated key keeps its token",
    change: ({ admin, keyId }, gatehouse) => admin(gatehouse, "POST", `/admin/keys/${keyId}/rotate`, {}),
    async expectNothing({ token }, gatehouse) {
      expect((await ask(gatehouse, "GET", "/v2/game/key", token)).status).toBe(200);
    },
  },
];

for (const { name, change, expectNothing } of CHANGES) {
  testWith(tracing)(`refused because fsync failed, then kill -9: ${name}`, async () => {
    const stage = await prepare();
    const first = await stage.start();
    expect((await stage.submit(first, ":h before")).status).toBe(202);
    await until("the first command is not sent", () => stage.sentCommands().length === 1);

    await failFsync(first);
    const refused = await change(stage, first);
    expect([refused.status, refused.body.code]).toEqual([503, 5106]);
    first.kill("SIGKILL");
    await first.exited;

    const second = await stage.start();
    await expectNothing(stage, second);
    expect((await stage.submit(second, ":h after")).status).toBe(202);
    await until("the last command is not sent", () => stage.sentCommands().includes(":h after"));
    expect(stage.sentCommands()).toEqual([":h before", ":h after"]);
    expect(await stop(second)).toBe(0);
  });
}
