// Webhooks through the admin API of the whole app: what an operator sets, sees and gets refused.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ArchiveUnavailable } from "../../src/core/errors.ts";
import { writeCursor } from "../../src/core/events/cursor.ts";
import { filterAll } from "../../src/core/events/event-types.ts";
import type { Post, PostOutcome } from "../../src/core/ports/post.ts";
import type {
  DeliveryPage,
  RotatedWebhook,
  WebhookTestResult,
  WebhookWithSecret,
} from "../../src/core/wire/webhook.ts";
import { createPinnedPost } from "../../src/webhooks-out/pinned-post.ts";
import { EVENT_AT, MemoryArchive, makeEvent } from "../event-archive.ts";
import { PRIVATE_HOSTS } from "../private-hosts.ts";
import { makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { createOperator, expectRefusal, type PageBody, type RefusalBody, readAs } from "./operator.ts";

type WebhookBody = Omit<WebhookWithSecret, "secret"> & { readonly secret?: string };

const HOOKS = "/admin/webhooks";
/** The parts of the url that nobody may see again. */
const TOKEN = "CanaryToken7Qx2Lw8Zt4";
const URL_OF_DISCORD = `https://discord.test/api/webhooks/1234567890/${TOKEN}?thread_id=CanaryThread99`;

const archive = new MemoryArchive();
let gatehouse: TestGatehouse;
let operator: ReturnType<typeof createOperator>;
type Request = { readonly path: string; readonly headers: Headers; readonly body: string };
const requests: Request[] = [];
let answerReceiver = (): Response => new Response(null, { status: 204 });
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    requests.push({ path: pathname + search, headers: request.headers, body: await request.text() });
    return answerReceiver();
  },
});

/** Deliveries wait until the end, so that they change nothing of what is tested. Tests are sent. */
const deliveries = Promise.withResolvers<void>();
const accepted: PostOutcome = { status: 204, headers: {}, body: "", error: null, durationMs: 1 };
const sendTests: Post = createPinnedPost({ allowsPrivate: false });
const post: Post = async (request, stop) => {
  if (!stop) return sendTests(request);
  await deliveries.promise;
  return accepted;
};

beforeAll(async () => {
  gatehouse = await startGatehouse({ archive, post, env: { GATEHOUSE_LOG_LEVEL: "trace" } });
  operator = createOperator(gatehouse);
});
afterAll(async () => {
  deliveries.resolve();
  await gatehouse.stop();
  await receiver.stop(true);
});

async function create(changes: object = {}, at = gatehouse): Promise<Required<WebhookBody>> {
  const { serverId } = await at.addServer({ name: `Town ${Math.random()}` });
  const body = { server_id: serverId, label: "#mod-log", url: URL_OF_DISCORD, format: "discord", ...changes };
  return readAs(await at.admin("POST", HOOKS, body), 201);
}

const show = async (id: string) => readAs<WebhookBody>(await gatehouse.admin("GET", `${HOOKS}/${id}`));
const patch = (id: string, body: unknown) => gatehouse.admin("PATCH", `${HOOKS}/${id}`, body);
const redeliver = (id: string, after: unknown) => gatehouse.admin("POST", `${HOOKS}/${id}/redeliver`, { after });
const listWebhooks = async (query: string) =>
  readAs<PageBody<WebhookBody>>(await gatehouse.admin("GET", `${HOOKS}?${query}`));

async function refusalOf(answer: Response): Promise<[number, number, RefusalBody["details"]]> {
  const { code, details } = (await answer.json()) as RefusalBody;
  return [answer.status, code, details];
}

const codeOf = async (answer: Response) => (await refusalOf(answer)).slice(0, 2);

/** The cursors of a server's events, oldest first. */
async function listCursors(serverId: string): Promise<string[]> {
  const page = await archive.readPage({
    serverId,
    start: { after: "earliest" },
    filter: filterAll(),
    limit: 100,
  });
  return "expired" in page ? [] : page.events.map((event) => writeCursor(serverId, event));
}

