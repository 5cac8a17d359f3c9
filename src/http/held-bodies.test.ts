import { expect, test } from "bun:test";
import { HeldBodies } from "./held-bodies.ts";

const KIB = 1024;

test("when there is no room, the oldest body is given up, and the newest goes on", async () => {
  const held = new HeldBodies(100 * KIB);
  const bodies = [held.open(), held.open(), held.open()];
  for (const body of bodies) body.take(40 * KIB);
  expect(await Promise.race([bodies[0]?.givenUp, "held"])).toBe("given up");
  expect(await Promise.race([bodies[2]?.givenUp, "held"])).toBe("held");
  expect(held.bytes).toBeLessThanOrEqual(100 * KIB);
  for (const body of bodies) body.release();
  expect(held.bytes).toBe(0);
});

test("many requests without a body are bounded too", () => {
  const held = new HeldBodies(100 * KIB);
  for (let n = 0; n < 1_000; n++) held.open();
  expect(held.bytes).toBeLessThanOrEqual(100 * KIB);
});

test("what was given up counts no longer, however often it is released", () => {
  const held = new HeldBodies(10 * KIB);
  const body = held.open();
  body.take(20 * KIB);
  body.take(20 * KIB);
  expect(held.bytes).toBe(0);
  body.release();
  expect(held.bytes).toBe(0);
});
