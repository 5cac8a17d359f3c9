import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { HOUR_MS } from "../../core/durations.ts";
import { DEFAULT_RIGHTS } from "../../core/keys/api-key.ts";
import type { HourlyUsage, KeyDetails, UsageCount, UsageStore } from "../../core/ports/keys.ts";
import type { Log } from "../../core/ports/log.ts";
import { type CountedKey, toCountedKey } from "./counted-key.ts";
import { BACKLOG_MAX } from "./usage-backlog.ts";
import { UsageMeter, type UsageMeterDeps } from "./usage-meter.ts";

const NOW = 1_800_000_000_000;
const HOUR = NOW - (NOW % HOUR_MS);
const BATCH_MAX = 100;
const { ipAllow: _, ...RIGHTS } = DEFAULT_RIGHTS;
const KEY = {
  serverId: "srv_1",
  label: "bot",
  grant: { ...RIGHTS, may: 0, allowedFrom: null, isSuspended: false },
  expiresAt: null,
  person: null,
};

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

function total(counts: readonly UsageCount[]): number {
  return counts.reduce((all, { count }) => all + count, 0);
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A store that can be made to refuse a batch, and whose calls can be held at every moment. */
class FakeStore implements UsageStore {
  readonly calls: (readonly HourlyUsage[])[] = [];
  readonly kept = new Map<string, number>();
  readonly lastUsed = new Map<string, number>();
  refusesAfter = Number.POSITIVE_INFINITY;
  /** Hooks that are awaited in every call. */
  beforeAdding: () => unknown = () => {};
  afterAdding: () => unknown = () => {};
  beforeReading: () => unknown = () => {};
  afterReading: () => unknown = () => {};

  async add(entries: readonly HourlyUsage[]): Promise<void> {
    this.calls.push(entries);
    await this.beforeAdding();
    if (this.refusesAfter <= 0) throw new Error("the disk is full");
    this.refusesAfter--;
    for (const { keyId, hour, lastUsedAt, counts } of entries) {
      this.lastUsed.set(keyId, Math.max(this.lastUsed.get(keyId) ?? 0, lastUsedAt));
      for (const [code, count] of counts) {
        const name = `${keyId} ${hour} ${code}`;
        this.kept.set(name, (this.kept.get(name) ?? 0) + count);
      }
    }
    await this.afterAdding();
  }

  async read(keyId: string, since: number): Promise<readonly UsageCount[]> {
    await this.beforeReading();
    const counts = Array.from(this.kept, ([name, count]) => {
      const [id, hour, code] = name.split(" ");
      return { id, hour: Number(hour), code: Number(code), count };
    });
    const found = counts.filter(({ id, hour }) => id === keyId && hour >= since);
    await this.afterReading();
    return found.map(({ id, ...count }) => count);
  }

  get total(): number {
    return sum(this.kept);
  }
}

/** A pause that ends only when it is woken. */
function waitForWake(_ms: number, wake: AbortSignal): Promise<void> {
  return new Promise((resolve) => wake.addEventListener("abort", () => resolve()));
}

function setUp(pace: Partial<UsageMeterDeps["pace"]> = {}, pause = waitForWake) {
  const store = new FakeStore();
  const warnings: string[] = [];
  const log: Log = { debug() {}, info() {}, warn: (_, message) => warnings.push(message), error() {} };
  const meter = new UsageMeter({
    store,
    log,
    pace: { batchMax: BATCH_MAX, sleepFactor: 0, ...pace },
    pause,
  });
  const keys = new Map<string, CountedKey>();
  /** `change` is how often the key was changed. Each change makes a new CountedKey, while the old one is still in use, too. */
  function count(keyId: string, code: number, now: number, change = 0): void {
    const name = `${keyId} ${change}`;
    const key = keys.get(name) ?? toCountedKey({ ...KEY, keyId });
    keys.set(name, key);
    meter.count(key, code, now);
  }
  /** What is shown, given what the store has. */
  function lastUseOf(keyId: string): number | null {
    const stored: Partial<KeyDetails> = { keyId, lastUsedAt: store.lastUsed.get(keyId) ?? null };
    return meter.withLastUse(stored as KeyDetails).lastUsedAt;
  }
  return { store, warnings, meter, count, lastUseOf };
}

describe("counting the use of keys", () => {
  test("counts are written by key, hour and code, with the last time of use", async () => {
    const { store, meter, count } = setUp();
    count("key_a", 0, HOUR);
    count("key_a", 0, HOUR + 1);
    count("key_a", 5016, HOUR + HOUR_MS - 1);
    count("key_b", 5009, HOUR + 2);
    count("key_a", 0, HOUR + HOUR_MS);
    await meter.flush();
    expect(Object.fromEntries(store.kept)).toEqual({
      [`key_a ${HOUR} 0`]: 2,
      [`key_a ${HOUR} 5016`]: 1,
      [`key_b ${HOUR} 5009`]: 1,
      [`key_a ${HOUR + HOUR_MS} 0`]: 1,
    });
    expect(Object.fromEntries(store.lastUsed)).toEqual({ key_a: HOUR + HOUR_MS, key_b: HOUR + 2 });
  });

  test("nothing is written twice, and without new counts the store is not called", async () => {
    const { store, meter, count } = setUp();
    await meter.flush();
    expect(store.calls).toHaveLength(0);
    count("key_a", 0, NOW);
    await meter.flush();
    await meter.flush();
    expect(store.calls).toHaveLength(1);
    expect(store.total).toBe(1);
    expect(meter.size()).toBe(0);
  });

  test("what is counted during a write is written with the next flush, once", async () => {
    const { store, meter, count } = setUp();
    count("key_a", 0, NOW);
    store.beforeAdding = () => count("key_a", 0, NOW);
    await meter.flush();
    expect(store.total).toBe(1);
    store.beforeAdding = () => {};
    await meter.flush();
    expect(store.total).toBe(2);
  });

  test("an hour that begins during a flush is written separately, and the hour before it in the same flush", async () => {
    const { store, meter, count } = setUp({ batchMax: 1 });
    count("key_a", 0, HOUR);
    count("key_b", 0, HOUR);
    store.beforeAdding = () => {
      store.beforeAdding = () => {};
      count("key_b", 0, HOUR + HOUR_MS);
    };
    await meter.flush();
    expect(Object.fromEntries(store.kept)).toEqual({
      [`key_a ${HOUR} 0`]: 1,
      [`key_b ${HOUR} 0`]: 1,
      [`key_b ${HOUR + HOUR_MS} 0`]: 1,
    });
    expect(meter.size()).toBe(0);
  });

  test("a key that was changed or has several tokens is written once, with all its counts", async () => {
    const { store, meter, count } = setUp();
    for (const change of [0, 1, 0, 2, 1]) count("key_a", 0, NOW, change);
    count("key_a", 5016, NOW + 1, 2);
    expect(meter.size()).toBe(1);
    await meter.flush();
    expect(store.calls).toHaveLength(1);
    expect(Object.fromEntries(store.kept)).toEqual({ [`key_a ${HOUR} 0`]: 5, [`key_a ${HOUR} 5016`]: 1 });
    expect(store.lastUsed.get("key_a")).toBe(NOW + 1);
  });

  test("flushes that overlap write everything once", async () => {
    const { store, meter, count } = setUp();
    count("key_a", 0, NOW);
    const first = meter.flush();
    count("key_b", 0, NOW);
    await Promise.all([first, meter.flush()]);
    await meter.flush();
    expect(store.total).toBe(2);
  });

  test("many keys are written in batches of bounded size", async () => {
    const { store, meter, count } = setUp();
    for (let i = 0; i < 1_201; i++) count(`key_${i}`, 0, NOW);
    await meter.flush();
    expect(store.total).toBe(1_201);
    expect(Math.max(...store.calls.map((entries) => entries.length))).toBeLessThanOrEqual(BATCH_MAX);
  });
});

test("a key that is not used any more is released", async () => {
  const { meter } = setUp();
  // One key at a time, because the collector keeps every object that is still on the stack.
  const useOnce = (_: unknown, i: number) => {
    const key = toCountedKey({ ...KEY, keyId: `key_${i}` });
    meter.count(key, 0, NOW);
    return new WeakRef(key);
  };
  const refs = Array.from({ length: 200 }, useOnce);
  await meter.flush();
  await meter.flush();
  // A WeakRef keeps its object alive until the end of the turn in which it was created.
  await nextTurn();
  Bun.gc(true);
  expect(refs.filter((ref) => ref.deref()).length).toBeLessThan(20);
  expect(meter.size()).toBe(0);
});

describe("the shown use of a key", () => {
  test("includes the stored and the unwritten counts, oldest hour first, and writes nothing", async () => {
    const { store, meter, count, lastUseOf } = setUp();
    count("key_a", 0, HOUR);
    count("key_a", 5016, HOUR + 1);
    await meter.flush();
    count("key_a", 0, HOUR + 2);
    count("key_a", 5009, HOUR + HOUR_MS);
    count("key_b", 0, HOUR);
    expect(await meter.read("key_a", HOUR)).toEqual([
      { hour: HOUR, code: 0, count: 1 },
      { hour: HOUR, code: 0, count: 1 },
      { hour: HOUR, code: 5016, count: 1 },
      { hour: HOUR + HOUR_MS, code: 5009, count: 1 },
    ]);
    expect(lastUseOf("key_a")).toBe(HOUR + HOUR_MS);
    expect(lastUseOf("key_b")).toBe(HOUR);
    expect(store.calls).toHaveLength(1);
  });

  test("leaves out hours before `since`, written or not", async () => {
    const { meter, count } = setUp();
    for (const flush of [() => meter.flush(), () => {}]) {
      count("key_a", 0, HOUR - 1);
      count("key_a", 0, HOUR);
      await flush();
    }
    expect(total(await meter.read("key_a", HOUR))).toBe(2);
    expect(await meter.read("key_a", HOUR + HOUR_MS)).toEqual([]);
  });

  test("is nothing for a key that was never used", async () => {
    const { meter, lastUseOf } = setUp();
    expect(await meter.read("key_a", 0)).toEqual([]);
    expect(lastUseOf("key_a")).toBeNull();
  });

  for (const moment of ["beforeAdding", "afterAdding"] as const) {
    test(`has each count once while the store holds its batch (${moment})`, async () => {
      const { store, meter, count, lastUseOf } = setUp();
      count("key_a", 0, NOW);
      count("key_b", 0, NOW);
      const held = Promise.withResolvers<void>();
      store[moment] = () => held.promise;
      const flush = meter.flush();
      await nextTurn();
      expect(lastUseOf("key_a")).toBe(NOW);
      expect(meter.size()).toBe(2);
      count("key_a", 0, NOW + 1);
      const shown = meter.read("key_a", 0);
      // A read does not wait for a batch without its key.
      expect(await meter.read("key_c", 0)).toEqual([]);
      held.resolve();
      expect(total(await shown)).toBe(2);
      await flush;
      expect(total(await meter.read("key_a", 0))).toBe(2);
    });
  }

  for (const moment of ["beforeReading", "afterReading"] as const) {
    test(`has each count once when its batch is written during the read (${moment})`, async () => {
      const { store, meter, count } = setUp();
      count("key_a", 0, NOW);
      store[moment] = async () => {
        store[moment] = () => {};
        await meter.flush();
      };
      expect(total(await meter.read("key_a", 0))).toBe(1);
      expect(store.total).toBe(1);
    });

    test(`has each count once when its batch begins during the read and ends after it (${moment})`, async () => {
      const { store, meter, count } = setUp();
      count("key_a", 0, NOW);
      const held = Promise.withResolvers<void>();
      store.afterAdding = () => held.promise;
      store[moment] = async () => {
        store[moment] = () => {};
        void meter.flush();
        await nextTurn();
      };
      const shown = meter.read("key_a", 0);
      await nextTurn();
      await nextTurn();
      held.resolve();
      expect(total(await shown)).toBe(1);
    });
  }

  test("has a batch that the store has refused", async () => {
    const { store, meter, count, lastUseOf } = setUp();
    store.refusesAfter = 0;
    for (let i = 0; i < 3; i++) {
      count("key_a", 0, NOW + i);
      await meter.flush();
    }
    await meter.flush();
    expect(total(await meter.read("key_a", 0))).toBe(3);
    expect(lastUseOf("key_a")).toBe(NOW + 2);
  });

  test("has a batch that the store never answers to, and only the first read waits for it", async () => {
    let waits = 0;
    const { store, meter, count, lastUseOf } = setUp({}, async () => {
      waits++;
    });
    count("key_a", 0, NOW);
    store.beforeAdding = () => new Promise(() => {});
    void meter.flush();
    await nextTurn();
    count("key_a", 0, NOW + 1);
    for (let i = 0; i < 3; i++) expect(total(await meter.read("key_a", 0))).toBe(2);
    expect(lastUseOf("key_a")).toBe(NOW + 1);
    expect(waits).toBe(1);
  });

  test("has each count once when the store answers a slow batch during the read", async () => {
    const { store, meter, count } = setUp({}, async () => {});
    count("key_a", 0, NOW);
    const held = Promise.withResolvers<void>();
    store.beforeAdding = () => held.promise;
    const flush = meter.flush();
    await nextTurn();
    store.afterReading = async () => {
      store.afterReading = () => {};
      held.resolve();
      await flush;
    };
    expect(total(await meter.read("key_a", 0))).toBe(1);
    expect(store.total).toBe(1);
  });

  test("has the last use even when the store was read before the write", async () => {
    const { meter, count } = setUp();
    const old = { keyId: "key_a", lastUsedAt: NOW - 5 } as KeyDetails;
    count("key_a", 0, NOW);
    await meter.flush();
    expect(meter.withLastUse(old).lastUsedAt).toBe(NOW);
    count("key_a", 0, NOW - 1, 1);
    expect(meter.withLastUse(old).lastUsedAt).toBe(NOW);
  });

  test("never has a last use earlier than the store's", () => {
    const { meter, count } = setUp();
    count("key_a", 0, NOW);
    const key = { keyId: "key_a", lastUsedAt: NOW + 1 } as KeyDetails;
    expect(meter.withLastUse(key).lastUsedAt).toBe(NOW + 1);
  });

  test("fails when the store cannot be read", async () => {
    const { store, meter, count } = setUp();
    count("key_a", 0, NOW);
    store.beforeReading = () => Promise.reject(new Error("the disk is gone"));
    await expect(meter.read("key_a", 0)).rejects.toThrow("the disk is gone");
  });
});

describe("between two batches", () => {
  function setUpSleeping() {
    const sleeps: number[] = [];
    const parts = setUp({ sleepFactor: 1e9 }, (ms, wake) => {
      sleeps.push(ms);
      return waitForWake(ms, wake);
    });
    return { ...parts, sleeps };
  }

  test("the meter sleeps, for at most two seconds, and for two minutes in a whole flush", async () => {
    const few = setUpSleeping();
    for (let i = 0; i < BATCH_MAX * 2; i++) few.count(`key_${i}`, 0, NOW);
    void few.meter.flush();
    await nextTurn();
    expect(few.store.total).toBe(BATCH_MAX);
    expect(few.sleeps).toEqual([2_000]);

    const many = setUpSleeping();
    for (let i = 0; i < BATCH_MAX * 120; i++) many.count(`key_${i}`, 0, NOW);
    void many.meter.flush();
    await nextTurn();
    expect(many.sleeps).toEqual([1_000]);
  });

  test("stopping ends the sleep and writes everything, also the counts since the last batch", async () => {
    const { store, warnings, meter, count } = setUpSleeping();
    for (let i = 0; i < BATCH_MAX * 3; i++) count(`key_${i}`, 0, NOW);
    const flush = meter.flush();
    await nextTurn();
    // The first batch had this key, and is written already.
    count("key_0", 0, NOW);
    await meter.stop(10_000);
    await flush;
    expect(store.total).toBe(BATCH_MAX * 3 + 1);
    expect(meter.size()).toBe(0);
    expect(warnings).toEqual([]);
  });

  test("stopping gives up on a store that never answers, and says so", async () => {
    const { store, warnings, meter, count } = setUp({}, async () => {});
    count("key_a", 0, NOW);
    store.beforeAdding = () => new Promise(() => {});
    await meter.stop(10_000);
    expect(warnings).toEqual(["usage could not be written in time; it is lost"]);
  });
});

describe("a store that refuses", () => {
  test("causes no loss: everything is written once when it accepts again, and the log has one line", async () => {
    const { store, warnings, meter, count } = setUp();
    store.refusesAfter = 0;
    for (let i = 0; i < 5; i++) {
      count("key_a", 0, NOW + i);
      count("key_b", 5016, NOW + i);
      await meter.flush();
    }
    expect(store.total).toBe(0);
    expect(warnings).toHaveLength(1);
    store.refusesAfter = Number.POSITIVE_INFINITY;
    count("key_a", 0, NOW + HOUR_MS);
    await meter.flush();
    expect(store.kept.get(`key_a ${HOUR} 0`)).toBe(5);
    expect(store.kept.get(`key_b ${HOUR} 5016`)).toBe(5);
    expect(store.total).toBe(11);
    expect(store.lastUsed.get("key_b")).toBe(NOW + 4);
    await meter.flush();
    expect(store.total).toBe(11);
  });

  test("half-way gets only the refused batches again", async () => {
    const { store, meter, count } = setUp();
    for (let i = 0; i < 1_201; i++) count(`key_${i}`, 0, NOW);
    store.refusesAfter = 1;
    await meter.flush();
    expect(store.total).toBe(BATCH_MAX);
    store.refusesAfter = Number.POSITIVE_INFINITY;
    await meter.flush();
    expect(store.total).toBe(1_201);
    expect([...store.kept.values()].every((count) => count === 1)).toBe(true);
  });

  test("causes a new warning after it has accepted something in between", async () => {
    const { store, warnings, meter, count } = setUp();
    // The second flush makes two writes: the new counts and the backlog.
    for (const refusesAfter of [0, 2, 0]) {
      store.refusesAfter = refusesAfter;
      count("key_a", 0, NOW);
      await meter.flush();
    }
    expect(warnings).toHaveLength(2);
  });

  test("never makes the backlog exceed its maximum and the keys in use; the rest is dropped, and it works again afterwards", async () => {
    const { store, meter, count } = setUp();
    store.refusesAfter = 0;
    const keys = BACKLOG_MAX / 5;
    for (let round = 0; round < 7; round++) {
      for (let i = 0; i < keys; i++) count(`key_${i}`, 0, NOW + round * HOUR_MS);
      await meter.flush();
      expect(meter.size()).toBeLessThanOrEqual(BACKLOG_MAX + keys);
    }
    const kept = meter.size();
    expect(kept).toBeGreaterThanOrEqual(BACKLOG_MAX);
    store.refusesAfter = Number.POSITIVE_INFINITY;
    await meter.flush();
    expect(store.total).toBe(kept);
    expect(meter.size()).toBe(0);
  });

  test("never makes the backlog exceed its maximum while hours pass for one key", () => {
    const { meter, count } = setUp();
    for (let hour = 0; hour < BACKLOG_MAX + 50; hour++) count("key_a", 0, hour * HOUR_MS);
    expect(meter.size()).toBeLessThanOrEqual(BACKLOG_MAX + 1);
  });
});

/** Holds every call of a store, until the test lets it continue. */
class Holds {
  readonly #held: (() => void)[] = [];
  #isOpen = false;

  constructor(store: FakeStore) {
    const hold = () => (this.#isOpen ? undefined : new Promise<void>((resolve) => this.#held.push(resolve)));
    store.beforeAdding = hold;
    store.afterAdding = hold;
    store.beforeReading = hold;
    store.afterReading = hold;
  }

  letGo(pick: number): void {
    const [goesOn] = this.#held.splice(pick % Math.max(1, this.#held.length), 1);
    goesOn?.();
  }

  letAllGo(): void {
    this.#isOpen = true;
    for (const goesOn of this.#held.splice(0)) goesOn();
  }
}

test("for any order of counts, refusals, writes and reads, every read and the total are right", async () => {
  const keyIds = ["key_a", "key_b", "key_c"];
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("count" as const),
      key: fc.constantFrom(...keyIds),
      code: fc.constantFrom(0, 5009, 5016),
      minutes: fc.integer({ min: -90, max: 90 }),
      change: fc.integer({ min: 0, max: 1 }),
    }),
    fc.record({ kind: fc.constant("read" as const), key: fc.constantFrom(...keyIds) }),
    fc.record({ kind: fc.constant("go on" as const), pick: fc.nat(9) }),
    fc.constantFrom({ kind: "flush" as const }, { kind: "refuse" as const }, { kind: "take" as const }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 80, size: "max" }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, batchMax) => {
        const { store, meter, count } = setUp({ batchMax });
        const holds = new Holds(store);
        const expected = new Map<string, number>();
        const reads: Promise<void>[] = [];
        let now = NOW;
        const listOf = (keyId: string) => [...expected].filter(([name]) => name.startsWith(keyId));
        /** Everything that was counted before the read began must be in the result, and nothing twice. */
        const read = async (keyId: string) => {
          const before = listOf(keyId);
          const shown = new Map<string, number>();
          for (const { hour, code, count } of await meter.read(keyId, 0)) {
            const name = `${keyId} ${hour} ${code}`;
            shown.set(name, (shown.get(name) ?? 0) + count);
          }
          for (const [name, count] of before) expect(shown.get(name) ?? 0).toBeGreaterThanOrEqual(count);
          for (const [name, count] of shown) expect(expected.get(name) ?? 0).toBeGreaterThanOrEqual(count);
        };
        for (const one of steps) {
          if (one.kind === "flush") void meter.flush();
          else if (one.kind === "refuse") store.refusesAfter = 0;
          else if (one.kind === "take") store.refusesAfter = Number.POSITIVE_INFINITY;
          else if (one.kind === "read") reads.push(read(one.key));
          else if (one.kind === "go on") {
            holds.letGo(one.pick);
            await nextTurn();
          } else {
            now += one.minutes * 60_000;
            count(one.key, one.code, now, one.change);
            const name = `${one.key} ${now - (now % HOUR_MS)} ${one.code}`;
            expected.set(name, (expected.get(name) ?? 0) + 1);
          }
        }
        holds.letAllGo();
        await Promise.all(reads);
        store.refusesAfter = Number.POSITIVE_INFINITY;
        await meter.stop(10_000);
        expect(Object.fromEntries(store.kept)).toEqual(Object.fromEntries(expected));
        for (const keyId of keyIds) await read(keyId);
      },
    ),
    { numRuns: 300 },
  );
});
