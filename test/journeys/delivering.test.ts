// The delivery of accepted commands: order, interval, every answer of the game API and every lost answer. No accepted command
// is lost, and none is sent twice.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type AddressInfo, createServer } from "node:net";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { BASE_INFO } from "../fake-game-api.ts";
import { until } from "../until.ts";
import {
  addBot,
  type Bot,
  COMMANDS,
  type CommandBody,
  type CommandGateway,
  refuses,
  startCommandGateway,
  startGame,
  takes,
} from "./commander.ts";
import { type PageBody, readAs } from "./operator.ts";

const MINUTE = 60_000;
let gateway: CommandGateway;
let bot: Bot;

beforeAll(async () => {
  gateway = await startCommandGateway();
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  gateway.game.reply = takes;
  gateway.game.read = () => Response.json(BASE_INFO);
  bot = await addBot(gateway);
});

/** Rate-limit headers by the test's clock. */
function limitHeaders(remaining: number, resetInSeconds: number): Record<string, string> {
  const { now } = gateway.clock;
  return {
    date: new Date(now).toUTCString(),
    "x-ratelimit-bucket": `command-${bot.serverKey}`,
    "x-ratelimit-limit": "1",
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(now / 1000 + resetInSeconds),
  };
}

describe("order and pace", () => {
  test("first in, first out, one every 5 s to the millisecond", async () => {
    const texts = [":h 1", ":h 2", ":h 3"];
    await bot.acceptAll(texts);
    await gateway.settle();
    expect(bot.got()).toEqual(texts.slice(0, 1));
    await gateway.pass(4_999);
    expect(bot.got()).toEqual(texts.slice(0, 1));
    await gateway.pass(1);
    expect(bot.got()).toEqual(texts.slice(0, 2));
    await gateway.pass(5_000);
    expect(bot.got()).toEqual(texts);
  });

  test("the pace holds for a command that comes after the queue was empty", async () => {
    await bot.acceptAll([":h 1"]);
    await gateway.pass(3_000);
    await bot.acceptAll([":h 2"]);
    await gateway.pass(1_999);
    expect(bot.got()).toEqual([":h 1"]);
    await gateway.pass(1);
    expect(bot.got()).toEqual([":h 1", ":h 2"]);
  });

  test("servers have paces of their own", async () => {
    const other = await addBot(gateway);
    await bot.acceptAll([":h 1"]);
    await other.acceptAll([":h 2"]);
    await gateway.settle();
    expect([bot.got(), other.got()]).toEqual([[":h 1"], [":h 2"]]);
  });

  test("slower when the game API's headers say that the window is used up", async () => {
    gateway.game.reply = () => Response.json({ message: "Success" }, { headers: limitHeaders(0, 30) });
    await bot.acceptAll([":h 1", ":h 2"]);
    await gateway.pass(29_999);
    expect(bot.got()).toEqual([":h 1"]);
    await gateway.pass(1);
    expect(bot.got()).toEqual([":h 1", ":h 2"]);
  });

  test.each([
    ["refused", 3001, 400],
    ["lost", 1001, 500],
  ])("slower when the headers of one that was %s say so", async (_, code, status) => {
    gateway.game.reply = () => Response.json({ code }, { status, headers: limitHeaders(0, 30) });
    await bot.acceptAll([":h 1", ":h 2"]);
    await gateway.pass(29_999);
    expect(bot.got()).toEqual([":h 1"]);
    await gateway.pass(1);
    expect(bot.got()).toEqual([":h 1", ":h 2"]);
  });

  test("not slower while the headers leave calls, and never faster than our own pace", async () => {
    gateway.game.reply = () => Response.json({ message: "Success" }, { headers: limitHeaders(3, 30) });
    await bot.acceptAll([":h 1", ":h 2", ":h 3"]);
    await gateway.pass(5_000);
    expect(bot.got()).toEqual([":h 1", ":h 2"]);
    gateway.game.reply = () => Response.json({ message: "Success" }, { headers: limitHeaders(0, 1) });
    await gateway.pass(4_999);
    expect(bot.got()).toHaveLength(2);
    await gateway.pass(1);
    expect(bot.got()).toHaveLength(3);
  });

  test("at most 64 are being sent at once, for all servers; the others follow", async () => {
    const own = await startCommandGateway();
    const { promise, resolve } = Promise.withResolvers<void>();
    own.game.reply = () => promise.then(takes);
    const testers = await Promise.all(Array.from({ length: 70 }, () => addBot(own)));
    const ids = (await Promise.all(testers.map((one) => one.acceptAll([":h"])))).flat();
    // Each command is either being sent or held; all that are being sent have arrived.
    await until("some are nowhere", () => own.game.got.length + own.clock.held >= 70);
    const sentAtOnce = own.game.got.length;
    resolve();
    // A worker counts as sending until it has recorded the hold too, which comes after the result.
    await until("the others do not follow", async () => {
      await own.pass(100);
      return own.game.got.length === 70;
    });
    await own.settle();
    expect(sentAtOnce).toBe(64);
    expect(new Set(await testers[0]?.statuses(ids))).toEqual(new Set(["sent"]));
    expect(own.game.got).toHaveLength(70);
    await own.stop();
  });

  test("GATEHOUSE_COMMAND_INTERVAL_MS sets the pace", async () => {
    const fast = await startCommandGateway({ env: { GATEHOUSE_COMMAND_INTERVAL_MS: "250" } });
    const tester = await addBot(fast);
    await tester.acceptAll([":h 1", ":h 2"]);
    await fast.pass(249);
    expect(tester.got()).toHaveLength(1);
    await fast.pass(1);
    expect(tester.got()).toHaveLength(2);
    await fast.stop();
  });
});

