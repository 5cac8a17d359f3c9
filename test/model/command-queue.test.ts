// The promise of the queue under random histories: commands come in, the game answers, refuses, loses or is not there, time
// passes, the disk refuses, the process is killed and started again, in any order. The dispatcher, the queue and the files are
// the real ones; the clock and the game are the test's. Nothing accepted may be lost, nothing delivered twice, no order
// changed, no queue too long.
import { afterAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type Command, QUEUE_MAX } from "../../src/core/command.ts";
import { StoreUnavailable } from "../../src/core/errors.ts";
import type { CommandQueue, Receipt } from "../../src/core/ports/commands.ts";
import type { Log } from "../../src/core/ports/log.ts";
import type { Store } from "../../src/core/ports/store.ts";
import type { Delivery } from "../../src/core/ports/upstream.ts";
import { CommandDispatcher } from "../../src/gateway/commands/command-dispatcher.ts";
import { CommandMeter } from "../../src/gateway/commands/command-meter.ts";
import { createSealer } from "../../src/store/sealer.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { FakeClock } from "../start-gatehouse.ts";

const RUNS = Number(process.env.MODEL_RUNS ?? 10_000);
const INTERVAL_MS = 5_000;
const TTL_MS = 600_000;
const SERVERS = 2;
const WAL_LONG_BYTES = 300_000;
const FILES = ["gatehouse.db", "gatehouse.db-wal"];
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
const NO_LIMIT = { limit: null, remaining: null, resetAt: null, retryAfterMs: null };
const sealer = createSealer("a secret");

/** Memory where there is some: the model is about order and loss, and the disk's own speed only costs time. */
const root = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "gatehouse-model-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function open(folder: string, clock: FakeClock): Store {
  return openSqliteStore({ path: join(folder, "gatehouse.db"), sealer, log: SILENT, clock: clock.read });
}

function copyFiles(from: string, to: string): void {
  for (const name of FILES) {
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
  }
}

const ANSWERS = ["done", "limited", "refused", "unsent", "lost-delivered", "lost-undelivered"] as const;
type Answer = (typeof ANSWERS)[number];

type Step =
  | {
      readonly do: "accept";
      readonly server: number;
      readonly idempotencyKey: number | null;
      readonly isOther: boolean;
    }
  | { readonly do: "flood"; readonly server: number }
  | { readonly do: "answer"; readonly server: number; readonly as: Answer; readonly isLate: boolean }
  | { readonly do: "cancel"; readonly which: number }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "rest" }
  | { readonly do: "turns"; readonly count: number }
  | { readonly do: "disk-refuses"; readonly times: number }
  | { readonly do: "crash"; readonly isDelivered: boolean }
  | { readonly do: "restart" };

const server = fc.nat(SERVERS - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 48,
    arbitrary: fc.record({
      do: fc.constant("accept" as const),
      server,
      idempotencyKey: fc.option(fc.nat(2), { freq: 2 }),
      isOther: fc.nat(9).map((one) => one === 0),
    }),
  },
  {
    weight: 48,
    arbitrary: fc.record({
      do: fc.constant("answer" as const),
      server,
      as: fc.constantFrom(...ANSWERS),
      isLate: fc.boolean(),
    }),
  },
  { weight: 30, arbitrary: fc.constant<Step>({ do: "rest" }) },
  {
    weight: 30,
    arbitrary: fc.constantFrom<Step[]>(
      ...[1, 1_000, 4_999, 5_000, 5_000, 5_000, 12_000, 60_000, TTL_MS, TTL_MS + 1].map((ms) => ({
        do: "pass" as const,
        ms,
      })),
    ),
  },
  { weight: 18, arbitrary: fc.record({ do: fc.constant("turns" as const), count: fc.nat(5) }) },
  { weight: 18, arbitrary: fc.record({ do: fc.constant("cancel" as const), which: fc.nat(20) }) },
  { weight: 15, arbitrary: fc.record({ do: fc.constant("crash" as const), isDelivered: fc.boolean() }) },
  { weight: 3, arbitrary: fc.constant<Step>({ do: "restart" }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("disk-refuses" as const), times: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("flood" as const), server }) },
);

