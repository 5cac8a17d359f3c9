// Clients of the game API, unmodified, with only their address and key changed, against a real Gatehouse over the simulator. Of
// clients in other languages their way of calling is repeated: paths, headers, bodies, retries.
import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { createRequire } from "node:module";
import { type AuthenticationError, ErlcClient, type ErlcError, type RateLimitError } from "erlc-api";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { openSocket } from "../raw-socket.ts";
import { type GatehouseProcess, run, stop } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

const MASTER_KEY = "facade-clients-master-key-0123456789";
const SERVER_FIELDS = [
  "Name",
  "OwnerId",
  "CoOwnerIds",
  "CurrentPlayers",
  "MaxPlayers",
  "JoinKey",
  "AccVerifiedReq",
  "TeamBalance",
];

let simulator: Simulator;
let child: GatehouseProcess;
let url: string;
let towns = 0;

/** A key of its own on a server of its own, so that no test meets the limit or the queue of another. */
type Bot = { readonly facadeKey: string; readonly keyId: string; readonly town: string };

beforeAll(async () => {
  simulator = await startSimulator({ readLimit: 0, commandIntervalMs: 0, players: 12, seed: 7 });
  const env = {
    GATEHOUSE_PORT: "0",
    GATEHOUSE_DATA_DIR: makeFolder(),
    GATEHOUSE_UPSTREAM_URL: simulator.url,
    GATEHOUSE_MASTER_KEY: MASTER_KEY,
    GATEHOUSE_COMMAND_INTERVAL_MS: "1",
    GATEHOUSE_FRESH_MS: "1",
    GATEHOUSE_WATCH: "off",
    GATEHOUSE_ARCHIVE: "off",
  };
  child = run(["serve"], { cwd: makeFolder(), env });
  url = /listening on (\S+)$/.exec(await child.waitForLine("listening on"))?.[1] ?? "";
});
afterAll(async () => {
  await stop(child);
  await simulator.stop();
  await cleanUp();
});
beforeEach(() => simulator.clearFaults());

