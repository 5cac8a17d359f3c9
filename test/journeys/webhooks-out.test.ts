// Webhooks to real receivers that fail, hang, reset, answer slowly, say 429, 404, 410 or redirect: every event arrives at least
// once and in order, and nobody waits for the others.
import { afterEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { writeCursor } from "../../src/core/events/cursor.ts";
import { filterAll } from "../../src/core/events/event-types.ts";
import type { Post } from "../../src/core/ports/post.ts";
import { writeWebhookSecret } from "../../src/core/webhooks/standard.ts";
import type { Webhook } from "../../src/core/webhooks/webhook.ts";
import type { Readiness } from "../../src/core/wire/health.ts";
import { createWebhookSealer, Sealer } from "../../src/database/sealer.ts";
import { createPinnedPost } from "../../src/webhooks-out/pinned-post.ts";
import { makeWebhook } from "../archive/webhook-samples.ts";
import { MemoryArchive, makeEvent } from "../event-archive.ts";
import { FakeDiscord } from "../fake-discord.ts";
import { FakeClock, makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { cleanUp, undoLater } from "../temporary.ts";
import { until } from "../until.ts";
import { type Reaction, WebhookReceiver } from "../webhook-receiver.ts";

const GATEHOUSE_SECRET = "a secret of thirty-two characters or more";
const SECRET = writeWebhookSecret(new Uint8Array(32).fill(1));
const OLD_SECRET = writeWebhookSecret(new Uint8Array(32).fill(2));
const SERVER = "srv_a";
/** A receiver that hangs is given up after this, where one hangs. */
const IMPATIENCE_MS = 250;
const PATIENCE_MS = 10_000;

const sealer = createWebhookSealer(new Sealer(GATEHOUSE_SECRET));
afterEach(cleanUp);

type Start = {
  readonly archive: MemoryArchive;
  readonly deadlineMs?: number;
  readonly folder?: string;
  /** Over the network by default. */
  readonly post?: Post;
};

async function start({ archive, deadlineMs = PATIENCE_MS, folder, post }: Start): Promise<TestGatehouse> {
  const clock = new FakeClock();
  // Signatures are judged by the real time.
  Object.assign(clock, { read: () => Date.now() });
  const gatehouse = await startGatehouse({
    archive,
    ...(folder !== undefined && { folder }),
    clock,
    env: { GATEHOUSE_SECRET, GATEHOUSE_WEBHOOKS_PRIVATE: "allow", GATEHOUSE_WEBHOOKS_RETRY_MS: "20,40" },
    post: post ?? createPinnedPost({ allowsPrivate: true, deadlineMs }),
  });
  undoLater(() => gatehouse.stop());
  return gatehouse;
}

async function addWebhook(archive: MemoryArchive, webhookId: string, url: string, changes: Partial<Webhook> = {}) {
  const webhook = makeWebhook({
    webhookId,
    serverId: SERVER,
    label: webhookId,
    format: "standard",
    createdAt: Date.now(),
    sealedUrl: sealer.seal(url, webhookId, "url"),
    shownUrl: url.split("/").slice(0, 4).join("/"),
    sealedSecret: sealer.seal(SECRET, webhookId, "secret"),
    ...changes,
  });
  expect(await archive.createWebhook(webhook)).toBe("created");
}

async function listIds(archive: MemoryArchive): Promise<string[]> {
  const page = await archive.readPage({
    serverId: SERVER,
    start: { after: "earliest" },
    filter: filterAll(),
    limit: 500,
  });
  if ("expired" in page) throw new Error("the ledger has expired");
  return page.events.map((event) => writeCursor(SERVER, event));
}

const FAULTS: readonly Reaction[] = [500, "hang", "reset", 429, "close", 404, "redirect", 408, 503, "slow", 422, 301];

test("every receiver gets every event at least once and in order, genuine by both secrets of a rotation", async () => {
  const archive = new MemoryArchive();
  const receivers: WebhookReceiver[] = [];
  for (let n = 0; n < 4; n++) {
    const receiver = await WebhookReceiver.start();
    undoLater(() => receiver.stop());
    receiver.secrets = [SECRET, OLD_SECRET];
    // Each begins with another fault, and between two faults something succeeds.
    receiver.react = (count) => (count % 3 === 0 ? 204 : (FAULTS[(count + 3 * n) % FAULTS.length] ?? 204));
    receivers.push(receiver);
    await addWebhook(archive, `hook_${n}`, receiver.url, {
      sealedOldSecret: sealer.seal(OLD_SECRET, `hook_${n}`, "secret"),
      oldSecretUntil: Date.now() + 3_600_000,
    });
  }
  const [dead, healthy] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
  undoLater(() => Promise.all([dead.stop(), healthy.stop()]));
  dead.react = () => "hang";
  await addWebhook(archive, "hook_dead", dead.url);
  await addWebhook(archive, "hook_healthy", healthy.url);
  const gatehouse = await start({ archive, deadlineMs: IMPATIENCE_MS });
  await archive.add(SERVER, ...Array.from({ length: 12 }, (_, n) => makeEvent(n)));
  const ids = await listIds(archive);
  await healthy.until(() => healthy.ids.length === ids.length);
  // Although the one that hangs has not got the first.
  expect(dead.accepted).toEqual([]);
  expect(healthy.ids).toEqual(ids);
  for (const receiver of receivers) {
    await receiver.until(() => receiver.ids.length === ids.length);
    expect(receiver.ids).toEqual(ids);
    expect(receiver.forged).toEqual([]);
    expect(receiver.requests).toBeGreaterThan(ids.length);
  }
  const logged = gatehouse.logLines.join("\n");
  expect(logged).not.toContain("receivers-secret");
  expect(logged).not.toContain("whsec_");
});

test("a webhook whose server is deleted while it is made is refused as one without a server", async () => {
  const archive = new MemoryArchive();
  const gatehouse = await start({ archive });
  const { serverId } = await gatehouse.addServer();
  const { createWebhook } = archive;
  archive.createWebhook = async (webhook) => {
    const created = await createWebhook.call(archive, webhook);
    await archive.deleteWebhook(webhook.webhookId);
    return created;
  };
  const body = { server_id: serverId, label: "x", url: "http://127.0.0.1:1/", format: "standard" };
  const answer = await gatehouse.admin("POST", "/admin/webhooks", body);
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { code: 5104, details: { server_id: expect.any(String) } },
  ]);
});