type Sending = { readonly resolve: (delivery: Delivery) => void };
type Arrival = { readonly text: string; readonly at: number; outcome: Answer | "pending" | "cut" };

/** One process: what it holds in memory dies with it. */
class Life {
  readonly store: Store;
  readonly commands: CommandQueue;
  readonly dispatcher: CommandDispatcher;
  readonly sendings = new Map<string, Sending>();
  isDead = false;
  /** The pace counts from here: time may pass before the claim is on disk and the command on its way. */
  readonly claimedAt = new Map<string, number>();
  /** Calls into the queue that have not come back. */
  under = 0;
  calls = 0;

  constructor(
    readonly world: World,
    readonly folder: string,
    opened?: Store,
  ) {
    this.store = opened ?? open(folder, world.clock);
    this.commands = this.#watch(this.store.commands);
    this.dispatcher = new CommandDispatcher({
      burstQuietMs: 0,
      store: {
        commands: this.commands,
        servers: {
          find: (serverId) => ({ serverId, name: "", community: null, createdAt: 0, keyRevision: 1 }),
          readServerKey: async (serverId) => serverId,
        },
      },
      upstream: { sendCommand: (serverKey, text) => this.#send(serverKey, text) },
      outlook: {
        catchUpOn: async () => {},
        findRefusedKey: () => undefined,
        msUntilCommand: () => 0,
        noteSending() {},
        noteDelivery() {},
      },
      clock: world.clock.read,
      pause: (ms, wake) => (this.isDead ? new Promise(() => {}) : world.clock.pause(ms, wake)),
      intervalMs: INTERVAL_MS,
      ttlMs: TTL_MS,
      meter: new CommandMeter(),
      log: SILENT,
    });
  }

  #send(serverId: string, text: string): Promise<Delivery> {
    // A dead process sends nothing, whatever is left of it in this one.
    if (this.isDead) return new Promise(() => {});
    const { promise, resolve } = Promise.withResolvers<Delivery>();
    if (this.sendings.has(serverId)) throw new Error("two commands of one server are being sent at once");
    this.sendings.set(serverId, { resolve });
    this.world.arrive(serverId, text, this.claimedAt.get(serverId) ?? 0);
    return promise;
  }

  /** Counts calls, so that rest can be told, and refuses them while the disk is meant to. */
  #watch(queue: CommandQueue): CommandQueue {
    return new Proxy(queue, {
      get: (target, name: keyof CommandQueue) => {
        const method = target[name] as (...args: unknown[]) => Promise<unknown>;
        return async (...args: unknown[]) => {
          this.calls++;
          if (name === "claim") this.claimedAt.set(String(args[0]), Number(args[1]));
          if (name === "requeue") this.world.givenBack.add(String(args[0]));
          if (this.world.refusals > 0 && !this.isDead) {
            this.world.refusals--;
            throw new StoreUnavailable("the disk is full");
          }
          this.under++;
          try {
            return await method.apply(target, args);
          } finally {
            this.under--;
          }
        };
      },
    });
  }
}

type Accepted = Receipt & { readonly text: string; readonly serverId: string };

/** Each run has servers of its own, so that all can go on with the files that the last one has left. */
let runs = 0;
let folders = 0;
let left: { readonly folder: string; readonly store: Store; readonly clock: FakeClock } | undefined;

function nextFolder(): string {
  const folder = join(root, String(++folders));
  mkdirSync(folder);
  return folder;
}

class World {
  readonly clock: FakeClock;
  readonly serverIds = Array.from({ length: SERVERS }, (_, index) => `srv_${runs}_${index}`);
  readonly arrivals = new Map<string, Arrival[]>(this.serverIds.map((serverId) => [serverId, []]));
  readonly accepted: Accepted[] = [];
  readonly ended = new Map<string, string>();
  /** Those that were claimed and came back, sent or not. */
  readonly givenBack = new Set<string>();
  readonly byIdempotencyKey = new Map<string, Accepted>();
  life: Life;
  refusals = 0;
  crashes = 0;
  #texts = 0;

