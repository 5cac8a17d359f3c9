// Section 5 of the contract, and the commands of section 9, over HTTP: submitting, reading and cancelling commands.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { openSocket, writeRequest } from "../raw-socket.ts";
import { until } from "../until.ts";
import {
  addBot,
  type Bot,
  COMMANDS,
  type CommandBody,
  type CommandGateway,
  createBot,
  type ReceiptBody,
  refuses,
  startCommandGateway,
  takes,
  WorkerClock,
} from "./commander.ts";
import { expectRefusal, type PageBody, readAs } from "./operator.ts";

let gateway: CommandGateway;
let bot: Bot;

beforeAll(async () => {
  gateway = await startCommandGateway();
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  gateway.game.reply = takes;
  bot = await addBot(gateway, {}, { community: "town" });
});

/** From now on no command is sent for the bot's server, because the game has answered 429. */
async function holdQueue(target = bot): Promise<string> {
  gateway.game.reply = refuses(4001, 429, { retry_after: 86_000 });
  const { command_id } = await target.accept(":h held");
  await gateway.settle();
  return command_id;
}

async function fillQueue(target = bot): Promise<string[]> {
  const ids = [await holdQueue(target)];
  for (let i = 1; i < 100; i++) ids.push((await target.accept(`:h ${i}`)).command_id);
  return ids;
}

async function block(): Promise<void> {
  const { store } = gateway.gatehouse.app;
  for (let i = 0; i < 520; i++) await store.limits.judge(bot, gateway.clock.now, true);
}

const tooMuch = JSON.stringify({ command: "x".repeat(9_000) });
const bodyOf = (size: number) => JSON.stringify({ command: ":h", pad: "x".repeat(size - 25) });