describe("a refusal for asking too often", () => {
  test("leaves the command at the head until the time that was named, then it goes first", async () => {
    gateway.game.reply = refuses(4001, 429, { retry_after: 12 });
    const ids = await bot.acceptAll([":h 1", ":h 2"]);
    await gateway.settle();
    expect(await bot.show(ids[0] ?? "")).toMatchObject({
      status: "queued",
      position: 1,
      sent_at: null,
      finished_at: null,
      upstream_code: null,
    });
    expect(await bot.show(ids[1] ?? "")).toMatchObject({ status: "queued", position: 2 });
    gateway.game.reply = takes;
    await gateway.pass(11_999);
    expect(bot.got()).toEqual([":h 1"]);
    await gateway.pass(1);
    await gateway.pass(5_000);
    expect(bot.got()).toEqual([":h 1", ":h 1", ":h 2"]);
    expect(await bot.statuses(ids)).toEqual(["sent", "sent"]);
  });

  test.each<[string, (headers: Record<string, string>) => Response]>([
    ["a code without the status", () => Response.json({ code: 4001, message: "slow" }, { status: 403 })],
    ["the status without a code", () => new Response("slow down", { status: 429 })],
    ["the header", () => Response.json({}, { status: 429, headers: { "retry-after": "5" } })],
    ["the window's end", (headers) => Response.json({ code: 4001 }, { status: 429, headers })],
  ])("is known by %s", async (_, answer) => {
    const [id = ""] = await bot.acceptAll([":h"]);
    await gateway.settle();
    const [again = ""] = await bot.acceptAll([":h again"]);
    const headers = limitHeaders(0, 10);
    gateway.game.reply = () => answer(headers);
    await gateway.pass(5_000);
    expect(await bot.statuses([id, again])).toEqual(["sent", "queued"]);
    gateway.game.reply = takes;
    await gateway.pass(10_000);
    expect(await bot.statuses([again])).toEqual(["sent"]);
  });

  test("without a time: 5 s doubling to 60 s", async () => {
    gateway.game.reply = refuses(4001, 429);
    await bot.acceptAll([":h"]);
    await gateway.settle();
    for (const seconds of [5, 10, 20, 40, 60, 60]) {
      const before = bot.got().length;
      await gateway.pass(seconds * 1000 - 1);
      expect(bot.got()).toHaveLength(before);
      await gateway.pass(1);
      expect(bot.got()).toHaveLength(before + 1);
    }
  });

  test("brings the command back to a full queue before the hundred that came meanwhile; none is dropped", async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    gateway.game.reply = () => promise;
    const ids = await bot.acceptAll([":h first"]);
    await until("the game got nothing", () => bot.got().length === 1);
    for (let i = 1; i <= 100; i++) ids.push(...(await bot.acceptAll([`:h ${i}`])));
    resolve(refuses(4001, 429, { retry_after: 10 })());
    await gateway.settle();
    expect(new Set(await bot.statuses(ids))).toEqual(new Set(["queued"]));
    expect((await bot.show(ids[0] ?? "")).position).toBe(1);
    expect((await bot.submit(":h more")).status).toBe(429);
    gateway.game.reply = takes;
    await gateway.pass(10_000);
    expect(await bot.statuses(ids.slice(0, 2))).toEqual(["sent", "queued"]);
    expect((await bot.submit(":h more")).status).toBe(429);
  });

  test("does not stop reads: commands have a limit of their own", async () => {
    gateway.game.reply = refuses(4001, 429, { retry_after: 60 });
    await bot.acceptAll([":h"]);
    await gateway.settle();
    const response = await bot.read();
    expect([response.status, response.headers.get("x-cache")]).toEqual([200, "miss"]);
  });
});