  constructor() {
    runs++;
    this.clock = left?.clock ?? new FakeClock();
    const folder = left?.folder ?? nextFolder();
    this.life = new Life(this, folder, left?.store);
    left = undefined;
  }

  async take(one: Step): Promise<void> {
    switch (one.do) {
      case "accept":
        return this.accept(this.serverIds[one.server] ?? "", one.idempotencyKey, one.isOther);
      case "flood":
        for (let i = 0; i <= QUEUE_MAX; i++) this.accept(this.serverIds[one.server] ?? "", null, false);
        return await this.rest();
      case "answer":
        if (one.isLate) await this.rest();
        return this.answer(this.serverIds[one.server] ?? "", one.as);
      case "cancel":
        return this.cancel(one.which);
      case "pass":
        return this.clock.advance(one.ms);
      case "rest":
        return await this.rest();
      case "turns":
        for (let i = 0; i < one.count; i++) await turn();
        return;
      case "disk-refuses":
        this.refusals = one.times;
        return;
      case "crash":
        return await this.crash(one.isDelivered);
      case "restart":
        return await this.restart();
    }
  }

  /** Submits, and notes the answer if it comes before the process dies. */
  accept(serverId: string, idempotencyKey: number | null, isOther: boolean): void {
    const { life } = this;
    const key = idempotencyKey === null ? undefined : `${serverId} ${idempotencyKey}`;
    const text =
      key === undefined ? `:h ${++this.#texts}` : `:h key ${idempotencyKey} ${isOther ? "other" : "same"}`;
    const draft = { serverId, keyId: `key of ${serverId}`, text, idempotencyKey: key };
    life.commands.accept(draft, this.clock.now).then(
      (acceptance) => {
        if (life.isDead) return;
        const known = key === undefined ? undefined : this.byIdempotencyKey.get(key);
        if ("declined" in acceptance) {
          if (acceptance.declined === "mismatch") expect(known?.text).not.toBe(text);
          else expect(known).toBeUndefined();
          return;
        }
        const { receipt } = acceptance;
        expect(receipt.position).toBeGreaterThanOrEqual(1);
        expect(receipt.position).toBeLessThanOrEqual(QUEUE_MAX);
        if (known) {
          expect({ ...receipt, text, serverId }).toEqual(known);
        } else {
          const accepted = { ...receipt, text, serverId };
          this.accepted.push(accepted);
          if (key !== undefined) this.byIdempotencyKey.set(key, accepted);
        }
        life.dispatcher.notify(serverId);
      },
      (error) => {
        if (!life.isDead && !(error instanceof StoreUnavailable)) this.fault ??= error;
      },
    );
  }

  /** What went wrong where nobody waits. */
  fault: unknown;

  arrive(serverId: string, text: string, at: number): void {
    this.arrivals.get(serverId)?.push({ text, at, outcome: "pending" });
  }

  answer(serverId: string, as: Answer): void {
    const sending = this.life.sendings.get(serverId);
    if (!sending) return;
    this.life.sendings.delete(serverId);
    this.#mark(serverId, as);
    sending.resolve(deliveryOf(as));
  }

