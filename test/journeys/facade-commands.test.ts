// Commands through the façade: what callers are told, what is the same command, and what is refused before it is queued.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ErlcClient } from "erlc-api";
import { pauseUntilWoken } from "../../src/app/wire-gateway.ts";
import { facadeKeyOf } from "../../src/core/facade/facade-key.ts";
import type { SleepUntilWoken } from "../../src/core/ports/clock.ts";
import { ASK_WITHIN_MS } from "../../src/http/facade/facade-handlers.ts";
import { BASE_INFO } from "../fake-game-api.ts";
import { until } from "../until.ts";
import { addBot, type Bot, type CommandGateway, refuses, startCommandGateway, takes } from "./commander.ts";
import { codeOf, createFacadeClient, type FacadeClient, limitOf } from "./facade-client.ts";
import { readAs } from "./operator.ts";

/** The deadline of a caller passes at once, and the store is never polled. */
const NO_PATIENCE: SleepUntilWoken = (ms) => (ms > 1_000 ? Promise.resolve() : new Promise(() => {}));

let wait: SleepUntilWoken = pauseUntilWoken;
let gateway: CommandGateway;
let bot: Bot;
let facade: FacadeClient;
let key: string;

beforeAll(async () => {
  gateway = await startCommandGateway({ waitForCommands: (ms, wake) => wait(ms, wake) });
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  wait = pauseUntilWoken;
  gateway.game.reply = takes;
  gateway.game.read = () => Response.json(BASE_INFO);
  bot = await addBot(gateway);
  facade = createFacadeClient(gateway.gatehouse, bot);
  ({ key } = facade);
});

const get: FacadeClient["get"] = (...request) => facade.get(...request);
const send: FacadeClient["send"] = (...request) => facade.send(...request);

type Success = { readonly message: string; readonly commandId: string; readonly queued?: true };

/** The id of a command that the game has got. */
async function sentIdOf(response: Response): Promise<string> {
  const body = await readAs<Success>(response);
  expect(body).toEqual({ message: "Success", commandId: body.commandId });
  return body.commandId;
}

/** The id of a command that the game has not got yet. */
async function queuedIdOf(response: Response): Promise<string> {
  const body = await readAs<Success>(response);
  expect(body).toEqual({ message: "Success", commandId: body.commandId, queued: true });
  return body.commandId;
}

/** The body of the answer about a command of which nobody knows whether it ran. */
async function readLost(response: Response): Promise<object> {
  expect(response.status).toBe(422);
  const body = (await response.json()) as object;
  expect(body).toEqual({ code: 1001, message: expect.any(String), commandId: expect.any(String) });
  return body;
}

/** The id of a command that waits for its turn. */
async function queueOne(command: string): Promise<string> {
  wait = NO_PATIENCE;
  return await queuedIdOf(await send({ command }));
}

/** The texts of all commands that were ever queued for the bot's server. */
async function listCommands(): Promise<string[]> {
  const { commands } = gateway.gatehouse.app.store;
  return (await commands.list({ serverId: bot.serverId, limit: 200 })).items.map(({ text }) => text);
}