describe("submitting", () => {
  test("an accepted command is 202 with its id, its place and its time, and nothing else", async () => {
    const { now } = gateway.clock;
    const response = await bot.submit("  :h hello \n");
    expect(response.status).toBe(202);
    expect(response.headers.get("content-type")).toBe("application/json");
    const receipt = (await response.json()) as ReceiptBody;
    expect(receipt).toEqual({
      command_id: expect.stringMatching(/^cmd_[0-9A-Za-z]+$/),
      status: "queued",
      position: 1,
      queued_at: now,
    });
    await gateway.settle();
    expect(bot.got()).toEqual([":h hello"]);
    expect(await bot.show(receipt.command_id)).toEqual({
      command_id: receipt.command_id,
      key_id: bot.keyId,
      key_label: "test",
      sent_by: { kind: "key", id: bot.keyId, name: "test" },
      command: ":h hello",
      status: "sent",
      position: null,
      queued_at: now,
      sent_at: now,
      finished_at: now,
      confirmed_at: null,
      upstream_code: null,
      upstream_message: null,
    });
  });

  test("both path forms are one endpoint and one queue; another community is 5009", async () => {
    await holdQueue();
    const plain = await bot.post('{"command":":h"}');
    const inTown = await bot.post('{"command":":h"}', {}, "/v2/town/game/server/command");
    const receipts = [await readAs<ReceiptBody>(plain, 202), await readAs<ReceiptBody>(inTown, 202)];
    expect(receipts.map(({ position }) => position)).toEqual([2, 3]);
    const elsewhere = await bot.post('{"command":":h"}', {}, "/v2/city/game/server/command");
    const details = { reason: "community" };
    await expectRefusal(elsewhere, 403, { code: 5009, message: "forbidden", details });
    const listed = await bot.ask("GET", "/v2/town/game/server/command");
    expect((await readAs<PageBody<CommandBody>>(listed)).items).toHaveLength(3);
  });

  test.each(["PUT", "PATCH", "DELETE"])("%s on the list is 405 with the allowed methods", async (method) => {
    const response = await bot.ask(method, COMMANDS);
    expect(response.headers.get("allow")?.split(", ").toSorted()).toEqual(["GET", "HEAD", "POST"]);
    await expectRefusal(response, 405, { code: 5101, message: "method_not_allowed" });
  });

  test("a trailing slash is another path", async () => {
    await expectRefusal(await bot.post("{}", {}, `${COMMANDS}/`), 404, { code: 5020, message: "not_found" });
  });

  const MISSING = { code: 5005, message: "missing_command" };
  const NO_JSON = { code: 5034, message: "invalid_json" };
  const INVALID = { code: 5104, message: "invalid_request", details: { command: expect.any(String) } };
  const refusals: [string, string | Uint8Array<ArrayBuffer>, object][] = [
    ["an array", "[]", MISSING],
    ["null", "null", MISSING],
    ["a text", '":h"', MISSING],
    ["no command", "{}", MISSING],
    ["a command that is no text", '{"command":5}', MISSING],
    ["an empty command", '{"command":""}', MISSING],
    ["a command of blanks", '{"command":" \\t\\n\\u2028"}', MISSING],
    ["a body of nothing", "", NO_JSON],
    ["half of a JSON", '{"command":', NO_JSON],
    ["bad UTF-8", new Uint8Array([0x22, 0xff, 0x22]), NO_JSON],
    ["deep rubbish", "[".repeat(8_000), NO_JSON],
    ["two lines", '{"command":":h a\\nb"}', INVALID],
    ["a carriage return", '{"command":":h a\\rb"}', INVALID],
    ["NUL", '{"command":":h \\u0000"}', INVALID],
    ["ANSI", '{"command":":h \\u001b[31m"}', INVALID],
    ["U+2028", '{"command":":h a\\u2028b"}', INVALID],
    ["U+2029", '{"command":":h a\u2029b"}', INVALID],
    ["a lone surrogate", '{"command":":h \\ud800"}', INVALID],
    ["1,001 characters", JSON.stringify({ command: "😀".repeat(1_001) }), INVALID],
  ];
  test.each(refusals)("%s is 400 and never reaches the game", async (_, body, refusal) => {
    await expectRefusal(await bot.post(body), 400, refusal);
    expect(await (await bot.ask("GET", COMMANDS)).json()).toEqual({ items: [], next: null });
    expect(bot.got()).toEqual([]);
  });

  test("1,000 emoji pass and arrive whole", async () => {
    await bot.accept("😀".repeat(1_000));
    await gateway.settle();
    expect(bot.got()).toEqual(["😀".repeat(1_000)]);
  });

  test("a body of exactly 8,192 bytes passes, one more is 413", async () => {
    expect(Buffer.byteLength(bodyOf(8_192))).toBe(8_192);
    expect((await bot.post(bodyOf(8_192))).status).toBe(202);
    await expectRefusal(await bot.post(bodyOf(8_193)), 413, { code: 5102, message: "payload_too_large" });
  });

  test("a body with another content type, or none, is 415; parameters and case do not matter", async () => {
    const json = '{"command":":h"}';
    const refusal = { code: 5103, message: "unsupported_media_type" };
    await expectRefusal(await bot.post(json, { "Content-Type": "text/plain" }), 415, refusal);
    await expectRefusal(await bot.post(json, { "Content-Encoding": "gzip" }), 415, refusal);
    await expectRefusal(await bot.ask("POST", COMMANDS, {}, new TextEncoder().encode(json)), 415, refusal);
    const spelled = await bot.post(json, { "Content-Type": "Application/JSON; charset=utf-8" });
    expect(spelled.status).toBe(202);
  });

  test("each check comes before the next: everything that could be refused later is wrong, too", async () => {
    const wrongKey = { "Idempotency-Key": "a b" };
    const text = { "Content-Type": "text/plain" };
    const { keys } = gateway.gatehouse.app.store;
    const change = keys.update.bind(keys, bot.keyId);
    const codeOf = async (response: Promise<Response>) => {
      const { status } = await response;
      return [status, ((await (await response).json()) as { code: number }).code];
    };
    await fillQueue();
    // An idempotency key that this bot has used; it is checked last.
    const used = { "Idempotency-Key": "used" };
    const [, second = ""] = (await gateway.gatehouse.app.store.commands.list({ limit: 2 })).items.map(
      ({ commandId }) => commandId,
    );
    await bot.ask("DELETE", `${COMMANDS}/${second}`);
    await bot.accept(":h used", used);

    await change({ commands: [], versions: [], isSuspended: true });
    await block();
    const stranger = { Authorization: "Bearer nobody", ...text, ...wrongKey };
    expect(await codeOf(bot.post(tooMuch, stranger))).toEqual([401, 5008]);
    expect(await codeOf(bot.post(tooMuch, { ...text, ...wrongKey }))).toEqual([429, 5100]);
    await gateway.gatehouse.app.store.limits.liftBlock(bot.keyId, gateway.gatehouse.clock.now);
    expect(await codeOf(bot.post(tooMuch, { ...text, ...wrongKey }))).toEqual([403, 5010]);
    await change({ versions: ["v2"] });
    expect(await codeOf(bot.post(tooMuch, { ...text, ...wrongKey }))).toEqual([403, 5009]);
    await change({ isSuspended: false });
    expect(await codeOf(bot.post(tooMuch, { ...text, ...wrongKey }))).toEqual([403, 5009]);
    await change({ commands: [":h"] });
    expect(await codeOf(bot.post(tooMuch, { ...text, ...wrongKey }))).toEqual([413, 5102]);
    expect(await codeOf(bot.post("{", { ...text, ...wrongKey }))).toEqual([415, 5103]);
    expect(await codeOf(bot.post("{", wrongKey))).toEqual([400, 5034]);
    expect(await codeOf(bot.post("{}", wrongKey))).toEqual([400, 5005]);
    expect(await codeOf(bot.submit(":kick a\nb", used))).toEqual([400, 5104]);
    expect(await codeOf(bot.submit(":kick all", wrongKey))).toEqual([400, 5104]);
    expect(await codeOf(bot.submit(":kick all", used))).toEqual([403, 5009]);
    expect(await codeOf(bot.submit(":h other", used))).toEqual([422, 5105]);
    expect(await codeOf(bot.submit(":h other"))).toEqual([429, 5015]);
  });
});

