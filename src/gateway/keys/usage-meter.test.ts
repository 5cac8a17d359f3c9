import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DEFAULT_RIGHTS } from "../../core/api-key.ts";
import type { Log } from "../../core/ports/log.ts";
import type { UsageCell } from "../../core/ports/usage.ts";
import {
  type Account,
  BATCH_MAX,
  HOUR_MS,
  openAccount,
  UsageMeter,
  WAITING_CELLS_MAX,
} from "./usage-meter.ts";

const NOW = 1_800_000_000_000;
const HOUR = NOW - (NOW % HOUR_MS);
const { ipAllow: _, ...RIGHTS } = DEFAULT_RIGHTS;
const KEY = {
  serverId: "srv_1",
  grant: { ...RIGHTS, allowedFrom: null, isSuspended: false },
  expiresAt: null,
};

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

/** A store that keeps what it takes, and can be told to refuse all of a batch, or certain keys. */
class FakeStore {
  readonly calls: (readonly UsageCell[])[] = [];
  readonly kept = new Map<string, number>();
  readonly lastUsed = new Map<string, number>();
  refusesAfter = Number.POSITIVE_INFINITY;
  /** Keys in a part of the store that cannot be reached. */
  readonly away = new Set<string>();
  /** Run while the store is busy with a batch. */
  meanwhile: () => void = () => {};

  async add(cells: readonly UsageCell[]): Promise<readonly UsageCell[]> {
    this.calls.push(cells);
    await Promise.resolve();
    this.meanwhile();
    if (this.refusesAfter <= 0) throw new Error("the disk is full");
    this.refusesAfter--;
    for (const { keyId, hour, lastUsedAt, counts } of cells) {
      if (this.away.has(keyId)) continue;
      this.lastUsed.set(keyId, Math.max(this.lastUsed.get(keyId) ?? 0, lastUsedAt));
      for (const [code, count] of counts) {
        const name = `${keyId} ${hour} ${code}`;
        this.kept.set(name, (this.kept.get(name) ?? 0) + count);
      }
    }
    return cells.filter(({ keyId }) => this.away.has(keyId));
  }

  get total(): number {
    return sum(this.kept);
  }
}

function setUp(batchMax = BATCH_MAX) {
  const store = new FakeStore();
  const warnings: string[] = [];
  const log: Log = { debug() {}, info() {}, warn: (_, message) => warnings.push(message), error() {} };
  const meter = new UsageMeter(store, log, batchMax);
  const accounts = new Map<string, Account>();
  /** `change` stands for how often the key was changed: each time it gets a new account. The old one is still in use, too. */
  function count(keyId: string, code: number, now: number, change = 0): void {
    const name = `${keyId} ${change}`;
    const account = accounts.get(name) ?? openAccount({ ...KEY, keyId });
    accounts.set(name, account);
    meter.count(account, code, now);
  }
  return { store, warnings, meter, count };
}

describe("counting the use of keys", () => {
  test("counts are told by key, hour and code, with the last time of use", async () => {
    const { store, meter, count } = setUp();
    count("key_a", 0, HOUR);
    count("key_a", 0, HOUR + 1);
    count("key_a", 5016, HOUR + HOUR_MS - 1);
    count("key_b", 5009, HOUR + 2);
    count("key_a", 0, HOUR + HOUR_MS);
    await meter.handOver();
    expect(Object.fromEntries(store.kept)).toEqual({
      [`key_a ${HOUR} 0`]: 2,
      [`key_a ${HOUR} 5016`]: 1,
      [`key_b ${HOUR} 5009`]: 1,
      [`key_a ${HOUR + HOUR_MS} 0`]: 1,
    });
    expect(Object.fromEntries(store.lastUsed)).toEqual({ key_a: HOUR + HOUR_MS, key_b: HOUR + 2 });
  });

  test("nothing is told twice, and without news the store is left alone", async () => {
    const { store, meter, count } = setUp();
    await meter.handOver();
    expect(store.calls).toHaveLength(0);
    count("key_a", 0, NOW);
    await meter.handOver();
    await meter.handOver();
    expect(store.calls).toHaveLength(1);
    expect(store.total).toBe(1);
    expect(meter.size()).toBe(0);
  });

  test("what is counted while the store is busy is told the next time, once", async () => {
    const { store, meter, count } = setUp();
    count("key_a", 0, NOW);
    store.meanwhile = () => count("key_a", 0, NOW);
    await meter.handOver();
    expect(store.total).toBe(1);
    store.meanwhile = () => {};
    await meter.handOver();
    expect(store.total).toBe(2);
  });

  test("an hour that begins before a key's turn has come is told apart", async () => {
    const { store, meter, count } = setUp(1);
    count("key_a", 0, HOUR);
    count("key_b", 0, HOUR);
    store.meanwhile = () => {
      store.meanwhile = () => {};
      count("key_b", 0, HOUR + HOUR_MS);
    };
    await meter.handOver();
    expect(Object.fromEntries(store.kept)).toEqual({
      [`key_a ${HOUR} 0`]: 1,
      [`key_b ${HOUR} 0`]: 1,
      [`key_b ${HOUR + HOUR_MS} 0`]: 1,
    });
    expect(meter.size()).toBe(0);
  });

  test("a key with several accounts is told once, with what all of them have counted", async () => {
    const { store, meter, count } = setUp();
    for (const change of [0, 1, 0, 2, 1]) count("key_a", 0, NOW, change);
    count("key_a", 5016, NOW + 1, 2);
    expect(meter.size()).toBe(1);
    await meter.handOver();
    expect(store.calls).toHaveLength(1);
    expect(Object.fromEntries(store.kept)).toEqual({ [`key_a ${HOUR} 0`]: 5, [`key_a ${HOUR} 5016`]: 1 });
    expect(store.lastUsed.get("key_a")).toBe(NOW + 1);
  });

  test("hand-overs that overlap tell everything once, and each ends after all that was counted before it", async () => {
    const { store, meter, count } = setUp();
    count("key_a", 0, NOW);
    const first = meter.handOver();
    count("key_a", 0, NOW);
    const second = meter.handOver();
    await second;
    expect(store.total).toBe(2);
    await first;
  });

  test("a great many keys are told in batches of bounded size", async () => {
    const { store, meter, count } = setUp();
    for (let i = 0; i < 1_201; i++) count(`key_${i}`, 0, NOW);
    await meter.handOver();
    expect(store.total).toBe(1_201);
    expect(Math.max(...store.calls.map((cells) => cells.length))).toBeLessThanOrEqual(BATCH_MAX);
  });
});

