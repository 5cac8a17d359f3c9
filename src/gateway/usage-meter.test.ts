import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Log, UsageCell } from "../core/ports.ts";
import { BATCH_MAX, HOUR_MS, UsageMeter, WAITING_CELLS_MAX } from "./usage-meter.ts";

const NOW = 1_800_000_000_000;
const HOUR = NOW - (NOW % HOUR_MS);

/** A store that keeps what it takes, all of a batch or nothing, and can be told to refuse. */
class FakeStore {
  readonly calls: (readonly UsageCell[])[] = [];
  readonly kept = new Map<string, number>();
  readonly lastUsed = new Map<string, number>();
  refusesAfter = Number.POSITIVE_INFINITY;
  /** Run while the store is busy with a batch. */
  meanwhile: () => void = () => {};

  async addUsage(cells: readonly UsageCell[]): Promise<void> {
    this.calls.push(cells);
    await Promise.resolve();
    this.meanwhile();
    if (this.refusesAfter <= 0) throw new Error("the disk is full");
    this.refusesAfter--;
    for (const { keyId, hour, lastUsedAt, counts } of cells) {
      this.lastUsed.set(keyId, Math.max(this.lastUsed.get(keyId) ?? 0, lastUsedAt));
      for (const [code, count] of counts) {
        const name = `${keyId} ${hour} ${code}`;
        this.kept.set(name, (this.kept.get(name) ?? 0) + count);
      }
    }
  }

  get total(): number {
    return [...this.kept.values()].reduce((sum, count) => sum + count, 0);
  }
}

function setUp() {
  const store = new FakeStore();
  const warnings: string[] = [];
  const log: Log = { debug() {}, info() {}, warn: (_, message) => warnings.push(message), error() {} };
  return { store, warnings, meter: new UsageMeter(store, log) };
}

describe("counting the use of keys", () => {
  test("counts are told by key, hour and code, with the last time of use", async () => {
    const { store, meter } = setUp();
    meter.count("key_a", 0, HOUR);
    meter.count("key_a", 0, HOUR + 1);
    meter.count("key_a", 5016, HOUR + HOUR_MS - 1);
    meter.count("key_b", 5009, HOUR + 2);
    meter.count("key_a", 0, HOUR + HOUR_MS);
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
    const { store, meter } = setUp();
    await meter.handOver();
    expect(store.calls).toHaveLength(0);
    meter.count("key_a", 0, NOW);
    await meter.handOver();
    await meter.handOver();
    expect(store.calls).toHaveLength(1);
    expect(store.total).toBe(1);
    expect(meter.size()).toBe(0);
  });

  test("what is counted while the store is busy is told the next time, once", async () => {
    const { store, meter } = setUp();
    meter.count("key_a", 0, NOW);
    store.meanwhile = () => meter.count("key_a", 0, NOW);
    await meter.handOver();
    expect(store.total).toBe(1);
    store.meanwhile = () => {};
    await meter.handOver();
    expect(store.total).toBe(2);
  });

  test("hand-overs that overlap tell everything once, and each ends after all that was counted before it", async () => {
    const { store, meter } = setUp();
    meter.count("key_a", 0, NOW);
    const first = meter.handOver();
    meter.count("key_a", 0, NOW);
    const second = meter.handOver();
    await second;
    expect(store.total).toBe(2);
    await first;
  });

  test("a great many keys are told in batches of bounded size", async () => {
    const { store, meter } = setUp();
    for (let i = 0; i < 1_201; i++) meter.count(`key_${i}`, 0, NOW);
    await meter.handOver();
    expect(store.total).toBe(1_201);
    expect(Math.max(...store.calls.map((cells) => cells.length))).toBeLessThanOrEqual(BATCH_MAX);
  });
});

describe("in no hurry", () => {
  /** A store whose first step takes so long that the rest after it outlasts every test. */
  function setUpSlow() {
    const parts = setUp();
    for (let i = 0; i < BATCH_MAX * 3; i++) parts.meter.count(`key_${i}`, 0, NOW);
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
    // What is not in the store yet is still seen, though it is under way.
    expect(meter.size()).toBeGreaterThanOrEqual(BATCH_MAX * 2);
    await meter.handOver();
    await gentle;
    expect(meter.size()).toBe(0);
    expect(store.total).toBe(BATCH_MAX * 3);
  });

  test("what is under way is not begun a second time", async () => {
    const { store, meter, isFirstStepDone } = setUpSlow();
    const [first, second] = [meter.handOverGently(), meter.handOverGently()];
    await isFirstStepDone;
    meter.count("key_late", 0, NOW);
    const third = meter.handOverGently();
    await meter.handOver();
    await Promise.all([first, second, third]);
    expect(store.total).toBe(BATCH_MAX * 3 + 1);
    expect(store.calls).toHaveLength(4);
  });
});