describe("a webhook", () => {
  test("is created with defaults and a secret that is shown once, and its address only in part", async () => {
    const { secret, ...created } = await create();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(created).toEqual({
      webhook_id: expect.stringMatching(/^hook_[0-9A-Za-z]{20}$/),
      server_id: expect.stringMatching(/^srv_/),
      label: "#mod-log",
      url: "https://discord.test/api",
      format: "discord",
      types: null,
      language: "en",
      show_join_key: false,
      enabled: true,
      disabled_reason: null,
      disabled_code: null,
      created_at: gatehouse.clock.now,
      last_success_at: null,
      last_failure_at: null,
      waiting: 0,
    });
    expect(await show(created.webhook_id)).toEqual(created);
    const { items, next } = await listWebhooks(`server_id=${created.server_id}`);
    expect([items, next]).toEqual([[created], null]);
  });

  test("is listed with the others in pages, oldest first, and for one server", async () => {
    const first = await create();
    gatehouse.clock.advance(1);
    const others = [await create({ server_id: first.server_id }), await create({ server_id: first.server_id })];
    const ids = others.map(({ webhook_id }) => webhook_id).sort();
    const query = `server_id=${first.server_id}&limit=2`;
    const page = await listWebhooks(query);
    expect(page.items.map(({ webhook_id }) => webhook_id)).toEqual([first.webhook_id, ids[0] ?? ""]);
    const rest = await listWebhooks(`${query}&cursor=${page.next}`);
    expect([rest.items.map(({ webhook_id }) => webhook_id), rest.next]).toEqual([[ids[1] ?? ""], null]);
    expect((await operator.list(HOOKS)).length).toBeGreaterThan(3);
    expect((await listWebhooks("server_id=srv_none")).items).toEqual([]);
    expect(await codeOf(await gatehouse.admin("GET", `${HOOKS}?server_id=x`))).toEqual([400, 5104]);
  });

  test("begins at now, and counts what waits by its types without backfill", async () => {
    const { serverId } = await gatehouse.addServer();
    await archive.add(serverId, makeEvent(1));
    const all = await create({ server_id: serverId });
    const joins = await create({ server_id: serverId, types: ["player.joined", "modcall.*"] });
    const state = await create({ server_id: serverId, format: "discord-status" });
    await archive.add(
      serverId,
      makeEvent(2),
      makeEvent(3, { type: "player.joined" }),
      makeEvent(4, { isBackfill: true }),
    );
    const { items } = await listWebhooks(`server_id=${serverId}`);
    const waiting = new Map(items.map(({ webhook_id, waiting }) => [webhook_id, waiting]));
    const ids = [all, joins, state].map(({ webhook_id }) => webhook_id);
    expect(ids.map((id) => waiting.get(id))).toEqual([2, 1, 0]);
  });

  test("is changed, and the audit log has what was set, with the address only in part", async () => {
    const { webhook_id: id, server_id } = await create();
    const change = {
      label: "other",
      url: `https://discord.test/api/webhooks/2/Canary-second`,
      types: ["gap"],
      language: "ru",
      show_join_key: true,
      enabled: false,
    };
    const changed = await readAs<WebhookBody>(await patch(id, change));
    expect(changed).toMatchObject({ ...change, url: "https://discord.test/api", disabled_reason: null });
    expect(await show(id)).toEqual(changed);
    // Nothing is different, so nothing is noted.
    await readAs(await patch(id, change));
    await readAs(await patch(id, {}));
    expect((await readAs<WebhookBody>(await patch(id, { types: null }))).types).toBeNull();
    const settings = { label: "#mod-log", url: "https://discord.test/api", format: "discord", types: null };
    const created = { server_id, ...settings, language: "en", show_join_key: false, enabled: true };
    const { format, server_id: _, ...before } = created;
    const entries = (await operator.listAudit()).filter(({ target }) => target === id);
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ["webhook.changed", { before: { types: ["gap"] }, after: { types: null } }],
      ["webhook.changed", { before, after: { ...change, url: "https://discord.test/api" } }],
      ["webhook.created", { after: created }],
    ]);
    expect(format).toBe("discord");
  });

  test("is deleted, and then unknown everywhere, like one that never was", async () => {
    const { webhook_id: id } = await create();
    const removed = await gatehouse.admin("DELETE", `${HOOKS}/${id}`);
    expect([removed.status, await removed.text()]).toEqual([204, ""]);
    for (const [method, rest, body] of [
      ["GET", "", undefined],
      ["PATCH", "", { label: "x" }],
      ["DELETE", "", undefined],
      ["POST", "/rotate", undefined],
      ["POST", "/test", undefined],
      ["POST", "/redeliver", { after: "now" }],
      ["GET", "/deliveries", undefined],
    ] as const)
      await expectRefusal(await gatehouse.admin(method, `${HOOKS}/${id}${rest}`, body), 404, {
        code: 5020,
        message: "not_found",
      });
    const { action, details } = (await operator.listAudit())[0] ?? {};
    expect([action, details?.before]).toMatchObject(["webhook.deleted", { url: "https://discord.test/api" }]);
  });

  test("goes with its server", async () => {
    const { webhook_id: id, server_id } = await create();
    expect((await gatehouse.admin("DELETE", `/admin/servers/${server_id}`)).status).toBe(200);
    expect((await gatehouse.admin("GET", `${HOOKS}/${id}`)).status).toBe(404);
    expect((await listWebhooks(`server_id=${server_id}`)).items).toEqual([]);
  });

  test("enabled again goes on where it was, with a clean record", async () => {
    const { webhook_id: id, server_id } = await create();
    await archive.add(server_id, makeEvent(1));
    const lost = { messageId: "1", editedAt: EVENT_AT, fingerprint: "", lostAt: EVENT_AT };
    const failing = { failures: 9, refusals: 2, firstFailureAt: EVENT_AT, nextAttemptAt: EVENT_AT + 1 };
    const disabled = { isEnabled: false, disabledReason: "Gone.", message: lost, lastFailureAt: EVENT_AT };
    await archive.updateWebhook(id, { ...failing, ...disabled });
    const before = await archive.findWebhook(id);
    expect(await show(id)).toMatchObject({ enabled: false, disabled_reason: "Gone.", waiting: 1 });
    // The reason is Gatehouse's, so it stays when the operator disables it too.
    expect(await readAs(await patch(id, { enabled: false }))).toMatchObject({ disabled_reason: "Gone." });
    expect(await readAs(await patch(id, { enabled: true }))).toMatchObject({
      enabled: true,
      disabled_reason: null,
      last_failure_at: EVENT_AT,
      waiting: 1,
    });
    expect(await archive.findWebhook(id)).toMatchObject({
      place: before?.place ?? {},
      failures: 0,
      refusals: 0,
      firstFailureAt: null,
      nextAttemptAt: null,
      message: { ...lost, lostAt: null },
    });
  });

  test("with another address is tried at once, and posts its message anew", async () => {
    const { webhook_id: id } = await create({ format: "discord-status" });
    const message = { messageId: "1", editedAt: EVENT_AT, fingerprint: "", lostAt: null };
    await archive.updateWebhook(id, { failures: 3, nextAttemptAt: EVENT_AT + 9, message });
    await readAs(await patch(id, { url: URL_OF_DISCORD }));
    expect(await archive.findWebhook(id)).toMatchObject({ failures: 3, message });
    await readAs(await patch(id, { url: `${URL_OF_DISCORD}0` }));
    expect(await archive.findWebhook(id)).toMatchObject({ failures: 0, nextAttemptAt: null, message: null });
  });
});