  #mark(serverId: string, outcome: Arrival["outcome"]): void {
    const arrival = this.arrivals.get(serverId)?.at(-1);
    if (arrival) arrival.outcome = outcome;
  }

  cancel(which: number): void {
    const { life } = this;
    const target = this.accepted[which % Math.max(1, this.accepted.length)];
    if (!target) return;
    life.commands.cancel(target.serverId, target.commandId, this.clock.now).then(
      (found) => {
        if (life.isDead) return;
        expect(found?.command.commandId).toBe(target.commandId);
        if (found?.isCancelled) this.#noteEnd(found.command);
      },
      (error) => {
        if (!life.isDead && !(error instanceof StoreUnavailable)) this.fault ??= error;
      },
    );
  }

  async rest(): Promise<void> {
    const { life } = this;
    let calls: number;
    do {
      calls = life.calls;
      await turn();
      await turn();
    } while (life.under > 0 || life.calls !== calls);
  }

  /** The files as they are at this moment are all that is left. */
  async crash(isDelivered: boolean): Promise<void> {
    const { life } = this;
    life.isDead = true;
    this.crashes++;
    const folder = nextFolder();
    copyFiles(life.folder, folder);
    for (const serverId of life.sendings.keys()) this.#mark(serverId, isDelivered ? "lost-delivered" : "cut");
    await life.store.close();
    rmSync(life.folder, { recursive: true });
    await this.#begin(folder);
  }

  /** In order: what is being sent is answered, then everything is closed. */
  async restart(): Promise<void> {
    const { life } = this;
    this.refusals = 0;
    await this.rest();
    for (const serverId of [...life.sendings.keys()]) this.answer(serverId, "done");
    await life.dispatcher.stop(10_000);
    life.isDead = true;
    await life.store.close();
    await this.#begin(life.folder);
  }

  async #begin(folder: string): Promise<void> {
    this.refusals = 0;
    this.life = new Life(this, folder);
    await this.observe();
    await this.life.dispatcher.start();
  }

  #noteEnd({ commandId, status, finishedAt }: Command): void {
    const end = `${status} at ${finishedAt}`;
    expect(this.ended.get(commandId) ?? end).toBe(end);
    this.ended.set(commandId, end);
  }

  /** What holds at every moment. */
  async observe(): Promise<Map<string, Command[]>> {
    const all = new Map<string, Command[]>();
    for (const serverId of this.serverIds) {
      const commands: Command[] = [];
      let cursor: string | undefined;
      do {
        const page = await this.life.store.commands.list({ serverId, limit: 200, cursor });
        commands.push(...page.items);
        cursor = page.next ?? undefined;
      } while (cursor !== undefined);
      commands.reverse();
      all.set(serverId, commands);
      const waiting = commands.filter(({ status }) => status === "queued");
      // The one being sent is none of the hundred; should it come back, it stands before them.
      const isReturned = this.givenBack.has(waiting[0]?.commandId ?? "");
      expect(waiting.length).toBeLessThanOrEqual(isReturned ? QUEUE_MAX + 1 : QUEUE_MAX);
      expect(waiting.map(({ position }) => position)).toEqual(waiting.map((_, index) => index + 1));
      expect(commands.filter(({ status }) => status === "sending").length).toBeLessThanOrEqual(1);
      for (const command of commands) {
        const isOpen = command.status === "queued" || command.status === "sending";
        expect(command.finishedAt === null).toBe(isOpen);
        if (!isOpen) this.#noteEnd(command);
        else expect(this.ended.has(command.commandId)).toBe(false);
      }
    }
    return all;
  }

  /** The game answers everything from now on, and time passes until nothing waits; a long queue may expire. */
  async drain(): Promise<void> {
    this.refusals = 0;
    await this.rest();
    for (let round = 0; round < 60; round++) {
      for (const serverId of [...this.life.sendings.keys()]) this.answer(serverId, "done");
      await this.rest();
      const { commands } = this.life.store;
      const { waiting } = await commands.report();
      if (waiting === 0 && (await commands.list({ status: "sending", limit: 1 })).items.length === 0) return;
      this.clock.advance(round < 12 ? INTERVAL_MS : TTL_MS + 1);
      await this.rest();
    }
    throw new Error("commands still wait although the game takes every one");
  }

  /** What holds at the end. */
  async judge(): Promise<void> {
    if (this.fault !== undefined) throw this.fault;
    const all = await this.observe();
    const stored = [...all.values()].flat();
    const found = new Map(stored.map((command) => [command.commandId, command]));
    let lostAnswers = 0;

    // None lost: every accepted command is there, as it was told, and has ended.
    for (const { commandId, text, queuedAt } of this.accepted) {
      expect(found.get(commandId)).toMatchObject({ text, queuedAt });
      expect(this.ended.has(commandId)).toBe(true);
    }
    // One command for each idempotency key; the histories are shorter than 24 h.
    for (const serverId of this.serverIds) {
      const keyed = (all.get(serverId) ?? []).map(({ text }) => /key (\d)/.exec(text)?.[1]).filter(Boolean);
      expect(new Set(keyed).size).toBe(keyed.length);
    }
    for (const [serverId, commands] of all) {
      const arrivals = this.arrivals.get(serverId) ?? [];
      const places = new Map(commands.map(({ text }, index) => [text, index]));
      let last = -1;
      let lastAt = Number.NEGATIVE_INFINITY;
      for (const { text, at, outcome } of arrivals) {
        // Order kept, and the pace; nothing reaches the game that was not accepted.
        const place = places.get(text) ?? -1;
        expect(place).toBeGreaterThanOrEqual(last === -1 ? 0 : last);
        last = place;
        expect(at - lastAt).toBeGreaterThanOrEqual(INTERVAL_MS);
        lastAt = at;
        if (outcome.startsWith("lost")) lostAnswers++;
      }
      for (const { text, status } of commands) {
        const outcomes = arrivals.filter((one) => one.text === text).map(({ outcome }) => outcome);
        const effective = outcomes.filter((outcome) => outcome !== "limited" && outcome !== "unsent");
        // None delivered twice, and the state tells the truth about it.
        expect(effective.length).toBeLessThanOrEqual(1);
        const truth: Record<string, readonly string[]> = {
          sent: ["done"],
          failed: ["refused"],
          expired: ["nothing"],
          cancelled: ["nothing"],
          // A crash may come after the claim and before the sending, or between an answer and its record.
          unknown: ["nothing", "done", "refused", "cut", "lost-delivered", "lost-undelivered"],
        };
        expect(truth[status]).toContain(effective[0] ?? "nothing");
      }
    }
    const unknown = stored.filter(({ status }) => status === "unknown").length;
    expect(unknown).toBeLessThanOrEqual(this.crashes * SERVERS + lostAnswers);
  }

  /** Forgets what has ended, and leaves the store to the next run. */
  async leave(): Promise<void> {
    const { life, clock } = this;
    life.isDead = true;
    clock.advance(1);
    await life.store.tidy({ now: clock.now, usage: 0, audit: 0, commands: clock.now });
    // A long log would have to be copied at every crash; closing folds it into the database.
    const isLong = statSync(join(life.folder, "gatehouse.db-wal")).size > WAL_LONG_BYTES;
    if (isLong) await life.store.close();
    left = { folder: life.folder, store: isLong ? open(life.folder, clock) : life.store, clock };
  }
}

