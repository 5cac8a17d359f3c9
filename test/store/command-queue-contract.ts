// The contract of CommandQueue in core/ports/commands.ts as tests. Every store passes this suite unchanged.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  type Command,
  type CommandEnd,
  type HistoryLimits,
  IDEMPOTENCY_KEPT_MS,
  QUEUE_MAX,
  SAME_AFTER_SENT_MS,
  SAME_WHILE_UNKNOWN_MS,
} from "../../src/core/commands/command.ts";
import { CONFIRM_WITHIN_MS, findConfirmations, matchCommands } from "../../src/core/commands/find-confirmations.ts";
import { DAY_MS } from "../../src/core/durations.ts";
import { DEFAULT_SETTINGS } from "../../src/core/keys/key-settings.ts";
import type { CommandDraft, CommandQueue, Receipt } from "../../src/core/ports/commands.ts";
import type { Store } from "../../src/core/ports/store.ts";
import type { StoreHarness } from "./store-contract.ts";

const NOW = 1_800_000_000_000;
const HOLD_MS = 5_000;
const SENT = { status: "sent", upstreamCode: null, upstreamMessage: null } as const;

export function describeCommandQueue(name: string, createHarness: () => Promise<StoreHarness>): void {
  describe(`${name} fulfils the contract of a command queue`, () => {
    let harness: StoreHarness;
    let store: Store;
    let queue: CommandQueue;
    let serverId: string;
    let otherServerId: string;
    let keyId: string;

    beforeEach(async () => {
      harness = await createHarness();
      await open();
      serverId = await addServer();
      otherServerId = await addServer();
      keyId = await addKey(serverId, "hash-1");
    });
    afterEach(() => harness.dispose());

    async function open(limits?: HistoryLimits): Promise<void> {
      store = await harness.open(limits);
      queue = store.commands;
    }

    async function reopen(limits?: HistoryLimits): Promise<void> {
      await harness.crash();
      await open(limits);
    }

    async function addServer(): Promise<string> {
      const draft = { name: "One", community: null, serverKey: "abc-def" };
      return (await store.servers.create(draft, NOW)).serverId;
    }

    async function addKey(ofServer: string, tokenHash: string): Promise<string> {
      const draft = { ...DEFAULT_SETTINGS, serverId: ofServer, label: "bot", tokenHash };
      const key = await store.keys.create(draft, NOW);
      if (!key) throw new Error("no key was created");
      return key.keyId;
    }

    function draft(text: string, change: Partial<CommandDraft> = {}): CommandDraft {
      return { serverId, keyId, text, idempotencyKey: undefined, ...change };
    }

    async function accept(text: string, now = NOW, change: Partial<CommandDraft> = {}): Promise<Receipt> {
      const acceptance = await queue.accept(draft(text, change), now);
      if (!("receipt" in acceptance)) throw new Error(`declined: ${acceptance.declined}`);
      return acceptance.receipt;
    }

    async function claim(now = NOW, ofServer = serverId, holdMs = HOLD_MS): Promise<Command> {
      const claimed = await queue.claim(ofServer, now, holdMs);
      if (claimed.kind !== "claimed") throw new Error(`not claimed: ${claimed.kind}`);
      return claimed.command;
    }

    async function commandOf({ commandId }: { commandId: string }) {
      const command = await queue.find(commandId);
      if (!command) throw new Error("the command does not exist");
      return command;
    }

    async function fill(): Promise<Receipt[]> {
      const drafts = Array.from({ length: QUEUE_MAX }, (_, index) => accept(`:h ${index}`));
      return await Promise.all(drafts);
    }

    async function listAll(page: Parameters<CommandQueue["list"]>[0]): Promise<Command[]> {
      const found: Command[] = [];
      let cursor: string | undefined;
      do {
        const { items, next } = await queue.list({ ...page, cursor });
        expect(items.length).toBeLessThanOrEqual(page.limit);
        found.push(...items);
        cursor = next ?? undefined;
      } while (cursor !== undefined);
      return found;
    }

    describe("accepting", () => {
      test("an accepted command waits with all its fields, also after a crash", async () => {
        const receipt = await accept(":h ünï 😀");
        expect(receipt).toEqual({
          commandId: expect.stringMatching(/^cmd_[0-9A-Za-z]+$/),
          position: 1,
          queuedAt: NOW,
        });
        await reopen();
        expect(await commandOf(receipt)).toEqual({
          commandId: receipt.commandId,
          serverId,
          keyId,
          sentBy: { kind: "key", id: keyId, name: "" },
          text: ":h ünï 😀",
          status: "queued",
          position: 1,
          queuedAt: NOW,
          sentAt: null,
          finishedAt: null,
          confirmedAt: null,
          upstreamCode: null,
          upstreamMessage: null,
        });
      });

      test("of many at once exactly QUEUE_MAX are accepted, each with its own position, in order", async () => {
        const drafts = Array.from({ length: QUEUE_MAX * 3 }, (_, index) => draft(`:h ${index}`));
        const answers = await Promise.all(drafts.map((one) => queue.accept(one, NOW)));
        const receipts = answers.flatMap((answer) => ("receipt" in answer ? [answer.receipt] : []));
        expect(receipts.map(({ position }) => position).toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: QUEUE_MAX }, (_, index) => index + 1),
        );
        expect(new Set(receipts.map(({ commandId }) => commandId)).size).toBe(QUEUE_MAX);
        const declined = answers.filter((answer) => "declined" in answer);
        expect(declined).toEqual(Array(QUEUE_MAX * 2).fill({ declined: "full" }));
        for (const receipt of receipts) expect((await commandOf(receipt)).position).toBe(receipt.position);
      });

      test("a full queue declines, also after a crash, and does not affect other servers", async () => {
        await fill();
        await reopen();
        expect(await queue.accept(draft(":h"), NOW)).toEqual({ declined: "full" });
        expect((await accept(":h", NOW, { serverId: otherServerId })).position).toBe(1);
      });

      test("a command that is being sent does not count toward QUEUE_MAX", async () => {
        await fill();
        await claim();
        expect((await accept(":h one more")).position).toBe(QUEUE_MAX);
        expect(await queue.accept(draft(":h"), NOW)).toEqual({ declined: "full" });
      });

      test.each(["cancel", "expire", "settle"])("%s makes room", async (way) => {
        const [first] = await fill();
        if (way === "cancel") await queue.cancel(serverId, first?.commandId ?? "", NOW);
        if (way === "expire") await queue.expire(serverId, NOW + 1, NOW + 1);
        if (way === "settle") await queue.settle((await claim()).commandId, SENT, NOW);
        expect(await queue.accept(draft(":h"), NOW)).toHaveProperty("receipt");
      });
    });

    describe("idempotency", () => {
      const key = "0f8fad5b";
      const again = { idempotencyKey: key };

      test("the same key and text get the same receipt and no second command, also after a crash", async () => {
        await accept(":h before");
        const receipt = await accept(":h", NOW, again);
        expect(receipt.position).toBe(2);
        expect(await accept(":h", NOW + 5, again)).toEqual(receipt);
        await reopen();
        expect(await accept(":h", NOW + 10, again)).toEqual(receipt);
        expect(await listAll({ limit: 200, serverId })).toHaveLength(2);
      });

      test("concurrent requests with the same key get one command", async () => {
        const receipts = await Promise.all(Array.from({ length: 20 }, () => accept(":h", NOW, again)));
        expect(new Set(receipts.map(({ commandId }) => commandId)).size).toBe(1);
        expect(await listAll({ limit: 200, serverId })).toHaveLength(1);
      });

      test("a queue that takes no more still gives a repeated command its receipt", async () => {
        const receipt = await accept(":h", NOW, again);
        expect(await queue.accept(draft(":h", again), NOW, 0)).toEqual({ receipt });
        expect(await queue.accept(draft(":m", again), NOW, 0)).toEqual({ declined: "mismatch" });
        expect(await queue.accept(draft(":h"), NOW, 0)).toEqual({ declined: "full" });
        expect(await listAll({ limit: 200, serverId })).toHaveLength(1);
      });

      test("another text is a mismatch, and changes nothing", async () => {
        const receipt = await accept(":h", NOW, again);
        expect(await queue.accept(draft(":m", again), NOW)).toEqual({ declined: "mismatch" });
        expect(await accept(":h", NOW, again)).toEqual(receipt);
        expect(await listAll({ limit: 200, serverId })).toHaveLength(1);
      });

      test("the receipt stays the same whatever the command's status is", async () => {
        const receipt = await accept(":h", NOW, again);
        const { commandId } = await claim();
        expect(await accept(":h", NOW, again)).toEqual(receipt);
        await queue.settle(commandId, SENT, NOW);
        expect(await accept(":h", NOW + DAY_MS - 1, again)).toEqual(receipt);
      });

      test("a full queue still returns the receipts of accepted commands", async () => {
        const receipt = await accept(":h", NOW, again);
        for (let i = 1; i < QUEUE_MAX; i++) await accept(`:h ${i}`);
        expect(await accept(":h", NOW, again)).toEqual(receipt);
        expect(await queue.accept(draft(":m", again), NOW)).toEqual({ declined: "mismatch" });
        expect(await queue.accept(draft(":h", { idempotencyKey: "new" }), NOW)).toEqual({ declined: "full" });
      });

      test("the key of a declined command can be used again", async () => {
        const [first] = await fill();
        expect(await queue.accept(draft(":h", again), NOW)).toEqual({ declined: "full" });
        await queue.cancel(serverId, first?.commandId ?? "", NOW);
        expect(await accept(":m", NOW, again)).toMatchObject({ position: QUEUE_MAX });
      });

      test("each API key has its own idempotency keys", async () => {
        const otherKeyId = await addKey(serverId, "hash-2");
        const mine = await accept(":h", NOW, again);
        const theirs = await accept(":m", NOW, { ...again, keyId: otherKeyId });
        expect(theirs.commandId).not.toBe(mine.commandId);
        expect(await accept(":m", NOW, { ...again, keyId: otherKeyId })).toEqual(theirs);
      });

      test("a key can be used for another command after exactly 24 h", async () => {
        const old = await accept(":h", NOW, again);
        expect(await accept(":h", NOW + IDEMPOTENCY_KEPT_MS - 1, again)).toEqual(old);
        const fresh = await accept(":m", NOW + IDEMPOTENCY_KEPT_MS, again);
        expect(fresh.commandId).not.toBe(old.commandId);
        expect(await accept(":m", NOW + IDEMPOTENCY_KEPT_MS + 1, again)).toEqual(fresh);
        expect((await commandOf(old)).status).toBe("queued");
      });
    });

    describe("the same text from the same key, with joinsSame", () => {
      const same = { joinsSame: true };
      const LOST = { status: "unknown", upstreamCode: null, upstreamMessage: "lost" } as const;
      const REFUSED = { status: "failed", upstreamCode: 3002, upstreamMessage: "offline" } as const;

      test("is one command while it waits and while it is sent, also after a crash", async () => {
        await accept(":h before");
        const receipt = await accept(":h", NOW, same);
        expect(receipt.position).toBe(2);
        await reopen();
        expect(await accept(":h", NOW + DAY_MS, same)).toEqual(receipt);
        await queue.settle((await claim()).commandId, SENT, NOW);
        const { commandId } = await claim(NOW + HOLD_MS);
        expect(await accept(":h", NOW + HOLD_MS, same)).toEqual(receipt);
        await queue.requeue(commandId);
        expect(await accept(":h", NOW + HOLD_MS, same)).toEqual(receipt);
        expect(await listAll({ limit: 200, serverId })).toHaveLength(2);
      });

      test("of many at once is one command", async () => {
        const receipts = await Promise.all(Array.from({ length: 20 }, () => accept(":h", NOW, same)));
        expect(new Set(receipts.map(({ commandId }) => commandId)).size).toBe(1);
        expect(await listAll({ limit: 200, serverId })).toHaveLength(1);
      });

      test.each([
        ["sent", SENT, SAME_AFTER_SENT_MS],
        ["unknown", LOST, SAME_WHILE_UNKNOWN_MS],
      ] as const)("is one command for a while after it ended as %s, and no longer", async (_, end, ms) => {
        const receipt = await accept(":h", NOW, same);
        await queue.settle((await claim()).commandId, end, NOW + 50);
        expect(await accept(":h", NOW + 50 + ms - 1, same)).toEqual(receipt);
        expect(await accept(":h", NOW - ms + 51, same)).toEqual(receipt);
        const next = await accept(":h", NOW + 50 + ms, same);
        expect(next.commandId).not.toBe(receipt.commandId);
      });

      test("is one command for 10 minutes after a crash while it was sent", async () => {
        const receipt = await accept(":h", NOW, same);
        await claim();
        await reopen();
        const { status, finishedAt } = await commandOf(receipt);
        expect(status).toBe("unknown");
        const later = (finishedAt ?? 0) + SAME_WHILE_UNKNOWN_MS;
        expect(await accept(":h", later - 1, same)).toEqual(receipt);
        expect((await accept(":h", later, same)).commandId).not.toBe(receipt.commandId);
      });

      test("is found behind other commands that ended since", async () => {
        const receipt = await accept(":h lost", NOW, same);
        await queue.settle((await claim()).commandId, LOST, NOW);
        for (let i = 1; i <= 120; i++) {
          const now = NOW + i * HOLD_MS;
          await accept(`:h ${i}`, now);
          await queue.settle((await claim(now)).commandId, i % 2 ? LOST : SENT, now);
          if (i === 119) expect(await accept(":h lost", now, same)).toEqual(receipt);
        }
      });

      test("is another command after it was refused, cancelled or expired", async () => {
        const ids = [(await accept(":h", NOW, same)).commandId];
        await queue.settle((await claim()).commandId, REFUSED, NOW);
        ids.push((await accept(":h", NOW, same)).commandId);
        await queue.cancel(serverId, ids[1] ?? "", NOW);
        ids.push((await accept(":h", NOW, same)).commandId);
        await queue.expire(serverId, NOW + 1, NOW + 1);
        ids.push((await accept(":h", NOW, same)).commandId);
        expect(new Set(ids).size).toBe(4);
      });

      test("is another command with another text, from another key, or without joinsSame", async () => {
        const otherKeyId = await addKey(serverId, "hash-2");
        const first = await accept(":h", NOW, same);
        const others = [
          await accept(":H", NOW, same),
          await accept(":h", NOW, { ...same, keyId: otherKeyId }),
          await accept(":h"),
        ];
        expect(others.map(({ commandId }) => commandId)).not.toContain(first.commandId);
        await queue.settle((await claim()).commandId, SENT, NOW);
        expect(await accept(":h", NOW, { ...same, keyId: otherKeyId })).toEqual(others[1] as Receipt);
      });

      test("joins a command that was sent without it", async () => {
        const receipt = await accept(":h");
        expect(await accept(":h", NOW, same)).toEqual(receipt);
      });

      test("gets its receipt from a queue that is full or takes no more", async () => {
        const receipt = await accept(":h", NOW, same);
        for (let i = 1; i < QUEUE_MAX; i++) await accept(`:h ${i}`);
        expect(await accept(":h", NOW, same)).toEqual(receipt);
        expect(await queue.accept(draft(":h", same), NOW, 0)).toEqual({ receipt });
        expect(await queue.accept(draft(":m", same), NOW, 0)).toEqual({ declined: "full" });
      });
    });

    describe("claiming", () => {
      test("first in, first out, one at a time, each once", async () => {
        const receipts = [await accept(":h 1"), await accept(":h 2"), await accept(":h 3")];
        const claimed: string[] = [];
        for (let i = 0; i < receipts.length; i++) {
          const now = NOW + i * HOLD_MS;
          const command = await claim(now);
          expect(command).toMatchObject({ status: "sending", sentAt: now, position: null });
          expect(await commandOf(command)).toEqual(command);
          claimed.push(command.commandId);
          await queue.settle(command.commandId, SENT, now + 1);
        }
        expect(claimed).toEqual(receipts.map(({ commandId }) => commandId));
        expect(await queue.claim(serverId, NOW + DAY_MS, HOLD_MS)).toEqual({ kind: "empty" });
      });

      test("while one is being sent, the next cannot be claimed, however late it is", async () => {
        await accept(":h 1");
        await accept(":h 2");
        await claim();
        expect(await queue.claim(serverId, NOW + DAY_MS, HOLD_MS)).toEqual({ kind: "busy" });
      });

      test("of concurrent claims one gets the command", async () => {
        await accept(":h 1");
        await accept(":h 2");
        const claims = await Promise.all(Array.from({ length: 10 }, () => queue.claim(serverId, NOW, HOLD_MS)));
        expect(claims.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
      });

      test("the hold lasts to the millisecond, also after a crash", async () => {
        const queuedAt = NOW - 7;
        await accept(":h 1", NOW - 9);
        await accept(":h 2", queuedAt);
        await queue.settle((await claim()).commandId, SENT, NOW);
        await reopen();
        const wait = { kind: "wait", until: NOW + HOLD_MS, headQueuedAt: queuedAt } as const;
        expect(await queue.claim(serverId, NOW + HOLD_MS - 1, HOLD_MS)).toEqual(wait);
        expect((await claim(NOW + HOLD_MS)).text).toBe(":h 2");
      });

      test("`hold` replaces the current hold with a longer or shorter one, also after a crash", async () => {
        await accept(":h 1");
        await accept(":h 2");
        await accept(":h 3");
        await queue.settle((await claim()).commandId, SENT, NOW);
        await queue.hold(serverId, NOW, 60_000);
        await reopen();
        expect(await queue.claim(serverId, NOW + 59_999, HOLD_MS)).toMatchObject({ until: NOW + 60_000 });
        await queue.settle((await claim(NOW + 60_000)).commandId, SENT, NOW + 60_000);
        await queue.hold(serverId, NOW + 60_000, 10);
        expect((await claim(NOW + 60_010)).text).toBe(":h 3");
      });

      test("when the clock is set back, a hold lasts as long as it is, from now", async () => {
        await accept(":h 1");
        await queue.hold(serverId, NOW + DAY_MS, HOLD_MS);
        const held = { kind: "wait", until: NOW + HOLD_MS };
        expect(await queue.claim(serverId, NOW, HOLD_MS)).toMatchObject(held);
        expect(await queue.claim(serverId, NOW + HOLD_MS - 1, HOLD_MS)).toMatchObject(held);
        expect((await claim(NOW + HOLD_MS)).text).toBe(":h 1");
      });

      test("the queues of servers are independent", async () => {
        await accept(":h 1");
        await accept(":h 2", NOW, { serverId: otherServerId });
        expect((await claim(NOW)).text).toBe(":h 1");
        expect((await claim(NOW, otherServerId)).text).toBe(":h 2");
      });

      test("a requeued command is the next again, before later ones", async () => {
        const first = await accept(":h 1");
        await accept(":h 2");
        await queue.requeue((await claim()).commandId);
        expect(await commandOf(first)).toMatchObject({ status: "queued", position: 1, sentAt: null });
        await reopen();
        expect((await claim(NOW + HOLD_MS)).commandId).toBe(first.commandId);
      });

      test("a command that was being sent at a crash is unknown and is never claimed again", async () => {
        const first = await accept(":h 1");
        const second = await accept(":h 2");
        await claim();
        await reopen();
        expect(await commandOf(first)).toMatchObject({
          status: "unknown",
          position: null,
          sentAt: NOW,
          finishedAt: expect.any(Number),
          upstreamCode: null,
          upstreamMessage: expect.any(String),
        });
        expect((await claim(NOW + HOLD_MS)).commandId).toBe(second.commandId);
      });
    });

    describe("finishing", () => {
      test.each([
        SENT,
        { status: "failed", upstreamCode: 3001, upstreamMessage: "no valid command" },
        { status: "unknown", upstreamCode: null, upstreamMessage: "The game API cut the connection." },
      ] as const)("$status is stored with all fields, also after a crash", async (end) => {
        const receipt = await accept(":h");
        await claim();
        await queue.settle(receipt.commandId, end, NOW + 9);
        await reopen();
        expect(await commandOf(receipt)).toMatchObject({
          ...end,
          position: null,
          sentAt: NOW,
          finishedAt: NOW + 9,
        });
      });

      test("a finished command does not change", async () => {
        const receipt = await accept(":h");
        await claim();
        await queue.settle(receipt.commandId, SENT, NOW + 1);
        const before = await commandOf(receipt);
        await queue.settle(receipt.commandId, { ...SENT, status: "unknown" }, NOW + 2);
        await queue.requeue(receipt.commandId);
        expect(await queue.expire(serverId, NOW + DAY_MS, NOW + DAY_MS)).toBe(0);
        expect(await queue.cancel(serverId, receipt.commandId, NOW)).toEqual({
          command: before,
          isCancelled: false,
        });
        expect(await commandOf(receipt)).toEqual(before);
      });

      test("a waiting command cannot be settled", async () => {
        const receipt = await accept(":h");
        await queue.settle(receipt.commandId, SENT, NOW);
        expect((await commandOf(receipt)).status).toBe("queued");
      });

      test("a waiting command is cancelled, and those behind it move up", async () => {
        const [first, second] = [await accept(":h 1"), await accept(":h 2")];
        const cancelled = await queue.cancel(serverId, first.commandId, NOW + 3);
        expect(cancelled).toMatchObject({
          isCancelled: true,
          command: { status: "cancelled", position: null, finishedAt: NOW + 3, sentAt: null },
        });
        await reopen();
        expect(await commandOf(first)).toEqual(cancelled?.command as Command);
        expect((await commandOf(second)).position).toBe(1);
        expect((await claim()).commandId).toBe(second.commandId);
      });

      test("a command that is being sent is not cancelled, and a command of another server is not found", async () => {
        const receipt = await accept(":h");
        expect(await queue.cancel(otherServerId, receipt.commandId, NOW)).toBeUndefined();
        expect(await queue.cancel(serverId, "cmd_unknown", NOW)).toBeUndefined();
        await claim();
        expect(await queue.cancel(serverId, receipt.commandId, NOW)).toMatchObject({
          isCancelled: false,
          command: { status: "sending" },
        });
      });

      test("of a concurrent cancel and claim exactly one succeeds", async () => {
        for (let round = 0; round < 10; round++) {
          const now = NOW + round * HOLD_MS;
          const { commandId } = await accept(`:h ${round}`, now);
          const claiming = () => queue.claim(serverId, now, HOLD_MS);
          const cancelling = () => queue.cancel(serverId, commandId, now);
          const [claimed, cancelled] =
            round % 2 === 0
              ? await Promise.all([claiming(), cancelling()])
              : (await Promise.all([cancelling(), claiming()])).toReversed();
          const isClaimed = claimed !== undefined && "kind" in claimed && claimed.kind === "claimed";
          const isCancelled = cancelled !== undefined && "isCancelled" in cancelled && cancelled.isCancelled;
          expect(isClaimed).not.toBe(isCancelled);
          await queue.settle(commandId, SENT, now);
        }
      });

      test("exactly the server's commands from before the cutoff expire", async () => {
        const [old, edge] = [await accept(":h 1", NOW - 1), await accept(":h 2", NOW)];
        const other = await accept(":h", NOW - 1, { serverId: otherServerId });
        expect(await queue.expire(serverId, NOW, NOW + 4)).toBe(1);
        await reopen();
        expect(await commandOf(old)).toMatchObject({
          status: "expired",
          position: null,
          finishedAt: NOW + 4,
        });
        expect(await commandOf(edge)).toMatchObject({ status: "queued", position: 1 });
        expect((await commandOf(other)).status).toBe("queued");
      });

      test("deleting a server fails its waiting commands and returns how many; one that is being sent is not affected", async () => {
        const [sending, waiting] = [await accept(":h 1"), await accept(":h 2")];
        const other = await accept(":h", NOW, { serverId: otherServerId });
        await claim();
        expect(await store.servers.delete(serverId, NOW + 5)).toEqual({ revokedKeys: 1, failedCommands: 1 });
        expect(await commandOf(waiting)).toMatchObject({
          status: "failed",
          finishedAt: NOW + 5,
          upstreamCode: null,
          upstreamMessage: expect.any(String),
        });
        expect((await commandOf(sending)).status).toBe("sending");
        await queue.settle(sending.commandId, SENT, NOW + 6);
        expect((await commandOf(sending)).status).toBe("sent");
        expect((await commandOf(other)).status).toBe("queued");
      });
    });

    describe("reading", () => {
      test("an unknown command is not found", async () => {
        expect(await queue.find("cmd_unknown")).toBeUndefined();
      });

      test("commands are listed newest first, in pages, each once, by server and by status", async () => {
        const receipts: Receipt[] = [];
        for (let i = 0; i < 5; i++) receipts.push(await accept(`:h ${i}`));
        const other = await accept(":h", NOW, { serverId: otherServerId });
        const ids = receipts.map(({ commandId }) => commandId).toReversed();
        const idsOf = (commands: Command[]) => commands.map(({ commandId }) => commandId);
        expect(idsOf(await listAll({ limit: 2, serverId }))).toEqual(ids);
        expect(idsOf(await listAll({ limit: 5, serverId }))).toEqual(ids);
        expect(idsOf(await listAll({ limit: 4 }))).toEqual([other.commandId, ...ids]);
        const [oldest] = await listAll({ limit: 200, serverId }).then((all) => all.toReversed());
        await claim();
        expect(idsOf(await listAll({ limit: 2, serverId, status: "sending" }))).toEqual([oldest?.commandId ?? ""]);
        expect(idsOf(await listAll({ limit: 2, serverId, status: "queued" }))).toEqual(ids.slice(0, -1));
        const positions = (await listAll({ limit: 200, serverId })).map(({ position }) => position);
        expect(positions).toEqual([4, 3, 2, 1, null]);
        const third = await accept(":h", NOW, { serverId: await addServer() });
        const both = [otherServerId, serverId];
        expect(idsOf(await listAll({ limit: 2, serverIds: both }))).toEqual([other.commandId, ...ids]);
        expect(idsOf(await listAll({ limit: 2, serverIds: both, status: "queued" }))).not.toContain(third.commandId);
        expect(await queue.list({ limit: 2, serverIds: [] })).toEqual({ items: [], next: null });
      });

      test("the commands of one key are listed newest first, in pages, each once, by status too", async () => {
        const otherKeyId = await addKey(serverId, "hash-2");
        const own: Receipt[] = [];
        for (let i = 0; i < 15; i++) {
          const receipt = await accept(`:h ${i}`, NOW, i % 3 === 0 ? {} : { keyId: otherKeyId });
          if (i % 3 === 0) own.push(receipt);
        }
        await accept(":h", NOW, { serverId: otherServerId });
        const ids = own.map(({ commandId }) => commandId).toReversed();
        const idsOf = (commands: Command[]) => commands.map(({ commandId }) => commandId);
        const ofKey = { serverId, keyId };
        for (const limit of [1, 2, 4, 5, 200]) {
          expect(idsOf(await listAll({ limit, ...ofKey }))).toEqual(ids);
        }
        await claim();
        expect(idsOf(await listAll({ limit: 2, ...ofKey, status: "queued" }))).toEqual(ids.slice(0, -1));
        expect(idsOf(await listAll({ limit: 2, ...ofKey, status: "sending" }))).toEqual(ids.slice(-1));
        await queue.settle(ids.at(-1) ?? "", SENT, NOW);
        expect(idsOf(await listAll({ limit: 2, ...ofKey, status: "sent" }))).toEqual(ids.slice(-1));
        expect(await listAll({ limit: 2, serverId, keyId: otherKeyId, status: "sent" })).toEqual([]);
        expect(await listAll({ limit: 2, serverId: otherServerId, keyId: otherKeyId })).toEqual([]);
        expect(await listAll({ limit: 2, serverId, keyId: "key_unknown" })).toEqual([]);
      });

      test("listWaitingServers lists the servers with waiting commands, also after a crash", async () => {
        expect(await queue.listWaitingServers()).toEqual([]);
        await accept(":h");
        await accept(":h");
        await accept(":h", NOW, { serverId: otherServerId });
        await reopen();
        expect((await queue.listWaitingServers()).toSorted()).toEqual([serverId, otherServerId].toSorted());
        await claim(NOW, otherServerId);
        expect(await queue.listWaitingServers()).toEqual([serverId]);
      });

      test("the report has the number of waiting commands and the time of the oldest", async () => {
        expect(await queue.report()).toEqual({ waiting: 0, oldestQueuedAt: null });
        await accept(":h 1", NOW - 50);
        await accept(":h 2", NOW - 20, { serverId: otherServerId });
        await accept(":h 3", NOW - 10);
        expect(await queue.report()).toEqual({ waiting: 3, oldestQueuedAt: NOW - 50 });
        await claim();
        expect(await queue.report()).toEqual({ waiting: 2, oldestQueuedAt: NOW - 20 });
      });
    });

    describe("confirming", () => {
      test("sent and unknown commands are listed oldest first with their log times, also after a crash", async () => {
        const ends = [SENT, { ...SENT, status: "failed" }, { ...SENT, status: "unknown" }, SENT] as const;
        const ids: string[] = [];
        for (const [index, end] of ends.entries()) {
          const now = NOW + index * HOLD_MS;
          ids.push((await accept(`:h ${index}`, now)).commandId);
          await claim(now);
          await queue.settle(ids[index] ?? "", end, now);
        }
        await accept(":h waiting");
        await queue.confirm(ids[2] ?? "", NOW + 11_000, NOW + 20_000);
        await reopen();
        const entry = (index: number, loggedAt: number | null) => ({
          commandId: ids[index] ?? "",
          sentBy: { kind: "key" as const, id: keyId, name: "" },
          text: `:h ${index}`,
          sentAt: NOW + index * HOLD_MS,
          loggedAt,
        });
        const all = [entry(0, null), entry(2, NOW + 11_000), entry(3, null)];
        expect(await queue.listSent(serverId, NOW)).toEqual(all);
        expect(await queue.listSent(serverId, NOW + 1)).toEqual(all.slice(1));
        expect(await queue.listSent(otherServerId, 0)).toEqual([]);
      });

      test("the first confirmation is kept, and changes no other field", async () => {
        const receipt = await accept(":h");
        await claim();
        await queue.settle(receipt.commandId, { ...SENT, status: "unknown" }, NOW + 1);
        const before = await commandOf(receipt);
        await queue.confirm(receipt.commandId, NOW + 1_000, NOW + 2_000);
        await queue.confirm(receipt.commandId, NOW + 5_000, NOW + 9_000);
        expect(await commandOf(receipt)).toEqual({ ...before, confirmedAt: NOW + 2_000 });
        expect(await queue.listSent(serverId, NOW)).toMatchObject([{ loggedAt: NOW + 1_000 }]);
      });
    });

    describe("tidying", () => {
      test("deletes commands that finished before the given time, and none that wait or are being sent", async () => {
        const [old, edge] = [await accept(":h old", NOW - 9), await accept(":h edge", NOW - 9)];
        await queue.cancel(serverId, old.commandId, NOW - 1);
        await queue.cancel(serverId, edge.commandId, NOW);
        const sending = await accept(":h sending", NOW - 9);
        await claim();
        const waiting = await accept(":h waiting", NOW - 9);
        await store.tidy({ now: NOW, usage: 0, audit: 0, commands: NOW });
        await reopen();
        expect(await queue.find(old.commandId)).toBeUndefined();
        for (const kept of [edge, sending, waiting]) expect(await queue.find(kept.commandId)).toBeDefined();
      });

      test("does not shorten a hold", async () => {
        await accept(":h 1");
        await accept(":h 2");
        await queue.settle((await claim()).commandId, SENT, NOW);
        await store.tidy({ now: NOW + 1, usage: 0, audit: 0, commands: NOW + 1 });
        expect((await queue.claim(serverId, NOW + 1, HOLD_MS)).kind).toBe("wait");
      });
    });

    describe("the limits of the history", () => {
      const LIMITS: HistoryLimits = { finishedMax: 5, cancelledMax: 2, receiptsMax: 3 };
      let at = NOW;

      beforeEach(async () => {
        at = NOW;
        await reopen(LIMITS);
      });

      /** Accepts a command and finishes it in this way. */
      async function finish(
        status: "sent" | "failed" | "unknown" | "expired" | "cancelled",
        change: Partial<CommandDraft> = {},
      ): Promise<Receipt> {
        at += HOLD_MS;
        const receipt = await accept(`:h ${at}`, at, change);
        if (status === "cancelled") await queue.cancel(serverId, receipt.commandId, at);
        else if (status === "expired") await queue.expire(serverId, at + 1, at + 1);
        else {
          const claimed = await claim(at);
          expect(claimed.commandId).toBe(receipt.commandId);
          await queue.settle(receipt.commandId, { ...SENT, status }, at);
        }
        return receipt;
      }

      const idsOf = (commands: readonly { commandId: string }[]) => commands.map(({ commandId }) => commandId);

      test.each(["sent", "failed", "unknown", "expired"] as const)(
        "of %s commands the newest are kept, also after a crash",
        async (status) => {
          const receipts: Receipt[] = [];
          for (let i = 0; i < 9; i++) receipts.push(await finish(status));
          const kept = idsOf(receipts.slice(-LIMITS.finishedMax)).toReversed();
          for (const { commandId } of receipts.slice(0, -LIMITS.finishedMax))
            expect(await queue.find(commandId)).toBeUndefined();
          await reopen(LIMITS);
          expect(idsOf(await listAll({ limit: 2, serverId }))).toEqual(kept);
          expect(idsOf(await listAll({ limit: 2, serverId, status }))).toEqual(kept);
          expect(idsOf(await listAll({ limit: 2, status }))).toEqual(kept);
        },
      );

      test("cancelled ones go sooner, and the one that was just cancelled stays", async () => {
        const sent = [await finish("sent"), await finish("sent"), await finish("failed")];
        const cancelled: Receipt[] = [];
        for (let i = 0; i < 6; i++) {
          cancelled.push(await finish("cancelled"));
          expect((await commandOf(cancelled.at(-1) ?? { commandId: "" })).status).toBe("cancelled");
        }
        const kept = cancelled.slice(-LIMITS.cancelledMax);
        expect(idsOf(await listAll({ limit: 2, serverId, status: "cancelled" }))).toEqual(idsOf(kept).toReversed());
        expect(idsOf(await listAll({ limit: 2, serverId }))).toEqual(idsOf([...sent, ...kept]).toReversed());
      });

      test("what waits or is being sent is kept, however old it is, and so are other servers' commands", async () => {
        const other = await accept(":h other", NOW, { serverId: otherServerId });
        await queue.cancel(otherServerId, other.commandId, NOW);
        const [sending, waiting] = [await accept(":h sending"), await accept(":h waiting")];
        await claim();
        for (let i = 0; i < 9; i++) await finish("cancelled");
        await reopen(LIMITS);
        for (const receipt of [other, waiting]) expect(await queue.find(receipt.commandId)).toBeDefined();
        expect(await queue.find(sending.commandId)).toBeDefined();
        expect(await listAll({ limit: 200, serverId })).toHaveLength(2 + LIMITS.cancelledMax);
      });

      test("many that expire at once, and those of a deleted server, are dropped too", async () => {
        for (let i = 0; i < 40; i++) await accept(`:h ${i}`);
        await queue.expire(serverId, NOW + 1, NOW + 1);
        expect(await listAll({ limit: 200, serverId })).toHaveLength(LIMITS.finishedMax);
        for (let i = 0; i < 40; i++) await accept(`:h ${i}`);
        await store.servers.delete(serverId, NOW + 2);
        expect(await listAll({ limit: 200, status: "failed" })).toHaveLength(LIMITS.finishedMax);
      });

      test("a history that is already longer is shortened by tidying, oldest first", async () => {
        await reopen();
        const receipts: Receipt[] = [];
        for (let i = 0; i < 12; i++) receipts.push(await finish("failed"));
        for (let i = 0; i < 5; i++) receipts.push(await finish("cancelled"));
        await reopen(LIMITS);
        await store.tidy({ now: at, usage: 0, audit: 0, commands: 0 });
        expect(idsOf(await listAll({ limit: 2, serverId, status: "cancelled" }))).toHaveLength(2);
        expect(idsOf(await listAll({ limit: 2, serverId, status: "failed" }))).toEqual(
          idsOf(receipts.slice(9, 12)).toReversed(),
        );
      });

      describe("idempotency", () => {
        /** Drops all cancelled commands from before. */
        async function dropCancelled(): Promise<void> {
          for (let i = 0; i < LIMITS.cancelledMax; i++) await finish("cancelled");
        }

        test("the key of a dropped command gets the same receipt, and another text is a mismatch, also after a crash", async () => {
          const receipt = await finish("cancelled", { idempotencyKey: "once" });
          const text = `:h ${at}`;
          await dropCancelled();
          expect(await queue.find(receipt.commandId)).toBeUndefined();
          const count = (await listAll({ limit: 200, serverId })).length;
          await reopen(LIMITS);
          expect(await accept(text, at, { idempotencyKey: "once" })).toEqual(receipt);
          expect(await queue.accept(draft(":h other", { idempotencyKey: "once" }), at)).toEqual({
            declined: "mismatch",
          });
          expect(await listAll({ limit: 200, serverId })).toHaveLength(count);
          await store.tidy({ now: at, usage: 0, audit: 0, commands: 0 });
          expect(await accept(text, at, { idempotencyKey: "once" })).toEqual(receipt);
        });

        test("the receipt of a dropped command is forgotten after exactly 24 h", async () => {
          const receipt = await finish("cancelled", { idempotencyKey: "once" });
          const text = `:h ${at}`;
          await dropCancelled();
          const end = receipt.queuedAt + IDEMPOTENCY_KEPT_MS;
          expect(await accept(text, end - 1, { idempotencyKey: "once" })).toEqual(receipt);
          const fresh = await accept(":h other", end, { idempotencyKey: "once" });
          expect(fresh.commandId).not.toBe(receipt.commandId);
          await store.tidy({ now: end, usage: 0, audit: 0, commands: 0 });
          expect(await accept(":h other", end, { idempotencyKey: "once" })).toEqual(fresh);
        });

        test("a key with too many receipts gets no new one, can send without, and can again when they are old", async () => {
          const receipts: { receipt: Receipt; text: string }[] = [];
          for (let i = 0; i < LIMITS.receiptsMax; i++) {
            const receipt = await finish("cancelled", { idempotencyKey: `once ${i}` });
            receipts.push({ receipt, text: `:h ${at}` });
          }
          await dropCancelled();
          expect(await queue.accept(draft(":h", { idempotencyKey: "new" }), at)).toEqual({
            declined: "full",
          });
          expect(await queue.accept(draft(":h"), at)).toHaveProperty("receipt");
          const otherKeyId = await addKey(serverId, "hash-2");
          const others = draft(":h", { keyId: otherKeyId, idempotencyKey: "new" });
          expect(await queue.accept(others, at)).toHaveProperty("receipt");
          for (const [i, { receipt, text }] of receipts.entries())
            expect(await accept(text, at, { idempotencyKey: `once ${i}` })).toEqual(receipt);
          const later = at + IDEMPOTENCY_KEPT_MS + 3_600_000;
          expect(await queue.accept(draft(":h", { idempotencyKey: "new" }), later)).toHaveProperty("receipt");
        });
      });
    });

    describe("forgetting a player", () => {
      const BOB = { id: "54", names: ["Bob"] };
      const UNKNOWN = { status: "unknown", upstreamCode: 1001, upstreamMessage: "Bob (54) is gone" } as const;

      async function send(text: string, now: number, change: Partial<CommandDraft> = {}, end: CommandEnd = SENT) {
        const receipt = await accept(text, now, change);
        await claim(now);
        await queue.settle(receipt.commandId, end, now);
        return receipt;
      }

      test("takes name and id out of the texts of finished commands of every server, also after a crash", async () => {
        const sent = await send(":kick Bob 54", NOW);
        const unknown = await send(":pm bob,Bobby hi", NOW + HOLD_MS, {}, UNKNOWN);
        const untouched = await send(":kick Bobby 540", NOW + 2 * HOLD_MS);
        const other = await accept(":ban 54", NOW, { serverId: otherServerId });
        await queue.cancel(otherServerId, other.commandId, NOW);
        const before = await commandOf(sent);
        expect(await queue.forgetPlayer(BOB, NOW + 2 * HOLD_MS)).toBe(true);
        await reopen();
        expect(await commandOf(sent)).toEqual({ ...before, text: ":kick deleted 0" });
        expect(await commandOf(unknown)).toMatchObject({
          text: ":pm deleted,Bobby hi",
          upstreamMessage: "deleted (0) is gone",
        });
        expect((await commandOf(untouched)).text).toBe(":kick Bobby 540");
        expect((await commandOf(other)).text).toBe(":ban 0");
        expect(await queue.forgetPlayer(BOB, NOW + 2 * HOLD_MS)).toBe(true);
      });

      test("lets a command that waits or is being sent be sent as it was accepted, and says so", async () => {
        const first = await accept(":kick Bob");
        const second = await accept(":ban Bob");
        expect(await queue.forgetPlayer(BOB, NOW)).toBe(false);
        expect((await claim()).text).toBe(":kick Bob");
        expect(await queue.forgetPlayer(BOB, NOW)).toBe(false);
        await queue.settle(first.commandId, SENT, NOW);
        expect(await queue.forgetPlayer(BOB, NOW)).toBe(false);
        expect((await commandOf(first)).text).toBe(":kick deleted");
        expect((await claim(NOW + HOLD_MS)).text).toBe(":ban Bob");
        await queue.settle(second.commandId, SENT, NOW + HOLD_MS);
        expect(await queue.forgetPlayer(BOB, NOW + HOLD_MS)).toBe(true);
        expect((await commandOf(second)).text).toBe(":ban deleted");
      });

      test("a repeated request is still the same command, and another text is still a mismatch", async () => {
        const keyed = await send(":kick Bob Ann", NOW, { idempotencyKey: "once" });
        const unknown = await send(":ban Bob Ann", NOW + HOLD_MS, { joinsSame: true }, UNKNOWN);
        const now = NOW + HOLD_MS;
        await queue.forgetPlayer(BOB, now);
        await queue.forgetPlayer({ id: "1", names: ["Ann"] }, now);
        await reopen();
        expect((await commandOf(keyed)).text).toBe(":kick deleted deleted");
        const repeat = { idempotencyKey: "once" };
        expect(await accept(":kick Bob Ann", now, repeat)).toEqual(keyed);
        expect(await queue.accept(draft(":kick deleted deleted", repeat), now)).toEqual({
          declined: "mismatch",
        });
        expect(await accept(":ban Bob Ann", now, { joinsSame: true })).toEqual(unknown);
        const later = now + SAME_WHILE_UNKNOWN_MS;
        expect((await accept(":ban Bob Ann", later, { joinsSame: true })).commandId).not.toBe(unknown.commandId);
      });

      test("a command whose entry is not in the game's log yet is still found there, by its text as it was sent", async () => {
        const kicked = await send(":kick Bob 54", NOW);
        await send(":kick Ann", NOW + HOLD_MS);
        await queue.forgetPlayer(BOB, NOW + HOLD_MS);
        await queue.forgetPlayer({ id: "1", names: ["Ann"] }, NOW + HOLD_MS);
        await reopen();
        const logged = { Player: "Remote Server", Timestamp: NOW / 1000, Command: ":kick Bob 54" };
        const other = { ...logged, Command: ":kick deleted" };
        const found = findConfirmations(await queue.listSent(serverId, 0), [other, logged]);
        expect(found).toEqual([{ commandId: kicked.commandId, loggedAt: NOW }]);
        await queue.confirm(kicked.commandId, NOW, NOW);
        const [again] = await queue.listSent(serverId, 0);
        expect(matchCommands(again ? [again] : [], [other, logged]).get(logged)?.commandId).toBe(kicked.commandId);
        // What was sent long ago is not looked for.
        const old = await send(":ban Bob", NOW + 2 * HOLD_MS);
        await queue.forgetPlayer(BOB, NOW + 2 * HOLD_MS + CONFIRM_WITHIN_MS);
        expect((await queue.listSent(serverId, 0)).find((one) => one.commandId === old.commandId)).not.toHaveProperty(
          "textHash",
        );
      });

      test("looks through a history of any length", async () => {
        for (let round = 0; round < 7; round++) {
          const texts = Array.from({ length: round < 6 ? QUEUE_MAX : 1 }, (_, i) => `:h Bob ${round} ${i}`);
          const receipts = await Promise.all(texts.map((text) => accept(text)));
          await Promise.all(receipts.map(({ commandId }) => queue.cancel(serverId, commandId, NOW)));
        }
        expect(await queue.forgetPlayer(BOB, NOW)).toBe(true);
        const texts = (await listAll({ limit: 200, serverId })).map(({ text }) => text);
        expect(texts).toHaveLength(601);
        expect(texts.filter((text) => text.includes("Bob"))).toEqual([]);
      });
    });
  });
}