describe("refused is", () => {
  test.each<[string, object, string]>([
    ["an address without TLS", { url: "http://example.org/" }, "url"],
    ["an address with a password", { url: "https://user:secret@example.org/" }, "url"],
    ["a private address", { url: "https://127.0.0.1/" }, "url"],
    ["no address at all", { url: "discord" }, "url"],
    ["an unknown type", { types: ["player.jumped"] }, "types"],
    ["a type twice", { types: ["gap", "gap"] }, "types"],
    ["an empty list of types", { types: [] }, "types"],
    ["a list of 65 types", { types: Array(65).fill("gap") }, "types"],
    ["a list of 2,000 characters", { types: Array(50).fill("x".repeat(40)) }, "types"],
    ["an unknown language", { language: "fr" }, "language"],
    ["an empty label", { label: " " }, "label"],
    ["a number for show_join_key", { show_join_key: 1 }, "show_join_key"],
    ["a field that there is not", { secret: "mine" }, "secret"],
  ])("%s, in a new webhook and in a change", async (_, wrong, field) => {
    const { webhook_id: id, server_id } = await create();
    const body = { server_id, label: "x", url: URL_OF_DISCORD, format: "standard", ...wrong };
    for (const answer of [await gatehouse.admin("POST", HOOKS, body), await patch(id, wrong)])
      expect(await refusalOf(answer)).toEqual([400, 5104, { [field]: expect.any(String) }]);
  });

  test("a private address in every disguise, in a new webhook and in a change", async () => {
    const { webhook_id: id, server_id } = await create();
    const problem = { url: "must not be a private address" };
    for (const host of PRIVATE_HOSTS) {
      const url = `https://${host}/hook`;
      const body = { server_id, label: "x", url, format: "standard" };
      for (const answer of [await gatehouse.admin("POST", HOOKS, body), await patch(id, { url })])
        expect([host, ...(await refusalOf(answer))]).toEqual([host, 400, 5104, problem]);
    }
    expect((await listWebhooks(`server_id=${server_id}`)).items).toHaveLength(1);
  });

  test("an unknown format, a server that there is not, and a change of what never changes", async () => {
    const { webhook_id: id, server_id } = await create();
    const body = { server_id, label: "x", url: URL_OF_DISCORD, format: "standard" };
    const post = (changes: object) => gatehouse.admin("POST", HOOKS, { ...body, ...changes });
    expect(await refusalOf(await post({ format: "slack" }))).toEqual([
      400,
      5104,
      { format: expect.stringContaining("must be one of") },
    ]);
    const unknown = await refusalOf(await post({ server_id: "srv_none" }));
    expect(unknown).toEqual([400, 5104, { server_id: "there is no such server" }]);
    expect(await codeOf(await patch(id, { format: "standard" }))).toEqual([400, 5104]);
  });

  test("the 21st webhook of a server, and it is not in the audit log", async () => {
    const { server_id } = await create();
    for (let n = 1; n < 20; n++) await create({ server_id });
    const body = { server_id, label: "x", url: URL_OF_DISCORD, format: "standard" };
    const last = (await operator.listAudit())[0];
    expect(await refusalOf(await gatehouse.admin("POST", HOOKS, body))).toEqual([
      409,
      5104,
      { server_id: "has 20 webhooks already, which is the most" },
    ]);
    expect((await operator.listAudit())[0]).toEqual(last as NonNullable<typeof last>);
    expect((await listWebhooks(`server_id=${server_id}`)).items).toHaveLength(20);
  });

  test("everything without an archive (501), and while the archive is away (503)", async () => {
    const { webhook_id: id, server_id } = await create();
    const bare = await startGatehouse();
    const body = { server_id, label: "x", url: URL_OF_DISCORD, format: "standard" };
    const all = [
      ["GET", "", undefined],
      ["POST", "", body],
      ["GET", `/${id}`, undefined],
      ["PATCH", `/${id}`, { label: "y" }],
      ["DELETE", `/${id}`, undefined],
      ["POST", `/${id}/rotate`, undefined],
      ["POST", `/${id}/test`, undefined],
      ["POST", `/${id}/redeliver`, { after: "now" }],
      ["GET", `/${id}/deliveries`, undefined],
    ] as const;
    archive.fault = new ArchiveUnavailable("away");
    for (const [method, path, sent] of all) {
      const [off, away] = [
        await bare.admin(method, HOOKS + path, sent),
        await gatehouse.admin(method, HOOKS + path, sent),
      ];
      expect([method, path, ...(await codeOf(off))]).toEqual([method, path, 501, 5110]);
      expect([method, path, ...(await codeOf(away))]).toEqual([method, path, 503, 5106]);
    }
    archive.fault = undefined;
    await bare.stop();
    expect((await gatehouse.get(HOOKS)).status).toBe(401);
  });
});