describe("a store that refuses", () => {
  test("loses nothing: everything is told once when it takes again, and the log has one line", async () => {
    const { store, warnings, meter } = setUp();
    store.refusesAfter = 0;
    for (let i = 0; i < 5; i++) {
      meter.count("key_a", 0, NOW + i);
      meter.count("key_b", 5016, NOW + i);
      await meter.handOver();
    }
    expect(store.total).toBe(0);
    expect(warnings).toHaveLength(1);
    store.refusesAfter = Number.POSITIVE_INFINITY;
    meter.count("key_a", 0, NOW + HOUR_MS);
    await meter.handOver();
    expect(store.kept.get(`key_a ${HOUR} 0`)).toBe(5);
    expect(store.kept.get(`key_b ${HOUR} 5016`)).toBe(5);
    expect(store.total).toBe(11);
    expect(store.lastUsed.get("key_b")).toBe(NOW + 4);
    await meter.handOver();
    expect(store.total).toBe(11);
  });

  test("half-way keeps what it took and gets only the rest again", async () => {
    const { store, meter } = setUp();
    for (let i = 0; i < 1_201; i++) meter.count(`key_${i}`, 0, NOW);
    store.refusesAfter = 1;
    await meter.handOver();
    expect(store.total).toBe(BATCH_MAX);
    store.refusesAfter = Number.POSITIVE_INFINITY;
    await meter.handOver();
    expect(store.total).toBe(1_201);
    expect([...store.kept.values()].every((count) => count === 1)).toBe(true);
  });

  test("is warned about again after it has taken something in between", async () => {
    const { store, warnings, meter } = setUp();
    for (const refusesAfter of [0, 1, 0]) {
      store.refusesAfter = refusesAfter;
      meter.count("key_a", 0, NOW);
      await meter.handOver();
    }
    expect(warnings).toHaveLength(2);
  });

  test("never makes more wait than the ceiling, drops what is beyond it, and works again afterwards", async () => {
    const { store, meter } = setUp();
    store.refusesAfter = 0;
    const keys = 20_000;
    for (let round = 0; round < 7; round++) {
      for (let i = 0; i < keys; i++) meter.count(`key_${i}`, 0, NOW + round * HOUR_MS);
      await meter.handOver();
      expect(meter.size()).toBeLessThanOrEqual(WAITING_CELLS_MAX);
    }
    expect(meter.size()).toBe(WAITING_CELLS_MAX);
    store.refusesAfter = Number.POSITIVE_INFINITY;
    await meter.handOver();
    expect(store.total).toBe(WAITING_CELLS_MAX);
    expect(meter.size()).toBe(0);
  });

  test("never more waits than the ceiling while hours go by, each in its own cell", () => {
    const { meter } = setUp();
    for (let hour = 0; hour < WAITING_CELLS_MAX + 50; hour++) meter.count("key_a", 0, hour * HOUR_MS);
    expect(meter.size()).toBeLessThanOrEqual(WAITING_CELLS_MAX + 1);
  });
});

test("whatever is counted, refused and handed over in whatever order, the sum is right in the end", async () => {
  const step = fc.oneof(
    fc.record({
      key: fc.constantFrom("key_a", "key_b", "key_c"),
      code: fc.constantFrom(0, 5009, 5016),
      minutes: fc.integer({ min: -90, max: 90 }),
    }),
    fc.constant("hand over" as const),
    fc.constant("refuse" as const),
    fc.constant("take" as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { store, meter } = setUp();
      const expected = new Map<string, number>();
      let now = NOW;
      for (const one of steps) {
        if (one === "hand over") await meter.handOver();
        else if (one === "refuse") store.refusesAfter = 0;
        else if (one === "take") store.refusesAfter = Number.POSITIVE_INFINITY;
        else {
          now += one.minutes * 60_000;
          meter.count(one.key, one.code, now);
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
