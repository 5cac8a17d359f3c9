// The shared store passes the contract of a command queue, on one Redis and on a cluster. Beyond that, several instances
// send each command once, also when one of them is frozen or loses its connection.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Command, CommandEnd } from "../../src/core/command.ts";
import { HISTORY_LIMITS, QUEUE_MAX } from "../../src/core/command.ts";
import { DAY_MS } from "../../src/core/durations.ts";
import { StoreUnavailable } from "../../src/core/errors.ts";
import type { CommandDraft, Receipt } from "../../src/core/ports/commands.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { Store, TidyTimes } from "../../src/core/ports/store.ts";
import { findServerOf, newCommandId } from "../../src/store/command-id.ts";
import { RedisCommandQueue } from "../../src/store/redis/command-queue.ts";
import { type RedisAddress, RedisLink, TOOL_REPLY_DEADLINE_MS } from "../../src/store/redis/redis-link.ts";
import { FaultProxy } from "../instances/fault-proxy.ts";
import { cleanUp, until } from "../process/run-gatehouse.ts";
import {
  type RedisCluster,
  type RedisServer,
  startRedis,
  startRedisCluster,
  stopRedisServers,
} from "../redis-server.ts";
import { describeCommandQueue } from "./command-queue-contract.ts";
import type { StoreHarness } from "./store-contract.ts";

const NOW = 1_800_000_000_000;
const HOLD_MS = 5_000;
const LEASE_MS = 30_000;
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
const SENT: CommandEnd = { status: "sent", upstreamCode: null, upstreamMessage: null };
/** These tests cancel without a note. */
const NO_OUTBOX = { deliver: async () => {}, forgetDelivered: async () => {} };
const UNMARKED_AFTER_MS = 60_001;
const WAITING = "gatehouse:{directory}:waiting";

let single: RedisServer;
let cluster: RedisCluster;
let singleLine: FaultProxy;
let clusterLines: readonly FaultProxy[];
beforeAll(async () => {
  single = await startRedis();
  singleLine = await FaultProxy.start(single.port);
  // Where they lead is known when the nodes have started.
  clusterLines = await Promise.all([0, 0, 0].map(FaultProxy.start));
  cluster = await startRedisCluster(clusterLines.map(({ port }) => port));
  for (const [index, { port }] of cluster.nodes.entries()) {
    const line = clusterLines[index];
    if (line) line.redisPort = port;
  }
});
afterAll(async () => {
  await cleanUp();
  await stopRedisServers();
});

let ids = 0;
const newServerId = () => `srv_${String(++ids).padStart(20, "0")}`;

type Medium = {
  readonly address: RedisAddress;
  /** What all instances reach it through. */
  readonly lines: readonly FaultProxy[];
  flush(): Promise<unknown>;
  crash(): Promise<void>;
};

const onSingle = (): Medium => ({
  address: { ...single.address, nodes: [{ host: "127.0.0.1", port: singleLine.port }] },
  lines: [singleLine],
  flush: () => single.ask("FLUSHALL"),
  // Redis crashes with the instance: everything it has answered is on disk.
  async crash() {
    await single.kill();
    await single.start();
  },
});

const onCluster = (): Medium => ({
  address: cluster.address,
  lines: clusterLines,
  flush: () => cluster.flush(),
  async crash() {},
});

