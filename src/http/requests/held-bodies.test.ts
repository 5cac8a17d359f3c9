import { expect, test } from "bun:test";
import { HeldBodies } from "./held-bodies.ts";

const KIB = 1024;

test("when there is no room, the oldest body is given up, and the newest goes on", async () => {
  const held = new HeldBodies(100 * KIB);
  const bodies = ["a", "a", "a"].map((sender) => held.open(sender));
  for (const body of bodies) body.take(40 * KIB);
  expect(await Promise.race([bodies[0]?.givenUp, "held"])).toBe("given up");
  expect(await Promise.race([bodies[2]?.givenUp, "held"])).toBe("held");
  expect(held.bytes).toBeLessThanOrEqual(100 * KIB);
  for (const body of bodies) body.release();
  expect(held.bytes).toBe(0);
});

test("whoever holds the most gives up a body, however old those of others are and whoever comes last", async () => {
  const held = new HeldBodies(300 * KIB);
  const genuine = [held.open("game")];
  genuine[0]?.take(10 * KIB);
  const flood = Array.from({ length: 20 }, () => {
    const body = held.open("flood");
    body.take(60 * KIB);
    return body;
  });
  for (let n = 0; n < 10; n++) {
    const body = held.open("game");
    body.take(10 * KIB);
    genuine.push(body);
  }
  expect(held.bytes).toBeLessThanOrEqual(300 * KIB);
  for (const body of genuine) expect(await Promise.race([body.givenUp, "held"])).toBe("held");
  for (const body of [...genuine, ...flood]) body.release();
  expect(held.bytes).toBe(0);
});

test("many requests without a body are bounded too", () => {
  const held = new HeldBodies(100 * KIB);
  for (let n = 0; n < 1_000; n++) held.open(`sender ${n % 10}`);
  expect(held.bytes).toBeLessThanOrEqual(100 * KIB);
});

test("what was given up counts no longer, however often it is released", () => {
  const held = new HeldBodies(10 * KIB);
  const body = held.open("a");
  body.take(20 * KIB);
  body.take(20 * KIB);
  expect(held.bytes).toBe(0);
  body.release();
  expect(held.bytes).toBe(0);
});