describe("a refusal with a code", () => {
  test.each([
    [3001, 400],
    [3002, 422],
    [4000, 403],
    [4002, 403],
    [4003, 403],
    [9998, 403],
  ])("%d ends the command as failed with its code and message, and the next one is sent", async (code, status) => {
    gateway.game.reply = refuses(code, status);
    const ids = await bot.acceptAll([":h 1", ":h 2"]);
    const { now } = gateway.clock;
    await gateway.settle();
    expect(await bot.show(ids[0] ?? "")).toMatchObject({
      status: "failed",
      sent_at: now,
      finished_at: now,
      upstream_code: code,
      upstream_message: `code ${code}`,
    });
    gateway.game.reply = takes;
    await gateway.pass(5_000);
    expect(bot.got()).toEqual([":h 1", ":h 2"]);
    expect(await bot.statuses(ids)).toEqual(["failed", "sent"]);
  });

  test("the other forms of an error are understood as well", async () => {
    gateway.game.reply = () => Response.json({ error: "not a command", code: 3001 }, { status: 400 });
    const [id = ""] = await bot.acceptAll([":x"]);
    await gateway.settle();
    expect(await bot.show(id)).toMatchObject({ upstream_code: 3001, upstream_message: "not a command" });
  });

  test("a message never holds the server's key", async () => {
    const message = `key ${bot.serverKey} must not\u0000 ${"x".repeat(600)}`;
    gateway.game.reply = () => Response.json({ code: 4000, message }, { status: 403 });
    const [id = ""] = await bot.acceptAll([":h"]);
    await gateway.settle();
    const shown = (await bot.show(id)).upstream_message ?? "";
    expect(shown).not.toContain(bot.serverKey);
    expect(shown).not.toContain("\0");
    expect(Array.from(shown).length).toBeLessThanOrEqual(500);
  });

  test("a limit puts it back into its place, whatever code comes with it", async () => {
    gateway.game.reply = refuses(1001, 429);
    const ids = await bot.acceptAll([":h"]);
    await gateway.settle();
    expect(await bot.statuses(ids)).toEqual(["queued"]);
    gateway.game.reply = takes;
    await gateway.pass(MINUTE);
    expect(await bot.statuses(ids)).toEqual(["sent"]);
    expect(bot.got()).toEqual([":h", ":h"]);
  });

  test.each([
    [1001, 500],
    [1002, 500],
    [1001, 200],
    [1002, 200],
  ])("%d with status %d makes it unknown, and it is never sent again", async (code, status) => {
    gateway.game.reply = refuses(code, status);
    const ids = await bot.acceptAll([":h"]);
    await gateway.settle();
    gateway.game.reply = takes;
    await gateway.pass(10 * MINUTE);
    expect(bot.got()).toEqual([":h"]);
    expect(await bot.statuses(ids)).toEqual(["unknown"]);
  });
});

