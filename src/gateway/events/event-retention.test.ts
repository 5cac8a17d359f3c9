// Old events go in steps with sleeps between them, a failing archive is not logged over and over, and a drain ends it.
import { describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Retention } from "../../core/ports/archive.ts";
import type { Log } from "../../core/ports/log.ts";
import { EventRetention, IDLE_SLEEP_MS, STEP_SLEEP_MS } from "./event-retention.ts";

/** `answer` is asked at each step. The job stops by itself after `steps` sleeps. */
async function run(answer: (step: number) => Promise<boolean>, steps: number) {
  const asked: Retention[] = [];
  const sleeps: number[] = [];
  const logged: string[] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn: (_, message) => logged.push(`warn: ${message}`),
    error: (_, message) => logged.push(`error: ${message}`),
  };
  let now = 1_000_000;
  const done = Promise.withResolvers<void>();
  const job = new EventRetention({
    archive: {
      prune(retention) {
        asked.push(retention);
        return answer(asked.length);
      },
    },
    clock: () => now,
    async sleep(ms) {
      now += ms;
      sleeps.push(ms);
      if (sleeps.length < steps) return;
      done.resolve();
      await new Promise(() => {});
    },
    log,
    days: 30,
    eventsMax: 500,
  });
  job.start();
  await done.promise;
  await job.stop();
  return { asked, sleeps, logged };
}

describe("retention", () => {
  test("sleeps a little while there is more to delete, and longer afterwards", async () => {
    const { asked, sleeps } = await run(async (step) => step < 3, 4);
    expect(sleeps).toEqual([STEP_SLEEP_MS, STEP_SLEEP_MS, IDLE_SLEEP_MS, IDLE_SLEEP_MS]);
    expect(asked[0]).toEqual({ now: 1_000_000, days: 30, eventsMax: 500 });
    expect(asked[3]?.now).toBe(1_000_000 + 2 * STEP_SLEEP_MS + IDLE_SLEEP_MS);
  });

  test("looks often enough that everything old is gone within a minute", () => {
    expect(IDLE_SLEEP_MS).toBeLessThanOrEqual(30_000);
  });

  test("goes on after a fault, and logs faults once a minute at most", async () => {
    const { asked, logged } = await run(async () => {
      throw new StoreUnavailable("gone");
    }, 13);
    expect(asked).toHaveLength(13);
    expect(logged).toEqual(Array(3).fill("warn: old events could not be deleted"));
  });

  test("a bug is logged as one", async () => {
    const { logged } = await run(async () => {
      throw new TypeError("a bug");
    }, 2);
    expect(logged).toEqual(["error: deleting old events failed"]);
  });

  test("a stop waits for the step that has begun, logs nothing of it, and begins no other", async () => {
    const step = Promise.withResolvers<boolean>();
    const logged: string[] = [];
    let steps = 0;
    const log: Log = { debug() {}, info() {}, warn: (_, text) => logged.push(text), error() {} };
    const job = new EventRetention({
      archive: {
        prune() {
          steps++;
          return step.promise;
        },
      },
      clock: () => 0,
      sleep: () => Promise.resolve(),
      log,
      days: 1,
      eventsMax: 1,
    });
    job.start();
    let isStopped = false;
    const stopping = job.stop().then(() => {
      isStopped = true;
    });
    await Promise.resolve();
    expect(isStopped).toBe(false);
    step.reject(new StoreUnavailable("closed"));
    await stopping;
    expect([steps, logged]).toEqual([1, []]);
  });
});
