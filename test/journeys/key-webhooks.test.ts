// A bot that sets itself up: a key with the right `webhooks` manages the webhooks of its own server, and nothing else.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { GameServer } from "../../src/core/game-server.ts";
import type { KeyRights } from "../../src/core/keys/api-key.ts";
import { HIDES_JOIN_KEY, toAbilitySet } from "../../src/core/keys/rights.ts";
import { toSectionSet } from "../../src/core/sections.ts";
import type { DeliveryPage, WebhookResource, WebhookWithSecret } from "../../src/core/wire/webhook.ts";
import { createPinnedPost } from "../../src/webhooks-out/pinned-post.ts";
import { MemoryArchive, makeEvent } from "../event-archive.ts";
import { FakeClock, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { cleanUp, undoLater } from "../temporary.ts";
import { until } from "../until.ts";
import { WebhookReceiver } from "../webhook-receiver.ts";
import { createOperator, type PageBody } from "./operator.ts";

const HOOKS = "/admin/webhooks";
const MAY = toAbilitySet(["webhooks"]);
const NO_MASTER_KEY = { status: 401, code: 5006 };
const ROLE = { status: 403, code: 5009, details: { reason: "role" } };
const NOT_FOUND = { status: 404, code: 5020 };

const archive = new MemoryArchive();
let gatehouse: TestGatehouse;
let receiver: WebhookReceiver;
let town: GameServer;
let other: GameServer;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  const clock = new FakeClock();
  // The receiver judges signatures by the real time, give or take five minutes.
  clock.now = Date.now();
  const post = createPinnedPost({ allowsPrivate: true });
  gatehouse = await startGatehouse({ archive, clock, post, env: { GATEHOUSE_WEBHOOKS_PRIVATE: "allow" } });
  town = await gatehouse.addServer({ name: "Town" });
  other = await gatehouse.addServer({ name: "Other" });
});
afterAll(async () => {
  await gatehouse.stop();
  receiver.stop();
  await cleanUp();
});

type Answer<T> = { readonly status: number; readonly body: T; readonly code?: number; readonly details?: unknown };

async function send<T>(token: string, method: string, path: string, body?: unknown): Promise<Answer<T>> {
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(body !== undefined && { "Content-Type": "application/json" }),
  };
  const answer = await fetch(gatehouse.url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const parsed = text === "" ? {} : JSON.parse(text);
  const { code, details } = parsed as { code?: number; details?: unknown };
  return { status: answer.status, body: parsed as T, ...(code !== undefined && { code, details }) };
}

const newWebhook = ({ serverId }: GameServer, changes: object = {}) => ({
  server_id: serverId,
  label: "of a bot",
  url: receiver.url,
  format: "standard",
  types: ["player.killed"],
  ...changes,
});

async function addBot(rights: Partial<KeyRights & { expiresAt: number | null }> = {}) {
  const key = await gatehouse.addKey(town, { may: MAY, ...rights });
  return {
    ...key,
    send: <T = unknown>(method: string, path: string, body?: unknown) => send<T>(key.token, method, path, body),
  };
}

async function makeAsOperator(server: GameServer, changes: object = {}): Promise<string> {
  const answer = await gatehouse.admin("POST", HOOKS, newWebhook(server, changes));
  expect(answer.status).toBe(201);
  return ((await answer.json()) as WebhookResource).webhook_id;
}

test("a bot makes its webhook with its key, gets what happens, and changes, tests, rotates and deletes it", async () => {
  const bot = await addBot();
  expect((await bot.send<{ may: string[] }>("GET", "/v2/game/key")).body.may).toEqual(["webhooks"]);
  const { status, body: made } = await bot.send<WebhookWithSecret>("POST", HOOKS, newWebhook(town));
  expect(status).toBe(201);
  receiver.secrets = [made.secret];
  const path = `${HOOKS}/${made.webhook_id}`;
  expect((await bot.send("POST", `${path}/test`)).body).toMatchObject({ status: 204, error: null });
  await archive.add(town.serverId, makeEvent(1));
  await receiver.until(() => receiver.accepted.some(({ body }) => body.includes('"Killed":"B:1"')));
  expect(receiver.forged).toEqual([]);
  expect((await bot.send<WebhookResource>("GET", path)).body.label).toBe("of a bot");
  expect((await bot.send<WebhookResource>("PATCH", path, { label: "renamed" })).body.label).toBe("renamed");
  expect((await bot.send<DeliveryPage>("GET", `${path}/deliveries`)).status).toBe(200);
  expect((await bot.send("POST", `${path}/redeliver`, { after: "now" })).status).toBe(200);
  expect((await bot.send("POST", `${path}/rotate`)).status).toBe(200);
  expect((await bot.send("DELETE", path)).status).toBe(204);
  const audit = await gatehouse.admin("GET", `/admin/audit?actor=${bot.keyId}`);
  const { items } = (await audit.json()) as PageBody<{ action: string; actor: object }>;
  const actor = { kind: "key", id: bot.keyId, name: "test", address: "127.0.0.1" };
  expect(items.map((entry) => [entry.action, entry.actor]).toReversed()).toEqual(
    ["created", "changed", "redelivered", "rotated", "deleted"].map((what) => [`webhook.${what}`, actor]),
  );
});

