// The Python client: the table of cases with every Python at hand, and real processes that are killed while it works.
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Gatehouse } from "../../packages/client/src/gatehouse.ts";
import { pages } from "../../packages/client/src/pages.ts";
import { PYTHON_FOLDER } from "../../scripts/build-clients.ts";
import { BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { testWith } from "../needs.ts";
import { makeDataFolder, run, runToEnd, serve } from "../run-gatehouse.ts";
import { cleanUp, findFreePort, makeFolder, undoLater } from "../temporary.ts";
import { until, within } from "../until.ts";
import { ASYNC_PYTHONS, aiohttp, PYTHONS, python } from "./python-at-hand.ts";

const PATIENCE_MS = 120_000;
const CASES = JSON.parse(readFileSync(join(import.meta.dir, "cases.json"), "utf8")) as readonly unknown[];
const ALL_HOLD = `${CASES.length} of ${CASES.length} cases hold\n`;

afterAll(cleanUp, PATIENCE_MS);

async function runCases(program: string, ...kinds: readonly string[]): Promise<string> {
  const script = join(import.meta.dir, "run_cases.py");
  const { stdout, stderr } = await runToEnd(["-B", "-W", "error", script, ...kinds], { cwd: makeFolder(), program });
  return stdout + stderr;
}

testWith(python)(
  "every case holds in Python, blocking, with each version at hand",
  async () => {
    for (const each of PYTHONS) expect([each, await runCases(each)]).toEqual([each, ALL_HOLD]);
  },
  PATIENCE_MS,
);

testWith(aiohttp)(
  "every case holds in Python, on asyncio, with each version at hand",
  async () => {
    for (const each of ASYNC_PYTHONS) expect([each, await runCases(each, "async")]).toEqual([each, ALL_HOLD]);
  },
  PATIENCE_MS,
);

testWith(python)("without aiohttp, the blocking client works and the other says what it needs", async () => {
  const script = `import sys
sys.modules["aiohttp"] = None
from gatehouse_client import AsyncGatehouse, Gatehouse
Gatehouse("http://127.0.0.1:1", "gth_a")
AsyncGatehouse("http://127.0.0.1:1", "gth_a")`;
  const [program = ""] = PYTHONS;
  const env = { PYTHONPATH: PYTHON_FOLDER };
  const { exitCode, stderr } = await runToEnd(["-B", "-c", script], { cwd: makeFolder(), program, env });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("AsyncGatehouse needs aiohttp: pip install aiohttp")]);
});

test("the version is the same everywhere", () => {
  const read = (path: string) => readFileSync(join(PYTHON_FOLDER, "../..", path), "utf8");
  const { version } = JSON.parse(read("package.json"));
  expect(JSON.parse(read("packages/client/package.json")).version).toBe(version);
  expect(read("packages/python/pyproject.toml")).toContain(`\nversion = "${version}"\n`);
  expect(read("packages/python/gatehouse_client/__init__.py")).toContain(`\n__version__ = "${version}"\n`);
});

/** What a server sends, piece after piece; the last piece repeats where it drips. */
type Pieces = { readonly pieces: readonly string[]; readonly drips?: boolean; readonly ends?: boolean };

