// A full disk and many concurrent requests at the command endpoint, with real processes: every accepted command is on disk,
// none is lost, and a queue holds exactly a hundred.
import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { mounting, program, testWith } from "../needs.ts";
import { openSocket, type RawAnswer, writeRequest } from "../raw-socket.ts";
import { type Listening, serve, stop } from "../run-gatehouse.ts";
import { fill, makeSmallDisk } from "../small-disk.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const COMMANDS = "/v2/game/server/command";
const NOTICED_WITHIN_MS = 30_000;

afterEach(cleanUp);

/** Creates a server and a key that may send any command, before the process starts. */
async function prepare(folder: string): Promise<string> {
  const env = { GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9" };
  const gatehouse = await startGatehouse({ folder, env });
  const { token } = await gatehouse.addKey(await gatehouse.addServer(), { commands: ["*"] });
  await gatehouse.stop();
  return token;
}

type Answer = {
  readonly status: number;
  readonly body: { code?: number; command_id?: string; position?: number };
};

function createClient(gatehouse: Listening, token: string) {
  const authorization = { Authorization: `Bearer ${token}` };
  return {
    async submit(command: string, key?: string): Promise<Answer> {
      const response = await fetch(gatehouse.url + COMMANDS, {
        method: "POST",
        headers: {
          ...authorization,
          "Content-Type": "application/json",
          ...(key !== undefined && { "Idempotency-Key": key }),
        },
        body: JSON.stringify({ command }),
      });
      const body = (await response.json()) as Answer["body"];
      if (response.status === 503) {
        expect(body).toMatchObject({ code: 5106, message: "unavailable", retry_after: expect.any(Number) });
        expect(response.headers.get("retry-after")).not.toBeNull();
      }
      return { status: response.status, body };
    },
    async statusOf(id = ""): Promise<string> {
      const response = await fetch(`${gatehouse.url}${COMMANDS}/${id}`, { headers: authorization });
      return ((await response.json()) as { status: string }).status;
    },
  };
}

function expectWhole(path: string): void {
  const db = new Database(path, { readonly: true });
  expect(db.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  db.close();
}

/** Sends commands until the disk is full. Returns the accepted ones. */
async function submitUntilRefused(client: ReturnType<typeof createClient>): Promise<string[]> {
  const accepted: string[] = [];
  for (let count = 0; count < 100; count++) {
    const { status, body } = await client.submit(`:h ${count} ${"x".repeat(900)}`);
    if (status === 503) return accepted;
    expect(status).toBe(202);
    accepted.push(body.command_id ?? "");
  }
  throw new Error("the disk took everything");
}

const WAYS = [
  {
    name: "a full disk",
    need: mounting,
    makeFolder: () => makeSmallDisk("2m"),
    async take(_: Listening, folder: string) {
      fill(join(folder, "ballast"));
    },
    async requeue(_: Listening, folder: string) {
      rmSync(join(folder, "ballast"));
    },
  },
  {
    name: "files that may not grow",
    need: program("prlimit"),
    makeFolder: async () => {
      const cwd = makeFolder();
      mkdirSync(join(cwd, "data"), { mode: 0o700 });
      return cwd;
    },
    async take({ pid }: Listening) {
      await Bun.$`prlimit --pid ${pid} --fsize=4096:`.quiet();
    },
    async requeue({ pid }: Listening) {
      await Bun.$`prlimit --pid ${pid} --fsize=unlimited:`.quiet();
    },
  },
];

for (const way of WAYS) {
  testWith(way.need)(
    `${way.name}: submissions are 503/5106, nothing accepted is lost, and all is well again without a restart`,
    async () => {
      const cwd = await way.makeFolder();
      const folder = join(cwd, "data");
      const token = await prepare(folder);
      // Nothing listens at that address, so that commands stay in the queue.
      const env = { GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9", GATEHOUSE_DATA_DIR: folder };
      const gatehouse = await serve({ cwd, env });
      const client = createClient(gatehouse, token);
      const before = await client.submit(":h before", "kept");
      expect(before.status).toBe(202);

      await way.take(gatehouse, folder);
      const accepted = [before.body.command_id ?? "", ...(await submitUntilRefused(client))];
      const refused = await Promise.all(
        Array.from({ length: 20 }, (_, i) => client.submit(`:h refused ${i}`, `r${i}`)),
      );
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
      for (const id of accepted.slice(0, 20)) expect(["queued", "sending"]).toContain(await client.statusOf(id));
      expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200);

      await way.requeue(gatehouse, folder);
      let after: Answer | undefined;
      await until(
        "commands are still refused",
        async () => {
          after = await client.submit(":h after", "after");
          return after.status === 202;
        },
        NOTICED_WITHIN_MS,
      );
      // Refused commands left nothing behind: each is new now, and comes after all accepted ones.
      const again = await client.submit(":h refused 0", "r0");
      expect(again.body.position).toBe((after?.body.position ?? 0) + 1);
      expect((await client.submit(":h before", "kept")).body).toEqual(before.body);

      gatehouse.kill("SIGKILL");
      await gatehouse.exited;
      const second = await serve({ cwd, env });
      const restarted = createClient(second, token);
      const kept = [...accepted, after?.body.command_id, again.body.command_id];
      for (const id of kept.slice(0, 100)) {
        expect(["queued", "sending", "unknown"]).toContain(await restarted.statusOf(id));
      }
      expect(await stop(second)).toBe(0);
      expectWhole(join(folder, "gatehouse.db"));
    },
  );
}

test("1,000 parallel submissions to an empty queue: exactly 100 are accepted, at the places 1 to 100", async () => {
  const folder = makeFolder();
  const token = await prepare(folder);
  // The interval is a day and the first command was sent, so that all others stay in the queue.
  const simulator = await startSimulator({ commandIntervalMs: 0 });
  undoLater(() => simulator.stop());
  const env = {
    GATEHOUSE_UPSTREAM_URL: simulator.url,
    GATEHOUSE_DATA_DIR: folder,
    GATEHOUSE_COMMAND_INTERVAL_MS: "86400000",
  };
  const gatehouse = await serve({ cwd: folder, env });
  const client = createClient(gatehouse, token);
  const first = await client.submit(":h first");
  await until("the first is not sent", async () => (await client.statusOf(first.body.command_id)) === "sent");

  const sockets = await Promise.all(Array.from({ length: 1_000 }, () => openSocket({ port: gatehouse.port })));
  const answers = await Promise.all(
    sockets.map(async (socket, index) => {
      const body = JSON.stringify({ command: `:h ${index}` });
      const headers = [
        `Authorization: Bearer ${token}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
      ];
      socket.write(writeRequest(COMMANDS, headers, "POST") + body);
      const answer: RawAnswer | undefined = await socket.readAnswer();
      socket.destroy();
      return { status: answer?.status, body: JSON.parse(answer?.body ?? "{}") as Answer["body"] };
    }),
  );
  const accepted = answers.filter(({ status }) => status === 202);
  const refused = answers.filter(({ status, body }) => status === 429 && body.code === 5015);
  expect([accepted.length, refused.length]).toEqual([100, 900]);
  const places = accepted.map(({ body }) => body.position ?? 0).toSorted((a, b) => a - b);
  expect(places).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  expect(new Set(accepted.map(({ body }) => body.command_id)).size).toBe(100);
  expect(await stop(gatehouse)).toBe(0);
});

test("an answer is never sent before its commit: the first accepted command survives kill -9", async () => {
  const folder = makeFolder();
  const token = await prepare(folder);
  const env = { GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9", GATEHOUSE_DATA_DIR: folder };
  const promised: string[] = [];
  for (let round = 0; round < 5; round++) {
    const gatehouse = await serve({ cwd: folder, env });
    const client = createClient(gatehouse, token);
    const submissions = Array.from({ length: 15 }, async (_, index) => {
      const { status, body } = await client.submit(`:h ${round} ${index}`);
      if (status !== 202) return;
      promised.push(body.command_id ?? "");
      gatehouse.kill("SIGKILL");
    });
    await Promise.allSettled(submissions);
    await gatehouse.exited;
  }
  expect(promised.length).toBeGreaterThanOrEqual(5);
  const client = createClient(await serve({ cwd: folder, env }), token);
  for (const id of promised) expect(["queued", "sending", "unknown"]).toContain(await client.statusOf(id));
});
