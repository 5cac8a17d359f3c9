// The packages that npm and PyPI would publish: every program of their pages as printed, under Node, Bun and Python and in a
// browser, the types with the lowest TypeScript, and the size.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type Type from "typebox";
import { Check } from "typebox/value";
import { Gatehouse } from "../../packages/client/src/gatehouse.ts";
import type { GatehouseError } from "../../packages/client/src/gatehouse-error.ts";
import { player } from "../../packages/client/src/players.ts";
import { buildClient, CLIENT_FOLDER, PYTHON_FOLDER } from "../../scripts/build-clients.ts";
import { LOWEST_TYPESCRIPT, obtainLowestTypescript } from "../../scripts/lowest-typescript.ts";
import { SECTIONS } from "../../src/core/sections.ts";
import { signStandardMessage, toStandardTest, writeWebhookSecret } from "../../src/core/webhooks/standard.ts";
import { CommandResource } from "../../src/core/wire/command.ts";
import { EventPage } from "../../src/core/wire/event.ts";
import { GameMapResource } from "../../src/core/wire/game-map.ts";
import {
  PeaksResource,
  PlayersHistory,
  PlaytimePage,
  PresentHistory,
  SessionPage,
  StaffPage,
} from "../../src/core/wire/history.ts";
import { OwnKeyResource } from "../../src/core/wire/key.ts";
import { pageOf } from "../../src/core/wire/page.ts";
import { ModCallPage, PlayerPage, PlayerRecord } from "../../src/core/wire/players.ts";
import { SectionSchemas, ServerBase, ServerInfo } from "../../src/core/wire/server-info.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { ASYNC_PYTHONS, aiohttp, findPip, PYTHONS, pip, python } from "../clients/python-at-hand.ts";
import { BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { program, testWith } from "../needs.ts";
import { type Listening, makeDataFolder, run, runToEnd, serve } from "../run-gatehouse.ts";
import { cleanUp, findFreePort, makeFolder, undoLater } from "../temporary.ts";
import { until, within } from "../until.ts";
import { openBrowser } from "./open-browser.ts";
import { listPageBlocks, type PageBlock, ROOT } from "./page-blocks.ts";
import { openTerminal } from "./terminal.ts";

const README = "packages/client/README.md";
const PYTHON_README = "packages/python/README.md";
const GUIDE = "docs/client.md";
const PAGES = [README, GUIDE];
const BYTES_MAX = 12 * 1024;
const PATIENCE_MS = 120_000;
/** These programs run until they are stopped: after they have printed this. */
const LASTING: Readonly<Record<string, string>> = {
  "node receive.mjs\n": "listening on",
  "python3 receive.py\n": "listening on",
  "python3 follow.py\n": " joined",
};
const SECRET = writeWebhookSecret(new Uint8Array(32).fill(7));

/** A project with nothing but the installed package. */
let project: string;
/** The name of the packed file. */
let archive: string;
let bytes: number;
let town: Listening;
let key: string;

beforeAll(async () => {
  await Promise.all([makeProject(), openTown()]);
}, PATIENCE_MS);
afterAll(cleanUp, PATIENCE_MS);

/** Installs as the pages say it, but without a network. */
async function makeProject(): Promise<void> {
  project = makeFolder();
  writeFileSync(join(project, "package.json"), '{"private": true}');
  bytes = await buildClient();
  await call(["npm", "pack", "--pack-destination", project, "--loglevel=error"], CLIENT_FOLDER);
  archive = readdirSync(project).find((file) => file.endsWith(".tgz")) ?? "";
  const options = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"];
  expect(await call(["npm", "install", `./${archive}`, ...options], project)).toMatchObject({ exitCode: 0 });
}

/** One Gatehouse for all programs, over a simulator without the game API's waits. */
async function openTown(): Promise<void> {
  const simulator = await startSimulator({ readLimit: 0, commandIntervalMs: 0, speed: 10 });
  undoLater(() => simulator.stop());
  const { folder, token } = await makeDataFolder();
  key = token;
  town = await serve({
    cwd: folder,
    env: {
      GATEHOUSE_DATA_DIR: folder,
      GATEHOUSE_UPSTREAM_URL: simulator.url,
      GATEHOUSE_WATCH: "on",
      GATEHOUSE_WATCH_INTERVAL_MS: "500",
      GATEHOUSE_COMMAND_INTERVAL_MS: "50",
      GATEHOUSE_CORS_ORIGINS: "*",
    },
  });
}

async function call(command: readonly string[], cwd: string) {
  const child = Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const stdout = await child.stdout.text();
  return { exitCode: await child.exited, stdout };
}

function environment(): Record<string, string> {
  return { GATEHOUSE_URL: town.url, GATEHOUSE_KEY: key };
}

/** The programs of a page, by the name of the file that the page saves them in. */
function findProgram(page: string, name: string): string {
  const block = listPageBlocks(page).find(({ fileName }) => fileName === name);
  if (!block) throw new Error(`${page} has no ${name}`);
  return block.text;
}

/** A folder with `python3` and `pip` of one Python, which installs into a folder of the test and needs no network. */
function makePythonCommands(): string {
  const folder = makeFolder();
  const packages = join(folder, "packages");
  const make = (name: string, line: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  make("python3", `PYTHONPATH=${packages} exec ${ASYNC_PYTHONS[0] ?? PYTHONS[0]} "$@"`);
  const options = `--no-index --no-cache-dir --disable-pip-version-check --quiet --target ${packages} --upgrade`;
  make("pip", `exec ${findPip()} -m pip "$@" ${options}`);
  return folder;
}

/** Follows a page as printed, beside what looks like a checkout, and returns what was printed. */
async function followPage(page: string): Promise<string> {
  const folder = makeFolder();
  const checkout = join(folder, "checkout");
  // In which the pages take the demo key from its file.
  mkdirSync(join(checkout, "data"), { recursive: true });
  writeFileSync(join(checkout, "data/demo.key"), `${key}\n`);
  const terminal = openTerminal(checkout, {
    PATH: `${makePythonCommands()}:${process.env.PATH ?? "/usr/bin:/bin"}`,
    PORT: "0",
    WEBHOOK_SECRET: SECRET,
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
  });
  let here = checkout;
  async function follow({ language, text, fileName }: PageBlock): Promise<void> {
    if (fileName !== undefined) return writeFileSync(join(here, fileName), text);
    if (language !== "sh") throw new Error("this block has no command and no file to save it in");
    const words = LASTING[text];
    if (words !== undefined) {
      await terminal.start(text, words);
      return terminal.interrupt();
    }
    await terminal.type(text.replaceAll("http://127.0.0.1:8080", town.url));
    if (text.includes("cd ../my-bot")) here = join(folder, "my-bot");
  }
  for (const block of listPageBlocks(page)) {
    await follow(block).catch((error: Error) => {
      throw new Error(`${block.place} does not work as printed:\n${block.text}\n${error.message}`);
    });
  }
  return terminal.printed;
}

test("the published file is smaller than 12 KB, compressed, and nothing is published with it but types, page and licence", () => {
  console.log(`gatehouse-client: ${bytes} bytes compressed, of at most ${BYTES_MAX}`);
  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThan(BYTES_MAX);
  const installed = join(project, "node_modules/gatehouse-client");
  const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
  expect(files.filter((name) => !/^(dist|dist\/[\w-]+\.d\.ts)$/.test(name)).toSorted()).toEqual([
    "LICENSE",
    "README.md",
    "dist/index.js",
    "package.json",
  ]);
  expect(readFileSync(join(installed, "LICENSE"), "utf8")).toBe(readFileSync(join(ROOT, "LICENSE"), "utf8"));
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  expect(manifest.dependencies).toBeUndefined();
});

testWith(program("bash"), program("npm"), program("node"))(
  "the page of the package for npm works as printed, under this machine's Node",
  async () => {
    const readme = await followPage(README);
    expect(readme).toMatch(/: \d+ play, \d+ wait\n/);
    expect(readme).toMatch(/\S+ drives \S+/);
    expect(readme).toMatch(/^\d+ of \d+, \d+ s ago$/m);
    expect(readme).toMatch(/^cmd_\w+ is (queued|sending|sent)$/m);
    // command.mjs and follow.mjs.
    expect(readme.match(/^the command is sent/gm)).toHaveLength(2);
    expect(readme).toMatch(/^\d+ points of 1m, at most \d+ players$/m);
    expect(readme).toMatch(/^\w+ was here \d+ times$/m);
    expect(readme).toMatch(/^\d+ requests are left in this minute$/m);
    expect(readme).toContain("refused with 5008, HTTP 401\n");
  },
  PATIENCE_MS,
);

testWith(
  program("bash"),
  program("npm"),
  program("node"),
  program("curl"),
  aiohttp,
  pip,
)(
  "the page of the package for Python works as printed",
  async () => {
    const readme = await followPage(PYTHON_README);
    expect(readme).toMatch(/: \d+ play, \d+ wait\n/);
    expect(readme).toMatch(/^\S+ drives \S+/m);
    expect(readme).toMatch(/^\d+ of \d+, \d+ s ago$/m);
    expect(readme).toMatch(/^\d+ requests are left in this minute$/m);
    expect(readme).toMatch(/^cmd_\w+ is (queued|sending|sent)$/m);
    // command.py and watch.py.
    expect(readme.match(/^the command is sent/gm)).toHaveLength(2);
    expect(readme).toMatch(/^hello \w+$/m);
    expect(readme).toMatch(/^\S+:\d+ was here \d+ times$/m);
    expect(readme).toMatch(/^\d+ points, at most \d+ players$/m);
    expect(readme).toMatch(/^refused with 5008, HTTP 401: invalid_token/m);
  },
  PATIENCE_MS,
);

testWith(
  program("bash"),
  program("npm"),
  program("node"),
  aiohttp,
  pip,
)(
  "the guide from requests to the client works as printed, in both languages",
  async () => {
    const moving = await followPage(GUIDE);
    expect(moving.match(/^\d+ of \d+ are police$/gm)).toHaveLength(3);
    expect(moving.match(/^it is sent ?$/gm)).toHaveLength(3);
    expect(moving.match(/^hello \S+:\d+$/gm)?.length).toBeGreaterThan(4);
  },
  PATIENCE_MS,
);

test(
  "every program of the pages that uses the client compiles as TypeScript, under strict",
  async () => {
    const programs = PAGES.flatMap(listPageBlocks).filter(({ text }) => text.includes('from "gatehouse-client"'));
    expect(programs).toHaveLength(11);
    const files = programs.map(({ fileName = "", text }) => {
      const file = fileName.replace(/\.m?js$/, "-strict.mts");
      writeFileSync(join(project, file), text);
      return file;
    });
    const options = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"];
    const target = ["--target", "es2022", "--lib", "es2022,dom", "--module", "nodenext", "--skipLibCheck"];
    const types = ["--typeRoots", join(ROOT, "node_modules/@types"), "--types", "node"];
    const tsc = join(ROOT, "node_modules/.bin/tsc");
    expect(await call([tsc, ...options, ...target, ...types, ...files], project)).toEqual({
      exitCode: 0,
      stdout: "",
    });
  },
  PATIENCE_MS,
);

testWith(program("node"))("the receiver of the README takes what Gatehouse signs, and nothing else", async () => {
  writeFileSync(join(project, "receive.mjs"), findProgram(README, "receive.mjs"));
  await judgeReceiver("node", "receive.mjs", project);
});

testWith(python)("the receiver in Python takes what Gatehouse signs, and nothing else", async () => {
  const cwd = makeFolder();
  writeFileSync(join(cwd, "receive.py"), findProgram(PYTHON_README, "receive.py"));
  await judgeReceiver(PYTHONS[0] ?? "", "receive.py", cwd);
});

async function judgeReceiver(program: string, file: string, cwd: string): Promise<void> {
  const port = String(findFreePort());
  const env = { PORT: port, WEBHOOK_SECRET: SECRET, PYTHONPATH: PYTHON_FOLDER };
  const receiver = run([file], { cwd, program, env });
  await receiver.waitForLine("listening on");
  async function post(secret: string): Promise<number> {
    const message = toStandardTest("msg_1", "hook_a", "srv_a", Date.now());
    const headers = signStandardMessage(message, [secret], Date.now());
    return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: message.body })).status;
  }
  expect(await post(SECRET)).toBe(204);
  expect(await post(writeWebhookSecret(new Uint8Array(32)))).toBe(401);
  await receiver.waitForLine("msg_1 is webhook.test");
  receiver.kill("SIGTERM");
  await receiver.exited;
}

