// Delivering with a fake clock: at least once and in order, whatever receivers, operators and the archive do meanwhile.
import { describe, expect, test } from "bun:test";
import { Webhook as Verifier } from "standardwebhooks";
import { makeWebhook } from "../../../test/archive/webhook-samples.ts";
import { EVENT_AT, MemoryArchive, makeEvent } from "../../../test/event-archive.ts";
import { FakeClock } from "../../../test/start-gatehouse.ts";
import { HOUR_MS, MINUTE_MS } from "../../core/durations.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import { writeCursor } from "../../core/events/cursor.ts";
import type { InstanceLease } from "../../core/ports/instance-lease.ts";
import type { Log } from "../../core/ports/log.ts";
import type { PostOutcome, PostRequest } from "../../core/ports/post.ts";
import type { ServerReport } from "../../core/webhooks/discord/status-message.ts";
import { FAILING_MAX_MS } from "../../core/webhooks/retry.ts";
import { writeWebhookSecret } from "../../core/webhooks/standard.ts";
import { REQUESTS_MAX } from "../../core/webhooks/turns.ts";
import type { Webhook } from "../../core/webhooks/webhook.ts";
import { createWebhookSealer, Sealer } from "../../database/sealer.ts";
import { EventNotifier } from "../events/event-notifier.ts";
import { HOLD_EVERY_MS } from "../instances/lease-holder.ts";
import { Deliverer, GATHER_MS, REFRESH_MS } from "./deliverer.ts";
import { POSITION_LAG_MAX, STATUS_LOOK_MS } from "./delivery-turns.ts";
import { WebhookSender } from "./webhook-sender.ts";

const SERVER = "srv_a";
const SCHEDULE = [5_000, 30_000];
const SECRET = writeWebhookSecret(new Uint8Array(32).fill(1));
const OLD_SECRET = writeWebhookSecret(new Uint8Array(32).fill(2));

type Sent = PostRequest & {
  readonly at: number;
  /** Who was sent to: the last segment of the url's path, or the webhook of an edited message. */
  readonly to: string;
  readonly answer: (outcome: Partial<PostOutcome>) => void;
};
type Receiver = (request: Sent) => Partial<PostOutcome> | "hold";

const OK: Partial<PostOutcome> = { status: 204 };
const ONLINE: ServerReport = { state: "online", settings: { Name: "A" }, sections: {}, readAt: EVENT_AT };

class Stage {
  readonly clock = new FakeClock();
  readonly archive: MemoryArchive;
  readonly sealer = createWebhookSealer(new Sealer("a secret of thirty-two characters"));
  readonly notifier: EventNotifier;
  readonly deliverer: Deliverer;
  readonly sent: Sent[] = [];
  readonly errors: unknown[] = [];
  readonly disabled: string[] = [];
  readonly calls = new Map<string, number>();
  /** Requests that were sent and are not answered. */
  open = 0;
  openMax = 0;
  receive: Receiver = () => OK;
  report: ServerReport | undefined = ONLINE;
  auditFault: Error | undefined;
  /** By how much the clock was set back; pauses do not follow that. */
  setBackMs = 0;

  constructor({ archive = new MemoryArchive(), lease }: { archive?: MemoryArchive; lease?: InstanceLease } = {}) {
    this.archive = archive;
    const log = {
      debug() {},
      info() {},
      warn() {},
      error: (fields: object) => void this.errors.push(fields),
    } as Log;
    const { clock } = this;
    const counted = this.#count(archive);
    this.notifier = new EventNotifier({ archive: counted, pause: clock.pause, log });
    const sender = new WebhookSender({
      post: (request, stop) => this.#post(request, stop),
      sealer: this.sealer,
      clock: clock.read,
      findServerName: () => "Town",
      readPlayerName: async (_, player) => (player === "168" ? "Rio_R" : undefined),
      userAgent: "test",
    });
    this.deliverer = new Deliverer({
      archive: counted,
      notifier: this.notifier,
      sender,
      readReport: async () => this.report,
      clock: () => clock.now - this.setBackMs,
      random: () => 0,
      scheduleMs: SCHEDULE,
      pause: clock.pause,
      log,
      lease,
    });
    this.deliverer.onDisabled = async (_, reason) => {
      if (this.auditFault) throw this.auditFault;
      this.disabled.push(reason);
    };
  }

  async start(): Promise<void> {
    this.deliverer.start();
    await this.settle();
  }

  async add(webhookId: string, changes: Partial<Webhook> = {}, url = `https://${webhookId}.example/in/${webhookId}`) {
    const webhook = makeWebhook({
      webhookId,
      format: "standard",
      createdAt: EVENT_AT,
      sealedUrl: this.sealer.seal(url, webhookId, "url"),
      shownUrl: new URL(url).origin,
      sealedSecret: this.sealer.seal(SECRET, webhookId, "secret"),
      ...changes,
    });
    expect(await this.archive.createWebhook(webhook)).toBe("created");
  }

  async record(...numbers: number[]): Promise<void> {
    await this.recordEvents(...numbers.map((n) => makeEvent(n)));
  }

