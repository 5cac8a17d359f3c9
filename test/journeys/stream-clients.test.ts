// Programs that people have follow one server: curl, Python, the WebSocket of Node and a real browser. All get the same events.
import { afterEach, expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventResource } from "../../src/core/wire/event.ts";
import { openBrowser } from "../docs/open-browser.ts";
import { MemoryArchive, makeEvent } from "../event-archive.ts";
import { type Need, program, testWith } from "../needs.ts";
import { startGatehouse } from "../start-gatehouse.ts";
import { parseSse } from "../stream-reader.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const EVENTS = 250;
const PATIENCE_MS = 60_000;

/** requests or httpx where the machine has one of them, else what Python brings along. Prints the data of every message. */
const PYTHON = `
import os, sys
url = os.environ["URL"] + "/v2/game/server/events/stream?after=earliest"
headers = {"Authorization": "Bearer " + os.environ["TOKEN"]}
def lines():
    try:
        import requests
    except ImportError:
        requests = None
    try:
        import httpx
    except ImportError:
        httpx = None
    if requests:
        print("with requests", file=sys.stderr, flush=True)
        with requests.get(url, headers=headers, stream=True) as answer:
            answer.raise_for_status()
            yield from (line.decode() for line in answer.iter_lines(chunk_size=1))
    elif httpx:
        print("with httpx", file=sys.stderr, flush=True)
        with httpx.stream("GET", url, headers=headers, timeout=None) as answer:
            answer.raise_for_status()
            yield from answer.iter_lines()
    else:
        import urllib.request
        print("with urllib", file=sys.stderr, flush=True)
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            yield from (line.decode().rstrip("\\n") for line in answer)
for line in lines():
    if line.startswith('data: {"id"'):
        print(line[len("data: "):], flush=True)
`;

/** The token goes in the first frame: this WebSocket takes no headers. */
const NODE = `
const socket = new WebSocket(process.env.URL.replace("http", "ws") + "/v2/game/server/events/socket");
socket.onopen = () => socket.send(JSON.stringify({ op: "auth", token: process.env.TOKEN, after: "earliest" }));
socket.onmessage = ({ data }) => {
  const { op, event } = JSON.parse(data);
  if (op === "event") console.log(JSON.stringify(event));
};
socket.onclose = ({ code }) => console.error("closed", code);
`;

/** Node 20 and 21 have it behind a flag, newer ones without. */
function findNodeFlags(): readonly string[] | undefined {
  return [[], ["--experimental-websocket"]].find((flags) => {
    const command = ["node", ...flags, "-e", "process.exit(typeof WebSocket === 'function' ? 0 : 1)"];
    return Bun.spawnSync(command, { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
  });
}

const nodeWithWebSocket: Need = () => program("node")() ?? (findNodeFlags() ? undefined : "this node has no WebSocket");

/** A virtual environment that sees the packages of the machine; without venv, the Python of the machine. */
function makePython(folder: string): string {
  const made = Bun.spawnSync([
    ...["python3", "-m", "venv", "--system-site-packages", "--without-pip"],
    join(folder, "python"),
  ]);
  return made.exitCode === 0 ? join(folder, "python/bin/python") : "python3";
}

afterEach(cleanUp);

type Follower = { readonly name: string; readonly events: () => EventResource[] };

async function openServer() {
  const archive = new MemoryArchive();
  const gatehouse = await startGatehouse({ archive });
  undoLater(() => gatehouse.stop());
  const server = await gatehouse.addServer();
  const { token } = await gatehouse.addKey(server);
  return {
    gatehouse,
    token,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", URL: gatehouse.url, TOKEN: token },
    async record(from: number, to: number) {
      for (let n = from; n <= to; n++) {
        const data = `{"Killed":"Zoë ${n} 한강:${n}","Timestamp":1800000000,"Killer":"A:1"}`;
        await archive.add(server.serverId, makeEvent(n, { data }));
      }
    },
  };
}

/** What a program prints, while it runs. */
function follow(name: string, command: readonly string[], env: Record<string, string>, parse: ParseOutput): Follower {
  const child = Bun.spawn([...command], { env, stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  undoLater(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  let printed = "";
  void (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of child.stdout) printed += decoder.decode(bytes, { stream: true });
  })();
  return { name, events: () => parse(printed) };
}

type ParseOutput = (printed: string) => EventResource[];

const parseLines: ParseOutput = (printed) =>
  printed
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const parseMessages: ParseOutput = (printed) =>
  printed
    .split("\n\n")
    .slice(0, -1)
    .map(parseSse)
    .filter(({ data }) => data?.id !== undefined)
    .map(({ data }) => data);

/** A page of Gatehouse itself reads the stream with fetch. */
async function followInBrowser(url: string, token: string): Promise<Follower> {
  const browser = await openBrowser();
  undoLater(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`${url}/healthz`);
  let printed = "";
  await page.exposeFunction("take", (text: string) => {
    printed += text;
  });
  await page.evaluate(async (token) => {
    const headers = { Authorization: `Bearer ${token}` };
    const answer = await fetch("/v2/game/server/events/stream?after=earliest", { headers });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    void (async () => {
      for (;;) {
        const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
        if (done) return;
        // biome-ignore lint/suspicious/noExplicitAny: a function that the test has put into the page
        await (globalThis as any).take(value);
      }
    })();
  }, token);
  return { name: "chromium", events: () => parseMessages(printed) };
}

/** Events of before the streams, and of while they are open, in the same order and with the same text for all. */
async function expectSame(
  server: Awaited<ReturnType<typeof openServer>>,
  followers: readonly Follower[],
): Promise<void> {
  const { gatehouse, token, record } = server;
  await record(EVENTS / 2 + 1, EVENTS);
  for (const { name, events } of followers)
    await until(`${name} does not get every event`, () => events().length >= EVENTS, PATIENCE_MS);
  const answer = await gatehouse.get(`/v2/game/server/events?after=earliest&limit=${EVENTS}`, token);
  const { items } = (await answer.json()) as { items: EventResource[] };
  expect(items).toHaveLength(EVENTS);
  for (const { name, events } of followers) expect([name, events()]).toEqual([name, items]);
}

testWith(program("curl"), program("python3"), nodeWithWebSocket)(
  "curl, Python, the WebSocket of Node and a browser follow the same server and get the same events",
  async () => {
    const server = await openServer();
    const { env, token, gatehouse } = server;
    const folder = makeFolder();
    await server.record(1, EVENTS / 2);
    writeFileSync(join(folder, "follow.py"), PYTHON);
    writeFileSync(join(folder, "follow.mjs"), NODE);
    const stream = `${gatehouse.url}/v2/game/server/events/stream?after=earliest`;
    const curl = ["curl", "-sN", "-H", `Authorization: Bearer ${token}`, stream];
    const node = ["node", ...(findNodeFlags() ?? []), join(folder, "follow.mjs")];
    const followers = [
      follow("curl", curl, env, parseMessages),
      follow("Python", [makePython(folder), join(folder, "follow.py")], env, parseLines),
      follow("Node", node, env, parseLines),
      await followInBrowser(gatehouse.url, token),
    ];
    // All are in the middle of it before the rest happens.
    for (const { name, events } of followers)
      await until(`${name} does not begin`, () => events().length >= EVENTS / 2, PATIENCE_MS);
    await expectSame(server, followers);
  },
  180_000,
);