describe("rights", () => {
  test("a key without command rights may neither send, list, look nor cancel: 5009", async () => {
    const id = await holdQueue();
    const { home, gatehouse } = { ...bot, ...gateway };
    const { token } = await gatehouse.addKey(home, { commands: [] });
    const refusal = { code: 5009, message: "forbidden", details: { reason: "command" } };
    const mute = { Authorization: `Bearer ${token}` };
    await expectRefusal(await bot.post('{"command":":h"}', mute), 403, refusal);
    for (const [method, path] of [
      ["GET", COMMANDS],
      ["GET", `${COMMANDS}/${id}`],
      ["DELETE", `${COMMANDS}/${id}`],
    ] as const) {
      await expectRefusal(await bot.ask(method, path, mute), 403, refusal);
    }
    expect((await bot.show(id)).status).toBe("queued");
  });

  test("names are compared without case, on the first word", async () => {
    const narrow = await addBot(gateway, { commands: [":h", ":KICK"] });
    for (const text of [":h hi", ":H hi", ":kick all", ":h"]) expect((await narrow.submit(text)).status).toBe(202);
    for (const text of [":hint", ":m all", "h", "say :h"]) {
      const refusal = { code: 5009, message: "forbidden", details: { reason: "command" } };
      await expectRefusal(await narrow.submit(text), 403, refusal);
    }
  });

  test("a key sees and cancels only its own server's commands; another's is 404", async () => {
    const id = await holdQueue();
    const stranger = await addBot(gateway);
    const refusal = { code: 5020, message: "not_found" };
    for (const path of [`${COMMANDS}/${id}`, `${COMMANDS}/cmd_unknown`, `${COMMANDS}/%00`, `${COMMANDS}/x`]) {
      for (const method of ["GET", "DELETE"]) await expectRefusal(await stranger.ask(method, path), 404, refusal);
    }
    expect(await (await stranger.ask("GET", COMMANDS)).json()).toEqual({ items: [], next: null });
    expect((await bot.show(id)).status).toBe("queued");
  });

  test("a key sees and cancels only the commands that it sent itself; another's is 404", async () => {
    const id = await holdQueue();
    const { token } = await gateway.gatehouse.addKey(bot.home, { commands: [":h", ":m"] });
    const narrow = { Authorization: `Bearer ${token}` };
    const own = await readAs<ReceiptBody>(await bot.post('{"command":":m hello"}', narrow), 202);
    const refusal = { code: 5020, message: "not_found" };
    for (const method of ["GET", "DELETE"]) {
      await expectRefusal(await bot.ask(method, `${COMMANDS}/${id}`, narrow), 404, refusal);
    }
    const listed = async (query: string, headers = {}) => {
      const page = await readAs<PageBody<CommandBody>>(await bot.ask("GET", `${COMMANDS}?${query}`, headers));
      return page.items.map(({ command_id }) => command_id);
    };
    expect(await listed("", narrow)).toEqual([own.command_id]);
    expect(await listed("status=queued", narrow)).toEqual([own.command_id]);
    expect(await listed("status=sending", narrow)).toEqual([]);
    expect((await bot.ask("DELETE", `${COMMANDS}/${own.command_id}`, narrow)).status).toBe(200);
    expect((await bot.show(id)).status).toBe("queued");
  });

  test("a key that may send every command sees and cancels those of the server's other keys", async () => {
    const { token } = await gateway.gatehouse.addKey(bot.home, { commands: [":m"] });
    const narrow = { Authorization: `Bearer ${token}` };
    await holdQueue();
    const { command_id } = await readAs<ReceiptBody>(await bot.post('{"command":":m hello"}', narrow), 202);
    expect((await bot.show(command_id)).command).toBe(":m hello");
    const page = await readAs<PageBody<CommandBody>>(await bot.ask("GET", `${COMMANDS}?limit=1`));
    expect(page.items.map((item) => item.command_id)).toEqual([command_id]);
    expect((await bot.ask("DELETE", `${COMMANDS}/${command_id}`)).status).toBe(200);
  });

  test("every answer names the key that sent the command, also after it was renamed or revoked", async () => {
    const { keyId, token } = await gateway.gatehouse.addKey(bot.home, { commands: [":m"] });
    const narrow = { Authorization: `Bearer ${token}` };
    const own = await holdQueue();
    const { command_id } = await readAs<ReceiptBody>(await bot.post('{"command":":m hello"}', narrow), 202);
    const admin = (method: string, path: string, body?: object) => gateway.gatehouse.admin(method, path, body);
    await admin("PATCH", `/admin/keys/${keyId}`, { label: "Night shift" });
    const other = { key_id: keyId, key_label: "Night shift" };
    expect(await readAs<CommandBody>(await bot.ask("GET", `${COMMANDS}/${command_id}`, narrow))).toMatchObject(other);
    await admin("DELETE", `/admin/keys/${keyId}`);
    expect(await bot.show(command_id)).toMatchObject(other);
    const mine = { command_id: own, key_id: bot.keyId, key_label: "test" };
    const page = await readAs<PageBody<CommandBody>>(await bot.ask("GET", COMMANDS));
    expect(page.items).toMatchObject([{ command_id, ...other }, mine]);
    const all = await readAs<PageBody<CommandBody>>(
      await admin("GET", `/admin/commands?server_id=${bot.home.serverId}`),
    );
    expect(all.items).toMatchObject([{ command_id, ...other }, mine]);
    expect(await readAs<CommandBody>(await admin("GET", `/admin/commands/${command_id}`))).toMatchObject(other);
    expect(await readAs<CommandBody>(await bot.ask("DELETE", `${COMMANDS}/${command_id}`))).toMatchObject({
      ...other,
      status: "cancelled",
    });
  });
});