describe("a command", () => {
  test.each(["/v2/server/command", "/erlc/v1/server/command"])(
    "through %s is in the same queue, does not count, and is answered when it was sent",
    async (path) => {
      const commandId = await sentIdOf(await send({ command: "  :h hello " }, path));
      expect(bot.got()).toEqual([":h hello"]);
      expect(await bot.show(commandId)).toMatchObject({
        status: "sent",
        command: ":h hello",
        key_id: bot.keyId,
      });
      expect(limitOf(await get("/v2/server"))[1]).toBe("118");
    },
  );

  test("may have its field with a capital, as Erlc.Net writes it", async () => {
    await sentIdOf(await send({ Command: ":h hello" }));
    expect(await codeOf(await send({ Command: ":h", command: "" }))).toEqual([400, 3001]);
    expect(bot.got()).toEqual([":h hello"]);
  });

  test("that still waits when the caller has to be answered says so, and may be refused later", async () => {
    expect(await sentIdOf(await send({ command: ":h first" }))).toBeString();
    wait = NO_PATIENCE;
    const commandId = await queuedIdOf(await send({ command: ":h second" }));
    expect((await bot.show(commandId)).status).toBe("queued");
    expect(await queuedIdOf(await send({ command: ":h second" }))).toBe(commandId);
    gateway.game.reply = refuses(3001);
    await gateway.pass(5_000);
    expect(await bot.show(commandId)).toMatchObject({ status: "failed", upstream_code: 3001 });
  });

  test("that still waits is a success for erlc-api, which tells its caller that it is queued", async () => {
    await sentIdOf(await send({ command: ":h first" }));
    wait = NO_PATIENCE;
    const client = new ErlcClient({ serverKey: key, baseUrl: gateway.gatehouse.url, maxRetries: 0 });
    const answer = await client.commands.execute(":h second");
    expect(answer).toMatchObject({ message: "Success", commandId: expect.any(String), queued: true });
    expect(bot.got()).toEqual([":h first"]);
  });

  test("that the game refuses has the game's code", async () => {
    gateway.game.reply = refuses(3002, 422);
    expect(await codeOf(await send({ command: ":h" }))).toEqual([422, 3002]);
    await gateway.pass(5_000);
    gateway.game.reply = refuses(4002, 400);
    expect(await codeOf(await send({ command: ":h" }))).toEqual([403, 4002]);
  });

  test.each([
    ["an answer without sense", () => new Response("Success")],
    ["code 1001", refuses(1001, 500)],
    ["a page of a proxy", () => new Response("<html>", { status: 502 })],
  ])("whose outcome is unknown after %s is 422, and its repetition is the same command", async (_, reply) => {
    gateway.game.reply = reply;
    const bodies: object[] = [];
    for (let i = 0; i < 3; i++) {
      const answer = await send({ command: ":kick somebody" });
      expect(answer.status).toBe(422);
      bodies.push((await answer.json()) as object);
      gateway.clock.advance(60_000);
    }
    expect(bodies[0]).toEqual({ code: 1001, message: expect.any(String), commandId: expect.any(String) });
    expect(bodies[2]).toEqual(bodies[0] ?? {});
    expect(bot.got()).toEqual([":kick somebody"]);
  });

  test("with the same text is the same command for 10 s after it was sent", async () => {
    const first = await sentIdOf(await send({ command: ":h" }));
    const again = await Promise.all([send({ command: " :h " }), send({ command: ":h" }, "/erlc/v1/server/command")]);
    expect(await Promise.all(again.map(sentIdOf))).toEqual([first, first]);
    await gateway.pass(9_999);
    expect(await sentIdOf(await send({ command: ":h" }))).toBe(first);
    await gateway.pass(1);
    expect(await sentIdOf(await send({ command: ":h" }))).not.toBe(first);
    expect(bot.got()).toEqual([":h", ":h"]);
  });

  test("with a bad body is 3001 and never reaches the game", async () => {
    const bodies = ["", "{", "[]", "{}", '{"command":5}', '{"command":" "}', '{"command":"a\\nb"}'];
    bodies.push(JSON.stringify({ command: "x".repeat(1_001) }), JSON.stringify({ command: "x".repeat(9_000) }));
    for (const body of bodies) expect(await codeOf(await send(body))).toEqual([400, 3001]);
    const large = await send({ command: "x".repeat(9_000) });
    expect(large.headers.get("connection")).toBe("close");
    const untyped = await fetch(`${gateway.gatehouse.url}/v2/server/command`, {
      method: "POST",
      headers: { "server-key": key, "Content-Type": "text/plain" },
      body: '{"command":":h"}',
    });
    expect(await codeOf(untyped)).toEqual([400, 3001]);
    expect(bot.got()).toEqual([]);
  });

  test("that the key may not send is restricted", async () => {
    await gateway.gatehouse.app.store.keys.update(bot.keyId, { commands: [":m"] });
    expect(await codeOf(await send({ command: ":h" }))).toEqual([403, 9998]);
    await sentIdOf(await send({ command: ":M hi" }));
    await gateway.gatehouse.app.store.keys.update(bot.keyId, { commands: [] });
    expect(await codeOf(await send({ command: ":m" }))).toEqual([403, 9998]);
    expect(bot.got()).toEqual([":M hi"]);
  });

  test("for a server that a read has found offline is 3002 at once and not queued, and our own API takes it", async () => {
    gateway.game.read = refuses(3002, 422);
    expect(await codeOf(await get("/v2/server"))).toEqual([422, 3002]);
    wait = () => new Promise(() => {});
    const answer = await send({ command: ":h" });
    expect(answer.headers.get("retry-after")).toBe("2");
    expect(await codeOf(answer)).toEqual([422, 3002]);
    expect(await listCommands()).toEqual([]);
    expect(await codeOf(await send({ command: "" }))).toEqual([400, 3001]);
    await bot.accept(":h");
    await gateway.settle();
    expect(bot.got()).toEqual([":h"]);
  });

  test("that the game refuses because the server is offline keeps the next one from being queued", async () => {
    gateway.game.reply = refuses(3002, 422);
    gateway.game.read = refuses(3002, 422);
    expect(await codeOf(await send({ command: ":h first" }))).toEqual([422, 3002]);
    for (const afterMs of [1, 1_998, 1_000, 2_000]) {
      gateway.clock.advance(afterMs);
      expect(await codeOf(await send({ command: `:h ${afterMs}` }))).toEqual([422, 3002]);
    }
    expect(bot.got()).toEqual([":h first"]);
    expect(await listCommands()).toEqual([":h first"]);
  });

  test("for a server that came online is sent, although nobody has read the server since", async () => {
    gateway.game.read = refuses(3002, 422);
    expect(await codeOf(await get("/v2/server"))).toEqual([422, 3002]);
    gateway.game.read = () => Response.json(BASE_INFO);
    gateway.clock.advance(2_000);
    await sentIdOf(await send({ command: ":h" }));
    expect(bot.got()).toEqual([":h"]);
  });

  test("is queued when the game API takes too long to say whether the server is still offline", async () => {
    gateway.game.read = refuses(3002, 422);
    await get("/v2/server");
    const held = Promise.withResolvers<Response>();
    gateway.game.read = () => held.promise;
    gateway.clock.advance(2_000);
    wait = (ms, wake) => (ms === ASK_WITHIN_MS ? Promise.resolve() : pauseUntilWoken(ms, wake));
    await sentIdOf(await send({ command: ":h" }));
    held.resolve(Response.json(BASE_INFO));
  });

  test("of a key that was revoked while the game API was asked is refused and not queued", async () => {
    gateway.game.read = refuses(3002, 422);
    await get("/v2/server");
    gateway.clock.advance(2_000);
    gateway.game.read = async () => {
      await gateway.gatehouse.app.store.keys.revoke(bot.keyId, gateway.clock.now);
      return Response.json(BASE_INFO);
    };
    expect(await codeOf(await send({ command: ":h" }))).toEqual([403, 2002]);
    expect(await listCommands()).toEqual([]);
  });

  test("with a refused server key is 1002 at once and not queued, until the key is replaced", async () => {
    gateway.game.reply = refuses(2002, 403);
    expect(await codeOf(await send({ command: ":h first" }))).toEqual([500, 1002]);
    gateway.game.reply = takes;
    gateway.clock.advance(600_000);
    expect(await codeOf(await send({ command: ":h second" }))).toEqual([500, 1002]);
    expect(await listCommands()).toEqual([":h first"]);
    const path = `/admin/servers/${bot.serverId}`;
    await gateway.gatehouse.admin("PATCH", path, { server_key: bot.serverKey });
    await sentIdOf(await send({ command: ":h third" }));
    expect(bot.got()).toEqual([":h first", ":h third"]);
  });

  test("that is sent again is the same command, also when the server is known to be offline by now", async () => {
    gateway.game.reply = () => new Response("no sense");
    const lost = await readLost(await send({ command: ":kick somebody" }));
    const first = await queueOne(":h waits");
    gateway.game.read = refuses(3002, 422);
    expect(await codeOf(await get("/v2/server"))).toEqual([422, 3002]);
    expect(await readLost(await send({ command: ":kick somebody" }))).toEqual(lost);
    expect(await queuedIdOf(await send({ command: ":h waits" }))).toBe(first);
    expect(await codeOf(await send({ command: ":h new" }))).toEqual([422, 3002]);
    expect(bot.got()).toEqual([":kick somebody"]);
  });

  test("that one key too many waits for is queued and answered at once, and runs once", async () => {
    await sentIdOf(await send({ command: ":h first" }));
    wait = (_, wake) => new Promise((resolve) => wake.addEventListener("abort", () => resolve()));
    const waiting = Array.from({ length: 20 }, () => send({ command: ":h second" }));
    await until("the callers do not wait", async () => {
      const metrics = await (await gateway.gatehouse.admin("GET", "/metrics")).text();
      return metrics.includes('gatehouse_size{of="awaited_commands"} 20\n');
    });
    const second = await queuedIdOf(await send({ command: ":h second" }));
    const third = await queuedIdOf(await send({ command: ":h third" }));
    // Another key of the same server still waits for its own.
    const other = await gateway.gatehouse.addKey(bot.home, { commands: ["*"] });
    const otherKey = facadeKeyOf(other.token, bot.serverId);
    waiting.push(send({ command: ":h second" }, undefined, otherKey));
    for (let i = 0; i < 3; i++) await gateway.pass(5_000);
    const ids = await Promise.all(waiting.map(async (answer) => sentIdOf(await answer)));
    expect(new Set(ids.slice(0, 20))).toEqual(new Set([second]));
    expect((await bot.show(third)).status).toBe("sent");
    expect(bot.got().toSorted()).toEqual([":h first", ":h second", ":h second", ":h third"]);
  });

  test("for a full queue is 4001, but the repetition of one that waits is not", async () => {
    await sentIdOf(await send({ command: ":h first" }));
    for (let i = 0; i < 100; i++) await bot.accept(`:h ${i}`);
    const full = await send({ command: ":h more" });
    expect(limitOf(full)[1]).toBe("0");
    expect(full.headers.get("retry-after")).toBe("5");
    expect(await codeOf(full)).toEqual([429, 4001]);
    wait = NO_PATIENCE;
    await queuedIdOf(await send({ command: ":h 7" }));
  });

  test("that waits for a deleted server is answered as an error of ours", async () => {
    await sentIdOf(await send({ command: ":h first" }));
    const waiting = send({ command: ":h second" });
    const { commands } = gateway.gatehouse.app.store;
    await until("the command is not accepted", async () => {
      return (await commands.list({ serverId: bot.serverId, status: "queued", limit: 1 })).items.length === 1;
    });
    await gateway.gatehouse.admin("DELETE", `/admin/servers/${bot.serverId}`);
    expect(await codeOf(await waiting)).toEqual([500, 1002]);
    expect(await codeOf(await send({ command: ":h" }))).toEqual([403, 2002]);
  });
});