test("the installed package works under Bun", async () => {
  writeFileSync(join(project, "read.mjs"), findProgram(README, "read.mjs"));
  const { exitCode, stdout } = await runToEnd(["--no-env-file", "read.mjs"], {
    cwd: project,
    program: process.execPath,
    env: environment(),
  });
  expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/: \d+ play, \d+ wait\n/)]);
});

test("the installed package works in a browser, as a bundle", async () => {
  writeFileSync(join(project, "page.js"), findProgram(README, "page.js"));
  const { outputs } = await Bun.build({
    entrypoints: [join(project, "page.js")],
    target: "browser",
    minify: true,
  });
  const script = (await outputs[0]?.text()) ?? "";
  const page = `<body data-base-url="${town.url}" data-token="${key}"><script type="module" src="/page.js"></script>`;
  const site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) =>
      request.url.endsWith("/page.js")
        ? new Response(script, { headers: { "Content-Type": "text/javascript" } })
        : new Response(page, { headers: { "Content-Type": "text/html" } }),
  });
  const browser = await openBrowser();
  try {
    const tab = await browser.newPage();
    await tab.goto(site.url.href);
    await tab.getByText(" joined.").first().waitFor({ timeout: 60_000 });
  } finally {
    await browser.close();
    await site.stop(true);
  }
});

