// One run serves all callers that came before it started, and only those.
import { describe, expect, test } from "bun:test";
import { CoalescedTask } from "./coalesced-task.ts";

const INTERVAL_MS = 10;

function setUp() {
  let now = 0;
  const sleeps: number[] = [];
  const runs: PromiseWithResolvers<void>[] = [];
  const task = new CoalescedTask({
    intervalMs: INTERVAL_MS,
    run: () => {
      const run = Promise.withResolvers<void>();
      runs.push(run);
      return run.promise;
    },
    clock: () => now,
    sleep: async (ms) => {
      sleeps.push(ms);
      now += ms;
    },
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { task, runs, sleeps, settle, advance: (ms: number) => (now += ms) };
}

describe("a coalesced task", () => {
  test("runs at once for the first caller, and once for all that came before it started", async () => {
    const { task, runs, sleeps, settle } = setUp();
    const callers = [task.join(), task.join(), task.join()];
    await settle();
    expect([runs.length, sleeps]).toEqual([1, []]);
    runs[0]?.resolve();
    await Promise.all(callers);
  });

  test("runs again for callers that came during a run, once for however many, and after that run has ended", async () => {
    const { task, runs, settle } = setUp();
    const first = task.join();
    await settle();
    let served = 0;
    const late = Array.from({ length: 2_000 }, () => task.join().then(() => served++));
    await settle();
    expect(runs).toHaveLength(1);
    runs[0]?.resolve();
    await first;
    await settle();
    expect([runs.length, served]).toEqual([2, 0]);
    runs[1]?.resolve();
    await Promise.all(late);
    expect(served).toBe(2_000);
  });

  test("starts no sooner than the interval after the last start, and waits no longer than that", async () => {
    const { task, runs, sleeps, settle, advance } = setUp();
    for (const ranMs of [3, INTERVAL_MS + 1, 0]) {
      const caller = task.join();
      await settle();
      advance(ranMs);
      runs.at(-1)?.resolve();
      await caller;
    }
    expect(sleeps).toEqual([INTERVAL_MS - 3]);
  });

  test("a run that fails fails for its callers, and for nobody after them", async () => {
    const { task, runs, settle } = setUp();
    const outcomes = [task.join(), task.join()].map((caller) => caller.then(() => "done", String));
    await settle();
    const next = task.join();
    runs[0]?.reject(new Error("away"));
    expect(await Promise.all(outcomes)).toEqual(["Error: away", "Error: away"]);
    await settle();
    runs[1]?.resolve();
    await next;
  });
});