describe("the cursors of a list", () => {
  test("belong to the key that got them, in both path forms; any other cursor is 400/5104", async () => {
    await holdQueue();
    await bot.accept(":h second");
    const { next } = await readAs<PageBody<CommandBody>>(await bot.ask("GET", `${COMMANDS}?limit=1`));
    const inTown = COMMANDS.replace("/v2/", "/v2/town/");
    for (const path of [COMMANDS, inTown]) {
      const page = await readAs<PageBody<CommandBody>>(await bot.ask("GET", `${path}?cursor=${next}`));
      expect(page.items.map(({ command }) => command)).toEqual([":h held"]);
    }
    const details = { cursor: "must be the `next` of an earlier answer" };
    const refusal = { code: 5104, message: "invalid_request", details };
    const stranger = await addBot(gateway);
    const { token } = await gateway.gatehouse.addKey(bot.home, { commands: ["*"] });
    const sister = { Authorization: `Bearer ${token}` };
    await expectRefusal(await stranger.ask("GET", `${COMMANDS}?cursor=${next}`), 400, refusal);
    await expectRefusal(await bot.ask("GET", `${COMMANDS}?cursor=${next}`, sister), 400, refusal);
    const altered = `${next?.slice(0, -2)}AA`;
    await expectRefusal(await bot.ask("GET", `${COMMANDS}?cursor=${altered}`), 400, refusal);
    const operators = await readAs<PageBody<CommandBody>>(
      await gateway.gatehouse.admin("GET", "/admin/commands?limit=1"),
    );
    await expectRefusal(await bot.ask("GET", `${COMMANDS}?cursor=${operators.next}`), 400, refusal);
  });

  test("tell nothing about the commands of others: neither their text nor their length shows a position", async () => {
    await holdQueue();
    const nextOf = async () => {
      await bot.accept(":h another");
      const page = await readAs<PageBody<CommandBody>>(await bot.ask("GET", `${COMMANDS}?limit=1`));
      return page.next ?? "";
    };
    const cursors = [await nextOf(), await nextOf(), await nextOf()];
    expect(new Set(cursors.map(({ length }) => length)).size).toBe(1);
    for (const cursor of cursors) {
      // A position that can be read is a short text of letters and digits.
      expect(Buffer.from(cursor, "base64url").toString("latin1")).not.toMatch(/^[\x20-\x7e]+$/);
    }
  });
});