/** The element that the events of a type have as `data`. */
const ELEMENTS: Readonly<Record<string, Type.TSchema>> = {
  "player.joined": SectionSchemas.JoinLogs.items,
  "player.left": SectionSchemas.JoinLogs.items,
  "player.killed": SectionSchemas.KillLogs.items,
  "command.used": SectionSchemas.CommandLogs.items,
  "modcall.opened": SectionSchemas.ModCalls.items,
  "call.opened": SectionSchemas.EmergencyCalls.items,
  "player.changed": SectionSchemas.Players.items,
  "vehicle.spawned": SectionSchemas.Vehicles.items,
};

test("every method gives what its schema says", async () => {
  const gatehouse = new Gatehouse({ baseUrl: town.url, token: key });
  const { server, commands, history } = gatehouse;
  const handle = await commands.send(":h hello");
  const whole = await server.get({ include: [...SECTIONS] });
  const answers: [Type.TSchema, unknown][] = [
    [ServerInfo, whole],
    [ServerInfo, (await server.read()).info],
    [SectionSchemas.Players, await server.players()],
    [SectionSchemas.Staff, await server.staff()],
    [SectionSchemas.JoinLogs, await server.joinLogs()],
    [SectionSchemas.Queue, await server.queue()],
    [SectionSchemas.KillLogs, await server.killLogs()],
    [SectionSchemas.CommandLogs, await server.commandLogs()],
    [SectionSchemas.ModCalls, await server.modCalls()],
    [SectionSchemas.EmergencyCalls, await server.emergencyCalls()],
    [SectionSchemas.Vehicles, await server.vehicles()],
    [GameMapResource, await server.map()],
    [OwnKeyResource, await gatehouse.key()],
    [CommandResource, await handle.settled()],
    [CommandResource, await handle.status()],
    [pageOf(CommandResource), await commands.list({ status: "sent", limit: 1 })],
    [PlayersHistory, await history.players({ resolution: "5m" })],
    [SessionPage, await history.sessions({ from: new Date(Date.now() - 60_000), limit: 2 })],
    [PlaytimePage, await history.playtime()],
    [StaffPage, await history.staff()],
    [PeaksResource, await history.peaks({ tz: "Europe/Berlin" })],
    [PresentHistory, await history.present({ at: Date.now() - 1_000 })],
    [PlayerPage, await gatehouse.players.search({ limit: 1 })],
    [PlayerRecord, await gatehouse.players.get(player.split(whole.Players[0]?.Player ?? "").id ?? "")],
    [ModCallPage, await gatehouse.modcalls.list()],
  ];
  for (const [schema, answer] of answers) expect([Check(schema, answer), answer]).toEqual([true, answer]);
  expect(Object.keys(whole)).toEqual([...Object.keys(ServerBase.properties), ...SECTIONS]);

  const page = await gatehouse.listEvents({
    after: "earliest",
    types: ["player.*", "vehicle.*"],
    wait: 20,
  });
  expect(Check(EventPage, page)).toBe(true);
  expect(page.items.length).toBeGreaterThan(0);
  for (const { type, data } of page.items) expect(Check(ELEMENTS[type] ?? {}, data)).toBe(true);
  const refused = await handle.cancel().catch((error: GatehouseError) => error);
  expect(refused).toMatchObject({ status: 409, code: 5104 });
});