test("410 disables: in the audit log, in a notice and in the metrics, without anything secret", async () => {
  const archive = new MemoryArchive();
  const receiver = await WebhookReceiver.start();
  undoLater(() => receiver.stop());
  receiver.react = () => 410;
  await addWebhook(archive, "hook_gone", receiver.url);
  const gatehouse = await start({ archive });
  await archive.add(SERVER, makeEvent(1), makeEvent(2));
  await receiver.until(() => receiver.requests > 0);
  await until("it is still enabled", async () => !(await archive.findWebhook("hook_gone"))?.isEnabled);
  const audit = await (await gatehouse.admin("GET", "/admin/audit")).text();
  expect(audit).toContain('"webhook.disabled"');
  expect(audit).toContain('"hook_gone"');
  const ready = await (await gatehouse.admin("GET", "/readyz")).text();
  expect(ready).toContain('1 webhook was disabled because of its receiver (\\"hook_gone\\" of srv_a)');
  expect(await (await gatehouse.get("/readyz")).text()).not.toContain("hook_gone");
  const metrics = await (await gatehouse.admin("GET", "/metrics")).text();
  expect(metrics).toContain('gatehouse_webhook_attempts_total{outcome="disabled"} 1');
  expect(metrics).toContain('gatehouse_webhooks{state="disabled"} 1');
  expect(receiver.requests).toBe(1);
  for (const text of [audit, ready, metrics, gatehouse.logLines.join("\n")]) {
    expect(text).not.toContain("receivers-secret");
    expect(text).not.toContain("whsec_");
  }
});