describe("limits", () => {
  test("sending is not counted and has no limit headers; reading, listing and cancelling are counted and have them", async () => {
    const ids = await fillQueue();
    const refused = await bot.submit(":h one too many");
    for (const response of [await bot.post("{"), refused]) {
      expect(response.headers.get("x-ratelimit-limit")).toBeNull();
      expect(response.headers.get("x-ratelimit-bucket")).toBeNull();
    }
    const counted = [
      await bot.ask("GET", COMMANDS),
      await bot.ask("GET", `${COMMANDS}/${ids[0]}`),
      await bot.ask("HEAD", `${COMMANDS}/${ids[0]}`),
      await bot.ask("DELETE", `${COMMANDS}/${ids[1]}`),
      await bot.ask("DELETE", `${COMMANDS}/${ids[1]}`),
      await bot.ask("GET", `${COMMANDS}/cmd_unknown`),
      await bot.ask("GET", `${COMMANDS}?limit=0`),
    ];
    expect(counted.map(({ status }) => status)).toEqual([200, 200, 200, 200, 409, 404, 400]);
    expect(counted.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual(
      counted.map((_, index) => String(119 - index)),
    );
    for (const { headers } of counted) expect(headers.get("x-ratelimit-bucket")).toBe("server");
  });

  test("sending is possible when the limit is used up, and then not looking", async () => {
    const { store } = gateway.gatehouse.app;
    for (let i = 0; i < 120; i++) await store.limits.judge(bot, gateway.clock.now, true);
    expect((await bot.submit(":h")).status).toBe(202);
    const refused = await bot.ask("GET", COMMANDS);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: 5016, details: { count: 121, excess: 1 } });
  });

  test("a blocked key is blocked for commands, and the 121st command of a minute lengthens the block", async () => {
    await block();
    const until = gateway.clock.now + 300_000;
    const refusal = { code: 5100, message: "spam_blocked", blocked_until: until, retry_after: 300 };
    for (let i = 0; i < 119; i++) expect((await bot.submit(":h")).status).toBe(429);
    const last = await bot.submit(":h");
    expect(last.headers.get("retry-after")).toBe("300");
    expect(last.headers.get("x-ratelimit-limit")).toBeNull();
    await expectRefusal(last, 429, refusal);
    const lengthened = { ...refusal, blocked_until: until + 60_000, retry_after: 360 };
    await expectRefusal(await bot.submit(":h"), 429, lengthened);
    await expectRefusal(await bot.ask("DELETE", `${COMMANDS}/cmd_x`), 429, lengthened);
    expect(bot.got()).toEqual([]);
  });

  test("the 101st waiting command is 5015 with when to come back; no older one is dropped", async () => {
    const ids = await fillQueue();
    const refused = await bot.submit(":h 101");
    expect(refused.headers.get("retry-after")).toBe("5");
    await expectRefusal(refused, 429, { code: 5015, message: "command_queue_full", retry_after: 5 });
    expect(new Set(await bot.statuses(ids))).toEqual(new Set(["queued"]));
    expect((await (await addBot(gateway)).submit(":h elsewhere")).status).toBe(202);
    await bot.ask("DELETE", `${COMMANDS}/${ids[50]}`);
    expect(await bot.accept(":h 101")).toMatchObject({ position: 100 });
  });
});

describe("following up", () => {
  test("a store that fails after the request was counted is 503/5106, with the limit's headers", async () => {
    const { commands } = gateway.gatehouse.app.store;
    const remainingOf = (response: Response) => Number(response.headers.get("x-ratelimit-remaining"));
    const before = remainingOf(await bot.ask("GET", COMMANDS));
    const { list } = commands;
    commands.list = () => Promise.reject(new StoreUnavailable("broken for a test"));
    const refused = await bot.ask("GET", COMMANDS).finally(() => {
      commands.list = list;
    });
    expect(refused.status).toBe(503);
    expect(remainingOf(refused)).toBe(before - 1);
    expect(refused.headers.get("x-ratelimit-bucket")).toBe("server");
    expect(remainingOf(await bot.ask("GET", COMMANDS))).toBe(before - 2);
  });

  test("positions count from the next to be sent and move up", async () => {
    const ids = [await holdQueue(), ...(await bot.acceptAll([":h 2", ":h 3"]))];
    const positions = async () => await Promise.all(ids.map(async (id) => (await bot.show(id)).position));
    expect(await positions()).toEqual([1, 2, 3]);
    await bot.ask("DELETE", `${COMMANDS}/${ids[1]}`);
    expect(await positions()).toEqual([1, null, 2]);
  });

  test("the one being sent is not waiting: no position, and none of the 100", async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    gateway.game.reply = () => promise;
    const [first = ""] = await bot.acceptAll([":h first"]);
    while (bot.got().length === 0) await Bun.sleep(1);
    expect(await bot.show(first)).toMatchObject({
      status: "sending",
      position: null,
      sent_at: gateway.clock.now,
      finished_at: null,
    });
    for (let place = 1; place <= 100; place++) expect((await bot.accept(`:h ${place}`)).position).toBe(place);
    expect((await bot.submit(":h 101")).status).toBe(429);
    const response = await bot.ask("DELETE", `${COMMANDS}/${first}`);
    await expectRefusal(response, 409, {
      code: 5104,
      message: "invalid_request",
      details: { command_id: expect.any(String) },
    });
    resolve(takes());
    await gateway.settle();
    expect((await bot.show(first)).status).toBe("sent");
  });

  test("the list is newest first, in pages, each command once", async () => {
    const ids = [await holdQueue(), ...(await bot.acceptAll([":h 2", ":h 3", ":h 4", ":h 5"]))];
    const seen: CommandBody[] = [];
    let cursor = "";
    let pages = 0;
    do {
      const page: PageBody<CommandBody> = await readAs(await bot.ask("GET", `${COMMANDS}?limit=2${cursor}`));
      seen.push(...page.items);
      cursor = page.next === null ? "" : `&cursor=${page.next}`;
      pages++;
    } while (cursor !== "");
    expect(pages).toBe(3);
    expect(seen.map(({ command_id }) => command_id)).toEqual(ids.toReversed());
    expect(seen[0]).toEqual(await bot.show(ids[4] ?? ""));
  });

  test("the list has 50 commands by default, and at most 200", async () => {
    await fillQueue();
    const page = await readAs<PageBody<CommandBody>>(await bot.ask("GET", COMMANDS));
    expect(page.items).toHaveLength(50);
    expect(page.next).not.toBeNull();
    const all = await readAs<PageBody<CommandBody>>(await bot.ask("GET", `${COMMANDS}?limit=200`));
    expect([all.items.length, all.next]).toEqual([100, null]);
  });

  test("the list can be narrowed to one state", async () => {
    const [sent = ""] = await bot.acceptAll([":h sent"]);
    await gateway.pass(5_000);
    const held = await holdQueue();
    const [cancelled = ""] = await bot.acceptAll([":h cancelled"]);
    await bot.ask("DELETE", `${COMMANDS}/${cancelled}`);
    const idsOf = async (status: string) => {
      const page = await readAs<PageBody<CommandBody>>(await bot.ask("GET", `${COMMANDS}?status=${status}`));
      return page.items.map(({ command_id }) => command_id);
    };
    expect(await idsOf("sent")).toEqual([sent]);
    expect(await idsOf("queued")).toEqual([held]);
    expect(await idsOf("cancelled")).toEqual([cancelled]);
    for (const none of ["sending", "failed", "unknown", "expired"]) expect(await idsOf(none)).toEqual([]);
  });

  test.each([
    ["status", "banana"],
    ["status", "queued&status=sent"],
    ["limit", "0"],
    ["limit", "201"],
    ["limit", "ten"],
    ["cursor", "%00"],
  ])("a wrong %s (%s) is 5104 and is named", async (field, value) => {
    await expectRefusal(await bot.ask("GET", `${COMMANDS}?${field}=${value}`), 400, {
      code: 5104,
      message: "invalid_request",
      details: { [field]: expect.any(String) },
    });
  });
});

