// What every archive promises about webhooks, whatever keeps it. Each keeper runs the same suite.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../src/core/errors.ts";
import type { LedgerPosition } from "../../src/core/events/cursor.ts";
import { filterAll, toEventKind } from "../../src/core/events/event-types.ts";
import type { NewEvent } from "../../src/core/events/new-event.ts";
import type { Archive } from "../../src/core/ports/archive.ts";
import type { ExpectedWebhook } from "../../src/core/ports/webhooks.ts";
import { DELIVERIES_MAX, WAITING_MAX, WEBHOOKS_PER_SERVER_MAX, type Webhook } from "../../src/core/webhooks/webhook.ts";
import type { ArchiveHarness } from "./archive-contract.ts";
import { addEvents, kill, kills, NOW } from "./ledger-samples.ts";
import { makeDelivery, makeWebhook } from "./webhook-samples.ts";

export function describeWebhookStore(name: string, createHarness: () => Promise<ArchiveHarness>): void {
  describe(`webhooks in ${name}`, () => {
    let harness: ArchiveHarness;
    let archive: Archive;

    beforeEach(async () => {
      await harness?.close();
      harness = await createHarness();
      archive = await harness.open();
    });
    afterAll(() => harness?.close());

    const add = (events: readonly NewEvent[], serverId = "srv_a") => addEvents(archive, events, serverId);
    const get = async (webhookId = "hook_a"): Promise<Webhook> => {
      const found = await archive.findWebhook(webhookId);
      if (!found) throw new Error(`there is no ${webhookId}`);
      return found;
    };
    const create = async (changes: Partial<Webhook> = {}): Promise<Webhook> => {
      const webhook = makeWebhook(changes);
      expect(await archive.createWebhook(webhook)).toBe("created");
      return get(webhook.webhookId);
    };
    const listIds = async (serverId?: string) =>
      (await archive.listWebhooks(serverId)).map(({ webhookId }) => webhookId);

    describe("keeping", () => {
      test("a webhook comes back as it was given, at the newest place, also after a restart", async () => {
        const { last } = await add(kills(3));
        const given = makeWebhook({
          types: ["player.*", "gap"],
          language: "ru",
          showJoinKey: true,
          isEnabled: false,
          disabledReason: "It's gone; «410»",
          nextAttemptAt: NOW + 7,
          failures: 2,
          message: { messageId: "123", editedAt: NOW, fingerprint: "f", lostAt: null },
          sealedOldSecret: "old",
          oldSecretUntil: NOW + 9,
        });
        expect(await archive.createWebhook(given)).toBe("created");
        archive = await harness.open();
        expect(await get()).toEqual({ ...given, place: last });
        expect(await archive.findWebhook("hook_b")).toBeUndefined();
      });

      test("one that is created before the first reading gets everything that comes", async () => {
        const { place } = await create();
        expect(place.number).toBe(0);
        await add(kills(2));
        const page = await archive.readPage({
          serverId: "srv_a",
          start: { after: place },
          filter: filterAll(),
          limit: 9,
        });
        expect("events" in page && page.events.length).toBe(2);
      });

      test("they are listed oldest first, all or those of one server", async () => {
        await create({ webhookId: "hook_z", createdAt: 1 });
        await create({ webhookId: "hook_b", createdAt: 2, serverId: "srv_b" });
        await create({ webhookId: "hook_B", createdAt: 3 });
        await create({ webhookId: "hook_a", createdAt: 3 });
        expect(await listIds()).toEqual(["hook_z", "hook_b", "hook_B", "hook_a"]);
        expect(await listIds("srv_a")).toEqual(["hook_z", "hook_B", "hook_a"]);
        expect(await listIds("srv_never")).toEqual([]);
      });

      test("a server has at most as many as it may, also when two instances create at once", async () => {
        const other = await harness.open();
        const outcomes = await Promise.all(
          Array.from({ length: WEBHOOKS_PER_SERVER_MAX + 5 }, (_, n) =>
            (n % 2 === 0 ? archive : other).createWebhook(makeWebhook({ webhookId: `hook_${n}` })),
          ),
        );
        expect(outcomes.filter((outcome) => outcome === "full")).toHaveLength(5);
        expect(await listIds("srv_a")).toHaveLength(WEBHOOKS_PER_SERVER_MAX);
        await create({ webhookId: "hook_other", serverId: "srv_b" });
        const [first = ""] = await listIds("srv_a");
        await archive.deleteWebhook(first);
        await create({ webhookId: "hook_again" });
      });

      test("a change touches what it names, and nulls are kept apart from what is not named", async () => {
        const before = await create({ disabledReason: "gone", types: ["gap"], lastFailureAt: 5 });
        const change = {
          label: "new",
          types: null,
          isEnabled: false,
          disabledReason: null,
          sealedUrl: "other",
          place: { number: 7, mark: 4_000_000_000 },
          lastSuccessAt: NOW,
          message: { messageId: null, editedAt: 1, fingerprint: "", lostAt: NOW },
        };
        expect(await archive.updateWebhook("hook_a", change)).toBe(true);
        expect(await get()).toEqual({ ...before, ...change });
        expect(await archive.updateWebhook("hook_a", {})).toBe(true);
        expect(await archive.updateWebhook("hook_a", { message: null })).toBe(true);
        expect(await get()).toEqual({ ...before, ...change, message: null });
      });

      test("a deleted one is gone with its deliveries, and nothing can be done to it", async () => {
        const { place } = await create();
        await archive.noteAttempt("hook_a", { place }, {}, makeDelivery(1));
        expect(await archive.deleteWebhook("hook_a")).toBe(true);
        expect(await archive.deleteWebhook("hook_a")).toBe(false);
        expect(await archive.updateWebhook("hook_a", { label: "x" })).toBe(false);
        expect(await archive.noteAttempt("hook_a", { place }, { failures: 1 }, makeDelivery(2))).toBe(false);
        expect(await archive.findWebhook("hook_a")).toBeUndefined();
        await create();
        expect(await archive.listDeliveries("hook_a")).toEqual([]);
      });

      test("a deleted server takes its webhooks along at once, and those of others stay", async () => {
        await add(kills(2));
        const { place } = await create();
        await archive.noteAttempt("hook_a", { place }, {}, makeDelivery(1));
        await create({ webhookId: "hook_b", serverId: "srv_b" });
        await archive.removeServer("srv_a");
        expect(await archive.findWebhook("hook_a")).toBeUndefined();
        expect(await archive.noteAttempt("hook_a", { place }, {}, makeDelivery(2))).toBe(false);
        while (await archive.prune({ now: NOW, days: 30, eventsMax: 100 }));
        expect(await listIds()).toEqual(["hook_b"]);
        // A server whose webhook was created before its first event is found among the deleted ones too.
        expect([...(await archive.findLast(["srv_a", "srv_b"])).keys()]).toEqual(["srv_b"]);
        await create();
        expect(await archive.listDeliveries("hook_a")).toEqual([]);
      });
    });

    describe("attempts", () => {
      test("progress and delivery are noted together, and deliveries come newest first", async () => {
        const before = await create();
        await add(kills(2));
        const place = { number: 1, mark: 77 };
        const failed = makeDelivery(1, {
          status: null,
          error: "timeout «☃»",
          sealedAnswer: "sealed",
          eventIds: ["a", "b"],
        });
        const failure = { failures: 1, firstFailureAt: 5, lastFailureAt: 5, nextAttemptAt: 9 };
        expect(await archive.noteAttempt("hook_a", { place: before.place }, failure, failed)).toBe(true);
        const success = { place, failures: 0, firstFailureAt: null, nextAttemptAt: null, lastSuccessAt: 10 };
        expect(await archive.noteAttempt("hook_a", { place: before.place }, success, makeDelivery(2))).toBe(true);
        archive = await harness.open();
        expect(await get()).toEqual({ ...before, ...failure, ...success });
        expect(await archive.listDeliveries("hook_a")).toEqual([makeDelivery(2), failed]);
      });

      test("one made from a place that is no longer the webhook's changes nothing", async () => {
        const before = await create();
        const moved = { number: before.place.number, mark: before.place.mark ^ 1 };
        await archive.updateWebhook("hook_a", { place: moved });
        const late = { place: { number: 9, mark: 9 }, failures: 3 };
        expect(await archive.noteAttempt("hook_a", { place: before.place }, late, makeDelivery(1))).toBe(false);
        expect(await get()).toEqual({ ...before, place: moved });
        expect(await archive.listDeliveries("hook_a")).toEqual([]);
      });

      test("one that expects another address, or an enabled webhook, changes nothing when the operator was faster", async () => {
        const before = await create();
        const { place, sealedUrl } = before;
        const late = { failures: 1, isEnabled: false, disabledReason: "gone" };
        const note = (expected: ExpectedWebhook) => archive.noteAttempt("hook_a", expected, late, makeDelivery(1));
        await archive.updateWebhook("hook_a", { sealedUrl: "other" });
        expect(await note({ place, sealedUrl, isEnabled: true })).toBe(false);
        expect(await note({ place, sealedUrl })).toBe(false);
        await archive.updateWebhook("hook_a", { sealedUrl, isEnabled: false });
        expect(await note({ place, sealedUrl, isEnabled: true })).toBe(false);
        expect(await get()).toEqual({ ...before, isEnabled: false });
        expect(await archive.listDeliveries("hook_a")).toEqual([]);
        // What is not named may differ.
        expect(await note({ place, sealedUrl })).toBe(true);
        await archive.updateWebhook("hook_a", { isEnabled: true });
        expect(await note({ place, sealedUrl, isEnabled: true })).toBe(true);
      });

      test("of many that move the same place, by two instances, exactly one is noted", async () => {
        const { place } = await create();
        const other = await harness.open();
        const noted = await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            (n % 2 === 0 ? archive : other).noteAttempt(
              "hook_a",
              { place },
              { place: { number: n + 1, mark: n } },
              makeDelivery(n),
            ),
          ),
        );
        expect(noted.filter((isNoted) => isNoted)).toHaveLength(1);
        const n = noted.indexOf(true);
        expect((await get()).place).toEqual({ number: n + 1, mark: n });
        expect(await archive.listDeliveries("hook_a")).toEqual([makeDelivery(n)]);
      });

      test("a delivery that cannot be kept leaves the progress as it was", async () => {
        const before = await create();
        const broken = makeDelivery(1, { at: "soon" as unknown as number });
        const fault = await archive
          .noteAttempt("hook_a", { place: before.place }, { failures: 1 }, broken)
          .catch((error) => error);
        expect(fault).toBeInstanceOf(Error);
        expect(fault).not.toBeInstanceOf(StoreUnavailable);
        expect(await get()).toEqual(before);
      });

      test("an attempt may disable the webhook, or be noted without a delivery", async () => {
        const { place } = await create();
        await archive.noteAttempt("hook_a", { place }, { isEnabled: false, disabledReason: "gone" }, undefined);
        expect(await get()).toMatchObject({ isEnabled: false, disabledReason: "gone" });
        expect(await archive.listDeliveries("hook_a")).toEqual([]);
      });

      test("the last deliveries of each webhook are kept", async () => {
        const { place } = await create();
        await create({ webhookId: "hook_b" });
        await archive.noteAttempt("hook_b", { place }, {}, makeDelivery(0));
        const count = DELIVERIES_MAX + 7;
        for (let n = 1; n <= count; n++) await archive.noteAttempt("hook_a", { place }, {}, makeDelivery(n));
        const kept = await archive.listDeliveries("hook_a");
        expect(kept.map(({ durationMs }) => durationMs)).toEqual(
          Array.from({ length: DELIVERIES_MAX }, (_, n) => count - n),
        );
        expect(await archive.listDeliveries("hook_b")).toEqual([makeDelivery(0)]);
        expect(await archive.listDeliveries("hook_never")).toEqual([]);
      });

      test("texts that a database refuses and times with a fraction do not stop it", async () => {
        const { place } = await create();
        const odd = makeDelivery(1, { error: "a\0b\ud83d", durationMs: 1.4 });
        const reason = { disabledReason: "\0" };
        expect(await archive.noteAttempt("hook_a", { place }, reason, odd)).toBe(true);
        const [kept] = await archive.listDeliveries("hook_a");
        expect(kept).toMatchObject({ error: "a\ufffdb\ufffd", durationMs: 1 });
      });
    });

    describe("what waits", () => {
      const joins = new Set([toEventKind("player.joined")]);
      const join = (n: number, changes: Partial<NewEvent> = {}) =>
        kill(n, { type: "player.joined", identity: `join-${n}`, ...changes });

      test("the events after the place that pass the filter and are not backfill", async () => {
        await add([join(1)]);
        const { place } = await create();
        await add([join(2), kill(3), join(4, { isBackfill: true }), join(5)]);
        await add([join(6)], "srv_b");
        expect(await archive.countWaiting("srv_a", place, joins)).toBe(2);
        expect(await archive.countWaiting("srv_a", place, filterAll())).toBe(3);
        expect(await archive.countWaiting("srv_a", place, new Set())).toBe(0);
        const { last } = await add([]);
        expect(await archive.countWaiting("srv_a", last, filterAll())).toBe(0);
        expect(await archive.countWaiting("srv_never", place, filterAll())).toBe(0);
      });

      test("all that is kept, when the place is not one of the ledger", async () => {
        const { place } = await create();
        await add(kills(20));
        while (await archive.prune({ now: NOW, days: 30, eventsMax: 5 }));
        const places: LedgerPosition[] = [place, { number: 18, mark: 1 }, { number: 99, mark: 1 }];
        for (const gone of places) expect(await archive.countWaiting("srv_a", gone, filterAll())).toBe(5);
      });

      test("is counted to a maximum, and few among many are found", async () => {
        const { place } = await create();
        await add(kills(WAITING_MAX + 50));
        await add([join(1), join(2)]);
        expect(await archive.countWaiting("srv_a", place, filterAll())).toBe(WAITING_MAX);
        expect(await archive.countWaiting("srv_a", place, joins)).toBe(2);
      });
    });

    test("what receivers said is deleted when a player is forgotten", async () => {
      await add([kill(1, { data: '{"Killed":"Bob:54"}', players: ["54"] })]);
      const { place } = await create();
      await create({ webhookId: "hook_b", serverId: "srv_b" });
      const said = (sealedAnswer: string | null, n: number) =>
        makeDelivery(n, { status: 404, error: "status 404", sealedAnswer });
      await archive.noteAttempt("hook_a", { place }, {}, said("sealed: no user Bob", 1));
      await archive.noteAttempt("hook_a", { place }, {}, said(null, 2));
      const { place: other } = await get("hook_b");
      await archive.noteAttempt("hook_b", { place: other }, {}, said("sealed: Bob", 3));
      await archive.startForgetting("54");
      while (await archive.continueForgetting());
      expect(await archive.listDeliveries("hook_a")).toEqual([said(null, 2), said(null, 1)]);
      expect(await archive.listDeliveries("hook_b")).toEqual([said(null, 3)]);
    });
  });
}
