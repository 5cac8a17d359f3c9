// The store in PostgreSQL fulfils the contract of a command queue. Beyond that, several instances send each command once,
// also when one of them is frozen or loses its connection, and PostgreSQL may be killed at any moment.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Command, type CommandEnd, QUEUE_MAX } from "../../src/core/commands/command.ts";
import { DAY_MS } from "../../src/core/durations.ts";
import { StoreUnavailable } from "../../src/core/errors.ts";
import type { CommandDraft, CommandQueue, Receipt } from "../../src/core/ports/commands.ts";
import { Fenced } from "../../src/database/postgres.ts";
import { CommandTable } from "../../src/database/store/commands.ts";
import type { DatabaseStore } from "../../src/database/store/store.ts";
import { FaultProxy } from "../fault-proxy.ts";
import { migrateStore, openTestPostgres, reapInstance } from "../open-store.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { cleanUp } from "../temporary.ts";
import { describeCommandQueue } from "./command-queue-contract.ts";
import type { StoreHarness } from "./store-contract.ts";

const NOW = 1_800_000_000_000;
const HOLD_MS = 5_000;
const SENT: CommandEnd = { status: "sent", upstreamCode: null, upstreamMessage: null };

let server: PostgresServer;
let line: FaultProxy;
beforeAll(async () => {
  server = await startPostgres();
  line = await FaultProxy.start(server.port);
});
afterAll(async () => {
  await cleanUp();
  await stopPostgresServers();
});

async function createHarness(): Promise<StoreHarness> {
  const url = await server.createFilledDatabase(migrateStore);
  let instances = 0;
  let open: DatabaseStore | undefined;
  return {
    async open(historyLimits) {
      open = await openTestPostgres({ url, historyLimits, instanceId: `instance ${++instances}` });
      return open;
    },
    async crash() {
      await open?.close();
      await reapInstance(url, `instance ${instances}`, NOW);
    },
    async dispose() {
      await open?.close();
    },
  };
}

describeCommandQueue("the store in PostgreSQL", createHarness);