test("a global limit of Discord is a notice, ends with the webhook that was told, and is believed from nobody else", async () => {
  const archive = new MemoryArchive();
  const limits = new Set(["/evil"]);
  const accepted = { "/evil": 0, "/told": 0, "/other": 0 };
  const gatehouse = await start({
    archive,
    post: async ({ url }) => {
      const about = { headers: {}, error: null, durationMs: 1 };
      const path = `/${url.pathname.split("/").at(-1)}` as keyof typeof accepted;
      if (limits.has(path)) return { ...about, status: 429, body: '{"global":true,"retry_after":86400}' };
      accepted[path]++;
      return { ...about, status: 200, body: "" };
    },
  });
  const { serverId } = await gatehouse.addServer();
  const create = async (url: string) => {
    const body = { server_id: serverId, label: "x", url, format: "discord" };
    const answer = await gatehouse.admin("POST", "/admin/webhooks", body);
    return ((await answer.json()) as { webhook_id: string }).webhook_id;
  };
  const readNotices = async () => {
    const { notices } = (await (await gatehouse.get("/readyz")).json()) as Readiness;
    return notices.filter(({ code }) => code === "discord_paused");
  };
  await create("https://evil.example/api/evil");
  const told = await create("https://discord.com/api/told");
  await archive.add(serverId, makeEvent(1));
  await until("nothing came", () => accepted["/told"] === 1);
  await create("https://discordapp.com/api/other");
  await archive.add(serverId, makeEvent(2));
  await until("a stranger paused Discord", () => accepted["/told"] === 2 && accepted["/other"] === 1);
  expect(await readNotices()).toEqual([]);
  limits.add("/told");
  await archive.add(serverId, makeEvent(3));
  await until("there is no notice", async () => (await readNotices()).length === 1);
  expect((await readNotices())[0]?.retry_after).toBeGreaterThan(0);
  const before = accepted["/other"];
  await archive.add(serverId, makeEvent(4));
  expect((await gatehouse.admin("DELETE", `/admin/webhooks/${told}`)).status).toBe(204);
  await until("the pause did not end", () => accepted["/other"] > before);
  expect(await readNotices()).toEqual([]);
});

const HOSTILE = [
  "**bold** __under__ ~~out~~ ||spoiler|| `code` ```js",
  "@everyone @here <@123> <@&456> <#789> <:x:1>",
  "[click](https://evil.example) https://evil.example discord.gg/x",
  "\u202eevil\u202c \u200b\u200d \u2066x",
  "مرحبا بالعالم",
  "🙂👩‍👩‍👧‍👦🏳️‍🌈".repeat(50),
  "x".repeat(10_000),
  "# heading\n- list\n> quote",
  "\ud800 half",
  "",
];

test("a strict Discord never has to refuse a message, whatever players are called, and keeps one status message", async () => {
  const archive = new MemoryArchive();
  const discord = new FakeDiscord({ limit: 3, windowMs: 150 });
  undoLater(() => discord.stop());
  const folder = makeTestFolder();
  undoLater(() => rmSync(folder, { recursive: true, force: true }));
  const first = await startGatehouse({ folder, env: { GATEHOUSE_SECRET } });
  const { serverId } = await first.addServer({ name: HOSTILE[0] ?? "" });
  await first.stop();
  const discords = { serverId, format: "discord" } as const;
  await addWebhook(archive, "hook_en", discord.urlOf(1), discords);
  await addWebhook(archive, "hook_ru", discord.urlOf(2), { ...discords, language: "ru" });
  await addWebhook(archive, "hook_status", discord.urlOf(3), { serverId, format: "discord-status" });
  const gatehouse = await start({ archive, folder });
  expect((await gatehouse.admin("GET", `/admin/servers/${serverId}/info`)).status).toBe(200);
  const events = Array.from({ length: 60 }, (_, n) => {
    const name = HOSTILE[n % HOSTILE.length] ?? "";
    const other = HOSTILE[(n * 7 + 3) % HOSTILE.length] ?? "";
    const data = {
      Killer: `${name}:1`,
      Killed: `${other}:2`,
      Player: `${name}:3`,
      Caller: `${name}:4`,
      Command: other,
    };
    const type =
      (["player.killed", "command.used", "modcall.opened", "player.joined"] as const)[n % 4] ?? "player.killed";
    return makeEvent(n, { type, data: JSON.stringify(data) });
  });
  await archive.add(serverId, ...events);
  const countEmbeds = (webhook: number) =>
    discord.messagesOf(webhook).reduce((sum, { body }) => sum + body.embeds.length, 0);
  await until("not all was posted", () => countEmbeds(1) === 60 && countEmbeds(2) === 60 && countEmbeds(3) === 1);
  expect(discord.refused).toEqual([]);
  expect([countEmbeds(1), countEmbeds(2)]).toEqual([60, 60]);
  const [status] = discord.messagesOf(3);
  expect(status?.body.embeds[0]?.title).toContain("Online");
  expect(status?.body.embeds[0]?.fields?.length).toBeGreaterThan(3);
});