describe("sending again", () => {
  test("moves the webhook to the place that is named, and it waits for all that follows", async () => {
    const { webhook_id: id, server_id } = await create();
    await archive.add(server_id, makeEvent(1), makeEvent(2), makeEvent(3));
    const [first = "", second = ""] = await listCursors(server_id);
    const waitingAfter = async (after: string) => (await readAs<WebhookBody>(await redeliver(id, after))).waiting;
    expect(await waitingAfter(second)).toBe(1);
    await archive.updateWebhook(id, { refusals: 4, nextAttemptAt: EVENT_AT });
    expect(await waitingAfter(first)).toBe(2);
    expect(await archive.findWebhook(id)).toMatchObject({ refusals: 0, nextAttemptAt: null });
    expect([await waitingAfter("earliest"), await waitingAfter("now")]).toEqual([3, 0]);
    const { action, details } = (await operator.listAudit())[2] ?? {};
    expect([action, details]).toEqual(["webhook.redelivered", { before: { after: second }, after: { after: first } }]);
  });

  test("is refused for another server's cursor, no cursor, one that is not kept, and a status message", async () => {
    const { webhook_id: id, server_id } = await create();
    const other = await create();
    await archive.add(other.server_id, makeEvent(1));
    await archive.add(server_id, makeEvent(1));
    const [foreign = ""] = await listCursors(other.server_id);
    for (const [after, reason] of [
      [foreign, "is a cursor of another server"],
      ["yesterday", "must be a cursor, earliest or now"],
      [7, "must be a cursor of the webhook's server, earliest or now"],
    ] as const)
      expect(await refusalOf(await redeliver(id, after))).toEqual([400, 5104, { after: reason }]);
    const gone = writeCursor(server_id, { number: 99, mark: 1 });
    const oldest = expect.stringMatching(/^[\w-]{24}$/);
    await expectRefusal(await redeliver(id, gone), 410, { code: 5108, message: "cursor_expired", oldest });
    const state = await create({ format: "discord-status" });
    expect(await codeOf(await redeliver(state.webhook_id, "now"))).toEqual([409, 5104]);
  });
});