  async recordEvents(...events: ReturnType<typeof makeEvent>[]): Promise<void> {
    await this.archive.add(SERVER, ...events);
    this.notifier.ring(SERVER);
    await this.settle();
    await this.pass(GATHER_MS);
  }

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    for (let round = 0; round < 60; round++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves the clock in small steps, so that everything happens in its turn. */
  async pass(ms: number, stepMs = 1_000): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.clock.advance(Math.min(stepMs, ms - passed));
      await this.settle();
    }
  }

  async find(webhookId: string): Promise<Webhook> {
    const webhook = await this.archive.findWebhook(webhookId);
    if (!webhook) throw new Error("no such webhook");
    return webhook;
  }

  countCalls(...names: string[]): number {
    return names.reduce((sum, name) => sum + (this.calls.get(name) ?? 0), 0);
  }

  async #post(request: PostRequest, stop?: AbortSignal): Promise<PostOutcome> {
    const answered = Promise.withResolvers<Partial<PostOutcome>>();
    const segments = request.url.pathname.split("/");
    const to = (request.method === "PATCH" ? segments.at(-3) : segments.at(-1)) ?? "";
    const sent = { ...request, at: this.clock.now, to, answer: answered.resolve };
    this.sent.push(sent);
    this.openMax = Math.max(this.openMax, ++this.open);
    stop?.addEventListener("abort", () => answered.resolve({ error: "stopped" }));
    const outcome = this.receive(sent);
    if (outcome !== "hold") answered.resolve(outcome);
    const { status = null, headers = {}, body = "", error = null } = await answered.promise;
    this.open--;
    return { status, headers, body, error: status === null ? (error ?? "connection") : null, durationMs: 1 };
  }

  #count(archive: MemoryArchive): MemoryArchive {
    return new Proxy(archive, {
      get: (target, name: keyof MemoryArchive) => {
        const value = target[name];
        if (typeof value !== "function") return value;
        return (...args: never[]) => {
          this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
          return Reflect.apply(value, target, args);
        };
      },
    });
  }
}

/** The numbers of the events in the order in which they were sent, by the player that makeEvent names. */
function numbersOf(sent: readonly PostRequest[]): number[] {
  return sent.flatMap(({ body }) => Array.from(body.matchAll(/"B:(\d+)"/g), ([, n]) => Number(n)));
}

async function startWith(count = 1, changes: Partial<Webhook> = {}): Promise<Stage> {
  const stage = new Stage();
  for (let n = 1; n <= count; n++) await stage.add(`hook_${n}`, changes);
  await stage.start();
  return stage;
}