/** The part of a store that the contract of a queue needs. Its clock is the latest time that a test has passed in. */
async function createHarness(medium: Medium): Promise<StoreHarness> {
  await medium.flush();
  const serverIds: string[] = [];
  const links: RedisLink[] = [];
  let latest = NOW;
  let keys = 0;
  const time = (now = latest): [string, string] => {
    latest = now;
    return [String(now), ""];
  };
  return {
    async open(historyLimits = HISTORY_LIMITS) {
      const link = await RedisLink.open(medium.address, SILENT, TOOL_REPLY_DEADLINE_MS);
      links.push(link);
      const commands = new RedisCommandQueue({
        link,
        historyLimits,
        leaseMs: 2 * DAY_MS,
        listServerIds: () => serverIds,
        outbox: NO_OUTBOX,
        times: time,
      });
      const store = {
        commands,
        servers: {
          async create() {
            const serverId = newServerId();
            serverIds.push(serverId);
            return { serverId };
          },
          async delete(serverId: string, now: number) {
            return { revokedKeys: 1, failedCommands: await commands.failWaiting(serverId, now) };
          },
        },
        keys: { create: async () => ({ keyId: `key_${++keys}` }) },
        tidy: (before: TidyTimes) => commands.forgetBefore(before.commands, before.now),
      };
      return store as unknown as Store;
    },
    // As if the next instance came after the leases of the crashed one have ended.
    async crash() {
      for (const link of links.splice(0)) link.close();
      await medium.crash();
      const link = await RedisLink.open(medium.address, SILENT, TOOL_REPLY_DEADLINE_MS);
      for (const serverId of serverIds) {
        const sending = `gatehouse:{${serverId}}:sending`;
        const isSending = await link.send(sending, "EXISTS", sending);
        if (isSending === 1) await link.send(sending, "HSET", sending, "lease_until", 0);
      }
      link.close();
    },
    async dispose() {
      for (const link of links.splice(0)) link.close();
    },
  };
}

describeCommandQueue("the shared store on one Redis", () => createHarness(onSingle()));
describeCommandQueue("the shared store on a cluster", () => createHarness(onCluster()));