test("deliveries are listed newest first, all in one page or in several", async () => {
  const { webhook_id: id, server_id } = await create();
  const { place } = (await archive.findWebhook(id)) ?? {};
  if (!place) throw new Error("the webhook is gone");
  for (let n = 0; n < 5; n++) {
    // Two have the same time, where a page ends.
    const at = EVENT_AT + (n === 2 ? 3 : n);
    const failed = { status: null, error: "timeout" };
    const delivery = {
      at,
      eventIds: [`event${n}`],
      status: 204,
      durationMs: n,
      error: null,
      sealedAnswer: null,
    };
    await archive.noteAttempt(id, { place }, {}, n === 4 ? { ...delivery, ...failed } : delivery);
  }
  const list = async (query: string) =>
    readAs<DeliveryPage>(await gatehouse.admin("GET", `${HOOKS}/${id}/deliveries?${query}`));
  const all = await list("");
  expect([all.items.map(({ event_ids }) => event_ids[0]), all.next]).toEqual([
    ["event4", "event3", "event2", "event1", "event0"],
    null,
  ]);
  expect(all.items[0]).toEqual({
    at: EVENT_AT + 4,
    event_ids: ["event4"],
    status: null,
    duration_ms: 4,
    error: "timeout",
    error_code: "timeout",
  });
  const paged: unknown[] = [];
  let next: string | null = "";
  while (next !== null) {
    const page: DeliveryPage = await list(`limit=2${next && `&cursor=${next}`}`);
    paged.push(...page.items);
    next = page.next;
  }
  expect(paged).toEqual([...all.items]);
  const other = await create({ server_id });
  const { next: cursor } = await list("limit=2");
  const foreign = await gatehouse.admin("GET", `${HOOKS}/${other.webhook_id}/deliveries?cursor=${cursor}`);
  expect(await refusalOf(foreign)).toEqual([400, 5104, { cursor: expect.stringContaining("next") }]);
});

