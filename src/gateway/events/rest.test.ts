import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { Rest } from "./rest.ts";

const RESTS = 10_000;
const FOR_EVER = new Promise<void>(() => {});

test("a rest ends with its sleep, and the next one is a rest again", async () => {
  const rest = new Rest();
  await rest.take(Promise.resolve());
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const taken = rest.take(promise).then(() => {
    isOver = true;
  });
  await Bun.sleep(0);
  expect(isOver).toBe(false);
  resolve();
  await taken;
});

test("the end cuts a rest short, and there is none after it", async () => {
  const rest = new Rest();
  const taken = rest.take(FOR_EVER);
  rest.end();
  await taken;
  await rest.take(FOR_EVER);
});

test("nothing is kept of the rests that are over", async () => {
  const rest = new Rest();
  const countObjects = () => {
    Bun.gc(true);
    return heapStats().objectCount;
  };
  const before = countObjects();
  for (let count = 0; count < RESTS; count++) await rest.take(Promise.resolve());
  expect(countObjects() - before).toBeLessThan(RESTS / 2);
});