describe("a bad server key", () => {
  test.each([2000, 2001, 2002, 2003, 2004])(
    "%d fails every waiting command, is the answer to reads without a call, and ends when the key is set again",
    async (code) => {
      gateway.game.reply = refuses(code, 403);
      const ids = await bot.acceptAll([":h 1", ":h 2"]);
      await gateway.pass(5_000);
      expect(await bot.statuses(ids)).toEqual(["failed", "failed"]);
      expect((await bot.show(ids[1] ?? "")).upstream_code).toBe(code);
      expect(bot.got()).toEqual([":h 1"]);

      const calls = gateway.game.calls.length;
      const read = await bot.read();
      expect(await read.json()).toMatchObject({ code: 5019, upstream_code: code });
      expect(gateway.game.calls).toHaveLength(calls);

      gateway.game.reply = takes;
      const { serverId } = bot.home;
      const change = { server_key: bot.serverKey };
      await readAs(await gateway.gatehouse.admin("PATCH", `/admin/servers/${serverId}`, change));
      const again = await bot.acceptAll([":h 3"]);
      await gateway.pass(5_000);
      expect(await bot.statuses(again)).toEqual(["sent"]);
      expect((await bot.read()).status).toBe(200);
    },
  );

  test("that a read has met fails all commands that wait, at once and without a call", async () => {
    gateway.game.read = refuses(2002, 403);
    expect(await (await bot.read()).json()).toMatchObject({ upstream_code: 2002 });
    const ids = await bot.acceptAll([":h 1", ":h 2", ":h 3"]);
    await gateway.settle();
    expect(await bot.statuses(ids)).toEqual(["failed", "failed", "failed"]);
    expect(await bot.show(ids[2] ?? "")).toMatchObject({ upstream_code: 2002 });
    expect(bot.got()).toEqual([]);
  });

  test("2003 with a global key fails the commands of every server", async () => {
    const own = await startCommandGateway({ env: { GATEHOUSE_UPSTREAM_GLOBAL_KEY: "global-key" } });
    const [one, two] = [await addBot(own), await addBot(own)];
    own.game.reply = refuses(2003, 403);
    const ids = [...(await one.acceptAll([":h"]))];
    await own.settle();
    ids.push(...(await two.acceptAll([":h"])));
    await own.settle();
    expect(await one.statuses(ids)).toEqual(["failed", "failed"]);
    expect(own.game.got).toHaveLength(1);
    await own.stop();
  });
});

describe("a game API that cannot be reached", () => {
  test("a refused connection leaves the command in its place; it is sent when there is one again", async () => {
    const own = await startCommandGateway();
    const tester = await addBot(own);
    const { port } = new URL(own.game.url);
    await own.game.stop();
    const ids = await tester.acceptAll([":h 1", ":h 2"]);
    await own.settle();
    await own.pass(5_000);
    expect(await tester.show(ids[0] ?? "")).toMatchObject({ status: "queued", position: 1, sent_at: null });
    const game = startGame(own.clock, Number(port));
    await own.pass(5_000);
    await own.pass(5_000);
    expect(game.got.map(({ text }) => text)).toEqual([":h 1", ":h 2"]);
    expect(await tester.statuses(ids)).toEqual(["sent", "sent"]);
    await own.gatehouse.stop();
    await game.stop();
  });

  test("one that stays away until the command's time is up leaves it expired, and never sends it", async () => {
    const own = await startCommandGateway({ env: { GATEHOUSE_COMMAND_TTL_MS: "30000" } });
    const tester = await addBot(own);
    const { port } = new URL(own.game.url);
    await own.game.stop();
    const ids = await tester.acceptAll([":h"]);
    for (let i = 0; i < 30; i++) await own.pass(1_001);
    expect(await tester.statuses(ids)).toEqual(["expired"]);
    const game = startGame(own.clock, Number(port));
    await own.pass(2 * MINUTE);
    expect(game.got).toEqual([]);
    await own.gatehouse.stop();
    await game.stop();
  });
});