describe("a test", () => {
  let near: TestGatehouse;
  const own = new MemoryArchive();
  const url = `http://127.0.0.1:${receiver.port}/hook/${TOKEN}`;
  beforeAll(async () => {
    near = await startGatehouse({
      archive: own,
      env: { GATEHOUSE_WEBHOOKS_PRIVATE: "allow", GATEHOUSE_LOG_LEVEL: "trace" },
    });
  });
  afterAll(() => near.stop());

  const runTest = async (id: string, at = near) =>
    readAs<WebhookTestResult>(await at.admin("POST", `${HOOKS}/${id}/test`));

  test("is signed as every request is, with two secrets during a rotation, and is no event", async () => {
    const { Webhook: Verifier } = await import("standardwebhooks");
    const { webhook_id: id, server_id, secret } = await create({ url, format: "standard" }, near);
    requests.length = 0;
    expect(await runTest(id)).toEqual({ status: 204, duration_ms: expect.any(Number), error: null, error_code: null });
    const rotated = await readAs<RotatedWebhook>(await near.admin("POST", `${HOOKS}/${id}/rotate`));
    expect(rotated).toEqual({ webhook_id: id, secret: expect.stringMatching(/^whsec_/) });
    expect(rotated.secret).not.toBe(secret);
    await runTest(id);
    near.clock.advance(24 * 3_600_000);
    await runTest(id);
    const accepts = (request: Request | undefined, by: string) => {
      const headers = Object.fromEntries(request?.headers ?? []);
      // The package has a clock of its own.
      const at = Number(headers["webhook-timestamp"]);
      const { now } = Date;
      Date.now = () => at * 1000;
      try {
        return new Verifier(by).verify(request?.body ?? "", headers) as object;
      } catch {
        return undefined;
      } finally {
        Date.now = now;
      }
    };
    const [first, during, after] = requests;
    expect(accepts(first, secret)).toMatchObject({
      type: "webhook.test",
      data: { webhook_id: id, server_id },
    });
    expect([accepts(during, secret), accepts(during, rotated.secret)]).not.toContain(undefined);
    expect([accepts(after, secret), typeof accepts(after, rotated.secret)]).toEqual([undefined, "object"]);
    expect(first?.headers.get("user-agent")).toStartWith("Gatehouse/");
    const untouched = { lastSuccessAt: null, lastFailureAt: null, failures: 0 };
    expect(await own.findWebhook(id)).toMatchObject(untouched);
    expect(await own.listDeliveries(id)).toEqual([]);
  });

  test("of a Discord webhook is an embed in its language that notifies nobody", async () => {
    const { webhook_id: id } = await create({ url, language: "ru" }, near);
    requests.length = 0;
    await runTest(id);
    expect(requests[0]?.path).toBe(`/hook/${TOKEN}?wait=true`);
    const message = JSON.parse(requests[0]?.body ?? "") as { embeds: unknown[] };
    expect(message).toMatchObject({ allowed_mentions: { parse: [] } });
    expect(JSON.stringify(message.embeds)).toMatch(/[а-я]/);
  });

  test("tells what the receiver said, without the secret part of the address", async () => {
    const { webhook_id: id } = await create({ url, format: "standard" }, near);
    answerReceiver = () => new Response(`no such hook: ${TOKEN}\u0000`, { status: 404 });
    expect(await runTest(id)).toMatchObject({ status: 404, error: "no such hook: [redacted]" });
    answerReceiver = () => new Response(null, { status: 302, headers: { Location: "http://127.0.0.1:1/" } });
    expect(await runTest(id)).toMatchObject({ status: 302, error: "status 302" });
    answerReceiver = () => new Response(null, { status: 204 });
    const nowhere = await create({ url: "http://127.0.0.1:1/", format: "standard" }, near);
    expect(await runTest(nowhere.webhook_id)).toMatchObject({ status: null, error: "connection" });
  });

  test("goes to no private address, also when a name leads there", async () => {
    const { webhook_id: id } = await create({
      url: `https://localhost:${receiver.port}/`,
      format: "standard",
    });
    expect(await runTest(id, gatehouse)).toMatchObject({ status: null, error: "private_address" });
  });

  test("of a webhook that was encrypted with another secret says so", async () => {
    const { webhook_id: id } = await create({ url, format: "standard" }, near);
    await own.updateWebhook(id, { sealedUrl: "not ours", sealedSecret: "nor this" });
    const unreadable = { status: null, duration_ms: 0, error: "unreadable_url", error_code: "unreadable_url" };
    expect(await runTest(id)).toEqual(unreadable);
    // The operator can give it the address again, and another secret.
    await readAs(await near.admin("PATCH", `${HOOKS}/${id}`, { url }));
    expect(await runTest(id)).toEqual(unreadable);
    await readAs(await near.admin("POST", `${HOOKS}/${id}/rotate`));
    expect(await runTest(id)).toMatchObject({ status: 204 });
  });

  test("is not begun while ten are under way", async () => {
    const { webhook_id: id } = await create({ url, format: "standard" }, near);
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    const { promise: areStuck, resolve: tellStuck } = Promise.withResolvers<void>();
    let stuck = 0;
    const slow = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch() {
        if (++stuck === 10) tellStuck();
        await isFree;
        return new Response(null, { status: 204 });
      },
    });
    await readAs(await near.admin("PATCH", `${HOOKS}/${id}`, { url: `http://127.0.0.1:${slow.port}/` }));
    const waiting = Array.from({ length: 10 }, () => runTest(id));
    await areStuck;
    expect(await codeOf(await near.admin("POST", `${HOOKS}/${id}/test`))).toEqual([503, 5106]);
    free();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(10).fill(204));
    expect(await runTest(id)).toMatchObject({ status: 204 });
    await slow.stop(true);
  });

  test("and nothing else leaves a secret in an answer, the log, the audit log, the metrics or the archive", async () => {
    for (const at of [gatehouse, near]) {
      const { webhook_id: id, secret } = await create(
        { url, types: null, ...(at === gatehouse && { url: URL_OF_DISCORD }) },
        at,
      );
      const answers: string[] = [];
      for (const [method, path, body] of [
        ["GET", HOOKS, undefined],
        ["GET", `${HOOKS}/${id}`, undefined],
        ["PATCH", `${HOOKS}/${id}`, { url: `${URL_OF_DISCORD}#x`, label: "y" }],
        ["PATCH", `${HOOKS}/${id}`, { url: `http://user:${TOKEN}@127.0.0.1/${TOKEN}` }],
        ["PATCH", `${HOOKS}/${id}`, { url: `https:// /${TOKEN}` }],
        ["PATCH", `${HOOKS}/${id}`, { types: [TOKEN], [TOKEN.repeat(3)]: 1, enabled: TOKEN }],
        ["POST", HOOKS, { server_id: TOKEN, format: TOKEN, url: `${TOKEN}://x`, language: TOKEN }],
        ["POST", `${HOOKS}/${id}/redeliver`, { after: TOKEN }],
        ["GET", `${HOOKS}/${id}/deliveries?cursor=${TOKEN}`, undefined],
        ["GET", `${HOOKS}/${TOKEN}`, undefined],
        ["GET", "/admin/audit?limit=200", undefined],
        ["GET", "/metrics", undefined],
        ["GET", "/readyz", undefined],
        ["DELETE", `${HOOKS}/${id}`, undefined],
      ] as const)
        answers.push(await (await at.admin(method, path, body)).text());
      at.app.log.error({ err: new Error(`with ${secret}`) }, "a fault");
      const stored = JSON.stringify(await (at === gatehouse ? archive : own).listWebhooks());
      const found = [...answers, ...at.logLines, stored].filter((text) => /Canary|whsec_[A-Za-z0-9+/]{8}/.test(text));
      expect(found.map((text) => text.replaceAll(TOKEN, "TOKEN"))).toEqual([]);
      expect(at.logLines.join("")).toContain("whsec_[redacted]");
      expect(answers.join("")).toContain("webhook.created");
    }
  });
});

test("no file of the data folder, which a backup copies, has an address or a secret in clear", async () => {
  const folder = makeTestFolder();
  const own = await startGatehouse({ folder, env: { GATEHOUSE_ARCHIVE: "sqlite" } });
  // Nothing is delivered to it: no events have this type.
  const { webhook_id: id, secret } = await create({ types: ["alert.raised"] }, own);
  const rotated = await readAs<RotatedWebhook>(await own.admin("POST", `${HOOKS}/${id}/rotate`));
  const readAll = () => readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString("latin1"));
  const whileRunning = readAll();
  await own.stop();
  const all = [...whileRunning, ...readAll()].join("\n");
  rmSync(folder, { recursive: true, force: true });
  expect(all).toContain(id);
  expect(all).toContain("https://discord.test/api");
  const bare = [secret, rotated.secret].map((text) => text.slice("whsec_".length));
  const bytes = bare.map((text) => Buffer.from(text, "base64").toString("latin1"));
  for (const hidden of ["webhooks/1234567890", TOKEN, "CanaryThread", "whsec_", ...bare, ...bytes])
    expect(all.includes(hidden)).toBe(false);
});