const BROKEN: Readonly<Record<string, Pieces>> = {
  silent: { pieces: [] },
  "dripping-head": { pieces: ["HTTP/1.1 200 OK\r\n", "X-A: b\r\n"], drips: true },
  "dripping-body": { pieces: ["HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{", " "], drips: true },
  "cut-body": { pieces: ['HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"command_id": "cmd_1"}'], ends: true },
  "cut-chunks": { pieces: ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n'], ends: true },
  "bad-chunks": { pieces: ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"], ends: true },
  "cut-head": { pieces: ["HTTP/1.1 200 OK\r\nContent-"], ends: true },
  closing: { pieces: [], ends: true },
  "no-http": { pieces: ["SSH-2.0-OpenSSH_9.2\r\n"], ends: true },
};

/** Cancels a command at each address, which is never tried again, and prints what came of it. */
const ASKING = `import asyncio, sys, time
from gatehouse_client import AsyncGatehouse, Gatehouse, GatehouseError
kind, *bases = sys.argv[1:]
def list_causes(error):
    while error:
        yield repr(error)
        error = error.__cause__ or error.__context__
def report(error, began):
    is_secret = not any("gth_a" in text for text in list_causes(error))
    print(error.status, str(error).startswith("Gatehouse did not answer: "), time.monotonic() - began < 10, is_secret)
async def ask(base):
    async with AsyncGatehouse(base, "gth_a", timeout=0.3) as gatehouse:
        await gatehouse.commands.cancel("cmd_1")
for base in bases:
    began = time.monotonic()
    try:
        if kind == "async":
            asyncio.run(ask(base))
        else:
            Gatehouse(base, "gth_a", timeout=0.3).commands.cancel("cmd_1")
    except GatehouseError as error:
        report(error, began)
`;

const QUIET_STREAM: Pieces = {
  pieces: ["HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", "id: e1\nevent: hello\ndata: {}\n\n"],
};

function startServer({ pieces, drips = false, ends = false }: Pieces): string {
  const timers = new Set<Timer>();
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        for (const piece of pieces) socket.write(piece);
        if (ends) socket.end();
        if (drips) timers.add(setInterval(() => socket.write(pieces.at(-1) ?? ""), 20));
      },
      close() {},
    },
  });
  undoLater(() => {
    for (const timer of timers) clearInterval(timer);
    server.stop(true);
  });
  return `http://127.0.0.1:${server.port}`;
}

testWith(python, aiohttp)(
  "a server that is silent, drips or breaks off ends a call in time, as an error without a status and without the key",
  async () => {
    const kinds = [
      ...PYTHONS.map((program) => ["blocking", program]),
      ...ASYNC_PYTHONS.map((program) => ["async", program]),
    ];
    const env = { PYTHONPATH: PYTHON_FOLDER };
    const bases = Object.values(BROKEN).map(startServer);
    for (const [kind = "", program = ""] of kinds) {
      const { stdout, stderr } = await runToEnd(["-B", "-c", ASKING, kind, ...bases], {
        cwd: makeFolder(),
        program,
        env,
      });
      expect([kind, stdout, stderr]).toEqual([kind, "0 True True True\n".repeat(bases.length), ""]);
    }
  },
  PATIENCE_MS,
);

/** Each follows a stream on which nothing happens, until it is closed; on asyncio also until the task is cancelled. */
const CLOSING: Readonly<Record<string, string>> = {
  blocking: `import sys, threading, time
from gatehouse_client import Gatehouse
events = Gatehouse(sys.argv[1], "gth_a").events()
def close():
    while events.cursor is None:
        time.sleep(0.01)
    events.close()
threading.Thread(target=close).start()
print(list(events), events.cursor)
`,
  async: `import asyncio, sys
from gatehouse_client import AsyncGatehouse
async def read(events):
    return [event async for event in events]
async def main():
    for how in ("task is cancelled", "stream is closed", "client is closed"):
        async with AsyncGatehouse(sys.argv[1], "gth_a") as gatehouse:
            events = gatehouse.events()
            task = asyncio.ensure_future(read(events))
            while events.cursor is None:
                await asyncio.sleep(0.01)
            if how == "task is cancelled":
                task.cancel()
            if how == "stream is closed":
                await events.close()
        if how != "task is cancelled":
            print(await task, events.cursor)
asyncio.run(main())
`,
};

testWith(python, aiohttp)(
  "a stream that is closed ends at once, also with its client, and one whose task is cancelled leaves no complaint",
  async () => {
    const env = { PYTHONPATH: PYTHON_FOLDER };
    for (const [kind, program] of [
      ["blocking", PYTHONS[0] ?? ""],
      ["async", ASYNC_PYTHONS[0] ?? ""],
    ] as const) {
      const args = ["-B", "-c", CLOSING[kind] ?? "", startServer(QUIET_STREAM)];
      const { stdout, stderr } = await runToEnd(args, { cwd: makeFolder(), program, env });
      expect([kind, stdout, stderr]).toEqual([kind, "[] e1\n".repeat(kind === "async" ? 2 : 1), ""]);
    }
  },
  PATIENCE_MS,
);