test("a bot finds no webhook of another server, and makes none there", async () => {
  const bot = await addBot();
  const foreign = await makeAsOperator(other);
  const own = await makeAsOperator(town);
  const path = `${HOOKS}/${foreign}`;
  for (const [method, where, body] of [
    ["GET", path],
    ["PATCH", path, { label: "mine" }],
    ["DELETE", path],
    ["POST", `${path}/rotate`],
    ["POST", `${path}/test`],
    ["POST", `${path}/redeliver`, { after: "now" }],
    ["GET", `${path}/deliveries`],
    ["POST", HOOKS, newWebhook(other)],
  ] as const)
    expect([method, where, await bot.send(method, where, body)]).toMatchObject([method, where, NOT_FOUND]);
  const { items } = (await bot.send<PageBody<WebhookResource>>("GET", HOOKS)).body;
  expect(items.map(({ webhook_id }) => webhook_id)).toContain(own);
  expect(items.every(({ server_id }) => server_id === town.serverId)).toBe(true);
  expect((await bot.send("GET", `${HOOKS}?server_id=${other.serverId}`)).body).toEqual({ items: [], next: null });
});

test("no other path of the admin API is open to it", async () => {
  const bot = await addBot({ commands: ["*"] });
  for (const [method, path, body] of [
    ["GET", "/admin/servers"],
    ["GET", `/admin/servers/${town.serverId}`],
    ["PATCH", `/admin/servers/${town.serverId}`, { name: "Mine" }],
    ["GET", `/admin/servers/${town.serverId}/events`],
    ["GET", `/admin/servers/${town.serverId}/alerts`],
    ["GET", "/admin/keys"],
    ["PATCH", `/admin/keys/${bot.keyId}`, { may: [] }],
    ["GET", "/admin/people"],
    ["GET", "/admin/audit"],
    ["GET", "/admin/commands"],
  ] as const)
    expect([path, await bot.send(method, path, body)]).toMatchObject([path, ROLE]);
});

test("a key without the right is no master key", async () => {
  const bot = await addBot({ may: 0, commands: ["*"] });
  expect(await bot.send("GET", HOOKS)).toMatchObject(NO_MASTER_KEY);
  expect(await bot.send("POST", HOOKS, newWebhook(town))).toMatchObject(NO_MASTER_KEY);
  expect(await bot.send("GET", "/admin/servers")).toMatchObject(NO_MASTER_KEY);
});

test("every rule of a key holds, and a right that is taken, a suspension or the end counts at once", async () => {
  const operator = createOperator(gatehouse);
  const bot = await addBot();
  const change = (body: object) => gatehouse.admin("PATCH", `/admin/keys/${bot.keyId}`, body);
  const steps = [
    [{ suspended: true }, { status: 403, code: 5009, details: { reason: "suspended" } }],
    [{ suspended: false }, { status: 200 }],
    [{ ip_allow: ["203.0.113.7"] }, { status: 403, code: 5009, details: { reason: "address" } }],
    [{ ip_allow: [] }, { status: 200 }],
    [{ versions: ["v1"] }, { status: 403, code: 5010 }],
    [{ versions: ["v2"] }, { status: 200 }],
    [{ may: [] }, NO_MASTER_KEY],
    [{ may: ["webhooks"] }, { status: 200 }],
  ] as const;
  for (const [body, expected] of steps) {
    expect((await change(body)).status).toBe(200);
    expect([body, await bot.send("GET", HOOKS)]).toMatchObject([body, expected]);
  }
  await operator.revoke({ key_id: bot.keyId });
  expect(await bot.send("GET", HOOKS)).toMatchObject(NO_MASTER_KEY);
  const expired = await addBot({ expiresAt: 1 });
  expect(await expired.send("GET", HOOKS)).toMatchObject(NO_MASTER_KEY);
});