describe("waiting for the end", () => {
  const waitFor = (id: string, seconds: number | string = 25) => bot.ask("GET", `${COMMANDS}/${id}?wait=${seconds}`);
  const hold = async (target = bot) => {
    const id = await holdQueue(target);
    await until("it is not held", async () => (await target.show(id)).status === "queued");
    return id;
  };

  test("the answer comes when the state is final, and counts once", async () => {
    const id = await hold();
    const waiting = waitFor(id);
    await until("nobody waits", async () => (await bot.ask("HEAD", `${COMMANDS}/${id}?wait=25`)).ok);
    expect(await readAs<CommandBody>(await bot.ask("DELETE", `${COMMANDS}/${id}`))).toMatchObject({
      status: "cancelled",
    });
    const response = await waiting;
    expect(Number(response.headers.get("x-ratelimit-remaining"))).toBeGreaterThan(110);
    expect(await readAs<CommandBody>(response)).toMatchObject({ command_id: id, status: "cancelled" });
    expect(await readAs<CommandBody>(await waitFor(id))).toMatchObject({ status: "cancelled" });
  });

  test("without an end the state is told after the time", async () => {
    const id = await hold();
    for (const seconds of [0, 1])
      expect(await readAs<CommandBody>(await waitFor(id, seconds))).toMatchObject({ status: "queued" });
  });

  test.each(["26", "-1", "x", "1&wait=1"])("wait=%s is 400/5104", async (seconds) => {
    const response = await waitFor("cmd_x", seconds);
    expect(await response.json()).toMatchObject({ code: 5104, details: { wait: expect.any(String) } });
  });

  test("a key that is revoked or restricted while it waits is answered as if it asked anew", async () => {
    const { store } = gateway.gatehouse.app;
    const id = await hold();
    const waiting = waitFor(id);
    await store.keys.update(bot.keyId, { commands: [] });
    await expectRefusal(await waiting, 403, { code: 5009, message: "forbidden", details: { reason: "command" } });
    const other = await addBot(gateway);
    const held = await hold(other);
    const revoked = other.ask("GET", `${COMMANDS}/${held}?wait=25`);
    await store.keys.revoke(other.keyId, gateway.clock.now);
    await expectRefusal(await revoked, 401, { code: 5008, message: "invalid_token" });
  });
});