describe("several instances on one PostgreSQL", () => {
  let url: string;
  let stores: DatabaseStore[];
  /** Connected through the line. */
  let one: CommandQueue;
  let two: CommandQueue;
  let serverId: string;

  beforeEach(async () => {
    url = await server.createFilledDatabase(migrateStore);
    stores = [];
    two = await join("two");
    one = await join("one", url.replace(`:${server.port}/`, `:${line.port}/`));
    const server1 = { name: "One", community: null, serverKey: "abc-def" };
    serverId = (await stores[0]?.servers.create(server1, NOW))?.serverId ?? "";
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });

  async function join(instanceId: string, through = url): Promise<CommandQueue> {
    const store = await openTestPostgres({ url: through, instanceId });
    stores.push(store);
    return store.commands;
  }

  function draft(text: string, change: Partial<CommandDraft> = {}): CommandDraft {
    return { serverId, keyId: "key_1", text, idempotencyKey: undefined, ...change };
  }

  async function accept(text: string, now = NOW, queue = one): Promise<Receipt> {
    const acceptance = await queue.accept(draft(text), now);
    if (!("receipt" in acceptance)) throw new Error(`declined: ${acceptance.declined}`);
    return acceptance.receipt;
  }

  async function claim(queue: CommandQueue, now: number): Promise<Command> {
    const claimed = await queue.claim(serverId, now, HOLD_MS);
    if (claimed.kind !== "claimed") throw new Error(`not claimed: ${claimed.kind}`);
    return claimed.command;
  }

  const statusOf = async ({ commandId }: { commandId: string }) => (await two.find(commandId))?.status;

  /** Half of them by each instance. */
  function byBoth<T>(count: number, act: (queue: CommandQueue, index: number) => Promise<T>): Promise<T[]> {
    return Promise.all(Array.from({ length: count }, (_, index) => act(index % 2 === 0 ? one : two, index)));
  }

  /** PostgreSQL commits, and the line of `one` is cut before it learns that. */
  async function loseAnswer(act: () => Promise<unknown>): Promise<void> {
    line.watchReply = (piece) => {
      if (piece.includes("COMMIT")) line.set({ kind: "closed" });
    };
    try {
      await expect(act()).rejects.toBeInstanceOf(StoreUnavailable);
    } finally {
      line.watchReply = () => {};
      line.set({ kind: "pass" });
    }
  }

  test("of 1,000 parallel submissions exactly QUEUE_MAX are accepted, and sent in order by both", async () => {
    const before = await accept(":h before");
    await one.cancel(serverId, before.commandId, NOW);
    const answers = await byBoth(1_000, (queue, index) => queue.accept(draft(`:h ${index}`), NOW));
    const receipts = answers.flatMap((answer) => ("receipt" in answer ? [answer.receipt] : []));
    const inOrder = receipts.toSorted((a, b) => a.position - b.position);
    expect(inOrder.map(({ position }) => position)).toEqual(Array.from({ length: QUEUE_MAX }, (_, index) => index + 1));
    const sent: string[] = [];
    for (let i = 0; i < QUEUE_MAX; i++) {
      const [sender, now] = [i % 3 === 0 ? one : two, NOW + i * HOLD_MS];
      const { commandId } = await claim(sender, now);
      await sender.settle(commandId, SENT, now);
      sent.push(commandId);
    }
    expect(sent).toEqual(inOrder.map(({ commandId }) => commandId));
    expect(await two.claim(serverId, NOW + DAY_MS, HOLD_MS)).toEqual({ kind: "empty" });
  });

  test("submissions to 600 servers at once are all accepted", async () => {
    const answers = await byBoth(1_200, (queue, index) =>
      queue.accept(draft(":h", { serverId: `srv_${index >> 1}` }), NOW),
    );
    const positions = answers.map((answer) => ("receipt" in answer ? answer.receipt.position : 0));
    expect(positions.toSorted()).toEqual([...Array(600).fill(1), ...Array(600).fill(2)]);
  });

  test.each([
    ["an idempotency key", { idempotencyKey: "once" }],
    ["the same text with joinsSame", { joinsSame: true }],
  ])("%s is one command on all instances, also while it is sent", async (_, change) => {
    const again = draft(":h", change);
    const answers = await byBoth(20, (queue) => queue.accept(again, NOW));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const [first] = answers as [(typeof answers)[0]];
    const { commandId } = await claim(one, NOW);
    expect(await two.accept(again, NOW)).toEqual(first);
    await one.settle(commandId, SENT, NOW);
    expect(await two.accept(again, NOW + 1)).toEqual(first);
  });

  test("of many claims at once one gets the next command, and only that instance can record its end", async () => {
    for (let round = 0; round < 10; round++) {
      const now = NOW + round * HOLD_MS;
      const { commandId } = await accept(`:h ${round}`, now);
      const claims = await byBoth(10, async (queue) => {
        return { queue, claimed: await queue.claim(serverId, now, HOLD_MS) };
      });
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

  test("a command of an instance that died is unknown, once, and the next is sent", async () => {
    const [first, second] = [await accept(":h 1"), await accept(":h 2")];
    await claim(one, NOW);
    expect(await two.claim(serverId, NOW + DAY_MS, HOLD_MS)).toEqual({ kind: "busy" });
    await reapInstance(url, "one", NOW + 6_000);
    await reapInstance(url, "one", NOW + 7_000);
    expect(await two.find(first.commandId)).toMatchObject({
      status: "unknown",
      sentAt: NOW,
      finishedAt: NOW + 6_000,
      upstreamMessage: expect.stringContaining("is not known"),
    });
    expect((await claim(two, NOW + 8_000)).commandId).toBe(second.commandId);
    expect(await two.listSent(serverId, 0)).toMatchObject([{ commandId: first.commandId }]);
  });

  test.each(["settle", "requeue"] as const)(
    "an instance that was frozen and counts as dead cannot %s, with its fence or without it",
    async (way) => {
      const driver = stores[0]?.driver;
      if (!driver) throw new Error("no driver");
      const unfenced = new CommandTable({ driver, instanceId: () => "frozen" });
      const [first, second] = [await accept(":h 1"), await accept(":h 2")];
      await claim(one, NOW);
      await reapInstance(url, "one", NOW + 6_000);
      await claim(unfenced, NOW + 6_000);
      await reapInstance(url, "frozen", NOW + 12_000);
      const before = [await two.find(first.commandId), await two.find(second.commandId)];
      const end = (queue: CommandQueue, { commandId }: Receipt) =>
        way === "settle" ? queue.settle(commandId, SENT, NOW + 20_000) : queue.requeue(commandId);
      await expect(end(one, first)).rejects.toBeInstanceOf(Fenced);
      await end(unfenced, second);
      expect([await two.find(first.commandId), await two.find(second.commandId)]).toEqual(before);
      await expect(one.accept(draft(":h 3"), NOW + 20_000)).rejects.toBeInstanceOf(Fenced);
      await expect(one.claim(serverId, NOW + 20_000, HOLD_MS)).rejects.toBeInstanceOf(Fenced);
    },
  );

  test("a claim whose answer was lost is made again by the same instance, and by no other", async () => {
    const { commandId } = await accept(":h 1");
    await accept(":h 2");
    await loseAnswer(() => one.claim(serverId, NOW, HOLD_MS));
    expect(await statusOf({ commandId })).toBe("sending");
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

  test("a claim without an answer does not put back a command that is being sent", async () => {
    const { commandId } = await accept(":h 1");
    await accept(":h 2");
    await claim(one, NOW);
    await loseAnswer(() => one.claim(serverId, NOW + HOLD_MS, HOLD_MS));
    expect(await one.claim(serverId, NOW + HOLD_MS, HOLD_MS)).toEqual({ kind: "busy" });
    expect(await statusOf({ commandId })).toBe("sending");
  });

  test.each(["requeue", "settle"] as const)(
    "%s, repeated because its answer was lost, does not touch what another instance does since",
    async (way) => {
      const [first, second] = [await accept(":h 1"), await accept(":h 2")];
      await claim(one, NOW);
      const end = () => (way === "settle" ? one.settle(first.commandId, SENT, NOW) : one.requeue(first.commandId));
      await loseAnswer(end);
      const next = way === "settle" ? second : first;
      expect((await claim(two, NOW + HOLD_MS)).commandId).toBe(next.commandId);
      const before = [await two.find(first.commandId), await two.find(second.commandId)];
      await end();
      expect([await two.find(first.commandId), await two.find(second.commandId)]).toEqual(before);
      await two.settle(next.commandId, SENT, NOW + HOLD_MS);
      expect(await statusOf(next)).toBe("sent");
    },
  );

  test("an acceptance whose answer was lost is the same command when it is repeated", async () => {
    const again = draft(":h", { idempotencyKey: "once" });
    await loseAnswer(() => one.accept(again, NOW));
    const answers = [await two.accept(again, NOW + 1), await one.accept(again, NOW + 2)];
    expect(answers[0]).toMatchObject({ receipt: { position: 1, queuedAt: NOW } });
    expect(answers[1]).toEqual(answers[0] as (typeof answers)[0]);
    expect((await two.list({ limit: 10, serverId })).items).toHaveLength(1);
  });

  test("both instances finish, cancel and tidy at once, and the counts of the history stay exact", async () => {
    const work = async (queue: CommandQueue, index: number, now: number) => {
      const own = draft(`:h ${index}`, { serverId: `srv_${index % 6}` });
      const acceptance = await queue.accept(own, now);
      if (!("receipt" in acceptance)) throw new Error(acceptance.declined);
      if (index % 4 === 0) await queue.cancel(own.serverId, acceptance.receipt.commandId, now);
      if (index % 31 === 0) await queue.expire(own.serverId, now, now);
    };
    await byBoth(360, (queue, index) => work(queue, index, NOW + index));
    const [cutoff, later] = [NOW + 300, NOW + 1_000];
    const tidies = stores.map((store) => store.tidy({ now: later, usage: 0, audit: 0, commands: cutoff }));
    await Promise.all([...tidies, byBoth(200, (queue, index) => work(queue, index, later))]);
    const old = await server.ask(`SELECT 1 FROM gatehouse.commands WHERE finished_at < ${cutoff}`, url);
    expect(Array.from(old)).toEqual([]);
    const counts = await server.ask(
      `SELECT q.server_id FROM gatehouse.queues q WHERE
         (finished, cancelled) <> (SELECT count(*) FILTER (WHERE finished_at IS NOT NULL),
           count(*) FILTER (WHERE status = 'cancelled') FROM gatehouse.commands c WHERE c.server_id = q.server_id)`,
      url,
    );
    expect(Array.from(counts)).toEqual([]);
    expect((await two.list({ limit: 200, status: "cancelled" })).items.length).toBeGreaterThan(10);
  });

  test("what the game API says is kept also when PostgreSQL could not hold it", async () => {
    const { commandId } = await accept(":h");
    await claim(one, NOW);
    const end = { status: "failed", upstreamCode: 3001, upstreamMessage: "a\0b\ud800c" } as const;
    await one.settle(commandId, end, NOW);
    expect((await two.find(commandId))?.upstreamMessage).toBe("a\ufffdb\ufffdc");
  });

  test("an accepted command survives kill -9 of PostgreSQL at any moment, and an instance goes on by itself", async () => {
    const accepted: string[] = [];
    for (let round = 0; round < 4; round++) {
      let count = 0;
      let killing: Promise<void> | undefined;
      const lanes = Array.from({ length: 4 }, async (_, lane) => {
        for (let i = 0; i < 5; i++) {
          const receipt = await accept(`:h ${round} ${lane} ${i}`, NOW, lane % 2 === 0 ? one : two);
          accepted.push(receipt.commandId);
          if (++count === 4 + round) killing = server.kill();
        }
      });
      const ends = await Promise.allSettled(lanes);
      for (const end of ends) if (end.status === "rejected") expect(end.reason).toBeInstanceOf(StoreUnavailable);
      await killing;
      await server.start();
    }
    expect(accepted.length).toBeGreaterThanOrEqual(4 + 5 + 6 + 7);
    for (const commandId of accepted) expect(await statusOf({ commandId })).toBe("queued");
    const waiting = (await one.list({ limit: 200, serverId })).items.toReversed();
    expect(waiting.map(({ position }) => position)).toEqual(waiting.map((_, index) => index + 1));
  });
});