test("its requests count like reads, and a block holds here too", async () => {
  const bot = await addBot();
  const headers = { Authorization: `Bearer ${bot.token}` };
  const first = await fetch(gatehouse.url + HOOKS, { headers });
  expect([first.status, first.headers.get("x-ratelimit-remaining")]).toEqual([200, "119"]);
  const byMaster = await gatehouse.admin("GET", HOOKS);
  expect([byMaster.status, byMaster.headers.get("x-ratelimit-remaining")]).toEqual([200, null]);
  for (let n = 1; n < 120; n++) expect((await bot.send("GET", HOOKS)).status).toBe(200);
  expect(await bot.send("GET", HOOKS)).toMatchObject({ status: 429, code: 5016 });
  expect(await bot.send("GET", "/v2/game/key")).toMatchObject({ status: 429, code: 5016 });
  const { keyId } = bot;
  for (let n = 0; n < 400; n++)
    await gatehouse.app.store.limits.judge({ keyId, serverId: town.serverId }, gatehouse.clock.now, true);
  expect(await bot.send("GET", HOOKS)).toMatchObject({ status: 429, code: 5100 });
});

test("no webhook tells a bot what its key may not read, nor can it touch or overhear one that does", async () => {
  const bot = await addBot({ sections: toSectionSet(["Players", "Queue", "ModCalls"]), hide: HIDES_JOIN_KEY });
  const make = (changes: object) => bot.send("POST", HOOKS, newWebhook(town, changes));
  for (const changes of [
    {},
    { types: null },
    { types: ["server.*"] },
    { types: ["queue.changed"], show_join_key: true },
    { types: ["custom.unknown"] },
    { format: "discord-status", types: null },
  ])
    expect([changes, await make(changes)]).toMatchObject([changes, ROLE]);
  const made = await bot.send<WebhookResource>("POST", HOOKS, newWebhook(town, { types: ["queue.changed"] }));
  expect(made.status).toBe(201);
  expect(await bot.send("PATCH", `${HOOKS}/${made.body.webhook_id}`, { types: ["player.killed"] })).toMatchObject(ROLE);

  const echo = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (got) => new Response(got.body, { status: 400 }),
  });
  undoLater(() => echo.stop(true));
  const above = await makeAsOperator(town, { url: echo.url.href });
  const path = `${HOOKS}/${above}`;
  for (const [method, where, body] of [
    ["PATCH", path, { url: `${receiver.url}/mine` }],
    ["POST", `${path}/rotate`],
    ["POST", `${path}/redeliver`, { after: "earliest" }],
    ["DELETE", path],
  ] as const)
    expect([where, await bot.send(method, where, body)]).toMatchObject([where, ROLE]);
  // The receiver repeats what it was sent.
  await archive.add(town.serverId, makeEvent(7));
  const listAs = async (token: string) =>
    (await send<DeliveryPage>(token, "GET", `${path}/deliveries`)).body.items.map(({ error }) => error ?? "");
  await until("nothing was delivered", async () => (await listAs(gatehouse.masterKey)).length > 0);
  expect((await listAs(gatehouse.masterKey)).join("")).toContain("player.killed");
  expect((await listAs(bot.token)).join("")).not.toContain("player.killed");
});

test("a key without Players makes no webhook whose messages name the caller of an emergency call", async () => {
  const types = ["call.*"];
  const blind = await addBot({ sections: toSectionSet(["EmergencyCalls"]) });
  expect(await blind.send("POST", HOOKS, newWebhook(town, { types, format: "discord" }))).toMatchObject(ROLE);
  // A program gets the event, which has only the caller's id.
  expect((await blind.send("POST", HOOKS, newWebhook(town, { types }))).status).toBe(201);
  const seeing = await addBot({ sections: toSectionSet(["EmergencyCalls", "Players"]) });
  expect((await seeing.send("POST", HOOKS, newWebhook(town, { types, format: "discord" }))).status).toBe(201);
});

test("a key whose rights shrink can no longer change the webhook that it made before, which stays the server's", async () => {
  const bot = await addBot();
  const made = await bot.send<WebhookResource>("POST", HOOKS, newWebhook(town));
  const path = `${HOOKS}/${made.body.webhook_id}`;
  const change = (body: object) => gatehouse.admin("PATCH", `/admin/keys/${bot.keyId}`, body);
  expect((await change({ sections: [] })).status).toBe(200);
  for (const [method, where, body] of [
    ["PATCH", path, { url: `${receiver.url}/mine` }],
    ["POST", `${path}/redeliver`, { after: "earliest" }],
    ["POST", `${path}/rotate`],
  ] as const)
    expect([where, await bot.send(method, where, body)]).toMatchObject([where, ROLE]);
  await createOperator(gatehouse).revoke({ key_id: bot.keyId });
  expect((await gatehouse.admin("GET", path)).status).toBe(200);
});