describe("cancelling", () => {
  test("a waiting command is cancelled and never sent; cancelling it again is 409", async () => {
    const head = await holdQueue();
    const [doomed = ""] = await bot.acceptAll([":h doomed"]);
    const response = await bot.ask("DELETE", `${COMMANDS}/${doomed}`);
    const body = await readAs<CommandBody>(response);
    expect(body).toMatchObject({ command_id: doomed, status: "cancelled", position: null, sent_at: null });
    expect(body.finished_at).toBe(gateway.clock.now);
    const conflict = { code: 5104, message: "invalid_request", details: { command_id: expect.any(String) } };
    await expectRefusal(await bot.ask("DELETE", `${COMMANDS}/${doomed}`), 409, conflict);
    expect((await bot.ask("DELETE", `${COMMANDS}/${head}`)).status).toBe(200);
    gateway.game.reply = takes;
    await gateway.pass(86_000_000);
    expect(bot.got()).toEqual([":h held"]);
  });

  test("a finished command is 409 and does not change", async () => {
    const [id = ""] = await bot.acceptAll([":h"]);
    await gateway.settle();
    expect((await bot.ask("DELETE", `${COMMANDS}/${id}`)).status).toBe(409);
    expect((await bot.show(id)).status).toBe("sent");
  });
});

describe("idempotency", () => {
  const key = { "Idempotency-Key": "5f0c" };

  test("the same key and text get the same answer, to the byte, and one command is sent", async () => {
    const first = await (await bot.submit(":h", key)).text();
    await gateway.settle();
    const again = await bot.submit("  :h ", key);
    expect([again.status, await again.text()]).toEqual([202, first]);
    const inTown = await bot.post('{"x":1,"command":":h"}', key, "/v2/town/game/server/command");
    expect([inTown.status, await inTown.text()]).toEqual([202, first]);
    await gateway.pass(60_000);
    expect(bot.got()).toEqual([":h"]);
  });

  test("another text is 422/5105; another key of the same server starts afresh", async () => {
    await bot.accept(":h", key);
    await expectRefusal(await bot.submit(":m", key), 422, { code: 5105, message: "idempotency_conflict" });
    const { token } = await gateway.gatehouse.addKey(bot.home, { commands: ["*"] });
    expect((await bot.submit(":m", { ...key, Authorization: `Bearer ${token}` })).status).toBe(202);
  });

  test("many at once make one command; each gets its receipt, or 409/5105 while the first is under way", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => bot.submit(":h", key)));
    const ids = new Set<string>();
    for (const answer of answers) {
      const body = (await answer.json()) as { command_id?: string; code?: number };
      if (answer.status === 202) ids.add(body.command_id ?? "");
      else expect([answer.status, body.code]).toEqual([409, 5105]);
    }
    expect(ids.size).toBe(1);
  });

  test("a full queue still gives the old answer", async () => {
    await holdQueue();
    const receipt = await bot.accept(":h", key);
    for (let i = 2; i < 100; i++) await bot.accept(`:h ${i}`);
    expect((await bot.submit(":h new")).status).toBe(429);
    expect(await bot.accept(":h", key)).toEqual(receipt);
  });

  test("refusals are not remembered", async () => {
    expect((await bot.submit("", key)).status).toBe(400);
    const [first] = await fillQueue();
    expect((await bot.submit(":h", key)).status).toBe(429);
    await bot.ask("DELETE", `${COMMANDS}/${first}`);
    expect((await bot.submit(":m", key)).status).toBe(202);
  });

  test("after 24 h the key is new, and not a millisecond earlier", async () => {
    const { command_id } = await bot.accept(":h", key);
    await gateway.pass(24 * 3_600_000 - 1);
    expect((await bot.accept(":h", key)).command_id).toBe(command_id);
    await gateway.pass(1);
    expect((await bot.accept(":m", key)).command_id).not.toBe(command_id);
  });

  test.each(["a b", "x".repeat(256), "ü", ""])("%j is 400/5104 and names the header", async (value) => {
    await expectRefusal(await bot.submit(":h", { "Idempotency-Key": value }), 400, {
      code: 5104,
      message: "invalid_request",
      details: { "Idempotency-Key": expect.any(String) },
    });
  });

  test("255 visible characters are allowed", async () => {
    expect((await bot.submit(":h", { "Idempotency-Key": "~".repeat(255) })).status).toBe(202);
  });
});

describe("a server that is deleted", () => {
  test("fails its waiting commands, says how many, and nothing more is sent", async () => {
    const ids = [await holdQueue(), ...(await bot.acceptAll([":h 2", ":h 3"]))];
    const { admin } = gateway.gatehouse;
    const { serverId } = bot.home;
    const deleted = await admin("DELETE", `/admin/servers/${serverId}`);
    expect(await readAs<object>(deleted)).toEqual({ revoked_keys: 1, failed_commands: 3 });
    const listed = await readAs<PageBody<CommandBody>>(await admin("GET", `/admin/commands?server_id=${serverId}`));
    expect(listed.items.map(({ command_id }) => command_id)).toEqual(ids.toReversed());
    for (const { status, finished_at, upstream_message } of listed.items) {
      expect([status, finished_at]).toEqual(["failed", gateway.clock.now]);
      expect(upstream_message).toContain("deleted");
    }
    expect((await bot.ask("GET", COMMANDS)).status).toBe(401);
    gateway.game.reply = takes;
    await gateway.pass(86_000_000);
    expect(bot.got()).toEqual([":h held"]);
  });
});