/** Both send a command, and then write down each event that comes. */
const BLOCKING = `import os, threading
from gatehouse_client import Gatehouse
gatehouse = Gatehouse(os.environ["GATEHOUSE_URL"], os.environ["GATEHOUSE_KEY"])
command = gatehouse.commands.send(":h hello")
threading.Thread(target=lambda: print("command", command.settled()["status"], flush=True)).start()
for event in gatehouse.events("earliest"):
    print("event", event["id"], flush=True)
`;
const ASYNC = `import asyncio, os
from gatehouse_client import AsyncGatehouse
async def report(command):
    print("command", (await command.settled())["status"], flush=True)
async def main():
    async with AsyncGatehouse(os.environ["GATEHOUSE_URL"], os.environ["GATEHOUSE_KEY"]) as gatehouse:
        task = asyncio.ensure_future(report(await gatehouse.commands.send(":h hello")))
        events = gatehouse.events("earliest")
        while True:
            # A wait that is given up again and again loses nothing.
            try:
                event = await asyncio.wait_for(events.__anext__(), 0.1)
                print("event", event["id"], flush=True)
            except asyncio.TimeoutError:
                pass
asyncio.run(main())
`;

/** Kills Gatehouse twice while players join with each reading, and compares what the program got with the ledger. */
async function followOverKills(program: string, script: string): Promise<void> {
  const joins: object[] = [];
  let isQuiet = false;
  let takesCommands = false;
  let commandsTaken = 0;
  const game = startFakeGameApi((request) => {
    if (request.method === "POST") {
      if (!takesCommands) return Response.json({ code: 4001, message: "limited", retry_after: 1 }, { status: 429 });
      commandsTaken++;
      return Response.json({ message: "Success" });
    }
    const number = joins.length + 1;
    if (!isQuiet) joins.unshift({ Join: true, Timestamp: 1_800_000_000 + number, Player: `Player${number}:${number}` });
    return Response.json({ ...BASE_INFO, JoinLogs: joins.slice(0, 200) });
  });
  const { folder, token } = await makeDataFolder();
  const env = {
    GATEHOUSE_DATA_DIR: folder,
    GATEHOUSE_UPSTREAM_URL: game.url,
    GATEHOUSE_PORT: String(findFreePort()),
    GATEHOUSE_WATCH: "on",
    GATEHOUSE_WATCH_INTERVAL_MS: "50",
    GATEHOUSE_COMMAND_INTERVAL_MS: "50",
  };
  let gatehouse = await serve({ cwd: folder, env });
  const cwd = makeFolder();
  writeFileSync(join(cwd, "follow.py"), script);
  const follower = run(["-B", "follow.py"], {
    cwd,
    program,
    env: { GATEHOUSE_URL: gatehouse.url, GATEHOUSE_KEY: token, PYTHONPATH: PYTHON_FOLDER },
  });
  const listGot = () => follower.stdout.match(/(?<=^event )\S+$/gm) ?? [];
  const client = new Gatehouse({ baseUrl: gatehouse.url, token });
  for (let kills = 1; kills <= 2; kills++) {
    const before = listGot().length;
    await until(`no event came (${follower.stderr})`, () => listGot().length > before + 3);
    // A command that is on its way when the process is killed would end as "unknown".
    await until("the command does not wait", async () => {
      const { items } = await client.commands.list();
      return items.length === 1 && items[0]?.status === "queued";
    });
    gatehouse.kill("SIGKILL");
    await gatehouse.exited;
    gatehouse = await serve({ cwd: folder, env });
  }
  takesCommands = true;
  await follower.waitForLine("command sent");
  const before = listGot().length;
  await until("no event came", () => listGot().length > before);
  isQuiet = true;
  const calls = game.calls.length;
  await until("the last reading is not made", () => game.calls.length > calls + 2);
  const ledger: string[] = [];
  for await (const { items } of pages((cursor) => client.listEvents({ after: cursor ?? "earliest", limit: 500 })))
    ledger.push(...items.map(({ id }) => id));
  await until("the last event does not come", () => listGot().length >= ledger.length);
  expect(listGot().slice(0, ledger.length)).toEqual(ledger);
  expect(commandsTaken).toBe(1);
  follower.kill("SIGKILL");
  await within(PATIENCE_MS, follower.exited, "the program does not end");
  await game.stop();
}

describe("while Gatehouse is killed and started again, each event comes once and a command is sent once", () => {
  testWith(python)("to a blocking program", () => followOverKills(PYTHONS.at(0) ?? "", BLOCKING), PATIENCE_MS);
  testWith(aiohttp)("to a program on asyncio", () => followOverKills(ASYNC_PYTHONS.at(0) ?? "", ASYNC), PATIENCE_MS);
});