describe("an answer that is lost", () => {
  let simulator: Simulator;
  let simulated: CommandGateway;

  beforeAll(async () => {
    simulator = await startSimulator({ readLimit: 0, commandIntervalMs: 0 });
    const env = { GATEHOUSE_UPSTREAM_TIMEOUT_MS: "2000" };
    simulated = await startCommandGateway({ upstreamUrl: simulator.url, env });
  });
  afterAll(async () => {
    await simulated.stop();
    await simulator.stop();
  });

  test.each<[string, Record<string, unknown>]>([
    ["hang", {}],
    ["hang", { acts: true }],
    ["reset", {}],
    ["reset", { acts: true }],
    ["truncated", {}],
    ["html-502", {}],
    ["not-json", {}],
    ["slow", { ms: 5_000 }],
    ["drip", { ms: 200 }],
    ["huge", { bytes: 6_000_000 }],
    ["redirect", { to: "http://127.0.0.1:9/" }],
    ["code", { code: 0, status: 500 }],
  ])("%s %j makes the command unknown, and it is never sent again", async (kind, parameters) => {
    const tester = await addBot(simulated);
    const [, server] = tester.serverKey.split("-");
    simulator.arm({ kind, ...parameters, target: "commands", server, times: 1 });
    const ids = await tester.acceptAll([":h lost", ":h next"]);
    await simulated.settle();
    const lost = await tester.show(ids[0] ?? "");
    expect(lost).toMatchObject({ status: "unknown", position: null, upstream_code: null });
    expect(lost.upstream_message).not.toBe("");
    expect(lost.sent_at).toBe(simulated.clock.now);
    await simulated.pass(5_000);
    await simulated.pass(20 * MINUTE);
    expect(await tester.statuses(ids)).toEqual(["unknown", "sent"]);
    const calls = simulator.calls().calls.filter((call) => call.server === server);
    expect(calls.map(({ command }) => command)).toEqual([":h lost", ":h next"]);
  });

  test.each(["reset", "closed"])(
    "a kept connection that is %s under a command does not have it sent twice",
    async (way) => {
      const got: string[] = [];
      // Answers the first command and keeps the connection open; closes it when the next bytes arrive.
      const answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
      const server = createServer((socket) => {
        let text = "";
        socket.on("error", () => {});
        socket.on("data", (chunk) => {
          text += chunk.toString();
          const command = /"command":"([^"]+)"}/.exec(text)?.[1];
          if (command === undefined) return;
          text = "";
          got.push(command);
          if (got.length === 1) socket.write(answer);
          else if (way === "reset") socket.resetAndDestroy();
          else socket.end();
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const own = await startCommandGateway({ upstreamUrl: `http://127.0.0.1:${port}` });
      const tester = await addBot(own);
      const ids = await tester.acceptAll([":h 1", ":h 2"]);
      await own.pass(5_000);
      await own.pass(MINUTE);
      expect(await tester.statuses(ids)).toEqual(["sent", "unknown"]);
      expect(got).toEqual([":h 1", ":h 2"]);
      await own.stop();
      await new Promise((resolve) => server.close(resolve));
    },
  );

  test("a connection that is refused is no loss: the simulator gets it once it listens again", async () => {
    const tester = await addBot(simulated);
    simulator.arm({ kind: "refused", seconds: 60 });
    await until("the simulator does not refuse", async () => {
      return await fetch(`${simulator.url}/_calls`).then(
        () => false,
        () => true,
      );
    });
    const ids = await tester.acceptAll([":h later"]);
    await simulated.settle();
    expect(await tester.statuses(ids)).toEqual(["queued"]);
    await simulator.clearFaults();
    await simulated.pass(5_000);
    expect(await tester.statuses(ids)).toEqual(["sent"]);
  });
});

describe("a failing game API", () => {
  async function failFiveTimes(): Promise<string[]> {
    gateway.game.reply = () => new Response("<html>bad gateway", { status: 502 });
    const ids = await bot.acceptAll([":h 1", ":h 2", ":h 3", ":h 4", ":h 5"]);
    await gateway.settle();
    for (let i = 1; i < 5; i++) await gateway.pass(5_000);
    expect(await bot.statuses(ids)).toEqual(Array(5).fill("unknown"));
    return ids;
  }

  test("five lost commands open the breaker for reads as well, and the sixth waits for the probe", async () => {
    await failFiveTimes();
    const calls = gateway.game.calls.length;
    expect(await (await bot.read()).json()).toMatchObject({ code: 5019, upstream_code: 0 });
    expect(gateway.game.calls).toHaveLength(calls);
    const [sixth = ""] = await bot.acceptAll([":h 6"]);
    gateway.game.reply = takes;
    await gateway.pass(4_999);
    expect(await bot.show(sixth)).toMatchObject({ status: "queued", position: 1 });
    expect(gateway.game.calls).toHaveLength(calls);
    await gateway.pass(1);
    // The read is made beside the worker, which looks again after a moment.
    await until("nothing is sent", async () => {
      await gateway.pass(250);
      return (await bot.statuses([sixth]))[0] === "sent";
    });
    expect((await bot.read()).status).toBe(200);
  });

  test("no command is the probe: they keep their places until a read succeeds, which is made for them", async () => {
    gateway.game.read = () => new Response("no", { status: 500 });
    for (let i = 0; i < 5; i++) await bot.read();
    const ids = await bot.acceptAll([":h 1", ":h 2"]);
    const calls = gateway.game.calls.length;
    await gateway.pass(4_999);
    expect(gateway.game.calls).toHaveLength(calls);
    // The probe fails, and doubles the wait.
    await gateway.pass(1);
    await until("the probe is not made", () => gateway.game.calls.length > calls);
    await gateway.pass(9_999);
    expect(gateway.game.calls).toHaveLength(calls + 1);
    expect([await bot.statuses(ids), bot.got()]).toEqual([["queued", "queued"], []]);
    gateway.game.read = () => Response.json(BASE_INFO);
    await gateway.pass(1);
    // The read is made beside the worker, which looks again after a moment.
    await until("nothing is sent", async () => {
      await gateway.pass(250);
      return bot.got().length > 0;
    });
    expect([await bot.statuses(ids), bot.got()]).toEqual([["sent", "queued"], [":h 1"]]);
  });

  test("a rate limit that comes with HTTP 200 pauses for the time that its body names", async () => {
    gateway.game.read = refuses(4001, 200, { retry_after: 30 });
    const response = await bot.read();
    expect(response.headers.get("retry-after")).toBe("30");
    expect(await response.json()).toMatchObject({ code: 5019, upstream_code: 4001 });
    gateway.game.read = () => Response.json(BASE_INFO);
    await gateway.pass(29_000);
    expect((await bot.read()).status).toBe(400);
    await gateway.pass(1_000);
    expect((await bot.read()).status).toBe(200);
  });

  test("the breaker is per server", async () => {
    await failFiveTimes();
    gateway.game.reply = takes;
    const other = await addBot(gateway);
    const ids = await other.acceptAll([":h"]);
    await gateway.settle();
    expect(await other.statuses(ids)).toEqual(["sent"]);
  });

  test("a command that waits for the breaker expires in time", async () => {
    const own = await startCommandGateway({ env: { GATEHOUSE_COMMAND_TTL_MS: "2000" } });
    const tester = await addBot(own);
    own.game.read = () => new Response("no", { status: 500 });
    for (let i = 0; i < 5; i++) await tester.read();
    const ids = await tester.acceptAll([":h"]);
    await own.pass(2_000);
    expect(await tester.statuses(ids)).toEqual(["queued"]);
    await own.pass(1);
    expect(await tester.statuses(ids)).toEqual(["expired"]);
    await own.stop();
  });
});

describe("a pause that the game API has ordered", () => {
  test("after a read's 429 no command of any server is sent before its end", async () => {
    const own = await startCommandGateway();
    const [one, two] = [await addBot(own), await addBot(own)];
    own.game.read = refuses(4001, 429, {}, { "retry-after": "40" });
    expect((await one.read()).headers.get("retry-after")).toBe("40");
    const ids = [...(await one.acceptAll([":h 1"])), ...(await two.acceptAll([":h 2"]))];
    await own.pass(39_999);
    expect(own.game.got).toEqual([]);
    expect(await one.statuses(ids)).toEqual(["queued", "queued"]);
    await own.pass(1);
    expect(await one.statuses(ids)).toEqual(["sent", "sent"]);
    await own.stop();
  });
});

describe("a command that waits too long", () => {
  test("expires after 10 minutes, not at them, and is never sent: a late kick is worse than none", async () => {
    gateway.game.reply = refuses(4001, 429, { retry_after: 3_600 });
    const [head = ""] = await bot.acceptAll([":kick 1"]);
    await gateway.pass(1_000);
    const [next = ""] = await bot.acceptAll([":kick 2"]);
    await gateway.pass(599_000);
    expect(await bot.statuses([head, next])).toEqual(["queued", "queued"]);
    await gateway.pass(1);
    expect(await bot.statuses([head, next])).toEqual(["expired", "queued"]);
    expect(await bot.show(head)).toMatchObject({
      position: null,
      sent_at: null,
      finished_at: gateway.clock.now,
      upstream_code: null,
    });
    expect((await bot.show(next)).position).toBe(1);
    gateway.game.reply = takes;
    await gateway.pass(1_000);
    expect(await bot.statuses([head, next])).toEqual(["expired", "expired"]);
    await gateway.pass(3_600_000);
    expect(bot.got()).toEqual([":kick 1"]);
  });

  test("expires even when it comes up while the gateway was down", async () => {
    const first = await startCommandGateway();
    const { clock, game } = first;
    const { folder } = first.gatehouse;
    const tester = await addBot(first);
    const ids = await tester.acceptAll([":h 1", ":h 2"]);
    await first.settle();
    await first.gatehouse.app.stop();
    clock.advance(600_001);
    const second = await startCommandGateway({ clock, game, folder });
    await second.settle();
    await second.pass(5_000);
    const found = await Promise.all(ids.map((id) => second.gatehouse.app.store.commands.find(id)));
    expect(found.map((command) => command?.status)).toEqual(["sent", "expired"]);
    expect(game.got.map(({ text }) => text)).toEqual([":h 1"]);
    await second.gatehouse.app.stop();
    await game.stop();
    await Bun.$`rm -rf ${folder}`.quiet();
  });
});

describe("confirmation", () => {
  const logOf = (...entries: [string, number][]) => {
    const CommandLogs = entries.map(([Command, at]) => ({
      Player: "Remote Server",
      Timestamp: Math.floor(at / 1000),
      Command,
    }));
    return () => Response.json({ ...BASE_INFO, CommandLogs });
  };
  /** Reads, and waits until the game's log was searched, which happens after the answer. */
  const readLog = async () => {
    const { commands } = gateway.gatehouse.app.store;
    const { listSent } = commands;
    const looked = Promise.withResolvers<void>();
    commands.listSent = async (...asked) => {
      const sent = await listSent.apply(commands, asked);
      looked.resolve();
      return sent;
    };
    await (await bot.read()).text();
    await looked.promise;
    commands.listSent = listSent;
  };
  const expectConfirmed = async (ids: readonly string[], times: readonly (number | null)[]) => {
    await until(`not confirmed at ${times}`, async () => {
      const found = await Promise.all(ids.map(async (id) => (await bot.show(id)).confirmed_at));
      return Bun.deepEquals(found, times);
    });
  };

  test("a command that the game's log shows is confirmed when the log is read, and its state stays", async () => {
    const [id = ""] = await bot.acceptAll([":h hi"]);
    await gateway.settle();
    const sentAt = gateway.clock.now;
    gateway.clock.advance(3_000);
    gateway.game.read = logOf([":h hi", sentAt]);
    await readLog();
    await expectConfirmed([id], [gateway.clock.now]);
    expect(await bot.show(id)).toMatchObject({ status: "sent", finished_at: sentAt });
  });

  test("a lost one is confirmed and stays unknown; one that is not in the log is not sent again", async () => {
    gateway.game.reply = () => new Response("<html>", { status: 502 });
    const ids = await bot.acceptAll([":h ran", ":h vanished"]);
    await gateway.pass(5_000);
    gateway.game.reply = takes;
    gateway.game.read = logOf([":h ran", gateway.clock.now - 5_000]);
    await readLog();
    const confirmedAt = gateway.clock.now;
    await expectConfirmed(ids, [confirmedAt, null]);
    gateway.clock.advance(3_000);
    await readLog();
    await expectConfirmed(ids, [confirmedAt, null]);
    await gateway.pass(10 * MINUTE);
    expect(await bot.statuses(ids)).toEqual(["unknown", "unknown"]);
    expect(bot.got()).toEqual([":h ran", ":h vanished"]);
  });

  test("one entry confirms one of two equal commands, however often it is read", async () => {
    const ids = await bot.acceptAll([":h twin", ":h twin"]);
    await gateway.pass(5_000);
    const entry: [string, number] = [":h twin", gateway.clock.now - 5_000];
    gateway.game.read = logOf(entry);
    const first = gateway.clock.now;
    for (let i = 0; i < 3; i++) {
      await readLog();
      await expectConfirmed(ids, [first, null]);
      gateway.clock.advance(3_000);
    }
    gateway.game.read = logOf([":h twin", first], entry);
    await readLog();
    await expectConfirmed(ids, [first, gateway.clock.now]);
  });

  test("the simulator's own log confirms the commands that it ran", async () => {
    const simulator = await startSimulator({ readLimit: 0, commandIntervalMs: 0, clock: gateway.clock.read });
    const own = await startCommandGateway({ upstreamUrl: simulator.url, clock: gateway.clock });
    const tester = await addBot(own);
    const [id = ""] = await tester.acceptAll([":h simulated"]);
    await own.settle();
    expect((await tester.read()).status).toBe(200);
    await until("the command is not confirmed", async () => (await tester.show(id)).confirmed_at !== null);
    await own.stop();
    await simulator.stop();
  });
});

describe("what people see", () => {
  test("metrics show how many commands wait, for how long, and the outcomes of the others", async () => {
    const own = await startCommandGateway({ env: { GATEHOUSE_COMMAND_TTL_MS: "60000" } });
    const tester = await addBot(own);
    const metric = async (name: string) => {
      const text = await (await own.gatehouse.admin("GET", "/metrics")).text();
      const line = text.split("\n").find((one) => one.startsWith(`${name} `));
      return line === undefined ? undefined : Number(line.slice(name.length + 1));
    };
    const outcome = (name: string) => metric(`gatehouse_commands_total{outcome="${name}"}`);
    expect(await metric("gatehouse_commands_waiting")).toBe(0);
    expect(await metric("gatehouse_commands_oldest_seconds")).toBe(0);

    await tester.acceptAll([":h sent"]);
    await own.pass(5_000);
    own.game.reply = refuses(3001);
    await tester.acceptAll([":h failed"]);
    await own.pass(5_000);
    own.game.reply = () => new Response("x");
    await tester.acceptAll([":h unknown"]);
    await own.pass(5_000);
    own.game.reply = refuses(4001, 429, { retry_after: 3_600 });
    await tester.acceptAll([":h expired"]);
    await own.pass(30_000);
    const [, cancelled = ""] = await tester.acceptAll([":h waits", ":h cancelled"]);
    await tester.ask("DELETE", `${COMMANDS}/${cancelled}`);
    expect(await metric("gatehouse_commands_waiting")).toBe(2);
    expect(await metric("gatehouse_commands_oldest_seconds")).toBe(30);
    await own.pass(30_001);
    expect(await metric("gatehouse_commands_waiting")).toBe(1);
    for (const name of ["sent", "failed", "unknown", "returned", "expired"]) expect(await outcome(name)).toBe(1);
    expect(await outcome("cancelled")).toBe(1);
    // Commands that an operator cancels, and those that fail with their server, are counted too.
    const [taken = ""] = await tester.acceptAll([":h taken back"]);
    await own.gatehouse.admin("DELETE", `/admin/commands/${taken}`);
    expect(await outcome("cancelled")).toBe(2);
    await own.gatehouse.admin("DELETE", `/admin/servers/${tester.home.serverId}`);
    expect(await outcome("failed")).toBe(2);
    await own.stop();
  });

  test("an operator sees the queue and the recent past of a server", async () => {
    await bot.acceptAll([":h 1", ":h 2"]);
    await gateway.settle();
    const { admin } = gateway.gatehouse;
    const listed = await admin("GET", `/admin/commands?server_id=${bot.home.serverId}`);
    const { items } = await readAs<PageBody<CommandBody>>(listed);
    expect(items.map(({ command, status }) => [command, status])).toEqual([
      [":h 2", "queued"],
      [":h 1", "sent"],
    ]);
  });

  test("no log line holds a server key", () => {
    const lines = gateway.gatehouse.logLines.join("\n");
    expect(lines).not.toBe("");
    expect(lines).not.toMatch(/bot-Server\d/);
  });
});

describe("stopping", () => {
  test("finishes and records the commands being sent, and sends no others", async () => {
    const own = await startCommandGateway();
    const tester = await addBot(own);
    const { promise, resolve } = Promise.withResolvers<Response>();
    own.game.reply = () => promise;
    const ids = await tester.acceptAll([":h 1", ":h 2"]);
    await until("the game got nothing", () => own.game.got.length === 1);
    const { folder } = own.gatehouse;
    const stopped = own.gatehouse.app.stop();
    setTimeout(() => resolve(takes()), 150);
    await stopped;
    const again = await startCommandGateway({ clock: own.clock, game: own.game, folder });
    const { commands } = again.gatehouse.app.store;
    const found = await Promise.all(ids.map((id) => commands.find(id)));
    expect(found.map((command) => command?.status)).toEqual(["sent", "queued"]);
    expect(own.game.got).toHaveLength(1);
    await again.gatehouse.app.stop();
    await own.game.stop();
    await Bun.$`rm -rf ${folder}`.quiet();
  });
});
