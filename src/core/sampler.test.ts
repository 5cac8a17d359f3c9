// A flood is told of once in a while, with how many there were.
import { expect, test } from "bun:test";
import { createSampler } from "./sampler.ts";

test("the first is told, the rest is counted until the time is up", () => {
  const sample = createSampler(1_000);
  const told: number[] = [];
  for (let i = 0; i < 500; i++) sample(1_000_000 + i, (unlogged) => told.push(unlogged));
  sample(1_001_000, (unlogged) => told.push(unlogged));
  expect(told).toEqual([0, 499]);
});

test("a clock set back does not silence it", () => {
  const sample = createSampler(1_000);
  let told = 0;
  sample(5_000_000, () => told++);
  sample(1_000_000, () => told++);
  expect(told).toBe(2);
});