describe.each([
  ["one Redis", onSingle],
  ["a cluster", onCluster],
])("several instances on %s", (_, getMedium) => {
  let serverId: string;
  let links: RedisLink[];
  let one: RedisCommandQueue;
  let two: RedisCommandQueue;
  let serverIds: string[];
  let latest: number;

  beforeEach(async () => {
    await getMedium().flush();
    serverId = newServerId();
    serverIds = [serverId];
    latest = NOW;
    links = [];
    one = await join();
    two = await join();
  });
  afterEach(() => {
    for (const link of links) link.close();
  });

  async function join(
    time = (now = latest): readonly [string, string] => {
      latest = now;
      return [String(now), ""];
    },
  ): Promise<RedisCommandQueue> {
    const link = await RedisLink.open(getMedium().address, SILENT, TOOL_REPLY_DEADLINE_MS);
    links.push(link);
    return new RedisCommandQueue({
      link,
      leaseMs: LEASE_MS,
      listServerIds: () => serverIds,
      outbox: NO_OUTBOX,
      times: time,
    });
  }

  function draft(text: string, change: Partial<CommandDraft> = {}): CommandDraft {
    return { serverId, keyId: "key_1", text, idempotencyKey: undefined, ...change };
  }

  async function accept(text: string, now = NOW, change: Partial<CommandDraft> = {}): Promise<Receipt> {
    const acceptance = await one.accept(draft(text, change), now);
    if (!("receipt" in acceptance)) throw new Error(`declined: ${acceptance.declined}`);
    return acceptance.receipt;
  }

  async function claim(queue: RedisCommandQueue, now: number): Promise<Command> {
    const claimed = await queue.claim(serverId, now, HOLD_MS);
    if (claimed.kind !== "claimed") throw new Error(`not claimed: ${claimed.kind}`);
    return claimed.command;
  }

  /** The script of `one` runs, but its connection is cut before the reply arrives. No other instance may send meanwhile. */
  async function loseAnswer(act: () => Promise<unknown>): Promise<void> {
    const { lines } = getMedium();
    for (const line of lines) line.set({ kind: "lose-replies" });
    await expect(act()).rejects.toBeInstanceOf(StoreUnavailable);
    for (const line of lines) line.set({ kind: "pass" });
  }

  async function untilOneIsBack({ commandId }: { commandId: string }): Promise<void> {
    const canAsk = () => one.find(commandId).then(Boolean, () => false);
    await until("the line is not mended", canAsk);
  }

  const statusOf = async ({ commandId }: { commandId: string }) => (await two.find(commandId))?.status;
  const send = (name: string, ...args: string[]) => links[0]?.send(name, ...args);

  test("of 400 parallel submissions over two instances exactly QUEUE_MAX are accepted, in order", async () => {
    const drafts = Array.from({ length: 400 }, (_, index) => draft(`:h ${index}`));
    const answers = await Promise.all(drafts.map((each, index) => [one, two][index % 2]?.accept(each, NOW)));
    const receipts = answers.flatMap((answer) => (answer && "receipt" in answer ? [answer.receipt] : []));
    expect(receipts.map(({ position }) => position).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: QUEUE_MAX }, (_, index) => index + 1),
    );
    const sent: string[] = [];
    for (let i = 0; i < QUEUE_MAX; i++) {
      const [sender, now] = [i % 2 === 0 ? one : two, NOW + i * HOLD_MS];
      const { commandId } = await claim(sender, now);
      await sender.settle(commandId, SENT, now);
      sent.push(commandId);
    }
    const inOrder = receipts.toSorted((a, b) => a.position - b.position);
    expect(sent).toEqual(inOrder.map(({ commandId }) => commandId));
    expect(await two.claim(serverId, NOW + DAY_MS, HOLD_MS)).toEqual({ kind: "empty" });
  });

  test("an idempotency key gets one receipt from all instances", async () => {
    const again = draft(":h", { idempotencyKey: "a}b{c:d" });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => [one, two][index % 2]?.accept(again, NOW)),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  test("the same text with joinsSame is one command on all instances", async () => {
    const again = draft(":h", { joinsSame: true });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => [one, two][index % 2]?.accept(again, NOW)),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const { commandId } = await claim(one, NOW);
    const [first] = answers;
    expect(await two.accept(again, NOW)).toEqual(first as NonNullable<typeof first>);
    await one.settle(commandId, SENT, NOW);
    expect(await two.accept(again, NOW + 1)).toEqual(first as NonNullable<typeof first>);
  });

  test("a command whose acceptance was lost is not withdrawn once another request has joined it", async () => {
    const again = draft(":h", { joinsSame: true });
    await loseAnswer(() => one.accept(again, NOW));
    const joined = await two.accept(again, NOW);
    if (!("receipt" in joined)) throw new Error("it was not accepted");
    await untilOneIsBack(joined.receipt);
    await one.withdrawUnanswered();
    expect(await statusOf(joined.receipt)).toBe("queued");
    expect((await two.list({ limit: 10, serverId })).items).toHaveLength(1);
  });

  test("of many claims at once over two instances one gets the next command", async () => {
    for (let round = 0; round < 10; round++) {
      const now = NOW + round * HOLD_MS;
      const { commandId } = await accept(`:h ${round}`, now);
      const claims = await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          const queue = index % 2 === 0 ? one : two;
          return { queue, claimed: await queue.claim(serverId, now, HOLD_MS) };
        }),
      );
      const winners = claims.filter(({ claimed }) => claimed.kind === "claimed");
      expect(winners).toHaveLength(1);
      const loser = winners[0]?.queue === one ? two : one;
      await loser.settle(commandId, SENT, now);
      await loser.requeue(commandId);
      expect(await statusOf({ commandId })).toBe("sending");
      await winners[0]?.queue.settle(commandId, SENT, now);
      expect(await statusOf({ commandId })).toBe("sent");
    }
  });

  test("a command is unknown to the millisecond when its lease is over, and the next is sent", async () => {
    const [first, second] = [await accept(":h 1"), await accept(":h 2")];
    await claim(one, NOW);
    expect(await two.claim(serverId, NOW + LEASE_MS - 1, HOLD_MS)).toEqual({ kind: "busy" });
    expect(await statusOf(first)).toBe("sending");
    expect((await claim(two, NOW + LEASE_MS)).commandId).toBe(second.commandId);
    expect(await two.find(first.commandId)).toMatchObject({
      status: "unknown",
      sentAt: NOW,
      finishedAt: NOW + LEASE_MS,
      upstreamMessage: expect.stringContaining("is not known"),
    });
    expect(await two.listSent(serverId, 0)).toMatchObject([{ commandId: first.commandId }]);
  });

  test.each(["settle", "give back"])("what was frozen past its lease cannot %s any more", async (way) => {
    const [first, second, third] = [await accept(":h 1"), await accept(":h 2"), await accept(":h 3")];
    await claim(one, NOW);
    const later = NOW + LEASE_MS;
    expect((await claim(two, later)).commandId).toBe(second.commandId);
    const before = [await two.find(first.commandId), await two.find(second.commandId)];
    if (way === "settle") await one.settle(first.commandId, SENT, later + 1);
    else await one.requeue(first.commandId);
    expect([await two.find(first.commandId), await two.find(second.commandId)]).toEqual(before);
    expect(await one.claim(serverId, later + HOLD_MS, HOLD_MS)).toEqual({ kind: "busy" });
    await two.settle(second.commandId, SENT, later + HOLD_MS);
    expect((await claim(one, later + HOLD_MS)).commandId).toBe(third.commandId);
  });

  test.each(["give back", "settle"])(
    "%s, when late, does not take a command from whoever has it by now",
    async (way) => {
      const { commandId } = await accept(":h 1");
      await claim(one, NOW);
      // Redis must know the script already: the lost reply must be that of the script itself.
      await one.requeue(commandId);
      const [again, later] = [NOW + HOLD_MS, NOW + 2 * HOLD_MS];
      await claim(one, again);
      // The reply to the first attempt is lost; before the second attempt the other instance has claimed the command.
      await loseAnswer(() => one.requeue(commandId));
      expect((await claim(two, later)).commandId).toBe(commandId);
      await untilOneIsBack({ commandId });
      if (way === "settle") await one.settle(commandId, SENT, later);
      else await one.requeue(commandId);
      expect(await statusOf({ commandId })).toBe("sending");
      await two.settle(commandId, SENT, later);
      expect(await statusOf({ commandId })).toBe("sent");
    },
  );

  test("a stale claim is ended also when no command waits behind it and no instance claims", async () => {
    const receipt = await accept(":h 1");
    await claim(one, NOW);
    expect(await two.claim(serverId, NOW + 1, HOLD_MS)).toEqual({ kind: "busy" });
    latest = NOW + UNMARKED_AFTER_MS;
    expect(await two.listWaitingServers()).toEqual([]);
    expect(await send(WAITING, "ZRANGE", WAITING, "0", "-1")).toEqual([]);
    const name = `gatehouse:{${serverId}}:command:${receipt.commandId}`;
    expect(await send(name, "HGET", name, "status")).toBe("unknown");
    expect(await two.claim(serverId, NOW + UNMARKED_AFTER_MS, HOLD_MS)).toEqual({ kind: "empty" });
  });

  test("a server is marked as long as something waits or is being sent, and for a while after", async () => {
    const marked = () => send(WAITING, "ZRANGE", WAITING, "0", "-1");
    await accept(":h 1");
    latest = NOW + DAY_MS;
    expect(await two.listWaitingServers()).toEqual([serverId]);
    expect(await marked()).toEqual([serverId]);
    await claim(one, NOW + DAY_MS);
    expect(await two.listWaitingServers()).toEqual([]);
    expect(await marked()).toEqual([serverId]);
    // An instance is about to accept a command, and has already marked the server.
    await accept(":h 2", NOW + DAY_MS);
    await two.cancel(serverId, (await two.list({ serverId, limit: 1 })).items[0]?.commandId ?? "", latest);
    await one.settle((await two.list({ serverId, limit: 2 })).items[1]?.commandId ?? "", SENT, latest);
    expect(await two.report()).toEqual({ waiting: 0, oldestQueuedAt: null });
    expect(await marked()).toEqual([serverId]);
    latest += UNMARKED_AFTER_MS - 1;
    expect(await two.listWaitingServers()).toEqual([]);
    expect(await marked()).toEqual([serverId]);
    latest += 1;
    expect(await two.report()).toEqual({ waiting: 0, oldestQueuedAt: null });
    expect(await marked()).toEqual([]);
  });

  test("a claim whose answer was lost is made again by the same instance, and by no other", async () => {
    // Once before: Redis must know the script, or the answer that is lost is that it does not.
    expect(await two.claim(serverId, NOW, HOLD_MS)).toEqual({ kind: "empty" });
    const { commandId } = await accept(":h 1");
    await loseAnswer(() => one.claim(serverId, NOW, HOLD_MS));
    expect(await statusOf({ commandId })).toBe("sending");
    await untilOneIsBack({ commandId });
    expect(await two.claim(serverId, NOW + HOLD_MS, HOLD_MS)).toEqual({ kind: "busy" });
    expect(await one.claim(serverId, NOW + 1, HOLD_MS)).toMatchObject({
      kind: "wait",
      until: NOW + HOLD_MS,
    });
    expect((await claim(one, NOW + HOLD_MS)).commandId).toBe(commandId);
    expect(await one.claim(serverId, NOW + HOLD_MS, HOLD_MS)).toEqual({ kind: "busy" });
    await one.settle(commandId, SENT, NOW + HOLD_MS);
    expect(await statusOf({ commandId })).toBe("sent");
  });

  test("scripts that come too late change nothing", async () => {
    const [first, second] = [await accept(":h 1"), await accept(":h 2")];
    let isLate = false;
    const sender = await join((now = latest) => [String(now), isLate ? String(now - 1) : ""]);
    const { commandId } = await claim(sender, NOW);
    const before = await two.list({ serverId, limit: 10 });
    isLate = true;
    const attempts = [
      () => sender.accept(draft(":h 3"), NOW),
      () => sender.claim(serverId, NOW + HOLD_MS, HOLD_MS),
      () => sender.hold(serverId, NOW, DAY_MS),
      () => sender.settle(commandId, SENT, NOW),
      () => sender.requeue(commandId),
      () => sender.expire(serverId, NOW + DAY_MS, NOW + DAY_MS),
      () => sender.cancel(serverId, second.commandId, NOW),
      () => sender.confirm(first.commandId, NOW, NOW),
      () => sender.failWaiting(serverId, NOW),
      () => sender.forgetBefore(NOW + DAY_MS, NOW + DAY_MS),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await two.list({ serverId, limit: 10 })).toEqual(before);
    isLate = false;
    await sender.settle(commandId, SENT, NOW);
    expect(await statusOf({ commandId })).toBe("sent");
    expect((await claim(two, NOW + HOLD_MS)).commandId).toBe(second.commandId);
  });

  test("lists over many servers are newest first, page by page, each once", async () => {
    serverIds = Array.from({ length: 7 }, newServerId);
    const receipts: Receipt[] = [];
    for (let i = 0; i < 40; i++) {
      receipts.push(await accept(`:h ${i}`, NOW, { serverId: serverIds[(i * i) % 7] ?? "" }));
    }
    const cancelled = receipts.filter((_, index) => index % 3 === 0);
    for (const { commandId } of cancelled) await one.cancel(findServerOf(commandId) ?? "", commandId, NOW);
    const all = async (status?: "cancelled" | "queued") => {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await two.list({ limit: 3, cursor, status });
        found.push(...page.items.map(({ commandId }) => commandId));
        cursor = page.next ?? undefined;
      } while (cursor !== undefined);
      return found;
    };
    const idsOf = (some: Receipt[]) => some.map(({ commandId }) => commandId).toReversed();
    expect(await all()).toEqual(idsOf(receipts));
    expect(await all("cancelled")).toEqual(idsOf(cancelled));
    expect(await all("queued")).toEqual(idsOf(receipts.filter((each) => !cancelled.includes(each))));
    expect(await two.list({ limit: 3, cursor: "no cursor" })).toEqual({ items: [], next: null });
  });

  test("the newest stays the first when the clock of Redis is set back", async () => {
    const old = await accept(":h old");
    const ahead = String((Date.now() + DAY_MS) * 1_000);
    const prefix = `gatehouse:{${serverId}}:`;
    await send(`${prefix}history`, "ZADD", `${prefix}history`, ahead, old.commandId);
    await send(prefix, "HSET", `${prefix}command:${old.commandId}`, "seq", ahead);
    const { commandId } = await accept(":h fresh");
    expect((await two.list({ serverId, limit: 5 })).items.map((each) => each.commandId)).toEqual([
      commandId,
      old.commandId,
    ]);
  });

  test("a page by status reads no more commands than it shows, however long the history is", async () => {
    const rare = await accept(":h rare");
    await one.failWaiting(serverId, NOW);
    for (let round = 0; round < 12; round++) {
      await Promise.all(Array.from({ length: 100 }, (_, index) => accept(`:h ${index}`)));
      await one.expire(serverId, NOW + 1, NOW + 1);
    }
    const nodes = getMedium().address.isCluster ? cluster.nodes : [single];
    for (const node of nodes) await node.ask("CONFIG", "RESETSTAT");
    const { items, next } = await two.list({ serverId, status: "failed", limit: 50 });
    expect([items.map(({ commandId }) => commandId), next]).toEqual([[rare.commandId], null]);
    const stats = await Promise.all(nodes.map((node) => node.ask("INFO", "commandstats")));
    const reads = stats.join("\n").matchAll(/cmdstat_(?:hmget|hgetall|hget):calls=(\d+)/g);
    expect(
      Array.from(reads, ([, calls]) => Number(calls)).reduce((sum, calls) => sum + calls, 0),
    ).toBeLessThan(20);
  });

  test("a history of an older version is listed by status, and gets its sets by tidying", async () => {
    for (let i = 0; i < 3; i++) await accept(`:h ${i}`);
    await one.expire(serverId, NOW + 1, NOW + 1);
    const cancelled = await accept(":h cancelled", NOW + 1);
    await one.cancel(serverId, cancelled.commandId, NOW + 1);
    const waiting = await accept(":h waiting", NOW + 1);
    const listed = async () => {
      const lists = (["expired", "cancelled", "queued", "failed"] as const).map((status) =>
        two.list({ serverId, status, limit: 10 }),
      );
      return (await Promise.all(lists)).map(({ items }) => items.map(({ commandId }) => commandId));
    };
    const before = await listed();
    expect(before.map((ids) => ids.length)).toEqual([3, 1, 1, 0]);
    const history = `gatehouse:{${serverId}}:history`;
    const setsOf = async () => {
      const nodes = getMedium().address.isCluster ? cluster.nodes : [single];
      const found = await Promise.all(nodes.map((node) => node.ask("KEYS", `${history}:*`)));
      return (found.flat() as string[]).toSorted();
    };
    const sets = await setsOf();
    expect(sets).toContain(`${history}:expired`);
    for (const name of sets) await send(name, "DEL", name);
    expect(await listed()).toEqual(before);
    await one.forgetBefore(NOW, NOW + 2);
    expect(await setsOf()).toEqual(sets);
    expect(await listed()).toEqual(before);
    expect(await statusOf(waiting)).toBe("queued");
  });

  test("of a forgotten history no key is left", async () => {
    for (let i = 0; i < 3; i++) await accept(`:h ${i}`);
    await one.expire(serverId, NOW + 1, NOW + 1);
    await one.forgetBefore(NOW + 2, NOW + 2);
    const nodes = getMedium().address.isCluster ? cluster.nodes : [single];
    const found = await Promise.all(nodes.map((node) => node.ask("KEYS", `gatehouse:{${serverId}}:*`)));
    expect(found.flat()).toEqual([]);
  });

  test("a long history is listed and forgotten in parts", async () => {
    const kept = await accept(":h kept");
    for (let round = 0; round < 12; round++) {
      const receipts = await Promise.all(Array.from({ length: 90 }, (_, index) => accept(`:h ${index}`)));
      expect(receipts).toHaveLength(90);
      await one.cancel(serverId, (await two.list({ serverId, limit: 1 })).items[0]?.commandId ?? "", NOW);
      await one.expire(serverId, NOW + 1, NOW + 1);
      if (round === 0) expect(await statusOf(kept)).toBe("expired");
    }
    expect((await two.list({ serverId, limit: 2_000 })).items).toHaveLength(1 + 12 * 90);
    expect((await two.list({ serverId, status: "cancelled", limit: 200 })).items).toHaveLength(12);
    const last = await accept(":h last", NOW + 1);
    await one.forgetBefore(NOW + 2, NOW + 2);
    expect((await two.list({ serverId, limit: 200 })).items).toMatchObject([last]);
    const names = await Promise.all(
      (getMedium().address.isCluster ? cluster.nodes : [single]).map((node) =>
        node.ask("KEYS", "*:command:*"),
      ),
    );
    expect(names.flat()).toEqual([`gatehouse:{${serverId}}:command:${last.commandId}`]);
  });
});

