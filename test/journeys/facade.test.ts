// The façade over HTTP: keys, rights, limits, shapes and errors in the game API's form. Commands are in facade-commands.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { facadeKeyOf } from "../../src/core/facade/facade-key.ts";
import { SECTIONS, toSectionSet } from "../../src/core/sections.ts";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../fake-game-api.ts";
import { openSocket } from "../raw-socket.ts";
import { addBot, type Bot, type CommandGateway, refuses, startCommandGateway, takes } from "./commander.ts";
import { codeOf, createFacadeClient, type FacadeClient, limitOf } from "./facade-client.ts";
import { createOperator, readAs } from "./operator.ts";

const ALL = SECTIONS.map((name) => `${name}=true`).join("&");
const INFO = { ...BASE_INFO, ...ALL_SECTIONS_INFO };
const V1_PATHS = ["players", "staff", "joinlogs", "queue", "killlogs", "commandlogs", "modcalls", "vehicles"];

let gateway: CommandGateway;
let bot: Bot;
let facade: FacadeClient;
let key: string;

beforeAll(async () => {
  gateway = await startCommandGateway({
    env: { GATEHOUSE_CORS_ORIGINS: "https://panel.example", GATEHOUSE_LOG_LEVEL: "debug" },
  });
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  gateway.game.reply = takes;
  gateway.game.read = () => Response.json(INFO);
  bot = await addBot(gateway);
  facade = createFacadeClient(gateway.gatehouse, bot);
  ({ key } = facade);
});

const get: FacadeClient["get"] = (...request) => facade.get(...request);
const send: FacadeClient["send"] = (...request) => facade.send(...request);

describe("the key", () => {
  test("is shown beside the token when a key is made or gets a new token, and never again", async () => {
    const operator = createOperator(gateway.gatehouse);
    const server = await operator.addServer();
    const made = await operator.addKey(server);
    expect(made.facade_key).toBe(facadeKeyOf(made.token, server.server_id));
    expect(await codeOf(await get("/v2/server", { "server-key": made.facade_key.slice(0, -1) }))).toEqual([403, 2002]);
    expect((await get("/v2/server", { "server-key": made.facade_key })).status).toBe(200);

    const rotated = await operator.rotate(made, { grace_seconds: 60 });
    expect(rotated.facade_key).toBe(facadeKeyOf(rotated.token, server.server_id));
    for (const each of [made, rotated]) {
      expect((await get("/v2/server", { "server-key": each.facade_key })).status).toBe(200);
    }
    await operator.rotate(made);
    expect(await codeOf(await get("/v2/server", { "server-key": rotated.facade_key }))).toEqual([403, 2002]);
    const shown = JSON.stringify([await operator.showKey(made), await operator.list("/admin/keys")]);
    expect(shown).not.toContain("facade_key");
    expect(shown).not.toContain(made.facade_key);
  });

  test.each(["/v2/server", "/erlc/v1/server", "/erlc/v1/server/bans", "/erlc/v1/server/staff"])(
    "is needed for %s, in the form of a server key or as a token",
    async (path) => {
      const ask = async (headers: Record<string, string>) => codeOf(await get(path, headers));
      expect(await ask({})).toEqual([403, 2000]);
      expect(await ask({ "server-key": "" })).toEqual([403, 2000]);
      expect(await ask({ Authorization: `Bearer ${bot.token}` })).toEqual([403, 2000]);
      expect(await ask({ "server-key": "no key" })).toEqual([403, 2001]);
      expect(await ask({ "server-key": "abc-def" })).toEqual([403, 2002]);
      expect(await ask({ "server-key": `${bot.token.slice(0, -1)}_` })).toEqual([403, 2001]);
      expect(await ask({ "server-key": facadeKeyOf(bot.token, "srv_another") })).toEqual([403, 2002]);
      const global = { Authorization: "a-global-key" };
      const statuses = [key, bot.token].map(async (each) => {
        return (await get(path, { ...global, "server-key": each })).status;
      });
      expect(await Promise.all(statuses)).toEqual(path.endsWith("bans") ? [404, 404] : [200, 200]);
    },
  );

  test("is no token in Authorization, and a server-key is none on our own paths", async () => {
    for (const headers of [{ Authorization: `Bearer ${key}` }, { Authorization: key }]) {
      const answer = await get("/v2/game/server", { ...headers, "server-key": key });
      expect([answer.status, ((await answer.json()) as { code: number }).code]).toEqual([
        401,
        headers.Authorization.startsWith("Bearer") ? 5008 : 5007,
      ]);
    }
  });

  test("is never logged", async () => {
    await (await get("/v2/server")).text();
    await (await get("/v2/server", { "server-key": "wrong-key" })).text();
    await (await send({ command: ":h" })).text();
    const lines = gateway.gatehouse.logLines.join("\n");
    expect(lines).toContain("/v2/server");
    for (const secret of [key, key.slice(3, 39), bot.token]) expect(lines).not.toContain(secret);
  });

  test("that is revoked, suspended, or not allowed from here is refused", async () => {
    const { store } = gateway.gatehouse.app;
    const home = bot.home;
    const elsewhere = await gateway.gatehouse.addKey(home, { ipAllow: ["192.0.2.1"] });
    const old = await gateway.gatehouse.addKey(home, { versions: ["v1"] });
    for (const { token } of [elsewhere, old]) {
      const serverKey = facadeKeyOf(token, bot.serverId);
      expect(await codeOf(await get("/v2/server", { "server-key": serverKey }))).toEqual([403, 9998]);
      expect(await codeOf(await send({ command: ":h" }, undefined, serverKey))).toEqual([403, 9998]);
    }
    await store.keys.update(bot.keyId, { isSuspended: true });
    expect(await codeOf(await get("/v2/server"))).toEqual([403, 9998]);
    await store.keys.revoke(bot.keyId, gateway.clock.now);
    expect(await codeOf(await get("/v2/server"))).toEqual([403, 2002]);
  });
});