async function admin<T>(method: string, path: string, body: unknown): Promise<T> {
  const answer = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${MASTER_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** `secret` is the first part of the server key: the simulator refuses some. */
async function addBot(rights: object = { commands: ["*"] }, secret = "town"): Promise<Bot> {
  const town = `Town${++towns}`;
  const { server_id } = await admin<{ server_id: string }>("POST", "/admin/servers", {
    name: town,
    server_key: `${secret}-${town}`,
  });
  const key = await admin<{ facade_key: string; key_id: string }>("POST", "/admin/keys", {
    server_id,
    label: "bot",
    ...rights,
  });
  return { facadeKey: key.facade_key, keyId: key.key_id, town };
}

/** What the game was told to run, for one server. */
function commandsOf({ town }: Bot): string[] {
  const { calls } = simulator.calls(0);
  return calls.filter(({ kind, server }) => kind === "command" && server === town).map(({ command = "" }) => command);
}

async function errorOf<T extends ErlcError>(promise: Promise<unknown>): Promise<T> {
  try {
    await promise;
  } catch (error) {
    return error as T;
  }
  throw new Error("it was not refused");
}

describe("erlc-api 4.0.0", () => {
  const clientOf = ({ facadeKey }: Bot, options: object = {}) => {
    return new ErlcClient({ serverKey: facadeKey, baseUrl: url, maxRetries: 0, autoWait: false, ...options });
  };

  test("reads the server with any sections, and every section by itself", async () => {
    const client = clientOf(await addBot(), { globalToken: "a-global-token" });
    const plain = await client.server.get();
    expect(Object.keys(plain)).toEqual(SERVER_FIELDS);
    const some = await client.server.get({ include: ["players", "staff", "emergencyCalls"] });
    expect(Object.keys(some)).toEqual([...SERVER_FIELDS, "Players", "Staff", "EmergencyCalls"]);
    const { server } = client;
    expect(Object.keys((await server.players())[0] ?? {})).toContain("Location");
    expect(Object.keys(await server.staff())).toEqual(["Admins", "Mods", "Helpers"]);
    const lists = [
      await server.joinLogs(),
      await server.queue(),
      await server.killLogs(),
      await server.commandLogs(),
      await server.moderatorCalls(),
      await server.emergencyCalls(),
      await server.vehicles(),
    ];
    expect(lists.every(Array.isArray)).toBe(true);
    expect(client.getRateLimits()).toMatchObject({ server: { limit: 120, remaining: expect.any(Number) } });
  });

  test("sends commands, and hears why one was refused", async () => {
    const bot = await addBot();
    const client = clientOf(bot);
    expect(await client.commands.execute(":h hello")).toMatchObject({
      message: "Success",
      commandId: expect.any(String),
    });
    expect(commandsOf(bot)).toEqual([":h hello"]);
    const refused = await errorOf(client.commands.execute(":nonsense"));
    expect(refused).toMatchObject({ status: 400, code: 3001, retryable: false });
    const restricted = clientOf(await addBot({ commands: [":m"] }));
    expect(await errorOf<AuthenticationError>(restricted.commands.execute(":h"))).toMatchObject({
      status: 403,
      code: 9998,
    });
  });

  test("hears of a command whose outcome is unknown with its id", async () => {
    const bot = await addBot();
    simulator.arm({ kind: "reset", acts: true, target: "commands", times: 1 });
    const lost = await errorOf(clientOf(bot).commands.execute(":h lost"));
    expect(lost).toMatchObject({ status: 422, code: 1001, commandId: expect.stringMatching(/^cmd_/) });
    expect(await errorOf(clientOf(bot).commands.execute(":h lost"))).toMatchObject({
      commandId: lost.commandId,
    });
    expect(commandsOf(bot)).toEqual([":h lost"]);
  });

  test("tells wrong keys, offline servers and our own refused key apart", async () => {
    const wrong = new ErlcClient({ serverKey: "wrong-key", baseUrl: url, maxRetries: 0 });
    expect(await errorOf(wrong.server.get())).toMatchObject({
      kind: "authentication",
      status: 403,
      code: 2002,
    });
    const offline = clientOf(await addBot({}, "offline"));
    expect(await errorOf(offline.server.players())).toMatchObject({ status: 422, code: 3002 });
    const ours = clientOf(await addBot({}, "invalid"));
    expect(await errorOf(ours.server.get())).toMatchObject({ kind: "server", status: 500, code: 1002 });
  });

  test("waits by itself when the game API limits us, as long as erlc-api.py 3.1 is told to, and gets its answer", async () => {
    simulator.arm({ kind: "rate-limit", retry_after: 1, target: "reads", times: 1 });
    const bot = await addBot();
    const limited = await fetch(`${url}/v2/server?Queue=true`, { headers: { "server-key": bot.facadeKey } });
    expect(limited.status).toBe(429);
    expect(limited.headers.get("retry-after")).toBe("1");
    expect(await limited.json()).toMatchObject({ code: 4001, retry_after: 1, bucket: "server" });
    const limits: unknown[] = [];
    const onRateLimit = (info: unknown) => limits.push(info);
    const client = clientOf(bot, { maxRetries: 2, autoWait: true, onRateLimit });
    expect(Object.keys(await client.server.get())).toEqual(SERVER_FIELDS);
    expect(limits).toMatchObject([{ bucket: "server", limit: 120, remaining: 0 }]);
  });

  test("is told the limit of its own key", async () => {
    const client = clientOf(await addBot());
    for (let i = 0; i < 120; i++) await client.server.get();
    const limited = await errorOf<RateLimitError>(client.server.get());
    expect(limited).toMatchObject({ name: "RateLimitError", status: 429, code: 4001 });
  });

  test("asks for bans under /v1, which stays switched off", async () => {
    const client = clientOf(await addBot());
    expect(await errorOf(client.server.bans())).toMatchObject({ status: 500, code: 5018 });
  });
});

describe("erlc 1.2.0", () => {
  type Erlc = Record<string, (...args: string[]) => Promise<unknown>>;

  /** Its address is a constant, which has to be replaced before the package is loaded. */
  function load(): Erlc {
    const require = createRequire(import.meta.url);
    (require("erlc/src/constants.js") as { BASEURL: string }).BASEURL = `${url}/erlc/v1`;
    return require("erlc") as Erlc;
  }

  test("reads and sends with a replaced address", async () => {
    const erlc = load();
    const bot = await addBot();
    expect(await erlc.getPlayers?.(bot.facadeKey)).toBeArray();
    const lists = ["getJoinLogs", "getKillLogs", "getCommandLogs", "getModcallLogs", "getQueue"];
    for (const name of lists) expect(await erlc[name]?.(bot.facadeKey)).toBeArray();
    // It prints every command.
    const print = spyOn(console, "log").mockImplementation(() => {});
    expect(await erlc.runCommand?.(bot.facadeKey, ":h hello")).toBe(true);
    print.mockRestore();
    expect(commandsOf(bot)).toEqual([":h hello"]);
    const bans = await erlc.getBans?.(bot.facadeKey).catch((error: unknown) => error);
    expect(bans).toMatchObject({ code: 3001 });
    const wrong = await erlc.getPlayers?.("wrong-key").catch((error: unknown) => error);
    expect(wrong).toMatchObject({ code: 2002 });
  });
});

describe("the way of calling of", () => {
  type Init = { method?: string; headers?: Record<string, string>; body?: string };
  const call = (path: string, { facadeKey }: Bot, { headers, ...init }: Init = {}) => {
    return fetch(url + path, { ...init, headers: { "Server-Key": facadeKey, ...headers } });
  };
  const JSON_BODY = { "Content-Type": "application/json" };
  const post = (path: string, bot: Bot, body: object) => {
    return call(path, bot, { method: "POST", headers: JSON_BODY, body: JSON.stringify(body) });
  };

  test("prc.api-py: a key it accepts, JSON answers, and no 429 for a command that waits for the game's limit", async () => {
    const bot = await addBot();
    expect(bot.facadeKey).toMatch(/^[a-z0-9]+-[a-z0-9]+$/i);
    const read = await call("/v2/server?Players=true&Staff=true", bot, {
      headers: { Authorization: "global" },
    });
    expect([read.status, read.headers.get("content-type")]).toEqual([200, "application/json"]);
    for (const name of ["limit", "remaining", "reset"]) {
      expect(Number(read.headers.get(`x-ratelimit-${name}`))).toBeGreaterThan(0);
    }
    // A limit on commands is waited for in the queue, so that the client never hears of it.
    simulator.arm({ kind: "rate-limit", retry_after: 0.1, target: "commands", times: 1 });
    expect(await (await post("/v2/server/command", bot, { command: ":h hi" })).json()).toMatchObject({
      message: "Success",
    });
    expect(new Set(commandsOf(bot))).toEqual(new Set([":h hi"]));
  });

  test("prc.api-py: a command that it sends again after its timeout runs once", async () => {
    const bot = await addBot();
    simulator.arm({ kind: "slow", ms: 300, target: "commands", times: 1 });
    const cut = AbortSignal.timeout(100);
    const headers = { ...JSON_BODY, "Server-Key": bot.facadeKey };
    const request = { method: "POST", headers, body: '{"command":":h once"}' };
    expect(await fetch(`${url}/v2/server/command`, { ...request, signal: cut }).catch(() => "cut")).toBe("cut");
    const answers = await Promise.all([1, 2, 3].map(() => fetch(`${url}/v2/server/command`, request)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(commandsOf(bot)).toEqual([":h once"]);
  });

  test("Erlc.Net: parameters with =false, and Command with a capital", async () => {
    const bot = await addBot();
    const read = await call("/v2/server?Players=true&Staff=false&Queue=false", bot);
    expect(Object.keys((await read.json()) as object)).toEqual([...SERVER_FIELDS, "Players"]);
    expect((await post("/v2/server/command", bot, { Command: ":h hi" })).status).toBe(200);
    expect(commandsOf(bot)).toEqual([":h hi"]);
    const refused = await post("/v2/server/command", bot, { Command: ":nonsense" });
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: 3001 }]);
  });

  test("erlc.ts 1.0.6 and erlc-go: version 1 below the address, JSON content type on GET", async () => {
    const bot = await addBot();
    const read = async (path: string) => {
      const answer = await call(`/erlc/v1/server${path}`, bot, { headers: { ...JSON_BODY, Accept: "*/*" } });
      expect(answer.status).toBe(200);
      return (await answer.json()) as Record<string, unknown>[];
    };
    expect(Object.keys(await read(""))).toEqual(SERVER_FIELDS);
    expect(Object.keys(await read("/staff"))).toEqual(["CoOwners", "Admins", "Mods", "Helpers"]);
    const known = ["Player", "Permission", "Callsign", "Team"];
    const players = (await read("/players")).flatMap((player) => Object.keys(player));
    expect(players.filter((name) => !known.includes(name))).toEqual([]);
    for (const path of ["/queue", "/vehicles", "/joinlogs", "/killlogs", "/commandlogs", "/modcalls"]) {
      expect(await read(path)).toBeArray();
    }
    expect((await post("/erlc/v1/server/command", bot, { command: ":h hi" })).status).toBe(200);
    expect((await call("/erlc/v1/server/bans", bot)).status).toBe(404);
  });

  test("ERM: a JSON body on GET, and a Killer in every kill", async () => {
    const bot = await addBot();
    simulator.arm({ kind: "burst", list: "KillLogs", count: 40 });
    const headers = [
      "Host: localhost",
      `Server-Key: ${bot.facadeKey}`,
      "Content-Type: application/json",
      "Content-Length: 2",
      "Connection: close",
    ];
    const socket = await openSocket({ port: Number(new URL(url).port) });
    socket.write(`GET /erlc/v1/server/killlogs HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n{}`);
    const answer = await socket.readAnswer();
    socket.destroy();
    const kills = JSON.parse(answer?.body ?? "") as object[];
    expect(kills.length).toBeGreaterThan(10);
    expect(kills.every((kill) => "Killer" in kill)).toBe(true);
  });

  test("erlcjs 1.2.0: Bearer with another key beside the server-key", async () => {
    const bot = await addBot();
    const answer = await call("/v2/server?Players=true", bot, {
      headers: { Authorization: "Bearer something" },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-ratelimit-reset")).toMatch(/^\d{10}$/);
  });
});