/** What TypeScript must infer, and what it must refuse. */
const USAGE = `
import {
  type EventType,
  Gatehouse,
  GatehouseError,
  type GameEvent,
  type Id,
  pages,
  player,
  verifyWebhook,
} from "gatehouse-client";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function check<_T extends true>(): void {}

const gatehouse = new Gatehouse({ baseUrl: "http://127.0.0.1", token: "gth_a", timeoutMs: 1, fetch });

export async function use(): Promise<void> {
  const bare = await gatehouse.server.get();
  check<Same<typeof bare.OwnerId, Id>>();
  // @ts-expect-error a section that was not included
  void bare.Players;
  const town = await gatehouse.server.get({ include: ["Players", "Queue"] });
  const stars: number | undefined = town.Players[0]?.WantedStars;
  const street: string | undefined = town.Players[0]?.Location?.StreetName;
  const waiting: readonly (number | bigint)[] = town.Queue;
  // @ts-expect-error a section that was not included
  void town.Vehicles;
  // @ts-expect-error not a section
  await gatehouse.server.get({ include: ["Everything"] });
  // @ts-expect-error an id may be a bigint
  const id: number = town.OwnerId;

  for await (const event of gatehouse.events({ types: ["player.*", "queue.changed"] })) {
    check<Same<typeof event.type, "player.joined" | "player.left" | "player.killed" | "player.changed" | "queue.changed" | "gap">>();
    if (event.type === "player.killed") void (event.data.Killer satisfies string | undefined);
    if (event.type === "gap") void (event.data.reason satisfies string);
    // @ts-expect-error this type was not asked for
    if (event.type === "vehicle.spawned") break;
  }
  const all = gatehouse.events();
  const cursor: string | undefined = all.cursor;
  for await (const event of all) check<Same<typeof event.type, EventType>>();
  // @ts-expect-error not a type of events
  gatehouse.events({ types: ["player.exploded"] });

  const settled = await (await gatehouse.commands.send(":h", { idempotencyKey: "a" })).settled();
  check<Same<typeof settled.status, "sent" | "failed" | "unknown" | "expired" | "cancelled">>();
  const { points } = await gatehouse.history.players({ from: new Date(), resolution: "1h" });
  check<Same<(typeof points)[number]["avg"], number | null>>();
  const message = await verifyWebhook({ secret: "whsec_a", headers: new Headers(), body: "" });
  if (message.type !== "webhook.test") void (message.data satisfies GameEvent);
  if (message.type === "player.killed") void (message.data.data.Killer satisfies string | undefined);
  for await (const { items } of pages((cursor) => gatehouse.players.search({ cursor })))
    void (items[0]?.names satisfies readonly string[] | undefined);
  for await (const { items } of pages((cursor) => gatehouse.listEvents({ after: cursor, types: ["gap"] })))
    void (items[0]?.data.reason satisfies string | undefined);
  const call = await gatehouse.modcalls.claim("c", { take: true, timeoutMs: 1 });
  check<Same<typeof call.state, "waiting" | "claimed" | "answered" | "left" | "expired">>();
  void (player.split("a:1").id satisfies string | null);
  void (gatehouse.limit?.resetAt satisfies number | undefined);
  void [stars, street, waiting, id, cursor];
}

export function explain(error: unknown): number | undefined {
  return error instanceof GatehouseError ? error.code + error.status + (error.retryAfter ?? 0) : undefined;
}
`;