describe("a key that is judged again when the body of its command has arrived", () => {
  type Case = [what: string, method: string, pathOf: () => string, body: object | undefined, due: number[]];
  const cases: Case[] = [
    ["its server is deleted", "DELETE", () => `/admin/servers/${bot.home.serverId}`, undefined, [401, 5008]],
    ["it is revoked", "DELETE", () => `/admin/keys/${bot.keyId}`, undefined, [401, 5008]],
    ["it is suspended", "PATCH", () => `/admin/keys/${bot.keyId}`, { suspended: true }, [403, 5009]],
  ];

  test.each(cases)("is refused when %s meanwhile, and nothing waits", async (_, method, pathOf, change, due) => {
    const { gatehouse } = gateway;
    const { store } = gatehouse.app;
    const { judge } = store.limits;
    const { promise: isJudged, resolve } = Promise.withResolvers<void>();
    store.limits.judge = (...asked) => {
      resolve();
      return judge.apply(store.limits, asked);
    };
    const socket = await openSocket({ port: gatehouse.app.port });
    const body = '{"command":":h late"}';
    const headers = [
      `Authorization: Bearer ${bot.token}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ];
    socket.write(writeRequest(COMMANDS, headers, "POST") + body.slice(0, 5));
    await isJudged;
    store.limits.judge = judge;
    expect((await gatehouse.admin(method, pathOf(), change)).ok).toBe(true);
    socket.write(body.slice(5));
    const answer = await socket.readAnswer();
    socket.destroy();
    expect([answer?.status, JSON.parse(answer?.body ?? "{}").code]).toEqual(due);
    expect((await store.commands.list({ serverId: bot.home.serverId, limit: 10 })).items).toEqual([]);
    expect(bot.got()).toEqual([]);
  });
});

describe("over a restart", () => {
  test("waiting commands, idempotency keys, holds and history survive; commands older than the history do not", async () => {
    const clock = new WorkerClock();
    const first = await startCommandGateway({ clock });
    const { game } = first;
    const { folder } = first.gatehouse;
    // Stopping must not delete the folder, because the second start needs it.
    const env = { GATEHOUSE_COMMAND_HISTORY_DAYS: "2", GATEHOUSE_UPSTREAM_URL: game.url };
    const tester = await addBot(first);
    const key = { "Idempotency-Key": "kept" };
    const sent = await tester.accept(":h 1", key);
    const waiting = await tester.accept(":h 2");
    await first.settle();
    await first.gatehouse.app.stop();

    const second = await startCommandGateway({ clock, game, folder, env });
    const again = reconnect(second, tester);
    await second.settle();
    expect(game.got.map(({ text }) => text)).toEqual([":h 1"]);
    expect(await again.accept(":h 1", key)).toEqual(sent);
    expect((await again.submit(":h other", key)).status).toBe(422);
    await second.pass(5_000);
    expect(game.got.map(({ text }) => text)).toEqual([":h 1", ":h 2"]);
    expect((await again.show(waiting.command_id)).status).toBe("sent");
    await second.gatehouse.app.stop();

    clock.advance(2 * 24 * 3_600_000 - 5_000 + 1);
    const third = await startCommandGateway({ clock, game, folder, env });
    const later = reconnect(third, tester);
    expect((await later.ask("GET", `${COMMANDS}/${sent.command_id}`)).status).toBe(404);
    expect((await later.ask("GET", `${COMMANDS}/${waiting.command_id}`)).status).toBe(200);
    await third.gatehouse.app.stop();
    await game.stop();
    await Bun.$`rm -rf ${folder}`.quiet();
  });

  test("a command that was accepted while its server was being deleted does not wait for ever", async () => {
    const first = await startCommandGateway();
    const { game, gatehouse } = first;
    const { folder } = gatehouse;
    const { keyId, home } = await addBot(first);
    const { serverId } = home;
    expect((await gatehouse.admin("DELETE", `/admin/servers/${serverId}`)).ok).toBe(true);
    const draft = { serverId, keyId, text: ":h late", idempotencyKey: undefined };
    await gatehouse.app.store.commands.accept(draft, first.clock.now);
    await gatehouse.app.stop();

    const env = { GATEHOUSE_UPSTREAM_URL: game.url };
    const second = await startCommandGateway({ clock: first.clock, game, folder, env });
    await second.settle();
    const { items } = await second.gatehouse.app.store.commands.list({ serverId, limit: 10 });
    expect(items.map(({ status }) => status)).toEqual(["failed"]);
    expect(game.got).toEqual([]);
    await second.gatehouse.app.stop();
    await game.stop();
    await Bun.$`rm -rf ${folder}`.quiet();
  });
});

function reconnect(to: CommandGateway, old: Bot): Bot {
  return createBot({ ...old, gatehouse: to.gatehouse, game: to.game });
}