describe("events", () => {
  test("are sent one by one, in order, as soon as they are recorded, and noted", async () => {
    const stage = await startWith();
    await stage.record(1, 2, 3);
    expect(numbersOf(stage.sent)).toEqual([1, 2, 3]);
    const numbers = Array.from({ length: 30 }, (_, n) => n + 4);
    await stage.record(...numbers);
    await stage.pass(1_000, 50);
    expect(numbersOf(stage.sent)).toEqual([1, 2, 3, ...numbers]);
    const { place, lastSuccessAt } = await stage.find("hook_1");
    expect([place.number, lastSuccessAt]).toEqual([33, expect.any(Number)]);
    const [newest] = await stage.archive.listDeliveries("hook_1");
    expect(newest).toMatchObject({ eventIds: [writeCursor(SERVER, place)], status: 204, error: null });
    expect(stage.errors).toEqual([]);
  });

  test("are accepted by the package standardwebhooks, with either secret during a rotation and with one after it", async () => {
    const stage = new Stage();
    // The package looks at the real clock.
    stage.clock.now = Date.now();
    const sealedOldSecret = stage.sealer.seal(OLD_SECRET, "hook_1", "secret");
    await stage.add("hook_1", { sealedOldSecret, oldSecretUntil: stage.clock.now + 1_000 });
    await stage.start();
    await stage.record(1);
    await stage.pass(1_000);
    await stage.record(2);
    const verify = (secret: string, { body, headers }: PostRequest) =>
      new Verifier(secret).verify(body, { ...headers });
    const [during, after] = stage.sent;
    if (!during || !after) throw new Error("something was not sent");
    for (const secret of [SECRET, OLD_SECRET]) expect(verify(secret, during)).toMatchObject({ type: "player.killed" });
    verify(SECRET, after);
    expect(() => verify(OLD_SECRET, after)).toThrow();
  });

  test("are sent again after a failure, with the same id, and those after them wait", async () => {
    const stage = await startWith();
    stage.receive = () => ({ status: 500, body: "no\u0000 room" });
    await stage.record(1, 2);
    await stage.pass(4_900);
    expect(numbersOf(stage.sent)).toEqual([1]);
    await stage.pass(100);
    expect(numbersOf(stage.sent)).toEqual([1, 1]);
    stage.receive = () => OK;
    await stage.pass(30_000);
    expect(numbersOf(stage.sent)).toEqual([1, 1, 1, 2]);
    expect(new Set(stage.sent.slice(0, 3).map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    const kept = await stage.archive.listDeliveries("hook_1");
    expect(JSON.stringify(kept)).not.toContain("room");
    const open = (sealed: string | null) => sealed && stage.sealer.open(sealed, "hook_1", "answer");
    expect(kept.map(({ status, error, sealedAnswer }) => [status, error, open(sealedAnswer)])).toEqual([
      [204, null, null],
      [204, null, null],
      [500, "status 500", "no room"],
      [500, "status 500", "no room"],
    ]);
  });

  test("are sent again as planned when the clock is set back, also while it was stopped", async () => {
    const stage = await startWith();
    stage.receive = () => ({ status: 500 });
    await stage.record(1);
    stage.setBackMs = HOUR_MS;
    await stage.pass(4_900);
    expect(numbersOf(stage.sent)).toEqual([1]);
    // By how much it was set back is known to a second.
    await stage.pass(1_100);
    expect(numbersOf(stage.sent)).toEqual([1, 1]);
    await stage.pass(30_000);
    expect(numbersOf(stage.sent)).toEqual([1, 1, 1]);
    await stage.deliverer.stop(0);
    const second = new Stage({ archive: stage.archive });
    second.clock.now = stage.clock.now;
    second.setBackMs = 2 * HOUR_MS;
    await second.start();
    await second.pass(29_000);
    expect(second.sent).toEqual([]);
    await second.pass(1_000);
    expect(numbersOf(second.sent)).toEqual([1]);
  });

  test("that were there before, and those of other types, are not sent, and an idle webhook is written rarely", async () => {
    const stage = await startWith(1, { types: ["player.joined", "server.*"] });
    await stage.recordEvents(makeEvent(1, { type: "player.joined", isBackfill: true }));
    for (let n = 0; n < 100; n++) await stage.record(2 + n);
    expect(stage.sent).toEqual([]);
    expect(stage.countCalls("noteAttempt")).toBe(0);
    await stage.recordEvents(makeEvent(500, { type: "player.joined" }));
    expect(numbersOf(stage.sent)).toEqual([500]);
    expect((await stage.find("hook_1")).place.number).toBe(102);
    const many = Array.from({ length: POSITION_LAG_MAX }, (_, n) => makeEvent(1_000 + n));
    await stage.recordEvents(...many);
    expect((await stage.find("hook_1")).place.number).toBe(102 + POSITION_LAG_MAX);
    expect(stage.countCalls("noteAttempt")).toBe(2);
  });

  test("refused five times are set aside, and the next is tried", async () => {
    const stage = await startWith();
    stage.receive = ({ body }) => (body.includes('"B:1"') ? { status: 422, body: "what?" } : OK);
    await stage.record(1, 2);
    await stage.pass(5_000 + 4 * 30_000);
    expect(numbersOf(stage.sent)).toEqual([1, 1, 1, 1, 1, 2]);
    expect((await stage.archive.listDeliveries("hook_1"))[1]).toMatchObject({
      status: 422,
      error: "status 422",
    });
  });

  test("that are not kept any more are told of by a gap, before those that are", async () => {
    const stage = new Stage();
    await stage.add("hook_1", { types: ["player.killed"] });
    await stage.archive.add(SERVER, ...[1, 2, 3, 4, 5].map((n) => makeEvent(n)));
    while (await stage.archive.prune({ now: EVENT_AT, days: 30, eventsMax: 2 }));
    await stage.start();
    const [gap] = stage.sent;
    expect(JSON.parse(gap?.body ?? "")).toMatchObject({
      type: "gap",
      data: { data: { reason: "retention" } },
    });
    expect(numbersOf(stage.sent)).toEqual([4, 5]);
  });

  test("recorded while nobody rang are found", async () => {
    const stage = await startWith();
    await stage.archive.add(SERVER, makeEvent(1));
    await stage.pass(1_000, 250);
    expect(numbersOf(stage.sent)).toEqual([1]);
  });
});

describe("changes of an operator", () => {
  test("a webhook that is moved back during a request goes on from there", async () => {
    const stage = await startWith();
    await stage.record(1, 2);
    const { place } = await stage.find("hook_1");
    stage.receive = () => "hold";
    await stage.record(3, 4);
    await stage.archive.updateWebhook("hook_1", { place: { ...place, ...(await firstPlace(stage)) } });
    stage.receive = () => OK;
    stage.sent.at(-1)?.answer(OK);
    await stage.settle();
    expect(numbersOf(stage.sent)).toEqual([1, 2, 3, 2, 3, 4]);
  });

  test("a failure of the old address is not held against a new one, nor against one that was disabled", async () => {
    const url = "https://new.example/in/new";
    const { sealer } = new Stage();
    const moved = { sealedUrl: sealer.seal(url, "hook_1", "url"), shownUrl: "https://new.example" };
    for (const change of [moved, { isEnabled: false }]) {
      for (const status of [500, 410]) {
        const stage = await startWith();
        stage.receive = () => "hold";
        await stage.record(1);
        await stage.archive.updateWebhook("hook_1", change);
        const before = await stage.find("hook_1");
        stage.receive = () => OK;
        stage.sent.at(-1)?.answer({ status });
        await stage.settle();
        const { lastFailureAt, failures, disabledReason } = await stage.find("hook_1");
        expect([lastFailureAt, failures, disabledReason]).toEqual([before.lastFailureAt, 0, null]);
        expect(stage.disabled).toEqual([]);
        // At once: the wait was about the old address.
        const others = change === moved ? ["new"] : [];
        expect(stage.sent.map(({ to }) => to)).toEqual(["hook_1", ...others]);
      }
    }
  });

  test("what was accepted although the operator disables the webhook meanwhile is not sent again", async () => {
    const stage = await startWith();
    stage.receive = () => "hold";
    await stage.record(1, 2);
    await stage.archive.updateWebhook("hook_1", { isEnabled: false });
    stage.deliverer.notify("hook_1");
    stage.sent.at(-1)?.answer(OK);
    stage.receive = () => OK;
    await stage.settle();
    expect(numbersOf(stage.sent)).toEqual([1]);
    await stage.archive.updateWebhook("hook_1", { isEnabled: true });
    stage.deliverer.notify("hook_1");
    await stage.settle();
    expect(numbersOf(stage.sent)).toEqual([1, 2]);
  });

  test("events of types that are added arrive, also those from before this instance knows of the change", async () => {
    const stage = await startWith(1, { types: ["player.joined"] });
    await stage.archive.updateWebhook("hook_1", { types: ["player.killed"] });
    await stage.record(1);
    expect(stage.sent).toEqual([]);
    await stage.pass(REFRESH_MS);
    expect(numbersOf(stage.sent)).toEqual([1]);
  });

  test("a webhook that is deleted during a request gets nothing more", async () => {
    const stage = await startWith();
    stage.receive = () => "hold";
    await stage.record(1, 2);
    await stage.archive.deleteWebhook("hook_1");
    stage.sent.at(-1)?.answer(OK);
    await stage.pass(2 * REFRESH_MS);
    expect(numbersOf(stage.sent)).toEqual([1]);
    expect(stage.errors).toEqual([]);
  });

  test("new, enabled and changed webhooks are noticed at once when told, and soon when not", async () => {
    const stage = await startWith();
    await stage.add("hook_2");
    stage.deliverer.notify("hook_2");
    await stage.settle();
    await stage.record(1);
    expect(stage.sent.map(({ to }) => to)).toEqual(["hook_1", "hook_2"]);
    await stage.archive.updateWebhook("hook_2", { isEnabled: false });
    stage.deliverer.notify("hook_2");
    await stage.settle();
    await stage.record(2);
    expect(stage.sent.map(({ to }) => to)).toEqual(["hook_1", "hook_2", "hook_1"]);
    await stage.archive.updateWebhook("hook_2", { isEnabled: true });
    await stage.pass(REFRESH_MS);
    expect(numbersOf(stage.sent.filter(({ to }) => to === "hook_2"))).toEqual([1, 2]);
  });
});

/** The place of the first event of the ledger. */
async function firstPlace(stage: Stage) {
  const page = await stage.archive.readPage({
    serverId: SERVER,
    start: { after: "earliest" },
    filter: new Set([...Array(1_000).keys()]),
    limit: 1,
  });
  if ("expired" in page) throw new Error("expired");
  return page.next;
}

describe("the archive", () => {
  test("what was delivered while it is away is noted later, and not sent again", async () => {
    const stage = await startWith();
    stage.receive = () => "hold";
    await stage.record(1, 2);
    stage.archive.fault = new StoreUnavailable("away");
    stage.receive = () => OK;
    stage.sent.at(-1)?.answer(OK);
    await stage.pass(MINUTE_MS);
    expect(numbersOf(stage.sent)).toEqual([1]);
    expect(stage.countCalls("noteAttempt", "readPage")).toBeLessThan(15);
    stage.archive.fault = undefined;
    await stage.pass(15_000);
    expect(numbersOf(stage.sent)).toEqual([1, 2]);
    expect((await stage.find("hook_1")).place.number).toBe(2);
    expect(stage.errors).toEqual([]);
  });

  test("an idle thousand of webhooks asks it for little", async () => {
    const stage = new Stage();
    for (let n = 0; n < 1_000; n++) await stage.add(`hook_${n}`, { serverId: `srv_${n % 50}` });
    await stage.start();
    await stage.pass(10_000);
    const before = stage.countCalls("readPage", "noteAttempt", "findWebhook", "listWebhooks");
    expect(before).toBeLessThanOrEqual(1_000 + 5);
    await stage.pass(MINUTE_MS);
    expect(stage.countCalls("readPage", "noteAttempt", "findWebhook")).toBeLessThanOrEqual(1_000);
    expect(stage.countCalls("listWebhooks")).toBeLessThanOrEqual(20);
    // The notifier asks for the newest places of all servers at once, twice a second.
    expect(stage.countCalls("findLast")).toBeLessThanOrEqual(145);
  });
});

describe("receivers that do not answer", () => {
  test("keep nobody else waiting, however many webhooks they have", async () => {
    const stage = new Stage();
    for (let n = 0; n < 18; n++) await stage.add(`dead_${n}`, {}, `https://dead.example/in/dead_${n}`);
    await stage.add("alive");
    await stage.start();
    stage.receive = ({ to }) => (to === "alive" ? OK : "hold");
    for (let n = 1; n <= 20; n++) await stage.record(n);
    expect(numbersOf(stage.sent.filter(({ to }) => to === "alive"))).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
    // One request for each webhook at a time.
    const held = stage.sent.filter(({ to }) => to !== "alive").map(({ to }) => to);
    expect(new Set(held).size).toBe(held.length);
    expect(stage.openMax).toBeLessThanOrEqual(REQUESTS_MAX);
  });

  test("a slow one gives others their turn after a second", async () => {
    const stage = await startWith();
    stage.receive = ({ answer }) => {
      void stage.clock.pause(600, new AbortController().signal).then(() => answer(OK));
      return "hold";
    };
    const numbers = Array.from({ length: 12 }, (_, n) => n + 1);
    await stage.record(...numbers);
    await stage.pass(15_000, 100);
    expect(numbersOf(stage.sent)).toEqual(numbers);
    // The pages were cut short: each turn has two requests.
    expect(stage.countCalls("readPage")).toBeGreaterThan(5);
  });

  test("410 disables: audited once before, told of in a notice, and nothing more is sent", async () => {
    const stage = await startWith();
    stage.receive = () => ({ status: 410 });
    stage.auditFault = new StoreUnavailable("no audit");
    await stage.record(1);
    await stage.pass(5_000);
    expect((await stage.find("hook_1")).isEnabled).toBe(true);
    stage.auditFault = undefined;
    await stage.pass(20_000);
    expect(await stage.find("hook_1")).toMatchObject({ isEnabled: false, disabledReason: stage.disabled[0] });
    await stage.record(2);
    await stage.pass(MINUTE_MS);
    expect([stage.sent.length, stage.disabled.length]).toEqual([1, 1]);
    const { lastFailureAt: since } = await stage.find("hook_1");
    expect(stage.deliverer.listNotices(() => ["Town"])).toEqual([
      {
        code: "webhooks_disabled",
        count: 1,
        names: ["#mod-log «☃ 😀»"],
        servers: ["Town"],
        since: expect.any(Number),
      },
    ]);
    expect(stage.deliverer.listNotices(() => ["Town"])).toMatchObject([{ since: since ?? 0 }]);
    expect(stage.deliverer.report()).toEqual({ healthy: 0, failing: 0, disabled: 1, waiting: 0 });
  });

  test("five days without a success disable, and a webhook that is enabled again goes on where it was", async () => {
    const stage = await startWith();
    stage.receive = () => ({ error: "timeout" });
    await stage.record(1);
    stage.clock.advance(FAILING_MAX_MS);
    await stage.settle();
    expect(stage.disabled).toHaveLength(1);
    await stage.record(2);
    stage.receive = () => OK;
    await stage.archive.updateWebhook("hook_1", {
      isEnabled: true,
      disabledReason: null,
      failures: 0,
      firstFailureAt: null,
      nextAttemptAt: null,
    });
    stage.deliverer.notify("hook_1");
    await stage.settle();
    expect(numbersOf(stage.sent).slice(-2)).toEqual([1, 2]);
    expect(stage.deliverer.listNotices(() => [])).toEqual([]);
  });

  test("an address that was sealed with another secret is a failure, and shown as one", async () => {
    const stage = await startWith(1, { sealedUrl: btoa("x".repeat(60)) });
    await stage.record(1);
    expect(stage.sent).toEqual([]);
    expect((await stage.archive.listDeliveries("hook_1"))[0]).toMatchObject({ error: "unreadable_url" });
    expect(stage.errors).toEqual([]);
  });
});

describe("Discord", () => {
  const DISCORD = "https://discord.com/api/webhooks/1/chat_1";
  const limitedFor = (seconds: number) => {
    return { status: 429, body: JSON.stringify({ retry_after: seconds, global: true }) };
  };
  const countTo = (stage: Stage, name: string) => stage.sent.filter(({ to }) => to === name).length;
  const pauseNotices = ({ deliverer }: Stage) =>
    deliverer.listNotices(() => []).filter(({ code }) => code === "discord_paused");

  /** Discord has told chat_1 to pause all for a day, and chat_2 has an event that waits. */
  async function startPaused(archive = new MemoryArchive()): Promise<Stage> {
    const stage = new Stage({ archive });
    await stage.add("chat_1", { format: "discord" }, DISCORD);
    await stage.start();
    stage.receive = ({ to }) => (to === "chat_1" ? limitedFor(86_400) : OK);
    await stage.record(1);
    await stage.add("chat_2", { format: "discord" });
    stage.deliverer.notify("chat_2");
    await stage.record(2);
    expect([countTo(stage, "chat_1"), countTo(stage, "chat_2")]).toEqual([1, 0]);
    return stage;
  }

  test("the caller of an emergency call is named where known; a program gets the event as it is", async () => {
    const stage = new Stage();
    await stage.add("chat_1", { format: "discord" }, DISCORD);
    await stage.add("program");
    await stage.start();
    const calls = ["168", "169"].map((caller, n) =>
      makeEvent(n + 1, { type: "call.opened", data: `{"Team":"Police","Caller":${caller},"Players":[168]}` }),
    );
    await stage.recordEvents(...calls);
    const bodies = (name: string) => stage.sent.filter(({ to }) => to === name).map(({ body }) => body);
    const fields = JSON.parse(bodies("chat_1")[0] ?? "").embeds.map((embed: { fields: unknown }) => embed.fields);
    const link = (name: string, id: string) => `[${name}](https://www.roblox.com/users/${id}/profile)`;
    const named = (caller: string) =>
      expect.arrayContaining([
        expect.objectContaining({ name: "Caller", value: caller }),
        expect.objectContaining({ name: "Responding", value: link("Rio\\_R", "168") }),
      ]);
    expect(fields).toEqual([named(link("Rio\\_R", "168")), named(link("Player 169", "169"))]);
    expect(bodies("program").join()).not.toContain("Rio");
  });

  test("a receiver that is not Discord and says 429 for all, for a day, pauses nobody but itself", async () => {
    const stage = new Stage();
    await stage.add("chat_1", { format: "discord" });
    await stage.start();
    stage.receive = ({ to }) => (to === "chat_1" ? limitedFor(86_400) : OK);
    await stage.record(1);
    await stage.add("chat_2", { format: "discord" }, "https://discord.com/api/webhooks/1/chat_2");
    stage.deliverer.notify("chat_2");
    await stage.record(2);
    expect([countTo(stage, "chat_1"), countTo(stage, "chat_2")]).toEqual([1, 1]);
    expect(stage.deliverer.listNotices(() => [])).toEqual([]);
  });

  test("a pause of all that it tells is a notice, and lasts ten minutes at most", async () => {
    const stage = await startPaused();
    expect(pauseNotices(stage)).toHaveLength(1);
    await stage.pass(10 * MINUTE_MS - 1_000);
    expect([countTo(stage, "chat_1"), countTo(stage, "chat_2")]).toEqual([1, 0]);
    stage.receive = () => OK;
    await stage.pass(1_000);
    expect([countTo(stage, "chat_1"), countTo(stage, "chat_2")]).toEqual([2, 1]);
    expect(stage.deliverer.listNotices(() => [])).toEqual([]);
  });

  test.each<[string, (stage: Stage) => Promise<unknown>]>([
    ["deleted", ({ archive }) => archive.deleteWebhook("chat_1")],
    ["disabled", ({ archive }) => archive.updateWebhook("chat_1", { isEnabled: false })],
    [
      "given another address",
      ({ archive, sealer }) => {
        const sealedUrl = sealer.seal("https://discord.com/api/webhooks/2/chat_3", "chat_1", "url");
        return archive.updateWebhook("chat_1", { sealedUrl, nextAttemptAt: null });
      },
    ],
  ])("a pause of all ends when the webhook that was told is %s, here or on another instance", async (_, change) => {
    for (const isHere of [true, false]) {
      const stage = await startPaused();
      await change(stage);
      if (isHere) stage.deliverer.notify("chat_1");
      await stage.settle();
      await stage.pass(isHere ? 0 : REFRESH_MS);
      expect([isHere, countTo(stage, "chat_2")]).toEqual([isHere, 1]);
      expect(stage.deliverer.listNotices(() => [])).toEqual([]);
    }
  });

  test("a webhook that changes while Discord answers it pauses nobody", async () => {
    const stage = new Stage();
    for (const n of [1, 2])
      await stage.add(`chat_${n}`, { format: "discord" }, `https://discord.com/api/${n}/chat_${n}`);
    await stage.start();
    stage.receive = ({ to }) => (to === "chat_1" ? "hold" : OK);
    await stage.record(1);
    await stage.archive.deleteWebhook("chat_1");
    stage.deliverer.notify("chat_1");
    await stage.settle();
    stage.sent.find(({ to }) => to === "chat_1")?.answer(limitedFor(60));
    await stage.settle();
    await stage.record(2);
    expect(countTo(stage, "chat_2")).toBe(2);
    expect(stage.deliverer.listNotices(() => [])).toEqual([]);
  });

  test("after a restart only the webhook that was told still waits, and a pause that is told again counts", async () => {
    const archive = new MemoryArchive();
    const before = await startPaused(archive);
    await before.deliverer.stop(0);
    const stage = new Stage({ archive });
    stage.clock.now = before.clock.now;
    await stage.start();
    expect([countTo(stage, "chat_1"), countTo(stage, "chat_2")]).toEqual([0, 1]);
    expect(stage.deliverer.listNotices(() => [])).toEqual([]);
    stage.receive = () => limitedFor(30);
    await stage.pass(10 * MINUTE_MS);
    expect(countTo(stage, "chat_1")).toBe(1);
    expect(pauseNotices(stage)).toHaveLength(1);
  });

  test("gets up to ten events in a message, and a 429 for all pauses its webhooks and no other", async () => {
    const stage = new Stage();
    await stage.add("chat_1", { format: "discord" }, DISCORD);
    await stage.add("chat_2", { format: "discord" });
    await stage.add("hook_1");
    await stage.start();
    stage.receive = ({ to }) => (to === "chat_1" ? { status: 429, body: '{"retry_after": 3.5, "global": true}' } : OK);
    await stage.record(1);
    const early = stage.sent.filter(({ to }) => to === "chat_2").length;
    stage.receive = () => OK;
    await stage.record(...Array.from({ length: 14 }, (_, n) => n + 2));
    expect(stage.sent.filter(({ to }) => to === "hook_1")).toHaveLength(15);
    await stage.pass(3_300, 100);
    expect(stage.sent.filter(({ to }) => to === "chat_2")).toHaveLength(early);
    await stage.pass(1_000, 100);
    const embeds = stage.sent
      .filter(({ to, at }) => to === "chat_1" && at > stage.clock.now - 2_000)
      .map(({ body }) => JSON.parse(body).embeds.length);
    expect(embeds).toEqual([10, 5]);
    expect(stage.sent.find(({ to }) => to === "chat_1")?.url.searchParams.get("wait")).toBe("true");
  });

  test("is not sent the request that would be one too many", async () => {
    const stage = await startWith(1, { format: "discord" });
    stage.receive = () => ({
      status: 200,
      headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "2" },
    });
    await stage.record(...Array.from({ length: 11 }, (_, n) => n + 1));
    expect(stage.sent).toHaveLength(1);
    await stage.pass(1_900, 100);
    expect(stage.sent).toHaveLength(1);
    await stage.pass(200, 100);
    expect(stage.sent).toHaveLength(2);
  });

  test("an event that it refuses is found and set aside alone", async () => {
    const stage = await startWith(1, { format: "discord" });
    stage.receive = ({ body }) => (body.includes("B](https://www.roblox.com/users/3/") ? { status: 400 } : OK);
    await stage.record(1, 2, 3, 4, 5);
    await stage.pass(10 * MINUTE_MS);
    const accepted = stage.sent.filter(({ body }) => !body.includes("/users/3/")).map(({ body }) => body);
    for (const n of [1, 2, 4, 5]) expect(accepted.filter((body) => body.includes(`/users/${n}/`))).toHaveLength(1);
    expect((await stage.find("hook_1")).place.number).toBe(5);
  });

  test("that does not know the webhook any more disables it at once", async () => {
    for (const answer of [
      { status: 404, body: '{"code": 10015}' },
      { status: 401, body: '{"code": 50027}' },
    ]) {
      const stage = await startWith(1, { format: "discord" });
      stage.receive = () => answer;
      await stage.record(1);
      expect(stage.disabled).toHaveLength(1);
    }
  });
});

describe("the status message", () => {
  const posted: Receiver = ({ method }) => (method === "POST" ? { status: 200, body: '{"id":"77"}' } : { status: 200 });
  const methods = (stage: Stage) => stage.sent.map(({ method, url }) => `${method} ${url.pathname}`);
  const POST = "POST /in/hook_1";
  const PATCH = "PATCH /in/hook_1/messages/77";

  test("is posted once, and edited when something changed, at most once a minute", async () => {
    const stage = new Stage();
    stage.receive = posted;
    await stage.add("hook_1", { format: "discord-status" });
    await stage.start();
    for (let n = 0; n < 4; n++) {
      stage.report = { ...ONLINE, settings: { Name: `name ${n}` } };
      await stage.pass(STATUS_LOOK_MS);
    }
    expect(methods(stage)).toEqual([POST]);
    await stage.pass(MINUTE_MS - 4 * STATUS_LOOK_MS);
    expect(methods(stage)).toEqual([POST, PATCH]);
    await stage.pass(10 * MINUTE_MS);
    expect(methods(stage)).toEqual([POST, PATCH]);
    expect((await stage.archive.listDeliveries("hook_1")).map(({ eventIds }) => eventIds)).toEqual([[], []]);
  });

  test("is edited as usual after the clock was set back", async () => {
    const stage = new Stage();
    stage.receive = posted;
    await stage.add("hook_1", { format: "discord-status" });
    await stage.start();
    stage.setBackMs = HOUR_MS;
    stage.report = { ...ONLINE, settings: { Name: "another" } };
    await stage.pass(MINUTE_MS + STATUS_LOOK_MS);
    expect(methods(stage)).toEqual([POST, PATCH]);
  });

  test("keeps its id over a restart, and what it shows until the server was read again", async () => {
    const first = new Stage();
    first.receive = posted;
    await first.add("hook_1", { format: "discord-status" });
    await first.start();
    await first.deliverer.stop(0);
    const second = new Stage({ archive: first.archive });
    second.receive = posted;
    second.report = { state: "unknown", settings: null, sections: {}, readAt: null };
    await second.start();
    await second.pass(2 * MINUTE_MS);
    expect(second.sent).toEqual([]);
    second.report = { ...ONLINE, settings: { Name: "another" } };
    await second.pass(STATUS_LOOK_MS);
    expect(methods(second)).toEqual([PATCH]);
  });

  test("is posted again when it was deleted; a second loss within an hour disables", async () => {
    const stage = new Stage();
    let messages = 0;
    let isDeleted = false;
    stage.receive = ({ method }) => {
      if (method === "PATCH") return isDeleted ? { status: 404, body: '{"code": 10008}' } : { status: 200 };
      isDeleted = false;
      return { status: 200, body: `{"id":"${++messages}"}` };
    };
    await stage.add("hook_1", { format: "discord-status" });
    await stage.start();
    for (const name of ["b", "c"]) {
      isDeleted = true;
      stage.report = { ...ONLINE, settings: { Name: name } };
      await stage.pass(2 * MINUTE_MS);
    }
    expect(messages).toBe(2);
    expect(stage.disabled).toEqual(["lost_message"]);
    expect((await stage.find("hook_1")).isEnabled).toBe(false);
  });

  test("an answer without an id is a failure, and no second message comes at once", async () => {
    const stage = new Stage();
    stage.receive = () => ({ status: 204 });
    await stage.add("hook_1", { format: "discord-status" });
    await stage.start();
    await stage.pass(4_900);
    expect(stage.sent).toHaveLength(1);
    expect((await stage.archive.listDeliveries("hook_1"))[0]).toMatchObject({ error: "no_message_id" });
  });

  test("that Discord refuses is tried again by the schedule, and never in a hurry", async () => {
    const stage = new Stage();
    stage.receive = () => ({ status: 400 });
    await stage.add("hook_1", { format: "discord-status" });
    await stage.start();
    await stage.pass(10 * MINUTE_MS);
    expect(stage.sent.length).toBeGreaterThan(10);
    expect(stage.sent.length).toBeLessThan(25);
  });
});

describe("several instances", () => {
  test("only the one with the lease delivers; another goes on where it was", async () => {
    let holder = 1;
    const leaseOf = (id: number): InstanceLease => ({
      hold: async () => holder === id,
      release: async () => {
        if (holder === id) holder = 0;
      },
    });
    const archive = new MemoryArchive();
    const [one, two] = [new Stage({ archive, lease: leaseOf(1) }), new Stage({ archive, lease: leaseOf(2) })];
    await one.add("hook_1");
    for (const stage of [one, two]) await stage.start();
    await one.record(1, 2);
    await two.pass(5_000);
    expect([numbersOf(one.sent), numbersOf(two.sent)]).toEqual([[1, 2], []]);
    holder = 2;
    await one.pass(2_000);
    await one.record(3);
    await one.pass(2_000);
    await two.pass(2_000, 250);
    expect([numbersOf(one.sent), numbersOf(two.sent)]).toEqual([[1, 2], [3]]);
    await two.deliverer.stop(0);
    expect(holder).toBe(0);
  });

  test("events do not wait for the next list because the last one came while the lease was renewed", async () => {
    let held = Promise.resolve(true);
    const stage = new Stage({ lease: { hold: () => held, release: async () => {} } });
    await stage.add("hook_1");
    await stage.start();
    const [renewed, listed] = [Promise.withResolvers<boolean>(), Promise.withResolvers<void>()];
    const list = stage.archive.listWebhooks.bind(stage.archive);
    stage.archive.listWebhooks = () => listed.promise.then(() => list());
    stage.deliverer.notify("hook_1");
    await stage.settle();
    held = renewed.promise;
    await stage.pass(HOLD_EVERY_MS);
    listed.resolve();
    await stage.settle();
    expect(stage.deliverer.report().healthy).toBe(1);
    renewed.resolve(true);
    await stage.settle();
    await stage.record(1);
    expect(numbersOf(stage.sent)).toEqual([1]);
  });

  test("without the shared store nobody delivers", async () => {
    const stage = new Stage({
      lease: { hold: () => Promise.reject(new StoreUnavailable("no Redis")), release: async () => {} },
    });
    await stage.add("hook_1");
    await stage.start();
    await stage.record(1);
    await stage.pass(5_000);
    expect([stage.sent, stage.errors]).toEqual([[], []]);
  });
});

describe("a stop", () => {
  test("waits for the request under way and notes it, and begins no other", async () => {
    const stage = await startWith();
    stage.receive = () => "hold";
    await stage.record(1, 2);
    const stopped = stage.deliverer.stop(10_000);
    await stage.settle();
    stage.sent.at(-1)?.answer(OK);
    await stopped;
    expect(numbersOf(stage.sent)).toEqual([1]);
    expect((await stage.find("hook_1")).place.number).toBe(1);
  });

  test("ends a request that takes too long, which is no failure: it is sent again after the start", async () => {
    const stage = await startWith();
    stage.receive = () => "hold";
    await stage.record(1);
    const stopped = stage.deliverer.stop(10_000);
    await stage.settle();
    stage.clock.advance(10_000);
    await stopped;
    expect(await stage.find("hook_1")).toMatchObject({ failures: 0, place: { number: 0 } });
    const next = new Stage({ archive: stage.archive });
    await next.start();
    expect(numbersOf(next.sent)).toEqual([1]);
  });
});