describe("the shared queue and its Redis", () => {
  test("a Redis that has no memory left accepts nothing, and records what was sent", async () => {
    await single.ask("FLUSHALL");
    const link = await RedisLink.open(single.address, SILENT, TOOL_REPLY_DEADLINE_MS);
    const serverId = newServerId();
    const time = (now = NOW): [string, string] => [String(now), ""];
    const queue = new RedisCommandQueue({
      link,
      leaseMs: LEASE_MS,
      listServerIds: () => [serverId],
      outbox: NO_OUTBOX,
      times: time,
    });
    const draft = { serverId, keyId: "key_1", text: ":h", idempotencyKey: "once" };
    const accepted = await queue.accept({ ...draft, idempotencyKey: undefined }, NOW);
    if (!("receipt" in accepted)) throw new Error("not accepted");
    const { commandId } = accepted.receipt;
    await queue.claim(serverId, NOW, HOLD_MS);
    await single.ask("CONFIG", "SET", "maxmemory", "1");
    await expect(queue.accept(draft, NOW)).rejects.toBeInstanceOf(StoreUnavailable);
    await queue.settle(commandId, SENT, NOW + 1);
    await single.ask("CONFIG", "SET", "maxmemory", "0");
    expect(await queue.find(commandId)).toMatchObject({ ...SENT, finishedAt: NOW + 1 });
    expect(await queue.list({ serverId, limit: 10 })).toMatchObject({ items: [{ commandId }] });
    expect(await queue.accept(draft, NOW)).toMatchObject({ receipt: { position: 1 } });
    link.close();
  });

  test("an accepted command survives kill -9 of Redis at any moment", async () => {
    await single.ask("FLUSHALL");
    const serverId = newServerId();
    const time = (now = NOW): [string, string] => [String(now), ""];
    const accepted: string[] = [];
    for (let round = 0; round < 5; round++) {
      const link = await RedisLink.open(single.address, SILENT, TOOL_REPLY_DEADLINE_MS);
      const queue = new RedisCommandQueue({
        link,
        leaseMs: LEASE_MS,
        listServerIds: () => [serverId],
        outbox: NO_OUTBOX,
        times: time,
      });
      let count = 0;
      const lanes = Array.from({ length: 3 }, async (_, lane) => {
        for (let i = 0; i < 5; i++) {
          const draft = { serverId, keyId: "key_1", text: `:h ${lane} ${i}`, idempotencyKey: undefined };
          const answer = await queue.accept(draft, NOW);
          if ("receipt" in answer) accepted.push(answer.receipt.commandId);
          if (++count === 5 + round) await single.kill();
        }
      });
      await Promise.allSettled(lanes);
      link.close();
      await single.start();
    }
    const link = await RedisLink.open(single.address, SILENT, TOOL_REPLY_DEADLINE_MS);
    const queue = new RedisCommandQueue({
      link,
      leaseMs: LEASE_MS,
      listServerIds: () => [serverId],
      outbox: NO_OUTBOX,
      times: time,
    });
    expect(accepted.length).toBeGreaterThanOrEqual(25);
    for (const commandId of accepted) expect(await queue.find(commandId)).toMatchObject({ status: "queued" });
    link.close();
  });

  test("claiming and closing wait for a withdrawal under way", async () => {
    const answers: PromiseWithResolvers<null>[] = [];
    let isLost = false;
    const link = {
      run() {
        if (isLost) return Promise.reject(new StoreUnavailable("the answer was lost"));
        const answer = Promise.withResolvers<null>();
        answers.push(answer);
        return answer.promise;
      },
    } as unknown as RedisLink;
    const time = (now = NOW): [string, string] => [String(now), ""];
    const queue = new RedisCommandQueue({
      link,
      leaseMs: LEASE_MS,
      listServerIds: () => [],
      outbox: NO_OUTBOX,
      times: time,
    });
    const accepting = queue.accept(
      { serverId: "srv_1", keyId: "key_1", text: ":h", idempotencyKey: undefined },
      NOW,
    );
    isLost = true;
    answers.shift()?.resolve(null);
    await expect(accepting).rejects.toThrow("lost");
    isLost = false;
    const first = queue.withdrawUnanswered();
    let isOver = false;
    const second = queue.withdrawUnanswered().then(() => {
      isOver = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    for (const answer of answers) answer.resolve(null);
    await Promise.all([first, second]);
    const asked = answers.length;
    await queue.withdrawUnanswered();
    expect(answers).toHaveLength(asked);
  });

  test("requests to a frozen Redis fail in time, and are not executed when it thaws", async () => {
    await single.ask("FLUSHALL");
    const serverId = newServerId();
    const link = await RedisLink.open(single.address, SILENT);
    const time = (): [string, string] => ["", String(Date.now() + 500)];
    const queue = new RedisCommandQueue({
      link,
      leaseMs: LEASE_MS,
      listServerIds: () => [serverId],
      outbox: NO_OUTBOX,
      times: time,
    });
    const draft = { serverId, keyId: "key_1", text: ":h", idempotencyKey: undefined };
    expect(await queue.accept(draft, NOW)).toHaveProperty("receipt");
    single.freeze();
    const begun = performance.now();
    const attempts = [queue.accept(draft, NOW), queue.claim(serverId, NOW, HOLD_MS)];
    for (const each of await Promise.allSettled(attempts)) expect(each.status).toBe("rejected");
    expect(performance.now() - begun).toBeLessThan(1_500);
    single.thaw();
    for (let tries = 0; !link.isUp && tries < 200; tries++) await Bun.sleep(10);
    expect(await queue.list({ serverId, limit: 10 })).toMatchObject({ items: [{ status: "queued" }] });
    expect((await queue.claim(serverId, NOW, HOLD_MS)).kind).toBe("claimed");
    link.close();
  });
});

describe("the id of a command", () => {
  test.each(["srv_0123456789abcdefghiJ", "srv_1", "srv_a_b", `srv_${"x".repeat(56)}`])(
    "tells its server: %s",
    (serverId) => {
      const commandId = newCommandId(serverId);
      expect(commandId).toMatch(/^cmd_[0-9A-Za-z_]{1,80}$/);
      expect(findServerOf(commandId)).toBe(serverId);
    },
  );

  test.each(["", "cmd_", "cmd_unknown", "cmd_}{aaaaaaaaaaaaaaaaaaaaaaaa", `cmd_${"x".repeat(90)}`, "srv_1"])(
    "is not found in something else: %p",
    (text) => expect(findServerOf(text)).toBeUndefined(),
  );
});