describe("reading", () => {
  test("/v2/server is the state with the sections that are asked for", async () => {
    expect(await readAs<object>(await get(`/v2/server?${ALL}`))).toEqual(INFO);
    expect(await readAs<object>(await get("/v2/server"))).toEqual(BASE_INFO);
    const some = await get("/v2/server?Players=true&Staff=false&Queue=true&New=true&Vehicles=1");
    const { Players, Queue } = ALL_SECTIONS_INFO;
    expect(await readAs<object>(some)).toEqual({ ...BASE_INFO, Players, Queue });
  });

  test("a kill without a killer has an empty one, here and on no other path", async () => {
    const kill = { Killed: "A:1", Timestamp: 1 };
    gateway.game.read = () => Response.json({ ...BASE_INFO, KillLogs: [kill] });
    const body = await readAs<{ KillLogs: object[] }>(await get("/v2/server?KillLogs=true"));
    expect(body.KillLogs).toEqual([{ ...kill, Killer: "" }]);
    expect(await readAs<object>(await get("/erlc/v1/server/killlogs"))).toEqual([{ ...kill, Killer: "" }]);
    const own = await gateway.gatehouse.get("/v2/game/server?KillLogs=true", bot.token);
    expect(await readAs<object>(own)).toEqual({ ...BASE_INFO, KillLogs: [kill] });
  });

  test("version 1 has its own shapes", async () => {
    const read = async (path: string) => readAs<unknown>(await get(`/erlc/v1/server${path}`));
    expect(await read("")).toEqual(BASE_INFO);
    expect(await read("/players")).toEqual([
      {
        Player: "PlayerName:123",
        Permission: "Server Administrator",
        Callsign: "5D-550",
        Team: "Sheriff",
      },
    ]);
    expect(await read("/staff")).toEqual({ CoOwners: [123], ...ALL_SECTIONS_INFO.Staff });
    expect(await read("/vehicles")).toEqual([{ Texture: null, Name: "Fire Engine", Owner: "Somebody" }]);
    for (const name of ["JoinLogs", "Queue", "KillLogs", "CommandLogs", "ModCalls"] as const) {
      expect(await read(`/${name.toLowerCase()}`)).toEqual(ALL_SECTIONS_INFO[name]);
    }
    expect(await codeOf(await get("/erlc/v1/server/bans"))).toEqual([404, 3001]);
    // One call for all of them.
    expect(gateway.game.calls.filter(({ headers }) => headers.get("server-key") === bot.serverKey)).toHaveLength(1);
  });

  test("a section that the key may not read is empty on /v2 and restricted on version 1", async () => {
    const sections = toSectionSet(["Queue"]);
    await gateway.gatehouse.app.store.keys.update(bot.keyId, { sections });
    const nothing = { Admins: {}, Mods: {}, Helpers: {} };
    const empty = Object.fromEntries(SECTIONS.map((name) => [name, name === "Staff" ? nothing : []]));
    const body = await readAs<object>(await get(`/v2/server?${ALL}`));
    expect(body).toEqual({ ...BASE_INFO, ...empty, Queue: ALL_SECTIONS_INFO.Queue });
    for (const path of V1_PATHS) {
      const answer = await get(`/erlc/v1/server/${path}`);
      if (path === "queue") expect(answer.status).toBe(200);
      else expect(await codeOf(answer)).toEqual([403, 9998]);
    }
    expect((await get("/erlc/v1/server")).status).toBe(200);
  });

  test("a key that changes while its read waits is judged again before the answer", async () => {
    const { keys } = gateway.gatehouse.app.store;
    async function readDuring(path: string, change: () => Promise<unknown>): Promise<Response> {
      const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { answer } = gateway.game;
      gateway.game.answer = async () => {
        asked.resolve();
        await gate.promise;
        return Response.json(INFO);
      };
      const reading = get(path);
      await asked.promise;
      await change();
      gate.resolve();
      const response = await reading;
      gateway.game.answer = answer;
      gateway.clock.advance(5_000);
      return response;
    }
    const narrow = () => keys.update(bot.keyId, { sections: toSectionSet(["Queue"]) });
    const narrowed = await readAs<object>(await readDuring("/v2/server?Players=true&Queue=true", narrow));
    expect(narrowed).toEqual({ ...BASE_INFO, Players: [], Queue: ALL_SECTIONS_INFO.Queue });
    const ended = await readDuring("/v2/server", () => keys.revoke(bot.keyId, gateway.clock.now));
    expect(limitOf(ended)).toEqual([null, null, null, null]);
    expect(await codeOf(ended)).toEqual([403, 2002]);
  });

  test("counts like any read: all four headers on every counted answer, 4001 beyond the limit, then a block", async () => {
    const reset = String(Math.ceil((gateway.clock.now + 60_000) / 1000));
    expect(limitOf(await get("/v2/server"))).toEqual(["120", "119", reset, "server"]);
    expect(limitOf(await get("/erlc/v1/server/bans"))).toEqual(["120", "118", reset, "server"]);
    await gateway.gatehouse.get("/v2/game/server", bot.token);
    gateway.game.read = refuses(3002, 422);
    gateway.clock.advance(5_000);
    const offline = await get("/erlc/v1/server/players");
    expect(limitOf(offline)).toEqual(["120", "116", reset, "server"]);
    expect(await codeOf(offline)).toEqual([422, 3002]);
    const { limits } = gateway.gatehouse.app.store;
    for (let i = 4; i < 120; i++) await limits.judge(bot, gateway.clock.now, true);
    const limited = await get("/v2/server");
    expect(limitOf(limited)).toEqual(["120", "0", reset, "server"]);
    expect(limited.headers.get("retry-after")).toBe("55");
    expect(limited.status).toBe(429);
    expect(await limited.json()).toEqual({
      code: 4001,
      message: expect.any(String),
      retry_after: 55,
      bucket: "server",
    });
    for (let i = 121; i < 520; i++) await limits.judge(bot, gateway.clock.now, true);
    for (const blocked of [await get("/v2/server"), await send({ command: ":h" })]) {
      expect(limitOf(blocked)).toEqual(["120", "0", String(Math.ceil((gateway.clock.now + 300_000) / 1000)), "server"]);
      expect(await blocked.json()).toMatchObject({ code: 4001, retry_after: 300, bucket: "server" });
    }
  });

  test("counts usage and refusals of the key by our own codes", async () => {
    await (await get("/v2/server?Players=true")).text();
    gateway.game.reply = refuses(3001);
    await (await send({ command: ":nonsense" })).text();
    await (await send({})).text();
    const { usage } = await createOperator(gateway.gatehouse).showKey({ key_id: bot.keyId });
    expect(usage).toMatchObject({ requests: 3, refusals: { 5019: 1, 5005: 1 } });
  });

  const outcomes: [name: string, answer: () => Response, status: number, code: number][] = [
    ["offline", refuses(3002, 422), 422, 3002],
    ["our key refused", refuses(2002, 403), 500, 1002],
    ["our key banned", refuses(2004, 403), 500, 1002],
    ["no way to the game", refuses(1001, 500), 500, 1001],
    ["restricted", refuses(9998, 403), 403, 9998],
    ["an outdated module", refuses(9999, 400), 403, 9999],
    ["no sense", () => new Response("<html>", { status: 502 }), 500, 0],
  ];
  test.each(outcomes)("of the game API's errors: %s", async (_, answer, status, code) => {
    gateway.game.read = answer;
    expect(await codeOf(await get("/v2/server"))).toEqual([status, code]);
    expect(await codeOf(await get("/erlc/v1/server/players"))).toEqual([status, code]);
  });

  test("a limit of the game API is 4001 with the time it named", async () => {
    gateway.game.read = refuses(4001, 429, { retry_after: 7 });
    const answer = await get("/v2/server");
    expect(answer.headers.get("retry-after")).toBe("7");
    expect(limitOf(answer)[1]).toBe("0");
    expect(await answer.json()).toMatchObject({ code: 4001, retry_after: 7, bucket: "server" });
    gateway.clock.advance(10_000);
  });

  test("a store that cannot be read is 1002, and so is a mistake of our own", async () => {
    const { limits } = gateway.gatehouse.app.store;
    for (const error of [new StoreUnavailable("gone"), new TypeError("a bug")]) {
      limits.judge = () => {
        throw error;
      };
      expect(await codeOf(await get("/v2/server"))).toEqual([500, 1002]);
    }
    delete (limits as Partial<typeof limits>).judge;
    expect((await get("/v2/server")).status).toBe(200);
  });

  test("takes HEAD, If-None-Match and gzip as our own paths do", async () => {
    const head = await get("/v2/server", { "server-key": key }, "HEAD");
    expect([head.status, await head.text(), limitOf(head)[1]]).toEqual([200, "", "119"]);
    const etag = (await get(`/v2/server?${ALL}`)).headers.get("etag") ?? "";
    const same = await get(`/v2/server?${ALL}`, { "server-key": key, "If-None-Match": etag });
    expect(same.status).toBe(304);
    const packed = await get(`/v2/server?${ALL}`, { "server-key": key, "Accept-Encoding": "gzip" });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
  });

  test("tolerates a body on GET, also on a connection that is used again", async () => {
    const { port } = new URL(gateway.gatehouse.url);
    const socket = await openSocket({ port: Number(port) });
    const headers = ["Host: localhost", `server-key: ${key}`, "Content-Type: application/json", "Content-Length: 2"];
    for (const path of ["/erlc/v1/server/players", "/v2/server"]) {
      socket.write(`GET ${path} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n{}`);
      expect((await socket.readAnswer())?.status).toBe(200);
    }
    socket.destroy();
  });

  test("unknown paths and methods are answered as ours, and /v1 stays switched off", async () => {
    for (const path of ["/v2/server/", "/v2/server/players", "/erlc/v1", "/erlc/v1/server/other", "/erlc/v2/server"]) {
      expect(await codeOf(await get(path))).toEqual([404, 5020]);
    }
    const posted = await get("/v2/server", { "server-key": key }, "POST");
    expect(posted.headers.get("allow")).toBe("GET, HEAD");
    expect(await codeOf(posted)).toEqual([405, 5101]);
    expect(await codeOf(await get("/v2/server/command"))).toEqual([405, 5101]);
    for (const path of ["/v1/server", "/v1/server/players", "/v1/server/bans"]) {
      expect(await codeOf(await get(path))).toEqual([500, 5018]);
    }
  });

  test("pages of allowed origins may send the key", async () => {
    const answer = await fetch(`${gateway.gatehouse.url}/v2/server`, {
      method: "OPTIONS",
      headers: { Origin: "https://panel.example", "Access-Control-Request-Method": "GET" },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-headers")).toContain("Server-Key");
  });
});