testWith(program("node"))(
  `the types hold with TypeScript ${LOWEST_TYPESCRIPT.version} and with the newest`,
  async () => {
    writeFileSync(join(project, "usage.mts"), USAGE);
    const options = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"];
    const target = ["--target", "es2022", "--lib", "es2022,dom", "--module", "nodenext"];
    const newest = join(ROOT, "node_modules/.bin/tsc");
    const lowest = await obtainLowestTypescript();
    // The types of the client are checked, those of the compiler's own library are not.
    const command = [...options, ...target, "--skipDefaultLibCheck", "usage.mts"];
    const compilers = [["node", lowest], [newest]];
    const checks = await Promise.all(compilers.map((compiler) => call([...compiler, ...command], project)));
    expect(checks).toEqual(compilers.map(() => ({ exitCode: 0, stdout: "" })));
  },
  PATIENCE_MS,
);

testWith(program("node"))(
  "a program of 20 lines follows events and a command to its end while Gatehouse is killed and started again",
  async () => {
    const script = findProgram(README, "follow.mjs");
    expect(script.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
    // Who was there before the first reading is not announced.
    const joins: object[] = [{ Join: true, Timestamp: 1_799_999_999, Player: "Zoe:3" }];
    let takesCommands = false;
    let commandsRefused = 0;
    let commandsTaken = 0;
    const game = startFakeGameApi((request) => {
      if (request.method !== "POST") return Response.json({ ...BASE_INFO, JoinLogs: joins });
      // The command keeps its place in the queue.
      if (!takesCommands) {
        commandsRefused++;
        return Response.json({ code: 4001, message: "limited", retry_after: 6 }, { status: 429 });
      }
      commandsTaken++;
      return Response.json({ message: "Success" });
    });
    const { folder, token } = await makeDataFolder();
    const env = {
      GATEHOUSE_DATA_DIR: folder,
      GATEHOUSE_UPSTREAM_URL: game.url,
      GATEHOUSE_PORT: String(findFreePort()),
      GATEHOUSE_WATCH: "on",
      GATEHOUSE_WATCH_INTERVAL_MS: "100",
      GATEHOUSE_COMMAND_INTERVAL_MS: "50",
    };
    const first = await serve({ cwd: folder, env });
    await until("the server is not read", () => game.calls.length > 1);
    joins.unshift({ Join: true, Timestamp: 1_800_000_000, Player: "Alice:1" });

    const cwd = makeFolder();
    cpSync(join(project, "node_modules"), join(cwd, "node_modules"), { recursive: true });
    writeFileSync(join(cwd, "follow.mjs"), script);
    const follower = run(["follow.mjs"], {
      cwd,
      program: "node",
      env: { GATEHOUSE_URL: first.url, GATEHOUSE_KEY: token },
    });
    await follower.waitForLine("Alice:1 joined");
    const gatehouse = new Gatehouse({ baseUrl: first.url, token });
    // A command that is on its way when the process is killed would end as "unknown": it was refused just now.
    const refusedBefore = commandsRefused;
    const isWaiting = async () => {
      if (commandsRefused === refusedBefore) return false;
      const commands = await gatehouse.commands.list();
      return commands.items.every(({ status }) => status === "queued");
    };
    await until("the command does not wait", isWaiting);
    first.kill("SIGKILL");
    await first.exited;
    joins.unshift({ Join: true, Timestamp: 1_800_000_001, Player: "Bob:2" });
    await serve({ cwd: folder, env });
    await follower.waitForLine("Bob:2 joined");
    takesCommands = true;
    await follower.waitForLine("the command is sent");
    expect(await within(PATIENCE_MS, follower.exited, "the program does not end")).toBe(0);
    expect(follower.stdout).toBe("Alice:1 joined\nBob:2 joined\nthe command is sent\n");
    expect(commandsTaken).toBe(1);
    expect(readFileSync(join(cwd, "cursor.txt"), "utf8")).toMatch(/^[\w-]{1,64}$/);
    await game.stop();
  },
  PATIENCE_MS,
);