function deliveryOf(as: Answer): Delivery {
  const failure = { code: 0, message: "gone", isRateLimit: false };
  switch (as) {
    case "done":
      return { hint: NO_LIMIT, outcome: "done" };
    case "limited":
      return {
        hint: { ...NO_LIMIT, retryAfterMs: 12_000 },
        outcome: "refused",
        failure: { ...failure, code: 4001, isRateLimit: true },
      };
    case "refused":
      return { hint: NO_LIMIT, outcome: "refused", failure: { ...failure, code: 3001 } };
    case "unsent":
      return { hint: null, outcome: "unsent", failure };
    default:
      return { hint: null, outcome: "lost", failure };
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function live(steps: readonly Step[]): Promise<Map<string, string>> {
  const world = new World();
  try {
    for (const one of steps) await world.take(one);
    await world.drain();
    await world.judge();
    await world.leave();
    return world.ended;
  } catch (error) {
    world.life.isDead = true;
    await world.life.store.close();
    throw error;
  }
}

test(`over ${RUNS.toLocaleString("en")} random histories: none lost, none delivered twice, order kept, never more than ${QUEUE_MAX} waiting`, async () => {
  const tally = new Map<string, number>();
  const history = fc.array(step, { minLength: 5, maxLength: 25 });
  const property = fc.asyncProperty(history, async (steps) => {
    for (const end of (await live(steps)).values()) {
      const status = end.split(" ", 1)[0] ?? "";
      tally.set(status, (tally.get(status) ?? 0) + 1);
    }
  });
  await fc.assert(property, { numRuns: RUNS });
  await left?.store.close();
  // The histories must have been eventful: every ending is met many times.
  for (const status of ["sent", "failed", "unknown", "expired", "cancelled"]) {
    expect(tally.get(status) ?? 0).toBeGreaterThan(RUNS / 50);
  }
}, 600_000);
