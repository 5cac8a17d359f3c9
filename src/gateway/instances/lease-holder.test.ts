// When a lease is asked for, and who may act meanwhile.
import { beforeEach, describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../core/errors.ts";
import { HOLD_EVERY_MS, LeaseHolder } from "./lease-holder.ts";

let now: number;
let told: string[];
/** How the shared store answers. */
let hold: () => Promise<boolean>;
let holder: LeaseHolder;
const count = (what: string) => told.filter((each) => each === what).length;

beforeEach(() => {
  now = 1_800_000_000_000;
  told = [];
  hold = async () => true;
  const lease = {
    hold: () => {
      told.push("asked");
      return hold();
    },
    release: async () => void told.push("released"),
  };
  holder = new LeaseHolder(lease, { onWon: () => told.push("won"), onLost: () => told.push("lost") });
});

function keepAfter(ms: number): Promise<void> {
  now += ms;
  return holder.keep(now);
}

const refuse = async () => false;
const fail = () => Promise.reject(new StoreUnavailable("away"));

describe("the lease", () => {
  test("is won at the first call and then renewed every second, however often it is called", async () => {
    expect(holder.isHeld).toBe(false);
    await keepAfter(0);
    expect([holder.isHeld, told]).toEqual([true, ["asked", "won"]]);
    for (let ms = 0; ms < 10 * HOLD_EVERY_MS; ms += 100) await keepAfter(100);
    expect([count("asked"), count("won"), count("lost")]).toEqual([11, 1, 0]);
  });

  test("that another instance has is asked for every second", async () => {
    hold = refuse;
    for (const ms of [0, 999, 1]) await keepAfter(ms);
    expect([holder.isHeld, told]).toEqual([false, ["asked", "asked"]]);
    hold = async () => true;
    await keepAfter(HOLD_EVERY_MS);
    expect([holder.isHeld, count("won")]).toEqual([true, 1]);
  });

  test("is asked for at once when the clock was set back", async () => {
    for (const ms of [0, -HOLD_EVERY_MS]) await keepAfter(ms);
    expect(count("asked")).toBe(2);
  });

  test("is held while it is renewed, and lost once when another instance has it", async () => {
    await keepAfter(0);
    const renewed = Promise.withResolvers<boolean>();
    hold = () => renewed.promise;
    const kept = keepAfter(HOLD_EVERY_MS);
    expect(holder.isHeld).toBe(true);
    renewed.resolve(false);
    await kept;
    hold = refuse;
    await keepAfter(HOLD_EVERY_MS);
    expect([holder.isHeld, count("lost")]).toEqual([false, 1]);
  });

  test("is lost when the shared store is away, which is asked no more often, and won when it is back", async () => {
    await keepAfter(0);
    hold = fail;
    await expect(keepAfter(HOLD_EVERY_MS)).rejects.toThrow(StoreUnavailable);
    expect([holder.isHeld, count("lost")]).toEqual([false, 1]);
    await keepAfter(HOLD_EVERY_MS - 1);
    expect(count("asked")).toBe(2);
    hold = async () => true;
    await keepAfter(1);
    expect([holder.isHeld, count("won")]).toEqual([true, 2]);
  });
});

describe("a stop", () => {
  test("releases the lease, and nobody acts any more", async () => {
    await keepAfter(0);
    await holder.release();
    await holder.release();
    expect([holder.isHeld, count("released"), count("lost")]).toEqual([false, 1, 0]);
  });

  test("releases nothing without the lease", async () => {
    hold = refuse;
    await keepAfter(0);
    await holder.release();
    expect(count("released")).toBe(0);
  });
});

test("the only instance needs no lease", async () => {
  const only = new LeaseHolder(undefined, { onWon: () => told.push("won") });
  expect(only.isHeld).toBe(true);
  await only.keep(now);
  await only.release();
  expect([only.isHeld, told]).toEqual([true, []]);
});