test("a key that is not used any more is forgotten", async () => {
  const { meter } = setUp();
  // Nothing here holds more than one account: what the collector still sees on the stack it keeps.
  const useOnce = (_: unknown, i: number) => {
    const account = openAccount({ ...KEY, keyId: `key_${i}` });
    meter.count(account, 0, NOW);
    return new WeakRef(account);
  };
  const refs = Array.from({ length: 200 }, useOnce);
  await meter.handOver();
  await meter.handOver();
  // Weak references hold until the turn in which they were made is over.
  await new Promise((resolve) => setImmediate(resolve));
  Bun.gc(true);
  expect(refs.filter((ref) => ref.deref()).length).toBeLessThan(20);
  expect(meter.size()).toBe(0);
});

describe("in no hurry", () => {
  /** A store whose first step takes so long that the rest after it outlasts every test. */
  function setUpSlow() {
    const parts = setUp();
    for (let i = 0; i < BATCH_MAX * 3; i++) parts.count(`key_${i}`, 0, NOW);
    const { promise: isFirstStepDone, resolve } = Promise.withResolvers<void>();
    const beganAt = performance.now();
    parts.store.meanwhile = () => {
      // A step that the store takes half a second for, without letting anybody else do anything.
      while (parts.store.calls.length === 1 && performance.now() - beganAt < 500);
      setImmediate(resolve);
    };
    return { ...parts, isFirstStepDone };
  }

  test("there is a rest after each step, which somebody in a hurry ends", async () => {
    const { store, meter, isFirstStepDone } = setUpSlow();
    const gentle = meter.handOverGently();
    await isFirstStepDone;
    expect(store.total).toBe(BATCH_MAX);
    // What is not in the store yet is still seen.
    expect(meter.size()).toBeGreaterThanOrEqual(BATCH_MAX * 2);
    await meter.handOver();
    await gentle;
    expect(meter.size()).toBe(0);
    expect(store.total).toBe(BATCH_MAX * 3);
  });

  test("what is under way is not begun a second time", async () => {
    const { store, meter, count, isFirstStepDone } = setUpSlow();
    const [first, second] = [meter.handOverGently(), meter.handOverGently()];
    await isFirstStepDone;
    count("key_late", 0, NOW);
    const third = meter.handOverGently();
    await meter.handOver();
    await Promise.all([first, second, third]);
    expect(store.total).toBe(BATCH_MAX * 3 + 1);
    expect(store.calls).toHaveLength(4);
  });
});

