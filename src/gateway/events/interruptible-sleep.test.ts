import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { InterruptibleSleep } from "./event-retention.ts";

const SLEEPS = 10_000;
const FOR_EVER = new Promise<void>(() => {});

test("one ends with what it waits for, and so does the next", async () => {
  const sleep = new InterruptibleSleep();
  await sleep.wait(Promise.resolve());
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const taken = sleep.wait(promise).then(() => {
    isOver = true;
  });
  await Bun.sleep(0);
  expect(isOver).toBe(false);
  resolve();
  await taken;
});

test("a stop cuts it short, and there is none after it", async () => {
  const sleep = new InterruptibleSleep();
  const taken = sleep.wait(FOR_EVER);
  sleep.stop();
  await taken;
  await sleep.wait(FOR_EVER);
});

test("nothing is kept of those that are over", async () => {
  const sleep = new InterruptibleSleep();
  const countObjects = () => {
    Bun.gc(true);
    return heapStats().objectCount;
  };
  const before = countObjects();
  for (let count = 0; count < SLEEPS; count++) await sleep.wait(Promise.resolve());
  expect(countObjects() - before).toBeLessThan(SLEEPS / 2);
});