describe("a store that refuses", () => {
  test("loses nothing: everything is told once when it takes again, and the log has one line", async () => {
    const { store, warnings, meter, count } = setUp();
    store.refusesAfter = 0;
    for (let i = 0; i < 5; i++) {
      count("key_a", 0, NOW + i);
      count("key_b", 5016, NOW + i);
      await meter.handOver();
    }
    expect(store.total).toBe(0);
    expect(warnings).toHaveLength(1);
    store.refusesAfter = Number.POSITIVE_INFINITY;
    count("key_a", 0, NOW + HOUR_MS);
    await meter.handOver();
    expect(store.kept.get(`key_a ${HOUR} 0`)).toBe(5);
    expect(store.kept.get(`key_b ${HOUR} 5016`)).toBe(5);
    expect(store.total).toBe(11);
    expect(store.lastUsed.get("key_b")).toBe(NOW + 4);
    await meter.handOver();
    expect(store.total).toBe(11);
  });

  test("half-way keeps what it took and gets only the rest again", async () => {
    const { store, meter, count } = setUp();
    for (let i = 0; i < 1_201; i++) count(`key_${i}`, 0, NOW);
    store.refusesAfter = 1;
    await meter.handOver();
    expect(store.total).toBe(BATCH_MAX);
    store.refusesAfter = Number.POSITIVE_INFINITY;
    await meter.handOver();
    expect(store.total).toBe(1_201);
    expect([...store.kept.values()].every((count) => count === 1)).toBe(true);
  });

  test("in part gets that part again, and the rest once", async () => {
    const { store, warnings, meter, count } = setUp(1);
    store.away.add("key_b");
    for (let turn = 0; turn < 3; turn++) {
      for (const keyId of ["key_a", "key_b", "key_c"]) {
        count(keyId, 0, NOW);
        count(keyId, 5016, NOW);
      }
      await meter.handOver();
    }
    expect(store.kept.get(`key_a ${HOUR} 0`)).toBe(3);
    expect(store.total).toBe(12);
    expect(warnings).toHaveLength(1);
    store.away.clear();
    await meter.handOver();
    expect(store.kept.get(`key_b ${HOUR} 0`)).toBe(3);
    expect(store.kept.get(`key_b ${HOUR} 5016`)).toBe(3);
    expect(store.total).toBe(18);
  });

  test("is warned about again after it has taken something in between", async () => {
    const { store, warnings, meter, count } = setUp();
    // Twice in between: what came since, and what has waited.
    for (const refusesAfter of [0, 2, 0]) {
      store.refusesAfter = refusesAfter;
      count("key_a", 0, NOW);
      await meter.handOver();
    }
    expect(warnings).toHaveLength(2);
  });

  test("never makes more wait than the ceiling and the keys in use, drops what is beyond, and works again afterwards", async () => {
    const { store, meter, count } = setUp();
    store.refusesAfter = 0;
    const keys = WAITING_CELLS_MAX / 5;
    for (let round = 0; round < 7; round++) {
      for (let i = 0; i < keys; i++) count(`key_${i}`, 0, NOW + round * HOUR_MS);
      await meter.handOver();
      expect(meter.size()).toBeLessThanOrEqual(WAITING_CELLS_MAX + keys);
    }
    const waiting = meter.size();
    expect(waiting).toBeGreaterThanOrEqual(WAITING_CELLS_MAX);
    store.refusesAfter = Number.POSITIVE_INFINITY;
    await meter.handOver();
    expect(store.total).toBe(waiting);
    expect(meter.size()).toBe(0);
  });

  test("never more waits than the ceiling while hours go by, each in its own cell", () => {
    const { meter, count } = setUp();
    for (let hour = 0; hour < WAITING_CELLS_MAX + 50; hour++) count("key_a", 0, hour * HOUR_MS);
    expect(meter.size()).toBeLessThanOrEqual(WAITING_CELLS_MAX + 1);
  });
});

test("whatever is counted, refused and handed over in whatever order, the sum is right in the end", async () => {
  const step = fc.oneof(
    fc.record({
      key: fc.constantFrom("key_a", "key_b", "key_c"),
      code: fc.constantFrom(0, 5009, 5016),
      minutes: fc.integer({ min: -90, max: 90 }),
      change: fc.integer({ min: 0, max: 1 }),
    }),
    fc.constant("hand over" as const),
    fc.constant("hand over meanwhile" as const),
    fc.constant("let pass" as const),
    fc.constant("refuse" as const),
    fc.constant("take" as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
      // One at a time, so that there is a meanwhile.
      const { store, meter, count } = setUp(1);
      const expected = new Map<string, number>();
      let now = NOW;
      for (const one of steps) {
        if (one === "hand over") {
          await meter.handOver();
          if (store.refusesAfter > 0) expect(sum(store.kept)).toBe(sum(expected));
        } else if (one === "hand over meanwhile") void meter.handOver();
        else if (one === "let pass") await new Promise((resolve) => setImmediate(resolve));
        else if (one === "refuse") store.refusesAfter = 0;
        else if (one === "take") store.refusesAfter = Number.POSITIVE_INFINITY;
        else {
          now += one.minutes * 60_000;
          count(one.key, one.code, now, one.change);
          const name = `${one.key} ${now - (now % HOUR_MS)} ${one.code}`;
          expected.set(name, (expected.get(name) ?? 0) + 1);
        }
      }
      store.refusesAfter = Number.POSITIVE_INFINITY;
      await meter.handOver();
      expect(Object.fromEntries(store.kept)).toEqual(Object.fromEntries(expected));
    }),
  );
});
